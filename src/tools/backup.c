/* backup.c - `guildhall backup`, `restore` and `check`: all that a server keeps, saved and back. */
#include "store/backup.h"

#include <stddef.h>
#include <stdio.h>

#include "control.h"
#include "guildhall.h"
#include "store/paced.h"
#include "store/snapshots.h"
#include "tools/tools.h"

const struct option_row backup_rows[] = {
    { "incremental", OPTION_TEXT, .offset = offsetof(struct settings, backup_folder),
      .value = "DIR", .help = "Save into this folder, and write only what is new there" },
    { "keep", OPTION_INT, .offset = offsetof(struct settings, backup_keep), .fallback = "0",
      .min = 0, .max = 1000000, .help = "So many of the folder's backups; 0: all" },
    { 0 },
};
const struct option_row restore_rows[] = {
    { "number", OPTION_INT, .offset = offsetof(struct settings, backup_number), .fallback = "0",
      .min = 0, .max = INT64_MAX, .help = "Which one of a folder of backups; 0: the last" },
    { 0 },
};

static void print_backup(const char *verb, const struct backup_report *r)
{
    printf("%s %lld files, %lld bytes%s", verb, (long long)r->files, (long long)r->bytes,
           r->has_rows ? "" : "; the rows are in PostgreSQL's own backup");
    if (r->number)
        printf("; it is number %lld", (long long)r->number);
    if (r->written)
        printf(", of which %lld bytes are new", (long long)r->written);
    putchar('\n');
}

static int check_database(const struct config *config)
{
    struct store *store;

    if (guildhall_open_store(config, true, &store))
        return 1;
    enum err e = store_check(store);
    store_close(store);
    puts(e ? "the database is damaged" : "the database is sound");
    return e ? 1 : 0;
}

static int check_backup(const char *path)
{
    struct backup_report report;

    if (backup_check(path, &report)) {
        puts("the backup is damaged");
        return 1;
    }
    print_backup("the backup is sound:", &report);
    return 0;
}

int tool_check(const struct settings *s, char **arguments)
{
    if (!arguments[0])
        return check_database(&s->config);
    return arguments[1] ? usage("check [FILE|DIR]") : check_backup(arguments[0]);
}

int tool_backup(const struct settings *s, char **arguments)
{
    const char *folder = s->backup_folder;
    struct backup_report report;
    struct store *store;

    if (!arguments[0] == !folder || (arguments[0] && arguments[1]))
        return usage("backup FILE, or backup --incremental DIR [--keep N]");
    if (s->backup_keep && !folder)
        return usage("--keep is for --incremental");
    paced_begin();
    if (guildhall_open_store(&s->config, true, &store))
        return 1;
    enum err e = folder
                     ? backup_make_increment(store, folder, snapshot_keys, s->backup_keep, &report)
                     : backup_make(store, arguments[0], snapshot_keys, &report);
    store_close(store);
    if (!e)
        print_backup("saved", &report);
    return e ? 1 : 0;
}

static int restore_file(const struct settings *s, const char *path)
{
    struct backup_report report;

    if (backup_restore(path, s->backup_number, s->config.data, &report))
        return 1;
    print_backup("restored", &report);
    return 0;
}

int tool_restore(const struct settings *s, char **arguments)
{
    struct buf out;

    if (!arguments[0] || arguments[1])
        return usage("restore NAME, of a snapshot; or restore FILE|DIR --data DIR, of a backup");
    buf_init(&out, 1024 * 1024);
    bool runs = control_ask(s->config.data, "restored", &out) == OK;
    buf_clear(&out);
    return runs ? snapshot_restore(s, arguments[0]) : restore_file(s, arguments[0]);
}
