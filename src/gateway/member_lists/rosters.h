/* rosters.h - structures that the files of member_lists/ share: rosters, lists, subscriptions. */
#ifndef GATEWAY_MEMBER_LISTS_ROSTERS_H
#define GATEWAY_MEMBER_LISTS_ROSTERS_H

#include "gateway/member_lists/list_id.h"
#include "gateway/member_lists/lists.h"
#include "gateway/member_lists/member_order.h"
#include "gateway/sessions/hub.h"
#include "gateway/views/view.h"

enum {
    ROSTER_WHOLE = 1000, /* up to this size lists show offline members too */
    ROSTER_READ = 100,   /* members per store read */
    LIST_RANGES = 5,     /* per subscription */
    LIST_ROWS = 100,     /* per range */
    LIST_CHANNELS = 10,  /* channels per guild whose lists a session may show */
    LIST_GROUPS = 256,   /* roles of a guild, "online" and "offline" */
};

struct list_range {
    uint32_t first, last;
};

/* Belongs to the session. face is NULL while the session moves between loops. */
struct list_subscription {
    struct link of_session, of_face;
    struct session *session;
    snowflake guild_id, channel_id;
    struct list_range ranges[LIST_RANGES];
    uint32_t count;
    struct list_face *face;
    uint64_t round; /* round in which it was last handled */
    uint64_t moves; /* value of roster->moves when its list was last checked */
    bool fresh;     /* needs all of its rows */
};

struct list_face {
    struct link link; /* in the list's faces */
    struct shown_list *list;
    struct link subscriptions; /* handled ones come last */
    size_t subscription_count, fresh_count;
    struct list_range ranges[LIST_RANGES];
    uint32_t count;
    uint64_t told[LIST_RANGES]; /* hashes of the rows that were last sent */
    uint64_t round;             /* in which it was last handled */
};

struct shown_list {
    struct link link; /* in the roster's lists */
    struct roster *roster;
    char id[LIST_ID_MAX];
    struct place_rule *rule; /* a copy, from its first channel */
    struct member_order order;
    struct link faces;
    struct map faces_by_hash; /* by hash of their ranges */
    bool built;
    size_t at;        /* while building: position in the roster's members */
    uint64_t settled; /* round in which the changes were applied */
};

/* Work of the next round. */
struct roster_wants {
    struct map noted; /* changed members: user id -> enum roster_note */
    bool wants_roles, wants_members, wants_ids;
    bool fresh; /* a new subscription waits for its first answer */
    bool owes;  /* a session could not be sent its rows, or has left */
};

/* Subscriptions that move to other lists, because permissions changed. */
struct roster_moves {
    bool moving;         /* a move is in progress */
    uint64_t moves;      /* number of moves */
    struct map moved_to; /* meanwhile: channel id -> struct shown_list */
};

/* Members that came or left since the lists were last updated. */
struct roster_changes {
    struct ordered_member **come, **gone; /* added, removed */
    size_t come_count, come_cap, gone_count, gone_cap;
};

/* Data that the current round reads from the store. */
struct roster_read {
    bool failed_roles, failed_members; /* the store read failed */
    snowflake reading[ROSTER_READ];
    size_t reading_count;
    struct list found; /* struct member, in the read's arena */
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

    /* The current round. */
    bool running, quick;
    struct roster_read read;
    bool looking; /* reads members; lists wait for the end */
    struct roster_moves move;
    uint64_t round;
    int64_t began;      /* monotonic */
    int64_t told_bytes; /* since the last pause */
    int64_t rest_until; /* milliseconds */
    struct map todo;    /* the changed members of this round, … */
    size_t todo_at;     /* … and the position in them */
    struct roster_changes changed;
    struct list_report *report;
    struct deadline pace;
    struct load load;
    struct post post;
    bool ending;
    size_t ended; /* progress of freeing its members */
};

/* The rosters of a hub. */
struct rosters {
    struct map map; /* guild id -> struct roster */
    struct deadlines *pace;
};

enum roster_note { NOTE_NONE, NOTE_LOOK, NOTE_READ };

/* --- rosters.c ------------------------------------------------------------------------ */

struct roster *roster_make(struct hub *h, snowflake guild_id);
const struct guild_view *roster_view(const struct roster *r); /* NULL: no session is in it */
/* Starts a round: for a new subscription (hurry), or when the pace allows it (want). */
void roster_hurry(struct roster *r);
void roster_want(struct roster *r);
void roster_note(struct roster *r, snowflake user_id, enum roster_note note);
/* Continues the round after a store read, or with its next task. */
void roster_continue(struct roster *r);

/* --- roster_members.c ----------------------------------------------------------------- */

/* Tasks of a round. False: there was nothing to do. */
bool roster_gather(struct roster *r);
bool roster_look(struct roster *r);
uint32_t roster_rank(const struct roster *r, const struct ordered_member *m);

/* --- member_lists.c ------------------------------------------------------------------- */

/* Finds or creates the list of a channel, which must be in the view. */
struct shown_list *list_of_channel(struct roster *r, snowflake channel_id);
void list_free(struct shown_list *l);
/* Empties a list, to be rebuilt from the members. */
void list_reset(struct shown_list *l);
/* Tasks of a round: build a new list; apply the changes to an existing list. False: there was
 * nothing to do. */
bool lists_build(struct roster *r);
bool lists_settle(struct roster *r);

/* --- telling.c ------------------------------------------------------------------------ */

/* A task of a round; frees the report of a round that ends early. */
bool lists_tell(struct roster *r);
void lists_tell_drop(struct roster *r);

/* --- subscriptions.c ------------------------------------------------------------------ */

void subscription_leave(struct list_subscription *u); /* the session keeps it */
void subscription_free(struct list_subscription *u);
/* Whether its session can view the channel. */
bool subscription_may_enter(const struct list_subscription *u);
void subscription_set_fresh(struct list_subscription *u, bool fresh);
void face_free(struct list_face *f);
/* After overwrites have changed: moves subscriptions to the right lists, in steps. False: done. */
void subscriptions_move_begin(struct roster *r);
bool subscriptions_move(struct roster *r);
/* Ends all subscriptions of a guild that no session here is in any more, in steps. False: done. */
bool subscriptions_end(struct roster *r);

#endif
