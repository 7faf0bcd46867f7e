/* evaluate.c - evaluate_command_permission: decides from plain data who may use a command. Indexes
 * and invocations both call it, so a member sees exactly the commands that he can use. The checks
 * run in Discord's order: installation and context, access to the channel, permission rows of the
 * channel, of the user and of the roles, default_member_permissions. In each check, permission rows
 * of the command override those of the application. */
#include "commands/commands.h"

enum permission_row_result { ROW_ABSENT, ROW_ALLOWS, ROW_DENIES };

static enum permission_row_result find_permission_row_result(const struct list *rows, snowflake id,
                                                             enum command_permission_type type)
{
    const struct command_permission *p = rows->items;

    for (size_t i = 0; i < rows->count; i++)
        if (p[i].id == id && p[i].type == type)
            return p[i].permission ? ROW_ALLOWS : ROW_DENIES;
    return ROW_ABSENT;
}

static bool user_has_role(const struct command_permission_input *q, snowflake id)
{
    for (size_t i = 0; i < q->role_count; i++)
        if (q->roles[i] == id)
            return true;
    return false;
}

/* Combines the permission rows of the user's roles. One role that allows the command is enough. */
static enum permission_row_result evaluate_role_rows(const struct list *rows,
                                                     const struct command_permission_input *q)
{
    const struct command_permission *p = rows->items;
    enum permission_row_result result = ROW_ABSENT;

    for (size_t i = 0; i < rows->count && result != ROW_ALLOWS; i++)
        if (p[i].type == COMMAND_PERMISSION_ROLE && p[i].id != q->guild_id &&
            user_has_role(q, p[i].id))
            result = p[i].permission ? ROW_ALLOWS : ROW_DENIES;
    return result;
}

static enum permission_row_result evaluate_channel_rows(const struct list *rows,
                                                        const struct command_permission_input *q)
{
    enum permission_row_result result =
        find_permission_row_result(rows, q->channel_id, COMMAND_PERMISSION_CHANNEL);

    return result ? result
                  : find_permission_row_result(rows, q->guild_id - 1, COMMAND_PERMISSION_CHANNEL);
}

static enum permission_row_result evaluate_user_rows(const struct list *rows,
                                                     const struct command_permission_input *q)
{
    enum permission_row_result result =
        find_permission_row_result(rows, q->user_id, COMMAND_PERMISSION_USER);

    if (!result)
        result = evaluate_role_rows(rows, q);
    return result ? result : find_permission_row_result(rows, q->guild_id, COMMAND_PERMISSION_ROLE);
}

/* --- installation and context --------------------------------------------------------- */

unsigned command_get_usable_install_types(const struct command_permission_input *q)
{
    unsigned install_types = q->installed & q->integration_types;

    if (!(q->contexts & q->contexts_to_check))
        return 0;
    /* A command in a private channel must support INSTALL_USER. An app in a group DM is available
     * to all recipients. */
    if (q->in_group && q->integration_types >> INSTALL_USER & 1)
        install_types |= 1u << INSTALL_GUILD;
    return install_types;
}

static bool command_is_available_in_context(const struct command_permission_input *q)
{
    return command_get_usable_install_types(q) && (!q->entry_point || q->launchable);
}

/* --- access to the channel ------------------------------------------------------------ */

/* Returns whether the user has access to the channel. User-installed commands do not need
 * SEND_MESSAGES: without it, only the user sees the response. */
static bool has_channel_access(const struct command_permission_input *q)
{
    uint64_t needs = PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_APPLICATION_COMMANDS);

    if (command_get_usable_install_types(q) >> INSTALL_GUILD & 1)
        needs |= q->thread ? PERMISSION(SEND_MESSAGES_IN_THREADS) : PERMISSION(SEND_MESSAGES);
    return q->administrator || (!q->timed_out && (q->user_permissions & needs) == needs);
}

/* --- user, roles, defaults ------------------------------------------------------------ */

static bool default_permissions_allow_user(const struct command_permission_input *q)
{
    const struct opt_id *needs = &q->default_member_permissions;

    if (needs->given != GIVEN)
        return true;
    return needs->value && (q->user_permissions & needs->value) == needs->value;
}

/* Checks the permission rows of the user and of his roles, then the default permissions. A
 * permission row of the command overrides the default permissions; a permission row of the whole
 * application does not. */
enum command_permission_result evaluate_command_user_permission(
    const struct command_permission_input *q)
{
    if (q->administrator)
        return COMMAND_ALLOWED;
    enum permission_row_result result = evaluate_user_rows(&q->of_command, q);
    if (result == ROW_ALLOWS)
        return COMMAND_ALLOWED;
    if (!result)
        result = evaluate_user_rows(&q->of_application, q);
    if (result == ROW_DENIES)
        return COMMAND_USER_DENIED;
    return default_permissions_allow_user(q) ? COMMAND_ALLOWED : COMMAND_DEFAULT_DENIED;
}

enum command_permission_result evaluate_command_permission(const struct command_permission_input *q)
{
    if (!command_is_available_in_context(q))
        return COMMAND_NOT_HERE;
    if (q->nsfw && !q->nsfw_allowed)
        return COMMAND_NOT_OF_AGE;
    if (!q->guild_id)
        return COMMAND_ALLOWED;
    if (q->archived || !has_channel_access(q))
        return COMMAND_NO_ACCESS;
    if (q->administrator)
        return COMMAND_ALLOWED;
    enum permission_row_result result = evaluate_channel_rows(&q->of_command, q);
    if (!result)
        result = evaluate_channel_rows(&q->of_application, q);
    return result == ROW_DENIES ? COMMAND_CHANNEL_DENIED : evaluate_command_user_permission(q);
}

void command_permission_input_set_member(struct command_permission_input *q,
                                         const struct member_access *s)
{
    q->guild_id = s->guild_id;
    q->user_id = s->user_id;
    q->roles = s->input.roles;
    q->role_count = s->input.role_count;
    q->administrator = (s->input.owner || s->input.base & PERMISSION(ADMINISTRATOR)) &&
                       !(s->withheld & PERMISSION(ADMINISTRATOR));
    q->timed_out = member_is_restricted(&s->input);
}
