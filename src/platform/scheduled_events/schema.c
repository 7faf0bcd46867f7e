/* schema.c - JSON schemas of scheduled events: bodies, queries, subscriber lists. */
#include "platform/scheduled_events/internal.h"

#include "model/fields/types.h"

static const struct type type_event_image = { .kind = KIND_IMAGE,
                                              .max = IMAGE_MAX_BYTES,
                                              .doc = "A picture as a data URI" };

#define PATCH_FIELD(member_, type_, flags_)                                               \
    {                                                                                     \
        FIELD(struct scheduled_event_patch, member_), .type = &(type_), .flags = (flags_) \
    }
#define MAYBE (OPTIONAL | NULLABLE)
#define PATCH_FIELDS(must_)                                       \
    PATCH_FIELD(name, type_event_name, must_),                    \
        PATCH_FIELD(privacy_level, type_event_privacy, must_),    \
        PATCH_FIELD(scheduled_start_time, type_time, must_),      \
        PATCH_FIELD(entity_type, type_event_entity_type, must_),  \
        PATCH_FIELD(channel_id, type_id, MAYBE),                  \
        PATCH_FIELD(entity_metadata, type_event_metadata, MAYBE), \
        PATCH_FIELD(scheduled_end_time, type_time, MAYBE),        \
        PATCH_FIELD(description, type_event_description, MAYBE),  \
        PATCH_FIELD(image, type_event_image, MAYBE),              \
        PATCH_FIELD(recurrence_rule, type_event_recurrence_input, MAYBE)

