/* integration_owners.c - computes the context of an interaction, and its
 * authorizing_integration_owners. */
#include "interactions/invoke.h"

#include "model/fields/rows.h"
#include "platform/channels/channels.h"

enum err determine_interaction_context(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct channel *c = call->target.channel;
    struct list others;

    v->it.context = CONTEXT_GUILD;
    if (v->it.guild_id)
        return OK;
    v->it.context = CONTEXT_PRIVATE_CHANNEL;
    if (c->type != CHANNEL_DM || !v->application.bot_id)
        return OK;
    enum err e = channel_list_other_recipients(call->tx, c->id, v->user.id, &others);
    if (!e && others.count == 1 && *(snowflake *)others.items == v->application.bot_id)
        v->it.context = CONTEXT_BOT_DM;
    return e;
}

struct str encode_integration_owners(struct arena *arena, unsigned install_types,
                                     snowflake guild_id, snowflake user_id)
{
    bool guild = install_types >> INSTALL_GUILD & 1, user = install_types >> INSTALL_USER & 1;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 128);
    json_begin_object(&j);
    if (guild) {
        json_write_name(&j, "0");
        json_write_id(&j, guild_id);
    }
    if (user) {
        json_write_name(&j, "1");
        json_write_id(&j, user_id);
    }
    json_end_object(&j);
    return buf_move_to_arena(&out, arena);
}

bool app_is_installed_only_on_user(struct str owners)
{
    return str_starts_with(owners, STR("{\"1\""));
}

struct message_metadata {
    struct opt_str authorizing_integration_owners;
};
static const struct field metadata_fields[] = {
    { FIELD(struct message_metadata, authorizing_integration_owners), .type = &type_raw,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema metadata_schema = {
    .name = "MetadataOwners",
    .size = sizeof(struct message_metadata),
    .fields = metadata_fields,
};
static const struct type type_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };

struct str get_integration_owners_of_message(struct call *call, const struct message *m)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    const struct message_metadata *stored = NULL;

    if (m->interaction_metadata.given == GIVEN)
        stored = json_column_decode(call->arena, &type_metadata, m->interaction_metadata.value);
    if (stored && stored->authorizing_integration_owners.given == GIVEN)
        return stored->authorizing_integration_owners.value;
    /* If the message has no interaction metadata, the bot sent it as an ordinary message in the
     * guild. */
    return encode_integration_owners(call->arena, 1u << INSTALL_GUILD, v->it.guild_id, 0);
}
