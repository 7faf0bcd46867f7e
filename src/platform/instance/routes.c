/* routes.c - discovery routes: endpoint URLs, server description, limits, ping. */
#include "platform/instance/internal.h"

#include "gateway/gateway.h"
#include "model/configured/claim_provider.h"

/* Limits that clients may show. The values here are copies: each limit is defined and enforced in
 * the folder that owns the resource. */
static const struct instance_limit instance_limits[] = {
    { "user", "maxGuilds", "limits_user_maxGuilds", 100 },
    { "user", "maxUsername", NULL, 32 },
    { "user", "maxFriends", NULL, 1000 },
    { "user", "maxBio", "limits_user_maxBio", 190 },
    { "guild", "maxRoles", "limits_guild_maxRoles", 250 },
    { "guild", "maxEmojis", "limits_guild_maxEmojis", 50 },
    { "guild", "maxMembers", NULL, 500000 },
    { "guild", "maxChannels", NULL, 500 },
    { "guild", "maxBulkBanUsers", NULL, 200 },
    { "guild", "maxStickers", NULL, 5 },
    { "message", "maxCharacters", "limits_message_maxCharacters", 2000 },
    { "message", "maxTTSCharacters", NULL, 2000 },
    { "message", "maxReactions", NULL, 20 },
    { "message", "maxAttachmentSize", "limits_message_maxAttachmentSize", 10 * 1024 * 1024 },
    { "message", "maxBulkDelete", NULL, 100 },
    { "message", "maxEmbedDownloadSize", "limits_message_maxEmbedDownloadSize", 0 },
    { "channel", "maxPins", NULL, 250 },
    { "channel", "maxTopic", NULL, 1024 },
    { "channel", "maxWebhooks", "limits_channel_maxWebhooks", 15 },
    { 0 },
};

/* Allows pages of any origin (CORS) to call these routes, because a web client calls them before it
 * knows its server. */
static void allow_any_origin(struct call *call)
{
    if (!api_get_options(call->api)->cors_origin)
        call_add_header(call, "Access-Control-Allow-Origin", STR("*"));
}

static enum err reply_to_any_origin(struct call *call, const void *value)
{
    allow_any_origin(call);
    return call_reply_with_object(call, value);
}

static struct str prepend_base_url(struct call *call, const char *path)
{
    return STR_CONCAT(call->arena, api_get_base_url(call, "http"), str_of(path));
}

/* --- endpoint URLs -------------------------------------------------------------------- */

/* Replies with a URL without a trailing slash, because clients append a path. */
static enum err get_instance_address(struct call *call)
{
    return reply_to_any_origin(call,
                               &(struct instance_endpoint_urls){ prepend_base_url(call, "/api") });
}

/* Returns the gateway URL whose READY has the form that Spacebar's clients read. */
static struct str spacebar_gateway_url(struct call *call)
{
    return STR_CONCAT(call->arena, api_get_base_url(call, "ws"), STR(GATEWAY_SPACEBAR_PATH));
}

/* Replies with URLs without /api/v9, because clients of this route append it. */
static enum err get_instance_client(struct call *call)
{
    struct instance_api api = {
        .base_url = prepend_base_url(call, ""),
        .versions = STR("{\"default\":\"9\",\"active\":[\"9\",\"10\"]}"),
    };
    struct instance_gateway gateway = {
        .base_url = spacebar_gateway_url(call),
        .encoding = STR("[\"json\",\"etf\"]"),
        .compression = STR("[\"zlib-stream\",\"zstd-stream\",null]"),
    };
    struct instance_cdn cdn = { .base_url = prepend_base_url(call, "") };

    return reply_to_any_origin(call, &(struct instance_client){ &api, &gateway, &cdn });
}

static enum err get_instance_domains(struct call *call)
{
    return reply_to_any_origin(call, &(struct instance_domains){
                                         .cdn = prepend_base_url(call, ""),
                                         .gateway = spacebar_gateway_url(call),
                                         .api = prepend_base_url(call, "/api"),
                                         .api_endpoint = prepend_base_url(call, "/api/v9"),
                                         .default_api_version = STR("9"),
                                     });
}

/* --- description of the server ------------------------------------------------------- */

static struct instance_about describe_instance(const struct call *call)
{
    const struct opt_str unknown = { .given = GIVEN_NULL };
    struct str url = api_get_base_url(call, "http"),
               name = str_skip_bytes(url, str_starts_with(url, STR("https")) ? 8 : 7);

    return (struct instance_about){ unknown, unknown, unknown, unknown,
                                    unknown, unknown, unknown, name };
}

static enum err ping_instance(struct call *call)
{
    struct instance_about about = describe_instance(call);

    return reply_to_any_origin(call, &(struct instance_ping){ STR("pong!"), &about });
}

static enum err get_instance(struct call *call)
{
    struct instance_about about = describe_instance(call);

    return reply_to_any_origin(call, &about);
}

/* Rows with the same .group must be adjacent in the table instance_limits. */
static enum err get_instance_limits(struct call *call)
{
    struct json_writer j = call_get_reply_json_writer(call);
    const char *group = NULL;

