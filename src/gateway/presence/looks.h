/* looks.h - what is seen of an account: what its sessions are together, here and at other servers.
 *
 * With the gateway's lock where nothing else is said. */
#ifndef GATEWAY_PRESENCE_LOOKS_H
#define GATEWAY_PRESENCE_LOOKS_H

#include "gateway/sessions/registry.h"

/* What its sessions are together; a bot's shards are seen apart. */
struct presence_look {
    struct statuses statuses;
    struct str activities; /* on the heap; p == NULL: none */
};

enum { ANY_KIND = -1 };

/* Which sessions of an account are looked at. */
struct among {
    int kind;                       /* enum client_kind, or ANY_KIND */
    uint32_t shard_id, shard_count; /* those of this shard; count 0: all */
    const struct session *but;      /* not this one */
};

struct statuses account_statuses(const struct account *a, struct among c); /* accepts NULL */
struct presence_look account_look(const struct account *a, struct among c);
/* What others see now, of one shard; false: nothing else than what they were told, and ret is
 * not set. From now on they are taken to have been. */
bool look_show(struct account *a, const struct among *c, struct presence_look *ret);
/* The rest needs no lock. */
uint64_t look_activities(const struct presence_look *l); /* a hash, or 0 */
void look_clear(struct presence_look *l);
void presence_write(snowflake user_id, bool referring, snowflake guild_id,
                    const struct presence_look *l, struct json *j);

#endif
