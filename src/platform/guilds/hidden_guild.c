/* hidden_guild.c - creates a guild in several transactions. The guild is hidden until it is
 * complete: it is marked like a guild that is being deleted, so queries ignore it. The deletion job
 * is scheduled with a delay and deletes the guild, also after a crash, unless
 * guild_show_hidden_guild cancels the job. */
#include "api/hooks.h"
#include "base/clock.h"
#include "platform/guilds/internal.h"
#include "platform/guilds/deletion.h"

#define CREATION_TIMEOUT_US \
    (INT64_C(10) * 60 * 1000 * 1000) /* longer than any client waits for the reply */

enum err guild_insert_hidden(struct call *call, const struct guild *g, const struct role *roles,
                             size_t count)
{
    enum err e = guild_insert(call->tx, g);

    if (!e)
        e = guild_set_hidden_from_users(call->tx, g->id, true);
    for (size_t i = 0; !e && i < count; i++)
        e = role_insert(call->tx, &roles[i]);
    return e ? e
             : job_schedule(call, &guild_deletion_job, g->id, clock_us() + CREATION_TIMEOUT_US,
                            STR(""));
}

enum err guild_find_being_created(struct tx *tx, snowflake id, struct guild *ret)
{
    enum err e = guild_find_hidden_from_users(tx, id, ret);

    if (!e)
        e = guild_read_roles(tx, ret);
    return e == ERR_UNKNOWN_GUILD ? ERR_UNAVAILABLE : e;
}

enum err guild_show_hidden_guild(struct call *call, const struct guild *g)
{
    struct created_guild made = { .guild = g };
    struct guild held;
    enum err e = guild_find_being_created(call->tx, g->id, &held);

    if (!e)
        e = job_cancel(call, &guild_deletion_job, g->id);
    if (!e)
        e = guild_set_hidden_from_users(call->tx, g->id, false);
    if (!e)
        e = guild_update(call->tx, g);
    return e ? e : hook_guild_created(call, &made);
}
