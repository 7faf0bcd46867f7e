/* limits.h - rate limits.
 *
 * Each combination of caller, bucket and major path parameter has a counter; its window starts with
 * the first call. Counts are exact within the process. Nodes of a cluster send each other their
 * counts with a short delay, once a quarter of the limit is used, so only calls on several nodes
 * within that delay can exceed the limit. Strict limits (against guessing and abuse) are sent with
 * each call, at once; if nodes cannot reach each other, each allows only its share of a strict
 * limit, but at least one call. Strict limits are not exact either: calls on several nodes within
 * the latency of a message can exceed them, and so can calls while a node is disconnected and the
 * others have not noticed. */
#ifndef API_LIMITS_H
#define API_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/route.h"
#include "base/buf.h"

struct rate_limit_counters;

struct rate_limit_options {
    bool off;
    unsigned global_per_s;    /* calls per second per account */
    unsigned anonymous_per_s; /* limit of calls per second and address, for calls without an
                               * account */
    unsigned percent; /* factor in percent for all limits but global_per_s and anonymous_per_s; 100
                       * means unchanged */
};

struct rate_limit_counters *rate_limit_counters_new(const struct rate_limit_options *options);
/* Changes the limits, except that rate limits cannot be switched on or off. May be called from any
 * thread. */
void rate_limits_set_options(struct rate_limit_counters *l,
                             const struct rate_limit_options *options);
void rate_limit_counters_free(struct rate_limit_counters *l);

/* The result of counting a call. */
struct rate_limit_result {
    const struct rate_limit *of; /* the limit against which the call was counted; NULL means the
                                  * limit of the route */
    bool allowed;
    bool global; /* whether the call was refused by the global limit and not by `of` */
    bool shared;
    unsigned limit, remaining;
    int64_t reset_at_ms, reset_after_ms;
};

/* Counts one call. caller is an account id or address hash; major is the id of the major path
 * parameter, or 0. */
struct rate_limit_result rate_limits_count_call(struct rate_limit_counters *l, uint64_t caller,
                                                bool anonymous, const struct rate_limit *limit,
                                                uint64_t major);
/* Reverts rate_limits_count_call for a call that must not count after all. */
void rate_limits_revert_call_count(struct rate_limit_counters *l, uint64_t caller, bool anonymous,
                                   const struct rate_limit *limit, uint64_t major);
struct rate_limit_result rate_limits_count_global_call(struct rate_limit_counters *l,
                                                       uint64_t caller, bool anonymous);
bool rate_limits_are_disabled(const struct rate_limit_counters *l);

/* --- between nodes ---------------------------------------------------------------------- */

/* Enables the exchange of counts with other nodes. Call it before the first API call is counted. */
void rate_limits_enable_sharing_between_nodes(struct rate_limit_counters *l);
/* Functions that send the counts of strict limits to other nodes. Set before the first API call is
 * counted. */
struct rate_limit_cluster_callbacks {
    void *arg;
    /* Returns the number of nodes if they do not receive each other's counts at once, otherwise 1;
     * strict limits are divided by it. */
    unsigned (*count_disconnected_nodes)(void *arg);
    void (*send)(void *arg, struct str message); /* sends at once; any thread */
};
void rate_limits_set_cluster_callbacks(struct rate_limit_counters *l,
                                       const struct rate_limit_cluster_callbacks *others);
/* Sends the counts that have changed since the last call of this function. Call it always on the
 * same thread. */
void rate_limits_publish_counts(struct rate_limit_counters *l,
                                void (*send)(void *arg, struct str message), void *arg);
/* Adds the counts of another node's message. Returns the number of calls in the message. */
uint64_t limits_receive_counts(struct rate_limit_counters *l, struct str message);

/* Writes the X-RateLimit headers of an allowed or refused call. */
void write_rate_limit_headers(const struct rate_limit_result *v, const struct rate_limit *limit,
                              struct buf *out);
void write_rate_limit_response_body(const struct rate_limit_result *v, enum err e, struct buf *out);

/* Writes the opaque bucket id of the rate-limit headers: 16 hex digits. */
void format_rate_limit_bucket_id(const struct rate_limit *limit, char out[17]);

#endif
