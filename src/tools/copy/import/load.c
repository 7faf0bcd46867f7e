/* load.c - imports an archive, in small world files, each in one transaction.
 *
 * Existing objects are found by their ids, so every entry may be imported again. So an interrupted
 * import can continue, and a second run adds new objects. If a world file is refused, its two
 * halves are imported separately, so that an invalid object does not prevent the import of
 * others. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "model/channel.h"
#include "platform/channels/deletion.h"
#include "server/guildhall.h"
#include "tools/copy/import/internal.h"
#include "tools/progress.h"

enum {
    MAX_ENTRIES = 100,
    MAX_MEMBER_ENTRIES = 500,
    /* Maximum size of the entries of one import in bytes; the import needs several times that
     * memory. */
    MAX_ENTRY_BYTES = 512 * 1024,
    /* A running server imports so many entries per transaction that it takes between these
     * times. */
    FIRST_RUNNING_ENTRIES = 4,
    MIN_RUNNING_US = 3000,
    MAX_RUNNING_US = 8000,
};

/* --- importing entries --------------------------------------------------------------------- */

static struct str world_entries_of_range(const struct world_entries *e, size_t from, size_t to)
{
    size_t start = from ? e->ends[from - 1] + 1 : 0;

    return str_slice(e->text.p + start, e->ends[to - 1] - start);
}

static void report_refused_entry(struct guild_archive_importer *l, struct str entry,
                                 struct str problems)
{
    struct arena *arena = arena_new_small();
    struct str id = json_member_get_text(arena, entry, "id"), why = str_cut(&problems, '\n');
    char what[200], text[400];

    if (!id.n)
        id = json_member_get_text(arena, entry, "user");
    snprintf(what, sizeof what, "%s %.*s", l->what, STR_ARGS(id));
    snprintf(text, sizeof text, "not imported: %.*s", (int)(why.n > 350 ? 350 : why.n),
             why.n ? why.p : "an id of it belongs to another object");
    guild_archive_add_report_line(l->options->archive, what, text);
    l->refused++;
    arena_free(arena);
}

/* Imports in this process or by the running server. A running server must not be held for longer
 * than 20 ms, so a slow import halves the number of entries, and a fast import doubles it. */
static enum err import_world_file_of_entries(struct guild_archive_importer *l, struct str text,
                                             size_t count, struct world_file_import_report *report)
{
    const char *running = l->options->running;

    if (!running)
        return world_file_import(l->options->store, &l->import, text, l->arena, report);
    enum err e =
        running_server_import_world_file(running, l->options->archive, text, l->arena, report);
    if (report->transaction_us > l->longest_us)
        l->longest_us = report->transaction_us;
    if (report->transaction_us > MAX_RUNNING_US && l->batch_entries > 1)
        l->batch_entries = count > 1 ? count / 2 : 1;
    else if (!e && report->transaction_us < MIN_RUNNING_US && count >= l->batch_entries &&
             l->batch_entries < MAX_MEMBER_ENTRIES)
        l->batch_entries *= 2;
    return e;
}

/* Imports a range of entries; halves the range if it is refused. */
static void import_range_of_entries(struct guild_archive_importer *l, const struct world_entries *e,
                                    struct str before, struct str after, size_t from, size_t to)
{
    struct world_file_import_report report;
    struct buf text;

    if (from == to || l->failed)
        return;
    buf_init(&text, SIZE_MAX);
    buf_add_str(&text, before);
    buf_add_str(&text, world_entries_of_range(e, from, to));
    buf_add_str(&text, after);
    enum err result = import_world_file_of_entries(l, buf_as_str(&text), to - from, &report);
    buf_clear(&text);
    if (result == OK) {
        l->imported += (int64_t)(to - from);
    } else if (result != ERR_INVALID_FORM_BODY && result != ERR_INVALID_JSON &&
               result != ERR_STORE_CONFLICT) {
        fprintf(stderr, "guildhall: cannot write to the store: error %d\n", (int)result);
        l->failed = true;
    } else if (to - from == 1) {
        report_refused_entry(l, world_entries_of_range(e, from, to), report.problems);
    } else {
        size_t middle = from + (to - from) / 2;

        arena_reset(l->arena);
        import_range_of_entries(l, e, before, after, from, middle);
        import_range_of_entries(l, e, before, after, middle, to);
    }
    arena_reset(l->arena);
}

