/* lists.c - reading commands. */
#include "commands/internal.h"

#include "base/log.h"
#include "commands/bundle.h"
#include "json/read.h"
#include "model/rows.h"

static const struct type raw_commands = { .kind = KIND_ARRAY, .of = &type_raw };

static struct str list_encode(struct arena *arena, const struct command *k)
{
    return column_encode(arena, &type_command, k);
}

/* --- in all languages ----------------------------------------------------------------- */

static const char WHOLE_COMMANDS[] =
    "select d.definition, c.hidden, c.id from commands c join command_definitions d "
    "on d.command_id = c.id where c.application_id = $1 and c.guild_id = $2 order by c.id";

/* Once upon a time definitions were cut at COMMAND_MOST_BYTES: those of about that size are
 * looked at. */
static bool is_whole(struct str definition)
{
    if (definition.n < 2 || definition.p[definition.n - 1] != '}')
        return false;
    return definition.n < COMMAND_MOST_BYTES / 2 || json_valid(definition);
}

/* The text is kept as it is shown, unless its row says that it has to be written anew. */
static enum err show_whole(const struct rows *r, struct arena *arena, struct list *list)
{
    struct str text = row_text(r, 0);
    struct command k;

    if (!is_whole(text)) {
        log_warn("commands: command %llu is unreadable", (unsigned long long)row_id(r, 2));
        return OK;
    }
    if (row_bool(r, 1)) {
        enum err e = command_read(tx_arena(r->tx), text, &k);
        if (e)
            return e;
        text = list_encode(tx_arena(r->tx), &k);
    }
    *(struct str *)list_add(arena, list, sizeof text) = text;
    return OK;
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
        e = show_whole(&rows, call->arena, list);
    enum err ended = rows_end(&rows);
    return e ? e : ended;
}

/* --- in the caller's ------------------------------------------------------------------ */

/* What has words in it is taken apart; *ret stays what it is where that cannot be done. */
static enum err show_localized(struct call *call, const struct bundle_entry *entry,
                               struct str locale, struct str *ret)
{
    struct command k;
    enum err e = command_find(call->tx, call->target.application->id, entry->id, &k);

    if (e)
        return e == ERR_UNKNOWN_COMMAND ? OK : e;
    command_localize(&k, locale, COMMAND_LISTED);
    *ret = list_encode(call->arena, &k);
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
    const struct bundle_entry *k;
    struct bundle_walk walk;
    struct str text;

    /* Without words to choose, the bundle's text is the answer in one piece. */
    if (b->texts.n && !has_words(b, locales)) {
        *(struct str *)list_add(call->arena, list, sizeof b->texts) = b->texts;
        return OK;
    }
    enum err e = bundle_walk_begin(call->tx, b, &walk), end;
    if (e)
        return e;
    while (!e && bundle_walk_next(&walk, &k, &text)) {
        if (k->locales & locales)
            e = show_localized(call, k, locale, &text);
        *(struct str *)list_add(call->arena, list, sizeof text) = text;
    }
    end = bundle_walk_end(&walk);
    return e ? e : end;
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
    if (!e && bundle.unreadable)
        bundle_repair_later(call, &bundle);
    if (!e)
        e = list_localized(call, &bundle, locale, &list);
    return e ? e : call_reply_as(call, &raw_commands, &list);
}

/* GET …/commands/{command.id} */
enum err get_command(struct call *call)
{
    struct command k;
    enum err e = command_find(call->tx, call->target.application->id, call->target.command->id, &k);

    return e ? e : call_reply(call, &k);
}
