/* gateway.h - the gateway: WebSocket sessions that receive events.
 *
 * A client connects, identifies and from then on receives every event that it may see, in order and
 * numbered; after a lost connection it resumes and gets the missed events. A session belongs to the
 * event loop of its socket. The gateway reads platform data only through struct gateway_source.
 * Read next: sessions/gateway_loop.h (structure), fanout/dispatch.h (delivery), resume/resume.h
 * (RESUME). Owns the tables of stored sessions; may use cluster/ and below. */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "api/auth/auth.h"
#include "model/guild.h"
#include "net/loop.h"
#include "net/http/http_parser.h"
#include "store/store.h"

struct cluster;
struct gateway;
struct ready_event_writer;
struct session_move_message;
struct log_entry_address;
struct thread_list_sync;
struct traffic_ring;
struct websocket_handler; /* net/http/server.h */

/* The account and the session options for which an object is written. */
struct payload_recipient {
    struct gateway *gateway;
    snowflake user_id, application_id;
    bool bot;
    uint32_t intents;     /* bots only */
    int64_t capabilities; /* users only */
    /* Used to write READY of a user session; NULL in all other cases. */
    struct ready_event_writer *ready_writer;
    int64_t large_threshold; /* guilds with more members are "large" */
    char address[48];        /* IP address of the client; only set for READY, otherwise "" */
    /* the account for which the object is written; NULL if not read yet */
    const struct user *user;
    const struct list *friends; /* ids of the account's friends; NULL if not read yet */
};

struct gateway_member_search {
    snowflake guild_id;
    struct str prefix;    /* prefix of the user name or nick; if empty, all members match */
    struct list user_ids; /* items: snowflake; if not empty, only these accounts are listed */
    /* For a list of all members: only members whose user id is greater than this id. */
    snowflake after;
    int64_t limit;
    bool newest; /* sort by joining time, newest first */
};

/* Functions by which the gateway reads platform data. They run in a read transaction unless noted;
 * their results are in tx_arena. */
struct gateway_source {
    /* Reads id and flags of the bot's application. The flags contain its privileged intents. */
    enum err (*application)(struct tx *tx, snowflake bot_id, snowflake *ret_id, int64_t *ret_flags);
    /* `starts` reads how many sessions a bot started on a day. `add_start` adds 1 to this number,
     * in a write transaction. */
    enum err (*starts)(struct tx *tx, snowflake bot_id, int64_t day, int64_t *ret);
    enum err (*add_start)(struct tx *tx, snowflake bot_id, int64_t day);
    /* Reads the ids of the account's guilds. */
    enum err (*guilds)(struct tx *tx, snowflake user_id, struct list *ret);
    /* Reads the ids of the account's open private channels in which a call is running. */
    enum err (*calls)(struct tx *tx, snowflake user_id, struct list *ret);
    enum err (*user)(struct tx *tx, snowflake id, const struct user **ret);
    enum err (*friends)(struct tx *tx, snowflake user_id, struct list *ret);
    /* Writes all fields of READY except those of the session and the guilds; v->user is set. */
    enum err (*ready)(struct tx *tx, const struct payload_recipient *v, struct json_writer *out);
    /* Writes the object of GUILD_CREATE for a member, without "unavailable". */
    enum err (*guild)(struct tx *tx, const struct member *m, const struct payload_recipient *v,
                      struct json_writer *out);
    /* Reads permission data: the guild with its roles, and all channels (no threads) with their
     * overwrites. Returns ERR_UNKNOWN_… if the guild is deleted. */
    enum err (*guild_permission_data)(struct tx *tx, snowflake guild_id, struct guild *ret,
                                      struct list *ret_channels);
    /* Writes a guild channel as in CHANNEL_CREATE, or returns ERR_UNKNOWN_CHANNEL. */
    enum err (*channel)(struct tx *tx, snowflake id, struct json_writer *out);
    enum err (*roles)(struct tx *tx, snowflake guild_id, struct list *ret);
    enum err (*member)(struct tx *tx, snowflake guild_id, snowflake user_id, struct member *ret);
    enum err (*member_count)(struct tx *tx, snowflake guild_id, int64_t *ret);
    /* Reads members with users, for GUILD_MEMBERS_CHUNK. */
    enum err (*members)(struct tx *tx, const struct gateway_member_search *search,
                        struct list *ret);
    /* Reads the open Discord threads that a user can view, in the given channels or the whole
     * guild, with the user's thread members. Returns ERR_UNKNOWN_… if the guild or the member is
     * deleted. */
    enum err (*threads)(struct tx *tx, snowflake user_id, struct thread_list_sync *sync);
    /* Reads a Discord thread's members (struct thread_member), with guild members and presences.
     * Returns ERR_MISSING_ACCESS or ERR_UNKNOWN_… if the viewer cannot view the thread. */
    enum err (*thread_members)(struct tx *tx, struct gateway *g, snowflake guild_id,
                               snowflake thread_id, snowflake viewer, struct list *ret);
    /* Reads the voice channels that a member can view, with a status or start time (struct
     * voice_channel_status). Returns ERR_UNKNOWN_… if the guild or the member is deleted. */
    enum err (*voice_channels)(struct tx *tx, snowflake guild_id, snowflake user_id,
                               struct list *ret);
    /* Reads the sounds of a guild, for SOUNDBOARD_SOUNDS. */
    enum err (*sounds)(struct tx *tx, snowflake guild_id, struct list *ret);
};

