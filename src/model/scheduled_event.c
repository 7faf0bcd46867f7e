/* scheduled_event.c - JSON schemas of scheduled events. */
#include "model/scheduled_event.h"

#include "model/fields/types.h"

const struct type type_event_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 100
};
const struct type type_event_description = { .kind = KIND_STRING, .max = 1000 };
static const struct type type_location = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 100
};

static const struct enum_choice entity_type_choices[] = {
    { EVENT_IN_STAGE, NULL, "STAGE_INSTANCE", "In a stage channel" },
    { EVENT_IN_VOICE, NULL, "VOICE", "In a voice channel" },
    { EVENT_EXTERNAL, NULL, "EXTERNAL", "Outside of channels" },
    { 0 },
};
static const struct enum_choice statuses[] = {
    { EVENT_SCHEDULED, NULL, "SCHEDULED", "The event is planned" },
    { EVENT_ACTIVE, NULL, "ACTIVE", "The event is in progress" },
    { EVENT_COMPLETED, NULL, "COMPLETED", "The event is over" },
    { EVENT_CANCELED, NULL, "CANCELED", "The event was cancelled" },
    { 0 },
};
static const struct enum_choice privacy[] = { { 2, NULL, "GUILD_ONLY", "For members" }, { 0 } };
const struct type type_event_entity_type = { .kind = KIND_INT, .choices = entity_type_choices };
const struct type type_event_status = { .kind = KIND_INT, .choices = statuses };
const struct type type_event_privacy = { .kind = KIND_INT, .choices = privacy };

static const struct type type_frequency = { .kind = KIND_INT, .min = 0, .max = 3 };
static const struct type type_interval = { .kind = KIND_INT, .min = 1, .max = 2 };
static const struct type type_weekday = { .kind = KIND_INT, .min = 0, .max = 6 };
static const struct type type_weekdays = { .kind = KIND_ARRAY, .max = 7, .of = &type_weekday };
static const struct type type_n = { .kind = KIND_INT, .min = 1, .max = 5 };
static const struct field n_weekday_fields[] = {
    { FIELD(struct scheduled_event_n_weekday, n), .type = &type_n },
    { FIELD(struct scheduled_event_n_weekday, day), .type = &type_weekday },
    { 0 },
};
static const struct schema n_weekday_schema = {
    .name = "RecurrenceWeekday",
    .size = sizeof(struct scheduled_event_n_weekday),
    .fields = n_weekday_fields,
    .doc = "The n-th weekday of a month.",
};
static const struct type type_n_weekday = { .kind = KIND_OBJECT, .schema = &n_weekday_schema };
static const struct type type_n_weekdays = { .kind = KIND_ARRAY, .max = 7, .of = &type_n_weekday };
static const struct type type_month = { .kind = KIND_INT, .min = 1, .max = 12 };
static const struct type type_months = { .kind = KIND_ARRAY, .max = 12, .of = &type_month };
static const struct type type_month_day = { .kind = KIND_INT, .min = 1, .max = 31 };
static const struct type type_month_days = { .kind = KIND_ARRAY, .max = 31, .of = &type_month_day };
static const struct type type_year_days = { .kind = KIND_ARRAY, .max = 366, .of = &type_int };

#define RECURRENCE_FIELD(member_, type_, flags_)                                               \
    {                                                                                          \
        FIELD(struct scheduled_event_recurrence, member_), .type = &(type_), .flags = (flags_) \
    }
#define OPTIONAL_NULLABLE (OPTIONAL | NULLABLE)
static const struct field recurrence_fields[] = {
    RECURRENCE_FIELD(start, type_time, 0),
    RECURRENCE_FIELD(end, type_time, NULLABLE),
    RECURRENCE_FIELD(frequency, type_frequency, 0),
    RECURRENCE_FIELD(interval, type_interval, 0),
    RECURRENCE_FIELD(by_weekday, type_weekdays, NULLABLE),
    RECURRENCE_FIELD(by_n_weekday, type_n_weekdays, NULLABLE),
    RECURRENCE_FIELD(by_month, type_months, NULLABLE),
    RECURRENCE_FIELD(by_month_day, type_month_days, NULLABLE),
    RECURRENCE_FIELD(by_year_day, type_year_days, NULLABLE),
    RECURRENCE_FIELD(count, type_count, NULLABLE),
    { 0 },
};
static const struct schema recurrence_schema = {
    .name = "RecurrenceRule",
    .size = sizeof(struct scheduled_event_recurrence),
    .fields = recurrence_fields,
    .doc = "How often an event recurs.",
};
const struct type type_event_recurrence = { .kind = KIND_OBJECT, .schema = &recurrence_schema };

