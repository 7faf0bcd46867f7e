/* internal.h - declarations shared by the files of join_requests/. */
#ifndef PLATFORM_JOIN_REQUESTS_INTERNAL_H
#define PLATFORM_JOIN_REQUESTS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/permissions/member_permissions.h"
#include "platform/guilds/guilds.h"
#include "platform/join_requests/join_requests.h"
#include "platform/members/members.h"

/* --- schema.c ------------------------------------------------------------------------- */

struct member_form_patch {
    struct opt_bool enabled;
    struct opt_str
        form_fields; /* JSON: a list of form fields, or a JSON string that contains such a list */
    struct opt_str description;
};
struct member_form_query {
    struct opt_str invite_code;
    bool with_guild;
};

struct join_request {
    snowflake id, guild_id, user_id;
    int64_t created_at;
    struct opt_int reviewed_at;
    struct opt_str application_status, rejection_reason;
    const struct user *user, *actioned_by_user;
    struct list form_responses; /* struct member_form_field */

    /* Fields that are not part of the join request object in replies and events. */
    int64_t status;
    snowflake reviewed_by;
};
struct join_request_submission {
    int64_t version;
    struct list form_fields;
};
struct join_request_review {
    struct str action;
    struct opt_str rejection_reason;
};
struct join_requests_query {
    struct opt_str status;
    struct opt_id before, after;
    int64_t limit;
};
struct join_requests {
    struct list guild_join_requests; /* struct join_request */
    int64_t total;
};
/* Payloads of gateway events. */
struct join_request_event {
    snowflake guild_id;
    struct str status;
    const struct join_request *request;
};
struct join_request_delete_event {
    snowflake id, guild_id, user_id;
};

extern const struct type member_form_reply, member_form_patch_body, join_request_submission_body,
    join_request_review_body, join_request_reply, join_requests_reply;
extern const struct schema member_form_query_schema, join_requests_query_schema,
    join_request_event_schema, join_request_deleted_schema;

/* --- rules.c -------------------------------------------------------------------------- */

/* Returns the form's fields with the responses of a body. Adds form errors below `form_fields`. */
struct list member_form_merge_responses(struct form *form, struct arena *arena,
                                        const struct list *fields, const struct list *given);
/* Returns true if a moderator must review the responses. A form that consists of rules only needs
 * no review. */
bool member_form_needs_review(const struct list *fields);

/* --- rows.c --------------------------------------------------------------------------- */

enum err join_request_find(struct tx *tx, snowflake guild_id, snowflake id, bool *ret_found,
                           struct join_request *ret);
enum err join_request_find_of_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                   bool *ret_found, struct join_request *ret);
enum err join_request_write(struct tx *tx, const struct join_request *r);
enum err join_request_delete(struct tx *tx, snowflake id);
/* Lists join requests. status 0 means any status. */
enum err join_requests_list(struct tx *tx, snowflake guild_id, int64_t status,
                            const struct join_requests_query *q, struct join_requests *ret);
enum err join_request_read_users(struct tx *tx, struct join_request *r);

/* --- form.c, requests.c: handlers ----------------------------------------------------- */

enum err require_invite_to_read_member_form(struct call *call);
enum err get_member_form(struct call *call);
enum err modify_member_form(struct call *call);
enum err list_join_requests(struct call *call);
enum err put_current_user_join_request(struct call *call);
enum err delete_current_user_join_request(struct call *call);
enum err review_join_request(struct call *call);
enum err join_request_on_member_left(struct call *call, const struct member_leaving_guild *leave);

/* --- admission.c ---------------------------------------------------------------------- */

/* Clears the member's pending flag, emits GUILD_MEMBER_UPDATE and creates the join message. */
enum err admit_pending_member(struct call *call, struct member *m);
#define ADMISSION_EVENTS EVENT_GUILD_MEMBER_UPDATE, EVENT_MESSAGE_CREATE
/* Admits the pending members of a guild in batches, after the guild's form was disabled. */
extern const struct job_kind pending_admission_job;

#endif