/* Kind of client, derived from the properties in IDENTIFY. */
enum client_kind { CLIENT_DESKTOP, CLIENT_MOBILE, CLIENT_WEB, CLIENT_KINDS };

/* The session that a hook is called for. */
struct gateway_hook_session {
    const struct caller *caller;
    uint64_t session; /* session number, for AUDIENCE_SESSION */
    char session_id[33];
    struct str address; /* client address; empty if disconnected */
    enum client_kind client;
};

/* Functions of other folders for opcodes and session events, called on an event loop; may be NULL.
 */
struct gateway_hooks {
    void *arg;
    /* Handle opcodes: `voice` op 4, 13 and 18-22, `last_messages` op 34. They return false if the
     * message is invalid. d is the JSON of the message, valid during the call. */
    bool (*voice)(void *arg, const struct gateway_hook_session *who, int op, struct str d);
    bool (*last_messages)(void *arg, const struct gateway_hook_session *who, int op, struct str d);
    /* Called when a session of the account has ended. */
    void (*ended)(void *arg, const struct gateway_hook_session *who);
    /* Called when a session was resumed and has received RESUMED. */
    void (*resumed)(void *arg, const struct gateway_hook_session *who);
    /* Called when a RESUME by this account was refused with op 9. */
    void (*refused)(void *arg, snowflake user_id);
    /* Called when a bot's session has received the GUILD_CREATE of a guild after READY. */
    void (*entered)(void *arg, const struct gateway_hook_session *who, snowflake guild_id);
};

#define GATEWAY_SPACEBAR_PATH "/spacebar"

struct gateway_options {
    struct store *store;
    struct auth *auth;
    const struct gateway_source *source;
    struct gateway_hooks hooks;
    /* URL whose host is used in resume_gateway_url; if NULL, the client's Host header is used. */
    const char *public_url;
    unsigned max_guilds;   /* per bot session; 0 means 2500 */
    unsigned max_sessions; /* per user; 0 means 50 */
    /* maximum number of unauthenticated sockets per IP address; 0 means 64 */
    unsigned max_unauthenticated;
    /* delay between the WebSocket upgrade and HELLO, in ms; 0 means HELLO_MS */
    unsigned hello_ms;
    /* Ring buffer of gateway messages for the console, or NULL. */
    struct traffic_ring *traffic;
    /* path of the journal's folder if the server is a node of a cluster, or NULL */
    const char *journal;
    bool replicates; /* nodes store replicas of each other's journals */
    bool suspends;   /* the server stores resumable sessions when it stops */
    /* turns off the rate limits for IDENTIFY and for requests for all members of a guild */
    bool no_limits;
};

