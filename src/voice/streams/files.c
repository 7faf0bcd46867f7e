/* files.c - previews of streams: upload, storage, download. */
#include "voice/streams/streams.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

#include "base/pictures/pictures.h"
#include "model/permissions/permissions.h"
#include "net/http/multipart.h"
#include "net/http/server.h"
#include "platform/channels/channels.h"

enum {
    MAX_PICTURE = 1024 * 1024,
    MAX_WIDTH = 1920,
    MAX_HEIGHT = 1080,
    MAX_VIDEO = 8 * 1024 * 1024,
    HASH_LENGTH = 32, /* characters */
};

static const struct rate_limit upload_limit = {
    .name = "stream-previews", .count = 1, .window_s = 5, .strict = true
};

/* --- schemas -------------------------------------------------------------------------- */

struct preview_upload {
    struct uploaded_image thumbnail;
};
struct stream_preview {
    struct str url;
};
struct empty_body {
    char none;
};

static const struct type type_thumbnail = { .kind = KIND_IMAGE,
                                            .doc = "data:image/jpeg;base64,… (jpeg, png, webp)" };
static const struct field upload_fields[] = {
    { FIELD(struct preview_upload, thumbnail), .type = &type_thumbnail },
    { 0 },
};
static const struct schema upload_schema = {
    .name = "StreamPreviewUpload",
    .size = sizeof(struct preview_upload),
    .fields = upload_fields,
    .doc = "A picture of a stream.",
};
const struct type stream_preview_body = { .kind = KIND_OBJECT, .schema = &upload_schema };

static const struct field preview_fields[] = {
    { FIELD(struct stream_preview, url), .type = &type_text },
    { 0 },
};
static const struct schema preview_schema = {
    .name = "StreamPreview",
    .size = sizeof(struct stream_preview),
    .fields = preview_fields,
    .doc = "The URL of a stream's preview.",
};
const struct type stream_preview_reply = { .kind = KIND_OBJECT, .schema = &preview_schema };

static const struct field no_fields[] = { { 0 } };
static const struct schema video_schema = {
    .name = "StreamVideoUpload",
    .size = sizeof(struct empty_body),
    .fields = no_fields,
    .doc = "The part `file` is the video.",
};
const struct type stream_video_body = { .kind = KIND_OBJECT, .schema = &video_schema };

/* Returns the file name "hash.ext". The hash covers the content and a new id, so that the same
 * content gets another name when it is uploaded again. */
static struct str stream_file_name(struct arena *a, snowflake id, struct str bytes,
                                   const char *extension)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;

    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)&id, sizeof id);
    crypto_hash_sha256_update(&state, (const unsigned char *)bytes.p, bytes.n);
    crypto_hash_sha256_final(&state, digest);
    return str_printf(a, "%.*s.%s", HASH_LENGTH, str_hex_encode(a, digest, sizeof digest).p,
                      extension);
}

static void stream_blob_name(char out[128], snowflake owner_id, struct str file)
{
    snprintf(out, 128, "streams/%" PRIu64 "/%.*s", owner_id, STR_ARGS(file));
}

static enum err delete_stream_file(struct call *call, const struct stream *s, struct str file)
{
    char name[128];

    if (!file.p)
        return OK;
    stream_blob_name(name, s->key.owner_id, file);
    return call_delete_blob(call, name);
}

enum err stream_delete_files(struct call *call, const struct stream *s)
{
    enum err e = delete_stream_file(call, s, s->preview);

    return e ? e : delete_stream_file(call, s, s->video);
}

/* An uploaded file, passed between the stages of the request. */
struct stream_upload {
    struct str bytes, file;
    const char *extension;
};

/* Counts the upload towards the rate limit. Runs after the owner check, so that only the owner's
 * uploads are counted. */
static enum err pass_upload_to_next_stage(struct call *call, struct str bytes,
                                          const char *extension)
{
    struct stream_upload *u = call_store_stage_data(call, "stream_upload", sizeof *u);

    *u = (struct stream_upload){ .bytes = bytes, .extension = extension };
    return call_replace_route_rate_limit(call, &upload_limit,
                                         call_get_path_text(call, "stream_key"));
}

static enum err store_uploaded_bytes(struct call *call)
{
    struct stream_upload *u = call_get_stage_data(call, "stream_upload");
    snowflake id = snowflake_new();
    char name[128];

    u->file = stream_file_name(call->arena, id, u->bytes, u->extension);
    stream_blob_name(name, call->caller->id, u->file);
    return call_write_blob(call, id, name, u->bytes);
}

/* Validates the picture by its first bytes, not by the media type in the data URI. */
static enum err check_stream_preview_image(struct call *call)
{
    const struct preview_upload *in = call->body;
    struct str bytes = in->thumbnail.bytes;
    struct picture_properties p;

