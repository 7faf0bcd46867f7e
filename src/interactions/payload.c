/* payload.c - the interaction object that is sent to the app. */
#include "interactions/invoke.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/entitlements/entitlements.h"
#include "platform/messages/messages.h"

/* --- guild, channel, member, permissions ---------------------------------------------- */

struct place_of {
    snowflake id;
    struct str features; /* JSON */
    struct str locale;
};

struct around {
    struct place_of guild;
    struct channel channel;
    struct member member;
    uint64_t app_permissions;
    struct list entitlements; /* struct entitlement */
};

/* Maximum permissions of an app whose bot is not in the channel; it has @everyone's among them. */
enum {
    APP_RIGHTS_PRIVATE = 180224, /* ATTACH_FILES, EMBED_LINKS, MENTION_EVERYONE */
    APP_RIGHTS = 442368,         /* and USE_EXTERNAL_EMOJIS */
};

static const char GUILD_PLACE[] = "select features, preferred_locale from guilds where id = $1";

static enum err find_guild(struct tx *tx, snowflake id, struct place_of *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, GUILD_PLACE, BIND(v_id(id)), &row, &found);

    if (!e && !found)
        e = ERR_UNKNOWN_GUILD;
    if (!e)
        *ret = (struct place_of){ id, row_text(&row, 0), row_text(&row, 1) };
    return e;
}

static enum err everybodys_rights(struct call *call, uint64_t *ret)
{
    struct standing nobody = *call->target.standing;
    struct role everyone;
    enum err e = role_find(call->tx, nobody.guild_id, nobody.guild_id, &everyone);

    if (e)
        return e;
    nobody.rights_of =
        (struct rights_of){ .guild_id = nobody.guild_id, .base = everyone.permissions };
    e = standing_rights_in(call->tx, &nobody, call->target.channel, ret);
    *ret &= APP_RIGHTS;
    return e;
}

static enum err find_app_rights(struct call *call, uint64_t *ret)
{
    struct invoking *v = invoking_of(call);

    if (v->it.context == CONTEXT_BOT_DM || v->it.context == CONTEXT_PRIVATE_CHANNEL) {
        *ret = v->it.context == CONTEXT_BOT_DM ? APP_RIGHTS : APP_RIGHTS_PRIVATE;
        return OK;
    }
    if (!v->bot_is_member)
        return everybodys_rights(call, ret);
    return standing_rights_in(call->tx, &v->bot, call->target.channel, ret);
}

static enum err gather_guild(struct call *call)
{
    struct invoking *v = invoking_of(call);
    struct around *a = v->around;
    enum err e = find_guild(call->tx, v->it.guild_id, &a->guild);

    if (!e)
        e = channel_load_pins_time(call->tx, &a->channel);
    a->channel.permission_overwrites.given = ABSENT;
    a->channel.permissions = (struct opt_id){ GIVEN, call->target.rights };
    a->member = *call->target.standing->member;
    a->member.user = &v->user;
    a->member.permissions = (struct opt_id){ GIVEN, call->target.rights };
    return e;
}

enum err payload_gather(struct call *call)
{
    struct invoking *v = invoking_of(call);
    struct around *a = v->around = arena_alloc(call->arena, sizeof *a);

    a->channel = *call->target.channel;
    enum err e = v->it.guild_id ? gather_guild(call)
                                : channel_load_recipients(call->tx, &a->channel, v->user.id);
    if (!e)
        e = entitlements_in_force(call->tx, v->application.id, v->user.id, v->it.guild_id,
                                  &a->entitlements);
    return e ? e : find_app_rights(call, &a->app_permissions);
}

/* --- data of a command ---------------------------------------------------------------- */

struct command_data {
    snowflake id;
    struct str name;
    int64_t type;
    struct opt_id guild_id, target_id, version;
    struct opt_list options;
};

static const struct schema option_schema;
static const struct type type_option = { .kind = KIND_OBJECT, .schema = &option_schema };
static const struct type type_options = { .kind = KIND_ARRAY, .of = &type_option };
static const struct field option_fields[] = {
    { FIELD(struct option_out, type), .type = &type_int },
    { FIELD(struct option_out, name), .type = &type_text },
    { FIELD(struct option_out, value), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct option_out, options), .type = &type_options, .flags = OPTIONAL },
    { FIELD(struct option_out, focused), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema option_schema = {
    .name = "InteractionOption",
    .size = sizeof(struct option_out),
    .fields = option_fields,
    .doc = "An option with its value, or a subcommand with its options.",
};

static const struct field command_fields[] = {
    { FIELD(struct command_data, id), .type = &type_id },
    { FIELD(struct command_data, name), .type = &type_text },
    { FIELD(struct command_data, type), .type = &type_int },
    { FIELD(struct command_data, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct command_data, target_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct command_data, version), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct command_data, options), .type = &type_options, .flags = OPTIONAL },
    { 0 },
};
static const struct schema command_data_schema = {
    .name = "CommandData",
    .size = sizeof(struct command_data),
    .fields = command_fields,
    .doc = "The invoked command and its options.",
};
static const struct type type_command_data = { .kind = KIND_OBJECT,
                                               .schema = &command_data_schema };

