/* import.c - imports a world file into the store, in one transaction. */
#include "base/clock.h"
#include "json/read.h"
#include "platform/worlds/import_export.h"

struct world_import {
    struct store *store;
    const struct world_file_import_options *options;
    const struct world_file_format *format;
    const void *file;
    struct arena *arena;
    struct world_file_import_report *report;
    struct form form;
    struct list pictures; /* struct world_file_picture */
    struct map archived;  /* archive's files: hash of the path to struct archived_file */
    struct list unread, stored_files; /* struct archived_file pointers */
    size_t pictures_put;
    int64_t entry_count; /* number of objects in the file, for the progress report */
};

/* --- pictures ------------------------------------------------------------------------- */

/* Stores the pictures of the world file before the commit, so that a failed write rolls back the
 * whole import. This is quick, because pictures are limited to 512 KiB. Files of an archive are
 * larger; they are stored before the transaction begins. */
static enum err store_pictures_of_world_file(struct world_import *in)
{
    const struct world_file_picture *p = in->pictures.items;
    enum err e = OK;

    for (in->pictures_put = 0; in->pictures_put < in->pictures.count && !e; in->pictures_put++) {
        const struct world_file_picture *picture = &p[in->pictures_put];

        e = blob_put(in->store, picture->name, picture->bytes);
    }
    return e;
}

/* Stores the files of the archive that the previous import attempt needed but did not find in the
 * store. Returns false if there were none, or on an error. */
static bool store_archived_files_of_import(struct world_import *in, enum err *ret)
{
    struct archived_file *const *files = in->unread.items;
    size_t count = in->unread.count;

    in->unread = (struct list){ 0 };
    for (size_t i = 0; i < count; i++) {
        *(struct archived_file **)list_append(in->arena, &in->stored_files, sizeof *files) =
            files[i];
        *ret = archived_file_store(in->store, files[i]);
        if (*ret)
            return false;
    }
    return count > 0;
}

/* After a successful import, marks the blobs of the pictures as committed; after a failed one,
 * deletes them. If the process dies before, the next start of the server deletes them. */
static void confirm_or_delete_imported_pictures(struct world_import *in, bool imported)
{
    const struct world_file_picture *p = in->pictures.items;

    for (size_t i = 0; i < in->pictures_put; i++) {
        if (imported)
            blob_mark_row_committed(in->store, p[i].name);
        else
            blob_delete(in->store, p[i].name);
    }
    struct archived_file *const *files = in->stored_files.items;
    for (size_t i = 0; i < in->stored_files.count; i++) {
        if (files[i]->size >= 0 && imported)
            blob_mark_row_committed(in->store, files[i]->name);
        else if (files[i]->size >= 0)
            blob_delete(in->store, files[i]->name);
    }
}

/* --- the file ------------------------------------------------------------------------- */

static void init_world_import_report(struct world_file_import_report *report)
{
    static const char *const words[] = {
        [COUNT_USERS] = "users",       [COUNT_APPLICATIONS] = "applications",
        [COUNT_GUILDS] = "guilds",     [COUNT_ROLES] = "roles",
        [COUNT_CHANNELS] = "channels", [COUNT_MEMBERS] = "members",
        [COUNT_MESSAGES] = "messages", [COUNT_RELATIONSHIPS] = "relationships",
        [COUNT_COMMANDS] = "commands",
    };

    *report = (struct world_file_import_report){ 0 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        report->counts[i].what = words[i];
}

static enum err import_world_in_transaction(struct tx *tx, void *arg)
{
    struct world_import *in = arg;
    struct world_file_importer im = { .format = in->format,
                                      .tx = tx,
                                      .arena = in->arena,
                                      .options = in->options,
                                      .report = in->report,
                                      .form = &in->form,
                                      .pictures = &in->pictures,
                                      .archived = &in->archived,
                                      .unread = &in->unread };

    int64_t began = clock_monotonic_ns();

    in->pictures = (struct list){ 0 };
    in->unread = (struct list){ 0 };
    in->form = (struct form){ .arena = in->arena };
    init_world_import_report(in->report);
    world_file_progress_begin(in->options->progress, "entries", in->entry_count);
    enum err e = world_file_import_fields(&im, NULL, in->file, NULL, 0);
    if (!e && form_has_errors(&in->form))
        return ERR_INVALID_FORM_BODY;
    if (!e && in->unread.count)
        return ERR_UNAVAILABLE; /* the import starts again after these files were stored */
    if (!e)
        e = store_pictures_of_world_file(in);
    in->report->transaction_us = (clock_monotonic_ns() - began) / 1000;
    return e;
}

static enum err format_import_errors(enum err e, const struct form *form, struct str text,
                                     struct arena *arena, struct str *ret)
{
    if (e == ERR_INVALID_JSON)
        *ret = str_printf(arena, "the file: %.*s\n",
                          STR_ARGS(json_describe_syntax_error(text, arena)));
    else if (e == ERR_INVALID_FORM_BODY)
        *ret = world_file_format_errors(form, arena);
    return e;
}

enum err world_file_validate(const struct domain *const *domains, struct str text,
                             struct arena *arena, struct str *ret_problems)
{
    const struct type *type = world_file_schema_type(world_file_format_of_domains(domains));
    struct form form = { .arena = arena };
    void *file;

    *ret_problems = STR("");
    return format_import_errors(schema_decode(type, text, &form, &file), &form, text, arena,
                                ret_problems);
}

enum err world_file_import(struct store *store, const struct world_file_import_options *options,
                           struct str text, struct arena *arena,
                           struct world_file_import_report *ret)
{
    struct world_import in = {
        .store = store,
        .options = options,
        .format = world_file_format_of_domains(options->domains),
        .arena = arena,
        .report = ret,
        .form = { arena },
    };
    void *file;

    init_world_import_report(ret);
    enum err e = schema_decode(world_file_schema_type(in.format), text, &in.form, &file);
    if (!e) {
        in.file = file;
        in.entry_count = options->progress ? json_count_objects(text) : 0;
        e = world_file_prepare_fields_before_import(in.format, options, arena, file);
    }
    map_init(&in.archived);
    do {
        if (!e)
            e = store_run_transaction_and_wait(store, STORE_WRITE, arena,
                                               import_world_in_transaction, &in);
    } while (e == ERR_UNAVAILABLE && store_archived_files_of_import(&in, &e));
    map_clear(&in.archived);
    confirm_or_delete_imported_pictures(&in, !e);
    return format_import_errors(e, &in.form, text, arena, &ret->problems);
}

/* --- is the store empty? -------------------------------------------------------------- */

static enum err read_store_is_empty(struct tx *tx, void *arg)
{
    bool found;
    enum err e = tx_exists(tx, "select id from users limit 1", NO_BIND, &found);

    *(bool *)arg = !found;
    return e;
}

enum err store_has_no_accounts(struct store *store, bool *ret)
{
    return store_run_transaction_and_wait(store, STORE_READ, NULL, read_store_is_empty, ret);
}
