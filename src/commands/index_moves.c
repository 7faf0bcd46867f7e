/* index_moves.c - what changes elsewhere mean for commands. */
#include "commands/index_moves.h"
#include "model/ids.h"

static const char MOVE_INDEX[] = "insert into command_indexes (id, version) values ($1, $2) "
                                 "on conflict (id) do update set version = excluded.version";

enum err command_index_move(struct tx *tx, snowflake id)
{
    return tx_exec(tx, MOVE_INDEX, BIND(v_id(id), v_id(snowflake_new())), NULL);
}

enum err command_index_moved(struct call *call, snowflake id)
{
    return command_index_move(call->tx, id);
}

/* --- direct channels with bots -------------------------------------------------------- */

/* r: who talks to the bot of a. $2 is the new version. */
#define MOVE_DIRECT(which_)                                                               \
    "insert into command_indexes (id, version) select distinct c.id, cast($2 as bigint) " \
    "from recipients r join channels c on c.id = r.channel_id "                           \
    "join recipients b on b.channel_id = r.channel_id and b.user_id <> r.user_id "        \
    "join applications a on a.bot_id = b.user_id where c.type = 1 and " which_            \
    " on conflict (id) do update set version = excluded.version"

/* From the guilds of somebody, which are few; those of an app may be many. */
#define HAS_IN_GUILDS(and_)                                                                  \
    "exists (select 1 from members m cross join integrations i where m.user_id = r.user_id " \
    "and i.guild_id = m.guild_id and i.application_id = a.id and i.type = 'service' "        \
    "and " INTEGRATION_HAS_COMMANDS("i") and_ ")"
/* $1, and nowhere else. */
#define HAS_IN_THIS_GUILD                 \
    HAS_IN_GUILDS(" and i.guild_id = $1") \
    " and not " HAS_IN_GUILDS(" and i.guild_id <> $1")

static const char MOVE_OF_ACCOUNT[] = MOVE_DIRECT("r.user_id = $1 and a.id = $3");
static const char MOVE_OF_MEMBER[] = MOVE_DIRECT("r.user_id = $3 and " HAS_IN_THIS_GUILD);
static const char MOVE_OF_APPLICATION[] = MOVE_DIRECT("a.id = $3 and " HAS_IN_THIS_GUILD);

enum err command_index_account(struct call *call, const struct account_app *a)
{
    enum err e =
        tx_exec(call->tx, MOVE_OF_ACCOUNT,
                BIND(v_id(a->user_id), v_id(snowflake_new()), v_id(a->application_id)), NULL);

    return e ? e : command_index_move(call->tx, a->user_id);
}

static const char IS_BOT[] = "select 1 from applications where bot_id = $1";

/* Bots talk to many, and have nothing from each other. */
enum err command_index_member(struct call *call, const struct member *m)
{
    struct rows row;
    bool bot;
    enum err e = tx_one(call->tx, IS_BOT, BIND(v_id(m->user_id)), &row, &bot);

    if (e || bot)
        return e;
    return tx_exec(call->tx, MOVE_OF_MEMBER,
                   BIND(v_id(m->guild_id), v_id(snowflake_new()), v_id(m->user_id)), NULL);
}

enum err command_index_installed(struct call *call, const struct guild_app *a)
{
    return tx_exec(call->tx, MOVE_OF_APPLICATION,
                   BIND(v_id(a->guild_id), v_id(snowflake_new()), v_id(a->application_id)), NULL);
}

static const char DIRECT_CHANNELS[] =
    "select r.closed, r.channel_id, c.type from recipients r join channels c on "
    "c.id = r.channel_id where r.user_id = $1 and (r.closed, r.channel_id) > ($2, $3) "
    "order by r.closed, r.channel_id limit $4";

enum err command_index_ending(struct call *call, const struct application_ending *ending)
{
    struct list channels = { 0 };
    struct rows rows;
    enum err e = tx_query(call->tx, DIRECT_CHANNELS,
                          BIND(v_id(ending->application->bot_id), v_int(*ending->closed),
                               v_id(*ending->channel_id), v_int(*ending->room)),
                          &rows);

    if (e)
        return e;
    for (; rows_next(&rows); --*ending->room) {
        *ending->closed = row_int(&rows, 0);
        *ending->channel_id = row_id(&rows, 1);
        if (row_int(&rows, 2) == CHANNEL_DM)
            ids_add(call->arena, &channels, *ending->channel_id);
    }
    e = rows_end(&rows);
    for (size_t i = 0; i < channels.count && !e; i++)
        e = command_index_move(call->tx, ((snowflake *)channels.items)[i]);
    return e;
}

/* --- rows whose people and places are gone -------------------------------------------- */

static const char GUILD_OF_ROWS[] = "select guild_id from command_permissions where entity_id = $1 "
                                    "and (guild_id = $2 or cast($2 as bigint) = 0) limit 1";
static const char FORGET_ENTITY[] =
    "delete from command_permissions where entity_id = $1 and guild_id = $2";

/* guild_id: 0 for ids that are in no other guild. */
static enum err permissions_forget(struct call *call, snowflake guild_id, snowflake entity_id)
{
    struct tx *tx = call->tx;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, GUILD_OF_ROWS, BIND(v_id(entity_id), v_id(guild_id)), &row, &found);

    if (e || !found)
        return e;
    guild_id = row_id(&row, 0);
    e = tx_exec(tx, FORGET_ENTITY, BIND(v_id(entity_id), v_id(guild_id)), NULL);
    return e ? e : command_index_move(call->tx, guild_id);
}

enum err command_permissions_forget_role(struct call *call, const struct role *r)
{
    return permissions_forget(call, r->guild_id, r->id);
}

enum err command_permissions_forget_channel(struct call *call, snowflake id)
{
    return permissions_forget(call, 0, id);
}

enum err command_permissions_forget_member(struct call *call, const struct member_leave *leave)
{
    return permissions_forget(call, leave->guild_id, leave->user->id);
}

static const char FORGET_TARGET[] =
    "delete from command_permissions where guild_id = $1 and target_id = $2";

enum err command_permissions_leave(struct call *call, const struct guild_app *a)
{
    enum err e =
        tx_exec(call->tx, FORGET_TARGET, BIND(v_id(a->guild_id), v_id(a->application_id)), NULL);

    return e ? e : command_index_move(call->tx, a->guild_id);
}