static void import_all_lists_of_archive(struct guild_archive_importer *l,
                                        const struct world_entries *e, struct str before,
                                        struct str after)
{
    for (size_t from = 0, to; from < e->count && !l->failed; from = to) {
        to = e->count - from > l->batch_entries ? from + l->batch_entries : e->count;
        import_range_of_entries(l, e, before, after, from, to);
    }
}

void guild_archive_importer_import_entries(struct guild_archive_importer *l)
{
    const char *what = l->what;

    l->what = "account";
    import_all_lists_of_archive(l, &l->conversion.users, STR("{\"users\":["), STR("]}"));
    l->what = what;
    world_file_entries_clear(&l->conversion.users);
    mark_added_users_as_known(&l->conversion);
    import_all_lists_of_archive(l, &l->entries, buf_as_str(&l->before), buf_as_str(&l->after));
    world_file_entries_clear(&l->entries);
}

/* --- lists of the guild ----------------------------------------------------------------------- */

struct list_reader {
    struct guild_archive_importer *loader;
    world_file_entry_writer *write;
    size_t max_entries;
    bool (*accepts)(struct str line); /* NULL: all lines */
};

void guild_archive_importer_add_entry(struct guild_archive_importer *l,
                                      world_file_entry_writer *write, struct arena *arena,
                                      struct str line)
{
    size_t before = l->entries.text.n;

    if (write(&l->conversion, arena, line, &l->entries.text))
        world_file_entries_end_entry(&l->entries);
    else
        buf_truncate(&l->entries.text, before);
}

/* Returns whether a channel must not be imported. Chat exports have only the names of channels, and
 * these names may be older than those on this server. */
static bool import_must_skip_channel(const struct guild_archive_importer *l, struct str channel)
{
    bool creates = !l->guild_exists || !l->options->no_channels;

    return l->options->only_messages &&
           (map_find_value(&l->existing, json_member_get_id(channel, "id")) || !creates);
}

static bool import_line_of_archive(void *arg, struct str line, int64_t next_offset,
                                   struct arena *arena)
{
    struct list_reader *r = arg;

    (void)next_offset;
    if (r->write == write_world_member || r->write == write_world_ban)
        world_file_progress_add(r->loader->progress, (int64_t)line.n + 1);
    if (r->write == write_world_channel && import_must_skip_channel(r->loader, line))
        return true;
    if (r->write == write_world_webhook &&
        guild_copy_skipped_ids_contain_webhook(&r->loader->skipped, json_member_get_id(line, "id")))
        return true;
    if (!r->accepts || r->accepts(line))
        guild_archive_importer_add_entry(r->loader, r->write, arena, line);
    if (r->loader->entries.count >= r->max_entries ||
        r->loader->entries.text.n >= MAX_ENTRY_BYTES ||
        r->loader->conversion.users.text.n >= MAX_ENTRY_BYTES)
        guild_archive_importer_import_entries(r->loader);
    return !r->loader->failed;
}

/* Imports the lines of a file as entries of a list of the guild. */
static void import_list_of_archive(struct guild_archive_importer *l, const char *file,
                                   const char *list, world_file_entry_writer *write,
                                   bool (*accepts)(struct str line))
{
    struct list_reader r = { l, write, MAX_ENTRIES, accepts };

    if (l->failed)
        return;
    if (str_is(str_of(list), "members"))
        r.max_entries = MAX_MEMBER_ENTRIES;
    l->what = list;
    buf_reset(&l->before);
    buf_reset(&l->after);
    buf_printf(&l->before, "{\"guilds\":[{%.*s,\"%s\":[", STR_ARGS(buf_as_str(&l->guild)), list);
    buf_add_lit(&l->after, "]}]}");
    guild_archive_for_each_line(l->options->archive, file, 0, import_line_of_archive, &r);
    guild_archive_importer_import_entries(l);
}