static const struct field recurrence_input_fields[] = {
    RECURRENCE_FIELD(start, type_time, 0),
    RECURRENCE_FIELD(end, type_time, OPTIONAL_NULLABLE),
    RECURRENCE_FIELD(frequency, type_frequency, 0),
    RECURRENCE_FIELD(interval, type_interval, 0),
    RECURRENCE_FIELD(by_weekday, type_weekdays, OPTIONAL_NULLABLE),
    RECURRENCE_FIELD(by_n_weekday, type_n_weekdays, OPTIONAL_NULLABLE),
    RECURRENCE_FIELD(by_month, type_months, OPTIONAL_NULLABLE),
    RECURRENCE_FIELD(by_month_day, type_month_days, OPTIONAL_NULLABLE),
    RECURRENCE_FIELD(by_year_day, type_year_days, OPTIONAL_NULLABLE),
    RECURRENCE_FIELD(count, type_count, OPTIONAL_NULLABLE),
    { 0 },
};
static const struct schema recurrence_input_schema = {
    .name = "RecurrenceRuleDraft",
    .size = sizeof(struct scheduled_event_recurrence),
    .fields = recurrence_input_fields,
    .doc = "How often an event recurs: daily on certain sets of weekdays, weekly on one weekday, "
           "monthly on the n-th weekday, yearly on a date.",
};
const struct type type_event_recurrence_input = { .kind = KIND_OBJECT,
                                                  .schema = &recurrence_input_schema };

static const struct field exception_fields[] = {
    { FIELD(struct scheduled_event_exception, event_id), .type = &type_id },
    { FIELD(struct scheduled_event_exception, event_exception_id), .type = &type_id },
    { FIELD(struct scheduled_event_exception, scheduled_start_time), .type = &type_time,
      .flags = NULLABLE },
    { FIELD(struct scheduled_event_exception, scheduled_end_time), .type = &type_time,
      .flags = NULLABLE },
    { FIELD(struct scheduled_event_exception, is_canceled), .type = &type_bool },
    { FIELD(struct scheduled_event_exception, guild_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
const struct schema event_exception_schema = {
    .name = "ScheduledEventException",
    .size = sizeof(struct scheduled_event_exception),
    .fields = exception_fields,
    .doc = "An occurrence of a recurring event with other times, or cancelled.",
};
const struct type type_event_exception = { .kind = KIND_OBJECT, .schema = &event_exception_schema };
const struct type type_event_exceptions = { .kind = KIND_ARRAY, .of = &type_event_exception };

static const struct field metadata_fields[] = {
    { FIELD(struct scheduled_event_metadata, location), .type = &type_location, .flags = OPTIONAL },
    { 0 },
};
static const struct schema metadata_schema = {
    .name = "ScheduledEventMetadata",
    .size = sizeof(struct scheduled_event_metadata),
    .fields = metadata_fields,
    .doc = "The location of an event outside of channels.",
};
const struct type type_event_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };

#define EVENT_FIELD(member_, type_, flags_)                                         \
    {                                                                               \
        FIELD(struct scheduled_event, member_), .type = &(type_), .flags = (flags_) \
    }
static const struct field event_fields[] = {
    EVENT_FIELD(id, type_id, 0),
    EVENT_FIELD(guild_id, type_id, 0),
    EVENT_FIELD(channel_id, type_id, NULLABLE),
    EVENT_FIELD(creator_id, type_id, NULLABLE),
    EVENT_FIELD(name, type_event_name, 0),
    EVENT_FIELD(description, type_event_description, NULLABLE),
    EVENT_FIELD(image, type_asset_hash, NULLABLE),
    EVENT_FIELD(scheduled_start_time, type_time, 0),
    EVENT_FIELD(scheduled_end_time, type_time, NULLABLE),
    EVENT_FIELD(privacy_level, type_event_privacy, 0),
    EVENT_FIELD(status, type_event_status, 0),
    EVENT_FIELD(entity_type, type_event_entity_type, 0),
    EVENT_FIELD(entity_id, type_id, NULLABLE),
    EVENT_FIELD(entity_metadata, type_event_metadata, NULLABLE),
    EVENT_FIELD(recurrence_rule, type_event_recurrence, NULLABLE),
    EVENT_FIELD(guild_scheduled_event_exceptions, type_event_exceptions, 0),
    EVENT_FIELD(creator, type_partial_user, OPTIONAL),
    EVENT_FIELD(user_count, type_count, OPTIONAL),
    EVENT_FIELD(auto_start, type_bool, OPTIONAL),
    { 0 },
};
const struct schema scheduled_event_schema = {
    .name = "ScheduledEvent",
    .size = sizeof(struct scheduled_event),
    .fields = event_fields,
    .doc = "A scheduled event of a guild.",
};
const struct type type_scheduled_event = { .kind = KIND_OBJECT, .schema = &scheduled_event_schema };
const struct type type_scheduled_events = { .kind = KIND_ARRAY, .of = &type_scheduled_event };

static const struct field user_fields[] = {
    { FIELD(struct scheduled_event_user, guild_scheduled_event_id), .type = &type_id },
    { FIELD(struct scheduled_event_user, user_id), .type = &type_id },
    { FIELD(struct scheduled_event_user, guild_id), .type = &type_id },
    { FIELD(struct scheduled_event_user, response), .type = &type_count },
    { FIELD(struct scheduled_event_user, guild_scheduled_event_exception_id), .type = &type_id,
      .flags = OPTIONAL },
    { 0 },
};
const struct schema scheduled_event_user_schema = {
    .name = "ScheduledEventUserEvent",
    .size = sizeof(struct scheduled_event_user),
    .fields = user_fields,
    .doc = "A user subscribed to a scheduled event, or unsubscribed.",
};
