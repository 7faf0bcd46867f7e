/* spread.c - telling others that an account looks different now. */
#include "platform/accounts/internal.h"
#include "platform/friends.h"
#include "platform/members/members.h"
#include "platform/presence.h"

static const char GUILDS_OF[] = "select guild_id from members where user_id = $1 order by guild_id";

static enum err guilds_of(struct tx *tx, snowflake user_id, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, GUILDS_OF, BIND(v_id(user_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        *(snowflake *)list_add(tx_arena(tx), ret, sizeof(snowflake)) = row_id(&rows, 0);
    return rows_end(&rows);
}

static enum err tell_guilds(struct call *call, const struct user *user)
{
    struct list guilds = { 0 };
    enum err e = guilds_of(call->tx, user->id, &guilds);

    for (size_t i = 0; !e && i < guilds.count; i++) {
        snowflake guild_id = ((snowflake *)guilds.items)[i];
        struct member m;

        e = member_find(call->tx, guild_id, user->id, &m);
        m.user = user;
        if (!e)
            call_emit(call, EVENT_GUILD_MEMBER_UPDATE, to_guild(guild_id), &guild_member_schema,
                      &m);
    }
    return e;
}

static enum err tell_friends(struct call *call, const struct user *user)
{
    struct list friends;
    enum err e = friends_of(call->tx, user->id, &friends);

    for (size_t i = 0; !e && i < friends.count; i++)
        presence_show(call, ((snowflake *)friends.items)[i], user);
    return e;
}

static bool opt_str_eq(struct opt_str a, struct opt_str b)
{
    return (a.given == GIVEN) == (b.given == GIVEN) &&
           (a.given != GIVEN || str_eq(a.value, b.value));
}

enum err account_spread(struct call *call, const struct user *before, const struct user *after)
{
    if (str_eq(before->username, after->username) &&
        opt_str_eq(before->global_name, after->global_name) &&
        opt_str_eq(before->avatar, after->avatar))
        return OK;
    enum err e = tell_guilds(call, after);
    return e ? e : tell_friends(call, after);
}