/* Imports the only line of a file as a setting of the guild, such as the widget. */
static void import_guild_setting(struct guild_archive_importer *l, const char *file,
                                 const char *name, world_file_entry_writer *write)
{
    struct list_reader r = { l, write, 1, NULL };

    if (l->failed)
        return;
    l->what = name;
    buf_reset(&l->before);
    buf_reset(&l->after);
    buf_printf(&l->before, "{\"guilds\":[{%.*s,\"%s\":", STR_ARGS(buf_as_str(&l->guild)), name);
    buf_add_lit(&l->after, "}]}");
    guild_archive_for_each_line(l->options->archive, file, 0, import_line_of_archive, &r);
}

static bool channel_line_is_category(struct str line)
{
    return json_member_int(line, "type") == CHANNEL_CATEGORY;
}

static bool channel_line_is_no_category(struct str line)
{
    return !channel_line_is_category(line);
}

/* --- the guild itself -------------------------------------------------------------- */

static bool read_guild_line(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    (void)next_offset, (void)arena;
    buf_reset(arg);
    buf_add_str(arg, line);
    return false;
}

/* Imports the guild's own fields. Some of them refer to channels, so this function runs again after
 * the channels were imported. */
static void import_guild_fields(struct guild_archive_importer *l, struct str guild)
{
    struct arena *arena = arena_new();

    l->what = "guild";
    buf_reset(&l->before);
    buf_reset(&l->after);
    buf_add_lit(&l->before, "{\"guilds\":[");
    buf_add_lit(&l->after, "]}");
    guild_archive_importer_add_entry(l, write_world_guild, arena, guild);
    guild_archive_importer_import_entries(l);
    arena_free(arena);
}

static void import_roles(struct guild_archive_importer *l, struct str guild)
{
    struct arena *arena = arena_new();
    struct list roles = json_array_get_items(arena, json_member_get_raw_text(guild, "roles"));
    struct list_reader r = { l, write_world_role, SIZE_MAX, NULL };

    l->what = "role";
    for (size_t i = 0; i < roles.count; i++)
        guild_copy_add_known_id(&l->conversion.known.roles,
                                json_member_get_id(((struct str *)roles.items)[i], "id"));
    buf_reset(&l->before);
    buf_reset(&l->after);
    buf_printf(&l->before, "{\"guilds\":[{%.*s,\"roles\":[", STR_ARGS(buf_as_str(&l->guild)));
    buf_add_lit(&l->after, "]}]}");
    for (size_t i = 0; i < roles.count; i++)
        import_line_of_archive(&r, ((struct str *)roles.items)[i], 0, arena);
    guild_archive_importer_import_entries(l);
    arena_free(arena);
}

/* --- channels ---------------------------------------------------------------------- */

static bool add_known_id_of_archive_line(void *arg, struct str line, int64_t next_offset,
                                         struct arena *arena)
{
    (void)next_offset, (void)arena;
    guild_copy_add_known_id(arg, json_member_get_id(line, "id"));
    return true;
}

typedef void thread_list_function(struct guild_archive_importer *l, const char *file, void *arg);
struct parent_reader {
    struct guild_archive_importer *loader;
    thread_list_function *found;
    void *arg;
};

static bool visit_parent_channel_of_threads(void *arg, struct str line, int64_t next_offset,
                                            struct arena *arena)
{
    struct parent_reader *r = arg;
    static const char *const kinds[] = { "public", "private" };
    char file[100];

    (void)next_offset, (void)arena;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        snprintf(file, sizeof file, "archived_threads/%" PRIu64 ".%s.jsonl",
                 json_member_get_id(line, "id"), kinds[i]);
        r->found(r->loader, file, r->arg);
    }
    return !r->loader->failed;
}

