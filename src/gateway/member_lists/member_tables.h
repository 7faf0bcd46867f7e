/* member_tables.h - structs that the files of member_lists/ share: member tables, lists,
 * subscriptions. */
#ifndef GATEWAY_MEMBER_LISTS_MEMBER_TABLES_H
#define GATEWAY_MEMBER_LISTS_MEMBER_TABLES_H

#include "gateway/member_lists/list_id.h"
#include "gateway/member_lists/lists.h"
#include "gateway/member_lists/member_order.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/subscriptions/guild_view.h"

enum {
    /* maximum size of guilds whose member lists show offline members */
    OFFLINE_MEMBERS_MAX = 1000,
    MEMBERS_PER_READ = 100,      /* members per store read */
    RANGES_PER_SUBSCRIPTION = 5, /* row ranges per subscription */
    ROWS_PER_RANGE = 100,        /* rows per range */
    /* maximum number of channels per guild whose member lists a session may show */
    LIST_CHANNELS_PER_GUILD = 10,
    /* maximum number of groups in a list: roles of a guild, "online" and "offline" */
    LIST_GROUPS_MAX = 256,
};

struct member_list_row_range {
    uint32_t first, last;
};

/* A session's subscription to the member list of a channel; owned by the session. */
struct member_list_subscription {
    struct list_link of_session, of_window;
    struct session *session;
    snowflake guild_id, channel_id;
    struct member_list_row_range ranges[RANGES_PER_SUBSCRIPTION];
    uint32_t count;
    struct member_list_window *window;
    uint64_t round; /* number of the last update round in which this subscription was handled */
    uint64_t moves; /* member_list_subscription_move_progress.moves when this was last checked */
    bool fresh;     /* the client needs all rows */
};

struct member_list_window {
    struct list_link link; /* in channel_member_list.windows */
    struct channel_member_list *list;
    /* Items: struct member_list_subscription; those handled in this update round come last. */
    struct list_link subscriptions;
    size_t subscription_count, fresh_count;
    struct member_list_row_range ranges[RANGES_PER_SUBSCRIPTION];
    uint32_t count;
    /* Hash of the rows that were sent last, for each row range. */
    uint64_t sent_hashes[RANGES_PER_SUBSCRIPTION];
    uint64_t round; /* number of the last update round that sent this window (set of row ranges) */
};

struct channel_member_list {
    struct list_link link; /* link in member_table.lists */
    struct member_table *table;
    char id[LIST_ID_MAX];
    /* Copy of the overwrites of the first channel that had this list. */
    struct channel_overwrites *rule;
    struct member_list_order order;
    struct list_link windows;
    struct map windows_by_hash; /* hash of the row ranges -> struct member_list_window */
    bool built;
    size_t at; /* index in member_table.members up to which the list is built */
    /* Number of the last update round that applied changes of members to the list. */
    uint64_t updated_round;
};

/* Changes that the next update round of a member table must process. */
struct member_table_pending_changes {
    struct map changed_members; /* user id -> enum member_table_change */
    bool wants_roles, wants_members, wants_ids;
    bool fresh; /* a new subscription has not received its first rows */
    /* A session could not be sent its rows, or a session has stopped to show a list. */
    bool has_outdated_rows;
};

/* Progress of moving subscriptions to other member lists after a change of permissions. */
struct member_list_subscription_move_progress {
    bool moving;    /* moves are in progress */
    uint64_t moves; /* number of times that subscriptions were moved */
    /* channel id -> struct channel_member_list, while subscriptions are moved */
    struct map moved_to;
};

/* Members that were added or removed since the member lists were last updated. */
struct member_table_changes {
    struct ordered_member **added, **removed;
    size_t added_count, added_cap, removed_count, removed_cap;
};

/* Data that the current update round of a member table reads from the store. */
struct member_table_store_read {
    bool failed_roles, failed_members; /* the store read of roles or members failed */
    snowflake reading[MEMBERS_PER_READ];
    size_t reading_count;
    /* members that were read; items: struct member, in the arena of the store read */
    struct list found;
};

struct member_table {
    struct gateway_loop *gateway_loop;
    snowflake guild_id, owner_id;
    struct list_link lists;
    struct map members;               /* user id -> struct ordered_member */
    bool has_offline;                 /* the table includes offline members */
    uint32_t version;                 /* last version given to a member */
    snowflake ranks[LIST_GROUPS_MAX]; /* hoisted roles, highest first */
    uint32_t rank_count;

