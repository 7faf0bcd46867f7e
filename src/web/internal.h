/* internal.h - files of the pages, and how they are found. */
#ifndef WEB_INTERNAL_H
#define WEB_INTERNAL_H

#include "web/web.h"

enum web_form { WEB_PLAIN, WEB_GZIP, WEB_ZSTD, WEB_FORMS };

struct web_bytes {
    const char *p; /* NULL: not in this form */
    size_t n;
};

struct web_file {
    const char *name; /* "views/chat.js"; NULL ends the list */
    const char *type;
    const char *tag; /* what is in it, as a hash */
    struct web_bytes forms[WEB_FORMS];
};

/* Made by scripts/embed-web. */
extern const struct web_file web_files[];
extern const char web_bundle[]; /* the hash of all files, which is part of their address */

/* Which file answers this path, and with which status? An empty name: none. */
struct web_found {
    struct str name;
    int status;
    bool kept; /* for ever: its address has the hash */
};
struct web_found web_find(const struct web *web, struct str path, struct str accept,
                          struct str bundle);

/* The lines that every answer of this folder has: what a page may do, and who may show it. */
void web_add_rules(struct call *call);

/* The same from a folder, for who works on the files. False: it is not there. */
bool web_read_file(struct call *call, const char *folder, const struct web_found *found);

#endif
