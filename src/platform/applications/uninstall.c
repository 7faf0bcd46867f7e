/* uninstall.c - removes an app with its bot, roles and webhooks, or only its bot, from a guild. */
#include "platform/applications/internal.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/webhooks/webhooks.h"

static enum err list_app_object_ids(struct tx *tx, struct sql sql, snowflake guild_id, snowflake id,
                                    struct list *ret)
{
    return tx_read_ids(tx, sql, BIND(v_id(guild_id), v_id(id)), ret);
}

static const char CHANNELS_WITH_WEBHOOKS[] =
    "select distinct channel_id from webhooks where guild_id = $1 and application_id = $2";
static const char DELETE_WEBHOOKS[] =
    "delete from webhooks where guild_id = $1 and application_id = $2 returning id, avatar";

struct deleted_webhook {
    snowflake id;
    struct opt_str avatar;
};

static void deleted_webhook_from_row(const struct rows *r, void *ret)
{
    *(struct deleted_webhook *)ret =
        (struct deleted_webhook){ row_id(r, 0), row_optional_text(r, 1) };
}

static enum err delete_app_webhook_rows(struct call *call, snowflake guild_id,
                                        snowflake application_id)
{
    struct list gone = { 0 };
    enum err e = tx_read_list(call->tx, DELETE_WEBHOOKS, BIND(v_id(guild_id), v_id(application_id)),
                              sizeof(struct deleted_webhook), deleted_webhook_from_row, &gone);

    for (size_t i = 0; !e && i < gone.count; i++) {
        const struct deleted_webhook *w = (const struct deleted_webhook *)gone.items + i;

        e = delete_stored_picture(call, "avatars", w->id, &w->avatar);
    }
    return e;
}

static enum err delete_and_emit_app_webhooks(struct call *call, snowflake guild_id,
                                             snowflake application_id)
{
    struct list channels;
    enum err e = list_app_object_ids(call->tx, SQL(CHANNELS_WITH_WEBHOOKS), guild_id,
                                     application_id, &channels);

    for (size_t i = 0; i < channels.count && !e; i++)
        emit_webhooks_update(call, guild_id, ((const snowflake *)channels.items)[i]);
    if (e || !channels.count)
        return e;
    return delete_app_webhook_rows(call, guild_id, application_id);
}

static const char BOT_ROLES[] =
    "select id from roles where guild_id = $1 and bot_id = $2 and managed = 1";
static const char INTEGRATION_ROLES[] =
    "select id from roles where guild_id = $1 and integration_id = $2 and managed = 1";

enum err integration_delete_role(struct call *call, snowflake guild_id, snowflake role_id)
{
    struct role role;

    enum err e = role_find(call->tx, guild_id, role_id, &role);
    if (e == ERR_UNKNOWN_ROLE)
        return OK;
    if (!e)
        e = role_delete(call, &role);
    return e ? e : role_emit_delete(call, &role);
}

static enum err remove_bot_member(struct call *call, snowflake guild_id, snowflake bot_id)
{
    struct member member;
    enum err e = member_find(call->tx, guild_id, bot_id, &member);

    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    return member_remove_from_guild(call, guild_id, bot_id);
}

static const char FIND_INTEGRATION[] = "select id from integrations where guild_id = $1 and "
                                       "application_id = $2 and type = 'service'";
static const char DELETE_INTEGRATION[] = "delete from integrations where id = $1";

void integration_emit_deleted(struct call *call, snowflake guild_id, snowflake id,
                              snowflake application_id)
{
    struct guild_integrations_event guild = { guild_id };
    struct integration_delete_event gone = { .id = id, .guild_id = { GIVEN, guild_id } };
    struct audience managers =
        audience_of_members_with_permission(guild_id, 0, PERMISSION(MANAGE_GUILD));

    if (application_id)
        gone.application_id = (struct opt_id){ GIVEN, application_id };
    call_emit_event(call, EVENT_GUILD_INTEGRATIONS_UPDATE, managers,
                    &guild_integrations_event_schema, &guild);
    call_emit_event(call, EVENT_INTEGRATION_DELETE, managers, &integration_delete_event_schema,
                    &gone);
}

/* Deletes an app's integration. *ret is the integration's id; 0 if there was none. Call it before
 * the bot leaves, because clients expect INTEGRATION_DELETE before the events about the bot. */
static enum err delete_app_integration(struct call *call, snowflake guild_id,
                                       snowflake application_id, snowflake *ret)
{
    enum err e =
        tx_read_id(call->tx, FIND_INTEGRATION, BIND(v_id(guild_id), v_id(application_id)), ret);

    if (e || !*ret)
        return e;
    integration_emit_deleted(call, guild_id, *ret, application_id);
    return tx_exec(call->tx, DELETE_INTEGRATION, BIND(v_id(*ret)), NULL);
}