/* Calls `found` for each file that contains Discord threads. */
static void for_each_thread_list(struct guild_archive_importer *l, thread_list_function *found,
                                 void *arg)
{
    struct parent_reader r = { l, found, arg };

    found(l, "active_threads.jsonl", arg);
    guild_archive_for_each_line(l->options->archive, "channels.jsonl", 0,
                                visit_parent_channel_of_threads, &r);
}

static void import_threads(struct guild_archive_importer *l, const char *file, void *arg)
{
    (void)arg;
    import_list_of_archive(l, file, "channels", write_world_channel, NULL);
    guild_archive_for_each_line(l->options->archive, file, 0, add_known_id_of_archive_line,
                                &l->conversion.known.channels);
}

static void add_known_threads(struct guild_archive_importer *l, const char *file, void *arg)
{
    (void)arg;
    guild_archive_for_each_line(l->options->archive, file, 0, add_known_id_of_archive_line,
                                &l->conversion.known.channels);
}

void guild_archive_importer_read_known_ids(struct guild_archive_importer *l)
{
    const struct guild_archive *a = l->options->archive;
    struct guild_copy_known_ids *known = &l->conversion.known;
    struct list roles = json_array_get_items(
        l->names, json_member_get_raw_text(buf_as_str(&l->guild_line), "roles"));

    for (size_t i = 0; i < roles.count; i++)
        guild_copy_add_known_id(&known->roles,
                                json_member_get_id(((struct str *)roles.items)[i], "id"));
    guild_archive_for_each_line(a, "emojis.jsonl", 0, add_known_id_of_archive_line, &known->emojis);
    guild_archive_for_each_line(a, "channels.jsonl", 0, add_known_id_of_archive_line,
                                &known->channels);
    for_each_thread_list(l, add_known_threads, NULL);
}

/* --- messages ---------------------------------------------------------------------- */

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
    if (r->count >= MAX_ENTRIES || r->lines.n >= MAX_ENTRY_BYTES)
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

    if (!existing &&
        import_must_skip_channel(l, channel)) /* verify_object_counts_after_import reports it */
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

/* --- what exists already -------------------------------------------------------------- */

static const char EXISTING_GUILD[] = "select name, owner_id from guilds where id = $1";
static const char EXISTING_CHANNELS[] =
    "select c.id, c.type, c.name from channels c where c.guild_id = $1 "
    "and not" CHANNEL_BEING_DELETED("c.id");

struct existing_query {
    struct guild_archive_importer *loader;
    struct arena *arena;
    struct buf name; /* name of the guild as JSON */
    snowflake owner;
};

static struct str encode_json_text(struct arena *arena, struct str text)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, SIZE_MAX);
    json_write_text(&j, text);
    return buf_move_to_arena(&out, arena);
}

static enum err read_existing_objects_of_store(struct tx *tx, void *arg)
{
    struct existing_query *q = arg;
    struct guild_archive_importer *l = q->loader;
    struct rows r;
    enum err e = tx_one(tx, EXISTING_GUILD, BIND(v_id(l->conversion.guild)), &r, &l->guild_exists);

    if (e || !l->guild_exists)
        return e;
    q->owner = row_id(&r, 1);
    buf_reset(&q->name);
    buf_add_str(&q->name, encode_json_text(q->arena, row_text(&r, 0)));
    e = tx_query(tx, EXISTING_CHANNELS, BIND(v_id(l->conversion.guild)), &r);
    while (!e && rows_next(&r)) {
        struct existing_channel *c = arena_alloc(q->arena, sizeof *c);

        *c = (struct existing_channel){ encode_json_text(q->arena, row_text(&r, 2)),
                                        row_int(&r, 1) };
        map_set_value(&l->existing, row_id(&r, 0), c);
    }
    return e ? e : rows_end(&r);
}

/* --- verification ------------------------------------------------------------------ */

struct row_count {
    struct sql sql;
    snowflake id;
    int64_t count;
};

static enum err read_row_count(struct tx *tx, void *arg)
{
    struct row_count *q = arg;
    const struct value values[] = { v_id(q->id) };
    struct rows row;
    bool found;
    enum err e = tx_one(tx, q->sql, values, 1, &row, &found);

