/* uninstall.c - removes an app with its bot, roles and webhooks, or only its bot, from a guild. */
#include "platform/applications/internal.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/webhooks/webhooks.h"

static enum err uninstall_gather(struct tx *tx, struct sql sql, snowflake guild_id, snowflake id,
                                 struct list *ret)
{
    return tx_ids(tx, sql, BIND(v_id(guild_id), v_id(id)), ret);
}

static const char CHANNELS_WITH_WEBHOOKS[] =
    "select distinct channel_id from webhooks where guild_id = $1 and application_id = $2";
static const char DELETE_WEBHOOKS[] =
    "delete from webhooks where guild_id = $1 and application_id = $2 returning id, avatar";

struct gone_webhook {
    snowflake id;
    struct opt_str avatar;
};

static enum err delete_webhooks(struct call *call, snowflake guild_id, snowflake application_id)
{
    struct list gone = { 0 };
    struct rows rows;
    enum err e =
        tx_query(call->tx, DELETE_WEBHOOKS, BIND(v_id(guild_id), v_id(application_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct gone_webhook *w = list_add(call->arena, &gone, sizeof *w);

        *w = (struct gone_webhook){ row_id(&rows, 0), row_opt_text(&rows, 1) };
    }
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < gone.count; i++) {
        const struct gone_webhook *w = (const struct gone_webhook *)gone.items + i;

        e = picture_drop(call, "avatars", w->id, &w->avatar);
    }
    return e;
}

static enum err remove_webhooks(struct call *call, snowflake guild_id, snowflake application_id)
{
    struct list channels;
    enum err e = uninstall_gather(call->tx, SQL(CHANNELS_WITH_WEBHOOKS), guild_id, application_id,
                                  &channels);

    for (size_t i = 0; i < channels.count && !e; i++)
        webhooks_announce(call, guild_id, ((const snowflake *)channels.items)[i]);
    if (e || !channels.count)
        return e;
    return delete_webhooks(call, guild_id, application_id);
}

static const char BOT_ROLES[] =
    "select id from roles where guild_id = $1 and bot_id = $2 and managed = 1";
static const char INTEGRATION_ROLES[] =
    "select id from roles where guild_id = $1 and integration_id = $2 and managed = 1";

enum err integration_drop_role(struct call *call, snowflake guild_id, snowflake role_id)
{
    struct role role;

    enum err e = role_find(call->tx, guild_id, role_id, &role);
    if (e == ERR_UNKNOWN_ROLE)
        return OK;
    if (!e)
        e = role_delete(call, &role);
    return e ? e : role_announce_gone(call, &role);
}

static enum err remove_bot(struct call *call, snowflake guild_id, snowflake bot_id)
{
    struct member member;
    enum err e = member_find(call->tx, guild_id, bot_id, &member);

    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    return member_leave(call, guild_id, bot_id);
}

static const char FIND_INTEGRATION[] = "select id from integrations where guild_id = $1 and "
                                       "application_id = $2 and type = 'service'";
static const char DELETE_INTEGRATION[] = "delete from integrations where id = $1";

void integration_announce_gone(struct call *call, snowflake guild_id, snowflake id,
                               snowflake application_id)
{
    struct integrations_ref guild = { guild_id };
    struct integration_gone gone = { .id = id, .guild_id = { GIVEN, guild_id } };
    struct subject managers = to_entitled(guild_id, 0, PERMISSION(MANAGE_GUILD));

    if (application_id)
        gone.application_id = (struct opt_id){ GIVEN, application_id };
    call_emit(call, EVENT_GUILD_INTEGRATIONS_UPDATE, managers, &integrations_ref_schema, &guild);
    call_emit(call, EVENT_INTEGRATION_DELETE, managers, &integration_gone_schema, &gone);
}

/* *ret is the integration's id, or 0. Emits INTEGRATION_DELETE before the bot's leave events. */
static enum err remove_integration(struct call *call, snowflake guild_id, snowflake application_id,
                                   snowflake *ret)
{
    struct rows row;
    bool found;

    enum err e = tx_one(call->tx, FIND_INTEGRATION, BIND(v_id(guild_id), v_id(application_id)),
                        &row, &found);
    *ret = e || !found ? 0 : row_id(&row, 0);
    if (!*ret)
        return e;
    integration_announce_gone(call, guild_id, *ret, application_id);
    return tx_exec(call->tx, DELETE_INTEGRATION, BIND(v_id(*ret)), NULL);
}

static enum err remove_roles(struct call *call, struct sql sql, snowflake guild_id, snowflake id)
{
    struct list roles;
    enum err e = uninstall_gather(call->tx, sql, guild_id, id, &roles);

