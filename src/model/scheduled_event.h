/* scheduled_event.h - scheduled events of guilds, with recurrence and exceptions. */
#ifndef MODEL_SCHEDULED_EVENT_H
#define MODEL_SCHEDULED_EVENT_H

#include "model/user.h"

enum scheduled_event_status {
    EVENT_SCHEDULED = 1,
    EVENT_ACTIVE = 2,
    EVENT_COMPLETED = 3,
    EVENT_CANCELED = 4
};
enum scheduled_event_entity_type { EVENT_IN_STAGE = 1, EVENT_IN_VOICE = 2, EVENT_EXTERNAL = 3 };
enum scheduled_event_frequency { EVENT_YEARLY, EVENT_MONTHLY, EVENT_WEEKLY, EVENT_DAILY };

struct scheduled_event_n_weekday {
    int64_t n, day;
};
struct scheduled_event_recurrence {
    int64_t start; /* start time in microseconds, like all times in this file */
    struct opt_int end;
    int64_t frequency, interval;
    struct opt_list by_weekday;   /* int64_t; 0 is Monday */
    struct opt_list by_n_weekday; /* struct scheduled_event_n_weekday */
    struct opt_list by_month, by_month_day, by_year_day;
    struct opt_int count;
};
/* A single occurrence of a recurring scheduled event that was changed or cancelled. */
struct scheduled_event_exception {
    snowflake event_id, event_exception_id;
    struct opt_int scheduled_start_time, scheduled_end_time;
    bool is_canceled;
    struct opt_id guild_id; /* only in gateway events */
};
struct scheduled_event_metadata {
    struct opt_str location;
};
struct scheduled_event {
    snowflake id, guild_id;
    struct opt_id channel_id, creator_id, entity_id;
    struct str name;
    struct opt_str description, image;
    int64_t scheduled_start_time;
    struct opt_int scheduled_end_time;
    int64_t privacy_level, status, entity_type;
    struct scheduled_event_metadata *entity_metadata; /* if NULL, null in the JSON */
    struct scheduled_event_recurrence *recurrence_rule;
    struct list guild_scheduled_event_exceptions; /* struct scheduled_event_exception */
    const struct user *creator;
    struct opt_int user_count;
    struct opt_bool auto_start; /* only in gateway events */

    /* The members below are not part of the JSON object. */
    int64_t users, empty_since, ended_at;
};

struct scheduled_event_user {
    snowflake guild_scheduled_event_id, user_id, guild_id;
    int64_t response;
    struct opt_id guild_scheduled_event_exception_id;
};

extern const struct schema scheduled_event_schema, event_exception_schema;
extern const struct schema scheduled_event_user_schema; /* …_USER_ADD and …_USER_REMOVE payload */
extern const struct type type_scheduled_event, type_scheduled_events, type_event_recurrence,
    type_event_metadata, type_event_exception, type_event_exceptions, type_event_name,
    type_event_description, type_event_entity_type, type_event_status, type_event_privacy,
    type_event_recurrence_input;

#endif
