/* files.c - rows of blobs: upload quotas, and marking blobs for deletion.
 *
 * COMPUTE writes a blob before it has a row. The handler's transaction inserts the row; if it
 * fails, the blob is deleted. If the process dies in between, the store's list of unsettled blobs
 * has it. A dropped blob is marked in the transaction and deleted later by file_removal.c, so
 * neither the writer nor a loop waits for a disk. */
#include "api/internal.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    /* Must be far below ABANDONED_S of file_removal.c, after which a blob without a row is
     * deleted. */
    MOST_SECONDS_BEFORE_COMMIT = 30 * 60,
};
static const int64_t DAY_US = INT64_C(86400) * 1000 * 1000;

enum err call_keep_blob(struct call *call, snowflake id, const char *name, struct str bytes)
{
    enum err e = blob_put(call->api->options.store, name, bytes);
    struct kept_blob *k = arena_alloc(call->arena, sizeof *k);

    *k = (struct kept_blob){ .next = run_of(call)->effects.blobs,
                             .id = id,
                             .name = str_dupz(call->arena, str_of(name)),
                             .size = (int64_t)bytes.n,
                             .since_ms = uv_hrtime() / (1000 * 1000) };
    blob_digest(bytes, k->digest);
    run_of(call)->effects.blobs = k;
    return e;
}

static struct kept_blob *find_kept(struct call *call, const char *name)
{
    struct kept_blob *k = run_of(call)->effects.blobs;

    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    return k;
}

static const char MARK[] = "update files set gone = 1 where name = $1";

enum err call_drop_blob(struct call *call, const char *name)
{
    struct kept_blob *own = find_kept(call, name);

    if (own) {
        own->dropped = true;
        return OK;
    }
    call_dropped_blobs(call);
    return tx_exec(call->tx, MARK, BIND(v_text(str_of(name))), NULL);
}

void call_dropped_blobs(struct call *call)
{
    run_of(call)->effects.dropped = true;
}

static const char COUNT_BYTES[] =
    "insert into file_owners (owner_id, bytes, day, day_bytes) values ($1, $2, $3, $2) "
    "on conflict (owner_id) do update set bytes = file_owners.bytes + excluded.bytes, "
    "day_bytes = excluded.day_bytes + case when file_owners.day = excluded.day "
    "then file_owners.day_bytes else 0 end, day = excluded.day returning bytes, day_bytes";

static enum err count_bytes(struct call *call, snowflake owner_id, int64_t size)
{
    const struct api_options *o = &call->api->options;
    struct rows row;
    bool found;
    enum err e =
        tx_one(call->tx, COUNT_BYTES, BIND(v_id(owner_id), v_int(size), v_int(clock_us() / DAY_US)),
               &row, &found);

    if (e)
        return e;
    if ((o->quota && row_int(&row, 0) > o->quota) ||
        (o->daily_quota && row_int(&row, 1) > o->daily_quota))
        return ERR_UPLOAD_QUOTA;
    return OK;
}

static const char ADD[] = "insert into files (id, name, owner_id, size, created_at, digest) "
                          "values ($1, $2, $3, $4, $5, $6)";

enum err files_record(struct call *call)
{
    snowflake owner_id = call->files_of ? call->files_of : call->caller ? call->caller->id : 0;
    uint64_t now_ms = uv_hrtime() / (1000 * 1000);
    int64_t size = 0;
    enum err e = OK;

    for (struct kept_blob *k = run_of(call)->effects.blobs; k && !e; k = k->next) {
        if (k->dropped)
            continue;
        if (now_ms - k->since_ms > MOST_SECONDS_BEFORE_COMMIT * 1000)
            return ERR_UNAVAILABLE;
        size += k->size;
        e = tx_exec(call->tx, ADD,
                    BIND(v_id(k->id), v_text(str_of(k->name)), v_id(owner_id), v_int(k->size),
                         v_int(clock_us()), v_text(str_of(k->digest))),
                    NULL);
    }
    return e || !size || !owner_id ? e : count_bytes(call, owner_id, size);
}

void files_forget_attempt(struct call *call)
{
    struct call_effects *effects = &run_of(call)->effects;

    effects->dropped = false;
    for (struct kept_blob *k = effects->blobs; k; k = k->next)
        k->dropped = false;
}

struct file_end {
    uv_work_t work;
    struct api *api;
    struct arena *arena;
    const struct kept_blob *kept;
};

static void end_files(uv_work_t *w)
{
    struct file_end *end = w->data;
    struct store *store = end->api->options.store;

    for (const struct kept_blob *k = end->kept; k; k = k->next) {
        if (k->dropped)
            blob_delete(store, k->name);
        else
            blob_settle(store, k->name);
    }
}

static void files_ended(uv_work_t *w, int status)
{
    struct file_end *end = w->data;
    struct api *api = end->api;

    (void)status;
    arena_free(end->arena);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

/* Copies the list of blobs, because the call is freed before the pool has finished. */
static const struct kept_blob *copy_kept(struct arena *a, const struct kept_blob *k, bool refused)
{
    struct kept_blob *copies = NULL;

    for (; k; k = k->next) {
        struct kept_blob *copy = arena_alloc(a, sizeof *copy);

        *copy = (struct kept_blob){ .next = copies,
                                    .name = str_dupz(a, str_of(k->name)),
                                    .dropped = refused || k->dropped };
        copies = copy;
    }
    return copies;
}

void files_finish(struct call *call, enum err e)
{
    const struct kept_blob *kept = run_of(call)->effects.blobs;

    /* After ERR_UNAVAILABLE the commit may have happened, so the rows may exist: leave the blobs
     * unsettled; file_removal.c checks for rows later. */
    if (!kept || e == ERR_UNAVAILABLE)
        return;
    struct arena *arena = arena_new();
    struct file_end *end = arena_alloc(arena, sizeof *end);

    *end = (struct file_end){ .work.data = end, .api = call->api, .arena = arena };
    end->kept = copy_kept(arena, kept, e);
    atomic_fetch_add_explicit(&call->api->running, 1, memory_order_relaxed);
    uv_queue_work(loop_uv(call->loop), &end->work, end_files, files_ended);
}
