/* cloud_uploads.c - uploads before a message: request URLs, upload the bytes, attach them. */
#include "platform/messages/uploads/cloud_uploads.h"

#include <inttypes.h>
#include <sodium.h>

#include "base/clock.h"
#include "net/http/server.h"
#include "platform/channels/channels.h"

#define UPLOAD_LIFE_US (INT64_C(24) * 3600 * 1000000)

/* Maximum number of unused uploads per account: each requested URL occupies a row and a job for one
 * day. */
enum { MOST_OPEN_UPLOADS = 100 };

/* --- requesting upload URLs ---------------------------------------------------------- */

/* Returns a random UUID (version 4), the format that clients expect. */
static struct str new_upload_key(struct arena *arena)
{
    unsigned char b[16];

    randombytes_buf(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    struct str hex = str_hex_encode(arena, b, sizeof b);
    return str_printf(arena, "%.8s-%.4s-%.4s-%.4s-%.12s", hex.p, hex.p + 8, hex.p + 12, hex.p + 16,
                      hex.p + 20);
}

static struct str derive_upload_token(struct call *call, const struct cloud_upload *u)
{
    unsigned char digest[32];

    auth_derive_key(api_get_options(call->api)->auth, "upload", u->id, u->key, digest,
                    sizeof digest);
    return str_hex_encode(call->arena, digest, sizeof digest);
}

static enum err schedule_upload_expiry(struct call *call, const struct cloud_upload *u)
{
    return job_schedule(call, &cloud_upload_expiry_job, u->id, clock_us() + UPLOAD_LIFE_US,
                        STR(""));
}

static enum err create_cloud_upload(struct call *call, const struct upload_url_request *in,
                                    struct upload_url_reply *ret)
{
    struct cloud_upload u = { .id = snowflake_new(),
                              .owner_id = call->caller->id,
                              .key = new_upload_key(call->arena),
                              .filename = sanitize_filename(call->arena, in->filename),
                              .size = in->file_size };
    struct str name = STR_CONCAT(call->arena, u.key, STR("/"), u.filename);
    enum err e = cloud_upload_insert(call->tx, &u);

    *ret = (struct upload_url_reply){
        .id = in->id,
        .upload_filename = name,
        .upload_url = STR_CONCAT(call->arena, api_get_base_url(call, "http"), STR("/uploads/"),
                                 name, STR("?token="), derive_upload_token(call, &u)),
    };
    return e ? e : schedule_upload_expiry(call, &u);
}

static enum err check_upload_permission(struct call *call)
{
    const uint64_t needs = PERMISSION(SEND_MESSAGES) | PERMISSION(ATTACH_FILES);

    return call_require_permissions(call, needs);
}

/* POST /channels/{channel.id}/attachments */
static enum err create_attachments(struct call *call)
{
    const struct upload_url_requests *in = call->body;
    const struct upload_url_request *files = in->files.items;
    struct upload_urls_reply out = { 0 };
    int64_t open = 0;
    enum err e = cloud_uploads_count_pending(call->tx, call->caller->id, &open);

    for (size_t i = 0; i < in->files.count; i++)
        if (files[i].file_size > MESSAGE_MAX_FILE)
            return ERR_ENTITY_TOO_LARGE;
    if (!e && open + (int64_t)in->files.count > MOST_OPEN_UPLOADS)
        e = ERR_UPLOAD_QUOTA;
    for (size_t i = 0; !e && i < in->files.count; i++)
        e = create_cloud_upload(
            call, &files[i],
            list_append(call->arena, &out.attachments, sizeof(struct upload_url_reply)));
    return e ? e : call_reply_with_object(call, &out);
}

/* --- PUT /uploads: uploading the bytes ----------------------------------------------- */

static struct str parse_upload_token_of_query(const struct call *call)
{
    struct str query = call->exchange->request->query, token = { 0 };

    while (query.n) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');

        if (str_is(key, "token"))
            token = value;
    }
    return token;
}

/* Reads the upload that the path names. The secret token in the URL is the only credential. */
static enum err read_upload_of_path(struct call *call, struct cloud_upload *ret)
{
    struct str token = parse_upload_token_of_query(call);
    bool found = false;
    enum err e = cloud_upload_find(call->tx, call_get_path_text(call, "upload.key"), &found, ret);

    if (e || !found)
        return e ? e : ERR_NOT_FOUND;
    struct str expected = derive_upload_token(call, ret);
    if (token.n != expected.n || sodium_memcmp(token.p, expected.p, expected.n) != 0 ||
        !str_eq(call_get_path_text(call, "upload.filename"), ret->filename))
        return ERR_NOT_FOUND;
    return OK;
}

struct received_upload {
    struct cloud_upload upload;
    struct attachment stored;
};

