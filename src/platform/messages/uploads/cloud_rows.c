/* cloud_rows.c - SQL of cloud uploads: files that are uploaded before their message. */
#include "platform/messages/uploads/cloud_uploads.h"

#include "model/fields/rows.h"

#define UPLOAD_COLUMNS                                                                               \
    "select id, key, owner_id, filename, size, file_id, content_type, width, height, place_id from " \
    "cloud_uploads where "

static void cloud_upload_from_row(const struct rows *r, void *ret)
{
    *(struct cloud_upload *)ret = (struct cloud_upload){
        .id = row_id(r, 0),
        .key = row_text(r, 1),
        .owner_id = row_id(r, 2),
        .filename = row_text(r, 3),
        .size = row_int(r, 4),
        .file_id = row_id(r, 5),
        .content_type = row_optional_text(r, 6),
        .width = row_optional_int(r, 7),
        .height = row_optional_int(r, 8),
        .target_id = row_id(r, 9),
    };
}

enum err cloud_upload_find(struct tx *tx, struct str key, bool *ret_found, struct cloud_upload *ret)
{
    return tx_find_first(tx, UPLOAD_COLUMNS "key = $1", BIND(v_text(key)), cloud_upload_from_row,
                         ret, ret_found);
}

enum err cloud_upload_find_by_id(struct tx *tx, snowflake id, bool *ret_found,
                                 struct cloud_upload *ret)
{
    return tx_find_first(tx, UPLOAD_COLUMNS "id = $1", BIND(v_id(id)), cloud_upload_from_row, ret,
                         ret_found);
}

static const char COUNT_OPEN[] =
    "select count(*) from cloud_uploads where owner_id = $1 and place_id is null";

enum err cloud_uploads_count_pending(struct tx *tx, snowflake owner_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT_OPEN, BIND(v_id(owner_id)), ret);
}

static const char ADD_UPLOAD[] = "insert into cloud_uploads (id, key, owner_id, filename, size) "
                                 "values ($1, $2, $3, $4, $5)";

enum err cloud_upload_insert(struct tx *tx, const struct cloud_upload *u)
{
    return tx_exec(
        tx, ADD_UPLOAD,
        BIND(v_id(u->id), v_text(u->key), v_id(u->owner_id), v_text(u->filename), v_int(u->size)),
        NULL);
}

static const char UPDATE_UPLOAD_FILE[] =
    "update cloud_uploads set file_id = $2, content_type = $3, "
    "width = $4, height = $5, place_id = $6 where id = $1";

enum err cloud_upload_update_file(struct tx *tx, const struct cloud_upload *u)
{
    return tx_exec(tx, UPDATE_UPLOAD_FILE,
                   BIND(v_id(u->id), v_id(u->file_id), sql_value_of_optional_text(u->content_type),
                        sql_value_of_optional_int(u->width), sql_value_of_optional_int(u->height),
                        u->target_id ? v_id(u->target_id) : v_null()),
                   NULL);
}

enum err cloud_upload_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, "delete from cloud_uploads where id = $1", BIND(v_id(id)), NULL);
}
