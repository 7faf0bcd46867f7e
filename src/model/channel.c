/* channel.c - JSON schema of channels, and which fields each channel type has. */
#include "model/fields/types.h"
#include "model/message.h"
#include "model/thread.h"

static const struct enum_choice channel_types[] = {
    { CHANNEL_TEXT, NULL, "TEXT", "Text channel of a guild" },
    { CHANNEL_DM, NULL, "DM", "Direct message" },
    { CHANNEL_VOICE, NULL, "VOICE", "Voice channel of a guild" },
    { CHANNEL_GROUP, NULL, "GROUP_DM", "Group direct message" },
    { CHANNEL_CATEGORY, NULL, "CATEGORY", "Contains channels" },
    { CHANNEL_ANNOUNCEMENT, NULL, "ANNOUNCEMENT", "Announcements" },
    { CHANNEL_ANNOUNCEMENT_THREAD, NULL, "ANNOUNCEMENT_THREAD",
      "Thread of an announcement channel" },
    { CHANNEL_THREAD, NULL, "PUBLIC_THREAD", "Thread" },
    { CHANNEL_PRIVATE_THREAD, NULL, "PRIVATE_THREAD", "Thread that members join by invitation" },
    { CHANNEL_STAGE, NULL, "STAGE", "Voice channel with an audience" },
    { CHANNEL_FORUM, NULL, "FORUM", "Contains only threads" },
    { CHANNEL_MEDIA, NULL, "MEDIA", "Contains only threads with media" },
    { 0 },
};

static const struct type type_channel_type = { .kind = KIND_INT, .choices = channel_types };
const struct type type_channel_name = { .kind = KIND_STRING,
                                        .rule = &rule_visible_name,
                                        .flags = TYPE_TRIM,
                                        .min = 1,
                                        .max = 100,
                                        .doc = "Channel name" };
const struct type type_topic = {
    .kind = KIND_STRING,
    .max = FORUM_TOPIC_MAX,
    .doc = "Topic of the channel; outside of forums at most 1024 characters"
};

static const struct enum_choice archive_minutes[] = {
    { 60, NULL, "HOUR", "An hour" },
    { 1440, NULL, "DAY", "A day" },
    { 4320, NULL, "THREE_DAYS", "Three days" },
    { 10080, NULL, "WEEK", "A week" },
    { 0 },
};
const struct type type_archive_minutes = { .kind = KIND_INT,
                                           .choices = archive_minutes,
                                           .doc = "Idle minutes until a thread is archived" };

static const struct enum_choice overwrite_types[] = {
    { OVERWRITE_ROLE, NULL, "ROLE", "For all members with a role" },
    { OVERWRITE_MEMBER, NULL, "MEMBER", "For one member" },
    { 0 },
};
static const struct type type_overwrite_type = { .kind = KIND_INT, .choices = overwrite_types };
static const struct field overwrite_fields[] = {
    { FIELD(struct overwrite, id), .type = &type_id },
    { FIELD(struct overwrite, type), .type = &type_overwrite_type },
    { FIELD(struct overwrite, allow), .type = &type_permissions, .flags = OPTIONAL },
    { FIELD(struct overwrite, deny), .type = &type_permissions, .flags = OPTIONAL },
    { 0 },
};
static const struct schema overwrite_schema = {
    .name = "Overwrite",
    .size = sizeof(struct overwrite),
    .fields = overwrite_fields,
    .doc = "Permissions that a channel allows or denies.",
};
static const struct type type_overwrite = { .kind = KIND_OBJECT, .schema = &overwrite_schema };
const struct type type_overwrites = { .kind = KIND_ARRAY, .of = &type_overwrite };

static const struct field thread_fields[] = {
    { FIELD(struct thread_metadata, archived), .type = &type_bool },
    { FIELD(struct thread_metadata, auto_archive_duration), .type = &type_count, .doc = "Minutes" },
    { FIELD(struct thread_metadata, archive_timestamp), .type = &type_time },
    { FIELD(struct thread_metadata, locked), .type = &type_bool },
    { FIELD(struct thread_metadata, create_timestamp), .type = &type_time,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thread_metadata, invitable), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Private threads: whether members may add other members" },
    { 0 },
};
static const struct schema thread_schema = {
    .name = "ThreadMetadata",
    .size = sizeof(struct thread_metadata),
    .fields = thread_fields,
    .doc = "Fields that only threads have.",
};
static const struct type type_thread = { .kind = KIND_OBJECT, .schema = &thread_schema };
static const struct type type_recipients = { .kind = KIND_ARRAY, .of = &type_partial_user };

