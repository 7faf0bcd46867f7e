/* limits.c - maximum number of commands per guild, of global commands, of new commands per day. */
#include "base/clock.h"
#include "commands/internal.h"

enum { MOST_CHAT_INPUT = 100, MOST_MENU = 15, MOST_DAILY = 200 };
static const int64_t DAY_MS = 24 * 60 * 60 * 1000;

int64_t max_commands_of_type(int64_t type)
{
    if (type == COMMAND_CHAT_INPUT)
        return MOST_CHAT_INPUT;
    return type == COMMAND_ENTRY_POINT ? 1 : MOST_MENU;
}

enum err get_too_many_commands_error(int64_t type)
{
    if (type == COMMAND_CHAT_INPUT)
        return ERR_MAX_COMMANDS;
    return type == COMMAND_ENTRY_POINT ? ERR_MAX_ENTRY_POINTS : ERR_MAX_MENU_COMMANDS;
}

static const char COUNT_TYPE[] = "select count(*) from commands where application_id = $1 and "
                                 "guild_id = $2 and type = $3";

enum err check_command_count_limit(struct tx *tx, snowflake application_id, snowflake guild_id,
                                   int64_t type)
{
    int64_t n = 0;
    enum err e =
        tx_read_int(tx, COUNT_TYPE, BIND(v_id(application_id), v_id(guild_id), v_int(type)), &n);

    if (e)
        return e;
    return n < max_commands_of_type(type) ? OK : get_too_many_commands_error(type);
}

/* Deletes the ids of commands that were created more than a day ago, because they no longer count.
 * An id contains its creation time. */
static const char DELETE_OLD_CREATES[] =
    "delete from command_creates where application_id = $1 and guild_id = $2 and id <= $3";
static const char COUNT_CREATES[] =
    "select count(*) from command_creates where application_id = $1 and guild_id = $2";
static const char INSERT_CREATE[] =
    "insert into command_creates (application_id, guild_id, id) values ($1, $2, $3)";

enum err record_created_command_ids(struct tx *tx, snowflake application_id, snowflake guild_id,
                                    const snowflake *ids, size_t count)
{
    snowflake yesterday = snowflake_from_ms(clock_ms() - DAY_MS);
    struct value application = v_id(application_id), guild = v_id(guild_id);
    int64_t n = 0;

    if (!count)
        return OK;
    enum err e = tx_exec(tx, DELETE_OLD_CREATES, BIND(application, guild, v_id(yesterday)), NULL);
    if (!e)
        e = tx_read_int(tx, COUNT_CREATES, BIND(application, guild), &n);
    if (!e && n + (int64_t)count > MOST_DAILY)
        return ERR_MAX_DAILY_COMMANDS;
    for (size_t i = 0; i < count && !e; i++)
        e = tx_exec(tx, INSERT_CREATE, BIND(application, guild, v_id(ids[i])), NULL);
    return e;
}