struct gateway *gateway_new(const struct gateway_options *options);
/* Joins a cluster, whose nodes pass sessions to each other. Call it before gateway_start. */
void gateway_join_cluster(struct gateway *g, struct cluster *c);
/* Starts the gateway; call it when the loops run, before the server listens. */
void gateway_start(struct gateway *g, struct loops *loops);
/* Allows clients to resume sessions that the server stored when it stopped last. Must be called
 * before the first event is published, and not on an event loop. */
void gateway_allow_resume_of_suspended_sessions(struct gateway *g);
/* Sends op 7 to all clients and waits up to patience_ms until they have disconnected. The shutdown
 * of the server closes sockets that are still open after that time. Must be called after
 * http_server_drain, and not on an event loop. */
void gateway_drain(struct gateway *g, int64_t patience_ms);
/* Stores the sessions that clients can resume after a restart, and ends all others. Must be called
 * when the server has stopped, before the event loops stop. */
void gateway_stop(struct gateway *g);
void gateway_free(struct gateway *g);

/* Returns whether a WebSocket request for the gateway must be answered with 503, because the server
 * is stopping or cut off from the other nodes. */
bool gateway_must_refuse_upgrade(const struct gateway *g, const struct http_request *r);
/* Hook of struct http_server_callbacks: accepts WebSockets on "/", "/gateway" and "/gateway/". */
bool gateway_accept_upgrade(struct gateway *g, const struct http_request *r,
                            struct websocket_handler *ret);

/* Publishes announcements (events of a handler), in the order of the calls. Thread-safe. */
void gateway_publish_announcements(struct gateway *g, const struct emitted_event *list);
/* Publishes the announcements of one position of the event log (0 if they have none). Event numbers
 * are derived from positions, so they are the same on all nodes of a cluster. */
void gateway_publish_events_of_log_position(struct gateway *g, int64_t position,
                                            const struct emitted_event *list);
/* Called instead of gateway_publish_events_of_log_position for a log entry that this node has not
 * received, in the order of the event log. Event loops that need the entry read it from the log.
 * Positions are collected and posted to the loops before the next event, or by
 * gateway_publish_skipped_log_positions. */
void gateway_skip_log_position(struct gateway *g, int64_t position,
                               const struct log_entry_address *a);
void gateway_publish_skipped_log_positions(struct gateway *g);
/* Handles a message of another node about the move of a session between nodes, in the order of the
 * event log. Thread-safe. */
void gateway_on_session_move_message(struct gateway *g, const struct session_move_message *m);
/* Handle messages from other nodes; thread-safe. gateway_on_session_directory_message receives
 * sessions and presences, gateway_on_replica_message receives journal replication.
 * gateway_on_nats_connected is called after a reconnect to NATS. gateway_on_live_nodes_changed is
 * called about once a second, with the identities of all living nodes, this one included. */
void gateway_on_session_directory_message(struct gateway *g, struct str message);
void gateway_on_replica_message(struct gateway *g, struct str message);
void gateway_on_nats_connected(struct gateway *g);
void gateway_on_live_nodes_changed(struct gateway *g, const uint32_t *identities, size_t count);
/* Must be called about once a second. In every 60th call the first node of the cluster deletes the
 * stored sessions of dead nodes. */
void gateway_prune_dead_node_sessions(struct gateway *g);
/* Closes (4004) the sessions started or last resumed with a revoked credential; if token is NULL,
 * all sessions of the account. Sessions whose credential was read after the revocation number
 * `forgets` (auth_revocation_count) are not affected. Thread-safe. */
void gateway_revoke_credential(struct gateway *g, snowflake account, const unsigned char *token,
                               uint64_t forgets);
/* gateway_close_sockets_of_banned_addresses closes the sessions of banned addresses with code 4004,
 * in batches. auth_get_address_ban_set refuses new connections from them. Thread-safe. */
