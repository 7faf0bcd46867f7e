/* files.c - attachments: receives, stores and serves files. */
#include "platform/messages/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/http/server.h"

/* --- storing uploaded files ---------------------------------------------------------- */

/* Returns the name of the file's blob, in one of 256 folders. Only the row has the original file
 * name. */
void attachment_blob_name(snowflake id, char out[64])
{
    snprintf(out, 64, "attachments/%02x/%" PRIu64, (unsigned)(id >> 22 & 0xff), id);
}

enum err attachment_delete_file(struct call *call, snowflake id)
{
    char name[64];

    attachment_blob_name(id, name);
    return call_delete_blob(call, name);
}

static bool attachment_has_uploaded_file(const struct multipart_part *p)
{
    return strcmp(p->name, "payload_json") != 0 && p->filename;
}

size_t count_uploaded_files(const struct call *call)
{
    const struct multipart *parts = call->parts;
    size_t count = 0;

    for (size_t i = 0; parts && i < multipart_get_part_count(parts); i++)
        count += attachment_has_uploaded_file(multipart_get_part_at(parts, i));
    return count;
}

/* Returns n if the multipart part is named "files[n]", else nth, the position of the part. */
static uint64_t upload_index_of_part(const struct multipart_part *p, size_t nth)
{
    struct str name = str_of(p->name);
    uint64_t n;

    if (str_starts_with(name, STR("files[")) && name.p[name.n - 1] == ']' &&
        str_to_u64(str_slice(name.p + 6, name.n - 7), &n))
        return n;
    return nth;
}

static const struct attachment_in_body *find_attachment_draft(const struct list *drafts,
                                                              uint64_t number)
{
    const struct attachment_in_body *in = drafts->items;

    for (size_t i = 0; i < drafts->count; i++)
        if (in[i].id == number)
            return &in[i];
    return NULL;
}

const struct multipart_part *uploaded_part_find(const struct call *call, uint64_t number)
{
    const struct multipart *parts = call->parts;
    size_t nth = 0;

    for (size_t i = 0; parts && i < multipart_get_part_count(parts); i++)
        if (attachment_has_uploaded_file(multipart_get_part_at(parts, i)) &&
            upload_index_of_part(multipart_get_part_at(parts, i), nth++) == number)
            return multipart_get_part_at(parts, i);
    return NULL;
}

enum err uploaded_files_validate(struct call *call, const struct json_path *here,
                                 const struct list *drafts, const struct list *present)
{
    const struct multipart *parts = call->parts;
    const struct attachment *old = present->items;
    const struct attachment_in_body *in = drafts->items;
    struct json_path list = json_path_key(here, STR("attachments"));

    for (size_t i = 0; parts && i < multipart_get_part_count(parts); i++)
        if (attachment_has_uploaded_file(multipart_get_part_at(parts, i)) &&
            multipart_get_part_at(parts, i)->data.n > MESSAGE_MAX_FILE)
            return ERR_FILE_TOO_LARGE;
    for (size_t i = 0; i < drafts->count; i++) {
        bool known =
            in[i].uploaded_filename.given == GIVEN || uploaded_part_find(call, in[i].id) != NULL;
        struct json_path item = json_path_index(&list, i), at = json_path_key(&item, STR("id"));

        for (size_t j = 0; j < present->count; j++)
            known = known || old[j].id == in[i].id;
        if (!known)
            form_add_error(&call->form, &at, "ATTACHMENT_NOT_FOUND",
                           "The request has no file with this id.");
    }
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

enum err attachment_store_bytes(struct call *call, snowflake id, struct str given, struct str bytes,
                                struct attachment *ret)
{
    struct str name = sanitize_filename(call->arena, given);
    struct attachment_media_info media = media_detect_type(name, bytes);
    char blob[64];

    *ret = (struct attachment){
        .id = id,
        .filename = name,
        .content_type = opt_str_or_null(str_of(media.type)),
        .size = (int64_t)bytes.n,
    };
    if (media.width && media.height) {
        ret->width = opt_int_present(media.width);
        ret->height = opt_int_present(media.height);
    }
    attachment_blob_name(ret->id, blob);
    return call_write_blob(call, ret->id, blob, bytes.p ? bytes : STR(""));
}

void attachment_copy_body_fields(struct attachment *a, const struct attachment_in_body *in)
{
    if (in && in->description.given == GIVEN)
        a->description = in->description;
    if (in && in->title.given == GIVEN)
        a->title = in->title;
    if (in && in->duration_secs.given == GIVEN)
        a->duration_secs = in->duration_secs;
    if (in && in->waveform.given == GIVEN)
        a->waveform = in->waveform;
    if ((in && in->is_spoiler.value) || str_starts_with(a->filename, STR("SPOILER_")))
        a->flags = opt_int_present(a->flags.value | ATTACHMENT_IS_SPOILER);
    if (in && in->is_remix.value)
        a->flags = opt_int_present(a->flags.value | ATTACHMENT_IS_REMIX);
}

enum err uploaded_part_store(struct call *call, snowflake id, const struct multipart_part *p,
                             const struct attachment_in_body *in, struct attachment *ret)
{
    struct str given = in && in->filename.given == GIVEN ? in->filename.value : str_of(p->filename);
    enum err e = attachment_store_bytes(call, id, given, buf_as_str(&p->data), ret);

    if (!e)
        attachment_copy_body_fields(ret, in);
    return e;
}

enum err uploaded_files_store(struct call *call, const struct list *drafts, struct list *ret)
{
    const struct multipart *parts = call->parts;
    enum err e = OK;
    size_t nth = 0;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && parts && i < multipart_get_part_count(parts); i++) {
        const struct multipart_part *p = multipart_get_part_at(parts, i);

        if (!attachment_has_uploaded_file(p))
            continue;
        e = uploaded_part_store(call, snowflake_new(), p,
                                find_attachment_draft(drafts, upload_index_of_part(p, nth++)),
                                list_append(call->arena, ret, sizeof(struct attachment)));
    }
    return e;
}

