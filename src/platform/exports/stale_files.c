/* stale_files.c - deletes export files that can no longer be downloaded.
 *
 * If nodes have separate folders, the node that deletes an export often does not have its file, and
 * an export that one node started may have started again on another. So each node checks whether
 * the files in its folder still have an export row, a few files per step. */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "platform/exports/internal.h"

enum { STEP_FILES = 64 };

struct stale_export_files {
    struct api *api;
    struct loop *loop;
    DIR *folder; /* open directory; the thread pool reads a part of it in each step */
    snowflake ids[STEP_FILES];
    bool is_needed[STEP_FILES];
    size_t count;
    bool ended;
};

/* --- stages that run on the thread pool ---------------------------------------------- */

static bool parse_export_file_name(const char *name, snowflake *ret)
{
    struct str rest = str_of(name), id = str_cut(&rest, '.');

    return str_is(rest, "tar") && snowflake_parse(id, ret);
}

static enum err delete_stale_files(struct call *call)
{
    const struct stale_export_files *x = call_get_stage_data(call, "stale_export_files");

    for (size_t i = 0; i < x->count; i++)
        if (!x->is_needed[i] && unlink(data_export_path(call, x->ids[i])) != 0 && errno != ENOENT)
            log_warn("export: cannot delete the stale export file '%s'",
                     data_export_path(call, x->ids[i]));
    return OK;
}

/* --- stages that run in a read transaction ------------------------------------------- */

static const char FIND_WANTED[] =
    "select 1 from exports where id = $1 and (ready = 0 or expires_at > $2)";

/* An export's row is committed before its file is created, so a file without a row is stale. */
static enum err find_needed_exports(struct call *call)
{
    struct stale_export_files *x = call_get_stage_data(call, "stale_export_files");
    enum err e = OK;

    for (size_t i = 0; i < x->count && !e; i++) {
        struct rows row;

        e = tx_one(call->tx, FIND_WANTED, BIND(v_id(x->ids[i]), v_int(clock_us())), &row,
                   &x->is_needed[i]);
    }
    return e;
}

/* Runs on the thread pool. The folder does not exist before the first export. */
static enum err list_export_files(struct call *call)
{
    struct stale_export_files *x = call_get_stage_data(call, "stale_export_files");
    const struct dirent *entry;

    if (!x->folder)
        x->folder = opendir(data_export_folder(call));
    x->count = 0;
    while (x->folder && x->count < STEP_FILES && (entry = readdir(x->folder)))
        if (parse_export_file_name(entry->d_name, &x->ids[x->count]))
            x->count++;
    x->ended = x->count < STEP_FILES;
    if (x->count) {
        call->read = find_needed_exports;
        call->compute = delete_stale_files;
    }
    return OK;
}

static enum err finish_cleanup_without_write(struct call *call)
{
    (void)call; /* unused: the step only deletes files */
    return OK;
}

static void start_next_cleanup_batch(struct stale_export_files *x);

/* A failed cleanup is retried on the next day. */
static void on_cleanup_batch_done(struct call *call, enum err e, void *arg)
{
    struct stale_export_files *x = arg;

    (void)call;
    if (!e && !x->ended && !api_is_draining(x->api)) {
        start_next_cleanup_batch(x);
        return;
    }
    if (x->folder)
        closedir(x->folder);
    mem_free(x);
}

static void start_next_cleanup_batch(struct stale_export_files *x)
{
    internal_call_start(x->api, x->loop,
                        &(struct internal_call){ .name = "export-leftovers",
                                                 .store = ROUTE_STORE_READ,
                                                 .decode = list_export_files,
                                                 .long_input = true,
                                                 .run = finish_cleanup_without_write,
                                                 .done = on_cleanup_batch_done,
                                                 .type = "stale_export_files",
                                                 .data = x,
                                                 .arg = x });
}

void data_exports_delete_stale_files(struct api *api, struct loop *loop)
{
    struct stale_export_files *x = mem_new(sizeof *x);

    x->api = api;
    x->loop = loop;
    start_next_cleanup_batch(x);
}
