/* move.c - `guildhall move`: copies the database from SQLite to PostgreSQL or back, and files to
 * another folder or bucket. */
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
    { "to-blobs", OPTION_TEXT, .offset = offsetof(struct command_settings, move_to_blobs),
      .value = "folder|postgres|s3://BUCKET[/PREFIX]",
      .help = "Where files are stored then; without --to only the files are copied. Unset: as with "
              "--blobs" },
    { 0 },
};

static bool is_postgres_url(const char *to)
{
    /* Recognises a connection string by the rule that libpq uses. */
    return strncmp(to, "postgres://", 11) == 0 || strncmp(to, "postgresql://", 13) == 0 ||
           strchr(to, '=');
}

static void on_move_progress(void *arg, const char *what, int64_t done, int64_t total)
{
    progress_print(arg, what, done, total);
}

static void print_move_report(const struct data_move_options *o, const struct data_move_report *r)
{
    if (r->was_done) {
        puts("the database was already moved there; nothing was changed");
        return;
    }
    printf("moved %lld rows of %lld tables, each compared with its source%s\n", (long long)r->rows,
           (long long)r->tables, r->resumed ? "; an earlier run had begun" : "");
    if (r->blobs_stay)
        puts("files stay in the bucket");
    else if (r->files_stay)
        printf("files and keys stay in '%s'\n", o->to.folder);
    else
        printf("moved %lld files and keys, %lld bytes, each compared with its source\n",
               (long long)r->files, (long long)r->bytes);
}

static void print_start_command(const struct data_move_options *o)
{
    /* Do not print the URL, because it may contain a password. */
    if (o->to.postgres)
        printf("start it: guildhall serve --data '%s' --store URL, with the URL of --to\n",
               o->to.folder);
    else
        printf("start it: guildhall serve --data '%s'\n", o->to.folder);
}

/* Copies the files to another folder or bucket; the database stays unchanged. */
static int move_files_only(const struct data_move_options *o, struct progress_output *meter,
                           const char *to)
{
    struct data_move_report report;

    progress_begin(meter, "move");
    enum err e = data_move_run_for_files_only(o, &report);
    progress_end(meter);
    if (e) {
        fprintf(stderr, "guildhall: the files were not moved; run the command again to continue\n");
        return 1;
    }
    printf("copied %lld files, %lld bytes, each compared with its source\n"
           "start the server with --blobs %s\n",
           (long long)report.files, (long long)report.bytes, to);
    return 0;
}

static int move_database_and_files(const struct data_move_options *o, struct progress_output *meter)
{
    struct data_move_report report;

    progress_begin(meter, "move");
    enum err e = data_move_run(o, &report);
    progress_end(meter);
    if (e) {
        fprintf(stderr, "guildhall: the database was not moved; the source is unchanged\n");
        return 1;
    }
    print_move_report(o, &report);
    print_start_command(o);
    return 0;
}

static bool files_are_stored_in_postgres(const char *blobs)
{
    return strcmp(blobs, "postgres") == 0;
}

/* Without --to-blobs, files in a bucket stay there, and other files move with the database. Files
 * in PostgreSQL are moved to a folder if the target is a data folder. */
static int move_with_options(const struct command_settings *s, struct arena *arena)
{
    const char *to = s->move_to, *blobs = s->config.blobs,
               *to_blobs = s->move_to_blobs ? s->move_to_blobs : blobs;
    struct store_options from = { 0 }, target = { 0 };
    struct progress_output meter;
    bool to_postgres = to ? is_postgres_url(to) : s->config.store != NULL;

    if (!config_get_blob_options(&s->config, blobs, arena, &from) ||
        !config_get_blob_options(&s->config, to_blobs, arena, &target))
        return 1;
    if (s->move_to_blobs && files_are_stored_in_postgres(to_blobs) && !to_postgres)
        return print_usage_error("--to-blobs postgres requires a PostgreSQL database");
    struct data_move_options o = {
        .from = { s->config.data, s->config.store, from.blobs_inside, from.objects },
        .to = { to, NULL, false, target.objects },
        .keys = snapshot_key_files,
        .on_progress = on_move_progress,
        .arg = &meter,
        .rebuild = gifs_rebuild_full_text_index,
    };
    if (!to) {
        o.to = o.from;
        o.to.blobs_inside = files_are_stored_in_postgres(to_blobs);
        o.to.objects = target.objects;
        return move_files_only(&o, &meter, to_blobs);
    }
    if (to_postgres)
        o.to =
            (struct data_move_location){ s->move_to_data ? s->move_to_data : s->config.data, to,
                                         files_are_stored_in_postgres(to_blobs), target.objects };
    else if (s->move_to_data)
        return print_usage_error(
            "--to-data requires --to postgres://…; a folder contains everything");
    return move_database_and_files(&o, &meter);
}

int run_command_move(const struct command_settings *s, char **arguments)
{
    struct arena *arena;

    if (*arguments || (!s->move_to && (!s->move_to_blobs || s->move_to_data)))
        return print_usage_forms("move --to postgres://… [--to-data DIR], move --store "
                                 "postgres://… --to DIR, or move --to-blobs s3://BUCKET");
    arena = arena_new();
    int status = move_with_options(s, arena);
    arena_free(arena);
    return status;
}