    allow_any_origin(call);
    json_begin_object(&j);
    for (const struct instance_limit *l = instance_limits; l->group; l++) {
        if (!group || strcmp(group, l->group) != 0) {
            if (group)
                json_end_object(&j);
            json_write_key(&j, str_of(l->group));
            json_begin_object(&j);
            group = l->group;
        }
        json_write_key(&j, str_of(l->name));
        json_write_int(&j, l->value);
    }
    json_end_object(&j);
    json_write_name(&j, "rate");
    json_begin_object(&j);
    json_write_name(&j, "enabled");
    json_write_bool(&j, false);
    json_end_object(&j);
    json_end_object(&j);
    return OK;
}

static void write_bool_json(struct json_writer *j, const char *name, bool value)
{
    json_write_key(j, str_of(name));
    json_write_bool(j, value);
}

static enum err get_instance_config(struct call *call)
{
    enum registration_mode mode = api_get_registration_mode_for_call(call);
    struct json_writer j = call_get_reply_json_writer(call);

    allow_any_origin(call);
    json_begin_object(&j);
    for (const struct instance_limit *l = instance_limits; l->group; l++) {
        if (!l->flat)
            continue;
        json_write_key(&j, str_of(l->flat));
        json_write_int(&j, l->value);
    }
    write_bool_json(&j, "register_dateOfBirth_required", true);
    write_bool_json(&j, "register_password_required", true);
    write_bool_json(&j, "register_disabled", mode == REGISTRATION_CLOSED);
    write_bool_json(&j, "register_requireInvite",
                    mode == REGISTRATION_INVITE || mode == REGISTRATION_GUILD_INVITE);
    write_bool_json(&j, "register_allowNewRegistration", mode != REGISTRATION_CLOSED);
    write_bool_json(&j, "register_allowMultipleAccounts", true);
    write_bool_json(&j, "register_email_required", true);
    write_bool_json(&j, "guild_autoJoin_canLeave", true);
    write_bool_json(&j, "can_recover_account", false);
    json_write_name(&j, "claim_from");
    if (claim_provider_is_configured())
        json_write_text(&j, claim_provider_get_api_host());
    else
        json_write_null(&j);
    json_write_name(&j, "guild_autoJoin_guilds_x");
    json_write_raw(&j, STR("[]"));
    json_end_object(&j);
    return OK;
}

/* --- telemetry that the server discards ---------------------------------------------- */

/* Handler of /science and /track. Clients continuously send telemetry to these routes; the server
 * discards it. */
static enum err forget_measurements(struct call *call)
{
    allow_any_origin(call);
    return OK;
}

#define PUBLIC_GET_ROUTE(path_, name_, doc_, reply_, ...)                           \
    {                                                                               \
        .method = GET, .path = path_, .name = #name_, .doc = doc_, .reply = reply_, \
        .store = ROUTE_STORE_NONE, .handle = name_, __VA_ARGS__                     \
    }

#define TELEMETRY_ROUTE(path_, name_)                                               \
    {                                                                               \
        .method = POST, .path = path_, .name = #name_, .auth = AUTH_OPEN,           \
        .doc = "Accepts and discards client telemetry.", .store = ROUTE_STORE_NONE, \
        .handle = forget_measurements,                                              \
    }

static const struct type type_limits = { .kind = KIND_RAW, .doc = "Limits by group" };
static const struct type type_config = { .kind = KIND_RAW, .doc = "Limits and switches" };

static const struct route routes[] = {
    PUBLIC_GET_ROUTE("/ping", ping_instance, "Check that the server is up.", &instance_ping_type,
                     .auth = AUTH_OPEN),
    PUBLIC_GET_ROUTE("/policies/instance", get_instance, "Description of the server.",
                     &instance_about_type, .auth = AUTH_OPEN),
    PUBLIC_GET_ROUTE("/policies/instance/domains", get_instance_domains,
                     "URLs of the server's "
                     "endpoints.",
                     &instance_domains_type, .auth = AUTH_OPEN),
    PUBLIC_GET_ROUTE("/policies/instance/limits", get_instance_limits, "Limits of the server.",
                     &type_limits, .auth = AUTH_OPEN),
    PUBLIC_GET_ROUTE("/policies/instance/config", get_instance_config,
                     "Limits of the server, and who may register.", &type_config,
                     .auth = AUTH_OPEN),
    {
        .method = GET,
        .path = "/policies/instance/announcement",
        .name = "get_announcement",
        .doc = "Returns the operator's announcement to everybody.",
        .reply = &current_announcement_type,
        .auth = AUTH_OPEN,
        .store = ROUTE_STORE_READ,
        .handle = get_announcement,
    },
    TELEMETRY_ROUTE("/science", forget_measurements),
    TELEMETRY_ROUTE("/track", forget_track),
    { 0 },
};

static const struct route pages[] = {
    PUBLIC_GET_ROUTE("/.well-known/spacebar", get_instance_address, "URL of the API.",
                     &instance_address_type, .service = true),
    PUBLIC_GET_ROUTE("/.well-known/spacebar/client", get_instance_client,
                     "URLs of the server's "
                     "endpoints.",
                     &instance_client_type, .service = true),
    { 0 },
};

const struct domain instance_domain = {
    .name = "Instance",
    .doc = "Server discovery for web clients that know only the server's address.",
    .routes = routes,
};

const struct domain instance_pages_domain = {
    .name = "Instance, at the root",
    .doc = "Discovery files at the root of the server.",
    .routes = pages,
};
