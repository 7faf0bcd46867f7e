/* transfer.c - changes the owner of a guild, and deletes a guild; for the owner or the operator. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "platform/guilds/deletion.h"

static const char IS_BOT[] = "select u.bot from members m join users u on u.id = m.user_id "
                             "where m.guild_id = $1 and m.user_id = $2";

enum err check_new_guild_owner(struct tx *tx, const struct guild *g, snowflake user_id)
{
    struct rows row;

    if (user_id == g->owner_id)
        return ERR_ALREADY_OWNER;
    enum err e = tx_one_or(tx, IS_BOT, BIND(v_id(g->id), v_id(user_id)), ERR_UNKNOWN_MEMBER, &row);
    if (e)
        return e;
    return row_bool(&row, 0) ? ERR_OWNER_IS_BOT : OK;
}

enum err guild_transfer_ownership(struct call *call, const struct guild *g, snowflake user_id)
{
    struct guild now = *g;
    enum err e = check_new_guild_owner(call->tx, g, user_id);

    now.owner_id = user_id;
    if (!e)
        e = guild_update(call->tx, &now);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &now);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_UPDATE, audience_of_guild(now.id), &guild_schema, &now);
    return hook_guild_changed(call, &(struct guild_change){ g, &now });
}

enum err guild_delete(struct call *call, snowflake id)
{
    struct guild_delete_event gone = { id };
    enum err e = hook_guild_deleting(call, id);

    if (!e)
        e = guild_mark_deleted_and_run_deletion(call, id);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_DELETE, audience_of_guild(id), &guild_delete_event_schema,
                    &gone);
    return OK;
}