    struct member_table_pending_changes pending;

    /* The following fields describe the current update round. */
    bool running, quick;
    struct member_table_store_read read;
    /* the update round is reading members; it updates the member lists afterwards */
    bool reading_members;
    struct member_list_subscription_move_progress move;
    uint64_t round;
    int64_t began;       /* start of the round (clock_monotonic_ns) */
    int64_t sent_bytes;  /* bytes sent since the last pause */
    int64_t pause_until; /* end of the pause (clock_steady_ms) */
    /* Changes that this round applies: user id -> enum member_table_change. */
    struct map changed_members;
    size_t changed_at; /* position in `changed_members` */
    struct member_table_changes changed;
    struct list_update *update;
    struct deadline pace;
    struct session_store_read store_read;
    struct loop_message post;
    bool ending;
    size_t ended; /* number of members freed so far */
};

/* All member tables of a loop. */
struct member_tables {
    struct map map; /* guild id -> struct member_table */
    struct deadline_list *pace;
};

enum member_table_change { MEMBER_UNCHANGED, MEMBER_PRESENCE_CHANGED, MEMBER_ROW_CHANGED };

/* --- member_tables.c ------------------------------------------------------------------ */

struct member_table *member_table_get_or_create(struct gateway_loop *h, snowflake guild_id);
/* Returns the view of the table's guild, or NULL if no session of this loop is in the guild. */
const struct guild_view *member_table_get_guild_view(const struct member_table *r);
/* Start an update round. member_table_start_update_round starts it immediately, for a new
 * subscription. member_table_schedule_update_round waits for ROUND_INTERVAL_MS. */
void member_table_start_update_round(struct member_table *r);
void member_table_schedule_update_round(struct member_table *r);
/* Posts the next task of the update round to the loop; called after each task or store read. */
void member_table_continue_update_round(struct member_table *r);

/* --- member_table_reads.c ------------------------------------------------------------- */

/* Tasks of an update round, which run in this order. Each returns false if it had nothing to do. */
bool member_table_begin_store_reads(struct member_table *r);
bool member_table_read_changed_members(struct member_table *r);
uint32_t member_table_compute_rank(const struct member_table *r, const struct ordered_member *m);

/* --- member_lists.c ------------------------------------------------------------------- */

/* Finds or creates the member list of a channel. The channel must be in the guild view. */
struct channel_member_list *member_list_get_or_create(struct member_table *r, snowflake channel_id);
void member_list_free(struct channel_member_list *l);
/* Removes all members from a member list, so that it is built again from the member table. */
void member_list_remove_all_members(struct channel_member_list *l);
/* Tasks of an update round. build_member_list_batch builds new member lists;
 * member_lists_apply_member_changes updates the existing ones. They return false if they had
 * nothing to do. */
bool build_member_list_batch(struct member_table *r);
bool member_lists_apply_member_changes(struct member_table *r);

/* --- list_updates.c ------------------------------------------------------------------- */

/* send_member_list_update_batch is a task of an update round. member_list_update_free frees the
 * encoded rows of an aborted round. */
bool send_member_list_update_batch(struct member_table *r);
void member_list_update_free(struct member_table *r);

/* --- list_subscriptions.c ------------------------------------------------------------- */

/* Unsubscribes the session from the member list of a channel and frees the subscription. */
void member_list_subscription_free(struct member_list_subscription *u);
/* Returns whether the subscribed session can view the channel. */
bool member_list_subscription_can_view_channel(const struct member_list_subscription *u);
void member_list_subscription_set_needs_all_rows(struct member_list_subscription *u, bool fresh);
void member_list_window_free(struct member_list_window *f);
/* Move subscriptions to other member lists after overwrites have changed, in steps.
 * move_member_list_subscription_batch returns false when all subscriptions are moved. */
void member_list_subscription_moves_begin(struct member_table *r);
bool move_member_list_subscription_batch(struct member_table *r);
/* Ends some subscriptions to member lists of a guild, because no session of this loop is in the
 * guild any more. Returns false when all subscriptions have ended. */
bool end_member_list_subscription_batch(struct member_table *r);

#endif
