/* blob_rows.c - rows of blobs: upload quotas, and marking blobs for deletion.
 *
 * The COMPUTE stage writes a blob (stored file) before the blob has a row. The handler's
 * transaction inserts the row; if it fails, the blob is deleted. If the process dies in between,
 * the blob is in the store's list of unsettled blobs, which have no row yet. To delete a blob, the
 * transaction marks its row, and file_removal.c deletes the file later, so neither the writer nor
 * a loop waits for a disk. */
#include "api/internal.h"

#include <stdatomic.h>

#include "api/files/file_rows.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
    /* Maximum time between writing a blob and committing its row. Must be far below ABANDONED_S of
     * file_removal.c, the age at which a blob without a row is deleted. */
    MOST_SECONDS_BEFORE_COMMIT = 30 * 60,
};
static const int64_t DAY_US = INT64_C(86400) * 1000 * 1000;

enum err call_write_blob(struct call *call, snowflake id, const char *name, struct str bytes)
{
    enum err e = blob_put(call->api->options.store, name, bytes);
    struct written_blob *k = arena_alloc(call->arena, sizeof *k);

    *k = (struct written_blob){ .next = call_get_context(call)->effects.blobs,
                                .id = id,
                                .name = str_dup_cstring(call->arena, str_of(name)),
                                .size = (int64_t)bytes.n,
                                .since_ms = uv_hrtime() / (1000 * 1000) };
    blob_compute_digest(bytes, k->digest);
    call_get_context(call)->effects.blobs = k;
    return e;
}

static struct written_blob *find_written_blob(struct call *call, const char *name)
{
    struct written_blob *k = call_get_context(call)->effects.blobs;

    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    return k;
}

static const char MARK_FILE_DELETED[] = "update files set gone = 1 where name = $1";

enum err call_delete_blob(struct call *call, const char *name)
{
    struct written_blob *own = find_written_blob(call, name);

    if (own) {
        own->delete_anyway = true;
        return OK;
    }
    call_schedule_blob_deletion_after_commit(call);
    return tx_exec(call->tx, MARK_FILE_DELETED, BIND(v_text(str_of(name))), NULL);
}

void call_schedule_blob_deletion_after_commit(struct call *call)
{
    call_get_context(call)->effects.files_marked_deleted = true;
}

static const char COUNT_BYTES[] =
    "insert into file_owners (owner_id, bytes, day, day_bytes) values ($1, $2, $3, $2) "
    "on conflict (owner_id) do update set bytes = file_owners.bytes + excluded.bytes, "
    "day_bytes = excluded.day_bytes + case when file_owners.day = excluded.day "
    "then file_owners.day_bytes else 0 end, day = excluded.day returning bytes, day_bytes";

static enum err count_bytes_against_upload_quota(struct call *call, snowflake owner_id,
                                                 int64_t size)
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

static const char INSERT_FILE[] =
    "insert into files (id, name, owner_id, size, created_at, digest) "
    "values ($1, $2, $3, $4, $5, $6) on conflict (name) do update set size = excluded.size, "
    "digest = excluded.digest, gone = 0";

enum err file_insert_row(struct tx *tx, const struct new_file_row *f)
{
    return tx_exec(tx, INSERT_FILE,
                   BIND(v_id(f->id), v_text(str_of(f->name)), v_id(f->owner_id), v_int(f->size),
                        v_int(clock_us()), v_text(str_of(f->digest))),
                   NULL);
}

enum err insert_call_file_rows(struct call *call)
{
    snowflake owner_id = call->files_of ? call->files_of : call->caller ? call->caller->id : 0;
    uint64_t now_ms = uv_hrtime() / (1000 * 1000);
    int64_t size = 0;
    enum err e = OK;

    for (struct written_blob *k = call_get_context(call)->effects.blobs; k && !e; k = k->next) {
        if (k->delete_anyway)
            continue;
        if (now_ms - k->since_ms > MOST_SECONDS_BEFORE_COMMIT * 1000)
            return ERR_UNAVAILABLE;
        size += k->size;
        e = file_insert_row(call->tx,
                            &(struct new_file_row){ k->id, owner_id, k->name, k->digest, k->size });
    }
    return e || !size || !owner_id ? e : count_bytes_against_upload_quota(call, owner_id, size);
}

void reset_call_files_before_retry(struct call *call)
{
    struct call_commit_effects *effects = &call_get_context(call)->effects;

    effects->files_marked_deleted = false;
    for (struct written_blob *k = effects->blobs; k; k = k->next)
        k->delete_anyway = false;
}

struct blob_cleanup {
    uv_work_t work;
    struct api *api;
    struct arena *arena;
    const struct written_blob *retained;
};

static void delete_or_commit_blobs_of_call(uv_work_t *w)
{
    struct blob_cleanup *end = w->data;
    struct store *store = end->api->options.store;

    for (const struct written_blob *k = end->retained; k; k = k->next) {
        if (k->delete_anyway)
            blob_delete(store, k->name);
        else
            blob_mark_row_committed(store, k->name);
    }
}

static void on_blobs_deleted_or_committed(uv_work_t *w, int status)
{
    struct blob_cleanup *end = w->data;
    struct api *api = end->api;

    (void)status;
    arena_free(end->arena);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

/* Copies the list of written blobs, because the call is freed before the pool has deleted them. */
static const struct written_blob *copy_written_blobs(struct arena *a, const struct written_blob *k,
                                                     bool refused)
{
    struct written_blob *copies = NULL;

    for (; k; k = k->next) {
        struct written_blob *copy = arena_alloc(a, sizeof *copy);

        *copy = (struct written_blob){ .next = copies,
                                       .name = str_dup_cstring(a, str_of(k->name)),
                                       .delete_anyway = refused || k->delete_anyway };
        copies = copy;
    }
    return copies;
}

void call_delete_unused_blobs(struct call *call, enum err e)
{
    const struct written_blob *written = call_get_context(call)->effects.blobs;

    /* After ERR_UNAVAILABLE the rows may have been committed. Leave the blobs in the store's list
     * of blobs without a row; file_removal.c checks later whether they have one. The same is true
     * after ERR_FILES_UNAVAILABLE: the object storage may still store the files. */
    if (!written || e == ERR_UNAVAILABLE || e == ERR_FILES_UNAVAILABLE)
        return;
    struct arena *arena = arena_new();
    struct blob_cleanup *end = arena_alloc(arena, sizeof *end);

    *end = (struct blob_cleanup){ .work.data = end, .api = call->api, .arena = arena };
    end->retained = copy_written_blobs(arena, written, e);
    atomic_fetch_add_explicit(&call->api->running, 1, memory_order_relaxed);
    uv_queue_work(loop_get_uv_loop(call->loop), &end->work, delete_or_commit_blobs_of_call,
                  on_blobs_deleted_or_committed);
}
