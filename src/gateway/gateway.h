/* gateway.h - sessions that are told what happens.
 *
 * A client connects, says who it is and from then on receives every event that it
 * may see, in order and numbered; after a lost connection it comes back and gets
 * what it missed. A session belongs to the loop of its socket. What only the
 * platform knows comes through a table of functions. */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "api/auth/auth.h"
#include "model/guild.h"
#include "net/loop.h"
#include "net/http/http.h"
#include "store/store.h"

struct cluster;
struct gateway;
struct ready_shape;
struct session_move;
struct thread_list_sync;
struct traffic;
struct websocket_handler; /* net/http/server.h */

/* Whom something is shown to. */
struct gateway_viewer {
    struct gateway *gateway;
    snowflake user_id, application_id;
    bool bot;
    uint32_t intents;           /* bots */
    int64_t capabilities;       /* users */
    struct ready_shape *shape;  /* users, in READY: what they make of it; or NULL */
    int64_t large_threshold;    /* guilds with more members are large */
    char address[48];           /* of the socket, for READY; else "" */
    const struct user *user;    /* itself, where that was read already; or NULL */
    const struct list *friends; /* ids; the same */
};

/* Members that a client asks for. */
struct gateway_search {
    snowflake guild_id;
    struct str prefix;    /* of the user name or nick; empty: all */
    struct list user_ids; /* snowflakes; when there are any, these and no others */
    snowflake after;      /* all: the first ones with a greater id */
    int64_t limit;
    bool newest; /* by joining, the last first */
};

/* What the gateway asks of the store, inside a read transaction where nothing else is said; what
 * is returned lives in tx_arena. */
struct gateway_source {
    /* A bot's application; flags say which intents it may have. */
    enum err (*application)(struct tx *tx, snowflake bot_id, snowflake *ret_id, int64_t *ret_flags);
    /* How many sessions a bot began on a day; and in a write transaction, one more. */
    enum err (*starts)(struct tx *tx, snowflake bot_id, int64_t day, int64_t *ret);
    enum err (*add_start)(struct tx *tx, snowflake bot_id, int64_t day);
    /* Ids of the account's guilds. */
    enum err (*guilds)(struct tx *tx, snowflake user_id, struct list *ret);
    /* Those of its open private channels in which a call runs. */
    enum err (*calls)(struct tx *tx, snowflake user_id, struct list *ret);
    /* The account itself. */
    enum err (*user)(struct tx *tx, snowflake id, const struct user **ret);
    /* Ids of a user's friends. */
    enum err (*friends)(struct tx *tx, snowflake user_id, struct list *ret);
    /* Writes what READY says beside the session and guilds; v->user is there. */
    enum err (*ready)(struct tx *tx, const struct gateway_viewer *v, struct json *out);
    /* Writes a guild as its member sees it: the object of GUILD_CREATE, without
     * "unavailable". */
    enum err (*guild)(struct tx *tx, const struct member *m, const struct gateway_viewer *v,
                      struct json *out);
    /* What rights come from: the guild with its roles, all channels (threads are none)
     * with their overwrites, the member with its roles. ERR_UNKNOWN_… when it is gone. */
    enum err (*view)(struct tx *tx, snowflake guild_id, struct guild *ret,
                     struct list *ret_channels);
    /* Writes a channel of a guild, as its events do. ERR_UNKNOWN_CHANNEL. */
    enum err (*channel)(struct tx *tx, snowflake id, struct json *out);
    enum err (*roles)(struct tx *tx, snowflake guild_id, struct list *ret);
    enum err (*member)(struct tx *tx, snowflake guild_id, snowflake user_id, struct member *ret);
    enum err (*member_count)(struct tx *tx, snowflake guild_id, int64_t *ret);
    /* Members with users, for GUILD_MEMBERS_CHUNK. */
    enum err (*members)(struct tx *tx, const struct gateway_search *search, struct list *ret);
    /* Fills in the open threads that somebody sees, of the channels that are named there or of
     * all of the guild, and what they are to it. ERR_UNKNOWN_… when it is gone. */
    enum err (*threads)(struct tx *tx, snowflake user_id, struct thread_list_sync *sync);
    /* Who is in a thread: struct thread_member, with members and presences. ERR_MISSING_ACCESS,
     * ERR_UNKNOWN_…: the viewer does not see it. */
    enum err (*thread_people)(struct tx *tx, struct gateway *g, snowflake guild_id,
                              snowflake thread_id, snowflake viewer, struct list *ret);
    /* Voice channels that a member sees and that have something to tell, for CHANNEL_INFO:
     * struct voice_room. ERR_UNKNOWN_… when it is gone. */
    enum err (*rooms)(struct tx *tx, snowflake guild_id, snowflake user_id, struct list *ret);
    /* Sounds of a guild, for SOUNDBOARD_SOUNDS. */
    enum err (*sounds)(struct tx *tx, snowflake guild_id, struct list *ret);
};

