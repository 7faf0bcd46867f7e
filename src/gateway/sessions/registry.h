/* registry.h - struct gateway and the registry of all accounts and sessions of the process. */
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
    struct cluster *cluster;        /* NULL: single node */
    struct journal *journal;        /* NULL: sessions do not survive a crash of the process */
    struct replica *replica;        /* copies of other nodes' journals; or NULL */
    _Atomic uint32_t replicated_by; /* identity of the node that has this node's replica; or 0 */
    struct directory *directory;    /* other nodes' sessions; NULL: not shared */
    struct loops *loops;
    struct hub **hubs;
    _Atomic unsigned hub_count;   /* 0: not started, or stopped */
    struct loop_count *delivered; /* events sent to sessions, per loop */
    unsigned loop_count;
    pthread_mutex_t lock; /* protects the next six members */
    struct map sessions;  /* number -> session */
    struct map remotes;   /* number -> struct remote_session */
    struct map arriving;  /* number -> hub: sessions that are requested from other nodes */
    struct map accounts;  /* user id -> struct account */
    struct map strangers; /* unauthenticated sockets by hash of address */
    struct client_names client_names;
    struct dialects dialects;
    struct crowds crowds;
    pthread_mutex_t publishing;
    _Atomic uint64_t published; /* number of the last published event; written with that lock */
    uint64_t older;             /* in a cluster: events up to here are older than this process */
    _Atomic bool draining;
    _Atomic int64_t delay_ms;  /* delay of events, on test servers */
    _Atomic unsigned watchers; /* bot sessions with the intent GUILD_PRESENCES */
    bool busy;                 /* used while stopping */
    struct gateway_counters count;
    _Atomic uint64_t turns; /* accepted connections */
    unsigned beats;         /* heartbeats while this node is the cluster's first */
};

/* The presence last announced for an account, or for one shard of a bot. */
struct shown_presence {
    struct shown_presence *next;
    uint32_t shard_id, shard_count;
    struct statuses statuses;
    uint64_t activities; /* hash, or 0 */
};

/* A session of another node. Changed with the lock held, by one thread. */
struct remote_session {
    struct link of_user; /* in the account's list */
    struct link of_peer; /* in the list of its node */
    uint32_t server;
    uint32_t round; /* full update that had it: presence/directory_peers.c */
    uint64_t number;
    snowflake user_id;
    uint32_t shard_id, shard_count;
    unsigned char status, kind; /* enum presence_status, client_kind */
    bool faded, bot;
    char id[SESSION_ID + 1], client[64];
    struct str presence; /* JSON of activities, on the heap; p == NULL: none */
    snowflake *guilds;   /* its guilds, on the heap */
    size_t guild_count;
    size_t small_count; /* the first ones: guilds up to SMALL_GUILD members */
};

/* An account that has sessions, or began some today. */
struct account {
    snowflake id;
    struct link sessions;
    struct link remotes;         /* struct remote_session */
    struct shown_presence shown; /* list, one per shard of a bot; shard_count 0: none yet */
    unsigned session_count, remote_count, errand_count;
    uint16_t starts;     /* sessions begun … */
    uint16_t starts_day; /* … on this day (lowest bits) */
    int64_t full_ms;     /* when the token bucket is full again: of key 0, … */
    int64_t *others;     /* … and of the other keys (GATEWAY_CONCURRENCY - 1); or NULL */
};

/* With the lock held. Creates it if needed. */
struct shown_presence *account_shown(struct account *a, uint32_t shard_id, uint32_t shard_count);
void account_free(struct account *a);
/* Adds it to the account's list and the map, or removes it. With the lock held. */
void remote_add(struct gateway *g, struct remote_session *r);
void remote_remove(struct gateway *g, struct remote_session *r);
void remote_free(struct remote_session *r); /* accepts NULL */

bool registry_count_stranger(struct gateway *g, uint64_t key); /* false: too many */
void registry_uncount_stranger(struct gateway *g, uint64_t key);
/* Adds the session unless the account has too many. */
bool registry_add(struct gateway *g, struct session *s);
/* Adds a restored session, without a limit. */
void registry_put(struct gateway *g, struct session *s);
void registry_remove(struct gateway *g, struct session *s);
/* The session, if it is on this hub. On the hub's loop. */
struct session *registry_local(struct hub *h, uint64_t number);
/* Reads the number from a session id; false: not a valid id. */
bool session_id_read(struct str id, uint64_t *ret_number);
/* The hub that has the session or will receive it; or NULL. */
struct hub *registry_hub(struct gateway *g, uint64_t number);
/* Whether the session is on this node. */
bool registry_has(struct gateway *g, uint64_t number);
/* Whether the account may begin another session with this shard now. `known`: a lower bound of
 * today's starts. Counts the start; *ret is the new count. */
bool registry_may_start(struct gateway *g, snowflake id, uint32_t shard_id, int64_t known,
                        int64_t *ret);
/* Recent session starts of an account, as nodes of a cluster send them to each other. */
struct session_starts {
    snowflake user_id;
    uint32_t key; /* shard id modulo GATEWAY_CONCURRENCY */
    int64_t full_ms, day;
    unsigned starts;
};
struct session_starts registry_starts(struct gateway *g, snowflake id, uint32_t shard_id);
void registry_hear_starts(struct gateway *g, const struct session_starts *s);
int64_t registry_today(void);
/* The session was requested from another node and will arrive at hub; hub NULL: no longer. */
void registry_expect(struct gateway *g, uint64_t number, struct hub *hub);

#endif
