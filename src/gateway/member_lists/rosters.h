/* rosters.h - structures that the files of member_lists/ share: rosters, lists, subscriptions. */
#ifndef GATEWAY_MEMBER_LISTS_ROSTERS_H
#define GATEWAY_MEMBER_LISTS_ROSTERS_H

#include "gateway/member_lists/list_id.h"
#include "gateway/member_lists/lists.h"
#include "gateway/member_lists/member_order.h"
#include "gateway/sessions/hub.h"
#include "gateway/views/view.h"

enum {
    ROSTER_WHOLE = 1000, /* in guilds up to this size lists show offline members too */
    ROSTER_READ = 100,   /* members per store read */
    LIST_RANGES = 5,     /* row ranges per subscription */
    LIST_ROWS = 100,     /* rows per range */
    LIST_CHANNELS = 10,  /* channels per guild whose lists a session may show */
    LIST_GROUPS = 256,   /* roles of a guild, "online" and "offline" */
};

struct list_range {
    uint32_t first, last;
};

/* A session's subscription to the member list of a channel. The session owns it. */
struct list_subscription {
    struct link of_session, of_face;
    struct session *session;
    snowflake guild_id, channel_id;
    struct list_range ranges[LIST_RANGES];
    uint32_t count;
    struct list_face *face;
    uint64_t round; /* round in which the subscription was last handled */
    uint64_t moves; /* value of roster_moves.moves when the subscription's list was last checked */
    bool fresh;     /* needs all of its rows */
};

struct list_face {
    struct link link; /* in shown_list.faces */
    struct shown_list *list;
    struct link subscriptions; /* subscriptions that this round has handled come last */
    size_t subscription_count, fresh_count;
    struct list_range ranges[LIST_RANGES];
    uint32_t count;
    uint64_t told[LIST_RANGES]; /* hashes of the rows that were last sent, per range */
    uint64_t round;             /* round in which the window was last handled */
};

struct shown_list {
    struct link link; /* in roster.lists */
    struct roster *roster;
    char id[LIST_ID_MAX];
    struct place_rule *rule; /* copy of the overwrites of the list's first channel */
    struct member_order order;
    struct link faces;
    struct map faces_by_hash; /* hash of the ranges -> struct list_face */
    bool built;
    size_t at;        /* while building: position in the roster's members */
    uint64_t settled; /* round in which the changes were applied */
};

/* Work for the next round. */
struct roster_wants {
    struct map noted; /* user id -> enum roster_note */
    bool wants_roles, wants_members, wants_ids;
    bool fresh; /* a new subscription waits for its first rows */
    bool owes;  /* a session could not be sent its rows, or has left */
};

/* Subscriptions that move to other lists, because permissions changed. */
struct roster_moves {
    bool moving;         /* a move is in progress */
    uint64_t moves;      /* number of moves */
    struct map moved_to; /* during a move: channel id -> struct shown_list */
};

/* Members that were added or removed since the lists were last updated. */
struct roster_changes {
    struct ordered_member **come, **gone;
    size_t come_count, come_cap, gone_count, gone_cap;
};

/* Data that the current round reads from the store. */
struct roster_read {
    bool failed_roles, failed_members; /* the store read failed */
    snowflake reading[ROSTER_READ];
    size_t reading_count;
    struct list found; /* struct member, in the arena of the store read */
};

struct roster {
    struct hub *hub;
    snowflake guild_id, owner_id;
    struct link lists;
    struct map members;           /* user id -> struct ordered_member */
    bool whole;                   /* includes offline members */
    uint32_t version;             /* last version given to a member */
    snowflake ranks[LIST_GROUPS]; /* hoisted roles, highest first */
    uint32_t rank_count;

    struct roster_wants wants;

    /* State of the current round. */
    bool running, quick;
    struct roster_read read;
    bool looking; /* members are being read; lists wait for the end */
    struct roster_moves move;
    uint64_t round;
    int64_t began;      /* start of the round (clock_mono) */
    int64_t told_bytes; /* bytes sent since the last pause */
    int64_t rest_until; /* end of the pause (clock_steady_ms) */
    struct map todo;    /* changed members of this round: user id -> enum roster_note */
    size_t todo_at;     /* position in `todo` */
    struct roster_changes changed;
    struct list_report *report;
    struct deadline pace;
    struct load load;
    struct post post;
    bool ending;
    size_t ended; /* progress of freeing the members */
};

/* All rosters of a loop. */
struct rosters {
    struct map map; /* guild id -> struct roster */
    struct deadlines *pace;
};

enum roster_note { NOTE_NONE, NOTE_LOOK, NOTE_READ };

/* --- rosters.c ------------------------------------------------------------------------ */

struct roster *roster_make(struct hub *h, snowflake guild_id);
/* NULL: no session of this loop is in the guild. */
const struct guild_view *roster_view(const struct roster *r);
/* Start a round: roster_hurry now, for a new subscription; roster_want at most once per PACE_MS. */
void roster_hurry(struct roster *r);
void roster_want(struct roster *r);
void roster_note(struct roster *r, snowflake user_id, enum roster_note note);
/* Posts the next task of the round; called after a task or store read. */
void roster_continue(struct roster *r);

/* --- roster_members.c ----------------------------------------------------------------- */

/* Tasks of a round. They return false if there was nothing to do. */
bool roster_gather(struct roster *r);
bool roster_look(struct roster *r);
uint32_t roster_rank(const struct roster *r, const struct ordered_member *m);

/* --- member_lists.c ------------------------------------------------------------------- */

/* Finds or creates the member list of a channel, which must be in the guild view. */
struct shown_list *list_of_channel(struct roster *r, snowflake channel_id);
void list_free(struct shown_list *l);
/* Empties a list, so that it is rebuilt from the members. */
void list_reset(struct shown_list *l);
/* Tasks of a round: build a new list; apply the changes to an existing list. They return false
 * if there was nothing to do. */
bool lists_build(struct roster *r);
bool lists_settle(struct roster *r);

/* --- telling.c ------------------------------------------------------------------------ */

/* lists_tell is a task of a round; lists_tell_drop frees the update of a round that ends early. */
bool lists_tell(struct roster *r);
void lists_tell_drop(struct roster *r);

/* --- subscriptions.c ------------------------------------------------------------------ */

/* The session keeps the subscription, to enter a list on another loop. */
void subscription_leave(struct list_subscription *u);
void subscription_free(struct list_subscription *u);
/* Returns whether the subscribed session can view the channel. */
bool subscription_may_enter(const struct list_subscription *u);
void subscription_set_fresh(struct list_subscription *u, bool fresh);
void face_free(struct list_face *f);
/* Move subscriptions to the lists that changed overwrites require, in steps. Returns false when
 * done. */
void subscriptions_move_begin(struct roster *r);
bool subscriptions_move(struct roster *r);
/* Ends all subscriptions of a guild that no session of this loop is in any more, in steps.
 * Returns false when done. */
bool subscriptions_end(struct roster *r);

#endif
