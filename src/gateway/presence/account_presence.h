/* account_presence.h - computes an account's presence from all its sessions, on this and other
 * nodes.
 *
 * The functions need the gateway's lock unless noted. */
#ifndef GATEWAY_PRESENCE_ACCOUNT_PRESENCE_H
#define GATEWAY_PRESENCE_ACCOUNT_PRESENCE_H

#include "gateway/sessions/registry.h"

/* Presence of an account, computed from its sessions. Bots have a presence per shard. */
struct account_presence {
    struct account_statuses statuses;
    /* JSON of the activities, on the heap; p is NULL if there are no activities */
    struct str activities;
};

enum { ANY_CLIENT_KIND = -1 };

/* Selects some sessions of an account. */
struct presence_session_filter {
    int kind; /* enum client_kind, or ANY_CLIENT_KIND */
    /* Shard of a bot whose sessions are counted; shard_count 0 means all shards. */
    uint32_t shard_id, shard_count;
    const struct session *but; /* session to exclude */
};

struct account_presence account_compute_presence(const struct gateway_account *a,
                                                 struct presence_session_filter c);
/* Computes the presence of a shard and stores it as the announced presence. If it equals the
 * presence that was announced last, returns false and does not set *ret. */
bool account_update_announced_presence(struct gateway_account *a,
                                       const struct presence_session_filter *c,
                                       struct account_presence *ret);
/* The functions below need no lock. */
uint64_t account_presence_activities_hash(
    const struct account_presence *l); /* hash of the activities, or 0 */
void account_presence_clear(struct account_presence *l);
void write_presence_json(snowflake user_id, bool referring, snowflake guild_id,
                         const struct account_presence *l, struct json_writer *j);

#endif
