/* web.h - the web pages: chat and workbench in the browser.
 *
 * The folder serves the files of web/, which scripts/embed-web compiles into the program, already
 * compressed. It uses base/, net/ and api/, and owns no tables. A GET that matches no route comes
 * here, so API calls do not pay for it. The pages use the public API like any client; this folder
 * decides nothing. Start with page.c. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "api/call.h"

struct web {
    const char *folder; /* development: read files from here; NULL: embedded files */
    bool operator_only; /* serve the workbench, not the chat */
};

/* Answers a GET that matches no route with a page or an asset, by filling the call's reply. False:
 * no such file. arg is a struct web. */
bool web_answer(void *arg, struct call *call);

#endif
