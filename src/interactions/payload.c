/* payload.c - the interaction object that is sent to the app. */
#include "interactions/invoke.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/entitlements/entitlements.h"
#include "platform/messages/messages.h"

/* --- guild, channel, member, permissions ---------------------------------------------- */

struct payload_guild {
    snowflake id;
    struct str features; /* JSON */
    struct str locale;
};

struct payload_context {
    struct payload_guild guild;
    struct channel channel;
    struct member member;
    uint64_t app_permissions;
    struct list entitlements; /* struct entitlement */
};

/* Permissions that an app has outside guilds. In a guild without the app's bot, the app has each of
 * these permissions only if @everyone has it. */
enum {
    APP_PERMISSIONS_PRIVATE = 180224, /* ATTACH_FILES, EMBED_LINKS, MENTION_EVERYONE */
    APP_PERMISSIONS = 442368,         /* the permissions above and USE_EXTERNAL_EMOJIS */
};

static const char READ_PAYLOAD_GUILD[] =
    "select features, preferred_locale from guilds where id = $1";

static enum err read_payload_guild(struct tx *tx, snowflake id, struct payload_guild *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, READ_PAYLOAD_GUILD, BIND(v_id(id)), ERR_UNKNOWN_GUILD, &row);

    if (!e)
        *ret = (struct payload_guild){ id, row_text(&row, 0), row_text(&row, 1) };
    return e;
}

static enum err read_everyone_permissions(struct call *call, uint64_t *ret)
{
    struct member_access everyone_access = *call->target.member_access;
    struct role everyone;
    enum err e = role_find(call->tx, everyone_access.guild_id, everyone_access.guild_id, &everyone);

    if (e)
        return e;
    everyone_access.input =
        (struct permission_computation_input){ .guild_id = everyone_access.guild_id,
                                               .base = everyone.permissions };
    e = member_permissions_in_channel(call->tx, &everyone_access, call->target.channel, ret);
    *ret &= APP_PERMISSIONS;
    return e;
}

static enum err read_app_permissions(struct call *call, uint64_t *ret)
{
    struct invocation_state *v = call_get_invocation_state(call);

    if (v->it.context == CONTEXT_BOT_DM || v->it.context == CONTEXT_PRIVATE_CHANNEL) {
        *ret = v->it.context == CONTEXT_BOT_DM ? APP_PERMISSIONS : APP_PERMISSIONS_PRIVATE;
        return OK;
    }
    if (!v->bot_is_member)
        return read_everyone_permissions(call, ret);
    return member_permissions_in_channel(call->tx, &v->bot, call->target.channel, ret);
}

static enum err read_guild_channel_and_member(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct payload_context *a = v->payload_context;
    enum err e = read_payload_guild(call->tx, v->it.guild_id, &a->guild);

    if (!e)
        e = channel_read_last_pin_time(call->tx, &a->channel);
    a->channel.permission_overwrites.given = ABSENT;
    a->channel.permissions = (struct opt_id){ GIVEN, call->target.permissions };
    a->member = *call->target.member_access->member;
    a->member.user = &v->user;
    a->member.permissions = (struct opt_id){ GIVEN, call->target.permissions };
    return e;
}

