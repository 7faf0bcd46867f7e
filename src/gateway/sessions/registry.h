/* registry.h - struct gateway and the registry of all accounts and sessions of the process. */
#ifndef GATEWAY_SESSIONS_REGISTRY_H
#define GATEWAY_SESSIONS_REGISTRY_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "gateway/gateway.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/online_members.h"
#include "gateway/wire/dialects.h"

struct gateway_account;
struct session_directory;
struct event_batch;
struct gateway_loop;
struct journal_replicas;
struct loop_event_counter;

/* Counters for /metrics. */
struct gateway_counters {
    _Atomic uint64_t connected, identified, resumed, recovered, disconnected_slow, closed,
        session_count, missed_log_rows, unread_entries;
    _Atomic uint64_t accepted; /* accepted connections, whose numbers are unique */
};

struct gateway {
    struct gateway_options options;
    struct cluster *cluster; /* cluster of this node; NULL on a single node */
    /* journal of this process; NULL if sessions do not survive a crash */
    struct journal *journal;
    struct journal_replicas *replica; /* copies of other nodes' journals, or NULL */
    _Atomic uint32_t replicated_by;   /* identity of the node that has this node's replica, or 0 */
    struct log_page_cache *log_pages; /* NULL without an event log */
    struct session_directory
        /* directory of other nodes' sessions; NULL if nodes do not publish their sessions */
        *directory;
    struct loops *loops;
    struct gateway_loop **gateway_loops;
    /* Number of event loops with gateway state; 0 before the start and after the stop. */
    _Atomic unsigned gateway_loop_count;
    struct loop_event_counter *delivered; /* events sent to sessions, per loop */
    unsigned loop_count;
    pthread_mutex_t lock; /* protects the next six members */
    struct map sessions;  /* session number -> struct session */
    struct map remotes;   /* session number -> struct remote_session */
    /* Sessions that this node has requested from other nodes: session number -> the struct
     * gateway_loop on which the session will arrive. */
    struct map arriving;
    struct map accounts;        /* user id -> struct gateway_account */
    struct map unauthenticated; /* hash of address -> number of unauthenticated sockets */
    struct client_name_table client_names;
    struct wire_formats dialects;
    struct online_members online_members;
    pthread_mutex_t publishing;
    /* Number of the last published event; written with the lock `publishing` held. */
    _Atomic uint64_t published;
    /* Unread entries (fanout/unread_entries.h) that were not posted to the loops yet, or NULL.
     * Needs the lock `publishing`. */
    struct event_batch *unread_entries;
    /* In a cluster: number of the last event that was published before this process started. */
    uint64_t first_number;
    _Atomic bool draining;
    _Atomic int64_t delay_ms;       /* delay of events in ms, for tests of clients */
    _Atomic unsigned presence_bots; /* number of bot sessions with the intent GUILD_PRESENCES */
    struct gateway_counters count;
    /* Number of heartbeats in which this node was the first node of the cluster. */
    unsigned cluster_heartbeats;
};

/* The presence that was last announced for a user account, or for one shard of a bot. */
struct announced_presence {
    struct announced_presence *next;
    uint32_t shard_id, shard_count;
    struct account_statuses statuses;
    uint64_t activities; /* hash of the activities, or 0 */
};

/* A session of another node. Only one thread changes it, with the gateway's lock held. */
struct remote_session {
    struct list_link of_user; /* link in the list `remotes` of the session's account */
    struct list_link of_node; /* link in the list of sessions that the other node has */
    uint32_t server;
    /* Number of the last full update that contained this session (presence/directory_nodes.c). */
    uint32_t round;
    uint64_t number;
    snowflake user_id;
    uint32_t shard_id, shard_count;
    unsigned char status, kind; /* enum presence_status, enum client_kind */
    bool shown_offline, bot;
    char id[SESSION_ID + 1], client[64];
    struct str presence; /* JSON of activities, on the heap; p is NULL if there are none */
    snowflake *guilds;   /* ids of the session's guilds, on the heap */
    size_t guild_count;
    /* Number of guilds with up to SMALL_GUILD_MEMBERS members; they come first in `guilds`. */
    size_t small_count;
};

/* An account that has sessions now, or that started sessions today. */
struct gateway_account {
    snowflake id;
    struct list_link sessions;
    struct list_link remotes; /* struct remote_session */
    /* Announced presences: a list, one per shard of a bot. shard_count is 0 if there is none. */
    struct announced_presence announced;
    unsigned session_count, remote_count, task_count;
    uint16_t starts;     /* number of sessions started on starts_day */
    uint16_t starts_day; /* lowest 16 bits of the number of the day to which `starts` belongs */
    /* time at which the token bucket of rate limit key 0 is full again, in ms */
    int64_t full_ms;
    /* full_ms of rate limit keys 1 to GATEWAY_CONCURRENCY - 1; NULL until one is used */
    int64_t *others;
};

/* Returns or creates the announced presence of a shard. Needs the gateway's lock. */
struct announced_presence *account_get_announced_presence(struct gateway_account *a,
                                                          uint32_t shard_id, uint32_t shard_count);
void gateway_account_free(struct gateway_account *a);
/* Add a session of another node to its account and to the map of remote sessions, or remove it from
 * both. Need the gateway's lock. */
void remote_session_add(struct gateway *g, struct remote_session *r);
void remote_session_remove(struct gateway *g, struct remote_session *r);
void remote_session_free(struct remote_session *r); /* accepts NULL */

/* Counts an unauthenticated socket of the IP address. Returns false if it has too many. */
bool registry_count_unauthenticated_socket(struct gateway *g, uint64_t key);
void registry_uncount_unauthenticated_socket(struct gateway *g, uint64_t key);
/* Adds the session, unless its account has too many sessions. Returns whether it was added. */
bool registry_add_session(struct gateway *g, struct session *s);
/* Adds a session that was restored from another process, even if its account has too many. */
void registry_add_restored_session(struct gateway *g, struct session *s);
void registry_remove_session(struct gateway *g, struct session *s);
/* Returns the session if it is on loop h, otherwise NULL. Must be called on that loop. */
struct session *registry_find_session_on_loop(struct gateway_loop *h, uint64_t number);
/* Parses the session number from a session id. Returns false if the id is not valid. */
bool session_id_parse(struct str id, uint64_t *ret_number);
/* Returns the loop that has the session or on which the session will arrive, or NULL. */
struct gateway_loop *registry_find_loop_of_session(struct gateway *g, uint64_t number);
bool registry_has_session(struct gateway *g, uint64_t number);
/* Counts a session start of the account. Returns false if the account's limits do not allow another
 * session of this shard now. `known` is a lower bound of today's session starts; *ret is the new
 * number of starts. */
bool registry_count_session_start(struct gateway *g, snowflake id, uint32_t shard_id, int64_t known,
                                  int64_t *ret);
/* Recent session starts of an account, which the nodes of a cluster report to each other. */
struct session_starts {
    snowflake user_id;
    uint32_t key; /* rate limit key: shard id modulo GATEWAY_CONCURRENCY */
    int64_t full_ms, day;
    unsigned starts;
};
struct session_starts registry_read_session_starts(struct gateway *g, snowflake id,
                                                   uint32_t shard_id);
void registry_add_remote_session_starts(struct gateway *g, const struct session_starts *s);
int64_t current_day_number(void);
/* Records that the session was requested from another node and will arrive on the loop `hub`. If
 * `hub` is NULL, removes the record. */
void registry_set_loop_of_arriving_session(struct gateway *g, uint64_t number,
                                           struct gateway_loop *hub);

#endif
