/* owners.c - the context of an interaction, and its authorizing_integration_owners. */
#include "interactions/invoke.h"

#include "model/fields/rows.h"
#include "platform/channels/channels.h"

enum err context_find(struct call *call)
{
    struct invoking *v = invoking_of(call);
    const struct channel *c = call->target.channel;
    struct list others;

    v->it.context = CONTEXT_GUILD;
    if (v->it.guild_id)
        return OK;
    v->it.context = CONTEXT_PRIVATE_CHANNEL;
    if (c->type != CHANNEL_DM || !v->application.bot_id)
        return OK;
    enum err e = channel_others(call->tx, c->id, v->user.id, &others);
    if (!e && others.count == 1 && *(snowflake *)others.items == v->application.bot_id)
        v->it.context = CONTEXT_BOT_DM;
    return e;
}

struct str owners_write(struct arena *arena, unsigned ways, snowflake guild_id, snowflake user_id)
{
    bool guild = ways >> INSTALL_GUILD & 1, user = ways >> INSTALL_USER & 1;
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, 128);
    json_object(&j);
    if (guild) {
        json_name(&j, "0");
        json_id(&j, guild_id);
    }
    if (user) {
        json_name(&j, "1");
        json_id(&j, user_id);
    }
    json_object_end(&j);
    return buf_take(&out, arena);
}

bool owners_only_user(struct str owners)
{
    return str_starts(owners, STR("{\"1\""));
}

struct metadata {
    struct opt_str authorizing_integration_owners;
};
static const struct field metadata_fields[] = {
    { FIELD(struct metadata, authorizing_integration_owners), .type = &type_raw,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema metadata_schema = {
    .name = "MetadataOwners",
    .size = sizeof(struct metadata),
    .fields = metadata_fields,
};
static const struct type type_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };

struct str owners_of_message(struct call *call, const struct message *m)
{
    const struct invoking *v = invoking_of(call);
    const struct metadata *kept = NULL;

    if (m->interaction_metadata.given == GIVEN)
        kept = column_decode(call->arena, &type_metadata, m->interaction_metadata.value);
    if (kept && kept->authorizing_integration_owners.given == GIVEN)
        return kept->authorizing_integration_owners.value;
    /* The message is an ordinary one of the bot. */
    return owners_write(call->arena, 1u << INSTALL_GUILD, v->it.guild_id, 0);
}
