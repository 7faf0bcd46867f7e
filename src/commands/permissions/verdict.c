/* verdict.c - command_judge: decides who may use a command, from plain data.
 *
 * Indexes and invocations both call it, so a member sees exactly the commands that it can use.
 * Discord's order of stages: installation and context, access to the channel, rows of the channel,
 * rows of the user and its roles, default_member_permissions. In each stage rows of the command
 * override rows of the application. */
#include "commands/commands.h"

enum answer { SILENT, YES, NO };

static enum answer row_for(const struct list *rows, snowflake id, enum command_permission_type type)
{
    const struct command_permission *p = rows->items;

    for (size_t i = 0; i < rows->count; i++)
        if (p[i].id == id && p[i].type == type)
            return p[i].permission ? YES : NO;
    return SILENT;
}

static bool holds_role(const struct command_question *q, snowflake id)
{
    for (size_t i = 0; i < q->role_count; i++)
        if (q->roles[i] == id)
            return true;
    return false;
}

/* Combines the rows of the user's roles: one role that allows is enough. */
static enum answer rows_for_roles(const struct list *rows, const struct command_question *q)
{
    const struct command_permission *p = rows->items;
    enum answer answer = SILENT;

    for (size_t i = 0; i < rows->count && answer != YES; i++)
        if (p[i].type == COMMAND_PERMISSION_ROLE && p[i].id != q->guild_id &&
            holds_role(q, p[i].id))
            answer = p[i].permission ? YES : NO;
    return answer;
}

static enum answer for_channel(const struct list *rows, const struct command_question *q)
{
    enum answer answer = row_for(rows, q->channel_id, COMMAND_PERMISSION_CHANNEL);

    return answer ? answer : row_for(rows, q->guild_id - 1, COMMAND_PERMISSION_CHANNEL);
}

static enum answer for_person(const struct list *rows, const struct command_question *q)
{
    enum answer answer = row_for(rows, q->user_id, COMMAND_PERMISSION_USER);

    if (!answer)
        answer = rows_for_roles(rows, q);
    return answer ? answer : row_for(rows, q->guild_id, COMMAND_PERMISSION_ROLE);
}

/* --- installation and context --------------------------------------------------------- */

unsigned command_ways(const struct command_question *q)
{
    unsigned ways = q->installed & q->integration_types;

    if (!(q->contexts & q->places))
        return 0;
    /* Private channels need INSTALL_USER; an app that is in a group DM serves all its members. */
    if (q->in_group && q->integration_types >> INSTALL_USER & 1)
        ways |= 1u << INSTALL_GUILD;
    return ways;
}

static bool comes_here(const struct command_question *q)
{
    return command_ways(q) && (!q->entry_point || q->launchable);
}

/* --- access to the channel ------------------------------------------------------------ */

/* Returns true if the user has access to the channel. User-installed commands do not need
 * SEND_MESSAGES: without it, only the user sees the reply. */
static bool has_access(const struct command_question *q)
{
    uint64_t needs = PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_APPLICATION_COMMANDS);

    if (command_ways(q) >> INSTALL_GUILD & 1)
        needs |= q->thread ? PERMISSION(SEND_MESSAGES_IN_THREADS) : PERMISSION(SEND_MESSAGES);
    return q->administrator || (!q->timed_out && (q->rights & needs) == needs);
}

/* --- user, roles, defaults ------------------------------------------------------------ */

static bool default_allows(const struct command_question *q)
{
    const struct opt_id *needs = &q->default_member_permissions;

    if (needs->given != GIVEN)
        return true;
    return needs->value && (q->rights & needs->value) == needs->value;
}

/* Checks user rows, role rows and defaults. A row of the command overrides the default permissions;
 * a row of the application does not. */
enum command_verdict command_judge_person(const struct command_question *q)
{
    if (q->administrator)
        return COMMAND_ALLOWED;
    enum answer answer = for_person(&q->of_command, q);
    if (answer == YES)
        return COMMAND_ALLOWED;
    if (!answer)
        answer = for_person(&q->of_application, q);
    if (answer == NO)
        return COMMAND_USER_DENIED;
    return default_allows(q) ? COMMAND_ALLOWED : COMMAND_DEFAULT_DENIED;
}

enum command_verdict command_judge(const struct command_question *q)
{
    if (!comes_here(q))
        return COMMAND_NOT_HERE;
    if (q->nsfw && !q->nsfw_allowed)
        return COMMAND_NOT_OF_AGE;
    if (!q->guild_id)
        return COMMAND_ALLOWED;
    if (q->archived || !has_access(q))
        return COMMAND_NO_ACCESS;
    if (q->administrator)
        return COMMAND_ALLOWED;
    enum answer answer = for_channel(&q->of_command, q);
    if (!answer)
        answer = for_channel(&q->of_application, q);
    return answer == NO ? COMMAND_CHANNEL_DENIED : command_judge_person(q);
}

void command_ask_of(struct command_question *q, const struct standing *s)
{
    q->guild_id = s->guild_id;
    q->user_id = s->user_id;
    q->roles = s->rights_of.roles;
    q->role_count = s->rights_of.role_count;
    q->administrator = (s->rights_of.owner || s->rights_of.base & PERMISSION(ADMINISTRATOR)) &&
                       !(s->withheld & PERMISSION(ADMINISTRATOR));
    q->timed_out = rights_are_restrained(&s->rights_of);
}