static const struct field draft_fields[] = { PATCH_FIELDS(0), { 0 } };
static const struct field patch_fields[] = {
    PATCH_FIELDS(OPTIONAL),
    PATCH_FIELD(status, type_event_status, OPTIONAL),
    { 0 },
};
static const struct schema draft_schema = {
    .name = "ScheduledEventDraft",
    .size = sizeof(struct scheduled_event_patch),
    .fields = draft_fields,
    .doc = "A new event.",
};
static const struct schema patch_schema = {
    .name = "ScheduledEventPatch",
    .size = sizeof(struct scheduled_event_patch),
    .fields = patch_fields,
    .doc = "Fields of an event to change.",
};
const struct type event_draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
const struct type event_patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field event_query_fields[] = {
    { FIELD(struct scheduled_event_query, with_user_count), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
const struct schema event_query_schema = {
    .name = "ScheduledEventQuery",
    .size = sizeof(struct scheduled_event_query),
    .fields = event_query_fields,
    .doc = "What to include in events.",
};

/* --- exceptions ----------------------------------------------------------------------- */

#define CHANGE_FIELDS                                                                            \
    { FIELD(struct scheduled_event_exception_patch, scheduled_start_time), .type = &type_time,   \
      .flags = MAYBE },                                                                          \
        { FIELD(struct scheduled_event_exception_patch, scheduled_end_time), .type = &type_time, \
          .flags = MAYBE },                                                                      \
    {                                                                                            \
        FIELD(struct scheduled_event_exception_patch, is_canceled), .type = &type_bool,          \
                                                                    .flags = MAYBE               \
    }
static const struct field exception_draft_fields[] = {
    { FIELD(struct scheduled_event_exception_patch, original_scheduled_start_time),
      .type = &type_time },
    CHANGE_FIELDS,
    { 0 },
};
static const struct field exception_patch_fields[] = { CHANGE_FIELDS, { 0 } };
static const struct schema exception_draft_schema = {
    .name = "ScheduledEventExceptionDraft",
    .size = sizeof(struct scheduled_event_exception_patch),
    .fields = exception_draft_fields,
    .doc = "Changes of one occurrence of an event.",
};
static const struct schema exception_patch_schema = {
    .name = "ScheduledEventExceptionPatch",
    .size = sizeof(struct scheduled_event_exception_patch),
    .fields = exception_patch_fields,
    .doc = "Changes of an existing exception; absent fields get the values of the event.",
};
const struct type exception_draft_body = { .kind = KIND_OBJECT, .schema = &exception_draft_schema };
const struct type exception_patch_body = { .kind = KIND_OBJECT, .schema = &exception_patch_schema };

static const struct field gone_fields[] = {
    { FIELD(struct scheduled_event_exceptions_deleted, guild_id), .type = &type_id },
    { FIELD(struct scheduled_event_exceptions_deleted, event_id), .type = &type_id },
    { 0 },
};
const struct schema event_exceptions_gone_schema = {
    .name = "ScheduledEventExceptionsGone",
    .size = sizeof(struct scheduled_event_exceptions_deleted),
    .fields = gone_fields,
    .doc = "All exceptions of an event were deleted.",
};

/* --- subscribers ---------------------------------------------------------------------- */

static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field users_query_fields[] = {
    { FIELD(struct scheduled_event_users_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct scheduled_event_users_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct scheduled_event_users_query, limit), .type = &type_limit, .flags = OPTIONAL,
      .fallback = 100 },
    { FIELD(struct scheduled_event_users_query, with_member), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct scheduled_event_users_query, upgrade_response_type), .type = &type_bool,
      .flags = OPTIONAL, .doc = "Users: reply with a list, as bots get it" },
    { 0 },
};
const struct schema event_users_query_schema = {
    .name = "ScheduledEventUsersQuery",
    .size = sizeof(struct scheduled_event_users_query),
    .fields = users_query_fields,
    .doc = "Which subscribers of an event.",
};
static const struct type type_some_ids = { .kind = KIND_ARRAY, .max = 10, .of = &type_id };
static const struct field counts_query_fields[] = {
    { FIELD(struct scheduled_event_counts_query, guild_scheduled_event_exception_ids),
      .type = &type_some_ids, .flags = OPTIONAL },
    { 0 },
};
const struct schema event_counts_query_schema = {
    .name = "ScheduledEventCountsQuery",
    .size = sizeof(struct scheduled_event_counts_query),
    .fields = counts_query_fields,
    .doc = "Occurrences to count in addition.",
};

static const struct field person_fields[] = {
    { FIELD(struct scheduled_event_subscriber, guild_scheduled_event_id), .type = &type_id },
    { FIELD(struct scheduled_event_subscriber, user_id), .type = &type_id },
    { FIELD(struct scheduled_event_subscriber, response), .type = &type_count,
      .doc = "0: will not attend" },
    { FIELD(struct scheduled_event_subscriber, user), .type = &type_partial_user,
      .flags = OPTIONAL },
    { FIELD(struct scheduled_event_subscriber, member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct scheduled_event_subscriber, guild_scheduled_event_exception_id),
      .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
static const struct schema person_schema = {
    .name = "ScheduledEventUser",
    .size = sizeof(struct scheduled_event_subscriber),
    .fields = person_fields,
    .doc = "A subscriber of an event.",
};
const struct type event_person_reply = { .kind = KIND_OBJECT, .schema = &person_schema };
const struct type event_people_reply = { .kind = KIND_ARRAY, .of = &event_person_reply };
const struct type event_users_reply = { .kind = KIND_RAW,
                                        .doc = "Bots: array[ScheduledEventUser]; users: {users}" };

static const struct type type_counts = { .kind = KIND_MAP, .max = 10, .of = &type_count };
static const struct field counts_fields[] = {
    { FIELD(struct scheduled_event_subscriber_counts, guild_scheduled_event_count),
      .type = &type_count },
    { FIELD(struct scheduled_event_subscriber_counts, guild_scheduled_event_exception_counts),
      .type = &type_counts },
    { 0 },
};
static const struct schema counts_schema = {
    .name = "ScheduledEventCounts",
    .size = sizeof(struct scheduled_event_subscriber_counts),
    .fields = counts_fields,
    .doc = "Numbers of subscribers.",
};
const struct type event_counts_reply = { .kind = KIND_OBJECT, .schema = &counts_schema };

static const struct type type_response = { .kind = KIND_INT, .min = 0, .max = 1 };
static const struct field response_fields[] = {
    { FIELD(struct scheduled_event_response_body, response), .type = &type_response,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema response_schema = {
    .name = "ScheduledEventResponse",
    .size = sizeof(struct scheduled_event_response_body),
    .fields = response_fields,
    .doc = "0: the caller will not attend this occurrence.",
};
const struct type event_response_body = { .kind = KIND_OBJECT, .schema = &response_schema };
