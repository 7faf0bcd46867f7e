/* schema.c - JSON schemas of the request and response bodies of applications. */
#include "platform/applications/internal.h"

static bool is_url_or_empty(struct str s)
{
    return s.n == 0 || type_url.rule->is_valid(s);
}

static const struct string_rule url_or_nothing_rule = { is_url_or_empty, "URL_TYPE_INVALID_URL",
                                                        "Not a well formed URL." };
static const struct type type_url_or_nothing = { .kind = KIND_STRING,
                                                 .max = 512,
                                                 .rule = &url_or_nothing_rule,
                                                 .doc = "http or https address; empty: none" };
static const struct type type_endpoint = { .kind = KIND_STRING,
                                           .max = 2048,
                                           .rule = &url_or_nothing_rule,
                                           .doc = "http or https address that answers PING and "
                                                  "checks signatures; empty: none" };
static const struct type type_flags = {
    .kind = KIND_INT, .min = 0, .max = INT32_MAX, .doc = "Bits 8, 13, 15 and 19 can be changed"
};

static const struct enum_choice event_webhooks_words[] = {
    { EVENT_WEBHOOKS_OFF, NULL, "DISABLED", "No webhook events" },
    { EVENT_WEBHOOKS_ON, NULL, "ENABLED", "Stored, without effect: this server sends none" },
    { 0 },
};
static const struct type type_event_webhooks = { .kind = KIND_INT,
                                                 .choices = event_webhooks_words };
static const struct type type_event_type = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_event_types = { .kind = KIND_ARRAY,
                                              .max = 100,
                                              .of = &type_event_type };

static const struct type type_participants = { .kind = KIND_INT, .min = -1, .max = -1 };
static const struct enum_choice filter_words[] = {
    { 0, NULL, "INHERIT", "Use the setting of the channel" },
    { 0 },
};
static const struct type type_filter = { .kind = KIND_INT, .choices = filter_words };

/* --- validation across several fields ------------------------------------------------ */

static void validate_install_scopes(struct form *form, const struct json_path *here,
                                    const struct install_params *params)
{
    struct json_path list = json_path_key(here, STR("scopes"));
    const struct str *scopes = params->scopes.items;

    for (size_t i = 0; i < params->scopes.count; i++) {
        struct json_path at = json_path_index(&list, i);

        if (!auth_oauth2_scope_bit(scopes[i]))
            form_add_error(form, &at, "ENUM_TYPE_COERCE",
                           "Value \"%.*s\" is not a valid enum value.",
                           STR_ARGS(form_shorten_quoted_value(scopes[i])));
    }
}

static void validate_integration_types(struct form *form, const struct json_path *here,
                                       const struct list *list)
{
    const struct integration_type_config_entry *items = list->items;

    for (size_t i = 0; i < list->count; i++) {
        struct json_path at = json_path_key(here, items[i].key);
        struct json_path params = json_path_key(&at, STR("oauth2_install_params"));

        if (!str_is(items[i].key, "0") && !str_is(items[i].key, "1"))
            form_add_error(form, &at, FORM_CHOICES, "Value must be one of ('0', '1').");
        else if (items[i].config.oauth2_install_params)
            validate_install_scopes(form, &params, items[i].config.oauth2_install_params);
    }
}

static void validate_application_patch(struct form *form, const struct json_path *here,
                                       const void *object)
{
    const struct application_patch *in = object;
    struct json_path params = json_path_key(here, STR("install_params"));
    struct json_path types_config = json_path_key(here, STR("integration_types_config"));
    struct json_path type = json_path_key(here, STR("type"));

    if (in->type.given == GIVEN && !form_has_error_at_path(form, &type))
        form_add_error(form, &type, FORM_CHOICES, "Value must be null.");
    if (in->install_params.given == GIVEN && !form_has_error_at_path(form, &params))
        validate_install_scopes(form, &params, in->install_params.value);
    if (in->integration_types_config.given == GIVEN && !form_has_error_at_path(form, &types_config))
        validate_integration_types(form, &types_config, &in->integration_types_config.value);
}