static const struct type type_tag_name = { .kind = KIND_STRING, .min = 1, .max = 50 };
static const struct field tag_fields[] = {
    { FIELD(struct forum_tag, id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct forum_tag, name), .type = &type_tag_name },
    { FIELD(struct forum_tag, moderated), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only members with MANAGE_THREADS can add and remove this tag" },
    { FIELD(struct forum_tag, emoji_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct forum_tag, emoji_name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
const struct schema forum_tag_schema = {
    .name = "ForumTag",
    .size = sizeof(struct forum_tag),
    .fields = tag_fields,
    .doc = "A tag for posts of a forum.",
};
static const struct type type_forum_tag = { .kind = KIND_OBJECT, .schema = &forum_tag_schema };
const struct type type_forum_tags = { .kind = KIND_ARRAY, .of = &type_forum_tag };

static const struct field reaction_fields[] = {
    { FIELD(struct default_reaction, emoji_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct default_reaction, emoji_name), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema default_reaction_schema = {
    .name = "DefaultReaction",
    .size = sizeof(struct default_reaction),
    .fields = reaction_fields,
    .doc = "The default reaction emoji for posts: either an id or a name.",
};
const struct type type_default_reaction = { .kind = KIND_OBJECT,
                                            .schema = &default_reaction_schema };

static const struct field nick_fields[] = {
    { FIELD(struct channel_nickname, id), .type = &type_id },
    { FIELD(struct channel_nickname, nick), .type = &type_text },
    { 0 },
};
static const struct schema nick_schema = {
    .name = "ChannelNick",
    .size = sizeof(struct channel_nickname),
    .fields = nick_fields,
    .doc = "Nickname of a recipient in a group.",
};
static const struct type type_channel_nick = { .kind = KIND_OBJECT, .schema = &nick_schema };
static const struct type type_channel_nicks = { .kind = KIND_ARRAY, .of = &type_channel_nick };

static const struct field channel_fields[] = {
    { FIELD(struct channel, id), .type = &type_id },
    { FIELD(struct channel, type), .type = &type_channel_type },
    { FIELD(struct channel, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct channel, name), .type = &type_channel_name, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, position), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, permission_overwrites), .type = &type_overwrites, .flags = OPTIONAL },
    { FIELD(struct channel, parent_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, topic), .type = &type_topic, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, nsfw), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct channel, rate_limit_per_user), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, last_message_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, bitrate), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, user_limit), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, rtc_region), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, video_quality_mode), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, default_auto_archive_duration), .type = &type_count,
      .flags = OPTIONAL },
    { FIELD(struct channel, recipients), .type = &type_recipients, .flags = OPTIONAL },
    { FIELD(struct channel, nicks), .type = &type_channel_nicks, .flags = OPTIONAL },
    { FIELD(struct channel, icon), .type = &type_asset_hash, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, owner_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct channel, application_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct channel, managed), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct channel, is_message_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct channel, message_count), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, member_count), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, thread_metadata), .type = &type_thread, .flags = OPTIONAL },
    { FIELD(struct channel, flags), .type = &type_count },
    { FIELD(struct channel, permissions), .type = &type_permissions, .flags = OPTIONAL },
    { FIELD(struct channel, app_permissions), .type = &type_permissions, .flags = OPTIONAL,
      .doc = "In interactions" },
    { FIELD(struct channel, last_pin_timestamp), .type = &type_time, .flags = OPTIONAL | NULLABLE,
      .doc = "In private channels, and in interactions" },
    { FIELD(struct channel, origin_channel_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct channel, newly_created), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct channel, total_message_sent), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, member), .type = &type_thread_member, .flags = OPTIONAL,
      .doc = "Threads: the caller's thread member, if the caller has joined the thread" },
    { FIELD(struct channel, message), .type = &type_message, .flags = OPTIONAL,
      .doc = "The first message, in the response to a new post" },
    { FIELD(struct channel, applied_tags), .type = &type_ids, .flags = OPTIONAL },
    { FIELD(struct channel, default_thread_rate_limit_per_user), .type = &type_count,
      .flags = OPTIONAL },
    { FIELD(struct channel, available_tags), .type = &type_forum_tags, .flags = OPTIONAL },
    { FIELD(struct channel, default_reaction_emoji), .type = &type_default_reaction,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, default_sort_order), .type = &type_count,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct channel, default_forum_layout), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct channel, default_tag_setting), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
const struct schema channel_schema = {
    .name = "Channel",
    .size = sizeof(struct channel),
    .fields = channel_fields,
    .doc = "A channel; the type determines which fields are present.",
};
const struct type type_channel = { .kind = KIND_OBJECT, .schema = &channel_schema };
const struct type type_channels = { .kind = KIND_ARRAY, .of = &type_channel };

static const struct field thread_delete_event_fields[] = {
    { FIELD(struct thread_delete_event, id), .type = &type_id },
    { FIELD(struct thread_delete_event, guild_id), .type = &type_id },
    { FIELD(struct thread_delete_event, parent_id), .type = &type_id },
    { FIELD(struct thread_delete_event, type), .type = &type_channel_type },
    { 0 },
};
const struct schema thread_delete_event_schema = {
    .name = "ThreadGone",
    .size = sizeof(struct thread_delete_event),
    .fields = thread_delete_event_fields,
    .doc = "A thread that was deleted.",
};

