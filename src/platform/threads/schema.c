/* schema.c - JSON schemas of thread bodies, queries and responses. */
#include "platform/threads/internal.h"

static const struct enum_choice thread_types[] = {
    { CHANNEL_ANNOUNCEMENT_THREAD, NULL, "ANNOUNCEMENT_THREAD",
      "Thread of an announcement channel" },
    { CHANNEL_THREAD, NULL, "PUBLIC_THREAD", "For everyone who can view the channel" },
    { CHANNEL_PRIVATE_THREAD, NULL, "PRIVATE_THREAD", "For its members and MANAGE_THREADS" },
    { 0 },
};
static const struct type type_thread_type = { .kind = KIND_INT, .choices = thread_types };
static const struct type type_slowmode = { .kind = KIND_INT, .min = 0, .max = 21600 };
static const struct type type_applied_tags = { .kind = KIND_ARRAY,
                                               .max = MAX_APPLIED_TAGS,
                                               .of = &type_id };

static const struct field post_fields[] = { MESSAGE_BODY_FIELDS, { 0 } };
static const struct schema post_schema = {
    .name = "PostMessage",
    .size = sizeof(struct message_body),
    .fields = post_fields,
    .check = message_body_validate,
    .doc = "The first message of a post.",
};
static const struct type type_post = { .kind = KIND_OBJECT, .schema = &post_schema };

/* clang-format off */
#define DRAFT_FIELDS                                                                               \
    { FIELD(struct thread_create_body, name), .type = &type_channel_name },                              \
    { FIELD(struct thread_create_body, auto_archive_duration), .type = &type_archive_minutes,            \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct thread_create_body, rate_limit_per_user), .type = &type_slowmode,                     \
      .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field draft_fields[] = {
    DRAFT_FIELDS,
    { FIELD(struct thread_create_body, type), .type = &type_thread_type,
      .flags = OPTIONAL | NULLABLE, .doc = "Default: private in a text channel" },
    { FIELD(struct thread_create_body, invitable), .type = &type_bool, .flags = OPTIONAL | NULLABLE,
      .doc = "Private threads: members may add others" },
    { FIELD(struct thread_create_body, applied_tags), .type = &type_applied_tags,
      .flags = OPTIONAL | NULLABLE, .doc = "Posts" },
    { FIELD(struct thread_create_body, message), .type = &type_post, .flags = OPTIONAL | NULLABLE,
      .doc = "Required for posts" },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "ThreadDraft",
    .size = sizeof(struct thread_create_body),
    .fields = draft_fields,
    .doc = "A new thread, or a new post of a forum.",
};
const struct type thread_draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field message_thread_fields[] = { DRAFT_FIELDS, { 0 } };
static const struct schema message_thread_schema = {
    .name = "MessageThreadDraft",
    .size = sizeof(struct thread_create_body),
    .fields = message_thread_fields,
    .doc = "A new thread of a message.",
};
const struct type message_thread_body = { .kind = KIND_OBJECT, .schema = &message_thread_schema };

static const struct field settings_fields[] = {
    { FIELD(struct thread_settings, flags), .type = &type_count, .flags = OPTIONAL,
      .doc = "One of 2 (all messages), 4 (mentions), 8 (none)" },
    { FIELD(struct thread_settings, muted), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct thread_settings, mute_config), .type = &type_mute_config,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema settings_schema = {
    .name = "ThreadSettings",
    .size = sizeof(struct thread_settings),
    .fields = settings_fields,
    .doc = "Settings of a thread member.",
};
const struct type thread_settings_body = { .kind = KIND_OBJECT, .schema = &settings_schema };

static const struct field list_fields[] = {
    { FIELD(struct thread_list_reply, threads), .type = &type_channels },
    { FIELD(struct thread_list_reply, members), .type = &type_thread_members,
      .doc = "The caller's thread members" },
    { FIELD(struct thread_list_reply, has_more), .type = &type_bool },
    { 0 },
};
static const struct schema list_schema = {
    .name = "ThreadList",
    .size = sizeof(struct thread_list_reply),
    .fields = list_fields,
    .doc = "Threads that the caller can view.",
};
const struct type thread_list_type = { .kind = KIND_OBJECT, .schema = &list_schema };

static const struct type type_page = { .kind = KIND_INT, .min = 2, .max = 100 };
static const struct field archived_fields[] = {
    { FIELD(struct archived_threads_query, before), .type = &type_time, .flags = OPTIONAL,
      .doc = "Archived before then" },
    { FIELD(struct archived_threads_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 50 },
    { 0 },
};
const struct schema archived_query_schema = {
    .name = "ArchivedThreadsQuery",
    .size = sizeof(struct archived_threads_query),
    .fields = archived_fields,
    .doc = "Which archived threads.",
};
static const struct field joined_fields[] = {
    { FIELD(struct joined_threads_query, before), .type = &type_id, .flags = OPTIONAL,
      .doc = "Threads with a lower id" },
    { FIELD(struct joined_threads_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 50 },
    { 0 },
};
const struct schema joined_query_schema = {
    .name = "JoinedThreadsQuery",
    .size = sizeof(struct joined_threads_query),
    .fields = joined_fields,
    .doc = "Which of the caller's archived threads.",
};

static const struct type type_member_page = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field members_fields[] = {
    { FIELD(struct thread_members_query, with_member), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Include guild members; the list then has pages" },
    { FIELD(struct thread_members_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct thread_members_query, limit), .type = &type_member_page, .flags = OPTIONAL,
      .fallback = 100 },
    { 0 },
};
const struct schema thread_members_query_schema = {
    .name = "ThreadMembersQuery",
    .size = sizeof(struct thread_members_query),
    .fields = members_fields,
    .doc = "How members of a thread are listed.",
};
