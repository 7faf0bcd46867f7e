/* schema.c - JSON schemas of emoji bodies, and storage of their pictures. */
#include "platform/emojis/internal.h"

#include "base/pictures/pictures.h"
#include "model/fields/types.h"

const struct type type_emoji_image = { .kind = KIND_IMAGE,
                                       .max = 256 * 1024,
                                       .doc = "data:image/png;base64,… of at most 256 KiB: "
                                              "PNG, JPEG, GIF, WebP or AVIF" };
static const struct type type_emoji_roles = { .kind = KIND_ARRAY, .max = 250, .of = &type_id };

#define DRAFT_FIELDS                                                         \
    { FIELD(struct emoji_create_request, name), .type = &type_emoji_name },  \
    {                                                                        \
        FIELD(struct emoji_create_request, image), .type = &type_emoji_image \
    }
#define ROLES_FIELD(struct_)                                                                   \
    {                                                                                          \
        FIELD(struct struct_, roles), .type = &type_emoji_roles, .flags = OPTIONAL | NULLABLE, \
                                      .doc = "Who may use it; none: everybody"                 \
    }
#define NAME_FIELD                                                                   \
    {                                                                                \
        FIELD(struct emoji_patch, name), .type = &type_emoji_name, .flags = OPTIONAL \
    }

static const struct field draft_fields[] = { DRAFT_FIELDS,
                                             ROLES_FIELD(emoji_create_request),
                                             { 0 } };
static const struct field patch_fields[] = { NAME_FIELD, ROLES_FIELD(emoji_patch), { 0 } };
static const struct field application_draft_fields[] = { DRAFT_FIELDS, { 0 } };
static const struct field application_patch_fields[] = { NAME_FIELD, { 0 } };

static const struct schema draft_schema = {
    .name = "EmojiDraft",
    .size = sizeof(struct emoji_create_request),
    .fields = draft_fields,
    .doc = "A new emoji of a guild.",
};
static const struct schema patch_schema = {
    .name = "EmojiPatch",
    .size = sizeof(struct emoji_patch),
    .fields = patch_fields,
    .doc = "Changes of an emoji of a guild.",
};
static const struct schema application_draft_schema = {
    .name = "ApplicationEmojiDraft",
    .size = sizeof(struct emoji_create_request),
    .fields = application_draft_fields,
    .doc = "A new emoji of an application.",
};
static const struct schema application_patch_schema = {
    .name = "ApplicationEmojiPatch",
    .size = sizeof(struct emoji_patch),
    .fields = application_patch_fields,
    .doc = "Changes of an emoji of an application.",
};

const struct type emoji_create_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
const struct type emoji_patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };
const struct type application_emoji_create_body = { .kind = KIND_OBJECT,
                                                    .schema = &application_draft_schema };
const struct type application_emoji_patch_body = { .kind = KIND_OBJECT,
                                                   .schema = &application_patch_schema };

const struct rate_limit limit_expression_writes = {
    .name = "expression_writes", .count = 10, .window_s = 10, .shared = true
};

/* --- creating an emoji from a request body ------------------------------------------- */

static enum err store_emoji_picture(struct call *call)
{
    const struct emoji_create_request *in = call->body;
    struct emoji_upload *upload = call_get_stage_data(call, "emoji_upload");

    return store_uploaded_picture(call, "emojis", upload->id, &in->image, &upload->image);
}

enum err emoji_schedule_storing_picture(struct call *call, enum err (*check)(struct call *call))
{
    struct emoji_upload *upload = call_store_stage_data(call, "emoji_upload", sizeof *upload);

    *upload = (struct emoji_upload){ .id = snowflake_new() };
    call->read = check;
    call->compute = store_emoji_picture;
    return OK;
}

struct emoji emoji_from_create_request(struct call *call)
{
    const struct emoji_create_request *in = call->body;
    const struct emoji_upload *upload = call_get_stage_data(call, "emoji_upload");

    return (struct emoji){
        .id = upload->id,
        .name = in->name,
        .image = upload->image,
        .animated = picture_is_animated(in->image.value.bytes),
        .user_id = call->caller->id,
        .require_colons = true,
        .available = true,
    };
}