static const struct field recipient_event_fields[] = {
    { FIELD(struct channel_recipient_event, channel_id), .type = &type_id },
    { FIELD(struct channel_recipient_event, user), .type = &type_partial_user },
    { FIELD(struct channel_recipient_event, nick), .type = &type_text, .flags = OPTIONAL },
    { 0 },
};
const struct schema channel_recipient_event_schema = {
    .name = "RecipientEvent",
    .size = sizeof(struct channel_recipient_event),
    .fields = recipient_event_fields,
    .doc = "An account that was added to a group or removed from it.",
};

bool channel_is_private(int64_t type)
{
    return type == CHANNEL_DM || type == CHANNEL_GROUP;
}

bool channel_is_thread(int64_t type)
{
    return type >= CHANNEL_ANNOUNCEMENT_THREAD && type <= CHANNEL_PRIVATE_THREAD;
}

bool channel_is_voice(int64_t type)
{
    return type == CHANNEL_VOICE || type == CHANNEL_STAGE;
}

bool channel_is_forum_or_media(int64_t type)
{
    return type == CHANNEL_FORUM || type == CHANNEL_MEDIA;
}

bool channel_accepts_messages(int64_t type)
{
    return type != CHANNEL_CATEGORY && !channel_is_forum_or_media(type);
}

bool overwrite_lists_are_equal(const struct list *a, const struct list *b)
{
    const struct overwrite *x = a->items, *y = b->items;

    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (x[i].id != y[i].id || x[i].type != y[i].type || x[i].allow != y[i].allow ||
            x[i].deny != y[i].deny)
            return false;
    return true;
}

const struct overwrite *overwrite_list_find(const struct list *overwrites, snowflake id)
{
    const struct overwrite *o = overwrites->items;

    for (size_t i = 0; i < overwrites->count; i++)
        if (o[i].id == id)
            return &o[i];
    return NULL;
}

static void omit_fields_only_of_threads(struct channel *c)
{
    c->message_count.given = c->member_count.given = c->total_message_sent.given = ABSENT;
    c->applied_tags.given = ABSENT;
    c->thread_metadata = NULL;
}

/* Omits the fields that channels of this type do not have. Settings for Discord threads exist in
 * text, announcement, forum and media channels; tags and sort order only in forum and media
 * channels. */
static void omit_fields_only_of_thread_parents(struct channel *c)
{
    bool posts = channel_is_forum_or_media(c->type);

    if (!posts && c->type != CHANNEL_TEXT && c->type != CHANNEL_ANNOUNCEMENT)
        c->default_thread_rate_limit_per_user.given = ABSENT;
    if (!posts)
        c->available_tags.given = c->default_reaction_emoji.given = c->default_sort_order.given =
            c->default_tag_setting.given = ABSENT;
    if (c->type != CHANNEL_FORUM)
        c->default_forum_layout.given = ABSENT;
}

static void omit_fields_for_private_channel(struct channel *c)
{
    bool group = c->type == CHANNEL_GROUP;

    omit_fields_only_of_threads(c);
    c->guild_id.given = c->parent_id.given = c->position.given = ABSENT;
    c->permission_overwrites.given = ABSENT;
    c->recipients.given = GIVEN;
    if (!group)
        c->name.given = c->icon.given = c->owner_id.given = ABSENT;
    if (group)
        c->is_message_request.given = ABSENT;
    else
        c->is_message_request = (struct opt_bool){ GIVEN, false };
    c->managed = opt_true_or_absent(group && c->application_id.value);
    if (!c->managed.value)
        c->application_id.given = ABSENT;
}

static void omit_fields_for_guild_channel(struct channel *c)
{
    c->recipients.given = c->icon.given = c->managed.given = ABSENT;
    c->application_id.given = c->is_message_request.given = ABSENT;
    if (channel_is_thread(c->type)) {
        c->permission_overwrites.given = c->position.given = c->topic.given = ABSENT;
        c->nsfw.given = ABSENT;
    } else {
        c->owner_id.given = ABSENT;
        omit_fields_only_of_threads(c);
    }
}

void channel_omit_inapplicable_fields(struct channel *c)
{
    bool category = c->type == CHANNEL_CATEGORY, voice = channel_is_voice(c->type);

    omit_fields_only_of_thread_parents(c);
    if (channel_is_private(c->type))
        omit_fields_for_private_channel(c);
    else
        omit_fields_for_guild_channel(c);
    if (!voice)
        c->bitrate.given = c->user_limit.given = c->rtc_region.given = c->video_quality_mode.given =
            ABSENT;
    if (category || voice || channel_is_private(c->type))
        c->topic.given = ABSENT;
    if (category || channel_is_private(c->type))
        c->rate_limit_per_user.given = c->nsfw.given = ABSENT;
    if (category)
        c->last_message_id.given = ABSENT;
    if (category || voice || channel_is_private(c->type) || channel_is_thread(c->type) ||
        !c->default_auto_archive_duration.value)
        c->default_auto_archive_duration.given = ABSENT;
}

bool channel_list_contains_id(const struct list *channels, snowflake id)
{
    const struct channel *c = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (c[i].id == id)
            return true;
    return false;
}
