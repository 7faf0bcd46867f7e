/* delete.c - the end of an application, and of all that depends on it. */
#include "platform/applications/internal.h"

#include "model/ids.h"

/* Ids that a query names, taken whole: what follows writes the same tables. */
static enum err gather(struct tx *tx, const char *sql, snowflake id, struct list *ret)
{
    return tx_ids(tx, sql, BIND(v_id(id)), ret);
}

static const char GUILDS_WITH[] =
    "select guild_id from integrations where application_id = $1 order by guild_id";

static enum err leave_guilds(struct call *call, const struct application *a)
{
    struct list guilds;
    enum err e = gather(call->tx, GUILDS_WITH, a->id, &guilds);

    for (size_t i = 0; i < guilds.count && !e; i++)
        e = application_uninstall_guild(call, a->id, ((snowflake *)guilds.items)[i]);
    return e;
}

static const char USERS_WITH[] =
    "select user_id from authorizations where application_id = $1 order by user_id";

static enum err leave_users(struct call *call, const struct application *a)
{
    struct application_ref gone = { a->id };
    struct list users;
    enum err e = gather(call->tx, USERS_WITH, a->id, &users);

    for (size_t i = 0; i < users.count && !e; i++)
        call_emit(call, EVENT_USER_APPLICATION_REMOVE, to_user(((snowflake *)users.items)[i]),
                  &application_ref_schema, &gone);
    return e;
}

static const char TOKEN_HOLDERS[] = "select distinct user_id from tokens where application_id = $1";
static const char END_TOKENS[] = "delete from tokens where application_id = $1";

static enum err end_tokens(struct call *call, const struct application *a)
{
    struct list holders;
    enum err e = gather(call->tx, TOKEN_HOLDERS, a->id, &holders);

    for (size_t i = 0; i < holders.count && !e; i++)
        call_forget_grants(call, ((snowflake *)holders.items)[i]);
    call_forget_account(call, a->bot_id);
    return e ? e : tx_exec(call->tx, END_TOKENS, BIND(v_id(a->id)), NULL);
}

/* POST /applications/{application.id}/delete */
enum err delete_application(struct call *call)
{
    const struct application *a = call->target.application;
    enum err e = leave_guilds(call, a);

    if (!e)
        e = leave_users(call, a);
    if (!e)
        e = hook_application_ending(call, a);
    if (!e)
        e = end_tokens(call, a);
    if (!e)
        e = bot_disable(call->tx, a->bot_id);
    if (!e)
        e = picture_drop(call, "app-icons", a->id, &a->icon);
    return e ? e : application_delete_row(call->tx, a->id);
}
