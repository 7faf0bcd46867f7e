/* move.c - `guildhall move`: copies the database from SQLite to PostgreSQL or back. */
#include "store/move/move.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gifs/gifs.h"
#include "server/guildhall.h"
#include "store/backup/snapshots.h"
#include "tools/progress.h"
#include "tools/tools.h"

const struct option_row move_option_rows[] = {
    { "to", OPTION_TEXT, .offset = offsetof(struct command_settings, move_to), .value = "URL|DIR",
      .help = "An empty PostgreSQL database (postgres://…), or a folder for SQLite" },
    { "to-data", OPTION_TEXT, .offset = offsetof(struct command_settings, move_to_data),
      .value = "DIR",
      .help = "With postgres://…: folder for files and keys; unset: they stay where they are" },
    { 0 },
};

static bool is_postgres_url(const char *to)
{
    /* libpq uses the same test to recognise a connection string. */
    return strncmp(to, "postgres://", 11) == 0 || strncmp(to, "postgresql://", 13) == 0 ||
           strchr(to, '=');
}

static void on_move_progress(void *arg, const char *what, int64_t done, int64_t total)
{
    progress_print(arg, what, done, total);
}

static void print_move_report(const struct move_options *o, const struct move_report *r)
{
    if (r->was_done) {
        puts("the database was already moved there; nothing was changed");
        return;
    }
    printf("moved %lld rows of %lld tables, each compared with its source%s\n", (long long)r->rows,
           (long long)r->tables, r->resumed ? "; an earlier run had begun" : "");
    if (r->files_stay)
        printf("files and keys stay in '%s'\n", o->to.folder);
    else
        printf("moved %lld files and keys, %lld bytes, each compared with its source\n",
               (long long)r->files, (long long)r->bytes);
}

static void print_start_command(const struct move_options *o)
{
    /* The URL is not printed, because it may contain a password. */
    if (o->to.postgres)
        printf("start it: guildhall serve --data '%s' --store URL, with the URL of --to\n",
               o->to.folder);
    else
        printf("start it: guildhall serve --data '%s'\n", o->to.folder);
}

int tool_move(const struct command_settings *s, char **arguments)
{
    const char *to = s->move_to;
    bool inside = strcmp(s->config.blobs, "postgres") == 0;
    struct progress_output meter;
    struct move_report report;

    if (*arguments || !to)
        return print_usage_error(
            "move --to postgres://… [--to-data DIR], or move --store postgres://… --to DIR");
    struct move_options o = {
        .from = { s->config.data, s->config.store, s->config.store && inside },
        .to = { to, NULL, false },
        .keys = snapshot_key_files,
        .on_progress = on_move_progress,
        .arg = &meter,
        .rebuild = gifs_reindex,
    };
    if (is_postgres_url(to))
        o.to = (struct move_location){ s->move_to_data ? s->move_to_data : s->config.data, to,
                                       inside };
    else if (s->move_to_data)
        return print_usage_error(
            "to-data requires --to postgres://…; a folder contains everything");
    progress_begin(&meter, "move");
    enum err e = move_all_data(&o, &report);
    progress_end(&meter);
    if (e) {
        fprintf(stderr, "guildhall: the database was not moved; the source is unchanged\n");
        return 1;
    }
    print_move_report(&o, &report);
    print_start_command(&o);
    return 0;
}
