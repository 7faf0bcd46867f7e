/* backup.c - `guildhall backup`, `restore` and `check`: backups of database, files and keys. */
#include "store/backup/backup.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "admin/control/control.h"
#include "base/log.h"
#include "server/guildhall.h"
#include "store/blobs/file_rows.h"
#include "store/backup/write_pacing.h"
#include "store/backup/snapshots.h"
#include "tools/progress.h"
#include "tools/tools.h"

const struct option_row backup_option_rows[] = {
    { "force", OPTION_SWITCH, .offset = offsetof(struct command_settings, backup_force),
      .fallback = "off", .help = "Overwrite the file if it exists" },
    { "keep", OPTION_INT, .offset = offsetof(struct command_settings, backup_keep), .fallback = "0",
      .min = 0, .max = 1000,
      .help = "Number of backups to retain: FILE, FILE.1 and so on; 0: no rotation" },
    { "even-if-damaged", OPTION_SWITCH,
      .offset = offsetof(struct command_settings, even_if_damaged), .fallback = "off",
      .help = "Back up a damaged database, and mark the backup as damaged" },
    { 0 },
};
const struct option_row restore_option_rows[] = {
    { "salvage", OPTION_SWITCH, .offset = offsetof(struct command_settings, salvage),
      .fallback = "off",
      .help = "Restore the undamaged part of a damaged backup, and list the rest" },
    { 0 },
};

/* Prints a report to `out`, which is stderr if the backup itself is written to standard output. */
static void print_backup_report(FILE *out, const char *verb, const struct backup_report *r)
{
    fprintf(out, "%s %lld files, %lld bytes%s\n", verb, (long long)r->files, (long long)r->bytes,
            r->has_rows ? "" : "; the rows are in PostgreSQL and must be backed up there");
    if (r->damaged)
        fprintf(out, "%lld files were damaged or missing when the backup was made (listed above)\n",
                (long long)r->damaged);
    if (r->lost)
        fprintf(out, "not restored: %lld files that are damaged in the backup (listed above)\n",
                (long long)r->lost);
}

static int check_database_and_files(const struct config *config)
{
    struct blob_check_report files;
    struct store *store;

    lower_process_priority();
    if (guildhall_open_store(config, true, &store))
        return 1;
    enum err rows = store_check_integrity(store),
             e = file_rows_compare_with_all_blobs(store, &files);
    store_close(store);
    puts(rows == ERR_UNAVAILABLE ? "the database could not be checked"
         : rows                  ? "the database is damaged"
                                 : "the database is undamaged");
    if (e == ERR_FILE_DAMAGED)
        printf("%lld of %lld files are damaged or missing (listed above)\n",
               (long long)files.damaged, (long long)files.files);
    else if (e)
        puts("the files could not be checked");
    else
        printf("the files are undamaged: %lld files, %lld bytes\n", (long long)files.files,
               (long long)files.bytes);
    return rows || e ? 1 : 0;
}

static int check_backup_file(const char *path)
{
    struct backup_report report;

    if (strcmp(path, "-") != 0 && access(path, R_OK)) {
        log_error("backup: cannot read '%s': %s", path, strerror(errno));
        return 1;
    }
    if (backup_check(path, &report)) {
        puts(report.damaged ? "the backup was made from a damaged database or with damaged files"
                            : "the backup is damaged");
        return 1;
    }
    print_backup_report(stdout, "the backup is undamaged:", &report);
    return 0;
}

int run_command_check(const struct command_settings *s, char **arguments)
{
    if (!arguments[0])
        return check_database_and_files(&s->config);
    return arguments[1] ? print_usage_forms("check [FILE|-]") : check_backup_file(arguments[0]);
}

int run_command_backup(const struct command_settings *s, char **arguments)
{
    struct backup_options options = { .path = arguments[0],
                                      .keys = snapshot_key_files,
                                      .replace = s->backup_force,
                                      .max_files = s->backup_keep,
                                      .even_if_damaged = s->even_if_damaged };
    struct backup_report report;
    struct progress_watch watch;
    struct store *store;

    if (!arguments[0] || arguments[1])
        return print_usage_forms("backup FILE [--keep N], or backup - for standard output");
    bool is_stream = strcmp(arguments[0], "-") == 0;
    if (is_stream && (s->backup_keep || isatty(STDOUT_FILENO)))
        return print_usage_error("backup - writes to a pipe and does not allow --keep");
    lower_process_priority();
    if (guildhall_open_store(&s->config, true, &store))
        return 1;
    progress_watch_begin(&watch, "backup", PROGRESS_WRITTEN,
                         read_size_of_file_or_folder(s->config.data));
    enum err e = backup_create(store, &options, &report);
    progress_watch_end(&watch);
    store_close(store);
    if (!e)
        print_backup_report(is_stream ? stderr : stdout, "saved", &report);
    return e || report.damaged ? 1 : 0;
}

static int restore_backup_file(const struct command_settings *s, const char *path)
{
    struct backup_report report;
    struct progress_watch watch;

    progress_watch_begin(&watch, "restore", PROGRESS_WRITTEN, read_size_of_file_or_folder(path));
    enum err e = backup_restore(path, s->config.data, s->salvage, &report);
    progress_watch_end(&watch);
    if (e && e != ERR_FILE_DAMAGED)
        return 1;
    print_backup_report(stdout, "restored", &report);
    return e ? 1 : 0;
}

int run_command_restore(const struct command_settings *s, char **arguments)
{
    struct buf out;

    if (!arguments[0] || arguments[1])
        return print_usage_forms(
            "restore NAME (a snapshot), or restore FILE|- --data DIR (a backup)");
    buf_init(&out, 1024 * 1024);
    bool runs =
        control_socket_send_request(s->config.data, "operate snapshot\trestored", &out) == OK;
    buf_clear(&out);
    return runs ? tool_restore_snapshot_on_running_server(s, arguments[0])
                : restore_backup_file(s, arguments[0]);
}
