/* news.h - one event on its way to many sessions.
 *
 * The payload exists once, whatever the number of sessions and loops it goes to;
 * other forms of it (compressed, as external terms, without a message's content)
 * are made by the first loop that needs one. Shared between threads. */
#ifndef GATEWAY_WIRE_NEWS_H
#define GATEWAY_WIRE_NEWS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/events/facts.h"

struct packer;

/* Bits of a form; 0 is the JSON text itself. */
enum news_form {
    NEWS_EMPTIED = 1,      /* a message without what its author wrote */
    NEWS_OLD_SPELLING = 2, /* for versions 6 and 7 */
    NEWS_ETF = 4,
    NEWS_DEFLATED = 8, /* with what ends the envelope, by pack_shared */
    NEWS_FORMS = 16,
};

struct bytes {
    size_t n;
    char p[];
};

/* In a cluster the numbers of a position's events begin at the position shifted by so many bits.
 * What a server tells by itself until the next position (that people come and go) has numbers
 * there, too: a million would be reached when ten thousand come back to a hundred guilds each. */
enum { NUMBERS_OF_POSITION = 26 };

struct news {
    _Atomic unsigned refs;
    enum event event;
    struct subject to;
    snowflake guild_id; /* where a user's event belongs to, or 0 */
    uint64_t except;    /* a session that is not told, or 0 */
    uint64_t number;    /* of all that was published, in order; 0: not published */
    bool taken;         /* forms[0] is a block of its own */
    _Atomic(struct bytes *) forms[NEWS_FORMS];
    struct facts facts; /* last: its items follow, then the ids of to.people and forms[0] */
};

/* A copy of the payload, with one reference and no facts. */
struct news *news_new(enum event event, struct subject to, struct str payload);
/* The same of a buffer that news_write_begin was called for, whose memory it takes: for what is
 * long, and goes soon. */
struct news *news_taking(enum event event, struct subject to, struct buf *payload);
/* An empty buffer with room in front of what is written. */
void news_write_begin(struct buf *payload, size_t max);
/* The same of an announcement, for one of those whom it is for. */
struct news *news_announced(const struct announcement *a, struct subject to);
struct news *news_ref(struct news *n);
void news_unref(struct news *n); /* accepts NULL */

struct str news_payload(const struct news *n);

/* The bytes of a form; they live as long as the news. The arena is for scratch. */
struct str news_bytes(struct news *n, unsigned form, struct packer *packer, struct arena *arena);

#endif
