/* internal.h - declarations shared by the files of scheduled_events/. */
#ifndef PLATFORM_SCHEDULED_EVENTS_INTERNAL_H
#define PLATFORM_SCHEDULED_EVENTS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/permissions/member_permissions.h"
#include "platform/guilds/guilds.h"
#include "platform/scheduled_events/scheduled_events.h"

enum { MOST_OPEN_EVENTS = 100 };

/* --- schema.c ------------------------------------------------------------------------- */

struct scheduled_event_patch {
    struct opt_str name, description;
    struct opt_image image;
    struct opt_id channel_id;
    struct opt_int scheduled_start_time, scheduled_end_time, privacy_level, entity_type, status;
    struct opt_object entity_metadata, recurrence_rule;
};
struct scheduled_event_query {
    bool with_user_count;
};
struct scheduled_event_exception_patch {
    int64_t original_scheduled_start_time;
    struct opt_int scheduled_start_time, scheduled_end_time;
    struct opt_bool is_canceled;
};
struct scheduled_event_users_query {
    struct opt_id before, after;
    int64_t limit;
    bool with_member, upgrade_response_type;
};
struct scheduled_event_counts_query {
    struct list guild_scheduled_event_exception_ids;
};
struct scheduled_event_response_body {
    struct opt_int response;
};
/* A user in the list of a scheduled event's subscribers. */
struct scheduled_event_subscriber {
    snowflake guild_scheduled_event_id, user_id;
    int64_t response;
    const struct user *user;
    const struct member *member;
    struct opt_id guild_scheduled_event_exception_id;
};
struct scheduled_event_exceptions_deleted {
    snowflake guild_id, event_id;
};
extern const struct schema event_exceptions_gone_schema;
struct scheduled_event_exception_count {
    struct str key;
    int64_t value;
};
struct scheduled_event_subscriber_counts {
    int64_t guild_scheduled_event_count;
    struct list guild_scheduled_event_exception_counts; /* struct scheduled_event_exception_count */
};

extern const struct type event_draft_body, event_patch_body, exception_draft_body,
    exception_patch_body, event_response_body, event_people_reply, event_person_reply,
    event_users_reply, event_counts_reply;
extern const struct schema event_query_schema, event_users_query_schema, event_counts_query_schema;

/* --- rules.c: date arithmetic, without the store -------------------------------------- */

/* Returns the time of the first occurrence after the time `after` (microseconds). */
int64_t recurrence_next_occurrence(const struct scheduled_event_recurrence *r, int64_t after);
/* Returns whether exception_id belongs to an occurrence of the scheduled event in the allowed
 * range: from one day before the next start to one year after it. The range limits how many
 * responses a user can store. */
bool scheduled_event_has_occurrence(const struct scheduled_event *e, snowflake exception_id);
/* Validates times, channel and location of a scheduled event, as far as they depend on each other.
 * Adds form errors. */
void scheduled_event_validate(struct form *form, const struct scheduled_event *e);
bool scheduled_event_is_scheduled_or_active(const struct scheduled_event *e);

/* --- rows.c --------------------------------------------------------------------------- */

enum err scheduled_event_update(struct tx *tx, const struct scheduled_event *e);
enum err scheduled_event_delete(struct call *call, const struct scheduled_event *e);
enum err scheduled_event_delete_subscribers(struct call *call, snowflake id);
enum err scheduled_events_read_of_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err scheduled_event_find_by_id(struct tx *tx, snowflake id, struct scheduled_event *ret);
enum err scheduled_event_read_creator(struct tx *tx, struct scheduled_event *e);
enum err count_open_scheduled_events(struct tx *tx, snowflake guild_id, int64_t *ret);
/* Saves a user's response to a scheduled event. *ret_changed is false if the same response was
 * already stored. */
enum err scheduled_event_subscriber_save(struct tx *tx, snowflake event_id, snowflake exception_id,
                                         snowflake user_id, int64_t response, bool *ret_changed);