static struct str command_text(struct call *call)
{
    struct invoking *v = invoking_of(call);
    const struct command *k = &v->command;
    struct command_data data = {
        .id = k->id,
        .name = k->name,
        .type = k->type,
        .guild_id = k->guild_id,
    };

    if (v->it.target_id)
        data.target_id = given_id(v->it.target_id);
    if (v->it.type == INTERACTION_AUTOCOMPLETE)
        data.version = given_id(k->version);
    if (v->options.count)
        data.options = (struct opt_list){ GIVEN, v->options };
    return object_text(call, &type_command_data, &data);
}

/* Appends `resolved` as the last member of data. */
static struct str with_resolved(struct call *call, struct str data)
{
    struct str resolved = resolved_text(call);

    if (!resolved.p)
        return data;
    return STR_CONCAT(call->arena, str_slice(data.p, data.n - 1), STR(",\"resolved\":"), resolved,
                      STR("}"));
}

/* --- whole payload -------------------------------------------------------------------- */

struct payload {
    snowflake id, application_id, channel_id;
    int64_t type, version, context, attachment_size_limit;
    struct str token, locale;
    struct str data, authorizing_integration_owners; /* JSON */
    struct opt_id guild_id;
    struct opt_str guild_locale;
    const struct place_of *guild;
    const struct channel *channel;
    const struct member *member;
    const struct user *user;
    uint64_t app_permissions;
    struct list entitlements, entitlement_sku_ids;
    const struct message *message;
};

static const struct field place_fields[] = {
    { FIELD(struct place_of, id), .type = &type_id },
    { FIELD(struct place_of, features), .type = &type_raw },
    { FIELD(struct place_of, locale), .type = &type_text },
    { 0 },
};
static const struct schema place_schema = {
    .name = "InteractionGuild",
    .size = sizeof(struct place_of),
    .fields = place_fields,
    .doc = "The guild of an interaction.",
};
static const struct type type_place = { .kind = KIND_OBJECT, .schema = &place_schema };

static const struct field payload_fields[] = {
    { FIELD(struct payload, id), .type = &type_id },
    { FIELD(struct payload, application_id), .type = &type_id },
    { FIELD(struct payload, type), .type = &type_int },
    { FIELD(struct payload, token), .type = &type_text },
    { FIELD(struct payload, version), .type = &type_int },
    { FIELD(struct payload, data), .type = &type_raw },
    { FIELD(struct payload, guild), .type = &type_place, .flags = OPTIONAL },
    { FIELD(struct payload, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct payload, guild_locale), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct payload, channel), .type = &type_channel },
    { FIELD(struct payload, channel_id), .type = &type_id },
    { FIELD(struct payload, member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct payload, user), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct payload, locale), .type = &type_text },
    { FIELD(struct payload, app_permissions), .type = &type_permissions },
    { FIELD(struct payload, context), .type = &type_int },
    { FIELD(struct payload, authorizing_integration_owners), .type = &type_raw },
    { FIELD(struct payload, entitlements), .type = &type_entitlements },
    { FIELD(struct payload, entitlement_sku_ids), .type = &type_ids, .flags = DEPRECATED },
    { FIELD(struct payload, attachment_size_limit), .type = &type_count },
    { FIELD(struct payload, message), .type = &type_message, .flags = OPTIONAL },
    { 0 },
};
static const struct schema payload_schema = {
    .name = "Interaction",
    .size = sizeof(struct payload),
    .fields = payload_fields,
    .doc = "An interaction, as the app receives it.",
};
static const struct type type_payload = { .kind = KIND_OBJECT, .schema = &payload_schema };

void payload_write(struct call *call)
{
    struct invoking *v = invoking_of(call);
    const struct around *a = v->around;
    const struct interaction *it = &v->it;
    struct payload p = {
        .id = it->id,
        .application_id = it->application_id,
        .type = it->type,
        .token = interaction_token(call, it->id),
        .version = 1,
        .data = with_resolved(call, v->data.p ? v->data : command_text(call)),
        .channel = &a->channel,
        .channel_id = it->channel_id,
        .locale = it->locale,
        .app_permissions = a->app_permissions,
        .context = it->context,
        .authorizing_integration_owners = it->owners,
        .attachment_size_limit = MESSAGE_MAX_FILE,
        .message = v->message.id ? &v->message : NULL,
        .entitlements = a->entitlements,
    };

    for (size_t i = 0; i < a->entitlements.count; i++)
        ids_add(call->arena, &p.entitlement_sku_ids,
                ((const struct entitlement *)a->entitlements.items)[i].sku_id);

    if (it->guild_id) {
        p.guild = &a->guild;
        p.guild_id = given_id(it->guild_id);
        p.guild_locale = given_str(a->guild.locale);
        p.member = &a->member;
    } else {
        p.user = &v->user;
    }
    v->payload = object_text(call, &type_payload, &p);
}