    for (size_t i = 0; !e && i < roles.count; i++)
        e = integration_drop_role(call, guild_id, ((const snowflake *)roles.items)[i]);
    return e;
}

enum err application_leave_guild(struct call *call, const struct application *a, snowflake guild_id)
{
    struct integrations_ref guild = { guild_id };
    struct guild_app app = { guild_id, a->id };
    snowflake id = 0;

    enum err e = remove_integration(call, guild_id, a->id, &id);
    if (e || !id)
        return e;
    e = remove_bot(call, guild_id, a->bot_id);
    if (!e)
        e = remove_webhooks(call, guild_id, a->id);
    if (!e)
        e = remove_roles(call, SQL(BOT_ROLES), guild_id, a->bot_id);
    if (!e)
        e = remove_roles(call, SQL(INTEGRATION_ROLES), guild_id, id);
    if (!e)
        e = hook_guild_app_gone(call, &app);
    if (!e)
        call_emit(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE, to_guild(guild_id),
                  &integrations_ref_schema, &guild);
    return e;
}

enum err application_uninstall_guild(struct call *call, snowflake application_id,
                                     snowflake guild_id)
{
    struct application a;

    enum err e = application_find_any(call->tx, application_id, &a);
    if (!e)
        e = hook_guild_app_moves(call, &(struct guild_app){ guild_id, application_id });
    return e ? e : application_leave_guild(call, &a, guild_id);
}

/* --- bot only --------------------------------------------------------------------------- */

static const char INTEGRATION_OF_BOT[] =
    "select i.id, i.application_id, i.scopes from integrations i "
    "join applications a on a.id = i.application_id "
    "where i.guild_id = $1 and a.bot_id = $2 and i.type = 'service'";
static const char SAVE_SCOPES[] = "update integrations set scopes = $2 where id = $1";

static struct list without_bot(struct arena *arena, const struct list *scopes)
{
    const struct str *before = scopes->items;
    struct list left = { 0 };

    for (size_t i = 0; i < scopes->count; i++)
        if (!str_is(before[i], "bot"))
            *(struct str *)list_add(arena, &left, sizeof *before) = before[i];
    return left;
}

static enum err save_scopes(struct call *call, const struct integration *i)
{
    struct str scopes = column_encode(call->arena, &type_texts, &i->scopes.value);

    integration_announce(call, EVENT_INTEGRATION_UPDATE, i);
    return tx_exec(call->tx, SAVE_SCOPES, BIND(v_id(i->id), v_text(scopes)), NULL);
}

/* The integration of a bot, and the scopes that remain without the scope `bot`. */
struct belonging {
    snowflake id, application_id; /* 0: no such integration */
    struct list left;
};

static enum err belonging_find(struct call *call, snowflake guild_id, snowflake bot_id,
                               struct belonging *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(call->tx, INTEGRATION_OF_BOT, BIND(v_id(guild_id), v_id(bot_id)), &row, &found);

    *ret = (struct belonging){ 0 };
    if (e || !found)
        return e;
    struct list scopes = column_list(call->arena, &type_texts, row_text(&row, 2));
    *ret =
        (struct belonging){ row_id(&row, 0), row_id(&row, 1), without_bot(call->arena, &scopes) };
    return OK;
}

enum err application_goes_with_bot(struct call *call, const struct member_leave *leave)
{
    struct belonging b;

    if (leave->user->bot.given != GIVEN)
        return OK;
    enum err e = belonging_find(call, leave->guild_id, leave->user->id, &b);
    *leave->done = !e && b.id && !b.left.count;
    return *leave->done ? application_uninstall_guild(call, b.application_id, leave->guild_id) : e;
}

enum err application_bot_left(struct call *call, const struct member_leave *leave)
{
    snowflake guild_id = leave->guild_id, bot_id = leave->user->id;
    struct application a;
    struct belonging b;

    if (leave->user->bot.given != GIVEN)
        return OK;
    enum err e = belonging_find(call, guild_id, bot_id, &b);
    if (e || !b.id)
        return e;
    e = application_find_any(call->tx, b.application_id, &a);
    if (e)
        return e;
    struct integration i = integration_of_application(call->arena, &a, guild_id, b.id);
    i.scopes = (struct opt_list){ GIVEN, b.left };
    e = save_scopes(call, &i);
    return e ? e : remove_roles(call, SQL(BOT_ROLES), guild_id, bot_id);
}
