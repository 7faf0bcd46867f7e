/* file_removal.c - deletes blobs on the thread pool, a page at a time.
 *
 * Deletes blobs (stored files) whose row is marked, and unsettled blobs, whose process died before
 * it inserted a row. The row or list entry of a blob remains until the blob is deleted, so no blob
 * is left after a crash. Several processes may do this work at the same time. */
#include "api/internal.h"

#include <stdatomic.h>
#include <stdio.h>

#include "api/jobs/internal_call.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    PAGE = 64,
    POLL_MS = 60 * 1000,  /* polling interval; polling finds blobs that other processes have
                           * marked */
    ABANDONED_S = 60 * 60 /* in seconds: a blob without a row that is older than this belongs to no
                           * running call */
};

/* A blob to delete: a row of the table `files` that is marked as deleted, or only the name of a
 * blob without a row. */
struct file_to_delete {
    snowflake id, owner_id;
    int64_t size;
    char name[256];
    bool stays;
};

struct file_removal {
    struct api *api;
    struct loop *loop;
    uv_timer_t *timer;
    struct loop_message post;
    _Atomic bool posted;

    /* Pages of blobs are processed one at a time. While `busy` is set, only the running step uses
     * `page`. If `again` is set, another page is processed afterwards. */
    bool busy, again;
    bool list_unsettled;
    uv_work_t work;
    struct file_to_delete page[PAGE];
    size_t count;

    /* Names of blobs without a row, in an arena of their own; next is the next index to check. */
    struct arena *unsettled_arena;
    const char **names;
    size_t name_count, name_room, next;
};

static void start_removal_of_next_file_page(struct file_removal *r);

static struct file_removal *get_file_removal_of_call(const struct call *call)
{
    return call_get_stage_data(call, "file_removal");
}

static void start_file_removal_transaction(struct file_removal *r,
                                           enum route_transaction_kind store,
                                           enum err (*run)(struct call *call),
                                           void (*done)(struct call *call, enum err e, void *arg))
{
    internal_call_start(r->api, r->loop,
                        &(struct internal_call){ .name = "files",
                                                 .store = store,
                                                 .run = run,
                                                 .done = done,
                                                 .type = "file_removal",
                                                 .data = r,
                                                 .arg = r });
}

static void start_file_removal_work_on_pool(struct file_removal *r, void (*run)(uv_work_t *w),
                                            void (*done)(uv_work_t *w, int status))
{
    r->work.data = r;
    api_record_background_work_start(r->api);
    uv_queue_work(loop_get_uv_loop(r->loop), &r->work, run, done);
}

static void end_file_removal_work_on_pool(struct file_removal *r)
{
    api_record_background_work_end(r->api);
}

/* Ends the work on a page of blobs, which were deleted or could not be deleted. A page with
 * failures is tried again at the next poll. */
static void finish_removal_of_file_page(struct file_removal *r, bool more)
{
    r->busy = false;
    if (more || r->again)
        start_removal_of_next_file_page(r);
}

static const char MARKED[] =
    "select id, owner_id, size, name from files where gone = 1 order by id limit $1";

static enum err read_marked_files(struct call *call)
{
    struct file_removal *r = get_file_removal_of_call(call);
    struct rows rows;
    enum err e = tx_query(call->tx, MARKED, BIND(v_int(PAGE)), &rows);

    r->count = 0;
    if (e)
        return e;
    while (rows_next(&rows)) {
        struct file_to_delete *f = &r->page[r->count++];

        *f = (struct file_to_delete){ row_id(&rows, 0), row_id(&rows, 1), row_int(&rows, 2) };
        snprintf(f->name, sizeof f->name, "%.*s", STR_ARGS(row_text(&rows, 3)));
    }
    return rows_end(&rows);
}

static void delete_marked_blobs(uv_work_t *w)
{
    struct file_removal *r = w->data;
    bool backup_running = blobs_deletion_is_locked(r->api->options.store);

    for (size_t i = 0; i < r->count; i++) {
        /* Do not delete blobs while a backup runs: the backup may contain rows of these blobs from
         * before they were marked. */
        enum err e =
            backup_running ? ERR_UNAVAILABLE : blob_delete(r->api->options.store, r->page[i].name);

        r->page[i].stays = e && e != ERR_NOT_FOUND;
    }
}

