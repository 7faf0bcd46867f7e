/* column_json.c - encodes objects of a request body as JSON for a database column. */
#include "platform/message_parts/column_json.h"

#include "api/call.h"

struct str encode_json_for_database_column(struct arena *arena, const struct type *type,
                                           const void *value)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, CALL_MAX_REPLY);
    schema_encode(&j, type, value);
    return buf_move_to_arena(&out, arena);
}

void json_object_remove_null_fields(const struct schema *schema, void *object)
{
    for (const struct field *f = schema->fields; f->name.p; f++) {
        enum field_presence *given = (enum field_presence *)((char *)object + f->offset);

        /* `given` points to the field_presence with which each optional member starts. */
        if (f->member >= MEMBER_OPT_STR && *given == GIVEN_NULL)
            *given = ABSENT;
    }
}