/* --- downloading attachments --------------------------------------------------------- */

/* Returns false if Sec-Fetch-Dest says that a page loads the file as a script, for example. Pages
 * of this server trust its scripts and styles, so an attachment must not be one. */
static bool sec_fetch_dest_header_is_allowed(const struct call *call)
{
    static const char *const fine[] = { "empty", "document", "image", "audio", "video" };
    struct str wanted = http_find_header(call->exchange->request, STR("Sec-Fetch-Dest"));

    for (size_t i = 0; wanted.p && i < COUNT_OF(fine); i++)
        if (str_is(wanted, fine[i]))
            return true;
    return !wanted.p;
}

/* Redirects to a presigned URL of the object storage (option s3-redirects), so that this server
 * does not send the file. The URL is valid for longer than the redirect is cached. */
static enum err redirect_to_object_storage(struct call *call, const char *blob,
                                           struct str content_type, struct str disposition,
                                           bool *ret)
{
    enum { URL_SECONDS = 900, MAX_URL = 4096 };
    struct buf url;

    buf_init(&url, MAX_URL);
    *ret =
        blob_append_presigned_url(api_get_options(call->api)->store, blob, URL_SECONDS,
                                  content_type, disposition, STR("private, max-age=86400"), &url);
    if (*ret) {
        call_set_status(call, 302);
        call_add_header(call, "Location", buf_as_str(&url));
        call_add_header(call, "Cache-Control", STR("private, max-age=600"));
    }
    buf_clear(&url);
    return OK;
}

/* GET /attachments/{place.id}/{attachment.id}/{filename}: needs a signed URL. A file that a browser
 * could run as a page of this server is served as a download only. */
static enum err get_attachment(struct call *call)
{
    snowflake channel_id = call_get_path_id(call, "place.id"),
              id = call_get_path_id(call, "attachment.id");
    struct str filename = call_get_path_text(call, "filename");
    struct attachment a;
    char blob[64];
    bool is_redirected;
    int64_t size;
    int fd;

    if (!attachment_signature_is_valid(call, channel_id, id, filename) ||
        !sec_fetch_dest_header_is_allowed(call))
        return ERR_NOT_FOUND;
    enum err e = attachment_find(call->tx, channel_id, id, &a);
    if (!e && !str_eq(a.filename, filename))
        e = ERR_NOT_FOUND;
    if (e)
        return e;
    attachment_blob_name(a.file_id ? a.file_id : id, blob);
    bool inline_ok = media_type_is_safe_inline(a.content_type.value);
    struct str disposition = str_printf(call->arena, "%s; filename=\"%.*s\"",
                                        inline_ok ? "inline" : "attachment", STR_ARGS(a.filename));
    e = redirect_to_object_storage(call, blob, a.content_type.value, disposition, &is_redirected);
    if (!e && !is_redirected)
        e = call_open_blob(call, blob, &fd, &size);
    if (e || is_redirected)
        return e;

    call_add_header(call, "Content-Disposition", disposition);
    call_add_header(call, "Content-Security-Policy", STR("default-src 'none'; sandbox"));
    call_add_header(call, "Cache-Control", STR("private, max-age=86400"));
    return call_reply_with_file_range(call, a.content_type.value, fd, size);
}

static const struct path_resolver resolvers[] = {
    { .name = "place.id", .field = "channel_id", .doc = "The channel of the message." },
    { .name = "attachment.id", .field = "attachment_id", .doc = "The file." },
    { .name = "filename", .field = "filename", .is_text = true, .doc = "The file's name." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/attachments/{place.id}/{attachment.id}/{filename}",
        .name = "get_attachment",
        .doc = "The file of an attachment, by its signed URL.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_READ,
        .handle = get_attachment,
    },
    { 0 },
};

const struct domain attachments_domain = {
    .name = "Attachments",
    .doc = "Files of messages, at the root, for everyone who has a signed URL.",
    .routes = routes,
    .resolvers = resolvers,
};
