/* lists.c - GET …/commands: lists of commands, and single commands. */
#include "commands/internal.h"

#include "base/log.h"
#include "commands/index/bundle.h"
#include "json/read.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

void commands_keep_text(struct call *call, const struct kept_key *key, const struct list *ids)
{
    const snowflake *id = ids->items;
    struct kept_read *kept = kept_begin(call->tx, key, 1 + ids->count);

    if (!kept)
        return;
    kept_row(kept, NOTED_COMMANDS, call->target.application->id);
    for (size_t i = 0; i < ids->count; i++)
        kept_row(kept, NOTED_COMMANDS, id[i]);
    kept_end_text(kept, buf_str(&call->reply));
}

/* --- in all languages ----------------------------------------------------------------- */

static const char WHOLE_COMMANDS[] =
    "select d.definition, c.hidden, c.id from commands c join command_definitions d "
    "on d.command_id = c.id where c.application_id = $1 and c.guild_id = $2 order by c.id";

/* Returns true if the definition is complete JSON. Older versions truncated definitions at
 * COMMAND_MOST_BYTES, so long ones are fully validated. */
static bool is_whole(struct str definition)
{
    if (definition.n < 2 || definition.p[definition.n - 1] != '}')
        return false;
    return definition.n < COMMAND_MOST_BYTES / 2 || json_valid(definition);
}

/* Writes the stored text, or re-encodes it if the row says that it has hidden fields. */
static enum err show_whole(const struct rows *r, struct json *j)
{
    struct str text = row_text(r, 0);
    struct command k;

    if (!is_whole(text)) {
        log_warn("commands: the definition of command %llu is damaged; it is not listed",
                 (unsigned long long)row_id(r, 2));
        return OK;
    }
    if (!row_bool(r, 1)) {
        json_raw(j, text);
        return OK;
    }
    enum err e = command_read(tx_arena(r->tx), text, &k);
    if (!e)
        schema_encode(j, &type_command, &k);
    return e;
}

/* Returns the JSON of a command for a reply, in the transaction's arena. */
static enum err shown_text(const struct rows *r, struct str *ret)
{
    struct command k;

    *ret = row_text(r, 0);
    if (!row_bool(r, 1))
        return OK;
    enum err e = command_read(tx_arena(r->tx), *ret, &k);
    if (!e)
        *ret = column_encode(tx_arena(r->tx), &type_command, &k);
    return e;
}

