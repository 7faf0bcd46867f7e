/* session.h - a gateway session: the state of a client that receives events. */
#ifndef GATEWAY_SESSIONS_SESSION_H
#define GATEWAY_SESSIONS_SESSION_H

#include "base/links.h"
#include "gateway/gateway.h"
#include "gateway/sessions/client_names.h"
#include "gateway/sessions/replay.h"
#include "gateway/subscriptions/topics.h"

struct gateway_loop;
struct journal_slot;
struct gateway_socket;

enum {
    PRESENCE_MS = 20 * 1000,        /* length of the presence rate limit window, in ms */
    SESSION_EXPIRY_MS = 180 * 1000, /* time after which a disconnected session ends, in ms */
    /* Time after which a disconnected session is shown as offline, in ms. */
    SHOW_OFFLINE_MS = 60 * 1000,
    SESSION_ID = 32,
};

enum presence_status {
    PRESENCE_ONLINE,
    PRESENCE_IDLE,
    PRESENCE_DND,
    PRESENCE_INVISIBLE,
};

/* State of a session; resume/resume.h has the diagram. A session can end in any state. */
enum session_state {
    SESSION_IDENTIFYING,  /* READY was not sent; the session is not visible to other users */
    SESSION_LIVE,         /* the session has a connection */
    SESSION_DISCONNECTED, /* the connection is lost; the session may be resumed on this node */
    /* The session moves to its client's loop, and not all missed events are sent yet. */
    SESSION_ARRIVING,
    /* Rebuilt from the journal of a crashed node; not all missed events are sent yet. */
    SESSION_RECOVERED,
    SESSION_MOVING,    /* is being released to another node */
    SESSION_SUSPENDED, /* was stored because this node stops */
    SESSION_STATES,
};

/* Combined status of an account's sessions, and the status per kind of client: enum
 * presence_status. */
struct account_statuses {
    unsigned char whole, of[CLIENT_KINDS];
};

/* --- state that only some sessions need, allocated when needed ------------------------ */

struct session_disconnect_deadlines {
    struct session *session;
    struct deadline away, show_offline;
};

/* The presence that the client has set. It is changed with the gateway's lock held, except the
 * fields of the rate limit window. */
struct client_presence {
    struct session *session;
    struct str activities;  /* JSON of the activities, on the heap; p is NULL if there are none */
    struct deadline window; /* end of the rate limit window */
    int64_t since_ms;       /* start of the rate limit window */
    unsigned count;         /* number of presence changes announced in the rate limit window */
};

/* Running tasks of a session (session_tasks.h). */
struct session_tasks {
    struct session *session;
    struct list_link tasks;
    struct list_link runnable; /* link in the loop's list of runnable tasks */
    unsigned count;
};

/* Records which state of the session was sent to other nodes' directories and to the replica. */
struct session_cluster_state {
    struct session *session;
    /* link in the loop's list of sessions whose presence was not published yet */
    struct list_link unpublished;
    /* Link in the list `unsent` of struct journal_replication_of_loop while records are unsent. */
    struct list_link unreplicated;
    uint64_t replicated_seq; /* the replica has the session's journal records up to this seq */
    /* Number of the replication round (full resend) in which the whole session was sent. */
    uint32_t round;
    bool whole; /* the whole session must be sent to the replica again */
};

/* --- parts of every session ----------------------------------------------------------- */

/* Options from IDENTIFY. */
struct session_options {
    uint32_t intents;      /* intents of the session; 0 for a user session means all intents */
    uint32_t capabilities; /* bits of "capabilities" that the server supports */
    uint32_t shard_id, shard_count;
};

/* The presence that other users see. Its activities are in struct client_presence. */
struct session_visible_presence {
    unsigned char status; /* enum presence_status */
    unsigned char kind;   /* enum client_kind */
    /* True if the session is shown as offline, because it is disconnected. Changed with the
     * gateway's lock held. */
    bool shown_offline;
    bool due; /* a change was not announced yet */
};

/* Says which dispatches were sent to the socket; later dispatches wait in the replay buffer. */
struct session_send_progress {
    uint64_t sent; /* last seq that was sent */
    /* Seq of the last event that RESUME replays; replayed events do not count as backlog. */
    uint64_t replay_end;
};

struct session_resume_state {
    /* Number of the last event that was sent to the session on its former loop or node. */
    uint64_t delivered_elsewhere;
    /* Number of the connection that last resumed the session. */
    uint64_t connection_number;
    struct journal_slot *slot; /* the session's slot in the journal, or NULL */
};

struct session {
    /* These fields are adjacent, because the delivery of every event needs them. */
    struct gateway_loop *gateway_loop;
    struct gateway_socket *socket; /* NULL if the client is disconnected */
    struct replay_buffer replay;
    uint64_t number;    /* first half of the session id */
    uint64_t presences; /* number of the last event whose presence changes were included in READY */
    uint64_t seq;
    struct session_resume_state resume;
    struct session_send_progress output;
    struct session_options options;
    bool bot;
    _Atomic bool revoked; /* the credential was revoked; the session's loop ends the session */
    bool listed;          /* the session is in the registry; used only on the session's loop */
    unsigned char state;  /* enum session_state; set with the gateway's lock held */
    struct session_visible_presence presence;
    /* The session has member list subscriptions that are not in their lists yet. */
    bool enters_lists;
    unsigned char large_threshold;
    uint32_t behind_bytes; /* payload bytes of unsent dispatches */