enum err scheduled_event_subscriber_delete(struct tx *tx, snowflake event_id,
                                           snowflake exception_id, snowflake user_id,
                                           bool *ret_found);
enum err scheduled_event_subscribers_read(struct tx *tx, snowflake event_id, snowflake exception_id,
                                          const struct scheduled_event_users_query *q,
                                          struct list *ret);
enum err scheduled_event_subscribers_count(struct tx *tx, snowflake event_id,
                                           snowflake exception_id, int64_t *ret);

/* --- audit.c -------------------------------------------------------------------------- */

/* Writes an audit log entry about a scheduled event. before is NULL for a new one; now is NULL for
 * a deleted one. */
enum err audit_log_record_scheduled_event(struct call *call, enum audit_log_action action,
                                          const struct scheduled_event *before,
                                          const struct scheduled_event *now);

/* Adds the scheduled events to which audit log entries refer to the audit log reply. */
enum err audit_log_reply_add_scheduled_events(struct call *call, struct audit_log_objects *log);

/* --- status.c ------------------------------------------------------------------------- */

struct audience audience_of_scheduled_event(const struct scheduled_event *e);
void emit_event_about_scheduled_event(struct call *call, enum event what,
                                      const struct scheduled_event *e);
/* Schedules the job that starts or ends the scheduled event. Call it after a change of its times or
 * status. */
enum err scheduled_event_schedule_status_job(struct call *call, const struct scheduled_event *e);
/* Changes the status of a scheduled event and opens or closes its stage channel. Writes the row,
 * emits the gateway event and schedules the next job. If a recurring event is completed, its
 * next occurrence is scheduled. */
enum err scheduled_event_set_status(struct call *call, struct scheduled_event *e, int64_t status);
extern const struct job_kind scheduled_event_job;
enum err scheduled_events_cancel_of_channel(struct call *call, const struct channel *c);

/* --- permission_checks.c -------------------------------------------------------------- */

/* Return an error unless the caller may view (change) the scheduled event:
 * ERR_UNKNOWN_SCHEDULED_EVENT or ERR_MISSING_PERMISSIONS. */
enum err check_view_scheduled_event_permission(struct call *call, const struct scheduled_event *e);
enum err check_change_scheduled_event_permission(struct call *call,
                                                 const struct scheduled_event *e);
/* Returns an error unless the caller has at least one of the permissions any_of, and all
 * permissions that the type of the scheduled event needs. */
enum err require_scheduled_event_permission(struct call *call, const struct scheduled_event *e,
                                            uint64_t any_of);
/* Checks that the channel of the scheduled event belongs to the guild and has the type that its
 * entity type needs. */
enum err scheduled_event_check_channel(struct call *call, const struct scheduled_event *e);

/* --- events.c, users.c, exceptions.c: handlers ---------------------------------------- */

enum err read_scheduled_event_of_path(struct call *call, struct scheduled_event *ret);
enum err list_scheduled_events(struct call *call);
enum err get_scheduled_event(struct call *call);
enum err schedule_storing_new_event_image(struct call *call);
enum err create_scheduled_event(struct call *call);
enum err schedule_storing_changed_event_image(struct call *call);
enum err modify_scheduled_event(struct call *call);
enum err delete_scheduled_event(struct call *call);
enum err list_scheduled_event_users(struct call *call);
enum err list_exception_users(struct call *call);
enum err count_scheduled_event_users(struct call *call);
enum err join_scheduled_event(struct call *call);
enum err leave_scheduled_event(struct call *call);
enum err respond_to_scheduled_event_exception(struct call *call);
enum err delete_scheduled_event_exception_response(struct call *call);
enum err create_event_exception(struct call *call);
enum err modify_event_exception(struct call *call);
enum err delete_event_exception(struct call *call);
enum err scheduled_event_subscribe_user(struct call *call, struct scheduled_event *e,
                                        snowflake user_id);

#endif
