/* live_import.c - imports single objects of which gateway events report a change. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "tools/copy/import/internal.h"

struct live_import {
    struct guild_archive_importer loader;
};

struct live_import *live_import_new(const struct guild_import_options *options)
{
    struct live_import *i = mem_new(sizeof *i);

    if (guild_archive_importer_open(&i->loader, options, true)) {
        guild_archive_importer_read_known_ids(&i->loader);
        return i;
    }
    live_import_free(i);
    return NULL;
}

void live_import_free(struct live_import *i)
{
    if (!i)
        return;
    guild_archive_importer_close(&i->loader);
    mem_free(i);
}

bool live_import_has_copied_channel(const struct live_import *i, snowflake id)
{
    return guild_copy_id_is_known(&i->loader.conversion.known.channels, id);
}

/* --- lists of the guild --------------------------------------------------------------- */

static bool import_object_into_running_server(struct live_import *i, const char *list,
                                              world_file_entry_writer *write, struct str object)
{
    struct guild_archive_importer *l = &i->loader;
    struct arena *arena = arena_new();

    l->failed = false;
    l->what = list;
    buf_reset(&l->before);
    buf_reset(&l->after);
    buf_printf(&l->before, "{\"guilds\":[{%.*s,\"%s\":[", STR_ARGS(buf_as_str(&l->guild)), list);
    buf_add_lit(&l->after, "]}]}");
    guild_archive_importer_add_entry(l, write, arena, object);
    guild_archive_importer_import_entries(l);
    arena_free(arena);
    return !l->failed;
}

bool live_import_channel(struct live_import *i, struct str channel)
{
    struct guild_archive_importer *l = &i->loader;
    struct existing_channel *c = arena_alloc(l->names, sizeof *c);

    *c = (struct existing_channel){ str_dup(l->names, json_member_get_raw_text(channel, "name")),
                                    json_member_int(channel, "type") };
    guild_copy_add_known_id(&l->conversion.known.channels, json_member_get_id(channel, "id"));
    if (!import_object_into_running_server(i, "channels", write_world_channel, channel))
        return false;
    map_set_value(&l->existing, json_member_get_id(channel, "id"), c);
    return true;
}

bool live_import_role(struct live_import *i, struct str role)
{
    guild_copy_add_known_id(&i->loader.conversion.known.roles, json_member_get_id(role, "id"));
    return import_object_into_running_server(i, "roles", write_world_role, role);
}

bool live_import_member(struct live_import *i, struct str member)
{
    return import_object_into_running_server(i, "members", write_world_member, member);
}

/* --- messages ------------------------------------------------------------------------- */

struct live_message {
    snowflake id, channel;
    bool found, pinned;
    int64_t edited_at; /* 0 if it was not edited */
};

static const char STORED_MESSAGE[] =
    "select edited_at, pinned from messages where channel_id = $1 and id = $2";

static enum err read_live_message(struct tx *tx, void *arg)
{
    struct live_message *m = arg;
    struct rows row;
    enum err e = tx_one(tx, STORED_MESSAGE, BIND(v_id(m->channel), v_id(m->id)), &row, &m->found);

    if (e || !m->found)
        return e;
    m->edited_at = row_column_is_null(&row, 0) ? 0 : row_int(&row, 0);
    m->pinned = row_bool(&row, 1);
    return OK;
}

/* Records the pin of a message with the current time, because the event does not contain the time
 * of the pin. */
static void record_pin_of_imported_message(struct guild_archive_importer *l, struct arena *arena,
                                           struct str message)
{
    char now[TIMESTAMP_TEXT_SIZE];
    struct str *time = arena_alloc(arena, sizeof *time);

    timestamp_format(clock_us(), now);
    *time = str_printf(arena, "\"%s\"", now);
    map_set_value(&l->conversion.pinned_at, json_member_get_id(message, "id"), time);
}

static bool write_message(struct guild_archive_importer *l, struct arena *arena, struct str message)
{
    struct str channel =
        str_printf(arena, "{\"id\":\"%" PRIu64 "\"}", json_member_get_id(message, "channel_id"));

    if (!guild_archive_importer_begin_channel_messages(l, channel))
        return true;
    if (json_member_is_true(message, "pinned"))
        record_pin_of_imported_message(l, arena, message);
    guild_archive_importer_add_entry(l, write_world_message, arena, message);
    guild_archive_importer_import_entries(l);
    map_clear(&l->conversion.pinned_at);
    map_init(&l->conversion.pinned_at);
    return !l->failed;
}

bool live_import_message(struct live_import *i, struct str message, enum live_import_result *ret)
{
    struct guild_archive_importer *l = &i->loader;
    struct live_message stored = { .id = json_member_get_id(message, "id"),
                                   .channel = json_member_get_id(message, "channel_id") };
    struct arena *arena = arena_new();
    bool pinned = json_member_is_true(message, "pinned"), ok = true;
    int64_t edited_at = 0;

    l->failed = false;
    timestamp_parse(json_member_get_text(arena, message, "edited_timestamp"), &edited_at);
    *ret = LIVE_UNCHANGED;
    if (!map_find_value(&l->existing, stored.channel))
        *ret = LIVE_UNKNOWN_CHANNEL;
    else if (store_run_transaction_and_wait(l->options->store, STORE_READ, arena, read_live_message,
                                            &stored) != OK)
        ok = false;
    else if (!stored.found)
        *ret = LIVE_CREATED;
    else if (edited_at > stored.edited_at || (pinned && !stored.pinned))
        *ret = LIVE_EDITED;
    else if (!pinned && stored.pinned && json_member_get_raw_text(message, "pinned").n)
        *ret = LIVE_UNPINNED;
    if (ok && (*ret == LIVE_CREATED || *ret == LIVE_EDITED))
        ok = write_message(l, arena, message);
    arena_free(arena);
    return ok;
}