    if (bytes.n > MAX_PICTURE)
        return ERR_ENTITY_TOO_LARGE;
    if (!picture_detect_type(bytes, &p) || str_is(str_of(p.type), "image/gif") || !p.width ||
        !p.height)
        return call_add_field_error(call, "thumbnail", FORM_NOT_IMAGE);
    if (p.width > MAX_WIDTH || p.height > MAX_HEIGHT)
        return call_add_field_error(call, "thumbnail", "IMAGE_TOO_LARGE",
                                    "At most 1920 x 1080 pixels.");
    return pass_upload_to_next_stage(call, bytes, in->thumbnail.extension);
}

static const char *video_extension(struct str bytes)
{
    if (bytes.n >= 12 && memcmp(bytes.p + 4, "ftyp", 4) == 0)
        return "mp4";
    return str_starts_with(bytes, STR("\x1a\x45\xdf\xa3")) ? "webm" : NULL;
}

static enum err check_stream_video_file(struct call *call)
{
    const struct multipart *parts = call->exchange->parts;
    const struct multipart_part *file = parts ? multipart_find_part(parts, STR("file")) : NULL;

    if (!file)
        return call_add_field_error(call, "file", FORM_REQUIRED);
    struct str bytes = buf_as_str(&file->data);
    const char *extension = video_extension(bytes);
    if (bytes.n > MAX_VIDEO)
        return ERR_ENTITY_TOO_LARGE;
    if (!extension)
        return call_add_field_error(call, "file", "VIDEO_INVALID", "Neither MP4 nor WebM.");
    return pass_upload_to_next_stage(call, bytes, extension);
}

enum err schedule_storing_stream_preview(struct call *call)
{
    call->read = check_stream_preview_image;
    call->compute = store_uploaded_bytes;
    return OK;
}

enum err schedule_storing_stream_video(struct call *call)
{
    call->read = check_stream_video_file;
    call->compute = store_uploaded_bytes;
    return OK;
}

/* Stores a file and deletes the previous one: a stream has one preview and one video. */
static enum err replace_stream_file(struct call *call, bool video)
{
    const struct stream_upload *u = call_get_stage_data(call, "stream_upload");
    struct stream s;

    enum err e = stream_find_by_path(call, &s);
    if (e)
        return e;
    struct str *file = video ? &s.video : &s.preview;
    e = delete_stream_file(call, &s, *file);
    *file = u->file;
    return e ? e : stream_update(call->tx, &s);
}

/* POST /streams/{stream_key}/preview */
enum err upload_stream_preview(struct call *call)
{
    return replace_stream_file(call, false);
}

/* POST /streams/{stream_key}/preview/video */
enum err upload_stream_video(struct call *call)
{
    return replace_stream_file(call, true);
}

static enum err check_caller_may_view_stream(struct call *call, const struct stream *s)
{
    enum err e = resolve_channel_by_id(call, s->key.channel_id);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? ERR_MISSING_ACCESS : e;
    if (s->key.guild_id && !(call->target.permissions & PERMISSION(CONNECT)))
        return ERR_MISSING_ACCESS;
    return OK;
}

/* GET /streams/{stream_key}/preview */
enum err get_stream_preview(struct call *call)
{
    struct stream s;

    enum err e = stream_find_by_path(call, &s);
    if (!e)
        e = check_caller_may_view_stream(call, &s);
    if (!e && !s.preview.p)
        e = ERR_UNKNOWN_STREAM;
    if (e)
        return e;
    struct stream_preview out = { STR_CONCAT(
        call->arena, api_get_base_url(call, "http"), STR("/streams/"),
        stream_key_format(call->arena, &s.key), STR("/"), s.preview) };
    return call_reply_with_object(call, &out);
}

/* GET /streams/{stream_key}/{stream.file}: sends the file. The path is not below /api and needs no
 * token, because the file name cannot be guessed. */
static enum err get_stream_file(struct call *call)
{
    struct str file = call_get_path_text(call, "stream.file");
    struct picture_properties p;
    struct stream s;
    char name[128], head[64];
    int64_t size;
    int fd;

    enum err e = stream_find_by_path(call, &s);
    if (!e && !(s.preview.p && str_eq(s.preview, file)))
        e = ERR_NOT_FOUND;
    if (e)
        return e == ERR_UNKNOWN_STREAM || e == ERR_INVALID_FORM_BODY ? ERR_NOT_FOUND : e;
    stream_blob_name(name, s.key.owner_id, file);
    e = call_open_blob(call, name, &fd, &size);
    if (e)
        return e;
    ssize_t n = pread(fd, head, sizeof head, 0);
    if (n < 0 || !picture_detect_type(str_slice(head, (size_t)n), &p))
        p.type = "application/octet-stream";
    call_add_header(call, "Cache-Control", STR("private, max-age=60"));
    return call_reply_with_file(call, str_of(p.type), fd, size);
}

static const struct path_resolver resolvers[] = {
    { .name = "stream.file", .field = "file", .is_text = true, .doc = "The preview's name." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/streams/{stream_key}/{stream.file}",
        .name = "get_stream_file",
        .doc = "The preview of a stream.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_READ,
        .handle = get_stream_file,
    },
    { 0 },
};

const struct domain stream_files_domain = {
    .name = "Stream files",
    .doc = "Previews of streams, outside /api; their name is the secret.",
    .routes = routes,
    .resolvers = resolvers,
};
