/* show.h - records of the traffic, as programs and people read them. */
#ifndef ADMIN_CONSOLE_SHOW_H
#define ADMIN_CONSOLE_SHOW_H

#include "api/call.h"
#include "json/write.h"
#include "traffic/traffic.h"

/* A record that can be shown: names instead of ids, no secrets. */
struct shown {
    struct traffic_record r;
    struct str username; /* empty: nobody, or an account that is gone */
    struct str target, problem, address, request, reply;
    struct str request_headers, reply_headers; /* calls: lines */
    const char *hint;                          /* the likely mistake, or NULL */
};

/* Which records somebody wants to see; what is not set holds for all. */
struct traffic_filter {
    struct str kind;       /* "request", "frame", or one of the kinds */
    struct str user;       /* id or name */
    struct str route;      /* part of the route's name or of its path */
    struct str method;     /* of calls */
    struct str status;     /* "404", "4xx", or "error" for all from 400 on */
    struct str event;      /* of the gateway */
    struct str session;    /* the first 16 characters of its id, or more */
    struct str text;       /* in path, headers, bodies and problem */
    snowflake application; /* 0: any */
};

/* Which part of the ring. */
struct traffic_page {
    struct traffic_filter filter;
    uint64_t after;  /* records with higher numbers, the oldest first; … */
    bool from_end;   /* … or the last ones that there are */
    int64_t limit;   /* so many records at most */
    struct buf *out; /* gets them, each with a comma between */
    uint64_t last;   /* result: the last record that was looked at */
    uint64_t newest; /* result: the last that there is; larger than `last`: there is more */
    uint64_t lost;   /* result: those behind `after` that are gone already */
};

/* Reads a page in a transaction, for the names; may run again. Looks at a bounded number of
 * records: whoever wants more asks again from `last` on. */
enum err traffic_read(struct tx *tx, struct traffic *t, struct traffic_page *page);
/* The same, handing each record on. */
enum err traffic_each(struct tx *tx, struct traffic *t, struct traffic_page *page,
                      void (*show)(const struct shown *s, void *arg), void *arg);

enum {
    SHOWN_TEXT = 1024 * 1024, /* bytes of a record that was made readable */
    SHOWN_SESSION = 16,       /* digits of a session's number */
};
/* What its kind is called, and how a session is named. */
const char *shown_kind(const struct shown *s);
void shown_session(uint64_t number, char out[SHOWN_SESSION + 1]);

/* --- show_text.c ---------------------------------------------------------------------- */

void shown_write(const struct shown *s, struct json *j);
/* As one line, with its end, for a terminal. */
void shown_line(const struct shown *s, struct buf *out);

/* --- mistakes.c ----------------------------------------------------------------------- */

/* What is probably wrong with a call that was refused, in words; or NULL. */
const char *mistake_of(const struct traffic_record *r, struct str target);

#endif