struct ip_network;
void gateway_close_sockets_of_banned_addresses(struct gateway *g, const struct ip_network *n);

/* Finds a user's session, connected or not, by the session_id of READY. Sets *ret to the session's
 * number, which audience_of_session needs. Events for an ended session are dropped. Thread-safe. */
bool gateway_find_session(struct gateway *g, snowflake user_id, struct str session_id,
                          uint64_t *ret);

/* Returns the status of an account: "online", "idle" or "dnd"; NULL if it is offline or invisible.
 * If `kinds` is not NULL, writes the status per kind of client to it. Thread-safe. */
const char *gateway_get_account_status(struct gateway *g, snowflake user_id,
                                       struct json_writer *kinds);

/* Returns the number of visible online members of a guild on all nodes; 0 if g is NULL.
 * Thread-safe. */
int64_t gateway_online_member_count(struct gateway *g, snowflake guild_id);

/* Writes the presences of the online accounts among `ids` as a JSON list. If `referring` is true,
 * each presence has "user_id" instead of "user". Thread-safe. */
void gateway_write_presences_json(struct gateway *g, snowflake guild_id, const struct list *ids,
                                  bool referring, struct json_writer *j);
/* Writes the presence of one account, even if the account is offline. */
void gateway_write_presence_json(struct gateway *g, snowflake user_id, struct json_writer *j);
/* Removes all accounts that are not online from `ids`, then all accounts after the first `max`. */
void gateway_filter_online_accounts(struct gateway *g, struct list *ids, size_t max);

/* Returns how many more sessions the bot may start today. */
unsigned gateway_count_session_starts_left(struct gateway *g, snowflake bot_id);

enum { GATEWAY_STARTS_A_DAY = 1000, GATEWAY_CONCURRENCY = 16 };

/* Writes a list of all sessions, one line of JSON each. Must not be called on an event loop. */
void gateway_write_session_list(struct gateway *g, struct buf *out);

/* Options of a session that decide which events the session receives. */
struct gateway_session_options {
    uint32_t intents, shard_id, shard_count;
    bool connected, bot;
    uint64_t number; /* first half of the session id */
};
/* Lists at most `max` sessions of an account on this node and returns their number. Must not be
 * called on an event loop. */
size_t gateway_list_account_sessions(struct gateway *g, snowflake user_id,
                                     struct gateway_session_options *out, size_t max);

/* Actions by which an operator tests how the client of a session reacts. */
enum operator_action_on_session {
    GATEWAY_ACTION_RECONNECT,  /* op 7: the client should reconnect */
    GATEWAY_ACTION_INVALIDATE, /* op 9, the session ends */
    /* sends op 9 (invalid session) with d = true: the client may resume */
    GATEWAY_ACTION_RESUMABLE,
    GATEWAY_ACTION_CLOSE, /* closes the socket with a code */
};
/* Starts an action on the session with this id (the session_id of READY) and returns before it is
 * done. Returns false if there is no such session. Thread-safe. */
bool gateway_run_operator_action_on_session(struct gateway *g, struct str session_id,
                                            enum operator_action_on_session what, int code);
/* Starts an action on all sessions of an account. Returns the number of sessions. */
size_t gateway_run_operator_action_on_account(struct gateway *g, snowflake user_id,
                                              enum operator_action_on_session what, int code);

/* Delays all events by `ms` without changing their order; 0 ends the delay and sends the delayed
 * events. Thread-safe. */
void gateway_set_event_delay(struct gateway *g, int64_t ms);

struct gateway_stats {
    /* Number of event log rows that were decoded for sessions that resumed. */
    uint64_t missed_log_rows;
    /* Number of log entries that event loops read although this node had not received them. */
    uint64_t unread_entries;
    uint64_t sessions, connected, identified, resumed, recovered, replica_sessions, replica_node,
        published, delivered, disconnected_slow, closed;
};
void gateway_read_stats(const struct gateway *g, struct gateway_stats *ret);

#endif
