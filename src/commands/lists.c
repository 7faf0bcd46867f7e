/* lists.c - reading commands. */
#include "commands/internal.h"

#include "commands/bundle.h"
#include "platform/rows.h"

static const struct type raw_commands = { .kind = KIND_ARRAY, .of = &type_raw };

static struct str encode(struct arena *arena, const struct command *k)
{
    return column_encode(arena, &type_command, k);
}

/* --- in all languages ----------------------------------------------------------------- */

static const char WHOLE_COMMANDS[] =
    "select d.definition, c.hidden from commands c join command_definitions d "
    "on d.command_id = c.id where c.application_id = $1 and c.guild_id = $2 order by c.id";

/* It is kept as it is shown, unless some of it is not. */
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

static enum err list_whole(struct call *call, snowflake application_id, snowflake guild_id,
                           struct list *list)
{
    struct rows rows;
    enum err e =
        tx_query(call->tx, WHOLE_COMMANDS, BIND(v_id(application_id), v_id(guild_id)), &rows);

    if (e)
        return e;
    while (!e && rows_next(&rows))
        e = show_whole(&rows, list_add(call->arena, list, sizeof(struct str)));
    enum err ended = rows_end(&rows);
    return e ? e : ended;
}

/* --- in the caller's ------------------------------------------------------------------ */

/* What has words in it is taken apart. */
static enum err show_localized(struct call *call, const struct bundle_entry *entry,
                               struct str locale, struct str *ret)
{
    struct command k;
    enum err e = command_find(call->tx, call->target.application->id, entry->id, &k);

    if (e)
        return e;
    command_localize(&k, locale, COMMAND_LISTED);
    *ret = encode(call->arena, &k);
    return OK;
}

static bool has_words(const struct bundle *b, uint64_t locales)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->entries[i].locales & locales)
            return true;
    return false;
}

static enum err list_localized(struct call *call, const struct bundle *b, struct str locale,
                               struct list *list)
{
    uint64_t locales = locale_reach(locale);
    const char *text = b->texts.p;
    enum err e = OK;

    /* Nothing has: it is finished, as one piece. */
    if (!has_words(b, locales)) {
        if (b->count)
            *(struct str *)list_add(call->arena, list, sizeof b->texts) = b->texts;
        return OK;
    }
    for (size_t i = 0; i < b->count && !e; i++) {
        struct str *item = list_add(call->arena, list, sizeof *item);

        *item = str_slice(text, b->entries[i].length);
        text += item->n + 1;
        if (b->entries[i].locales & locales)
            e = show_localized(call, &b->entries[i], locale, item);
    }
    return e;
}

/* GET /applications/{application.id}/commands, …/guilds/{app_guild.id}/commands */
enum err list_commands(struct call *call)
{
    const struct commands_query *in = call->query;
    snowflake application_id = call->target.application->id;
    snowflake guild_id = call->target.guild ? call->target.guild->id : 0;
    struct list list = { 0 };
    struct bundle bundle;
    struct str locale;
    enum err e;

    if (in->with_localizations) {
        e = list_whole(call, application_id, guild_id, &list);
        return e ? e : call_reply_as(call, &raw_commands, &list);
    }
    e = request_locale(call, &locale);
    if (!e)
        e = bundle_find(call->tx, application_id, guild_id, &bundle);
    if (!e)
        e = list_localized(call, &bundle, locale, &list);
    return e ? e : call_reply_as(call, &raw_commands, &list);
}

/* GET …/commands/{command.id} */
enum err get_command(struct call *call)
{
    return call_reply(call, call->target.command);
}
