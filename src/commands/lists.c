/* lists.c - reading commands. */
#include "commands/internal.h"

#include "platform/rows.h"

static const struct type raw_commands = { .kind = KIND_ARRAY, .of = &type_raw };

static struct str encode(struct arena *arena, const struct command *k)
{
    return column_encode(arena, &type_command, k);
}

/* Everything in all languages: it is kept so, unless some of it is not shown. */
static const char WHOLE_COMMANDS[] =
    "select d.definition, c.hidden from commands c join command_definitions d "
    "on d.command_id = c.id where c.application_id = $1 and c.guild_id = $2 order by c.id";

static enum err show_whole(const struct rows *r, struct str *ret)
{
    struct command k;

    *ret = row_text(r, 0);
    if (!row_bool(r, 1))
        return OK;
    enum err e = command_read(r->tx, *ret, &k);
    if (!e)
        *ret = encode(tx_arena(r->tx), &k);
    return e;
}

/* In the caller's language: finished, too, unless there are words in it. */
static const char LISTED_COMMANDS[] =
    "select case when (locales & cast($3 as bigint)) = 0 then plain else (select definition from "
    "command_definitions d where d.command_id = commands.id) end, "
    "case when (locales & cast($3 as bigint)) = 0 then 0 else 1 end from commands "
    "where application_id = $1 and guild_id = $2 order by id";

static enum err show_localized(const struct rows *r, struct str locale, struct str *ret)
{
    struct command k;

    *ret = row_text(r, 0);
    if (!row_bool(r, 1))
        return OK;
    enum err e = command_read(r->tx, *ret, &k);
    if (e)
        return e;
    command_localize(&k, locale, COMMAND_LISTED);
    *ret = encode(tx_arena(r->tx), &k);
    return OK;
}

/* GET /applications/{application.id}/commands, …/guilds/{app_guild.id}/commands */
enum err list_commands(struct call *call)
{
    bool whole = ((const struct commands_query *)call->query)->with_localizations;
    struct value app = v_id(call->target.application->id);
    struct value guild = v_id(call->target.guild ? call->target.guild->id : 0);
    struct list list = { 0 };
    struct str locale;
    struct rows rows;

    enum err e = request_locale(call, &locale);
    if (!e && whole)
        e = tx_query(call->tx, WHOLE_COMMANDS, BIND(app, guild), &rows);
    else if (!e)
        e = tx_query(call->tx, LISTED_COMMANDS,
                     BIND(app, guild, v_int((int64_t)locale_reach(locale))), &rows);
    if (e)
        return e;
    while (!e && rows_next(&rows)) {
        struct str *text = list_add(call->arena, &list, sizeof *text);

        e = whole ? show_whole(&rows, text) : show_localized(&rows, locale, text);
    }
    enum err ended = rows_end(&rows);
    return e || ended ? (e ? e : ended) : call_reply_as(call, &raw_commands, &list);
}

/* GET …/commands/{command.id} */
enum err get_command(struct call *call)
{
    return call_reply(call, call->target.command);
}
