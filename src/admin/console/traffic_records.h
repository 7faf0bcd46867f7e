/* traffic_records.h - traffic records as JSON and as text lines. */
#ifndef ADMIN_CONSOLE_TRAFFIC_RECORDS_H
#define ADMIN_CONSOLE_TRAFFIC_RECORDS_H

#include "api/call.h"
#include "json/write.h"
#include "traffic/traffic.h"

/* A traffic record for display: with names and without secrets. */
struct traffic_view {
    struct traffic_record r;
    struct str username; /* empty: none, or a deleted account */
    struct str target, problem, address, request, reply;
    struct str request_headers, reply_headers; /* only of calls */
    struct str hint;                           /* cause and fix in a sentence; empty: none */
    int docs;                                  /* anchor in docs/errors.md; 0: none */
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
enum err traffic_read_page_json(struct tx *tx, struct traffic_ring *t, struct traffic_page *page);
/* Reads a page and calls `show` for each record. */
enum err traffic_for_each_record(struct tx *tx, struct traffic_ring *t, struct traffic_page *page,
                                 void (*show)(const struct traffic_view *s, void *arg), void *arg);

enum {
    TRAFFIC_VIEW_MAX_BYTES = 1024 * 1024, /* maximum bytes of a formatted record */
    SESSION_NUMBER_HEX = 16,              /* hex digits of a session number */
};
/* Return the names of the record kind and of a session. */
const char *traffic_view_kind_name(const struct traffic_view *s);
void format_session_number(uint64_t number, char out[SESSION_NUMBER_HEX + 1]);

/* --- traffic_format.c ----------------------------------------------------------------- */

void write_traffic_record_json(const struct traffic_view *s, struct json_writer *j);
/* Appends a line with its line feed, for a terminal. */
void append_traffic_record_line(const struct traffic_view *s, struct buf *out);

/* --- hints.c -------------------------------------------------------------------------- */

/* Sets hint and docs of a record whose other texts are set. cause: as recorded, or empty. */
void find_record_hint(struct traffic_view *s, struct str target, struct str cause,
                      struct arena *arena);

#endif
