/* channel_apps.c - lists and deletes apps in private channels. */
#include "integrations/internal.h"

#include "api/hooks.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"

/* A row of channel_integrations. */
struct channel_app {
    snowflake id, application_id, user_id;
    struct list scopes;
};

static const char IN_CHANNEL[] =
    "select id, application_id, user_id, scopes from channel_integrations where channel_id = $1 "
    "order by id limit $2";
static const char ONE[] = "select id, application_id, user_id, scopes from channel_integrations "
                          "where channel_id = $1 and id = $2";
static const char DELETE_ROW[] = "delete from channel_integrations where id = $1";

static void group_dm_app_from_row(const struct rows *r, void *ret)
{
    *(struct channel_app *)ret = (struct channel_app){
        .id = row_id(r, 0),
        .application_id = row_id(r, 1),
        .user_id = row_id(r, 2),
        .scopes = json_column_decode_list(tx_arena(r->tx), &type_texts, row_text(r, 3)),
    };
}

/* GET /channels/{channel.id}/integrations. The reply does not contain the user who added the
 * app. */
enum err list_channel_integrations(struct call *call)
{
    struct list apps = { 0 }, integrations = { 0 };
    enum err e = tx_read_list(call->tx, IN_CHANNEL,
                              BIND(v_id(call->target.channel->id), v_int(MOST_INTEGRATIONS)),
                              sizeof(struct channel_app), group_dm_app_from_row, &apps);

    for (size_t n = 0; n < apps.count && !e; n++) {
        const struct channel_app *app = (const struct channel_app *)apps.items + n;
        struct application *a = arena_alloc(call->arena, sizeof *a);

        e = application_find(call->tx, app->application_id, a);
        if (e == ERR_UNKNOWN_APPLICATION) {
            e = OK; /* skip an application that is being deleted */
            continue;
        }
        if (e)
            return e;
        struct integration *i = list_append(call->arena, &integrations, sizeof *i);
        *i = integration_from_application(call->arena, a, 0, app->id);
        i->scopes = (struct opt_list){ GIVEN, app->scopes };
        integration_set_displayed_type(i);
    }
    return e ? e : call_reply_with_object(call, &integrations);
}

/* Checks who may remove an app from a group DM: the owner of the group DM, the user who added the
 * app, and the owner of the app that manages the group DM. */
static enum err check_can_remove_app_from_group_dm(struct call *call, const struct channel_app *app)
{
    const struct channel *c = call->target.channel;
    snowflake me = call->caller->id;
    struct application manager;

    if (c->owner_id.value == me || app->user_id == me)
        return OK;
    if (c->application_id.given != GIVEN)
        return ERR_MISSING_PERMISSIONS;
    enum err e = application_find(call->tx, c->application_id.value, &manager);
    if (e == ERR_UNKNOWN_APPLICATION)
        return ERR_MISSING_PERMISSIONS;
    return e || manager.owner_id == me ? e : ERR_MISSING_PERMISSIONS;
}

/* DELETE /channels/{channel.id}/integrations/{integration.id} */
enum err delete_channel_integration(struct call *call)
{
    snowflake channel_id = call->target.channel->id;
    struct channel_app app;
    enum err e = tx_read_first(
        call->tx, ONE, BIND(v_id(channel_id), v_id(call_get_path_id(call, "integration.id"))),
        group_dm_app_from_row, &app, ERR_UNKNOWN_INTEGRATION);

    if (!e)
        e = check_can_remove_app_from_group_dm(call, &app);
    if (!e)
        e = tx_exec(call->tx, DELETE_ROW, BIND(v_id(app.id)), NULL);
    if (!e)
        e = hook_command_index_changed(call, channel_id);
    if (e)
        return e;
    struct integration_delete_event gone = {
        .id = app.id,
        .channel_id = { GIVEN, channel_id },
        .application_id = { GIVEN, app.application_id },
    };
    call_emit_event(call, EVENT_INTEGRATION_DELETE, audience_of_private_channel(channel_id),
                    &integration_delete_event_schema, &gone);
    return OK;
}
