/* objects.c - blobs as objects of an S3-compatible object storage.
 *
 * Before an object is uploaded, a row of object_uploads is committed; the row is deleted after the
 * row of the blob is committed. So after a crash at any moment, all objects without a row in
 * `files` are listed in this small table, and file_removal.c deletes them together with parts of
 * their incomplete uploads. The list is in the database and not in the data folder, because a node
 * may be lost together with its folder. */
#include "base/clock.h"
#include "base/log.h"
#include "net/client/object_storage.h"
#include "store/internal.h"

enum err remote_blobs_init(struct store *s, const struct store_options *o)
{
    const char *problem = NULL;

    if (o->objects) {
        s->objects = object_storage_new(o->objects, &problem);
        s->blob_redirects = o->blob_redirects;
        if (!s->objects) {
            log_error("store: the object storage cannot be used with these options: %s", problem);
            return ERR_UNAVAILABLE;
        }
    }
    s->remote_blobs = o->objects ? &object_blobs : o->blobs_inside ? &database_blobs : NULL;
    if (s->remote_blobs)
        s->cache = blob_cache_new(o->blob_cache);
    return OK;
}

void remote_blobs_clear(struct store *s)
{
    blob_cache_free(s->cache);
    object_storage_free(s->objects);
    s->cache = NULL;
    s->objects = NULL;
    s->remote_blobs = NULL;
}

void store_swap_blob_locations(struct store *s, struct blob_location *location)
{
    struct blob_location before = { s->remote_blobs, s->objects, s->cache };

    s->remote_blobs = location->remote_blobs;
    s->objects = location->objects;
    s->cache = location->cache;
    *location = before;
}

struct upload_row {
    struct str name;
    bool found;
};

static const char INSERT_UPLOAD[] = "insert into object_uploads (name, began_at) values ($1, $2) "
                                    "on conflict (name) do update set began_at = excluded.began_at";

static enum err insert_upload_row(struct tx *tx, void *arg)
{
    const struct upload_row *row = arg;

    return tx_exec(tx, INSERT_UPLOAD, BIND(v_text(row->name), v_int(clock_s())), NULL);
}

static enum err delete_upload_row(struct tx *tx, void *arg)
{
    const struct upload_row *row = arg;

    return tx_exec(tx, "delete from object_uploads where name = $1", BIND(v_text(row->name)), NULL);
}

static enum err find_upload_row(struct tx *tx, void *arg)
{
    struct upload_row *row = arg;

    return tx_exists(tx, "select 1 from object_uploads where name = $1", BIND(v_text(row->name)),
                     &row->found);
}

static enum err object_blob_set_committed(struct store *s, const char *name, bool committed)
{
    struct upload_row row = { .name = str_of(name) };

    return run_transaction_on_blob_connection(
        s, STORE_APPEND, committed ? delete_upload_row : insert_upload_row, &row);
}

static enum err object_blob_put(struct store *s, const char *name, struct str bytes)
{
    enum err e = object_blob_set_committed(s, name, false);

    return e ? e : object_storage_put(s->objects, name, bytes);
}

/* Deletes the object first and its row of object_uploads last, so that an object whose deletion
 * failed remains listed. */
static enum err object_blob_delete(struct store *s, const char *name)
{
    struct upload_row row = { .name = str_of(name) };
    enum err e = run_transaction_on_blob_connection(s, STORE_READ, find_upload_row, &row);

    if (!e)
        e = object_storage_delete(s->objects, name);
    if (!row.found || (e && e != ERR_NOT_FOUND))
        return e;
    enum err aborted = object_storage_abort_incomplete_uploads(s->objects, name);
    if (!aborted)
        aborted = object_blob_set_committed(s, name, true);
    return aborted ? aborted : e;
}

static enum err object_blob_read(struct store *s, const char *name, int fd, int64_t *ret_size)
{
    return object_storage_read(s->objects, name, fd, ret_size);
}

/* --- lists of objects ----------------------------------------------------------------- */

static const char FIND_UPLOADS[] =
    "select name, began_at from object_uploads where name > $1 and began_at <= $2 "
    "order by name limit $3";

static enum err read_page_of_uploads(struct tx *tx, void *arg)
{
    struct stored_blob_page *p = arg;
    struct rows r;
    enum err e = tx_query(
        tx, FIND_UPLOADS,
        BIND(v_text(str_of(p->after)), v_int(clock_s() - p->seconds), v_int(STORED_BLOBS_PER_PAGE)),
        &r);

