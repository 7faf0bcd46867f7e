/* account_presence.h - computes the presence of an account from all its sessions, on this node and
 * others.
 *
 * Functions need the gateway's lock unless noted. */
#ifndef GATEWAY_PRESENCE_ACCOUNT_PRESENCE_H
#define GATEWAY_PRESENCE_ACCOUNT_PRESENCE_H

#include "gateway/sessions/registry.h"

/* The combined presence of an account's sessions; each shard of a bot has its own presence. */
struct account_presence {
    struct statuses statuses;
    struct str activities; /* on the heap; p == NULL: no activities */
};

enum { ANY_CLIENT_KIND = -1 };

/* Selects sessions of an account. */
struct session_filter {
    int kind;                       /* enum client_kind, or ANY_CLIENT_KIND */
    uint32_t shard_id, shard_count; /* only this shard; shard_count 0: all shards */
    const struct session *but;      /* session that is excluded */
};

struct statuses account_compute_statuses(const struct account *a,
                                         struct session_filter c); /* accepts NULL */
struct account_presence account_compute_presence(const struct account *a, struct session_filter c);
/* Computes the presence of a shard and stores it as announced. Returns false, without setting
 * ret, if it equals the last presence announced. */
bool account_update_announced(struct account *a, const struct session_filter *c,
                              struct account_presence *ret);
/* The following functions need no lock. */
uint64_t account_presence_activities_hash(
    const struct account_presence *l); /* hash of the activities, or 0 */
void account_presence_clear(struct account_presence *l);
void write_presence_json(snowflake user_id, bool referring, snowflake guild_id,
                         const struct account_presence *l, struct json_writer *j);

#endif
