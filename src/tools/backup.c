/* backup.c - `guildhall backup`, `restore` and `check`: all that a server keeps, saved and back. */
#include "store/backup.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "guildhall.h"
#include "store/paced.h"
#include "store/snapshots.h"
#include "tools/tools.h"

const struct option_row backup_rows[] = {
    { "force", OPTION_SWITCH, .offset = offsetof(struct settings, backup_force), .fallback = "off",
      .help = "Overwrite the file if it exists" },
    { "keep", OPTION_INT, .offset = offsetof(struct settings, backup_keep), .fallback = "0",
      .min = 0, .max = 1000, .help = "Keep so many: FILE, FILE.1 and so on; 0: no rotation" },
    { 0 },
};

/* The backup itself may go to standard output. */
static void print_backup(FILE *out, const char *verb, const struct backup_report *r)
{
    fprintf(out, "%s %lld files, %lld bytes%s\n", verb, (long long)r->files, (long long)r->bytes,
            r->has_rows ? "" : "; the rows are in PostgreSQL's own backup");
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
    print_backup(stdout, "the backup is sound:", &report);
    return 0;
}

int tool_check(const struct settings *s, char **arguments)
{
    if (!arguments[0])
        return check_database(&s->config);
    return arguments[1] ? usage("check [FILE|-]") : check_backup(arguments[0]);
}

int tool_backup(const struct settings *s, char **arguments)
{
    struct backup_options options = { .path = arguments[0],
                                      .keys = snapshot_keys,
                                      .replace = s->backup_force,
                                      .keep = s->backup_keep };
    struct backup_report report;
    struct store *store;

    if (!arguments[0] || arguments[1])
        return usage("backup FILE [--keep N], or backup - for standard output");
    bool is_stream = strcmp(arguments[0], "-") == 0;
    if (is_stream && (s->backup_keep || isatty(STDOUT_FILENO)))
        return usage("backup - writes to a pipe, without --keep");
    paced_begin();
    if (guildhall_open_store(&s->config, true, &store))
        return 1;
    enum err e = backup_make(store, &options, &report);
    store_close(store);
    if (!e)
        print_backup(is_stream ? stderr : stdout, "saved", &report);
    return e ? 1 : 0;
}

static int restore_file(const struct settings *s, const char *path)
{
    struct backup_report report;

    if (backup_restore(path, s->config.data, &report))
        return 1;
    print_backup(stdout, "restored", &report);
    return 0;
}

int tool_restore(const struct settings *s, char **arguments)
{
    struct buf out;

    if (!arguments[0] || arguments[1])
        return usage("restore NAME, of a snapshot; or restore FILE|- --data DIR, of a backup");
    buf_init(&out, 1024 * 1024);
    bool runs = control_ask(s->config.data, "restored", &out) == OK;
    buf_clear(&out);
    return runs ? snapshot_restore(s, arguments[0]) : restore_file(s, arguments[0]);
}