    return e ? e : stored_blob_page_read(p, &r);
}

struct object_visit {
    enum err (*found)(void *arg, const struct stored_blob *name);
    void *arg;
};

/* Ignores objects that other programs have stored in the bucket. */
static enum err report_object_with_blob_name(void *arg, const char *name, time_t written)
{
    const struct object_visit *v = arg;

    return is_blob_name(name) ? v->found(v->arg, &(struct stored_blob){ name, written }) : OK;
}

static enum err object_list_blobs(struct store *s, int64_t seconds,
                                  enum err (*found)(void *arg, const struct stored_blob *name),
                                  void *arg)
{
    if (seconds >= 0)
        return stored_blob_pages_visit(s, read_page_of_uploads, seconds, found, arg);
    return object_storage_list(s->objects, report_object_with_blob_name,
                               &(struct object_visit){ found, arg });
}

const struct remote_blobs object_blobs = {
    .put = object_blob_put,
    .set_committed = object_blob_set_committed,
    .delete = object_blob_delete,
    .read = object_blob_read,
    .list = object_list_blobs,
};

/* --- presigned URLs and statistics ----------------------------------------------------- */

bool blob_append_presigned_url(const struct store *s, const char *name, int seconds,
                               struct str content_type, struct str disposition,
                               struct str cache_control, struct buf *out)
{
    if (!s->objects || !s->blob_redirects || !is_blob_name(name))
        return false;
    object_storage_append_presigned_url(s->objects, name, seconds, content_type, disposition,
                                        cache_control, out);
    return !buf_is_full(out);
}

bool blobs_append_presigned_url_origin(const struct store *s, struct buf *out)
{
    if (!s->objects || !s->blob_redirects)
        return false;
    object_storage_append_presigned_url_origin(s->objects, out);
    return true;
}

bool store_read_object_storage_stats(const struct store *s, struct object_storage_stats *ret)
{
    if (s->objects)
        object_storage_read_stats(s->objects, ret);
    return s->objects;
}

/* --- check at start ------------------------------------------------------------------- */

struct location_check {
    const char *address; /* address of the bucket, or NULL */
    bool writes;
};

static const char FIND_LOCATION[] = "select address from object_location";
static const char HAS_FILE_ROWS[] = "select 1 from files where gone = 0 limit 1";

enum err blobs_log_wrong_location(const char *address, struct str stored)
{
    if (!stored.p)
        log_error("store: the files of this server are not in '%s'; start without --blobs s3://…, "
                  "or copy them with 'guildhall move --to-blobs %s'",
                  address, address);
    else
        log_error("store: the files of this server are in '%.*s'; start with --blobs %.*s, or copy "
                  "them with 'guildhall move --blobs %.*s --to-blobs …'",
                  STR_ARGS(stored), STR_ARGS(stored), STR_ARGS(stored));
    return ERR_UNAVAILABLE;
}

static enum err check_or_store_blob_location(struct tx *tx, void *arg)
{
    const struct location_check *check = arg;
    bool found = false, has_files = false;
    struct rows row;
    enum err e = check->writes ? OK : tx_one(tx, FIND_LOCATION, NO_BIND, &row, &found);

    if (e)
        return e;
    if (found && (!check->address || !str_is(row_text(&row, 0), check->address)))
        return blobs_log_wrong_location(check->address, row_text(&row, 0));
    if (found || (!check->address && !check->writes))
        return OK;
    if (!check->writes)
        e = tx_exists(tx, HAS_FILE_ROWS, NO_BIND, &has_files);
    if (!e && has_files)
        return blobs_log_wrong_location(check->address, (struct str){ 0 });
    if (!e)
        e = tx_exec(tx, "delete from object_location", NO_BIND, NULL);
    if (e || !check->address)
        return e;
    return tx_exec(tx, "insert into object_location (id, address) values (1, $1)",
                   BIND(v_text(str_of(check->address))), NULL);
}

enum err blobs_compare_or_store_location(struct store *s, bool writes)
{
    struct location_check check = { s->objects ? object_storage_get_address(s->objects) : NULL,
                                    writes };

    return store_run_transaction_and_wait(s, check.address || writes ? STORE_WRITE : STORE_READ,
                                          NULL, check_or_store_blob_location, &check);
}