    /* caller of the last IDENTIFY or RESUME; changed with the gateway's lock held */
    struct caller caller;
    /* auth_revocation_count when the credential was read; written with the gateway's lock held. */
    uint64_t revocation_count;
    struct list_link link;    /* link in the loop's list of sessions */
    struct list_link of_user; /* link in the account's list of sessions */
    unsigned char id_rest[8]; /* second half of the session id */
    struct session_subscriptions subscriptions;
    struct list_link lists; /* items: struct member_list_subscription */
    const char *client;     /* interned name (client_names.h), or NULL */
    /* deadlines of a disconnected session; this and the next three fields may be NULL */
    struct session_disconnect_deadlines *absence;
    struct client_presence *client_presence;
    struct session_tasks *tasks;
    struct session_cluster_state *sync;
};

/* Returns whether READY was sent. */
static inline bool session_is_ready(const struct session *s)
{
    return s->state != SESSION_IDENTIFYING;
}

/* Returns whether another process continues the session: if so, other users must not see that it
 * ends in this process. */
static inline bool session_continues_in_other_process(const struct session *s)
{
    return s->state == SESSION_MOVING || s->state == SESSION_SUSPENDED;
}

/* Returns the client's "os|browser|device". */
static inline const char *session_get_client_name(const struct session *s)
{
    return s->client ? s->client : "";
}

static inline struct str session_get_activities(const struct session *s)
{
    return s->client_presence ? s->client_presence->activities : (struct str){ 0 };
}

static inline int64_t session_presence_window_ms(const struct session *s)
{
    return s->client_presence ? s->client_presence->since_ms : 0;
}

static inline unsigned session_count_tasks(const struct session *s)
{
    return s->tasks ? s->tasks->count : 0;
}

/* Return the presence or the cluster state of the session; create it if the session has none. */
struct client_presence *session_get_or_create_presence_state(struct session *s);
struct session_cluster_state *session_get_or_create_cluster_state(struct session *s);
/* Sets the client name "os|browser|device". Must precede the addition to the registry. */
void session_set_client_name(struct session *s, const char *client);
void session_id_format(const struct session *s, char out[SESSION_ID + 1]);
bool session_has_id(const struct session *s, struct str id);

struct session *session_new(struct gateway_loop *h, const struct caller *caller);
/* Creates a session with the same id that it had in another process. */
struct session *session_new_with_id(struct gateway_loop *h, const struct caller *caller,
                                    const char *id);
/* Returns whether a session may change from one state to the other. */
bool session_can_change_state(enum session_state from, enum session_state to);
/* Changes the session's state, on its loop. Aborts the process if the transition is not allowed. */
void session_set_state(struct session *s, enum session_state state);
void session_end(struct session *s);
void session_invalidate_and_end(
    struct gateway_socket *p); /* sends op 9 and ends the session, if there is one */
/* Sends op 9 to the session in a later loop message. Needed while an event is being delivered: a
 * session that ended immediately would free its subscriptions and their topics. */
void session_schedule_invalidation(struct gateway_loop *h, uint64_t number);
/* Move a session: session_detach_from_loop removes it from its loop; session_attach_to_loop adds it
 * to another loop. */
void session_detach_from_loop(struct session *s);
void session_attach_to_loop(struct session *s, struct gateway_loop *h);
/* Assigns the session's next seq to the event, stores it in the replay buffer and sends it. */
void session_deliver_event(struct session *s, struct gateway_event *n, unsigned form);
/* Creates an event with a payload for this session only, and sends the event to the session. */
void session_deliver_payload(struct session *s, enum event event, struct str payload);
/* Creates an event from a buffer, clears the buffer, and sends the event. If the buffer overflowed,
 * the session is invalidated. */
void session_deliver_payload_buf(struct session *s, enum event event, struct buf *payload);
/* Sends events from the replay buffer until the socket's buffer is full. */
void session_send_events_from_replay_buffer(struct session *s);
/* Returns whether the session's socket has unsent data. */
bool session_has_unsent_data(const struct session *s);
/* Called when the socket of the session was closed. */
void session_on_socket_closed(struct session *s);
void on_session_expired(struct deadline *d);
void on_session_offline_deadline(struct deadline *d);
/* Called when the client of the session has connected again. */
void session_on_client_reconnected(struct session *s);
bool session_shard_has_guild(const struct session *s, snowflake guild_id);
struct payload_recipient payload_recipient_of_session(const struct session *s);
struct gateway_hook_session gateway_hook_session_from_session(const struct session *s);

/* Sends the events after `seq`, which must be in the replay buffer, and then RESUMED. */
void session_replay_events_after(struct session *s, uint64_t seq);

#endif
