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

/* Bits of a form; 0 is the JSON text. */
enum news_form {
    NEWS_EMPTIED = 1,      /* a message without its content */
    NEWS_OLD_SPELLING = 2, /* permissions as in API versions 6 and 7 */
    NEWS_ETF = 4,
    NEWS_DEFLATED = 8, /* includes the end of the envelope; by pack_shared */
    NEWS_FORMS = 16,
};

struct bytes {
    size_t n;
    char p[];
};

/* In a cluster the numbers of the events at a log position begin at position << 26. Events that a
 * node creates itself before the next position (presences) continue the same range. A range of a
 * million would be used up when ten thousand accounts reconnect to a hundred guilds each. */
enum { NUMBERS_OF_POSITION = 26 };

struct news {
    _Atomic unsigned refs;
    enum event event;
    struct subject to;
    snowflake guild_id; /* guild of an event that is sent to a user, or 0 */
    uint64_t except;    /* session that does not receive it, or 0 */
    uint64_t number;    /* publishing order, the same on all loops; 0: not published */
    bool taken;         /* forms[0] is a separate allocation */
    _Atomic(struct bytes *) forms[NEWS_FORMS];
    struct facts facts; /* last: facts' items, the ids of to.people and forms[0] follow */
};

/* Copies the payload; one reference, no facts. */
struct news *news_new(enum event event, struct subject to, struct str payload);
/* Takes over the memory of a buffer that news_write_begin prepared: for long payloads. */
struct news *news_taking(enum event event, struct subject to, struct buf *payload);
/* Initialises an empty buffer with space for a header in front of the payload. */
void news_write_begin(struct buf *payload, size_t max);
/* Creates the event of an announcement for one of its recipients. */
struct news *news_announced(const struct announcement *a, struct subject to);
struct news *news_ref(struct news *n);
void news_unref(struct news *n); /* accepts NULL */

struct str news_payload(const struct news *n);

/* The bytes of a form; they live as long as the event. The arena is for temporary data. */
struct str news_bytes(struct news *n, unsigned form, struct packer *packer, struct arena *arena);

#endif
