/* news.h - a reference-counted event with its payload in every requested encoding.
 *
 * The payload exists once for all sessions and loops. The first loop that needs another form
 * (compressed, ETF, without message content) creates it. Shared between threads. */
#ifndef GATEWAY_WIRE_NEWS_H
#define GATEWAY_WIRE_NEWS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/events/facts.h"

struct packer;

/* Bits that describe an encoding of the payload; 0 is plain JSON. */
enum news_form {
    NEWS_EMPTIED = 1,      /* message without its content, for bots without the intent */
    NEWS_OLD_SPELLING = 2, /* permissions spelled as in API versions 6 and 7 */
    NEWS_ETF = 4,
    NEWS_DEFLATED = 8, /* compressed by pack_shared, with the closing brace of the envelope */
    NEWS_FORMS = 16,
};

struct bytes {
    size_t n;
    char p[];
};

/* In a cluster the event numbers of a log position begin at position << 26. Events that a node
 * creates itself before the next position (presences) continue the same range. 2^26 numbers are
 * enough when ten thousand accounts reconnect to a hundred guilds each; a million are not. */
enum { NUMBERS_OF_POSITION = 26 };

struct news {
    _Atomic unsigned refs;
    enum event event;
    struct subject to;
    snowflake guild_id; /* guild of an event whose audience is a user, or 0 */
    uint64_t except;    /* number of a session that does not receive the event, or 0 */
    uint64_t number;    /* publishing order, the same on all loops; 0: not published */
    bool taken;         /* forms[0] is a separate allocation */
    _Atomic(struct bytes *) forms[NEWS_FORMS];
    /* Last member: routing items, user ids of the audience and forms[0] follow in the same
     * allocation. */
    struct facts facts;
};

/* Creates an event with one reference and a copy of the payload, without routing fields. */
struct news *news_new(enum event event, struct subject to, struct str payload);
/* Creates an event that takes over the memory of a buffer prepared by news_write_begin. For long
 * payloads. */
struct news *news_taking(enum event event, struct subject to, struct buf *payload);
/* Initialises an empty buffer with space for a header in front of the payload. */
void news_write_begin(struct buf *payload, size_t max);
/* Creates the event of an announcement for one of its audiences. */
struct news *news_announced(const struct announcement *a, struct subject to);
struct news *news_ref(struct news *n);
void news_unref(struct news *n); /* accepts NULL */

struct str news_payload(const struct news *n);

/* Returns the payload in the given form; the bytes live as long as the event. The arena is for
 * temporary data. */
struct str news_bytes(struct news *n, unsigned form, struct packer *packer, struct arena *arena);

#endif
