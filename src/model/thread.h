/* thread.h - members of Discord threads, and events about them. */
#ifndef MODEL_THREAD_H
#define MODEL_THREAD_H

#include "model/channel.h"
#include "model/member.h"

enum thread_member_flags {
    THREAD_HAS_INTERACTED = 1 << 0,
    THREAD_ALL_MESSAGES = 1 << 1,
    THREAD_ONLY_MENTIONS = 1 << 2,
    THREAD_NO_MESSAGES = 1 << 3,
};

struct mute_config {
    struct opt_int end_time;
    int64_t selected_time_window; /* seconds; -1 means until unmuted */
};

struct thread_member {
    /* Ids of Discord thread and user; absent in lists of a guild's threads. */
    struct opt_id id, user_id;
    int64_t join_timestamp, flags;
    /* Guild member, includes .user; set only if the request asked for it. */
    const struct member *member;
    struct opt_str presence; /* JSON; only for added members */
    struct opt_bool muted;   /* whether the user has muted the thread; set only in objects that are
                              * sent to this user */
    const struct mute_config *mute_config;
    struct opt_id guild_id; /* only in THREAD_MEMBER_UPDATE */
};

struct thread_members_update {
    snowflake id, guild_id;
    int64_t member_count;
    struct opt_list added_members;      /* struct thread_member */
    struct opt_list removed_member_ids; /* snowflakes */
    /* items: snowflake, the users who were added or removed; not in the JSON. */
    struct list affected_user_ids;
};

struct thread_list_sync {
    snowflake guild_id;
    struct opt_list channel_ids; /* snowflakes */
    struct list threads, members;
};

extern const struct schema thread_member_schema;
extern const struct schema thread_members_update_schema, thread_list_sync_schema;
extern const struct type type_thread_member, type_thread_members, type_mute_config;

#endif
