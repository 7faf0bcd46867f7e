/* traffic_records.h - formats recorded calls and gateway messages as JSON and as text lines. */
#ifndef ADMIN_CONSOLE_TRAFFIC_RECORDS_H
#define ADMIN_CONSOLE_TRAFFIC_RECORDS_H

#include "api/call.h"
#include "json/write.h"
#include "traffic/traffic.h"

/* A traffic record for display: with the account's name and without secrets. */
struct displayed_traffic_record {
    struct traffic_record r;
    struct str username; /* account name; empty if there is no account or it was deleted */
    struct str target, problem, address, request, reply;
    struct str request_headers, reply_headers; /* only of calls */
    /* Cause and fix of the refusal in a sentence; empty if unknown. */
    struct str hint;
    int docs; /* anchor in docs/errors.md, or 0 */
};

/* Filter of traffic records. An empty field matches all records. */
struct traffic_filter {
    struct str kind;       /* "request", "frame" (gateway message), or the name of a record kind */
    struct str user;       /* account id or name */
    struct str route;      /* text that the route's name or path contains */
    struct str method;     /* HTTP method; only for calls */
    struct str status;     /* HTTP status: "404", "4xx", or "error" (400 and above) */
    struct str event;      /* name of a gateway event */
    struct str session;    /* session id; only its first 16 characters are compared */
    struct str text;       /* text that the path, headers, bodies or error message contain */
    snowflake application; /* application id; 0 means any */
};

/* A page of records from the ring buffer of traffic records. */
struct traffic_record_page {
    struct traffic_filter filter;
    uint64_t after;  /* the page begins after the record with this number, oldest first */
    bool from_end;   /* whether to read the newest records; then `after` is ignored */
    int64_t limit;   /* maximum number of records in the page */
    struct buf *out; /* receives the records as JSON, comma-separated */
    uint64_t last;   /* result: number of the last record that was examined */
    /* Result: number of the newest record; if it is greater than `last`, there are more pages. */
    uint64_t newest;
    /* Result: how many records after `after` were overwritten before they could be read. */
    uint64_t lost;
};

/* Reads a page as JSON, in a transaction that also reads the names of accounts. Idempotent.
 * Examines a bounded number of records; to continue, call it again with after = last. */
enum err traffic_read_record_page_json(struct tx *tx, struct traffic_ring *t,
                                       struct traffic_record_page *page);
/* Reads a page of traffic records and calls `show` for each record. */
enum err traffic_for_each_record(struct tx *tx, struct traffic_ring *t,
                                 struct traffic_record_page *page,
                                 void (*show)(const struct displayed_traffic_record *s, void *arg),
                                 void *arg);

enum {
    TRAFFIC_VIEW_MAX_BYTES = 1024 * 1024, /* maximum length of a formatted record */
    SESSION_NUMBER_HEX = 16,              /* number of hex digits of a session number */
};
/* Return the name of the record's kind, and the text of a session number. */
const char *traffic_record_kind_name(const struct displayed_traffic_record *s);
void format_traffic_session_number(uint64_t number, char out[SESSION_NUMBER_HEX + 1]);

/* --- traffic_format.c ----------------------------------------------------------------- */

void write_traffic_record_json(const struct displayed_traffic_record *s, struct json_writer *j);
/* Appends the record as one line of text, for a terminal. */
void append_traffic_record_line(const struct displayed_traffic_record *s, struct buf *out);

/* --- hints.c -------------------------------------------------------------------------- */

/* Sets hint and docs of a record whose other texts are set. cause is the recorded cause of the
 * refusal, or empty. */
void traffic_record_find_hint(struct displayed_traffic_record *s, struct str target,
                              struct str cause, struct arena *arena);

/* --- field_hints.c -------------------------------------------------------------------- */

/* Returns cause and fix of an invalid field. `problem` has the form "PATH: what is wrong". Secrets
 * in `body` are already redacted. */
struct str find_hint_for_invalid_form_field(struct str body, struct str problem,
                                            struct arena *arena);

/* --- unknown_ids.c -------------------------------------------------------------------- */

/* Sets the hint of a call that was refused because of an unknown id in its path, if an object of
 * another type has this id, or if the id looks rounded. Runs one query for such a call. */
enum err find_hint_for_unknown_id(struct tx *tx, struct displayed_traffic_record *s);

#endif
