/* traffic.h - what was said on the wire a moment ago: calls, and messages of the gateway.
 *
 * A ring of bytes in memory that holds the newest records and forgets the oldest. While nobody
 * looks nothing is kept, and who would add something finds that out with one load. Records are
 * kept as they came, secrets and all; whoever shows them hides those (admin/console/show.h).
 *
 * It may use base/ alone. Begin reading with traffic_add. */
#ifndef TRAFFIC_TRAFFIC_H
#define TRAFFIC_TRAFFIC_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/snowflake.h"

enum traffic_kind {
    TRAFFIC_CALL,     /* of the REST interface, with its answer */
    TRAFFIC_OPENED,   /* a socket of the gateway */
    TRAFFIC_RECEIVED, /* a message from its client */
    TRAFFIC_SENT,     /* a message to it */
    TRAFFIC_CLOSED,
    TRAFFIC_DELIVERED, /* an interaction, to an app's endpoint */
    TRAFFIC_REFUSED,   /* a request that never became a call: its bytes were wrong or too many */
};

/* What a call showed to be known by, as far as its form tells. */
enum traffic_credential {
    TRAFFIC_NO_CREDENTIAL,
    TRAFFIC_BARE, /* a token alone, as people have them */
    TRAFFIC_BOT,
    TRAFFIC_BOT_TWICE, /* "Bot Bot …" */
    TRAFFIC_BEARER,
};

/* The texts of a record. */
enum traffic_text {
    TRAFFIC_TARGET,       /* calls: path and query; refused: what is known of them */
    TRAFFIC_PROBLEM,      /* calls: the first of the error tree; sockets: why it was closed */
    TRAFFIC_ADDRESS,      /* where from */
    TRAFFIC_REQUEST,      /* calls: the body; received: d */
    TRAFFIC_REPLY,        /* calls: the body; sent: d */
    TRAFFIC_REQUEST_HEAD, /* calls: the lines of the headers, as they came */
    TRAFFIC_REPLY_TYPE,   /* calls: what the body is */
    TRAFFIC_REPLY_HEAD,   /* calls: the headers that the interface adds, each with its CRLF */
    TRAFFIC_TEXTS,
};

/* Of a longer text the beginning is kept. */
enum { TRAFFIC_LONGEST = 16 * 1024 };

struct traffic_record {
    uint64_t number; /* from 1 on, without gaps */
    int64_t at_us;   /* when it was over; clock_us */
    int64_t took_ns; /* calls */
    snowflake user_id, application_id;
    const char *name;         /* of the route or the event, a literal; NULL: none */
    const char *place;        /* calls: the row's path, a literal; NULL: no such route */
    uint64_t session, socket; /* of the gateway */
    uint64_t seq;             /* sent: its number in the session; 0: none */
    int32_t status;           /* calls: of HTTP; messages: the opcode; closed: the code */
    int32_t code;             /* calls: of the error, or 0 */
    uint32_t lengths[TRAFFIC_TEXTS];
    uint32_t kept[TRAFFIC_TEXTS]; /* bytes of them that are here */
    uint8_t kind;                 /* enum traffic_kind */
    uint8_t method;               /* calls: enum http_method */
    uint8_t caller;               /* enum caller_kind, or 0: nobody */
    uint8_t credential;           /* calls: enum traffic_credential */
    bool not_served;              /* calls: of the interface, but not of this server */
};

struct traffic;

/* So many bytes; kept from the start, or while somebody holds it. */
struct traffic *traffic_new(size_t bytes, bool always);
void traffic_free(struct traffic *t);

/* Is anything kept now? From any thread; NULL keeps nothing. */
bool traffic_is_on(const struct traffic *t);
/* Somebody looks, and looks away again. */
void traffic_hold(struct traffic *t);
void traffic_release(struct traffic *t);

/* Adds a record and its texts; number, lengths and kept are set here. From any thread. */
void traffic_add(struct traffic *t, struct traffic_record *r,
                 const struct str texts[TRAFFIC_TEXTS]);

/* The number of the newest record, and of the oldest that is still there; 0: none is. */
void traffic_range(struct traffic *t, uint64_t *ret_oldest, uint64_t *ret_newest);
/* A record, with its texts in room, which is reset. False: it is not there. */
bool traffic_get(struct traffic *t, uint64_t number, struct traffic_record *ret, struct buf *room);
/* A text of a record that was got. */
struct str traffic_text(const struct traffic_record *r, const struct buf *room,
                        enum traffic_text which);

#endif
