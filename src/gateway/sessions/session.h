/* session.h - a session: the state of a client that receives events; outlives its sockets. */
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
    PRESENCE_MS = 20 * 1000, /* window of the presence rate limit */
    AWAY_MS = 180 * 1000,    /* disconnected sessions end after this time */
    FADE_MS = 60 * 1000,     /* disconnected sessions are shown as offline after this time */
    SESSION_ID = 32,
};

enum presence_status {
    PRESENCE_ONLINE,
    PRESENCE_IDLE,
    PRESENCE_DND,
    PRESENCE_INVISIBLE,
};

/* State of a session; resume/resume.h has the diagram. A session can end (is freed) in any
 * state. */
enum session_state {
    SESSION_IDENTIFYING,  /* READY was not sent: not visible to others */
    SESSION_LIVE,         /* has a connection */
    SESSION_DISCONNECTED, /* connection lost; may be resumed on this node */
    SESSION_ARRIVING,     /* moving to its client's loop, until all missed events are sent */
    SESSION_RECOVERED,    /* the same, rebuilt from the journal of a node that crashed */
    SESSION_MOVING,       /* being released to another node */
    SESSION_SUSPENDED,    /* stored because this node stops */
    SESSION_STATES,
};

/* Combined status of an account's sessions, and per kind of client: enum presence_status. */
struct statuses {
    unsigned char whole, of[CLIENT_KINDS];
};

/* --- parts that only some sessions have ----------------------------------------------- */

/* Deadlines of a disconnected session. */
struct session_absence {
    struct session *session;
    struct deadline away, fade;
};

/* The presence that the client set. Changed with the gateway's lock held, except the window. */
struct own_presence {
    struct session *session;
    struct str activities;  /* JSON, on the heap; p == NULL: none */
    struct deadline window; /* presence rate limit: … */
    int64_t since_ms;       /* … when it began, … */
    unsigned count;         /* … and changes announced in it */
};

/* Tasks of a session: errands.h. */
struct errand_line {
    struct session *session;
    struct link errands;
    struct link runnable; /* in the hub's list */
    unsigned count;
};

/* What other nodes know of the session. */
struct session_sync {
    struct session *session;
    struct link unpublished;  /* in the hub's list: its presence record has changed */
    struct link unreplicated; /* in the list of struct replication: … */
    uint64_t copied;          /* … the replica has its journal records up to this seq */
    uint32_t round;           /* … and got the whole session in this round */
    bool whole;               /* … the whole session has to be sent */
};

/* --- parts of every session ----------------------------------------------------------- */

/* From IDENTIFY. */
struct session_options {
    uint32_t intents;      /* user sessions, 0: all */
    uint32_t capabilities; /* supported ones */
    uint32_t shard_id, shard_count;
};

/* What other users see; the activities are in struct own_presence. */
struct session_presence {
    unsigned char status; /* enum presence_status */
    unsigned char kind;   /* enum client_kind */
    bool faded;           /* shown as offline, because disconnected; with the lock */
    bool due;             /* a change was not announced yet */
};

/* Progress of the socket; later dispatches wait in the replay buffer. */
struct session_output {
    uint64_t sent;       /* last seq sent */
    uint64_t replay_end; /* last seq to replay after RESUME; not counted as backlog */
};

struct session_resume {
    uint64_t seen;             /* last event number delivered by another loop or node */
    uint64_t turn;             /* number of the connection that resumed it (struct peer) */
    struct journal_slot *slot; /* its record in the journal; or NULL */
};

struct session {
    /* Members that every event needs are adjacent. */
    struct hub *hub;
    struct peer *peer; /* NULL: disconnected */
    struct replay replay;
    uint64_t number;    /* first half of its id */
    uint64_t presences; /* READY included presences up to this event number */
    uint64_t seq;
    struct session_resume resume;
    struct session_output output;
    struct session_options options;
    bool bot;
    _Atomic bool revoked; /* its credential was revoked; its loop ends it */
    bool listed;          /* in the registry; used by its own loop */
    unsigned char state;  /* enum session_state; set by session_set_state, with the lock */
    struct session_presence presence;
    bool enters_lists; /* some of its member lists are not set up yet */
    unsigned char large_threshold;
    uint32_t behind_bytes; /* payload bytes of unsent dispatches */

    struct caller caller;     /* from the last IDENTIFY or RESUME; changed with the lock */
    uint64_t forgets;         /* auth_forgets when the credential was read; with the lock */
    struct link link;         /* in the hub's list */
    struct link of_user;      /* in the account's list */
    unsigned char id_rest[8]; /* second half of its id */
    struct seats seats;
    struct link lists;  /* struct list_subscription: member lists that its client shows */
    const char *client; /* interned: client_names.h; or NULL */
    struct session_absence *absence; /* these four are NULL if unused */
    struct own_presence *own;
    struct errand_line *errands;
    struct session_sync *sync;
};

/* Whether READY was sent. */
static inline bool session_is_ready(const struct session *s)
{
    return s->state != SESSION_IDENTIFYING;
}

/* Another process continues the session: its end here has no visible effects. */
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

/* Create the part if there is none. */
struct own_presence *session_own_presence(struct session *s);
struct session_sync *session_sync(struct session *s);
/* Sets "os|browser|device". Only before the session is in the registry. */
void session_set_client(struct session *s, const char *client);
void session_id_write(const struct session *s, char out[SESSION_ID + 1]);
bool session_is_called(const struct session *s, struct str id);

struct session *session_new(struct hub *h, const struct caller *caller);
/* Creates a session with an existing id, from another process. */
struct session *session_new_known(struct hub *h, const struct caller *caller, const char *id);
/* Whether the transition is allowed. */
bool session_may_become(enum session_state from, enum session_state to);
/* Ends the process if the transition is not allowed. On the session's loop. */
void session_set_state(struct session *s, enum session_state state);
void session_end(struct session *s);
void session_invalid(struct peer *p); /* sends op 9; ends the session, if any */
/* Sends op 9 from a later post. For callers that are delivering an event: the end of a session
 * frees its seats and their topics. */
void session_invalid_soon(struct hub *h, uint64_t number);
/* Removes the session from its hub, to move it to another loop; adds it to a hub. */
void session_detach(struct session *s);
void session_attach(struct session *s, struct hub *h);
/* Gives the event its seq, stores it in the replay buffer and sends it. */
void session_dispatch(struct session *s, struct news *n, unsigned form);
/* Sends an event with a payload for this session only. */
void session_tell(struct session *s, enum event event, struct str payload);
/* The same from a buffer, which is cleared. If the buffer overflowed, the session is
 * invalidated. */
void session_tell_buf(struct session *s, enum event event, struct buf *payload);
/* Sends waiting events until the socket is full. */
void session_send(struct session *s);
/* Whether its socket has unsent data. */
bool session_is_busy(const struct session *s);
/* The socket was closed. */
void session_lose_peer(struct session *s);
void session_expired(struct deadline *d);
void session_faded(struct deadline *d);
/* The client is connected again. */
void session_regain(struct session *s);
bool session_covers(const struct session *s, snowflake guild_id);
struct gateway_viewer session_viewer(const struct session *s);
struct gateway_caller session_caller(const struct session *s);

/* Sends the events after seq, which the replay buffer must have, then RESUMED. */
void session_replay(struct session *s, uint64_t seq);

#endif
