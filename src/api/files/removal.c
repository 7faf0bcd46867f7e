/* removal.c - deletes blobs on the pool, a page at a time.
 *
 * Deletes blobs whose row is marked, and unsettled blobs, for which a process has died before it
 * inserted a row. Rows and entries remain until the blob is deleted, so
 * nothing leaks after a crash; several processes may do this work at the same time. */
#include "api/internal.h"

#include <stdatomic.h>
#include <stdio.h>

#include "api/jobs/errand.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    PAGE = 64,
    LOOK_MS = 60 * 1000,  /* polling interval: other processes mark blobs, too */
    ABANDONED_S = 60 * 60 /* no running call has unsettled blobs that are older */
};

/* A marked row of `files`, or an unsettled blob, of which only the name is set. */
struct doomed_file {
    snowflake id, owner_id;
    int64_t size;
    char name[256];
    bool stays;
};

struct file_removal {
    struct api *api;
    struct loop *loop;
    uv_timer_t *timer;
    struct post post;
    _Atomic bool posted;

    /* Pages are processed one at a time: while busy, only the running step uses `page`. */
    bool busy, again;
    bool want_notes;
    uv_work_t work;
    struct doomed_file page[PAGE];
    size_t count;

    /* Names of unsettled blobs, in their own arena; next: index of the next one to check. */
    struct arena *notes;
    const char **names;
    size_t name_count, name_room, next;
};

static void look_for_work(struct file_removal *r);

static struct file_removal *removal_of(const struct call *call)
{
    return call_passed(call, "file_removal");
}

static void start_errand(struct file_removal *r, enum route_store store,
                         enum err (*run)(struct call *call),
                         void (*done)(struct call *call, enum err e, void *arg))
{
    errand_start(r->api, r->loop,
                 &(struct errand){ .name = "files",
                                   .store = store,
                                   .run = run,
                                   .done = done,
                                   .type = "file_removal",
                                   .data = r,
                                   .arg = r });
}

static void start_pool(struct file_removal *r, void (*run)(uv_work_t *w),
                       void (*done)(uv_work_t *w, int status))
{
    r->work.data = r;
    api_hold(r->api);
    uv_queue_work(loop_uv(r->loop), &r->work, run, done);
}

static void end_pool(struct file_removal *r)
{
    api_release(r->api);
}

/* Ends a page that is finished or has failed; a failed page is retried at the next tick. */
static void end_page(struct file_removal *r, bool more)
{
    r->busy = false;
    if (more || r->again)
        look_for_work(r);
}

static const char MARKED[] =
    "select id, owner_id, size, name from files where gone = 1 order by id limit $1";

static enum err read_marked(struct call *call)
{
    struct file_removal *r = removal_of(call);
    struct rows rows;
    enum err e = tx_query(call->tx, MARKED, BIND(v_int(PAGE)), &rows);

    r->count = 0;
    if (e)
        return e;
    while (rows_next(&rows)) {
        struct doomed_file *f = &r->page[r->count++];

        *f = (struct doomed_file){ row_id(&rows, 0), row_id(&rows, 1), row_int(&rows, 2) };
        snprintf(f->name, sizeof f->name, "%.*s", STR_FMT(row_text(&rows, 3)));
    }
    return rows_end(&rows);
}

static void delete_marked(uv_work_t *w)
{
    struct file_removal *r = w->data;
    bool held = blobs_held(r->api->options.store);

    for (size_t i = 0; i < r->count; i++) {
        /* A backup in progress may contain rows from before the mark, so keep their blobs. */
        enum err e = held ? ERR_UNAVAILABLE : blob_delete(r->api->options.store, r->page[i].name);

        r->page[i].stays = e && e != ERR_NOT_FOUND;
    }
}

static const char FORGET[] = "delete from files where id = $1 and gone = 1";
static const char GIVE_BACK[] = "update file_owners set bytes = bytes - $2 where owner_id = $1";

static enum err forget_marked(struct call *call)
{
    struct file_removal *r = removal_of(call);
    enum err e = OK;

    for (size_t i = 0; !e && i < r->count; i++) {
        const struct doomed_file *f = &r->page[i];
        int64_t forgotten = 0;

        if (!f->stays)
            e = tx_exec(call->tx, FORGET, BIND(v_id(f->id)), &forgotten);
        /* Another process may have deleted the row first. */
        if (!e && forgotten && f->owner_id)
            e = tx_exec(call->tx, GIVE_BACK, BIND(v_id(f->owner_id), v_int(f->size)), NULL);
    }
    return e;
}

static void marked_forgotten(struct call *call, enum err e, void *arg)
{
    struct file_removal *r = arg;
    bool progress = false;

    (void)call;
    for (size_t i = 0; i < r->count; i++)
        progress |= !r->page[i].stays;
    if (e)
        log_warn("files: cannot delete the rows of deleted files, will retry: %s",
                 error_info(e)->message);
    end_page(r, !e && progress && r->count == PAGE);
}

static void marked_deleted(uv_work_t *w, int status)
{
    struct file_removal *r = w->data;

    if (status)
        end_page(r, false);
    else
        start_errand(r, ROUTE_STORE_WRITE, forget_marked, marked_forgotten);
    end_pool(r);
}

