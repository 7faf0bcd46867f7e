/* limits.h - how often a caller may do what.
 *
 * A counter belongs to (who, which bucket, which major parameter) and a window
 * that starts with its first call. Exact within the process. Servers that share a database and
 * hear each other tell how much was counted, a moment later, once a quarter of a limit is used:
 * only what is done on several of them within that moment may be more than the limit. A strict
 * limit (of what is guessed, or annoys somebody else) is told with each call, at once; and servers
 * that do not hear each other let through their share of it each, one at least. Neither is exact:
 * what is done on several servers within the time of a message may be more, and so may what is done
 * while one of them is cut off and the others do not know. */
#ifndef API_LIMITS_H
#define API_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/route.h"
#include "base/buf.h"

struct limits;

struct limits_options {
    bool off;
    unsigned global_per_s;    /* per account */
    unsigned anonymous_per_s; /* per address without an account */
    unsigned percent;         /* of every other limit; 100 */
};

struct limits *limits_new(const struct limits_options *options);
/* Other numbers from now on; `off` stays as it is. From any thread. */
void limits_set(struct limits *l, const struct limits_options *options);
void limits_free(struct limits *l);

/* What the counter said. */
struct verdict {
    const struct limit *of; /* NULL: the route's */
    bool allowed;
    bool global; /* it was the global limit that refused */
    bool shared;
    unsigned limit, remaining;
    int64_t reset_at_ms, reset_after_ms;
};

/* Counts one call. who: an account, or hash of an address; major: an id or 0. */
struct verdict limits_count(struct limits *l, uint64_t who, bool anonymous,
                            const struct limit *limit, uint64_t major);
/* Takes back what limits_count allowed, for what turned out not to count. */
void limits_return(struct limits *l, uint64_t who, bool anonymous, const struct limit *limit,
                   uint64_t major);
struct verdict limits_count_global(struct limits *l, uint64_t who, bool anonymous);
bool limits_off(const struct limits *l);

/* --- among several servers -------------------------------------------------------------- */

/* From now on what is counted is to be told: before the first call. */
void limits_share(struct limits *l);
/* How servers know of each other, for strict limits; the same. */
struct limits_others {
    void *arg;
    unsigned (*apart)(void *arg); /* how many count without hearing of each other; 1: this one */
    void (*send)(void *arg, struct str message); /* at once, from any thread */
};
void limits_set_others(struct limits *l, const struct limits_others *others);
/* What was counted since it was last asked, as messages; from one thread. */
void limits_tell(struct limits *l, void (*send)(void *arg, struct str message), void *arg);
/* Such a message of another server. Returns how many calls it told of. */
uint64_t limits_hear(struct limits *l, struct str message);

/* The answer's header lines, for an allowed or refused call. */
void limits_headers(const struct verdict *v, const struct limit *limit, struct buf *out);
/* The body of a 429. */
void limits_body(const struct verdict *v, enum err e, struct buf *out);

/* The opaque name of a bucket: 16 hex digits. */
void limit_bucket(const struct limit *limit, char out[17]);

#endif
