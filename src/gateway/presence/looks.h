/* looks.h - computes the presence of an account from all its sessions, on this node and others.
 *
 * Functions need the gateway's lock unless noted. */
#ifndef GATEWAY_PRESENCE_LOOKS_H
#define GATEWAY_PRESENCE_LOOKS_H

#include "gateway/sessions/registry.h"

/* The combined presence of an account's sessions; each shard of a bot has its own presence. */
struct presence_look {
    struct statuses statuses;
    struct str activities; /* on the heap; p == NULL: no activities */
};

enum { ANY_KIND = -1 };

/* Selects sessions of an account. */
struct among {
    int kind;                       /* enum client_kind, or ANY_KIND */
    uint32_t shard_id, shard_count; /* only this shard; shard_count 0: all shards */
    const struct session *but;      /* session that is excluded */
};

struct statuses account_statuses(const struct account *a, struct among c); /* accepts NULL */
struct presence_look account_look(const struct account *a, struct among c);
/* Computes the presence of a shard and stores it as announced. Returns false, without setting
 * ret, if it equals the last presence announced. */
bool look_show(struct account *a, const struct among *c, struct presence_look *ret);
/* The following functions need no lock. */
uint64_t look_activities(const struct presence_look *l); /* hash of the activities, or 0 */
void look_clear(struct presence_look *l);
void presence_write(snowflake user_id, bool referring, snowflake guild_id,
                    const struct presence_look *l, struct json *j);

#endif