static void marked_read(struct call *call, enum err e, void *arg)
{
    struct file_removal *r = arg;

    (void)call;
    if (e || r->count == 0)
        end_page(r, false);
    else
        start_pool(r, delete_marked, marked_deleted);
}

static void add_note(void *arg, const char *name)
{
    struct file_removal *r = arg;

    if (r->name_count == r->name_room) {
        size_t room = r->name_room ? 2 * r->name_room : PAGE;
        const char **names = arena_array(r->notes, const char *, room);

        if (r->name_count)
            memcpy(names, r->names, r->name_count * sizeof *names);
        r->names = names;
        r->name_room = room;
    }
    r->names[r->name_count++] = str_dupz(r->notes, str_of(name));
}

static void gather_notes(struct file_removal *r, int64_t older_than_s)
{
    r->notes = arena_new();
    r->names = NULL;
    r->name_count = r->name_room = r->next = 0;
    blobs_unsettled(r->api->options.store, older_than_s, add_note, r);
}

static void drop_notes(struct file_removal *r)
{
    arena_free(r->notes);
    r->notes = NULL;
}

static void take_names(struct file_removal *r)
{
    for (r->count = 0; r->count < PAGE && r->next < r->name_count; r->count++, r->next++) {
        struct doomed_file *f = &r->page[r->count];

        *f = (struct doomed_file){ 0 };
        snprintf(f->name, sizeof f->name, "%s", r->names[r->next]);
    }
}

static const char HAS_ROW[] = "select 1 from files where name = $1";

static enum err look_for_rows(struct call *call)
{
    struct file_removal *r = removal_of(call);
    enum err e = OK;

    for (size_t i = 0; !e && i < r->count; i++) {
        struct rows row;

        e = tx_one(call->tx, HAS_ROW, BIND(v_text(str_of(r->page[i].name))), &row,
                   &r->page[i].stays);
    }
    return e;
}

static void follow_notes(uv_work_t *w)
{
    struct file_removal *r = w->data;
    struct store *store = r->api->options.store;

    for (size_t i = 0; i < r->count; i++) {
        if (r->page[i].stays)
            blob_settle(store, r->page[i].name);
        else
            blob_delete(store, r->page[i].name);
    }
}

static void notes_followed(uv_work_t *w, int status)
{
    struct file_removal *r = w->data;

    (void)status;
    end_page(r, true);
    end_pool(r);
}

static void rows_looked_for(struct call *call, enum err e, void *arg)
{
    struct file_removal *r = arg;

    (void)call;
    if (e) {
        drop_notes(r);
        end_page(r, false);
        return;
    }
    start_pool(r, follow_notes, notes_followed);
}

static void gather_abandoned(uv_work_t *w)
{
    gather_notes(w->data, ABANDONED_S);
}

static void abandoned_gathered(uv_work_t *w, int status)
{
    struct file_removal *r = w->data;

    (void)status;
    end_page(r, true);
    end_pool(r);
}

static void look_for_work(struct file_removal *r)
{
    if (r->busy || !r->timer || api_draining(r->api)) {
        r->again = r->busy;
        return;
    }
    r->busy = true;
    r->again = false;
    if (r->notes && r->next == r->name_count)
        drop_notes(r);
    if (r->notes) {
        take_names(r);
        start_errand(r, ROUTE_STORE_READ, look_for_rows, rows_looked_for);
    } else if (r->want_notes) {
        r->want_notes = false;
        start_pool(r, gather_abandoned, abandoned_gathered);
    } else {
        start_errand(r, ROUTE_STORE_READ, read_marked, marked_read);
    }
}

static void file_removal_tick(uv_timer_t *timer)
{
    struct file_removal *r = timer->data;

    r->want_notes = true;
    look_for_work(r);
}

static void file_removal_told(struct post *p)
{
    struct file_removal *r = container_of(p, struct file_removal, post);

    r->posted = false;
    look_for_work(r);
}

void file_removal_expect(struct file_removal *r)
{
    if (r->loop && !atomic_exchange(&r->posted, true))
        loop_post(r->loop, &r->post);
}

struct file_removal *file_removal_new(struct api *api)
{
    struct file_removal *r = mem_new(sizeof *r);

    r->api = api;
    r->post.run = file_removal_told;
    return r;
}

static void open_timer(struct loop *loop, void *arg)
{
    struct file_removal *r = arg;

    r->timer = mem_new(sizeof *r->timer);
    uv_timer_init(loop_uv(loop), r->timer);
    r->timer->data = r;
    uv_timer_start(r->timer, file_removal_tick, LOOK_MS, LOOK_MS);
    look_for_work(r);
}

void file_removal_start(struct file_removal *r, struct loop *loop)
{
    /* No call runs yet: if no other process uses the folder, every unsettled blob is abandoned. */
    gather_notes(r, store_is_alone(r->api->options.store) ? 0 : ABANDONED_S);
    r->loop = loop;
    loop_call(loop, open_timer, r);
}

static void free_timer(uv_handle_t *handle)
{
    mem_free(handle);
}

static void close_timer(struct loop *loop, void *arg)
{
    struct file_removal *r = arg;

    (void)loop;
    uv_close((uv_handle_t *)r->timer, free_timer);
    r->timer = NULL;
}

void file_removal_stop(struct file_removal *r)
{
    loop_call(r->loop, close_timer, r);
}

void file_removal_free(struct file_removal *r)
{
    arena_free(r->notes);
    mem_free(r);
}
