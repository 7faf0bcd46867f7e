/* command_index.c - what changes elsewhere mean for commands. */
#include "platform/command_index.h"

static const char MOVE_INDEX[] = "insert into command_indexes (id, version) values ($1, $2) "
                                 "on conflict (id) do update set version = excluded.version";

enum err command_index_move(struct tx *tx, snowflake id)
{
    return tx_exec(tx, MOVE_INDEX, BIND(v_id(id), v_id(snowflake_new())), NULL);
}

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

static const char FORGET_COMMANDS[] = "delete from commands where guild_id = $1";
static const char FORGET_LISTS[] = "delete from command_lists where guild_id = $1";
static const char FORGET_CREATES[] = "delete from command_creates where guild_id = $1";

enum err commands_forget_guild(struct tx *tx, snowflake guild_id)
{
    enum err e = tx_exec(tx, FORGET_COMMANDS, BIND(v_id(guild_id)), NULL);

    if (!e)
        e = tx_exec(tx, FORGET_LISTS, BIND(v_id(guild_id)), NULL);
    return e ? e : tx_exec(tx, FORGET_CREATES, BIND(v_id(guild_id)), NULL);
}
