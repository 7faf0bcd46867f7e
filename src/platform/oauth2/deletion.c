/* deletion.c - deletes the authorizations and group DM installations of a deleted application. */
#include "api/deletion.h"

#include "api/hooks.h"
#include "model/fields/ids.h"
#include "platform/applications/applications.h"
#include "platform/oauth2/internal.h"

static const char USERS_WITH[] =
    "select user_id from authorizations where application_id = $1 order by user_id limit $2";
static const char LEAVE_USER[] =
    "delete from authorizations where application_id = $1 and user_id = $2 returning installed";

/* Deletes the authorization of one user. Invalidates the account's command index only if the app
 * was installed on the account. */
static enum err delete_authorization_of_user(struct call *call, snowflake id, snowflake user_id)
{
    struct user_application_event gone = { id };
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, LEAVE_USER, BIND(v_id(id), v_id(user_id)), &row, &found);

    if (e || !found)
        return e;
    call_emit_event(call, EVENT_USER_APPLICATION_REMOVE, audience_of_user(user_id),
                    &user_application_event_schema, &gone);
    return row_int(&row, 0) ? hook_command_index_changed(call, user_id) : OK;
}

static enum err delete_authorization_batch(struct call *call, snowflake id,
                                           struct deletion_step_limits *step)
{
    struct list users = { 0 };
    enum err e = tx_read_ids(call->tx, USERS_WITH, BIND(v_id(id), v_int(step->rows_left)), &users);

    for (size_t i = 0; i < users.count && !e; i++)
        e = delete_authorization_of_user(call, id, ((snowflake *)users.items)[i]);
    deletion_step_subtract_deleted_rows(step, (int64_t)users.count);
    return e;
}

static const char GROUPS_WITH[] = "select channel_id from channel_integrations where "
                                  "application_id = $1 order by channel_id limit $2";
static const char LEAVE_GROUP[] =
    "delete from channel_integrations where application_id = $1 and channel_id = $2";

static enum err delete_group_integration_batch(struct call *call, snowflake id,
                                               struct deletion_step_limits *step)
{
    struct list groups = { 0 };
    enum err e =
        tx_read_ids(call->tx, GROUPS_WITH, BIND(v_id(id), v_int(step->rows_left)), &groups);

    for (size_t i = 0; i < groups.count && !e; i++) {
        snowflake channel_id = ((snowflake *)groups.items)[i];

        e = hook_command_index_changed(call, channel_id);
        if (!e)
            e = tx_exec(call->tx, LEAVE_GROUP, BIND(v_id(id), v_id(channel_id)), NULL);
    }
    deletion_step_subtract_deleted_rows(step, (int64_t)groups.count);
    return e;
}

enum err authorization_codes_delete_of_user(struct call *call, snowflake user_id)
{
    return tx_exec(call->tx, "delete from authorization_codes where user_id = $1",
                   BIND(v_id(user_id)), NULL);
}

const struct deletion_rule oauth2_deletions[] = {
    { WITH_APPLICATION, "authorizations", .run = delete_authorization_batch,
      .phase = DELETE_FIRST },
    { WITH_APPLICATION, "channel_integrations", .run = delete_group_integration_batch,
      .phase = DELETE_FIRST },
    { DELETE_WHERE(WITH_APPLICATION, "authorization_codes", "digest", "application_id = $1") },
    { DELETE_FEW(WITH_ACCOUNT, "authorizations", "user_id") },
    { DELETE_FEW(WITH_ACCOUNT, "authorization_codes", "user_id") },
    { 0 },
};
