/* permit.c - may this person use that command here? Gathers what the verdict needs. */
#include "commands/internal.h"

#include "platform/age.h"
#include "platform/channels/channels.h"
#include "platform/settings.h"

static const char PERMISSIONS_OF[] = "select entity_id, type, permission from command_permissions "
                                     "where guild_id = $1 and target_id = $2 order by position";

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

/* In a guild the channel says so, or a thread's parent; in a direct channel with the app
 * the person's settings. */
static enum err find_age(struct tx *tx, const struct command_invoker *who,
                         const struct channel *place, bool *ret)
{
    struct user_settings settings;

    *ret = false;
    if (!user_is_adult(who->user))
        return OK;
    if (who->standing) {
        *ret = place->nsfw.given == GIVEN && place->nsfw.value;
        return OK;
    }
    enum err e = settings_find(tx, who->user->id, &settings);
    *ret = !e && who->own_bot && settings.view_nsfw_commands.value;
    return e;
}

static void ask_of_member(struct command_question *q, const struct standing *s)
{
    q->guild_id = s->guild_id;
    q->roles = s->rights_of.roles;
    q->role_count = s->rights_of.role_count;
    q->administrator = s->rights_of.owner || s->rights_of.base & PERMISSION(ADMINISTRATOR);
    q->timed_out = s->rights_of.timed_out;
}

enum err command_permit(struct tx *tx, const struct command *k, const struct command_invoker *who,
                        enum command_verdict *ret)
{
    struct command_question q = {
        .user_id = who->user->id,
        .rights = who->rights,
        .by_user_install = who->by_user_install,
        .nsfw = k->nsfw,
        .default_member_permissions = k->default_member_permissions,
        .thread = channel_is_thread(who->channel->type),
    };
    struct channel place = *who->channel;
    enum err e = OK;

    if (who->standing)
        ask_of_member(&q, who->standing);
    if (q.thread) {
        q.archived = who->channel->thread_metadata && who->channel->thread_metadata->archived;
        e = channel_find(tx, who->channel->parent_id.value, &place);
    }
    q.channel_id = place.id;
    if (!e && q.nsfw)
        e = find_age(tx, who, &place, &q.nsfw_allowed);
    if (!e && q.guild_id)
        e = permissions_of(tx, q.guild_id, k->id, &q.of_command);
    if (!e && q.guild_id)
        e = permissions_of(tx, q.guild_id, k->application_id, &q.of_application);
    if (!e)
        *ret = command_judge(&q);
    return e;
}
