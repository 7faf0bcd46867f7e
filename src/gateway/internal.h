/* internal.h - what the files of gateway/ share.
 *
 *   gateway   one a process: options, who has which session
 *   hub       one a loop: its sockets, sessions, subjects and the events that come
 *   peer      a socket and how it is spoken to
 *   session   who is told, and what was already; outlives its sockets
 *   topic     a subject and the sessions that listen to it
 *   seat      a session's place in a topic */
#ifndef GATEWAY_INTERNAL_H
#define GATEWAY_INTERNAL_H

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "gateway/bus.h"
#include "gateway/gateway.h"
#include "gateway/news.h"
#include "gateway/pack.h"
#include "model/rights.h"

enum {
    HEARTBEAT_MS = 41250,
    OVERDUE_MS = HEARTBEAT_MS * 3 / 2, /* without a heartbeat: ask for one */
    DEAD_MS = HEARTBEAT_MS / 2,        /* after asking */
    STRANGER_MS = 60 * 1000,           /* without a heartbeat and without a name */
    STRANGER_LONGEST_MS = 15 * 60 * 1000,
    DOOMED_MS = 10 * 1000, /* after its session was taken away */
    AWAY_MS = 180 * 1000,  /* a session without a socket */
    FADE_MS = 60 * 1000,   /* until it is seen as offline */

    SMALL_GUILD = 250, /* members who are told of each other's presence */

    MAX_FROM_USER = 15 * 1024,
    MAX_FROM_BOT = 4096,
    MAX_MESSAGE = 32 * 1024, /* what the websocket itself takes */
    MAX_QUEUED = 64 * 1024,  /* bytes at a socket; more wait among what is kept */
    MAX_PAYLOAD = 64 * 1024 * 1024,

    SESSION_ID = 32,
};

enum close_code {
    CLOSE_GOING = 1001,
    CLOSE_UNKNOWN = 4000,
    CLOSE_BAD_OPCODE = 4001,
    CLOSE_BAD_PAYLOAD = 4002,
    CLOSE_NOT_IDENTIFIED = 4003,
    CLOSE_BAD_TOKEN = 4004,
    CLOSE_IDENTIFIED = 4005,
    CLOSE_BAD_SEQUENCE = 4007,
    CLOSE_TOO_MANY = 4008,
    CLOSE_BAD_SHARD = 4010,
    CLOSE_NEEDS_SHARDS = 4011,
    CLOSE_BAD_VERSION = 4012,
    CLOSE_BAD_INTENTS = 4013,
    CLOSE_FORBIDDEN_INTENTS = 4014,
    CLOSE_TOO_MANY_SESSIONS = 4015,
};

enum opcode {
    OP_DISPATCH = 0,
    OP_HEARTBEAT = 1,
    OP_IDENTIFY = 2,
    OP_PRESENCE = 3,
    OP_VOICE_STATE = 4,
    OP_VOICE_PING = 5,
    OP_RESUME = 6,
    OP_RECONNECT = 7,
    OP_REQUEST_MEMBERS = 8,
    OP_INVALID_SESSION = 9,
    OP_HELLO = 10,
    OP_HEARTBEAT_ACK = 11,
    OP_CALL_CONNECT = 13,
    OP_REQUEST_SOUNDS = 31,
    OP_SEARCH_RECENT = 35,
    OP_CHANNEL_STATUSES = 36,
    OP_QOS_HEARTBEAT = 40,
    OP_TIME_SPENT = 41,
    OP_CHANNEL_INFO = 43,
    OP_MAX = 63,
};

/* --- sockets -------------------------------------------------------------------- */

enum compression { COMPRESS_NONE, COMPRESS_ZLIB, COMPRESS_ZSTD };

/* How a client wants to be spoken to; clients with the same wishes share one. */
struct dialect {
    struct gateway *gateway;
    struct dialect *next;
    enum close_code fault; /* 0, or why it cannot be spoken */
    int version;
    bool etf;
    enum compression compression;
    size_t host_n;
    char host[]; /* what the client called us */
};

