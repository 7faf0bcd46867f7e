/* traffic_records.h - formats recorded calls and gateway messages as JSON and as text lines. */
#ifndef ADMIN_CONSOLE_TRAFFIC_RECORDS_H
#define ADMIN_CONSOLE_TRAFFIC_RECORDS_H

#include "api/call.h"
#include "json/write.h"
#include "traffic/traffic.h"

/* A traffic record for display: with the account's name and without secrets. */
struct traffic_view {
    struct traffic_record r;
    struct str username; /* empty if there is no account or it was deleted */
    struct str target, problem, address, request, reply;
    struct str request_headers, reply_headers; /* only of calls */
    struct str hint;                           /* cause and fix in a sentence, or empty */
    int docs;                                  /* anchor in docs/errors.md, or 0 */
};

/* Filter of traffic records. Empty fields match all records. */
struct traffic_filter {
    struct str kind;       /* "request", "frame" (gateway message), or one record kind */
    struct str user;       /* account id or name */
    struct str route;      /* text in the route's name or path */
    struct str method;     /* HTTP method; only for calls */
    struct str status;     /* "404", "4xx", or "error" (400 and above) */
    struct str event;      /* name of a gateway event */
    struct str session;    /* session id; only its first 16 characters are compared */
    struct str text;       /* text in path, headers, bodies or problem */
    snowflake application; /* application id; 0 means any */
};

/* A page of records from the ring buffer of traffic records. */
struct traffic_page {
    struct traffic_filter filter;
    uint64_t after;  /* record number; the page has the records after it, oldest first */
    bool from_end;   /* read the newest records instead of those after `after` */
    int64_t limit;   /* maximum number of records in the page of records */
    struct buf *out; /* receives the records as JSON, comma-separated */
    uint64_t last;   /* result: number of the last record examined */
    uint64_t newest; /* result: number of the newest record; if > last, there are more */
    uint64_t lost;   /* result: number of records after `after` that were overwritten */
};

/* Reads a page as JSON, in a transaction that also reads the names of accounts. Idempotent.
 * Examines a bounded number of records; to continue, call it again with after = last. */
enum err traffic_read_page_json(struct tx *tx, struct traffic_ring *t, struct traffic_page *page);
/* Reads a page of traffic records and calls `show` for each record. */
enum err traffic_for_each_record(struct tx *tx, struct traffic_ring *t, struct traffic_page *page,
                                 void (*show)(const struct traffic_view *s, void *arg), void *arg);

enum {
    TRAFFIC_VIEW_MAX_BYTES = 1024 * 1024, /* maximum length of a formatted record */
    SESSION_NUMBER_HEX = 16,              /* number of hex digits of a session number */
};
/* Return the name of the record's kind, and the text of a session number. */
const char *traffic_view_kind_name(const struct traffic_view *s);
void format_session_number(uint64_t number, char out[SESSION_NUMBER_HEX + 1]);

/* --- traffic_format.c ----------------------------------------------------------------- */

void write_traffic_record_json(const struct traffic_view *s, struct json_writer *j);
/* Appends the record as one line of text, for a terminal. */
void append_traffic_record_line(const struct traffic_view *s, struct buf *out);

/* --- hints.c -------------------------------------------------------------------------- */

/* Sets hint and docs of a record whose other texts are set. cause is the recorded cause of the
 * refusal, or empty. */
void find_record_hint(struct traffic_view *s, struct str target, struct str cause,
                      struct arena *arena);

/* --- field_hints.c -------------------------------------------------------------------- */

/* Returns cause and fix of an invalid field. `problem` is "PATH: what is wrong"; secrets in `body`
 * are already redacted. */
struct str hint_for_form_problem(struct str body, struct str problem, struct arena *arena);

/* --- unknown_ids.c -------------------------------------------------------------------- */

/* If a call was refused because an id of its path is unknown, and the id is that of an object of
 * another type or looks rounded, sets the hint to this. One query for such records. */
enum err find_hint_for_unknown_id(struct tx *tx, struct traffic_view *s);

#endif
