/* web.h - pages for people.
 *
 * The files of web/ are part of the program (scripts/embed-web), in the forms that they are
 * sent in. They are looked at when no route fits a GET: calls of programs do not pay for them.
 * What the pages do they do as any client does, by the public interface; nothing is decided
 * here. Begin to read at page.c. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "api/call.h"

struct web {
    const char *folder; /* files are read from here at each call; NULL: those of the program */
    bool operator_only; /* the workbench is there, the chat is not */
};

/* Answers a GET that no route fits with a page or one of its files, by filling the call's
 * reply. False: there is none, and the call is refused. arg is a struct web. */
bool web_answer(void *arg, struct call *call);

#endif
