/* check_permission.c - check_command_permission: reads the data for evaluate_command_permission. */
#include "commands/permissions/permission_deletion.h"
#include "model/fields/rows.h"
#include "platform/accounts/age.h"
#include "platform/channels/channels.h"

static const char PERMISSIONS_OF[] =
    "select p.entity_id, p.type, p.permission from command_permissions p "
    "where p.guild_id = $1 and p.target_id = $2 and " PERMISSION_NOT_DELETED " order by p.position";

static void permission_from_row(const struct rows *r, void *ret)
{
    *(struct command_permission *)ret =
        (struct command_permission){ row_id(r, 0), row_int(r, 1), row_bool(r, 2) };
}

enum err read_command_permissions(struct tx *tx, snowflake guild_id, snowflake target_id,
                                  struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, PERMISSIONS_OF, BIND(v_id(guild_id), v_id(target_id)),
                        sizeof(struct command_permission), permission_from_row, ret);
}

/* Reads whether age-restricted commands are allowed. In a guild the channel decides (for a Discord
 * thread, its parent); in a DM with the app the user's settings decide. */
static enum err read_age_restricted_is_allowed(struct tx *tx, const struct command_invoker *invoker,
                                               const struct channel *parent, bool *ret)
{
    *ret = false;
    if (!user_is_adult(invoker->user))
        return OK;
    if (invoker->member_access) {
        *ret = parent->nsfw.given == GIVEN && parent->nsfw.value;
        return OK;
    }
    return invoker->context == CONTEXT_BOT_DM
               ? read_user_allows_age_restricted_commands(tx, invoker->user->id, ret)
               : OK;
}

static struct command_permission_input new_command_permission_check(
    const struct command *k, const struct command_invoker *invoker)
{
    return (struct command_permission_input){
        .contexts = command_get_context_bits(k),
        .integration_types = command_get_integration_type_bits(k),
        .entry_point = k->type == COMMAND_ENTRY_POINT,
        .nsfw = k->nsfw,
        .default_member_permissions = k->default_member_permissions,
        .contexts_to_check = 1u << invoker->context,
        .launchable = invoker->application->flags & APPLICATION_EMBEDDED,
        .thread = channel_is_thread(invoker->channel->type),
        .user_id = invoker->user->id,
        .user_permissions = invoker->permissions,
    };
}

/* Reads how the app is installed for the user, as far as the command supports it (bits of
 * integration_type). */
static enum err read_app_install_types(struct tx *tx, const struct command_invoker *invoker,
                                       struct command_permission_input *q)
{
    snowflake app = invoker->application->id, user = invoker->user->id;
    bool for_guilds = q->integration_types >> INSTALL_GUILD & 1;
    bool for_accounts = q->integration_types >> INSTALL_USER & 1;
    enum err e = OK;

    if (for_guilds && invoker->context == CONTEXT_GUILD)
        e = read_whether_app_is_in_guild(tx, app, invoker->member_access->guild_id, &q->installed);
    else if (for_guilds && invoker->context == CONTEXT_BOT_DM)
        e = read_whether_app_is_in_user_guilds(tx, app, user, &q->installed);
    if (!e && for_accounts)
        e = read_whether_app_is_installed_on_account(tx, app, user, &q->installed);
    if (!e && for_accounts && invoker->channel->type == CHANNEL_GROUP)
        e = read_whether_app_is_in_group(tx, app, invoker->channel->id, &q->in_group);
    return e;
}

static enum err read_permission_rows_of_command(struct tx *tx, const struct command *k,
                                                struct command_permission_input *q)
{
    enum err e = read_command_permissions(tx, q->guild_id, k->id, &q->of_command);

    return e ? e : read_command_permissions(tx, q->guild_id, k->application_id, &q->of_application);
}

enum err check_command_permission(struct tx *tx, const struct command *k,
                                  const struct command_invoker *invoker,
                                  enum command_permission_result *ret, unsigned *ret_install_types)
{
    struct command_permission_input q = new_command_permission_check(k, invoker);
    struct channel parent = *invoker->channel;
    enum err e = read_app_install_types(tx, invoker, &q);

    if (invoker->member_access)
        command_permission_input_set_member(&q, invoker->member_access);
    if (!e && q.thread) {
        q.archived =
            invoker->channel->thread_metadata && invoker->channel->thread_metadata->archived;
        e = channel_find(tx, invoker->channel->parent_id.value, &parent);
    }
    q.channel_id = parent.id;
    if (!e && q.nsfw)
        e = read_age_restricted_is_allowed(tx, invoker, &parent, &q.nsfw_allowed);
    if (!e && q.guild_id)
        e = read_permission_rows_of_command(tx, k, &q);
    if (e)
        return e;
    *ret = evaluate_command_permission(&q);
    *ret_install_types = command_get_usable_install_types(&q);
    return OK;
}
