/* session.h - who is told, and what was already; outlives its sockets. */
#ifndef GATEWAY_SESSIONS_SESSION_H
#define GATEWAY_SESSIONS_SESSION_H

#include "base/links.h"
#include "gateway/gateway.h"
#include "gateway/sessions/client_names.h"
#include "gateway/sessions/replay.h"
#include "gateway/views/topics.h"

struct hub;
struct journal_slot;
struct peer;

enum {
    PRESENCE_MS = 20 * 1000, /* in which so many changes of its presence are told */
    AWAY_MS = 180 * 1000,    /* without a socket */
    FADE_MS = 60 * 1000,     /* until it is seen as offline */
    SESSION_ID = 32,
};

enum presence_status {
    PRESENCE_ONLINE,
    PRESENCE_IDLE,
    PRESENCE_DND,
    PRESENCE_INVISIBLE,
};

/* Where a session is; resume/resume.h has the diagram. A session that ends is freed, whatever its
 * state is. */
enum session_state {
    SESSION_IDENTIFYING,  /* READY was not sent: others do not see the session */
    SESSION_LIVE,         /* it has a connection */
    SESSION_DISCONNECTED, /* its connection is lost; its client may resume it on this node */
    SESSION_ARRIVING,     /* on its way to the loop of its client, until it has all missed events */
    SESSION_RECOVERED,    /* the same, rebuilt from the journal of a node that crashed */
    SESSION_MOVING,       /* being released to another node */
    SESSION_SUSPENDED,    /* stored because this server stops */
    SESSION_STATES,
};

/* What sessions are together, and those of each kind of client: enum presence_status. */
struct statuses {
    unsigned char whole, of[CLIENT_KINDS];
};

/* --- what few sessions have, or for a while: a session refers to it ------------------- */

/* Without a socket. */
struct session_absence {
    struct session *session;
    struct deadline away, fade;
};

/* What it has said of itself. Changed with the gateway's lock, but for the window. */
struct own_presence {
    struct session *session;
    struct str activities;  /* JSON, on the heap; p == NULL: none */
    struct deadline window; /* of what is told of its presence: … */
    int64_t since_ms;       /* … from here on, … */
    unsigned count;         /* … so often */
};

/* Errands that are not done: errands.h. */
struct errand_line {
    struct session *session;
    struct link errands;
    struct link runnable; /* in the hub's list */
    unsigned count;
};

/* What other nodes know of it. */
struct session_sync {
    struct session *session;
    struct link unpublished;  /* in the hub's list: its presence record has changed */
    struct link unreplicated; /* in the list of struct replication: … */
    uint64_t copied;          /* … the replica has its notes up to this seq, … */
    uint32_t round;           /* … and was sent the whole session in this round; … */
    bool whole;               /* … the whole session has to be sent */
};

/* --- parts of every session ----------------------------------------------------------- */

/* From IDENTIFY. */
struct session_options {
    uint32_t intents;      /* of a user, 0: everything */
    uint32_t capabilities; /* known ones */
    uint32_t shard_id, shard_count;
};

/* What other users see of it; its activities are in struct own_presence. */
struct session_presence {
    unsigned char status; /* enum presence_status */
    unsigned char kind;   /* enum client_kind */
    bool faded;           /* shown as offline, because it is disconnected; with the lock */
    bool due;             /* a change was not announced yet */
};

/* What its socket has taken; later dispatches wait in the replay. */
struct session_output {
    uint64_t sent;       /* seq */
    uint64_t replay_end; /* last seq to replay after RESUME: up to it no client is too slow */
};

struct session_resume {
    uint64_t seen;             /* events up to this number were delivered by another loop or node */
    uint64_t turn;             /* of the connection that resumed it, in the order of HELLO */
    struct journal_slot *slot; /* its record in the journal; or NULL */
};

