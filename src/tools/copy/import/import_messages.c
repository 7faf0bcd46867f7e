/* import_messages.c - imports the messages of an archive that are new, or that were edited or
 * pinned since they were imported. */
#include <inttypes.h>
#include <stdio.h>

#include "base/timestamp.h"
#include "tools/copy/import/internal.h"

struct message_reader {
    struct guild_archive_importer *loader;
    snowflake channel;
    snowflake first;  /* first id of the lines that are not imported yet; 0 if all are imported */
    struct buf lines; /* lines that are not imported yet */
    size_t count;
};

struct stored_message {
    int64_t edited_at; /* 0 if it was not edited */
    bool pinned;
};
struct stored_message_query {
    snowflake channel, first, last;
    struct arena *arena;
    struct map *ret; /* id to struct stored_message */
};

static const char STORED_MESSAGES[] =
    "select id, edited_at, pinned from messages where channel_id = $1 and id >= $2 and id <= $3";

static enum err read_stored_messages(struct tx *tx, void *arg)
{
    const struct stored_message_query *q = arg;
    struct rows r;
    enum err e =
        tx_query(tx, STORED_MESSAGES, BIND(v_id(q->channel), v_id(q->first), v_id(q->last)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct stored_message *m = arena_alloc(q->arena, sizeof *m);

        *m = (struct stored_message){ row_column_is_null(&r, 1) ? 0 : row_int(&r, 1),
                                      row_bool(&r, 2) };
        map_set_value(q->ret, row_id(&r, 0), m);
    }
    return rows_end(&r);
}

/* Returns whether a message must be imported: it is new, or was edited or pinned since it was
 * imported. */
static bool must_import_message(const struct guild_archive_importer *l, const struct map *stored,
                                struct arena *arena, struct str line)
{
    snowflake id = json_member_get_id(line, "id");
    const struct stored_message *m = map_find_value(stored, id);
    int64_t edited_at;

    if (!m || (!m->pinned && map_find_value(&l->conversion.pinned_at, id)))
        return true;
    return timestamp_parse(json_member_get_text(arena, line, "edited_timestamp"), &edited_at) &&
           edited_at > m->edited_at;
}

static void import_message_lines(struct message_reader *r)
{
    struct guild_archive_importer *l = r->loader;
    struct str rest = buf_as_str(&r->lines);
    struct arena *stored_arena = arena_new_small();
    struct map stored;

    map_init(&stored);
    if (r->count) {
        struct str last = rest;
        const char *end = memrchr(rest.p, '\n', rest.n - 1);

        if (end)
            last = str_slice(end + 1, rest.n - (size_t)(end + 1 - rest.p));
        struct stored_message_query q = { r->channel, r->first, json_member_get_id(last, "id"),
                                          stored_arena, &stored };
        l->failed |= store_run_transaction_and_wait(l->options->store, STORE_READ, l->arena,
                                                    read_stored_messages, &q) != OK;
    }
    while (rest.n && !l->failed) {
        struct arena *arena = arena_new_small();
        struct str line = str_cut(&rest, '\n');

        if (must_import_message(l, &stored, arena, line))
            guild_archive_importer_add_entry(l, write_world_message, arena, line);
        arena_free(arena);
    }
    guild_archive_importer_import_entries(l);
    map_clear(&stored);
    arena_free(stored_arena);
    buf_reset(&r->lines);
    r->count = 0;
    r->first = 0;
}

static bool add_message_line(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    struct message_reader *r = arg;

    (void)next_offset, (void)arena;
    world_file_progress_add(r->loader->progress, (int64_t)line.n + 1);
    if (guild_copy_skipped_ids_contain_message(&r->loader->skipped, line))
        return true;
    if (!r->first)
        r->first = json_member_get_id(line, "id");
    buf_add_str(&r->lines, line);
    buf_add_char(&r->lines, '\n');
    r->count++;
    if (r->count >= IMPORT_MAX_ENTRIES || r->lines.n >= IMPORT_MAX_ENTRY_BYTES)
        import_message_lines(r);
    return !r->loader->failed;
}

struct pin_reader {
    struct guild_archive_importer *loader;
    struct arena *arena;
};

static bool add_pin_to_imported_message(void *arg, struct str line, int64_t next_offset,
                                        struct arena *arena)
{
    struct pin_reader *r = arg;
    struct str *time = arena_alloc(r->arena, sizeof *time);

    (void)next_offset, (void)arena;
    *time = str_dup(r->arena, json_member_get_raw_text(line, "pinned_at"));
    map_set_value(&r->loader->conversion.pinned_at, json_member_get_id(line, "id"), time);
    return true;
}

bool guild_archive_importer_begin_channel_messages(struct guild_archive_importer *l,
                                                   struct str channel)
{
    const struct existing_channel *existing =
        map_find_value(&l->existing, json_member_get_id(channel, "id"));
    int64_t number = existing ? existing->type : json_member_int(channel, "type");
    const char *type = get_world_file_name_of_channel_type(number);
    struct str name = existing ? existing->name : json_member_get_raw_text(channel, "name");

    if (!existing && guild_archive_importer_skips_channel(
                         l, channel)) /* guild_archive_importer_verify_counts reports it */
        return false;
    buf_reset(&l->before);
    if (type)
        buf_printf(&l->before,
                   "{\"guilds\":[{%.*s,\"channels\":[{\"id\":\"%" PRIu64
                   "\",\"name\":%.*s,\"type\":\"%s\",\"people\":[],\"messages\":[",
                   STR_ARGS(buf_as_str(&l->guild)), json_member_get_id(channel, "id"),
                   STR_ARGS(name), type);
    buf_reset(&l->after);
    buf_add_lit(&l->after, "]}]}]}");
    l->what = "message";
    return type;
}

static bool import_messages_of_channel(void *arg, struct str channel, int64_t next_offset,
                                       struct arena *arena)
{
    struct guild_archive_importer *l = arg;
    struct message_reader r = { .loader = l, .channel = json_member_get_id(channel, "id") };
    struct pin_reader pins = { l, arena_new() };
    char file[100];

    (void)next_offset, (void)arena;
    if (!guild_archive_importer_begin_channel_messages(l, channel)) {
        arena_free(pins.arena);
        return true;
    }
    snprintf(file, sizeof file, "pins/%" PRIu64 ".jsonl", r.channel);
    guild_archive_for_each_line(l->options->archive, file, 0, add_pin_to_imported_message, &pins);
    buf_init(&r.lines, SIZE_MAX);
    snprintf(file, sizeof file, "messages/%" PRIu64 ".jsonl", r.channel);
    guild_archive_for_each_line(l->options->archive, file, 0, add_message_line, &r);
    import_message_lines(&r);
    buf_clear(&r.lines);
    map_clear(&l->conversion.pinned_at);
    arena_free(pins.arena);
    return !l->failed;
}

static void import_messages_of_threads(struct guild_archive_importer *l, const char *file,
                                       void *arg)
{
    (void)arg;
    guild_archive_for_each_line(l->options->archive, file, 0, import_messages_of_channel, l);
}

void guild_archive_importer_import_messages(struct guild_archive_importer *l)
{
    guild_archive_for_each_line(l->options->archive, "channels.jsonl", 0,
                                import_messages_of_channel, l);
    guild_archive_importer_for_each_thread_list(l, import_messages_of_threads, NULL);
}
