/* traffic.h - ring buffer of recent REST requests and gateway messages, for the console.
 *
 * The ring stores the newest records in memory and overwrites the oldest. While no console client
 * watches, nothing is stored; callers check this first, with one atomic load (traffic_is_recorded).
 * Records contain secrets, which the code that displays records must redact
 * (admin/console/traffic_records.h).
 *
 * This folder uses only base/ and owns no table. Start with traffic_add_record. */
#ifndef TRAFFIC_TRAFFIC_H
#define TRAFFIC_TRAFFIC_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/snowflake.h"

enum traffic_kind {
    TRAFFIC_CALL,     /* REST request with its response */
    TRAFFIC_OPENED,   /* a gateway socket was opened */
    TRAFFIC_RECEIVED, /* message received from the client of a gateway socket */
    TRAFFIC_SENT,     /* message sent to the client of a gateway socket */
    TRAFFIC_CLOSED,
    TRAFFIC_DELIVERED, /* interaction sent to the endpoint of an app */
    TRAFFIC_REFUSED,   /* request refused by the HTTP server: malformed or too large */
};

/* Type of a request's credential, derived from its prefix only, without a check. */
enum traffic_credential_type {
    TRAFFIC_NO_CREDENTIAL,
    TRAFFIC_UNPREFIXED_TOKEN, /* token without a prefix, as user clients send it */
    TRAFFIC_BOT,
    TRAFFIC_BOT_TWICE,    /* "Bot Bot …", a common mistake */
    TRAFFIC_UNSET_TOKEN,  /* no token, or the text of an unset variable: "Bot undefined" */
    TRAFFIC_QUOTED_TOKEN, /* with quotes or spaces in it */
    TRAFFIC_BEARER,
};

/* Texts of a record. In these comments, "requests" are REST requests. */
enum traffic_record_text {
    /* requests: path and query; refused requests: as much of them as is known */
    TRAFFIC_TARGET,
    TRAFFIC_PROBLEM,      /* requests: first validation error; gateway sockets: close reason */
    TRAFFIC_ADDRESS,      /* client address */
    TRAFFIC_REQUEST,      /* requests: body; received messages: field d */
    TRAFFIC_REPLY,        /* requests: response body; messages sent to a gateway client: field d */
    TRAFFIC_REQUEST_HEAD, /* requests: header lines as received */
    TRAFFIC_REPLY_TYPE,   /* requests: content type of the response */
    TRAFFIC_REPLY_HEAD,   /* requests: headers that the API adds, each with CRLF */
    /* refused requests: a sentence with the cause and the fix, without secrets */
    TRAFFIC_CAUSE,
    TRAFFIC_TEXTS,
};

/* Limits of a text in bytes. A text is truncated to a 64th of the ring, but the limit is at least
 * TRAFFIC_MIN_TEXT_LIMIT and at most TRAFFIC_MAX_TEXT. In a ring of 8 MiB the events of a guild are
 * not truncated. */
enum { TRAFFIC_MIN_TEXT_LIMIT = 16 * 1024, TRAFFIC_MAX_TEXT = 128 * 1024 };

struct traffic_record {
    uint64_t number;      /* number of the record; numbers start at 1 and have no gaps */
    int64_t at_us;        /* time at which the request ended or the message was sent (clock_us) */
    int64_t took_ns;      /* duration in ns; only of requests */
    int64_t monotonic_ns; /* time of the record (clock_monotonic_ns), which tests cannot move */
    snowflake user_id, application_id;
    const char *name;         /* name of the route or event, a string literal; or NULL */
    const char *path_pattern; /* requests: path pattern of the route, a string literal; or NULL */
    uint64_t session, socket; /* numbers of the gateway session and the socket */
    uint64_t seq;   /* messages sent to a gateway client: sequence number in the session, or 0 */
    int32_t status; /* HTTP status of a request, opcode of a gateway message, or close code */
    int32_t code;   /* requests: error code, or 0 */
    uint32_t lengths[TRAFFIC_TEXTS];
    uint32_t stored[TRAFFIC_TEXTS]; /* stored bytes */
    uint8_t kind;                   /* enum traffic_kind */
    uint8_t method;                 /* requests: enum http_method */
    uint8_t caller;                 /* enum caller_kind; 0 if unauthenticated */
    uint8_t credential;             /* requests: enum traffic_credential_type */
    bool not_served;                /* requests: this server does not implement the route */
};

struct traffic_ring;

/* Creates a ring buffer of `bytes` bytes. It records always if `always` is set, otherwise only
 * while a client watches (traffic_start_watching). */
struct traffic_ring *traffic_ring_new(size_t bytes, bool always);
void traffic_ring_free(struct traffic_ring *t);

/* Returns whether records are stored at the moment; false for NULL. Thread-safe. */
bool traffic_is_recorded(const struct traffic_ring *t);
/* Start and stop watching by one client; records are stored while at least one client watches. */
void traffic_start_watching(struct traffic_ring *t);
void traffic_stop_watching(struct traffic_ring *t);

/* Adds a record with its texts; sets the members number, monotonic_ns,
 * lengths and stored. Thread-safe. */
void traffic_add_record(struct traffic_ring *t, struct traffic_record *r,
                        const struct str texts[TRAFFIC_TEXTS]);

/* Returns the numbers of the oldest and of the newest stored record; 0 if there is none. */
void traffic_read_record_number_range(struct traffic_ring *t, uint64_t *ret_oldest,
                                      uint64_t *ret_newest);
/* Reads a record and writes its texts to `room`. Returns false if the record is not stored. */
bool traffic_read_record(struct traffic_ring *t, uint64_t number, struct traffic_record *ret,
                         struct buf *room);
struct str traffic_record_text(const struct traffic_record *r, const struct buf *room,
                               enum traffic_record_text which);

#endif
