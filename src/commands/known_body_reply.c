/* known_body_reply.c - stage of a bulk overwrite: if the last overwrite had the same body, replies
 * from the cache without decoding the body. overwrite_body_cache.h says when it is valid. */
#include "commands/overwrite_body_cache.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/applications/applications.h"

static enum err reply_to_cached_bulk_overwrite_body(struct call *call);

static enum err find_cached_bulk_overwrite_body(struct call *call, snowflake guild_id)
{
    struct cached_bulk_overwrite_body known;

    if (!bulk_overwrite_body_cache_find(call, call_get_path_id(call, "application.id"), guild_id,
                                        &known))
        return OK;
    struct prepared_command_change *d =
        call_store_stage_data(call, "prepared_command_change", sizeof *d);
    d->known = arena_alloc_unzeroed(call->arena, sizeof known);
    *d->known = known;
    d->counted = true;
    call->read = reply_to_cached_bulk_overwrite_body;
    return count_command_write_against_rate_limit(call);
}

enum err reply_if_bulk_overwrite_body_is_cached(struct call *call)
{
    return find_cached_bulk_overwrite_body(call, 0);
}

enum err reply_if_guild_overwrite_body_is_cached(struct call *call)
{
    return find_cached_bulk_overwrite_body(call, call_get_path_id(call, "app_guild.id"));
}

static const struct cached_bulk_overwrite_body *cached_overwrite_body_of_call(
    const struct call *call)
{
    const struct prepared_command_change *d = call_get_stage_data(call, "prepared_command_change");

    return d->known;
}

static struct result_cache_key cached_overwrite_body_key(
    const struct call *call, const struct cached_bulk_overwrite_body *known)
{
    static const char what[] = "recalled commands";
    struct result_cache_key key = {
        what, { call->target.application->id, call->target.guild ? call->target.guild->id : 0 }
    };

    memcpy(&key.ids[2], known->body, sizeof key.ids[2]);
    memcpy(&key.ids[3], known->rows, sizeof key.ids[3]);
    return key;
}

static void write_commands_in_body_order(struct call *call,
                                         const struct cached_bulk_overwrite_body *known,
                                         const struct str *texts)
{
    struct json_writer j = call_get_reply_json_writer(call);

    json_begin_array(&j);
    for (size_t i = 0; i < known->count; i++)
        json_write_raw(&j, texts[known->order[i]]);
    json_end_array(&j);
}

static struct list collect_command_row_ids(struct arena *arena, const struct list *rows)
{
    const struct command_row *row = rows->items;
    struct list ids = { 0 };

    for (size_t i = 0; i < rows->count; i++)
        id_list_add(arena, &ids, row[i].id);
    return ids;
}

static enum err write_and_cache_overwrite_reply(struct call *call,
                                                const struct cached_bulk_overwrite_body *known,
                                                const struct result_cache_key *key)
{
    struct list rows, texts;
    enum err e = read_command_rows(call->tx, key->ids[0], key->ids[1], false, &rows);

    if (!e && !cached_bulk_overwrite_body_is_current(call, known, &rows))
        e = call_restart_at_read_stage(call);
    if (!e)
        e = read_commands_json(call->tx, key->ids[0], key->ids[1], &texts);
    if (!e && texts.count != known->count)
        e = call_restart_at_read_stage(call); /* a command cannot be decoded */
    if (e)
        return e;
    write_commands_in_body_order(call, known, texts.items);
    struct list ids = collect_command_row_ids(call->arena, &rows);
    cache_commands_reply(call, key, &ids);
    return OK;
}

static enum err reply_to_cached_bulk_overwrite_body(struct call *call)
{
    const struct cached_bulk_overwrite_body *known = cached_overwrite_body_of_call(call);
    struct result_cache_key key = cached_overwrite_body_key(call, known);

    if (known->installs != application_get_install_types(call->target.application))
        return call_restart_at_read_stage(call);
    struct shared_text *cached = result_cache_find_text(call->tx, &key);
    return cached ? call_reply_with_shared_text(call, cached)
                  : write_and_cache_overwrite_reply(call, known, &key);
}
