/* web.h - the web pages: chat, workbench and documentation in the browser.
 *
 * The folder serves the files of web/, which scripts/embed-web compresses and compiles into the
 * program. It also serves the documentation, which scripts/make-site makes from docs/. It uses
 * base/, net/ and api/, and owns no tables. It handles only GET requests that match no route, so
 * that API requests are not slowed down. The pages use the public API like any client. Start with
 * page.c. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "api/call.h"

struct web_options {
    /* Folder from which files are read during development; NULL means the embedded files. */
    const char *folder;
    bool operator_only; /* serve only the workbench, without the chat */
};

/* Replies to a GET request that matches no route with a page or a file of the pages. Returns false
 * if there is no such file. arg is a struct web_options. */
bool web_reply_with_page(void *arg, struct call *call);

#endif