enum peer_state {
    PEER_STRANGER, /* has not said who it is */
    PEER_ASKING,   /* has, and waits for us */
    PEER_KNOWN,    /* has a session */
};

struct peer {
    struct link link; /* in the hub's list */
    struct hub *hub;
    struct websocket *ws;
    const struct dialect *dialect;
    struct session *session;  /* PEER_KNOWN */
    struct greeting *asking;  /* PEER_ASKING: told when the socket goes */
    struct deadline deadline; /* stranger, overdue, dead or doomed: one at a time */
    struct zstd *zstd;
    int64_t since_ms, window_ms;
    unsigned short payloads, beats; /* in the window */
    unsigned char state;
    bool streaming; /* the zlib header was sent */
    bool compress;  /* payloads, one by one */
    bool closing;
    bool counted; /* among its address's strangers */
    bool doomed;  /* its session was taken away: it has to say again who it is */
};

/* handler of every gateway socket */
void peer_open(struct websocket *ws, void *arg); /* struct dialect */
void peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void peer_closed(struct websocket *ws, int code);
void peer_shutdown(struct websocket *ws);
void peer_drained(struct websocket *ws);

void peer_close(struct peer *p, enum close_code code, const char *reason);
/* The peer has a session now: heartbeats count from here. */
void peer_become(struct peer *p, struct session *s);
void peer_become_stranger(struct peer *p);
/* Some clients pass over an invalid session once they are ready; none does a close. */
void peer_doom(struct peer *p);
void peer_spare(struct peer *p); /* it says who it is */
void peer_beat(struct peer *p);
void peer_expired_stranger(struct deadline *d);
void peer_expired_overdue(struct deadline *d);
void peer_expired_dead(struct deadline *d);
void peer_expired_doomed(struct deadline *d);

/* Messages that are not dispatches; d is JSON. */
void send_op(struct peer *p, enum opcode op, struct str d);
/* A dispatch in a form of the news, without NEWS_ETF and NEWS_DEFLATED. */
void send_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form);
void zstd_free(struct zstd *z);

/* --- opcodes ---------------------------------------------------------------------- */

enum opcode_flags {
    OP_STRANGERS = 1, /* also before it has said who it is */
    OP_USERS = 2,     /* bots: ignored */
    OP_BEAT = 4,      /* counts as a heartbeat */
};

struct opcode_row {
    int op;
    const char *name;
    unsigned flags;
    const struct type *type; /* of d; NULL: anything */
    void (*handle)(struct peer *p, int op, struct str raw, const void *d);
};

const struct opcode_row *opcode_find(int64_t op); /* NULL: unknown */
extern const struct opcode_row opcode_rows[];     /* for tests; ends with .name == NULL */

/* --- greeting ----------------------------------------------------------------------- */

void handle_identify(struct peer *p, int op, struct str raw, const void *d);
void handle_resume(struct peer *p, int op, struct str raw, const void *d);
void greeting_abandon(struct greeting *g); /* its socket is gone */
void session_invalid(struct peer *p);      /* op 9 */
/* The same from the loop itself, for those who are in the middle of an event: a session
 * that ends takes its seats and their topics away. */
void session_invalid_soon(struct hub *h, uint64_t number);

/* --- sessions ------------------------------------------------------------------------ */

struct kept {
    struct news *news;
    int64_t at_s;
    unsigned form;
};

/* The last dispatches, as a ring. The newest has the session's seq. */
struct replay {
    struct kept *ring;
    uint32_t cap, first, count;
    size_t bytes;
    int64_t oldest_s; /* stands here too: adding one does not look at the other end */
};

enum { REPLAY_COUNT = 4096, REPLAY_BYTES = 4 * 1024 * 1024, REPLAY_AGE_S = 600 };
/* A session that is so far behind is cut; the other half is for when it comes back. */
enum { BEHIND_COUNT = REPLAY_COUNT / 2, BEHIND_BYTES = REPLAY_BYTES / 2 };

void replay_add(struct replay *r, struct news *n, unsigned form, int64_t now_s);
void replay_trim(struct replay *r, int64_t now_s);
const struct kept *replay_at(const struct replay *r, uint32_t i); /* 0: the oldest */
void replay_clear(struct replay *r);

