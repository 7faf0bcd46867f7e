/* attachment.c - POST /applications/{application.id}/attachment: a file served for one day. */
#include "platform/applications/internal.h"

#include "model/fields/types.h"
#include "platform/messages/uploads.h"

struct application_attachment {
    const struct attachment *attachment;
    bool ephemeral; /* always true */
};

static const struct type type_attachment = { .kind = KIND_OBJECT, .schema = &attachment_schema };
static const struct field attachment_fields[] = {
    { FIELD(struct application_attachment, attachment), .type = &type_attachment },
    { FIELD(struct application_attachment, ephemeral), .type = &type_bool },
    { 0 },
};
static const struct schema attachment_schema_of_application = {
    .name = "ApplicationAttachment",
    .size = sizeof(struct application_attachment),
    .fields = attachment_fields,
    .doc = "A file of an application, stored for one day.",
};
const struct type application_attachment_reply = { .kind = KIND_OBJECT,
                                                   .schema = &attachment_schema_of_application };

static const struct multipart_part *find_uploaded_file_part(const struct call *call)
{
    const struct multipart_part *p =
        call->parts ? multipart_find_part(call->parts, STR("file")) : NULL;

    return p && p->filename ? p : NULL;
}

static enum err store_application_attachment(struct call *call)
{
    return uploaded_part_store(call, snowflake_new(), find_uploaded_file_part(call), NULL,
                               call_get_stage_data(call, "attachment"));
}

enum err validate_application_attachment(struct call *call)
{
    const struct multipart_part *p = find_uploaded_file_part(call);

    if (!p)
        return call_add_field_error(call, "file", FORM_REQUIRED);
    if (p->data.n > MESSAGE_MAX_FILE)
        return ERR_ENTITY_TOO_LARGE;
    call_store_stage_data(call, "attachment", sizeof(struct attachment));
    call->read = call_read_nothing_but_path_objects;
    call->compute = store_application_attachment;
    return OK;
}

enum err create_application_attachment(struct call *call)
{
    struct attachment shown = *(const struct attachment *)call_get_stage_data(call, "attachment");
    snowflake application_id = call->target.application->id;
    struct application_attachment out = { &shown, true };
    enum err e = attachment_publish_for_one_day(call, application_id, &shown);

    attachment_sign_url(call, application_id, &shown);
    return e ? e : call_reply_with_object(call, &out);
}
