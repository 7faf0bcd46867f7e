/* lists.c - reading commands. */
#include "commands/internal.h"

#include "platform/rows.h"

static const struct type raw_commands = { .kind = KIND_ARRAY, .of = &type_raw };

static struct str encode(struct arena *arena, const struct command *k)
{
    return column_encode(arena, &type_command, k);
}

/* Everything in all languages: the row has it finished, unless some of it is not shown. */
static enum err show_whole(const struct rows *r, struct str *ret)
{
    struct command k;

    *ret = row_text(r, 0);
    if (!row_bool(r, 3))
        return OK;
    enum err e = command_read(r->tx, *ret, &k);
    if (!e)
        *ret = encode(tx_arena(r->tx), &k);
    return e;
}

/* In the caller's language: finished, too, unless there are words in it. */
static enum err show_localized(const struct rows *r, struct str locale, struct str *ret)
{
    struct command k;

    if (!((uint64_t)row_int(r, 2) & locale_reach(locale))) {
        *ret = row_text(r, 1);
        return OK;
    }
    enum err e = command_read(r->tx, row_text(r, 0), &k);
    if (e)
        return e;
    command_localize(&k, locale, COMMAND_LISTED);
    *ret = encode(tx_arena(r->tx), &k);
    return OK;
}

static const char LIST_COMMANDS[] = "select definition, plain, locales, hidden from commands "
                                    "where application_id = $1 and guild_id = $2 order by id";

/* GET /applications/{application.id}/commands, …/guilds/{app_guild.id}/commands */
enum err list_commands(struct call *call)
{
    const struct commands_query *in = call->query;
    snowflake guild_id = call->target.guild ? call->target.guild->id : 0;
    struct list list = { 0 };
    struct str locale;
    struct rows rows;

    enum err e = request_locale(call, &locale);
    if (!e)
        e = tx_query(call->tx, LIST_COMMANDS,
                     BIND(v_id(call->target.application->id), v_id(guild_id)), &rows);
    if (e)
        return e;
    while (!e && rows_next(&rows)) {
        struct str *text = list_add(call->arena, &list, sizeof *text);

        e = in->with_localizations ? show_whole(&rows, text) : show_localized(&rows, locale, text);
    }
    enum err ended = rows_end(&rows);
    return e || ended ? (e ? e : ended) : call_reply_as(call, &raw_commands, &list);
}

/* GET …/commands/{command.id} */
enum err get_command(struct call *call)
{
    return call_reply(call, call->target.command);
}
