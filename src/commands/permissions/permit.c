/* permit.c - command_permit: reads what command_judge needs for one invocation. */
#include "commands/permissions/permission_drops.h"
#include "platform/accounts/age.h"
#include "platform/channels/channels.h"

static const char PERMISSIONS_OF[] =
    "select p.entity_id, p.type, p.permission from command_permissions p "
    "where p.guild_id = $1 and p.target_id = $2 and " PERMISSION_STANDS " order by p.position";

enum err permissions_of(struct tx *tx, snowflake guild_id, snowflake target_id, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, PERMISSIONS_OF, BIND(v_id(guild_id), v_id(target_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct command_permission *)list_add(tx_arena(tx), ret,
                                               sizeof(struct command_permission)) =
            (struct command_permission){ row_id(&rows, 0), row_int(&rows, 1), row_bool(&rows, 2) };
    return rows_end(&rows);
}

/* *ret: age-restricted commands are allowed. In a guild the channel (or the thread's parent)
 * decides, in a direct channel with the app the user's settings. */
static enum err find_age(struct tx *tx, const struct command_invoker *who,
                         const struct channel *place, bool *ret)
{
    *ret = false;
    if (!user_is_adult(who->user))
        return OK;
    if (who->standing) {
        *ret = place->nsfw.given == GIVEN && place->nsfw.value;
        return OK;
    }
    return who->context == CONTEXT_BOT_DM ? wants_adult_commands(tx, who->user->id, ret) : OK;
}

static struct command_question question_of(const struct command *k,
                                           const struct command_invoker *who)
{
    return (struct command_question){
        .contexts = command_contexts(k),
        .integration_types = command_integration_types(k),
        .entry_point = k->type == COMMAND_ENTRY_POINT,
        .nsfw = k->nsfw,
        .default_member_permissions = k->default_member_permissions,
        .places = 1u << who->context,
        .launchable = who->application->flags & APPLICATION_EMBEDDED,
        .thread = channel_is_thread(who->channel->type),
        .user_id = who->user->id,
        .rights = who->rights,
    };
}

/* Reads where the app is installed for the user, among the types that the command supports. */
static enum err find_installed(struct tx *tx, const struct command_invoker *who,
                               struct command_question *q)
{
    snowflake app = who->application->id, user = who->user->id;
    bool for_guilds = q->integration_types >> INSTALL_GUILD & 1;
    bool for_accounts = q->integration_types >> INSTALL_USER & 1;
    enum err e = OK;

    if (for_guilds && who->context == CONTEXT_GUILD)
        e = installed_in_guild(tx, app, who->standing->guild_id, &q->installed);
    else if (for_guilds && who->context == CONTEXT_BOT_DM)
        e = installed_in_guilds_of(tx, app, user, &q->installed);
    if (!e && for_accounts)
        e = installed_on_account(tx, app, user, &q->installed);
    if (!e && for_accounts && who->channel->type == CHANNEL_GROUP)
        e = installed_in_group(tx, app, who->channel->id, &q->in_group);
    return e;
}

static enum err find_rows(struct tx *tx, const struct command *k, struct command_question *q)
{
    enum err e = permissions_of(tx, q->guild_id, k->id, &q->of_command);

    return e ? e : permissions_of(tx, q->guild_id, k->application_id, &q->of_application);
}

enum err command_permit(struct tx *tx, const struct command *k, const struct command_invoker *who,
                        enum command_verdict *ret, unsigned *ret_ways)
{
    struct command_question q = question_of(k, who);
    struct channel place = *who->channel;
    enum err e = find_installed(tx, who, &q);

    if (who->standing)
        command_ask_of(&q, who->standing);
    if (!e && q.thread) {
        q.archived = who->channel->thread_metadata && who->channel->thread_metadata->archived;
        e = channel_find(tx, who->channel->parent_id.value, &place);
    }
    q.channel_id = place.id;
    if (!e && q.nsfw)
        e = find_age(tx, who, &place, &q.nsfw_allowed);
    if (!e && q.guild_id)
        e = find_rows(tx, k, &q);
    if (e)
        return e;
    *ret = command_judge(&q);
    *ret_ways = command_ways(&q);
    return OK;
}