/* Refuses an upload to an invalid URL. Runs before the body is received and again before the
 * handler. */
static enum err check_upload_url(struct call *call)
{
    const struct http_request *r = call->exchange->request;
    struct received_upload *sent = call_get_stage_data(call, "received_upload");

    if (!sent)
        sent = call_store_stage_data(call, "received_upload", sizeof *sent);
    enum err e = read_upload_of_path(call, &sent->upload);
    if (!e && r->has_length && (int64_t)r->length != sent->upload.size)
        e = ERR_BAD_REQUEST;
    if (!e)
        call->files_of = sent->upload.owner_id;
    return e;
}

/* Compares the length of the body with the declared size. Runs after the whole body was received,
 * because the length of a chunked body is not known before. */
static enum err check_upload_length(struct call *call)
{
    const struct received_upload *sent = call_get_stage_data(call, "received_upload");

    return (int64_t)call->exchange->body.n == sent->upload.size ? OK : ERR_BAD_REQUEST;
}

/* Runs on the thread pool, so that neither the writer nor an event loop waits for the disk. */
static enum err store_uploaded_bytes(struct call *call)
{
    struct received_upload *sent = call_get_stage_data(call, "received_upload");

    return attachment_store_bytes(call, snowflake_new(), sent->upload.filename,
                                  call->exchange->body, &sent->stored);
}

static enum err schedule_upload_length_check(struct call *call)
{
    call->read = check_upload_length;
    call->compute = store_uploaded_bytes;
    return OK;
}

/* PUT /uploads/{upload.key}/{upload.filename}: replaces an earlier upload. */
static enum err put_upload(struct call *call)
{
    const struct received_upload *sent = call_get_stage_data(call, "received_upload");
    struct cloud_upload u = sent->upload;
    enum err e = check_upload_length(call);

    if (!e && u.file_id)
        e = attachment_delete_file(call, u.file_id);
    if (e)
        return e;
    u.file_id = sent->stored.id;
    u.content_type = sent->stored.content_type;
    u.width = sent->stored.width;
    u.height = sent->stored.height;
    return cloud_upload_update_file(call->tx, &u);
}

/* --- attaching an upload to a message ------------------------------------------------ */

/* Returns the key in an uploaded_filename, which has the form "key/filename". */
static struct str parse_upload_key_of_filename(struct str uploaded_filename)
{
    return str_cut(&uploaded_filename, '/');
}

static enum err convert_upload_to_attachment(struct call *call, const struct attachment_in_body *in,
                                             snowflake owner_id, struct attachment *ret)
{
    struct cloud_upload u;
    bool found = false;
    enum err e = cloud_upload_find(
        call->tx, parse_upload_key_of_filename(in->uploaded_filename.value), &found, &u);

    if (!e && (!found || !u.file_id || !owner_id || u.owner_id != owner_id || u.target_id))
        e = ERR_UPLOAD_NOT_FOUND;
    if (!e)
        e = cloud_upload_delete(call->tx, u.id);
    if (!e)
        e = job_cancel(call, &cloud_upload_expiry_job, u.id);
    if (e)
        return e;
    *ret = (struct attachment){
        .id = u.file_id,
        .filename = in->filename.given == GIVEN ? sanitize_filename(call->arena, in->filename.value)
                                                : u.filename,
        .content_type = u.content_type,
        .size = u.size,
    };
    if (u.width.given == GIVEN) {
        ret->width = u.width;
        ret->height = u.height;
    }
    attachment_copy_body_fields(ret, in);
    return OK;
}

/* Appends to a copy of the list of uploaded files: the handler may be retried, and must then find
 * the original list. */
enum err consume_uploads_named_in_body(struct call *call, snowflake owner_id, struct list *ret)
{
    const struct message_send_state *sending = call_get_message_send_state(call);
    const struct list *drafts = &sending->in->attachments.value;
    const struct attachment_in_body *in = drafts->items;
    enum err e = OK;

    *ret = sending->uploads;
    ret->cap = 0;
    for (size_t i = 0; !e && i < drafts->count; i++)
        if (in[i].uploaded_filename.given == GIVEN)
            e = convert_upload_to_attachment(
                call, &in[i], owner_id, list_append(call->arena, ret, sizeof(struct attachment)));
    return !e && ret->count > MESSAGE_MAX_FILES
               ? message_refuse_with_field_error(call, "attachments", "BASE_TYPE_MAX_LENGTH",
                                                 "Must be 10 or fewer in length.")
               : e;
}

/* --- files that are served without a message ----------------------------------------- */

static struct opt_int opt_int_absent_to_null(struct opt_int v)
{
    return v.given == GIVEN ? v : (struct opt_int){ .given = GIVEN_NULL };
}

