/* list_commands.c - GET …/commands: lists of commands, and single commands. */
#include "commands/internal.h"

#include "base/log.h"
#include "commands/index/bundle.h"
#include "json/read.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

void cache_commands_reply(struct call *call, const struct result_cache_key *key,
                          const struct list *ids)
{
    const snowflake *id = ids->items;
    struct result_cache_entry *cached = result_cache_begin_entry(call->tx, key, 1 + ids->count);

    if (!cached)
        return;
    result_cache_add_dependency(cached, VERSIONED_COMMANDS, call->target.application->id);
    for (size_t i = 0; i < ids->count; i++)
        result_cache_add_dependency(cached, VERSIONED_COMMANDS, id[i]);
    result_cache_end_text_entry(cached, buf_as_str(&call->reply));
}

/* --- in all languages ----------------------------------------------------------------- */

static const char WHOLE_COMMANDS[] =
    "select d.definition, c.hidden, c.id from commands c join command_definitions d "
    "on d.command_id = c.id where c.application_id = $1 and c.guild_id = $2 order by c.id";

/* Returns whether the definition is complete JSON. Older versions of the server truncated
 * definitions at COMMAND_MAX_BYTES, so definitions of about that length are fully validated. */
static bool is_complete_definition(struct str definition)
{
    if (definition.n < 2 || definition.p[definition.n - 1] != '}')
        return false;
    return definition.n < COMMAND_MAX_BYTES / 2 || json_is_valid(definition);
}

/* Writes the stored JSON text of a command. If the definition has fields that replies omit, encodes
 * the command again without them. */
static enum err write_stored_command_json(const struct rows *r, struct json_writer *j)
{
    struct str text = row_text(r, 0);
    struct command k;

    if (!is_complete_definition(text)) {
        log_warn("commands: the definition of command %llu is damaged; it is not listed",
                 (unsigned long long)row_id(r, 2));
        return OK;
    }
    if (!row_bool(r, 1)) {
        json_write_raw(j, text);
        return OK;
    }
    enum err e = decode_command_definition(tx_arena(r->tx), text, &k);
    if (!e)
        schema_encode(j, &type_command, &k);
    return e;
}

/* Returns the JSON of a command for a reply, in the transaction's arena. */
static enum err read_command_json_from_row(const struct rows *r, struct str *ret)
{
    struct command k;

    *ret = row_text(r, 0);
    if (!row_bool(r, 1))
        return OK;
    enum err e = decode_command_definition(tx_arena(r->tx), *ret, &k);
    if (!e)
        *ret = json_column_encode(tx_arena(r->tx), &type_command, &k);
    return e;
}

