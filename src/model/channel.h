/* channel.h - channels and Discord threads of guilds, direct channels and groups. */
#ifndef MODEL_CHANNEL_H
#define MODEL_CHANNEL_H

#include "model/user.h"

enum channel_type {
    CHANNEL_TEXT = 0,
    CHANNEL_DM = 1,
    CHANNEL_VOICE = 2,
    CHANNEL_GROUP = 3,
    CHANNEL_CATEGORY = 4,
    CHANNEL_ANNOUNCEMENT = 5,
    CHANNEL_ANNOUNCEMENT_THREAD = 10,
    CHANNEL_THREAD = 11,
    CHANNEL_PRIVATE_THREAD = 12,
    CHANNEL_STAGE = 13,
    CHANNEL_FORUM = 15,
    CHANNEL_MEDIA = 16,
};

bool channel_is_private(int64_t type); /* true for DM and group */
bool channel_is_thread(int64_t type);
bool channel_is_voice(int64_t type);          /* true for voice and stage channels */
bool channel_is_forum_or_media(int64_t type); /* true for forum and media channels */
bool channel_accepts_messages(int64_t type);

bool channel_list_contains_id(const struct list *channels, snowflake id);

enum channel_flags {
    CHANNEL_PINNED = 1 << 1,      /* pinned thread of a forum */
    CHANNEL_REQUIRE_TAG = 1 << 4, /* forum: each post needs a tag */
};

enum overwrite_type {
    OVERWRITE_ROLE = 0,
    OVERWRITE_MEMBER = 1,
    /* For a request body without a type: derive the type from the id. */
    OVERWRITE_TYPE_FROM_ID = -1,
};

struct overwrite {
    snowflake id;
    int64_t type;
    uint64_t allow, deny;
};

struct thread_metadata {
    bool archived, locked;
    int64_t auto_archive_duration;
    int64_t archive_timestamp;
    struct opt_int create_timestamp;
    struct opt_bool invitable; /* only set in private threads */
};

struct forum_tag {
    snowflake id;
    struct str name;
    bool moderated;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
};
struct default_reaction {
    struct opt_id emoji_id;
    struct opt_str emoji_name;
};

struct message;
struct thread_member;

struct channel {
    snowflake id;
    int64_t type;
    struct opt_id guild_id, parent_id, last_message_id, owner_id, application_id;
    struct opt_str name, topic, icon, rtc_region;
    struct opt_int position, rate_limit_per_user, bitrate, user_limit, video_quality_mode;
    struct opt_int default_auto_archive_duration, message_count, member_count;
    struct opt_bool nsfw, managed, is_message_request;
    struct opt_list permission_overwrites; /* struct overwrite */
    struct opt_list recipients; /* items: struct user, the other members of the private channel */
    struct opt_list nicks; /* items: struct channel_nickname, the nicknames of a group's members */
    const struct thread_metadata *thread_metadata;
    int64_t flags;
    struct opt_id permissions; /* permissions of the caller, if requested */
    /* Permissions of the app's bot in the channel; set only in interactions. */
    struct opt_id app_permissions;
    struct opt_int last_pin_timestamp; /* time of the last pin; set only in private channels and in
                                        * interactions */
    struct opt_id origin_channel_id;   /* direct channel from which the group was created */
    struct opt_bool newly_created;     /* only in THREAD_CREATE */

    /* Members that only threads have. */
    struct opt_int total_message_sent;
    /* The caller's thread member; not set in events to several users. */
    const struct thread_member *member;
    /* First message of a forum post; only in the response that creates the post. */
    const struct message *message;
    struct opt_list applied_tags; /* items: snowflake, the forum tags of the Discord thread */
    /* Number of messages including the starter message; not in the JSON. */
    int64_t messages_written;
    /* Whether the Discord thread has a starter message; not in the JSON. */
    bool has_starter_message;

    /* Struct fields that only channels with Discord threads have. */
    struct opt_int default_thread_rate_limit_per_user, default_sort_order, default_forum_layout;
    struct opt_str default_tag_setting;
    struct opt_object default_reaction_emoji; /* struct default_reaction */
    struct opt_list available_tags;           /* struct forum_tag */
};

struct channel_nickname {
    snowflake id;
    struct str nick;
};
struct thread_delete_event {
    snowflake id, guild_id, parent_id;
    int64_t type;
};
struct channel_recipient_event {
    snowflake channel_id;
    const struct user *user;
    struct opt_str nick;
};

extern const struct schema channel_schema;
extern const struct schema thread_delete_event_schema; /* payload of THREAD_DELETE */
extern const struct schema
    channel_recipient_event_schema; /* CHANNEL_RECIPIENT_ADD, _REMOVE payload */
extern const struct type type_channel, type_channels, type_overwrites;
extern const struct schema forum_tag_schema;
extern const struct type type_forum_tags, type_default_reaction;
extern const struct type type_channel_name, type_topic, type_archive_minutes;
enum { CHANNEL_TOPIC_MAX = 1024, FORUM_TOPIC_MAX = 4096 };

/* Returns whether both lists have the same targets with the same permissions. The lists must be
 * sorted by id. */
bool overwrite_lists_are_equal(const struct list *a, const struct list *b);
/* Returns the overwrite of a role or member, or NULL if there is none. */
const struct overwrite *overwrite_list_find(const struct list *overwrites, snowflake id);

void channel_omit_inapplicable_fields(struct channel *c);

#endif