    q->count = e ? -1 : row_int(&row, 0);
    return e;
}

struct verification {
    struct guild_archive_importer *loader;
    int64_t lines, rows;
};

static int64_t count_rows(struct guild_archive_importer *l, struct sql sql, snowflake id)
{
    struct row_count q = { sql, id, 0 };

    l->failed |= store_run_transaction_and_wait(l->options->store, STORE_READ, l->arena,
                                                read_row_count, &q) != OK;
    arena_reset(l->arena);
    return q.count;
}

static const char COUNT_MESSAGES[] = "select count(*) from messages where channel_id = $1";

struct line_counter {
    const struct guild_copy_skipped_ids *skipped;
    int64_t count;
};

static bool count_line_unless_skipped(void *arg, struct str line, int64_t next_offset,
                                      struct arena *arena)
{
    struct line_counter *c = arg;

    (void)next_offset, (void)arena;
    c->count += !guild_copy_skipped_ids_contain_message(c->skipped, line);
    return true;
}

static bool verify_message_count_of_channel(void *arg, struct str line, int64_t next_offset,
                                            struct arena *arena)
{
    struct verification *v = arg;
    snowflake id = json_member_get_id(line, "id");
    char file[100], what[100], why[200];

    (void)next_offset, (void)arena;
    snprintf(file, sizeof file, "messages/%" PRIu64 ".jsonl", id);
    struct line_counter counter = { .skipped = &v->loader->skipped };
    guild_archive_for_each_line(v->loader->options->archive, file, 0, count_line_unless_skipped,
                                &counter);
    int64_t lines = counter.count;
    int64_t rows = lines ? count_rows(v->loader, SQL(COUNT_MESSAGES), id) : 0;
    v->lines += lines;
    v->rows += rows < lines ? rows : lines;
    if (rows < lines) {
        snprintf(what, sizeof what, "channel %" PRIu64, id);
        snprintf(why, sizeof why, "the archive has %lld messages, the store has %lld",
                 (long long)lines, (long long)rows);
        guild_archive_add_report_line(v->loader->options->archive, what, why);
    }
    return !v->loader->failed;
}

static void verify_message_counts_of_threads(struct guild_archive_importer *l, const char *file,
                                             void *arg)
{
    guild_archive_for_each_line(l->options->archive, file, 0, verify_message_count_of_channel, arg);
}

static const char COUNT_MEMBER_ROWS[] = "select count(*) from members where guild_id = $1";
static const char COUNT_EMOJI_ROWS[] = "select count(*) from emojis where guild_id = $1";
static const char COUNT_STICKER_ROWS[] = "select count(*) from stickers where guild_id = $1";
static const char COUNT_SOUND_ROWS[] = "select count(*) from sounds where guild_id = $1";
static const char COUNT_BAN_ROWS[] = "select count(*) from bans where guild_id = $1";

static const struct verified_list {
    const char *name;
    struct sql count;
} verified_lists[] = {
    { "members", { &COUNT_MEMBER_ROWS } },   { "emojis", { &COUNT_EMOJI_ROWS } },
    { "stickers", { &COUNT_STICKER_ROWS } }, { "sounds", { &COUNT_SOUND_ROWS } },
    { "bans", { &COUNT_BAN_ROWS } },
};

/* Compares the numbers of lines with the numbers of rows, and prints both. */
static void verify_object_counts_after_import(struct guild_archive_importer *l)
{
    struct verification v = { .loader = l };
    char file[100];

    guild_archive_for_each_line(l->options->archive, "channels.jsonl", 0,
                                verify_message_count_of_channel, &v);
    for_each_thread_list(l, verify_message_counts_of_threads, &v);
    printf("%-10s %lld of %lld\n", "messages", (long long)v.rows, (long long)v.lines);
    for (size_t i = 0; i < COUNT_OF(verified_lists); i++) {
        snprintf(file, sizeof file, "%s.jsonl", verified_lists[i].name);
        int64_t lines = guild_archive_count_lines(l->options->archive, file);
        int64_t rows = count_rows(l, verified_lists[i].count, l->conversion.guild);

        if (lines)
            printf("%-10s %lld of %lld\n", verified_lists[i].name,
                   (long long)(rows < lines ? rows : lines), (long long)lines);
    }
}