static const char DELETE_FILE_ROW[] = "delete from files where id = $1 and gone = 1";
static const char SUBTRACT_OWNER_BYTES[] =
    "update file_owners set bytes = bytes - $2 where owner_id = $1";

static enum err delete_marked_rows(struct call *call)
{
    struct file_removal *r = get_file_removal_of_call(call);
    enum err e = OK;

    for (size_t i = 0; !e && i < r->count; i++) {
        const struct file_to_delete *f = &r->page[i];
        int64_t deleted = 0;

        if (!f->stays)
            e = tx_exec(call->tx, DELETE_FILE_ROW, BIND(v_id(f->id)), &deleted);
        /* If the row was already deleted, another process has done it and updated the quota. */
        if (!e && deleted && f->owner_id)
            e = tx_exec(call->tx, SUBTRACT_OWNER_BYTES, BIND(v_id(f->owner_id), v_int(f->size)),
                        NULL);
    }
    return e;
}

static void on_marked_rows_deleted(struct call *call, enum err e, void *arg)
{
    struct file_removal *r = arg;
    bool progress = false;

    (void)call;
    for (size_t i = 0; i < r->count; i++)
        progress |= !r->page[i].stays;
    if (e)
        log_warn("files: cannot delete the rows of deleted files, will retry: %s",
                 error_info(e)->message);
    finish_removal_of_file_page(r, !e && progress && r->count == PAGE);
}

static void on_marked_blobs_deleted(uv_work_t *w, int status)
{
    struct file_removal *r = w->data;

    if (status)
        finish_removal_of_file_page(r, false);
    else
        start_file_removal_transaction(r, ROUTE_STORE_WRITE, delete_marked_rows,
                                       on_marked_rows_deleted);
    end_file_removal_work_on_pool(r);
}

static void on_marked_files_read(struct call *call, enum err e, void *arg)
{
    struct file_removal *r = arg;

    (void)call;
    if (e || r->count == 0)
        finish_removal_of_file_page(r, false);
    else
        start_file_removal_work_on_pool(r, delete_marked_blobs, on_marked_blobs_deleted);
}

static void add_uncommitted_blob_name(void *arg, const char *name)
{
    struct file_removal *r = arg;

    if (r->name_count == r->name_room) {
        size_t room = r->name_room ? 2 * r->name_room : PAGE;
        const char **names = arena_array(r->unsettled_arena, const char *, room);

        if (r->name_count)
            memcpy(names, r->names, r->name_count * sizeof *names);
        r->names = names;
        r->name_room = room;
    }
    r->names[r->name_count++] = str_dup_cstring(r->unsettled_arena, str_of(name));
}

static void list_uncommitted_blobs_on_pool(struct file_removal *r, int64_t older_than_s)
{
    r->unsettled_arena = arena_new();
    r->names = NULL;
    r->name_count = r->name_room = r->next = 0;
    blobs_list_uncommitted(r->api->options.store, older_than_s, add_uncommitted_blob_name, r);
}

static void free_uncommitted_blob_names(struct file_removal *r)
{
    arena_free(r->unsettled_arena);
    r->unsettled_arena = NULL;
}

static void fill_page_with_uncommitted_names(struct file_removal *r)
{
    for (r->count = 0; r->count < PAGE && r->next < r->name_count; r->count++, r->next++) {
        struct file_to_delete *f = &r->page[r->count];

        *f = (struct file_to_delete){ 0 };
        snprintf(f->name, sizeof f->name, "%s", r->names[r->next]);
    }
}

static const char HAS_ROW[] = "select 1 from files where name = $1";

static enum err read_whether_blobs_have_rows(struct call *call)
{
    struct file_removal *r = get_file_removal_of_call(call);
    enum err e = OK;

    for (size_t i = 0; !e && i < r->count; i++) {
        struct rows row;

        e = tx_one(call->tx, HAS_ROW, BIND(v_text(str_of(r->page[i].name))), &row,
                   &r->page[i].stays);
    }
    return e;
}

static void commit_or_delete_blobs_of_page(uv_work_t *w)
{
    struct file_removal *r = w->data;
    struct store *store = r->api->options.store;

    for (size_t i = 0; i < r->count; i++) {
        if (r->page[i].stays)
            blob_mark_row_committed(store, r->page[i].name);
        else
            blob_delete(store, r->page[i].name);
    }
}

