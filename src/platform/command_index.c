/* command_index.c - what changes elsewhere mean for commands. */
#include "platform/command_index.h"

static const char MOVE_INDEX[] = "insert into command_indexes (id, version) values ($1, $2) "
                                 "on conflict (id) do update set version = excluded.version";

enum err command_index_move(struct tx *tx, snowflake id)
{
    return tx_exec(tx, MOVE_INDEX, BIND(v_id(id), v_id(snowflake_new())), NULL);
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
static const char MOVE_ALL[] = MOVE_DIRECT("a.id = $1");

enum err command_index_account(struct tx *tx, snowflake user_id, snowflake application_id)
{
    enum err e = tx_exec(tx, MOVE_OF_ACCOUNT,
                         BIND(v_id(user_id), v_id(snowflake_new()), v_id(application_id)), NULL);

    return e ? e : command_index_move(tx, user_id);
}

static const char IS_BOT[] = "select 1 from applications where bot_id = $1";

/* Bots talk to many, and have nothing from each other. */
enum err command_index_member(struct tx *tx, snowflake guild_id, snowflake user_id)
{
    struct rows row;
    bool bot;
    enum err e = tx_one(tx, IS_BOT, BIND(v_id(user_id)), &row, &bot);

    if (e || bot)
        return e;
    return tx_exec(tx, MOVE_OF_MEMBER, BIND(v_id(guild_id), v_id(snowflake_new()), v_id(user_id)),
                   NULL);
}

enum err command_index_installed(struct tx *tx, snowflake guild_id, snowflake application_id)
{
    return tx_exec(tx, MOVE_OF_APPLICATION,
                   BIND(v_id(guild_id), v_id(snowflake_new()), v_id(application_id)), NULL);
}

static const char MOVE_ACCOUNTS[] =
    "insert into command_indexes (id, version) select user_id, cast($2 as bigint) "
    "from authorizations where application_id = $1 and installed = 1 "
    "on conflict (id) do update set version = excluded.version";

enum err command_index_application_gone(struct tx *tx, snowflake application_id)
{
    struct value id = v_id(application_id), version = v_id(snowflake_new());
    enum err e = tx_exec(tx, MOVE_ALL, BIND(id, version), NULL);

    return e ? e : tx_exec(tx, MOVE_ACCOUNTS, BIND(id, version), NULL);
}

/* --- rows whose people and places are gone -------------------------------------------- */

static const char GUILD_OF_ROWS[] = "select guild_id from command_permissions where entity_id = $1 "
                                    "and (guild_id = $2 or cast($2 as bigint) = 0) limit 1";
static const char FORGET_ENTITY[] =
    "delete from command_permissions where entity_id = $1 and guild_id = $2";

enum err command_permissions_forget(struct tx *tx, snowflake guild_id, snowflake entity_id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, GUILD_OF_ROWS, BIND(v_id(entity_id), v_id(guild_id)), &row, &found);

    if (e || !found)
        return e;
    guild_id = row_id(&row, 0);
    e = tx_exec(tx, FORGET_ENTITY, BIND(v_id(entity_id), v_id(guild_id)), NULL);
    return e ? e : command_index_move(tx, guild_id);
}

static const char FORGET_TARGET[] =
    "delete from command_permissions where guild_id = $1 and target_id = $2";

enum err command_permissions_leave(struct tx *tx, snowflake guild_id, snowflake application_id)
{
    enum err e = tx_exec(tx, FORGET_TARGET, BIND(v_id(guild_id), v_id(application_id)), NULL);

    return e ? e : command_index_move(tx, guild_id);
}

static const char LISTED_COMMAND[] = "select plain from commands where id = $1";

enum err command_text_add(struct tx *tx, snowflake id, struct list *texts)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, LISTED_COMMAND, BIND(v_id(id)), &row, &found);

    if (e || !found)
        return e;
    struct str text = row_text(&row, 0);
    for (size_t i = 0; i < texts->count; i++)
        if (str_eq(((const struct str *)texts->items)[i], text))
            return OK;
    *(struct str *)list_add(tx_arena(tx), texts, sizeof text) = text;
    return OK;
}
