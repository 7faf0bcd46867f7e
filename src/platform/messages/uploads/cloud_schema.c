/* cloud_schema.c - JSON schemas of the routes for files that are uploaded before their message. */
#include "model/fields/types.h"
#include "platform/messages/uploads/cloud_uploads.h"

static const struct type type_upload_name = { .kind = KIND_STRING, .min = 1, .max = 1024 };
static const struct type type_upload_size = { .kind = KIND_INT, .min = 1, .max = 0 };
static const struct type type_upload_id = { .kind = KIND_RAW, .doc = "Returned unchanged" };
static const struct field wanted_fields[] = {
    { FIELD(struct upload_url_request, id), .type = &type_upload_id, .flags = OPTIONAL },
    { FIELD(struct upload_url_request, filename), .type = &type_upload_name },
    { FIELD(struct upload_url_request, file_size), .type = &type_upload_size },
    { FIELD(struct upload_url_request, is_clip), .type = &type_bool, .flags = OPTIONAL | NULLABLE,
      .doc = "Accepted, without effect" },
    { FIELD(struct upload_url_request, original_content_type), .type = &type_text,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Accepted, without effect: the type is detected from bytes and name" },
    { 0 },
};
static const struct schema wanted_schema = {
    .name = "CloudUploadDraft",
    .size = sizeof(struct upload_url_request),
    .fields = wanted_fields,
    .doc = "A file to upload.",
};
static const struct type type_wanted = { .kind = KIND_OBJECT, .schema = &wanted_schema };
static const struct type type_all_wanted = {
    .kind = KIND_ARRAY, .min = 1, .max = MESSAGE_MAX_FILES, .of = &type_wanted
};
static const struct field all_wanted_fields[] = {
    { FIELD(struct upload_url_requests, files), .type = &type_all_wanted },
    { 0 },
};
static const struct schema all_wanted_schema = {
    .name = "CloudUploadDrafts",
    .size = sizeof(struct upload_url_requests),
    .fields = all_wanted_fields,
    .doc = "Files to upload.",
};
const struct type uploads_body = { .kind = KIND_OBJECT, .schema = &all_wanted_schema };

static const struct field position_fields[] = {
    { FIELD(struct upload_url_reply, id), .type = &type_upload_id, .flags = NULLABLE },
    { FIELD(struct upload_url_reply, upload_url), .type = &type_text },
    { FIELD(struct upload_url_reply, upload_filename), .type = &type_text },
    { 0 },
};
static const struct schema position_schema = {
    .name = "CloudUpload",
    .size = sizeof(struct upload_url_reply),
    .fields = position_fields,
    .doc = "The URL to upload a file to, and the name by which messages refer to it.",
};
static const struct type type_position = { .kind = KIND_OBJECT, .schema = &position_schema };
static const struct type type_positions = { .kind = KIND_ARRAY, .of = &type_position };
static const struct field positions_fields[] = {
    { FIELD(struct upload_urls_reply, attachments), .type = &type_positions },
    { 0 },
};
static const struct schema positions_schema = {
    .name = "CloudUploads",
    .size = sizeof(struct upload_urls_reply),
    .fields = positions_fields,
    .doc = "URLs to upload files to.",
};
const struct type uploads_reply = { .kind = KIND_OBJECT, .schema = &positions_schema };