static void on_blobs_of_page_committed_or_deleted(uv_work_t *w, int status)
{
    struct file_removal *r = w->data;

    (void)status;
    finish_removal_of_file_page(r, true);
    end_file_removal_work_on_pool(r);
}

static void on_blob_rows_read(struct call *call, enum err e, void *arg)
{
    struct file_removal *r = arg;

    (void)call;
    if (e) {
        free_uncommitted_blob_names(r);
        finish_removal_of_file_page(r, false);
        return;
    }
    start_file_removal_work_on_pool(r, commit_or_delete_blobs_of_page,
                                    on_blobs_of_page_committed_or_deleted);
}

static void list_abandoned_blobs(uv_work_t *w)
{
    list_uncommitted_blobs_on_pool(w->data, ABANDONED_S);
}

static void on_abandoned_blobs_listed(uv_work_t *w, int status)
{
    struct file_removal *r = w->data;

    (void)status;
    finish_removal_of_file_page(r, true);
    end_file_removal_work_on_pool(r);
}

static void start_removal_of_next_file_page(struct file_removal *r)
{
    if (r->busy || !r->timer || api_is_draining(r->api)) {
        r->again = r->busy;
        return;
    }
    r->busy = true;
    r->again = false;
    if (r->unsettled_arena && r->next == r->name_count)
        free_uncommitted_blob_names(r);
    if (r->unsettled_arena) {
        fill_page_with_uncommitted_names(r);
        start_file_removal_transaction(r, ROUTE_STORE_READ, read_whether_blobs_have_rows,
                                       on_blob_rows_read);
    } else if (r->list_unsettled) {
        r->list_unsettled = false;
        start_file_removal_work_on_pool(r, list_abandoned_blobs, on_abandoned_blobs_listed);
    } else {
        start_file_removal_transaction(r, ROUTE_STORE_READ, read_marked_files,
                                       on_marked_files_read);
    }
}

static void on_poll_timer(uv_timer_t *timer)
{
    struct file_removal *r = timer->data;

    r->list_unsettled = true;
    start_removal_of_next_file_page(r);
}

static void on_file_removal_scheduled(struct loop_message *p)
{
    struct file_removal *r = container_of(p, struct file_removal, post);

    r->posted = false;
    start_removal_of_next_file_page(r);
}

void file_removal_schedule(struct file_removal *r)
{
    if (r->loop && !atomic_exchange(&r->posted, true))
        loop_post_message(r->loop, &r->post);
}

struct file_removal *file_removal_new(struct api *api)
{
    struct file_removal *r = mem_new(sizeof *r);

    r->api = api;
    r->post.run = on_file_removal_scheduled;
    return r;
}

static void start_poll_timer(struct loop *loop, void *arg)
{
    struct file_removal *r = arg;

    r->timer = mem_new(sizeof *r->timer);
    uv_timer_init(loop_get_uv_loop(loop), r->timer);
    r->timer->data = r;
    uv_timer_start(r->timer, on_poll_timer, POLL_MS, POLL_MS);
    start_removal_of_next_file_page(r);
}

void file_removal_start(struct file_removal *r, struct loop *loop)
{
    /* At this time no call is running. So if no other process uses the data folder, every blob
     * without a row is abandoned. */
    list_uncommitted_blobs_on_pool(
        r, store_has_locked_data_folder(r->api->options.store) ? 0 : ABANDONED_S);
    r->loop = loop;
    loop_run_function_and_wait(loop, start_poll_timer, r);
}

static void free_poll_timer(uv_handle_t *handle)
{
    mem_free(handle);
}

static void stop_poll_timer(struct loop *loop, void *arg)
{
    struct file_removal *r = arg;

    (void)loop;
    uv_close((uv_handle_t *)r->timer, free_poll_timer);
    r->timer = NULL;
}

void file_removal_stop(struct file_removal *r)
{
    loop_run_function_and_wait(r->loop, stop_poll_timer, r);
}

void file_removal_free(struct file_removal *r)
{
    arena_free(r->unsettled_arena);
    mem_free(r);
}