enum err commands_shown(struct tx *tx, snowflake application_id, snowflake guild_id,
                        struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, WHOLE_COMMANDS, BIND(v_id(application_id), v_id(guild_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (!e && rows_next(&rows))
        if (is_whole(row_text(&rows, 0)))
            e = shown_text(&rows, list_add(tx_arena(tx), ret, sizeof(struct str)));
    enum err ended = rows_end(&rows);
    return e ? e : ended;
}

/* Writes the commands of a scope in all languages; *ids: ids of all commands. */
static enum err list_whole(struct tx *tx, snowflake application_id, snowflake guild_id,
                           struct json *j, struct list *ids)
{
    struct rows rows;
    enum err e = tx_query(tx, WHOLE_COMMANDS, BIND(v_id(application_id), v_id(guild_id)), &rows);

    if (e)
        return e;
    rows.lent = true; /* texts are copied into the reply at once */
    while (!e && rows_next(&rows)) {
        ids_add(tx_arena(tx), ids, row_id(&rows, 2));
        e = show_whole(&rows, j);
    }
    enum err ended = rows_end(&rows);
    return e ? e : ended;
}

/* --- in the caller's language --------------------------------------------------------- */

/* State of a localized list that is the same for all its commands. */
struct localized_list {
    struct tx *tx;
    struct json *json;
    struct str locale;
    uint64_t locales;      /* locales that apply to the caller */
    struct arena *scratch; /* for decoding one command */
};

/* Writes a command in the caller's language, or the stored text if it cannot be decoded. */
static enum err show_localized(struct localized_list *l, snowflake application_id, snowflake id,
                               struct str text)
{
    struct command k;
    struct arena *before = tx_use_arena(l->tx, l->scratch);
    enum err e = command_find(l->tx, application_id, id, &k);

    tx_use_arena(l->tx, before);
    if (!e) {
        command_localize(&k, l->locale, COMMAND_LISTED);
        schema_encode(l->json, &type_command, &k);
    } else if (e == ERR_UNKNOWN_COMMAND) {
        json_raw(l->json, text);
        e = OK;
    }
    arena_reset(l->scratch);
    return e;
}

static size_t count_with_words(const struct bundle *b, uint64_t locales)
{
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++)
        count += (b->entries[i].locales & locales) != 0;
    return count;
}

static enum err walk_localized(struct localized_list *l, const struct bundle *b)
{
    const struct bundle_entry *k;
    struct bundle_walk walk;
    struct str text;
    enum err e = bundle_walk_begin(l->tx, b, &walk), end;

    if (e)
        return e;
    walk.rows.lent = true; /* texts are copied into the reply at once */
    while (!e && bundle_walk_next(&walk, &k, &text)) {
        if (k->locales & l->locales)
            e = show_localized(l, b->application_id, k->id, text);
        else
            json_raw(l->json, text);
    }
    end = bundle_walk_end(&walk);
    return e ? e : end;
}

static enum err list_localized(struct call *call, const struct bundle *b, struct str locale,
                               struct json *j)
{
    enum { FEW = 10 }; /* each takes less than 0.1 ms to localize */
    struct localized_list l = { call->tx, j, locale, locale_reach(locale), NULL };
    size_t worded = count_with_words(b, l.locales);

    /* If no command has text in these locales, the bundle's text is the reply. */
    if (b->texts.n && !worded) {
        json_raw(j, b->texts);
        return OK;
    }
    enum err e = worded > FEW ? tx_expect_long(call->tx) : OK;
    if (e)
        return e;
    l.scratch = arena_new();
    e = walk_localized(&l, b);
    arena_free(l.scratch);
    return e;
}

/* Writes the commands of a scope in the caller's language; *ids: ids of all commands, or empty if
 * the bundle is unreadable and will be rewritten. */
static enum err list_in_language(struct call *call, const struct kept_key *key, struct str locale,
                                 struct json *j, struct list *ids)
{
    struct bundle bundle;
    enum err e = bundle_find(call->tx, key->of[0], key->of[1], &bundle);

    if (!e && bundle.unreadable)
        bundle_repair_later(call, &bundle);
    for (size_t i = 0; !e && !bundle.unreadable && i < bundle.count; i++)
        ids_add(call->arena, ids, bundle.entries[i].id);
    return e ? e : list_localized(call, &bundle, locale, j);
}

static enum err write_list(struct call *call, const struct kept_key *key, bool whole,
                           struct str locale)
{
    struct json j = call_reply_json(call);
    struct list ids = { 0 };

    json_array(&j);
    enum err e = whole ? list_whole(call->tx, key->of[0], key->of[1], &j, &ids)
                       : list_in_language(call, key, locale, &j, &ids);
    json_array_end(&j);
    if (!e && ids.count)
        commands_keep_text(call, key, &ids);
    return e;
}

/* GET /applications/{application.id}/commands, …/guilds/{app_guild.id}/commands
 *
 * Written piece by piece: the reply may be large, and most of it is stored text. */
enum err list_commands(struct call *call)
{
    static const char what[] = "commands";
    const struct commands_query *in = call->query;
    struct kept_key key = { what,
                            { call->target.application->id,
                              call->target.guild ? call->target.guild->id : 0, UINT64_MAX } };
    struct str locale = { 0 };
    enum err e = in->with_localizations ? OK : request_locale(call, &locale);

    if (e)
        return e;
    if (!in->with_localizations) {
        key.of[2] = locale_reach(locale);
        /* Locales with the same fallbacks prefer different texts, so the locale is part of the
         * key. */
        key.of[3] = locale_bit(locale);
    }
    struct shared_text *kept = kept_find_text(call->tx, &key);
    return kept ? call_reply_shared(call, kept)
                : write_list(call, &key, in->with_localizations, locale);
}

/* GET …/commands/{command.id} */
enum err get_command(struct call *call)
{
    struct command k;
    enum err e = command_find(call->tx, call->target.application->id, call->target.command->id, &k);

    return e ? e : call_reply(call, &k);
}
