/* kept.c - encodes objects of a request body as JSON for a database column. */
#include "platform/message_parts/kept.h"

#include "api/call.h"

struct str kept_text(struct arena *arena, const struct type *type, const void *value)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, CALL_MAX_REPLY);
    schema_encode(&j, type, value);
    return buf_take(&out, arena);
}

void kept_drop_nulls(const struct schema *schema, void *object)
{
    for (const struct field *f = schema->fields; f->name.p; f++) {
        enum given *given = (enum given *)((char *)object + f->offset);

        /* Every optional member of a struct starts with its enum given. */
        if (f->member >= MEMBER_OPT_STR && *given == GIVEN_NULL)
            *given = ABSENT;
    }
}