enum err read_commands_json(struct tx *tx, snowflake application_id, snowflake guild_id,
                            struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, WHOLE_COMMANDS, BIND(v_id(application_id), v_id(guild_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (!e && rows_next(&rows))
        if (is_complete_definition(row_text(&rows, 0)))
            e = read_command_json_from_row(&rows,
                                           list_append(tx_arena(tx), ret, sizeof(struct str)));
    enum err ended = rows_end(&rows);
    return e ? e : ended;
}

/* Writes all guild or global commands in all languages. *ids are the ids of the commands. */
static enum err write_command_list_in_all_languages(struct tx *tx, snowflake application_id,
                                                    snowflake guild_id, struct json_writer *j,
                                                    struct list *ids)
{
    struct rows rows;
    enum err e = tx_query(tx, WHOLE_COMMANDS, BIND(v_id(application_id), v_id(guild_id)), &rows);

    if (e)
        return e;
    /* texts need not stay valid after the next row is read, because they are copied first */
    rows.lent = true;
    while (!e && rows_next(&rows)) {
        id_list_add(tx_arena(tx), ids, row_id(&rows, 2));
        e = write_stored_command_json(&rows, j);
    }
    enum err ended = rows_end(&rows);
    return e ? e : ended;
}

/* --- in the caller's language --------------------------------------------------------- */

/* Data that is needed to write the commands of a localized list. */
struct localized_list_state {
    struct tx *tx;
    struct json_writer *json;
    struct str locale;
    uint64_t locales;      /* locales that apply to the caller: a bit set */
    struct arena *scratch; /* for decoding one command */
};

/* Writes a command in the caller's language, or the stored text if it cannot be decoded. */
static enum err write_localized_command_json(struct localized_list_state *l,
                                             snowflake application_id, snowflake id,
                                             struct str text)
{
    struct command k;
    struct arena *before = tx_replace_arena(l->tx, l->scratch);
    enum err e = read_command(l->tx, application_id, id, &k);

    tx_replace_arena(l->tx, before);
    if (!e) {
        command_localize(&k, l->locale, COMMAND_FORM_LIST);
        schema_encode(l->json, &type_command, &k);
    } else if (e == ERR_UNKNOWN_COMMAND) {
        json_write_raw(l->json, text);
        e = OK;
    }
    arena_reset(l->scratch);
    return e;
}

static size_t count_localized_command_entries(const struct command_bundle *b, uint64_t locales)
{
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++)
        count += (b->entries[i].locales & locales) != 0;
    return count;
}

static enum err write_localized_command_entries(struct localized_list_state *l,
                                                const struct command_bundle *b)
{
    const struct command_bundle_entry *k;
    struct command_bundle_iterator walk;
    struct str text;
    enum err e = command_bundle_iterator_begin(l->tx, b, &walk), end;

    if (e)
        return e;
    /* Texts need not stay valid after the next row is read, because they are copied first. */
    walk.rows.lent = true;
    while (!e && command_bundle_iterator_next(&walk, &k, &text)) {
        if (k->locales & l->locales)
            e = write_localized_command_json(l, b->application_id, k->id, text);
        else
            json_write_raw(l->json, text);
    }
    end = command_bundle_iterator_end(&walk);
    return e ? e : end;
}

static enum err write_localized_bundle_commands(struct call *call, const struct command_bundle *b,
                                                struct str locale, struct json_writer *j)
{
    /* Longer command lists are localized in the background: a command takes up to 0.1 ms. */
    enum { FEW = 10 };
    struct localized_list_state l = { call->tx, j, locale, locale_fallback_bits(locale), NULL };
    size_t worded = count_localized_command_entries(b, l.locales);

    /* Copy the bundle's texts to the reply if no command has texts in the caller's locales. */
    if (b->texts.n && !worded) {
        json_write_raw(j, b->texts);
        return OK;
    }
    enum err e = worded > FEW ? tx_require_background_thread(call->tx) : OK;
    if (e)
        return e;
    l.scratch = arena_new();
    e = write_localized_command_entries(&l, b);
    arena_free(l.scratch);
    return e;
}

/* Writes all guild or global commands in the caller's language. *ids are the ids of the commands;
 * *ids is empty if the bundle is unreadable and will be rewritten. */
static enum err write_command_list_in_language(struct call *call,
                                               const struct result_cache_key *key,
                                               struct str locale, struct json_writer *j,
                                               struct list *ids)
{
    struct command_bundle bundle;
    enum err e = read_command_bundle(call->tx, key->ids[0], key->ids[1], &bundle);

    if (!e && bundle.unreadable)
        schedule_command_bundle_repair(call, &bundle);
    for (size_t i = 0; !e && !bundle.unreadable && i < bundle.count; i++)
        id_list_add(call->arena, ids, bundle.entries[i].id);
    return e ? e : write_localized_bundle_commands(call, &bundle, locale, j);
}

static enum err write_commands_list(struct call *call, const struct result_cache_key *key,
                                    bool whole, struct str locale)
{
    struct json_writer j = call_get_reply_json_writer(call);
    struct list ids = { 0 };

    json_begin_array(&j);
    enum err e =
        whole ? write_command_list_in_all_languages(call->tx, key->ids[0], key->ids[1], &j, &ids)
              : write_command_list_in_language(call, key, locale, &j, &ids);
    json_end_array(&j);
    if (!e && ids.count)
        cache_commands_reply(call, key, &ids);
    return e;
}

/* Handles GET /applications/{application.id}/commands and …/guilds/{app_guild.id}/commands. Builds
 * no struct of the reply, because the reply may be large and most of it is stored text. */
enum err list_commands(struct call *call)
{
    static const char what[] = "commands";
    const struct commands_query *in = call->query;
    struct result_cache_key key = { what,
                                    { call->target.application->id,
                                      call->target.guild ? call->target.guild->id : 0,
                                      UINT64_MAX } };
    struct str locale = { 0 };
    enum err e = in->with_localizations ? OK : determine_request_locale(call, &locale);

    if (e)
        return e;
    if (!in->with_localizations) {
        key.ids[2] = locale_fallback_bits(locale);
        /* The locale is part of the cache key: two locales with the same fallbacks may choose
         * different translations. */
        key.ids[3] = locale_get_bit(locale);
    }
    struct shared_text *cached = result_cache_find_text(call->tx, &key);
    return cached ? call_reply_with_shared_text(call, cached)
                  : write_commands_list(call, &key, in->with_localizations, locale);
}

/* GET …/commands/{command.id} */
enum err get_command(struct call *call)
{
    struct command k;
    enum err e = read_command(call->tx, call->target.application->id, call->target.command->id, &k);

    return e ? e : call_reply_with_object(call, &k);
}
