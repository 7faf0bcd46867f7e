/* load.c - imports an archive, in small world files, each in one transaction.
 *
 * Existing objects are found by their ids, so every entry may be imported again. So an interrupted
 * import can continue, and a second run adds new objects. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/channel.h"
#include "platform/channels/deletion.h"
#include "server/guildhall.h"
#include "tools/copy/import/internal.h"
#include "tools/progress.h"

enum { FIRST_RUNNING_ENTRIES = 4 }; /* entries of the first transaction of a running server */

/* --- lists of the guild ----------------------------------------------------------------------- */

struct list_reader {
    struct guild_archive_importer *loader;
    world_file_entry_writer *write;
    size_t max_entries;
    bool (*accepts)(struct str line); /* NULL: all lines */
};

bool guild_archive_importer_skips_channel(const struct guild_archive_importer *l,
                                          struct str channel)
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
    if (r->write == write_world_channel && guild_archive_importer_skips_channel(r->loader, line))
        return true;
    if (r->write == write_world_webhook &&
        guild_copy_skipped_ids_contain_webhook(&r->loader->skipped, json_member_get_id(line, "id")))
        return true;
    if (!r->accepts || r->accepts(line))
        guild_archive_importer_add_entry(r->loader, r->write, arena, line);
    if (r->loader->entries.count >= r->max_entries ||
        r->loader->entries.text.n >= IMPORT_MAX_ENTRY_BYTES ||
        r->loader->conversion.users.text.n >= IMPORT_MAX_ENTRY_BYTES)
        guild_archive_importer_import_entries(r->loader);
    return !r->loader->failed;
}

/* Imports the lines of a file as entries of a list of the guild. */
static void import_list_of_archive(struct guild_archive_importer *l, const char *file,
                                   const char *list, world_file_entry_writer *write,
                                   bool (*accepts)(struct str line))
{
    struct list_reader r = { l, write, IMPORT_MAX_ENTRIES, accepts };

    if (l->failed)
        return;
    if (str_is(str_of(list), "members"))
        r.max_entries = IMPORT_MAX_MEMBER_ENTRIES;
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

struct parent_reader {
    struct guild_archive_importer *loader;
    guild_archive_thread_list_function *found;
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

void guild_archive_importer_for_each_thread_list(struct guild_archive_importer *l,
                                                 guild_archive_thread_list_function *found,
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
    guild_archive_importer_for_each_thread_list(l, add_known_threads, NULL);
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
    guild_archive_importer_for_each_thread_list(l, import_threads, NULL);
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
    guild_archive_importer_import_messages(l);
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
        guild_archive_importer_verify_counts(&l);
    if (l.refused || l.conversion.omitted)
        printf("%lld objects were refused, %lld references to deleted objects were left out\n",
               (long long)l.refused, (long long)l.conversion.omitted);
    enum guild_copy_result result = l.failed ? COPY_STOPPED : l.refused ? COPY_REFUSED : COPY_OK;
    guild_archive_importer_close(&l);
    return result;
}
