/* owners.c - how an app came to where it is used: authorizing_integration_owners. */
#include "interactions/invoke.h"

#include <inttypes.h>

#include "platform/channels/channels.h"
#include "platform/rows.h"

enum err context_find(struct call *call)
{
    struct invoking *v = call->data;
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

/* --- what is installed ---------------------------------------------------------------- */

static const char SCOPES_IN_GUILD[] =
    "select scopes from integrations where guild_id = $1 and application_id = $2";
static const char SHARED_GUILD[] =
    "select i.scopes from integrations i join members m on m.guild_id = i.guild_id "
    "where i.application_id = $1 and m.user_id = $2";
static const char USER_INSTALL[] =
    "select installed from authorizations where user_id = $1 and application_id = $2";

/* With a scope that brings commands. */
static enum err brings_commands(struct tx *tx, const char *sql, snowflake one, snowflake two,
                                bool *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, sql, BIND(v_id(one), v_id(two)), &rows);

    *ret = false;
    if (e)
        return e;
    while (!*ret && rows_next(&rows)) {
        struct list scopes = column_list(tx_arena(tx), &type_texts, row_text(&rows, 0));
        const struct str *names = scopes.items;

        for (size_t i = 0; i < scopes.count; i++)
            *ret = *ret || str_is(names[i], "applications.commands") || str_is(names[i], "bot");
    }
    return rows_end(&rows);
}

static enum err user_installed(struct tx *tx, snowflake user_id, snowflake application_id,
                               bool *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, USER_INSTALL, BIND(v_id(user_id), v_id(application_id)), &row, &found);

    *ret = !e && found && row_bool(&row, 0);
    return e;
}

/* --- the map -------------------------------------------------------------------------- */

static struct str write_owners(struct arena *arena, bool guild, snowflake guild_id, bool user,
                               snowflake user_id)
{
    struct str one = { 0 }, two = { 0 };

    if (guild)
        one = str_printf(arena, "\"0\":\"%" PRIu64 "\"%s", guild_id, user ? "," : "");
    if (user)
        two = str_printf(arena, "\"1\":\"%" PRIu64 "\"", user_id);
    return STR_CONCAT(arena, STR("{"), one, two, STR("}"));
}

enum err owners_find(struct call *call)
{
    struct invoking *v = call->data;
    unsigned types = command_integration_types(&v->command);
    bool guild = false, user = false;
    enum err e = OK;

    if (!(command_contexts(&v->command) >> v->it.context & 1)) {
        v->it.owners = STR("{}");
        return OK;
    }
    if (types >> INSTALL_GUILD & 1 && v->it.context == CONTEXT_GUILD)
        e = brings_commands(call->tx, SCOPES_IN_GUILD, v->it.guild_id, v->application.id, &guild);
    else if (types >> INSTALL_GUILD & 1 && v->it.context == CONTEXT_BOT_DM)
        e = brings_commands(call->tx, SHARED_GUILD, v->application.id, v->user.id, &guild);
    if (!e && types >> INSTALL_USER & 1)
        e = user_installed(call->tx, v->user.id, v->application.id, &user);
    v->it.owners = write_owners(call->arena, guild, v->it.guild_id, user, v->user.id);
    return e;
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
    const struct invoking *v = call->data;
    const struct metadata *kept = NULL;

    if (m->interaction_metadata.given == GIVEN)
        kept = column_decode(call->arena, &type_metadata, m->interaction_metadata.value);
    if (kept && kept->authorizing_integration_owners.given == GIVEN)
        return kept->authorizing_integration_owners.value;
    /* An ordinary message of the bot's. */
    return write_owners(call->arena, true, v->it.guild_id, false, 0);
}
