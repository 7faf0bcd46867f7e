/* import_entries.c - imports collected entries as world files, each in one transaction.
 *
 * If a world file is refused, its two halves are imported separately, so that an invalid object
 * does not prevent the import of others. */
#include <stdio.h>

#include "tools/copy/import/internal.h"

enum {
    /* A running server imports so many entries per transaction that it takes between these
     * times. */
    MIN_RUNNING_US = 3000,
    MAX_RUNNING_US = 8000,
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
             l->batch_entries < IMPORT_MAX_MEMBER_ENTRIES)
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