enum err read_interaction_payload_objects(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    struct payload_context *a = v->payload_context = arena_alloc(call->arena, sizeof *a);

    a->channel = *call->target.channel;
    enum err e = v->it.guild_id
                     ? read_guild_channel_and_member(call)
                     : channel_read_recipients_and_last_pin_time(call->tx, &a->channel, v->user.id);
    if (!e)
        e = entitlements_list_active(call->tx, v->application.id, v->user.id, v->it.guild_id,
                                     &a->entitlements);
    return e ? e : read_app_permissions(call, &a->app_permissions);
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
    { FIELD(struct interaction_payload_option, type), .type = &type_int },
    { FIELD(struct interaction_payload_option, name), .type = &type_text },
    { FIELD(struct interaction_payload_option, value), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct interaction_payload_option, options), .type = &type_options, .flags = OPTIONAL },
    { FIELD(struct interaction_payload_option, focused), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema option_schema = {
    .name = "InteractionOption",
    .size = sizeof(struct interaction_payload_option),
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

static struct str encode_command_data(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct command *k = &v->command;
    struct command_data data = {
        .id = k->id,
        .name = k->name,
        .type = k->type,
        .guild_id = k->guild_id,
    };

    if (v->it.target_id)
        data.target_id = opt_id_or_null(v->it.target_id);
    if (v->it.type == INTERACTION_AUTOCOMPLETE)
        data.version = opt_id_or_null(k->version);
    if (v->options.count)
        data.options = (struct opt_list){ GIVEN, v->options };
    return encode_interaction_payload_object_json(call, &type_command_data, &data);
}

/* Appends the field `resolved` at the end of the object `data`. */
static struct str append_resolved_json(struct call *call, struct str data)
{
    struct str resolved = encode_resolved_objects_json(call);

    if (!resolved.p)
        return data;
    return STR_CONCAT(call->arena, str_slice(data.p, data.n - 1), STR(",\"resolved\":"), resolved,
                      STR("}"));
}

/* --- whole payload -------------------------------------------------------------------- */

struct interaction_payload {
    snowflake id, application_id, channel_id;
    int64_t type, version, context, attachment_size_limit;
    struct str token, locale;
    struct str data, authorizing_integration_owners; /* JSON */
    struct opt_id guild_id;
    struct opt_str guild_locale;
    const struct payload_guild *guild;
    const struct channel *channel;
    const struct member *member;
    const struct user *user;
    uint64_t app_permissions;
    struct list entitlements, entitlement_sku_ids;
    const struct message *message;
};

static const struct field payload_guild_fields[] = {
    { FIELD(struct payload_guild, id), .type = &type_id },
    { FIELD(struct payload_guild, features), .type = &type_raw },
    { FIELD(struct payload_guild, locale), .type = &type_text },
    { 0 },
};
static const struct schema payload_guild_schema = {
    .name = "InteractionGuild",
    .size = sizeof(struct payload_guild),
    .fields = payload_guild_fields,
    .doc = "The guild of an interaction.",
};
static const struct type type_payload_guild = { .kind = KIND_OBJECT,
                                                .schema = &payload_guild_schema };

static const struct field payload_fields[] = {
    { FIELD(struct interaction_payload, id), .type = &type_id },
    { FIELD(struct interaction_payload, application_id), .type = &type_id },
    { FIELD(struct interaction_payload, type), .type = &type_int },
    { FIELD(struct interaction_payload, token), .type = &type_text },
    { FIELD(struct interaction_payload, version), .type = &type_int },
    { FIELD(struct interaction_payload, data), .type = &type_raw },
    { FIELD(struct interaction_payload, guild), .type = &type_payload_guild, .flags = OPTIONAL },
    { FIELD(struct interaction_payload, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct interaction_payload, guild_locale), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct interaction_payload, channel), .type = &type_channel },
    { FIELD(struct interaction_payload, channel_id), .type = &type_id },
    { FIELD(struct interaction_payload, member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct interaction_payload, user), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct interaction_payload, locale), .type = &type_text },
    { FIELD(struct interaction_payload, app_permissions), .type = &type_permissions },
    { FIELD(struct interaction_payload, context), .type = &type_int },
    { FIELD(struct interaction_payload, authorizing_integration_owners), .type = &type_raw },
    { FIELD(struct interaction_payload, entitlements), .type = &type_entitlements },
    { FIELD(struct interaction_payload, entitlement_sku_ids), .type = &type_ids,
      .flags = DEPRECATED },
    { FIELD(struct interaction_payload, attachment_size_limit), .type = &type_count },
    { FIELD(struct interaction_payload, message), .type = &type_message, .flags = OPTIONAL },
    { 0 },
};
static const struct schema payload_schema = {
    .name = "Interaction",
    .size = sizeof(struct interaction_payload),
    .fields = payload_fields,
    .doc = "An interaction, as the app receives it.",
};
static const struct type type_payload = { .kind = KIND_OBJECT, .schema = &payload_schema };

void encode_interaction_payload(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct payload_context *a = v->payload_context;
    const struct interaction *it = &v->it;
    struct interaction_payload p = {
        .id = it->id,
        .application_id = it->application_id,
        .type = it->type,
        .token = make_interaction_token(call, it->id),
        .version = 1,
        .data = append_resolved_json(call, v->data.p ? v->data : encode_command_data(call)),
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
        id_list_add(call->arena, &p.entitlement_sku_ids,
                    ((const struct entitlement *)a->entitlements.items)[i].sku_id);

    if (it->guild_id) {
        p.guild = &a->guild;
        p.guild_id = opt_id_or_null(it->guild_id);
        p.guild_locale = opt_str_or_null(a->guild.locale);
        p.member = &a->member;
    } else {
        p.user = &v->user;
    }
    v->payload = encode_interaction_payload_object_json(call, &type_payload, &p);
}