enum err attachment_publish_for_one_day(struct call *call, snowflake target_id,
                                        const struct attachment *a)
{
    struct cloud_upload u = { .id = snowflake_new(),
                              .owner_id = call->caller->id,
                              .key = new_upload_key(call->arena),
                              .filename = a->filename,
                              .size = a->size,
                              .file_id = a->id,
                              .content_type = a->content_type,
                              .width = opt_int_absent_to_null(a->width),
                              .height = opt_int_absent_to_null(a->height),
                              .target_id = target_id };
    enum err e = cloud_upload_insert(call->tx, &u);

    if (!e)
        e = cloud_upload_update_file(call->tx, &u);
    return e ? e : schedule_upload_expiry(call, &u);
}

/* --- deletion of unused uploads ------------------------------------------------------ */

static enum err delete_upload_and_file(struct call *call, const struct cloud_upload *u)
{
    enum err e = u->file_id ? attachment_delete_file(call, u->file_id) : OK;

    return e ? e : cloud_upload_delete(call->tx, u->id);
}

static enum err delete_upload_by_key(struct call *call, struct str key)
{
    struct cloud_upload u;
    bool found = false;
    enum err e = cloud_upload_find(call->tx, key, &found, &u);

    if (!e && (!found || u.owner_id != call->caller->id))
        e = ERR_UPLOAD_NOT_FOUND;
    if (!e)
        e = job_cancel(call, &cloud_upload_expiry_job, u.id);
    return e ? e : delete_upload_and_file(call, &u);
}

/* DELETE /attachments/{upload.key}/{upload.filename} */
static enum err delete_upload(struct call *call)
{
    return delete_upload_by_key(call, call_get_path_text(call, "upload.key"));
}

/* DELETE /attachments/{upload.key}, where {upload.key} is key%2Ffilename. */
static enum err delete_upload_by_escaped_name(struct call *call)
{
    return delete_upload_by_key(
        call, parse_upload_key_of_filename(call_get_path_text(call, "upload.key")));
}

static enum err run_upload_expiry_job(struct call *call, const struct job *job)
{
    struct cloud_upload u;
    bool found = false;
    enum err e = cloud_upload_find_by_id(call->tx, job->key, &found, &u);

    return e || !found ? e : delete_upload_and_file(call, &u);
}

const struct job_kind cloud_upload_expiry_job = {
    .name = "cloud-upload-expiry",
    .doc = "Deletes an uploaded file that no message used within a day.",
    .run = run_upload_expiry_job,
};

static const struct path_resolver resolvers[] = {
    { .name = "upload.key",
      .field = "upload_filename",
      .is_text = true,
      .doc = "The part of an upload's name before the slash." },
    { .name = "upload.filename",
      .field = "filename",
      .is_text = true,
      .doc = "The part of an upload's name after the slash." },
    { 0 },
};

static const struct rate_limit upload_limit = { "cloud uploads", 10, 10 };

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/attachments",
        .name = "create_attachments",
        .doc = "Request URLs to upload files to, which messages then refer to. Unused uploads "
               "expire after a day; an account can have at most 100 of them.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &uploads_body,
        .reply = &uploads_reply,
        .status = 200,
        .limit = &upload_limit,
        .admit = check_upload_permission,
        .handle = create_attachments,
    },
    {
        .method = DELETE,
        .path = "/attachments/{upload.key}/{upload.filename}",
        .name = "delete_attachment",
        .doc = "Delete an uploaded file that no message uses yet.",
        .auth = AUTH_USER | AUTH_BOT,
        .handle = delete_upload,
    },
    {
        .method = DELETE,
        .path = "/attachments/{upload.key}",
        .name = "delete_attachment_by_name",
        .doc = "Delete an uploaded file; the slash of its name is written as %2F.",
        .auth = AUTH_USER | AUTH_BOT,
        .handle = delete_upload_by_escaped_name,
    },
    { 0 },
};

const struct domain cloud_uploads_domain = {
    .name = "Cloud uploads",
    .doc = "Files that are uploaded before the message that shows them.",
    .routes = routes,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &cloud_upload_expiry_job, NULL },
};

static const struct route position_routes[] = {
    {
        .method = PUT,
        .path = "/uploads/{upload.key}/{upload.filename}",
        .name = "put_upload",
        .doc = "Upload a file to a requested URL, with exactly the announced size. A second upload "
               "replaces the first.",
        .service = true,
        .status = 200,
        .max_body = MESSAGE_MAX_FILE,
        .store = ROUTE_STORE_WRITE,
        .prepare = schedule_upload_length_check,
        .admit = check_upload_url,
        .handle = put_upload,
    },
    { 0 },
};

const struct domain upload_slots_domain = {
    .name = "Upload addresses",
    .doc = "URLs for uploads, at the root, for everyone who has the URL.",
    .routes = position_routes,
};