/* clang-format off */
#define CHANGEABLE_FIELDS                                                                          \
    { FIELD(struct application_patch, description), .type = &type_application_description,        \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, icon), .type = &type_image_upload,                                \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, cover_image), .type = &type_image_upload,                         \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, terms_of_service_url), .type = &type_url_or_nothing,         \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, privacy_policy_url), .type = &type_url_or_nothing,           \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, event_webhooks_url), .type = &type_url_or_nothing,           \
      .flags = OPTIONAL | NULLABLE, .doc = "Stored, without effect: this server sends no webhook events" },                        \
    { FIELD(struct application_patch, event_webhooks_status), .type = &type_event_webhooks,        \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, event_webhooks_types), .type = &type_event_types,            \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, redirect_uris), .type = &type_redirect_uris,                 \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, interactions_endpoint_url), .type = &type_endpoint,          \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, role_connections_verification_url),                          \
      .type = &type_url_or_nothing, .flags = OPTIONAL | NULLABLE },                                \
    { FIELD(struct application_patch, custom_install_url), .type = &type_url_or_nothing,           \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, install_params), .type = &type_install_params,               \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, integration_types_config), .type = &type_integration_types,  \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, tags), .type = &type_tags, .flags = OPTIONAL | NULLABLE },   \
    { FIELD(struct application_patch, flags), .type = &type_flags,                                 \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, integration_public), .type = &type_bool,                     \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, integration_require_code_grant), .type = &type_bool,         \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct application_patch, bot_public), .type = &type_bool,                             \
      .flags = OPTIONAL | NULLABLE, .doc = "Alias of integration_public" },                 \
    { FIELD(struct application_patch, bot_require_code_grant), .type = &type_bool,                 \
      .flags = OPTIONAL | NULLABLE, .doc = "Alias of integration_require_code_grant" },     \
    { FIELD(struct application_patch, team_id), .type = &type_id, .flags = OPTIONAL | NULLABLE,    \
      .doc = "Must be the current team, or null without one; use the transfer route to change it" },                 \
    { FIELD(struct application_patch, type), .type = &type_int, .flags = OPTIONAL | NULLABLE,      \
      .doc = "Must be null" },                                                \
    { FIELD(struct application_patch, max_participants), .type = &type_participants,               \
      .flags = OPTIONAL | NULLABLE, .doc = "Must be -1 (no limit), because the server has no activities" },         \
    { FIELD(struct application_patch, explicit_content_filter), .type = &type_filter,              \
      .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field application_body_fields[] = {
    { FIELD(struct application_patch, name), .type = &type_application_name },
    { FIELD(struct application_patch, team_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct application_patch, description), .type = &type_application_description,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct application_patch, icon), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct application_patch, redirect_uris), .type = &type_redirect_uris,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct application_patch, flags), .type = &type_flags, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema application_body_schema = {
    .name = "NewApplication",
    .size = sizeof(struct application_patch),
    .fields = application_body_fields,
    .doc = "A new application.",
};

static const struct field application_patch_fields[] = {
    { FIELD(struct application_patch, name), .type = &type_application_name, .flags = OPTIONAL },
    CHANGEABLE_FIELDS,
    { 0 },
};
static const struct schema application_patch_schema = {
    .name = "ApplicationPatch",
    .size = sizeof(struct application_patch),
    .fields = application_patch_fields,
    .check = validate_application_patch,
    .doc = "Changes of an application.",
};

static const struct field own_application_patch_fields[] = { CHANGEABLE_FIELDS, { 0 } };
static const struct schema own_application_patch_schema = {
    .name = "OwnApplicationPatch",
    .size = sizeof(struct application_patch),
    .fields = own_application_patch_fields,
    .check = validate_application_patch,
    .doc = "Changes that a bot makes to its application.",
};

static const struct field application_transfer_fields[] = {
    { FIELD(struct application_transfer, team_id), .type = &type_id },
    { 0 },
};
static const struct schema application_transfer_schema = {
    .name = "ApplicationTransfer",
    .size = sizeof(struct application_transfer),
    .fields = application_transfer_fields,
    .doc = "The team that receives the application.",
};

static const struct field application_query_fields[] = {
    { FIELD(struct application_list_query, with_team_applications), .type = &type_bool,
      .flags = OPTIONAL },
    { 0 },
};
const struct schema application_query_schema = {
    .name = "ApplicationQuery",
    .size = sizeof(struct application_list_query),
    .fields = application_query_fields,
    .doc = "Which applications to list.",
};

static const struct field bot_token_fields[] = {
    { FIELD(struct bot_token_reply, token), .type = &type_text, .flags = NULLABLE,
      .doc = "Credential; keep it secret" },
    { 0 },
};
static const struct schema bot_token_schema = {
    .name = "BotToken",
    .size = sizeof(struct bot_token_reply),
    .fields = bot_token_fields,
    .doc = "A bot token, shown once.",
};

static const struct field secret_fields[] = {
    { FIELD(struct client_secret_reply, secret), .type = &type_text },
    { 0 },
};
static const struct schema secret_schema = {
    .name = "ClientSecret",
    .size = sizeof(struct client_secret_reply),
    .fields = secret_fields,
    .doc = "An application's secret, shown once.",
};

const struct type application_body = { .kind = KIND_OBJECT, .schema = &application_body_schema };
const struct type application_patch_body = { .kind = KIND_OBJECT,
                                             .schema = &application_patch_schema };
const struct type current_application_patch_body = { .kind = KIND_OBJECT,
                                                     .schema = &own_application_patch_schema };
const struct type application_transfer_body = { .kind = KIND_OBJECT,
                                                .schema = &application_transfer_schema };
const struct type bot_token_reply = { .kind = KIND_OBJECT, .schema = &bot_token_schema };
const struct type secret_reply = { .kind = KIND_OBJECT, .schema = &secret_schema };
