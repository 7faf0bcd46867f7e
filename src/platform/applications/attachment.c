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

static const struct part *attachment_part(const struct call *call)
{
    const struct part *p = call->parts ? multipart_find(call->parts, STR("file")) : NULL;

    return p && p->filename ? p : NULL;
}

static enum err keep_attachment(struct call *call)
{
    return upload_keep(call, snowflake_new(), attachment_part(call), NULL,
                       call_passed(call, "attachment"));
}

enum err prepare_create_application_attachment(struct call *call)
{
    const struct part *p = attachment_part(call);

    if (!p)
        return call_invalid(call, "file", FORM_REQUIRED);
    if (p->data.n > MESSAGE_MAX_FILE)
        return ERR_ENTITY_TOO_LARGE;
    call_pass(call, "attachment", sizeof(struct attachment));
    call->look = call_looked;
    call->compute = keep_attachment;
    return OK;
}

enum err create_application_attachment(struct call *call)
{
    struct attachment shown = *(const struct attachment *)call_passed(call, "attachment");
    snowflake place = call->target.application->id;
    struct application_attachment out = { &shown, true };
    enum err e = upload_show(call, place, &shown);

    attachment_sign(call, place, &shown);
    return e ? e : call_reply(call, &out);
}