static enum err delete_roles_of_app(struct call *call, struct sql sql, snowflake guild_id,
                                    snowflake id)
{
    struct list roles;
    enum err e = list_app_object_ids(call->tx, sql, guild_id, id, &roles);

    for (size_t i = 0; !e && i < roles.count; i++)
        e = integration_delete_role(call, guild_id, ((const snowflake *)roles.items)[i]);
    return e;
}

enum err application_uninstall_without_change_hook(struct call *call, const struct application *a,
                                                   snowflake guild_id)
{
    struct guild_integrations_event guild = { guild_id };
    struct guild_app_installation app = { guild_id, a->id };
    snowflake id = 0;

    enum err e = delete_app_integration(call, guild_id, a->id, &id);
    if (e || !id)
        return e;
    e = remove_bot_member(call, guild_id, a->bot_id);
    if (!e)
        e = delete_and_emit_app_webhooks(call, guild_id, a->id);
    if (!e)
        e = delete_roles_of_app(call, SQL(BOT_ROLES), guild_id, a->bot_id);
    if (!e)
        e = delete_roles_of_app(call, SQL(INTEGRATION_ROLES), guild_id, id);
    if (!e)
        e = hook_guild_app_left(call, &app);
    if (!e)
        call_emit_event(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                        audience_of_guild(guild_id), &guild_integrations_event_schema, &guild);
    return e;
}

enum err application_uninstall_from_guild(struct call *call, snowflake application_id,
                                          snowflake guild_id)
{
    struct application a;

    enum err e = application_find_including_removed(call->tx, application_id, &a);
    if (!e)
        e = hook_guild_app_changing(call,
                                    &(struct guild_app_installation){ guild_id, application_id });
    return e ? e : application_uninstall_without_change_hook(call, &a, guild_id);
}

/* --- removing only the bot of an app ------------------------------------------------- */

static const char INTEGRATION_OF_BOT[] =
    "select i.id, i.application_id, i.scopes from integrations i "
    "join applications a on a.id = i.application_id "
    "where i.guild_id = $1 and a.bot_id = $2 and i.type = 'service'";
static const char SAVE_SCOPES[] = "update integrations set scopes = $2 where id = $1";

static struct list copy_scopes_without_bot(struct arena *arena, const struct list *scopes)
{
    const struct str *before = scopes->items;
    struct list left = { 0 };

    for (size_t i = 0; i < scopes->count; i++)
        if (!str_is(before[i], "bot"))
            *(struct str *)list_append(arena, &left, sizeof *before) = before[i];
    return left;
}

static enum err write_remaining_integration_scopes(struct call *call, const struct integration *i)
{
    struct str scopes = json_column_encode(call->arena, &type_texts, &i->scopes.value);

    integration_emit_change(call, EVENT_INTEGRATION_UPDATE, i);
    return tx_exec(call->tx, SAVE_SCOPES, BIND(v_id(i->id), v_text(scopes)), NULL);
}

/* The integration of a bot, and the scopes that it has without `bot`. */
struct bot_integration {
    snowflake id,
        application_id; /* ids of the integration and its app; 0 if the bot has no integration */
    struct list left;
};

static enum err read_bot_integration(struct call *call, snowflake guild_id, snowflake bot_id,
                                     struct bot_integration *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(call->tx, INTEGRATION_OF_BOT, BIND(v_id(guild_id), v_id(bot_id)), &row, &found);

    *ret = (struct bot_integration){ 0 };
    if (e || !found)
        return e;
    struct list scopes = json_column_decode_list(call->arena, &type_texts, row_text(&row, 2));
    *ret = (struct bot_integration){ row_id(&row, 0), row_id(&row, 1),
                                     copy_scopes_without_bot(call->arena, &scopes) };
    return OK;
}

enum err application_uninstall_before_bot_leaves(struct call *call,
                                                 const struct member_leaving_guild *leave)
{
    struct bot_integration b;

    if (leave->user->bot.given != GIVEN)
        return OK;
    enum err e = read_bot_integration(call, leave->guild_id, leave->user->id, &b);
    *leave->done = !e && b.id && !b.left.count;
    return *leave->done ? application_uninstall_from_guild(call, b.application_id, leave->guild_id)
                        : e;
}

enum err application_remove_bot_scope_after_leave(struct call *call,
                                                  const struct member_leaving_guild *leave)
{
    snowflake guild_id = leave->guild_id, bot_id = leave->user->id;
    struct application a;
    struct bot_integration b;

    if (leave->user->bot.given != GIVEN)
        return OK;
    enum err e = read_bot_integration(call, guild_id, bot_id, &b);
    if (e || !b.id)
        return e;
    e = application_find_including_removed(call->tx, b.application_id, &a);
    if (e)
        return e;
    struct integration i = integration_from_application(call->arena, &a, guild_id, b.id);
    i.scopes = (struct opt_list){ GIVEN, b.left };
    e = write_remaining_integration_scopes(call, &i);
    return e ? e : delete_roles_of_app(call, SQL(BOT_ROLES), guild_id, bot_id);
}
