/* show.h - traffic records as JSON and as text lines. */
#ifndef ADMIN_CONSOLE_SHOW_H
#define ADMIN_CONSOLE_SHOW_H

#include "api/call.h"
#include "json/write.h"
#include "traffic/traffic.h"

/* A traffic record for display: with names and without secrets. */
struct shown {
    struct traffic_record r;
    struct str username; /* empty: none, or a deleted account */
    struct str target, problem, address, request, reply;
    struct str request_headers, reply_headers; /* only of calls */
    const char *hint;                          /* probable mistake, or NULL */
};

/* Filter of records. Empty fields match all. */
struct traffic_filter {
    struct str kind;       /* "request", "frame", or one record kind */
    struct str user;       /* id or name */
    struct str route;      /* part of the route's name or path */
    struct str method;     /* only of calls */
    struct str status;     /* "404", "4xx", or "error" (400 and above) */
    struct str event;      /* gateway event name */
    struct str session;    /* session id, of which the first 16 characters are compared */
    struct str text;       /* text in path, headers, bodies and problem */
    snowflake application; /* 0: any */
};

/* A page of the record ring. */
struct traffic_page {
    struct traffic_filter filter;
    uint64_t after;  /* records with higher numbers, oldest first */
    bool from_end;   /* the newest records instead of those after `after` */
    int64_t limit;   /* maximum number of records */
    struct buf *out; /* receives the records as JSON, comma-separated */
    uint64_t last;   /* result: last record examined */
    uint64_t newest; /* result: newest record; if > last, there are more */
    uint64_t lost;   /* result: records after `after` that were overwritten */
};

/* Reads a page as JSON, in a transaction that reads the names. Idempotent. Examines a bounded
 * number of records: to continue, call it again with after = last. */
enum err traffic_read(struct tx *tx, struct traffic *t, struct traffic_page *page);
/* Reads a page and calls `show` for each record. */
enum err traffic_each(struct tx *tx, struct traffic *t, struct traffic_page *page,
                      void (*show)(const struct shown *s, void *arg), void *arg);

enum {
    SHOWN_TEXT = 1024 * 1024, /* maximum bytes of a formatted record */
    SHOWN_SESSION = 16,       /* hex digits of a session number */
};
/* Return the names of the record kind and of a session. */
const char *shown_kind(const struct shown *s);
void shown_session(uint64_t number, char out[SHOWN_SESSION + 1]);

/* --- show_text.c ---------------------------------------------------------------------- */

void shown_write(const struct shown *s, struct json *j);
/* Appends a line with its line feed, for a terminal. */
void shown_line(const struct shown *s, struct buf *out);

/* --- mistakes.c ----------------------------------------------------------------------- */

/* Returns a hint on the probable mistake in a rejected call, or NULL. */
const char *mistake_of(const struct traffic_record *r, struct str target);

#endif