/* --- the whole archive ------------------------------------------------------------- */

static void import_all_objects_of_archive(struct guild_archive_importer *l, struct str guild)
{
    const struct guild_archive *a = l->options->archive;
    struct guild_copy_known_ids *known = &l->conversion.known;

    bool keeps_guild = l->options->only_messages && l->guild_exists;

    if (!keeps_guild)
        import_guild_fields(l, guild);
    l->conversion.omitted = 0; /* its channels follow */
    import_roles(l, guild);
    guild_archive_for_each_line(a, "emojis.jsonl", 0, add_known_id_of_archive_line, &known->emojis);
    import_list_of_archive(l, "emojis.jsonl", "emojis", write_world_emoji, NULL);
    if (l->conversion.people)
        import_list_of_archive(l, "members.jsonl", "members", write_world_member, NULL);
    guild_archive_for_each_line(a, "channels.jsonl", 0, add_known_id_of_archive_line,
                                &known->channels);
    import_list_of_archive(l, "channels.jsonl", "channels", write_world_channel,
                           channel_line_is_category);
    import_list_of_archive(l, "channels.jsonl", "channels", write_world_channel,
                           channel_line_is_no_category);
    for_each_thread_list(l, import_threads, NULL);
    if (!keeps_guild)
        import_guild_fields(l, guild);
    import_guild_setting(l, "welcome_screen.jsonl", "welcome_screen", write_world_welcome_screen);
    import_guild_setting(l, "onboarding.jsonl", "onboarding", write_world_onboarding);
    import_guild_setting(l, "widget.jsonl", "widget", write_world_widget);
    import_list_of_archive(l, "webhooks.jsonl", "webhooks", write_world_webhook, NULL);
    import_list_of_archive(l, "stickers.jsonl", "stickers", write_world_sticker, NULL);
    import_list_of_archive(l, "sounds.jsonl", "sounds", write_world_sound, NULL);
    import_list_of_archive(l, "automod.jsonl", "automod", write_world_automod_rule, NULL);
    import_list_of_archive(l, "scheduled_events.jsonl", "scheduled_events", write_world_event,
                           NULL);
    import_list_of_archive(l, "invites.jsonl", "invites", write_world_invite, NULL);
    if (l->conversion.people)
        import_list_of_archive(l, "bans.jsonl", "bans", write_world_ban, NULL);
    if (l->options->no_messages)
        return;
    guild_archive_for_each_line(a, "channels.jsonl", 0, import_messages_of_channel, l);
    for_each_thread_list(l, import_messages_of_threads, NULL);
}

void guild_archive_importer_close(struct guild_archive_importer *l)
{
    struct map *const maps[] = { &l->conversion.known.users,
                                 &l->conversion.known.roles,
                                 &l->conversion.known.channels,
                                 &l->conversion.known.emojis,
                                 &l->conversion.queued,
                                 &l->conversion.pinned_at,
                                 &l->existing };

    for (size_t i = 0; i < COUNT_OF(maps); i++)
        map_clear(maps[i]);
    guild_copy_skipped_ids_clear(&l->skipped);
    buf_clear(&l->conversion.users.text);
    buf_clear(&l->entries.text);
    buf_clear(&l->before);
    buf_clear(&l->after);
    buf_clear(&l->guild);
    buf_clear(&l->guild_line);
    mem_free(l->conversion.users.ends);
    mem_free(l->entries.ends);
    arena_free(l->arena);
    arena_free(l->names);
    auth_free(l->import.auth);
}

/* Reads which objects already exist on this server, and writes the fields of the guild that every
 * world file must contain. */
