/* rosters.h - what the files of member_lists/ share: a guild's members, in the lists that are
 * shown. */
#ifndef GATEWAY_MEMBER_LISTS_ROSTERS_H
#define GATEWAY_MEMBER_LISTS_ROSTERS_H

#include "gateway/member_lists/list_id.h"
#include "gateway/member_lists/lists.h"
#include "gateway/member_lists/member_order.h"
#include "gateway/sessions/hub.h"
#include "gateway/views/view.h"

enum {
    ROSTER_WHOLE = 1000, /* members of a guild whose lists show who is offline, too */
    ROSTER_READ = 100,   /* members that are read in one look at the store */
    LIST_RANGES = 5,     /* of a subscription */
    LIST_ROWS = 100,     /* of a range */
    LIST_CHANNELS = 10,  /* of a guild that a session may show lists of */
    LIST_GROUPS = 256,   /* roles of a guild, and two more */
};

struct list_range {
    uint32_t first, last;
};

/* The session's, whether it stands in a list or is on its way between loops (face NULL). */
struct list_subscription {
    struct link of_session, of_face;
    struct session *session;
    snowflake guild_id, channel_id;
    struct list_range ranges[LIST_RANGES];
    uint32_t count;
    struct list_face *face;
    uint64_t round; /* in which it was last told, or passed over */
    uint64_t moves; /* the last look at whether it stands in the right list: the roster's */
    bool fresh;     /* it has to be told all of its ranges */
};

struct list_face {
    struct link link; /* of the list */
    struct shown_list *list;
    struct link subscriptions; /* those who were told in this round stand last */
    size_t subscription_count, fresh_count;
    struct list_range ranges[LIST_RANGES];
    uint32_t count;
    uint64_t told[LIST_RANGES]; /* digests of the rows that they know */
    uint64_t round;             /* it was told, or passed over */
};

struct shown_list {
    struct link link; /* of the roster */
    struct roster *roster;
    char id[LIST_ID_MAX];
    struct place_rule *rule; /* a copy, of the first channel */
    struct member_order order;
    struct link faces;
    struct map faces_by_hash; /* of their ranges */
    bool built;
    size_t at;        /* while it is built: how far among the roster's members */
    uint64_t settled; /* the round in which the changes of it were put in */
};

/* What the next round has to do. */
struct roster_wants {
    struct map noted; /* user id -> enum roster_note */
    bool wants_roles, wants_members, wants_ids;
    bool fresh; /* somebody waits for a first answer */
    bool owes;  /* somebody could not be told, or has left */
};

/* Subscriptions that move to other lists, because permissions changed. */
struct roster_moves {
    bool moving;         /* subscriptions are moved to the right lists */
    uint64_t moves;      /* how often they were */
    struct map moved_to; /* while they are: channel id -> struct shown_list */
};

/* Members that came or left since the lists were last updated. */
struct roster_changes {
    struct ordered_member **come, **gone; /* since the lists were last put right */
    size_t come_count, come_cap, gone_count, gone_cap;
};

/* What the current round reads from the store. */
struct roster_read {
    bool failed_roles, failed_members; /* could not be read */
    snowflake reading[ROSTER_READ];
    size_t reading_count;
    struct list found; /* struct member, in the look's arena */
};

struct roster {
    struct hub *hub;
    snowflake guild_id, owner_id;
    struct link lists;
    struct map members;           /* user id -> struct ordered_member */
    bool whole;                   /* who is offline is there, too */
    uint32_t version;             /* of the member that changed last */
    snowflake ranks[LIST_GROUPS]; /* hoisted roles, the highest first */
    uint32_t rank_count;

    struct roster_wants wants;

    /* The round at hand. */
    bool running, quick;
    struct roster_read read;
    bool looking; /* at who is there: lists wait for the end of it */
    struct roster_moves move;
    uint64_t round;
    int64_t began;      /* monotonic */
    int64_t told_bytes; /* since the last rest */
    int64_t rest_until; /* milliseconds */
    struct map todo;    /* the notes that it goes through, … */
    size_t todo_at;     /* … and how far */
    struct roster_changes changed;
    struct list_report *report;
    struct deadline pace;
    struct load load;
    struct post post;
    bool ending;
    size_t ended; /* how far its members are freed */
};

/* Of a hub. */
struct rosters {
    struct map map; /* guild id -> struct roster */
    struct deadlines *pace;
};

enum roster_note { NOTE_NONE, NOTE_LOOK, NOTE_READ };

/* --- rosters.c ------------------------------------------------------------------------ */

struct roster *roster_make(struct hub *h, snowflake guild_id);
const struct guild_view *roster_view(const struct roster *r); /* NULL: nobody is in the guild */
/* A session waits to be told; or there is something to do. */
void roster_hurry(struct roster *r);
void roster_want(struct roster *r);
void roster_note(struct roster *r, snowflake user_id, enum roster_note note);
/* Goes on with the round: after a look at the store, and when there is more to do. */
void roster_continue(struct roster *r);

/* --- roster_members.c ----------------------------------------------------------------- */

/* Pieces of a round. False: there was nothing to do. */
bool roster_gather(struct roster *r);
bool roster_look(struct roster *r);
uint32_t roster_rank(const struct roster *r, const struct ordered_member *m);

/* --- member_lists.c ------------------------------------------------------------------- */

/* The list of a channel, which is in the view. */
struct shown_list *list_of_channel(struct roster *r, snowflake channel_id);
void list_free(struct shown_list *l);
/* A list is built again from the members. */
void list_reset(struct shown_list *l);
/* Pieces of a round: builds one that is not, puts what has changed into one that is. False:
 * there was nothing to do. */
bool lists_build(struct roster *r);
bool lists_settle(struct roster *r);

/* --- telling.c ------------------------------------------------------------------------ */

/* A piece of a round; and what is left of one that ends early. */
bool lists_tell(struct roster *r);
void lists_tell_drop(struct roster *r);

/* --- subscriptions.c ------------------------------------------------------------------ */

void subscription_leave(struct list_subscription *u); /* stays with its session */
void subscription_free(struct list_subscription *u);
/* Whether its session may see the channel whose members it lists. */
bool subscription_may_enter(const struct list_subscription *u);
void subscription_set_fresh(struct list_subscription *u, bool fresh);
void face_free(struct list_face *f);
/* Channels may have other lists than before: a piece of putting that right. False: it is done. */
void subscriptions_move_begin(struct roster *r);
bool subscriptions_move(struct roster *r);
/* A piece of ending all of a guild that nobody is in any more. False: it is done. */
bool subscriptions_end(struct roster *r);

#endif