/* A session as hooks see it. */
enum client_kind { CLIENT_DESKTOP, CLIENT_MOBILE, CLIENT_WEB, CLIENT_KINDS };

struct gateway_caller {
    const struct caller *caller;
    uint64_t session; /* for SUBJECT_SESSION */
    char session_id[33];
    struct str address; /* of its socket; empty when there is none now */
    enum client_kind client;
};

/* Opcodes whose effect is somebody else's; NULL: taken and ignored. On a loop. */
struct gateway_hooks {
    void *arg;
    /* op 4, 13, 18-22, and op 34. d is the JSON of the message, valid for the call only. False: the
     * opcode does not take such data. */
    bool (*voice)(void *arg, const struct gateway_caller *who, int op, struct str d);
    bool (*last_messages)(void *arg, const struct gateway_caller *who, int op, struct str d);
    /* A session of the account has ended for good. */
    void (*ended)(void *arg, const struct gateway_caller *who);
    /* A session was resumed, and has received RESUMED. */
    void (*resumed)(void *arg, const struct gateway_caller *who);
    /* The account's RESUME was answered with op 9: there is no such session any more. */
    void (*refused)(void *arg, snowflake user_id);
    /* A bot's session that has begun has received this guild. */
    void (*entered)(void *arg, const struct gateway_caller *who, snowflake guild_id);
};

struct gateway_options {
    struct store *store;
    struct auth *auth;
    const struct gateway_source *source;
    struct gateway_hooks hooks;
    const char *public_url;  /* NULL: what the client called us */
    unsigned max_guilds;     /* of one bot session; 0: 2500 */
    unsigned max_sessions;   /* of one user; 0: 50 */
    unsigned max_strangers;  /* sockets of one address that have not said who they are; 0: 64 */
    unsigned hello_ms;       /* from the upgrade to HELLO; 0: as clients need it */
    struct traffic *traffic; /* where messages are noted while somebody looks; may be NULL */
    const char *journal;     /* folder of the journal, in a cluster; NULL: none */
    bool replicates;         /* nodes store copies of each other's journals */
    bool suspends;           /* sessions are suspended when the server stops */
    bool no_limits;          /* identify, and ask for all members, as often as you like */
};

struct gateway *gateway_new(const struct gateway_options *options);
/* There are other servers, to and from whom sessions move. Before gateway_start. */
void gateway_share(struct gateway *g, struct cluster *c);
/* Once the loops run, before the server listens. */
void gateway_start(struct gateway *g, struct loops *loops);
/* Before anything can happen: from now on sessions that were put away by the last server may
 * come back. Not from a loop. */
void gateway_wake(struct gateway *g);
/* Tells everybody to come back (op 7) and waits until they have left, at most patience_ms; the
 * other sockets are closed by the server's own shutdown. After server_drain. Not from a loop. */
void gateway_drain(struct gateway *g, int64_t patience_ms);
/* When the server is gone, before the loops stop: puts all sessions away that can go on later,
 * and ends the others. */
void gateway_stop(struct gateway *g);
void gateway_free(struct gateway *g);

/* For struct server_app: takes "/", "/gateway" and "/gateway/". */
bool gateway_upgrade(struct gateway *g, const struct http_request *r,
                     struct websocket_handler *ret);

/* Publishes, from any thread; in the order of the calls. */
void gateway_announce(struct gateway *g, const struct announcement *list);
/* The same of a position of the log (0: none). Numbers of events come from positions, so that
 * they are the same on all servers of a cluster. */