static bool read_guild_from_archive_and_store(struct guild_archive_importer *l, bool read_channels)
{
    struct str guild = buf_as_str(&l->guild_line);
    struct existing_query existing = { .loader = l,
                                       .arena = l->names,
                                       .owner = json_member_get_id(guild, "owner_id") };
    bool ok = true;

    buf_init(&existing.name, SIZE_MAX);
    buf_add_str(&existing.name, json_member_get_raw_text(guild, "name"));
    if (read_channels)
        ok = store_run_transaction_and_wait(l->options->store, STORE_READ, l->arena,
                                            read_existing_objects_of_store, &existing) == OK;
    buf_printf(&l->guild, "\"id\":\"%" PRIu64 "\",\"name\":%.*s,\"owner\":\"%" PRIu64 "\"",
               l->conversion.guild, STR_ARGS(buf_as_str(&existing.name)), existing.owner);
    buf_clear(&existing.name);
    return ok;
}

bool guild_archive_importer_open(struct guild_archive_importer *l,
                                 const struct guild_import_options *options, bool read_channels)
{
    *l = (struct guild_archive_importer){
        .options = options,
        .import = { .domains = guildhall_domains,
                    .password_cost = config_get_password_cost(options->config),
                    .files = options->archive->folder },
        .conversion = { .archive = options->archive, .people = options->people },
        .arena = arena_new(),
        .names = arena_new(),
        .batch_entries = options->running ? FIRST_RUNNING_ENTRIES : SIZE_MAX,
    };
    struct buf *const texts[] = { &l->guild_line, &l->guild,        &l->before,
                                  &l->after,      &l->entries.text, &l->conversion.users.text };

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        buf_init(texts[i], SIZE_MAX);
    map_init(&l->existing);
    guild_copy_skipped_ids_read(options->archive, &l->skipped);
    guild_archive_for_each_line(options->archive, "guild.jsonl", 0, read_guild_line,
                                &l->guild_line);
    l->conversion.guild = json_member_get_id(buf_as_str(&l->guild_line), "id");
    if (!l->conversion.guild) {
        fprintf(stderr, "guildhall: '%s' is not an archive of a guild: it has no guild.jsonl\n",
                options->archive->folder);
        return false;
    }
    return (options->running ||
            auth_new(options->config->data, options->store, &l->import.auth) == OK) &&
           read_guild_from_archive_and_store(l, read_channels);
}

/* Returns the number of bytes in the files of the archive that can be long. */
static int64_t sum_bytes_to_import(const struct guild_import_options *options)
{
    static const char *const people[] = { "members.jsonl", "bans.jsonl" };
    char path[1200];
    int64_t sum = 0;

    for (size_t i = 0; options->people && i < COUNT_OF(people); i++) {
        guild_archive_format_path(options->archive, path, "%s", people[i]);
        sum += read_size_of_file_or_folder(path);
    }
    guild_archive_format_path(options->archive, path, "messages");
    return sum + (options->no_messages ? 0 : read_size_of_file_or_folder(path));
}

enum guild_copy_result import_guild_archive(const struct guild_import_options *options)
{
    struct progress_watch watch;
    struct guild_archive_importer l;
    bool opened = guild_archive_importer_open(&l, options, options->only_messages);

    l.failed = !opened;
    progress_watch_begin(&watch, "copy-guild", PROGRESS_WORLD, 0);
    world_file_progress_begin(&watch.world, "bytes of the archive", sum_bytes_to_import(options));
    l.progress = &watch.world;
    if (!l.failed)
        import_all_objects_of_archive(&l, buf_as_str(&l.guild_line));
    progress_watch_end(&watch);
    if (!l.failed && options->running) {
        l.failed = !running_server_resend_guild_to_members(options->running, l.conversion.guild);
        printf("the running server imported it in steps of at most %.1f ms\n",
               (double)l.longest_us / 1000);
    }
    if (!l.failed)
        verify_object_counts_after_import(&l);
    if (l.refused || l.conversion.omitted)
        printf("%lld objects were refused, %lld references to deleted objects were left out\n",
               (long long)l.refused, (long long)l.conversion.omitted);
    enum guild_copy_result result = l.failed ? COPY_STOPPED : l.refused ? COPY_REFUSED : COPY_OK;
    guild_archive_importer_close(&l);
    return result;
}
