/* response_metadata.c - writes `interaction` and `interaction_metadata` of a response message. */
#include "interactions/responses.h"

#include "model/fields/rows.h"
#include "platform/members/members.h"

/* --- `interaction`, for older clients ------------------------------------------------- */

enum err encode_message_interaction(struct call *call, const struct interaction_response_context *r,
                                    struct str *ret)
{
    const struct interaction *it = r->it;
    struct member member;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = it->guild_id ? member_find(call->tx, it->guild_id, it->user_id, &member)
                              : ERR_UNKNOWN_MEMBER;

    if (e && e != ERR_UNKNOWN_MEMBER)
        return e;
    buf_init(&out, CALL_MAX_REPLY);
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, it->id);
    json_write_name(&j, "type");
    json_write_int(&j, it->type);
    json_write_name(&j, "name");
    json_write_text(&j, it->name);
    json_write_name(&j, "user");
    json_write_raw(&j, r->user_text);
    if (!e) {
        json_write_name(&j, "member");
        schema_encode(&j, &type_member, &member);
    }
    json_end_object(&j);
    *ret = buf_move_to_arena(&out, call->arena);
    return OK;
}

/* --- `interaction_metadata` ----------------------------------------------------------- */

static void write_optional_id_json(struct json_writer *j, struct str name, snowflake id)
{
    if (!id)
        return;
    json_write_key(j, name);
    json_write_id(j, id);
}

static enum err write_command_metadata_json(struct call *call, struct json_writer *j,
                                            const struct interaction *it)
{
    struct user target;
    enum err e = OK;

    json_write_name(j, "name");
    json_write_text(j, it->name);
    json_write_name(j, "command_type");
    json_write_int(j, it->command_type);
    if (it->command_type == COMMAND_MESSAGE)
        write_optional_id_json(j, STR("target_message_id"), it->target_id);
    if (it->command_type != COMMAND_USER)
        return OK;
    e = user_find(call->tx, it->target_id, &target);
    if (!e) {
        json_write_name(j, "target_user");
        schema_encode(j, &type_partial_user, &target);
    }
    return e == ERR_UNKNOWN_USER ? OK : e;
}

/* Writes the metadata fields that all interaction types have. The caller closes the JSON object. */
static enum err write_common_metadata_json(struct call *call, struct json_writer *j,
                                           const struct interaction *it, struct str user)
{
    enum err e = OK;

    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, it->id);
    json_write_name(j, "type");
    json_write_int(j, it->type);
    json_write_name(j, "user");
    json_write_raw(j, user);
    json_write_name(j, "authorizing_integration_owners");
    json_write_raw(j, it->owners);
    if (it->type == INTERACTION_COMMAND)
        e = write_command_metadata_json(call, j, it);
    if (it->type == INTERACTION_COMPONENT)
        write_optional_id_json(j, STR("interacted_message_id"), it->message_id);
    return e;
}

/* Writes the metadata of the interaction that opened a modal. */
static enum err write_opener_metadata_json(struct call *call, struct json_writer *j,
                                           const struct interaction_response_context *r)
{
    struct interaction opener;
    enum err e = r->it->opener_id ? read_interaction(call->tx, r->it->opener_id, &opener)
                                  : ERR_UNKNOWN_INTERACTION;

    if (e)
        return e == ERR_UNKNOWN_INTERACTION ? OK : e;
    json_write_name(j, "triggering_interaction_metadata");
    e = write_common_metadata_json(call, j, &opener, r->user_text);
    json_end_object(j);
    return e;
}

enum err encode_interaction_metadata(struct call *call,
                                     const struct interaction_response_context *r, struct str *ret)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, CALL_MAX_REPLY);
    enum err e = write_common_metadata_json(call, &j, r->it, r->user_text);
    write_optional_id_json(&j, STR("original_response_message_id"), r->follow_up_to);
    if (!e)
        e = write_opener_metadata_json(call, &j, r);
    if (r->forced.given == GIVEN) {
        json_write_name(&j, "ephemerality_reason");
        json_write_int(&j, r->forced.value);
    }
    json_end_object(&j);
    *ret = buf_move_to_arena(&out, call->arena);
    return e;
}

struct metadata_interaction_id {
    snowflake id;
};
static const struct field id_fields[] = {
    { FIELD(struct metadata_interaction_id, id), .type = &type_id },
    { 0 },
};
static const struct schema id_schema = { .size = sizeof(struct metadata_interaction_id),
                                         .fields = id_fields };
static const struct type type_metadata_id = { .kind = KIND_OBJECT, .schema = &id_schema };

bool message_is_response_to_interaction(struct arena *arena, const struct message *m,
                                        snowflake interaction_id)
{
    const struct metadata_interaction_id *found =
        m->interaction_metadata.given == GIVEN
            ? json_column_decode(arena, &type_metadata_id, m->interaction_metadata.value)
            : NULL;

    return found && found->id == interaction_id;
}