enum presence_status {
    PRESENCE_ONLINE,
    PRESENCE_IDLE,
    PRESENCE_DND,
    PRESENCE_INVISIBLE,
};

enum client_kind { CLIENT_DESKTOP, CLIENT_MOBILE, CLIENT_WEB, CLIENT_KINDS };

/* What sessions are together, and those of each kind of client: enum presence_status. */
struct statuses {
    unsigned char whole, of[CLIENT_KINDS];
};

struct session {
    /* What every event needs stands together. */
    struct hub *hub;
    struct peer *peer; /* NULL: away */
    struct replay replay;
    uint64_t number; /* names it among subjects */
    uint64_t seen;   /* news up to this number was delivered on another loop */
    uint64_t seq;
    uint64_t sent; /* to the peer: what follows waits in the replay */
    uint32_t intents;
    uint32_t shard_id, shard_count;
    bool bot;
    bool listed;          /* in the gateway's lists; of its own loop */
    bool ready;           /* READY was told: others may see it; with the gateway's lock */
    bool faded;           /* away for so long that it is not seen; the same */
    bool presence_due;    /* a change was not told yet */
    unsigned char status; /* enum presence_status */
    unsigned char kind;   /* enum client_kind */

    struct caller caller;
    struct link link;    /* in the hub's list */
    struct link of_user; /* in the gateway's list of the account's sessions */
    char id[SESSION_ID + 1];
    int64_t capabilities, large_threshold;
    uint64_t turn;       /* of the resumption it came back by */
    uint64_t owed;       /* since it came back: what it missed does not count as waiting */
    size_t behind_bytes; /* of what waits */
    struct deadline away, fade;
    struct seat **seats;
    uint32_t seat_count, seat_cap;
    struct link errands; /* of this session */
    unsigned errand_count;
    struct str presence; /* JSON of activities, on the heap; p == NULL: none */
    int64_t presence_ms;
    unsigned presence_count;
    char client[64]; /* "os|browser|device", for lists of sessions */
};

struct session *session_new(struct hub *h, const struct caller *caller);
void session_end(struct session *s);
/* Takes it out of its hub, whole, for another loop; and puts it into one. */
void session_detach(struct session *s);
void session_attach(struct session *s, struct hub *h);
/* Numbers, keeps and sends. */
void session_dispatch(struct session *s, struct news *n, unsigned form);
/* The same with a payload for this session alone. */
void session_tell(struct session *s, enum event event, struct str payload);
/* Goes on where the socket was full. */
void session_send(struct session *s);
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

/* --- subjects ------------------------------------------------------------------------- */

struct seat {
    struct session *session;
    struct topic *topic;
    uint32_t index;   /* in the topic */
    uint32_t version; /* of the view that base was worked out from; 0: not yet */
    uint64_t base;
    int64_t timed_out_until; /* microseconds */
    int64_t listed_ms;       /* when all members were last asked for */
    uint32_t role_count;
    snowflake *roles;
};

/* What a channel lets whom do. */
struct place_rule {
    snowflake id, parent_id, owner_id;
    int64_t type;
    uint32_t count;
    struct overwrite overwrites[];
};

struct role_rule {
    snowflake id;
    uint64_t permissions;
};

/* A guild, as far as rights go. Kept up to date by the events themselves. */
struct view {
    snowflake guild_id, owner_id;
    int64_t member_count;
    uint32_t version;
    struct role_rule *roles;
    uint32_t role_count, role_cap;
    struct map channels; /* struct place_rule */
};

struct topic {
    enum subject_kind kind;
    snowflake id;
    struct seat **seats;
    uint32_t count, cap;
    struct view *view; /* guilds */
};

struct topic *topic_find(struct hub *h, enum subject_kind kind, snowflake id);
struct seat *seat_take(struct session *s, enum subject_kind kind, snowflake id); /* or the old */
struct seat *seat_find(const struct session *s, enum subject_kind kind, snowflake id);
void seat_leave(struct seat *seat);
void seat_set_member(struct seat *seat, const struct member *m);
void seat_drop_role(struct seat *seat, snowflake role_id);
void topics_free(struct hub *h);

