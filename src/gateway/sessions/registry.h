/* registry.h - the process: who has which session. */
#ifndef GATEWAY_SESSIONS_REGISTRY_H
#define GATEWAY_SESSIONS_REGISTRY_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "gateway/gateway.h"
#include "gateway/sessions/session.h"
#include "gateway/views/crowds.h"
#include "gateway/wire/dialects.h"

struct account;
struct directory;
struct hub;
struct replica;
struct loop_count;

/* For /metrics. */
struct gateway_counters {
    _Atomic uint64_t connected, identified, resumed, recovered, cut, closed, session_count;
};

struct gateway {
    struct gateway_options options;
    struct cluster *cluster; /* NULL: this server is alone */
    struct journal *journal; /* NULL: sessions do not survive a crash of the process */
    struct replica *replica; /* of other nodes' journals; NULL: none */
    _Atomic uint32_t
        replicated_by;           /* identity of the node that has the replica of this one; or 0 */
    struct directory *directory; /* of the sessions of others; NULL: nobody tells of them */
    struct loops *loops;
    struct hub **hubs;
    _Atomic unsigned hub_count;   /* 0: before the start, and from the end on */
    struct loop_count *delivered; /* events to sessions, by loop */
    unsigned loop_count;
    pthread_mutex_t lock; /* of the next six */
    struct map sessions;  /* number -> session */
    struct map remotes;   /* number -> struct remote_session */
    struct map arriving;  /* number -> hub: of sessions that other servers have */
    struct map accounts;  /* user id -> struct account */
    struct map strangers; /* hash of address -> count */
    struct client_names client_names;
    struct dialects dialects;
    struct crowds crowds;
    pthread_mutex_t publishing;
    _Atomic uint64_t published; /* written with that lock */
    uint64_t older;             /* in a cluster: events up to here were before this process */
    _Atomic bool draining;
    _Atomic int64_t delay_ms;  /* that events wait before loops hear of them; of test servers */
    _Atomic unsigned watchers; /* sessions of bots that asked for presences */
    bool busy;                 /* while it stops */
    struct gateway_counters count;
    _Atomic uint64_t turns; /* sockets that were greeted */
    unsigned beats;         /* of the cluster, while this server is the first of it */
};

/* What others were last told of an account's sessions, or of those of one shard. */
struct shown_presence {
    struct shown_presence *next;
    uint32_t shard_id, shard_count;
    struct statuses statuses;
    uint64_t activities; /* a hash of them, or 0 */
};

/* What is known of a session that another server has. Changed with the lock, by one thread. */
struct remote_session {
    struct link of_user; /* in the account's list */
    struct link of_peer; /* in that of its server, of which this is the identity: */
    uint32_t server;
    uint32_t round; /* of what its server told last, see presence/directory_peers.c */
    uint64_t number;
    snowflake user_id;
    uint32_t shard_id, shard_count;
    unsigned char status, kind; /* enum presence_status, client_kind */
    bool faded, bot;
    char id[SESSION_ID + 1], client[64];
    struct str presence; /* JSON of activities, on the heap; p == NULL: none */
    snowflake *guilds;   /* that it is in, on the heap: … */
    size_t guild_count;
    size_t small_count; /* … first those whose members all see each other */
};

/* What is known of an account while it has sessions or has begun some today. */
struct account {
    snowflake id;
    struct link sessions;
    struct link remotes;         /* struct remote_session */
    struct shown_presence shown; /* and others of bots that have shards; shard_count 0: none yet */
    unsigned session_count, remote_count, errand_count;
    uint16_t starts;     /* so many … */
    uint16_t starts_day; /* … on this day: its last bits */
    int64_t full_ms; /* when the burst is whole again: of the first key, which nearly all have … */
    int64_t *others; /* … and of the others, GATEWAY_CONCURRENCY - 1 of them; or NULL */
};

/* With the lock held. */
struct shown_presence *account_shown(struct account *a, uint32_t shard_id, uint32_t shard_count);
void account_free(struct account *a);
/* Puts it into the account's list and the map; takes it out again. With the lock. */
void remote_add(struct gateway *g, struct remote_session *r);
void remote_remove(struct gateway *g, struct remote_session *r);
void remote_free(struct remote_session *r); /* accepts NULL */

bool registry_count_stranger(struct gateway *g, uint64_t key); /* false: too many */
void registry_uncount_stranger(struct gateway *g, uint64_t key);
/* Adds unless the account has too many. */
bool registry_add(struct gateway *g, struct session *s);
/* Adds one that was there before. */
void registry_put(struct gateway *g, struct session *s);
void registry_remove(struct gateway *g, struct session *s);
/* The session, when it lives on this hub; on its loop. */
struct session *registry_local(struct hub *h, uint64_t number);
/* The number in a session's id; false: it cannot be one. */
bool session_id_read(struct str id, uint64_t *ret_number);
/* Where the session of that number lives now or will arrive, or NULL. */
struct hub *registry_hub(struct gateway *g, uint64_t number);
/* Whether it lives on one of the loops. */
bool registry_has(struct gateway *g, uint64_t number);
/* May the account begin another session with this shard now, when it has begun at least
 * so many today? Counts it; *ret is how many it has begun then. */
bool registry_may_start(struct gateway *g, snowflake id, uint32_t shard_id, int64_t known,
                        int64_t *ret);
/* How an account has begun sessions with a shard: what servers of a cluster tell each other. */
struct session_starts {
    snowflake user_id;
    uint32_t key; /* of the shard: below GATEWAY_CONCURRENCY */
    int64_t full_ms, day;
    unsigned starts;
};
struct session_starts registry_starts(struct gateway *g, snowflake id, uint32_t shard_id);
void registry_hear_starts(struct gateway *g, const struct session_starts *s);
int64_t registry_today(void);
/* It is asked for at another server, and will live there; hub NULL: no more. */
void registry_expect(struct gateway *g, uint64_t number, struct hub *hub);

#endif