struct session {
    /* Members that every event needs stand together. */
    struct hub *hub;
    struct peer *peer; /* NULL: it has no connection */
    struct replay replay;
    uint64_t number;    /* its id, for topics */
    uint64_t presences; /* READY had those up to this event: only later ones are sent */
    uint64_t seq;
    struct session_resume resume;
    struct session_output output;
    struct session_options options;
    bool bot;
    _Atomic bool revoked; /* its credential has ended: it ends when its loop sees that */
    bool listed;          /* in the registry; of its own loop */
    unsigned char state;  /* enum session_state; changed by session_set_state, with the lock */
    struct session_presence presence;
    bool enters_lists; /* some of its member lists have not begun yet */
    unsigned char large_threshold;
    uint32_t behind_bytes; /* of dispatches that wait */

    struct caller caller;     /* of its last IDENTIFY or RESUME; changed with the lock */
    uint64_t forgets;         /* auth_forgets when the credential was read; with the lock */
    struct link link;         /* in the hub's list */
    struct link of_user;      /* in the account's list */
    unsigned char id_rest[8]; /* of its id, after the number */
    struct seats seats;
    struct link lists;               /* struct list_subscription: member lists that it shows */
    const char *client;              /* shared: client_names.h; or NULL */
    struct session_absence *absence; /* these four: NULL while there is none */
    struct own_presence *own;
    struct errand_line *errands;
    struct session_sync *sync;
};

/* READY was sent. */
static inline bool session_is_ready(const struct session *s)
{
    return s->state != SESSION_IDENTIFYING;
}

/* Another process continues the session: nothing of it ends when it ends here. */
static inline bool session_continues(const struct session *s)
{
    return s->state == SESSION_MOVING || s->state == SESSION_SUSPENDED;
}

/* "os|browser|device", for lists of sessions. */
static inline const char *session_client(const struct session *s)
{
    return s->client ? s->client : "";
}

static inline struct str session_activities(const struct session *s)
{
    return s->own ? s->own->activities : (struct str){ 0 };
}

static inline int64_t session_presence_ms(const struct session *s)
{
    return s->own ? s->own->since_ms : 0;
}

static inline unsigned session_errand_count(const struct session *s)
{
    return s->errands ? s->errands->count : 0;
}

/* Made when they are not there. */
struct own_presence *session_own_presence(struct session *s);
struct session_sync *session_sync(struct session *s);
/* What it calls itself, for a session that is on no list yet. */
void session_set_client(struct session *s, const char *client);
void session_id_write(const struct session *s, char out[SESSION_ID + 1]);
bool session_is_called(const struct session *s, struct str id);

struct session *session_new(struct hub *h, const struct caller *caller);
/* One that another process began. */
struct session *session_new_known(struct hub *h, const struct caller *caller, const char *id);
/* The table of transitions. */
bool session_may_become(enum session_state from, enum session_state to);
/* Ends the process if the transition is not allowed. On the session's loop. */
void session_set_state(struct session *s, enum session_state state);
void session_end(struct session *s);
void session_invalid(struct peer *p); /* op 9; its session, if any, ends */
/* The same from the loop itself, for those who are in the middle of an event: a session
 * that ends takes its seats and their topics away. */
void session_invalid_soon(struct hub *h, uint64_t number);
/* Takes it out of its hub, whole, for another loop; and puts it into one. */
void session_detach(struct session *s);
void session_attach(struct session *s, struct hub *h);
/* Numbers, keeps and sends. */
void session_dispatch(struct session *s, struct news *n, unsigned form);
/* The same with a payload for this session alone. */
void session_tell(struct session *s, enum event event, struct str payload);
/* The same from a buffer, which is cleared. A session that cannot be told all of it ends. */
void session_tell_buf(struct session *s, enum event event, struct buf *payload);
/* Goes on where the socket was full. */
void session_send(struct session *s);
/* Its socket has something left to take. */
bool session_is_busy(const struct session *s);
/* The socket went or takes too long. */
void session_lose_peer(struct session *s);
void session_expired(struct deadline *d);
void session_faded(struct deadline *d);
/* A socket is there again. */
void session_regain(struct session *s);
bool session_covers(const struct session *s, snowflake guild_id);
struct gateway_viewer session_viewer(const struct session *s);
struct gateway_caller session_caller(const struct session *s);

/* Sends again what follows seq, which is kept, then RESUMED. */
void session_replay(struct session *s, uint64_t seq);

#endif