struct view *view_new(const struct guild *g, const struct list *channels);
void view_free(struct view *v);
uint64_t view_role(const struct view *v, snowflake id); /* 0: there is none */
void view_set_role(struct view *v, snowflake id, uint64_t permissions);
void view_drop_role(struct view *v, snowflake id);
void view_set_channel(struct view *v, const struct channel *c);
void view_drop_channel(struct view *v, snowflake id);
/* What the seat's session may do, in a channel (0: in the guild). Nothing in a channel
 * that is not there. */
uint64_t seat_rights(struct seat *seat, snowflake channel_id);

/* --- a loop's share ---------------------------------------------------------------------- */

/* A look at the store. While one runs that waits for a quiet moment, events wait in
 * line: what it reads and what follows fit together. */
struct load {
    struct work work;
    struct link link;
    struct hub *hub;
    struct arena *arena;
    bool quiet;
    bool writes; /* in a write transaction */
    enum err (*run)(struct load *l, struct tx *tx);
    void (*done)(struct load *l, enum err e); /* frees what it is part of */
};

struct hub {
    struct gateway *gateway;
    struct loop *loop;
    struct link peers, sessions;
    struct map topics;
    struct deadlines *strangers, *overdue, *dead, *doomed, *away, *fading;
    struct packer *packer;
    struct arena *arena;   /* of the message at hand */
    struct arena *scratch; /* of the event at hand */
    struct buf out;        /* scratch for what is sent */
    struct buf in;         /* scratch for what is read */

    struct parcel *queue, **queue_end; /* events in line */
    uint64_t position;                 /* number of the last event that was looked at */
    struct link waiting;               /* struct load that wait for a quiet moment */
    unsigned running;                  /* loads that events wait for */
    unsigned loads;                    /* all that run */
    bool pumping;

    struct link guests; /* struct handover: sessions to be given away */
    unsigned expected;  /* sessions on their way here: news is logged for them */
    struct news **log;
    size_t log_count, log_cap;
    struct link errands; /* what is done bit by bit, when nothing else is to do */
    struct post errands_post;
    bool errands_posted;
    struct turn_end turn_end;
};

/* An event on its way to a loop. */
struct parcel {
    struct post post;
    struct hub *hub;
    struct parcel *next;
    struct news *news;
};

struct hub *hub_new(struct gateway *g, struct loop *loop);
void hub_free(struct hub *h);
void hub_load(struct hub *h, struct load *l);     /* when it is quiet */
void hub_load_now(struct hub *h, struct load *l); /* before the next event, or beside them */
void hub_pump(struct hub *h);
void hub_receive(struct post *post); /* struct parcel */
void hub_log_clear(struct hub *h);

/* Gives one event to those who may see it, and keeps views and seats right. */
void dispatch(struct hub *h, struct news *n);
/* One event to one session that came late. */
void dispatch_to(struct session *s, struct news *n);

/* Handovers that wait for this hub to get further. */
void handovers_continue(struct hub *h);

/* --- guilds of a session --------------------------------------------------------------- */

/* What is read to give a session a seat in a guild. */
struct guild_facts {
    snowflake guild_id;
    bool gone;       /* the guild, or the account from it */
    bool wants_view; /* the hub has none yet */
    struct guild guild;
    struct list channels;
    struct member member;
    struct str payload; /* of GUILD_CREATE, or p == NULL */
};

void guild_facts_begin(struct hub *h, snowflake guild_id, struct guild_facts *f);
/* payload: where the guild itself is written to, or NULL. */
enum err guild_facts_read(struct hub *h, struct tx *tx, const struct gateway_viewer *v,
                          struct json *payload, struct guild_facts *f);
/* Takes the seat; NULL when the guild or the member is gone. */
struct seat *guild_facts_apply(struct session *s, const struct guild_facts *f);

