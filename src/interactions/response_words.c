/* response_words.c - writes `interaction` and `interaction_metadata` of a response message. */
#include "interactions/answers.h"

#include "model/fields/rows.h"
#include "platform/members/members.h"

/* --- `interaction`, for older clients ------------------------------------------------- */

enum err response_interaction(struct call *call, const struct response *r, struct str *ret)
{
    const struct interaction *it = r->it;
    struct member member;
    struct buf out;
    struct json j = json_to(&out);
    enum err e = it->guild_id ? member_find(call->tx, it->guild_id, it->user_id, &member)
                              : ERR_UNKNOWN_MEMBER;

    if (e && e != ERR_UNKNOWN_MEMBER)
        return e;
    buf_init(&out, CALL_MAX_REPLY);
    json_object(&j);
    json_name(&j, "id");
    json_id(&j, it->id);
    json_name(&j, "type");
    json_int(&j, it->type);
    json_name(&j, "name");
    json_text(&j, it->name);
    json_name(&j, "user");
    json_raw(&j, r->user_text);
    if (!e) {
        json_name(&j, "member");
        schema_encode(&j, &type_member, &member);
    }
    json_object_end(&j);
    *ret = buf_take(&out, call->arena);
    return OK;
}

/* --- `interaction_metadata` ----------------------------------------------------------- */

static void write_id(struct json *j, struct str name, snowflake id)
{
    if (!id)
        return;
    json_key(j, name);
    json_id(j, id);
}

static enum err write_command(struct call *call, struct json *j, const struct interaction *it)
{
    struct user target;
    enum err e = OK;

    json_name(j, "name");
    json_text(j, it->name);
    json_name(j, "command_type");
    json_int(j, it->command_type);
    if (it->command_type == COMMAND_MESSAGE)
        write_id(j, STR("target_message_id"), it->target_id);
    if (it->command_type != COMMAND_USER)
        return OK;
    e = user_find(call->tx, it->target_id, &target);
    if (!e) {
        json_name(j, "target_user");
        schema_encode(j, &type_partial_user, &target);
    }
    return e == ERR_UNKNOWN_USER ? OK : e;
}

/* Writes the members that all types have; the caller closes the object. */
static enum err write_common(struct call *call, struct json *j, const struct interaction *it,
                             struct str user)
{
    enum err e = OK;

    json_object(j);
    json_name(j, "id");
    json_id(j, it->id);
    json_name(j, "type");
    json_int(j, it->type);
    json_name(j, "user");
    json_raw(j, user);
    json_name(j, "authorizing_integration_owners");
    json_raw(j, it->owners);
    if (it->type == INTERACTION_COMMAND)
        e = write_command(call, j, it);
    if (it->type == INTERACTION_COMPONENT)
        write_id(j, STR("interacted_message_id"), it->message_id);
    return e;
}

/* Writes the metadata of the interaction that opened a modal. */
static enum err write_trigger(struct call *call, struct json *j, const struct response *r)
{
    struct interaction opener;
    enum err e = r->it->opener_id ? interaction_find(call->tx, r->it->opener_id, &opener)
                                  : ERR_UNKNOWN_INTERACTION;

    if (e)
        return e == ERR_UNKNOWN_INTERACTION ? OK : e;
    json_name(j, "triggering_interaction_metadata");
    e = write_common(call, j, &opener, r->user_text);
    json_object_end(j);
    return e;
}

enum err response_metadata(struct call *call, const struct response *r, struct str *ret)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, CALL_MAX_REPLY);
    enum err e = write_common(call, &j, r->it, r->user_text);
    write_id(&j, STR("original_response_message_id"), r->follow_up_to);
    if (!e)
        e = write_trigger(call, &j, r);
    if (r->forced.given == GIVEN) {
        json_name(&j, "ephemerality_reason");
        json_int(&j, r->forced.value);
    }
    json_object_end(&j);
    *ret = buf_take(&out, call->arena);
    return e;
}

struct metadata_id {
    snowflake id;
};
static const struct field id_fields[] = {
    { FIELD(struct metadata_id, id), .type = &type_id },
    { 0 },
};
static const struct schema id_schema = { .size = sizeof(struct metadata_id), .fields = id_fields };
static const struct type type_metadata_id = { .kind = KIND_OBJECT, .schema = &id_schema };

bool response_is_of(struct arena *arena, const struct message *m, snowflake interaction_id)
{
    const struct metadata_id *found =
        m->interaction_metadata.given == GIVEN
            ? column_decode(arena, &type_metadata_id, m->interaction_metadata.value)
            : NULL;

    return found && found->id == interaction_id;
}