void gateway_announce_at(struct gateway *g, int64_t position, const struct announcement *list);
/* What another server says of a session, in the order of the log. From any thread. */
void gateway_move(struct gateway *g, const struct session_move *m);
/* What other servers tell of their sessions; that they can be heard again; and which of them live,
 * by their identities, this one among them: from time to time. From any thread. */
void gateway_hear(struct gateway *g, struct str message);
void gateway_hear_ledger(struct gateway *g, struct str message); /* of what these were told */
void gateway_hears(struct gateway *g);
void gateway_nodes_live(struct gateway *g, const uint32_t *identities, size_t count);
/* About once a second: one of the servers forgets once a minute what those had that are gone. */
void gateway_tidy_homes(struct gateway *g);
/* A credential of the account is no longer good: the sessions that were begun or last
 * resumed with it are closed with 4004. token NULL: all of the account's. forgets: see
 * auth_forgets; sessions whose credential was looked for later have a new one. From any thread. */
void gateway_forget(struct gateway *g, snowflake account, const unsigned char *token,
                    uint64_t forgets);
/* These addresses are banned: their sessions are closed with 4004, some at a time. Whoever comes
 * back is refused by auth_bans. From any thread. */
struct network;
void gateway_forget_addresses(struct gateway *g, const struct network *n);

/* The session that READY called by this id, as a number for to_session: when it lives
 * (also without a socket, for a while) and is that user's. From any thread. What is told
 * to a session that has ended by then is told to nobody. */
bool gateway_find_session(struct gateway *g, snowflake user_id, struct str session_id,
                          uint64_t *ret);

/* How an account looks to others by its sessions: "online", "idle" or "dnd". NULL: it is
 * not there, or does not want to be seen. kinds: where the same is written for each kind of
 * client, or NULL. From any thread. */
const char *gateway_status(struct gateway *g, snowflake user_id, struct json *kinds);

/* How many members of a guild are seen, on this server and on those it hears of. NULL: nobody. From
 * any thread. */
int64_t gateway_online(struct gateway *g, snowflake guild_id);

/* Those of some accounts (ids) that are seen, as a JSON list of presences; in a guild, or
 * 0. referring: with "user_id" instead of "user". From any thread. */
void gateway_presences(struct gateway *g, snowflake guild_id, const struct list *ids,
                       bool referring, struct json *j);
/* The same of one account, also of one that is not seen. */
void gateway_presence(struct gateway *g, snowflake user_id, struct json *j);
/* Keeps the first of them, in place. */
void gateway_keep_seen(struct gateway *g, struct list *ids, size_t max);

/* How many sessions this bot may still begin today. */
unsigned gateway_starts_left(struct gateway *g, snowflake bot_id);

enum { GATEWAY_STARTS_A_DAY = 1000, GATEWAY_CONCURRENCY = 16 };

/* Appends a line of JSON for each session. Not from a loop. */
void gateway_census(struct gateway *g, struct buf *out);

/* What an operator does to a session, to see how its client takes it. */
enum gateway_push {
    GATEWAY_PUSH_RECONNECT,  /* op 7: the client is asked to come back */
    GATEWAY_PUSH_INVALIDATE, /* op 9: the session is over */
    GATEWAY_PUSH_RESUMABLE,  /* op 9, but it may be resumed */
    GATEWAY_PUSH_CLOSE,      /* its socket is closed with a code */
};
/* By the id that READY gave; from any thread. False: there is no such session. What it does
 * happens a moment later. */
bool gateway_push(struct gateway *g, struct str session_id, enum gateway_push what, int code);
/* The same to all sessions of an account; how many these are. */
size_t gateway_push_account(struct gateway *g, snowflake user_id, enum gateway_push what, int code);

/* Events are told so much later, all of them and in their order; 0: at once, and also those that
 * wait. From any thread. */
void gateway_set_delay(struct gateway *g, int64_t ms);

struct gateway_stats {
    uint64_t sessions, connected, identified, resumed, recovered, kept, kept_by, published,
        delivered, cut, closed;
};
void gateway_stats(const struct gateway *g, struct gateway_stats *ret);

#endif
