/* cloud_uploads.h - files uploaded before their message: a client requests a URL, uploads the
 * bytes, and names the file in a message. Only the user who requested the URL can use the file;
 * unused files are deleted after a day. */
#ifndef PLATFORM_MESSAGES_UPLOADS_CLOUD_UPLOADS_H
#define PLATFORM_MESSAGES_UPLOADS_CLOUD_UPLOADS_H

#include "api/jobs/jobs.h"
#include "platform/messages/internal.h"

struct cloud_upload {
    snowflake id, owner_id;
    struct str key, filename; /* messages name the upload as key/filename */
    int64_t size;             /* size in bytes that the client declared */
    snowflake file_id;        /* id of the stored file; 0 if the bytes are not uploaded yet */
    struct opt_str content_type;
    struct opt_int width, height;
    snowflake target_id; /* id in the path /attachments/{target_id}/… that serves the file, or 0 */
};

/* --- cloud_schema.c ------------------------------------------------------------------- */

struct upload_url_request {
    struct opt_str id; /* returned unchanged */
    struct str filename;
    int64_t file_size;
    struct opt_bool is_clip;
    struct opt_str original_content_type;
};
struct upload_url_requests {
    struct list files;
};
struct upload_url_reply {
    struct opt_str id;
    struct str upload_url, upload_filename;
};
struct upload_urls_reply {
    struct list attachments;
};

extern const struct type uploads_body, uploads_reply;

/* --- cloud_rows.c --------------------------------------------------------------------- */

/* Counts the uploads of an account that no message has used yet. */
enum err cloud_uploads_count_pending(struct tx *tx, snowflake owner_id, int64_t *ret);
enum err cloud_upload_insert(struct tx *tx, const struct cloud_upload *u);
enum err cloud_upload_find(struct tx *tx, struct str key, bool *ret_found,
                           struct cloud_upload *ret);
enum err cloud_upload_find_by_id(struct tx *tx, snowflake id, bool *ret_found,
                                 struct cloud_upload *ret);
/* Updates the columns that describe the stored file of an upload. */
enum err cloud_upload_update_file(struct tx *tx, const struct cloud_upload *u);
enum err cloud_upload_delete(struct tx *tx, snowflake id);

extern const struct job_kind cloud_upload_expiry_job;

#endif