/* A session's account is in one more guild: looks before the next event. */
void guild_join(struct session *s, snowflake guild_id);
/* A bot's guilds come one after the other. */
void arrival_begin(struct session *s, const struct list *guilds);

/* --- work that would take too long at once ------------------------------------------------- */

/* A step at a time, as fast as the session's socket takes what it brings; goes with
 * the session. */
struct errand {
    struct load load; /* of the step that runs */
    struct link link, of_session;
    struct session *session; /* NULL: the session went while a step was running */
    bool stepping;           /* a load is running */
    /* Fills load.run, or returns false: nothing left. */
    bool (*step)(struct errand *e);
    void (*stepped)(struct errand *e, enum err error); /* with a session that is there */
    void (*free)(struct errand *e);
};

/* Frees it instead when the session has too many. */
void errand_begin(struct session *s, struct errand *e);
void errands_drop(struct session *s);
/* They move with their session, between two steps. */
bool errands_stepping(const struct session *s);
void errands_detach(struct session *s);
void errands_attach(struct session *s);
void errands_turn(struct turn_end *t);
void errands_run(struct post *post);

/* --- members on request ---------------------------------------------------------------- */

void handle_request_members(struct peer *p, int op, struct str raw, const void *d);
void handle_search_recent(struct peer *p, int op, struct str raw, const void *d);
void handle_presence(struct peer *p, int op, struct str raw, const void *d);
void handle_request_sounds(struct peer *p, int op, struct str raw, const void *d);
void handle_channel_info(struct peer *p, int op, struct str raw, const void *d);

/* --- the process --------------------------------------------------------------------------- */

struct account;

struct gateway {
    struct gateway_options options;
    struct loops *loops;
    struct hub **hubs;
    unsigned hub_count;
    pthread_mutex_t lock; /* of what follows */
    struct map sessions;  /* number -> session */
    struct map accounts;  /* user id -> struct account */
    struct map strangers; /* hash of address -> count */
    struct dialect *dialects;
    unsigned dialect_count;
    pthread_mutex_t publishing;
    _Atomic uint64_t published; /* written with that lock */
    _Atomic bool draining;
    _Atomic unsigned watchers; /* sessions of bots that asked for presences */
    bool busy;                 /* while it stops */
    _Atomic uint64_t connected, identified, resumed, delivered, cut, closed, session_count;
    _Atomic uint64_t turns; /* how many asked for a session of theirs */
};

/* What others were last told of an account's sessions, or of those of one shard. */
struct shown {
    struct shown *next;
    uint32_t shard_id, shard_count;
    struct statuses statuses;
    uint64_t activities; /* a hash of them, or 0 */
};

/* What is known of an account while it has sessions or has begun some today. */
struct account {
    snowflake id;
    struct link sessions;
    struct shown *shown;
    unsigned session_count;
    unsigned starts;
    int64_t starts_day;
    struct {
        int64_t full_ms; /* when the burst is whole again */
    } keys[GATEWAY_CONCURRENCY];
};

/* With the lock held. */
struct shown *account_shown(struct account *a, uint32_t shard_id, uint32_t shard_count);
void account_free(struct account *a);

const struct dialect *dialect_find(struct gateway *g, const struct http_request *r);
bool registry_count_stranger(struct gateway *g, struct str address); /* false: too many */
void registry_uncount_stranger(struct gateway *g, struct str address);
/* Adds unless the account has too many. */
bool registry_add(struct gateway *g, struct session *s);
void registry_remove(struct gateway *g, struct session *s);
/* The session, when it lives on this hub; on its loop. */
struct session *registry_local(struct hub *h, uint64_t number);
/* The number in a session's id; false: it cannot be one. */
bool session_id_read(struct str id, uint64_t *ret_number);
/* Where the session of that number lives now, or NULL. */
struct hub *registry_home(struct gateway *g, uint64_t number);
/* May the account begin another session with this shard now, when it has begun at least
 * so many today? Counts it; *ret is how many it has begun then. */
bool registry_may_start(struct gateway *g, snowflake id, uint32_t shard_id, int64_t known,
                        int64_t *ret);
int64_t registry_today(void);

#endif
