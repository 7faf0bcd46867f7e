/* application.c - JSON schemas of applications and teams. */
#include "model/fields/types.h"
#include "model/application.h"

static const struct enum_choice team_roles[] = {
    { .text = "admin", .name = "ADMIN", .doc = "Can change the team and its apps" },
    { .text = "developer", .name = "DEVELOPER", .doc = "Can change the team's apps" },
    { .text = "read_only", .name = "READ_ONLY", .doc = "Can read the team and its apps" },
    { 0 },
};
static const struct enum_choice team_states[] = {
    { .value = TEAM_MEMBER_INVITED, .name = "INVITED", .doc = "Has not accepted yet" },
    { .value = TEAM_MEMBER_ACCEPTED, .name = "ACCEPTED", .doc = "Is a member of the team" },
    { 0 },
};

const struct type type_team_name = { .kind = KIND_STRING,
                                     .rule = &rule_visible_name,
                                     .flags = TYPE_TRIM,
                                     .min = 1,
                                     .max = 32,
                                     .doc = "Team name" };
const struct type type_team_role = { .kind = KIND_STRING, .choices = team_roles };
static const struct type type_team_state = { .kind = KIND_INT, .choices = team_states };

static const struct field team_member_fields[] = {
    { FIELD(struct team_member, user), .type = &type_partial_user },
    { FIELD(struct team_member, team_id), .type = &type_id },
    { FIELD(struct team_member, membership_state), .type = &type_team_state },
    { FIELD(struct team_member, role), .type = &type_team_role },
    { FIELD(struct team_member, permissions), .type = &type_texts, .flags = DEPRECATED,
      .doc = "Always [\"*\"]" },
    { 0 },
};
static const struct schema team_member_schema = {
    .name = "TeamMember",
    .size = sizeof(struct team_member),
    .fields = team_member_fields,
    .doc = "A member of a team, or an account invited to it.",
};
const struct type type_team_member = { .kind = KIND_OBJECT, .schema = &team_member_schema };
const struct type type_team_members = { .kind = KIND_ARRAY, .of = &type_team_member };

static const struct field team_fields[] = {
    { FIELD(struct team, id), .type = &type_id },
    { FIELD(struct team, name), .type = &type_team_name },
    { FIELD(struct team, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct team, owner_user_id), .type = &type_id },
    { FIELD(struct team, members), .type = &type_team_members },
    { 0 },
};
static const struct schema team_schema = {
    .name = "Team",
    .size = sizeof(struct team),
    .fields = team_fields,
    .doc = "A group of accounts that own applications together.",
};
const struct type type_team = { .kind = KIND_OBJECT, .schema = &team_schema };
const struct type type_teams = { .kind = KIND_ARRAY, .of = &type_team };

const struct type type_application_name = { .kind = KIND_STRING,
                                            .rule = &rule_visible_name,
                                            .flags = TYPE_TRIM,
                                            .min = 1,
                                            .max = 32,
                                            .doc = "Application name" };
const struct type type_application_description = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .max = 400, .doc = "Description of the application"
};
static const struct type type_tag = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 20, .doc = "Tag"
};
const struct type type_tags = { .kind = KIND_ARRAY, .max = 5, .of = &type_tag };
const struct type type_redirect_uris = { .kind = KIND_ARRAY, .max = 10, .of = &type_url };
static const struct type type_flags = { .kind = KIND_INT, .doc = "Bit set" };

static const struct field install_params_fields[] = {
    { FIELD(struct install_params, scopes), .type = &type_texts },
    { FIELD(struct install_params, permissions), .type = &type_permissions },
    { 0 },
};
static const struct schema install_params_schema = {
    .name = "InstallParams",
    .size = sizeof(struct install_params),
    .fields = install_params_fields,
    .doc = "Scopes and permissions that an installation requests.",
};
const struct type type_install_params = { .kind = KIND_OBJECT, .schema = &install_params_schema };

static const struct field integration_type_fields[] = {
    { FIELD(struct integration_type_config, oauth2_install_params), .type = &type_install_params,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema integration_type_schema = {
    .name = "IntegrationTypeConfig",
    .size = sizeof(struct integration_type_config),
    .fields = integration_type_fields,
    .doc = "How an app is installed to guilds or to users.",
};
static const struct type type_integration_type = { .kind = KIND_OBJECT,
                                                   .schema = &integration_type_schema };
const struct type type_integration_types = { .kind = KIND_MAP,
                                             .min = 1,
                                             .max = 2,
                                             .of = &type_integration_type,
                                             .doc = "0: to guilds, 1: to users" };

bool application_can_be_installed(const struct application *a, enum integration_type type)
{
    const struct integration_type_config_entry *items = a->integration_types_config.items;

    for (size_t i = 0; i < a->integration_types_config.count; i++)
        if (str_is(items[i].key, type == INSTALL_GUILD ? "0" : "1"))
            return true;
    return false;
}

/* clang-format off */
#define INTEGRATION_APPLICATION_FIELDS                                                                               \
    { FIELD(struct application, id), .type = &type_id },                                           \
    { FIELD(struct application, name), .type = &type_application_name },                           \
    { FIELD(struct application, icon), .type = &type_asset_hash, .flags = NULLABLE },              \
    { FIELD(struct application, description), .type = &type_application_description },             \
    { FIELD(struct application, summary), .type = &type_text, .flags = DEPRECATED },               \
    { FIELD(struct application, type), .type = &type_int, .flags = NULLABLE },                     \
    { FIELD(struct application, bot), .type = &type_partial_user, .flags = OPTIONAL },             \
    { FIELD(struct application, is_verified), .type = &type_bool },                                \
    { FIELD(struct application, is_discoverable), .type = &type_bool },                            \
    { FIELD(struct application, is_monetized), .type = &type_bool },                               \
    { FIELD(struct application, cover_image), .type = &type_asset_hash, .flags = OPTIONAL },       \
    { FIELD(struct application, terms_of_service_url), .type = &type_url, .flags = OPTIONAL },     \
    { FIELD(struct application, privacy_policy_url), .type = &type_url, .flags = OPTIONAL }

/* Public fields of an application. The parameters are names of struct fields: those with the public
 * flags, or those with all flags. */
#define PUBLIC_FIELDS(flags_, flags_new_)                                                          \
    INTEGRATION_APPLICATION_FIELDS,                                                                                  \
    { FIELD_AS(struct application, flags_, "flags"), .type = &type_flags },                        \
    { FIELD_AS(struct application, flags_new_, "flags_new"), .type = &type_permissions,            \
      .doc = "Flags as a decimal string" },                                                        \
    { FIELD(struct application, verify_key), .type = &type_text, .doc = "Ed25519, hex" },          \
    { FIELD(struct application, hook), .type = &type_bool },                                       \
    { FIELD(struct application, tags), .type = &type_tags },                                       \
    { FIELD(struct application, integration_public), .type = &type_bool },                         \
    { FIELD(struct application, integration_require_code_grant), .type = &type_bool },             \
    { FIELD(struct application, bot_public), .type = &type_bool },                                 \
    { FIELD(struct application, bot_require_code_grant), .type = &type_bool },                     \
    { FIELD(struct application, integration_types_config), .type = &type_integration_types },      \
    { FIELD(struct application, install_params), .type = &type_install_params,                     \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct application, custom_install_url), .type = &type_url, .flags = OPTIONAL }
/* clang-format on */

static const struct field public_application_fields[] = {
    PUBLIC_FIELDS(public_flags, public_flags_new), { 0 }
};
static const struct schema public_application_schema = {
    .name = "PublicApplication",
    .size = sizeof(struct application),
    .fields = public_application_fields,
    .doc = "An application, with the fields that everyone can read.",
};
const struct type type_public_application = { .kind = KIND_OBJECT,
                                              .schema = &public_application_schema };

static const struct field application_fields[] = {
    PUBLIC_FIELDS(flags, flags_new),
    { FIELD(struct application, owner), .type = &type_partial_user },
    { FIELD(struct application, team), .type = &type_team, .flags = NULLABLE },
    { FIELD(struct application, redirect_uris), .type = &type_redirect_uris },
    { FIELD(struct application, interactions_endpoint_url), .type = &type_url, .flags = NULLABLE },
    { FIELD(struct application, role_connections_verification_url), .type = &type_url,
      .flags = NULLABLE },
    { FIELD(struct application, event_webhooks_url), .type = &type_url, .flags = NULLABLE },
    { FIELD(struct application, event_webhooks_status), .type = &type_count,
      .doc = "1: off, 2: on; no webhook events are sent in either case" },
    { FIELD(struct application, event_webhooks_types), .type = &type_texts },
    { FIELD(struct application, approximate_guild_count), .type = &type_count },
    { FIELD(struct application, approximate_user_install_count), .type = &type_count },
    { FIELD(struct application, approximate_user_authorization_count), .type = &type_count },
    { FIELD(struct application, explicit_content_filter), .type = &type_count },
    { FIELD(struct application, interactions_version), .type = &type_count },
    { FIELD(struct application, interactions_event_types), .type = &type_always_empty_list },
    { FIELD(struct application, eligible_oauth2_scopes), .type = &type_always_empty_list },
    { 0 },
};
static const struct schema application_schema = {
    .name = "Application",
    .size = sizeof(struct application),
    .fields = application_fields,
    .doc = "An application, with the fields that its owners can read.",
};
const struct type type_application = { .kind = KIND_OBJECT, .schema = &application_schema };
const struct type type_applications = { .kind = KIND_ARRAY, .of = &type_application };

static const struct field brief_application_fields[] = { INTEGRATION_APPLICATION_FIELDS, { 0 } };
static const struct schema brief_application_schema = {
    .name = "IntegrationApplication",
    .size = sizeof(struct application),
    .fields = brief_application_fields,
    .doc = "The app of an integration.",
};
const struct type type_integration_application = { .kind = KIND_OBJECT,
                                                   .schema = &brief_application_schema };

static const struct field described_application_fields[] = {
    INTEGRATION_APPLICATION_FIELDS,
    { FIELD(struct application, role_connections_verification_url), .type = &type_url,
      .flags = OPTIONAL | NULLABLE, .doc = "With include_role_connections_metadata" },
    { 0 },
};
static const struct schema described_application_schema = {
    .name = "DescribedApplication",
    .size = sizeof(struct application),
    .fields = described_application_fields,
    .doc = "The app of an integration, with the URL for role connection verification.",
};
const struct type type_application_with_verification = { .kind = KIND_OBJECT,
                                                         .schema = &described_application_schema };

static const struct field application_ref_fields[] = {
    { FIELD(struct user_application_event, application_id), .type = &type_id },
    { 0 },
};
const struct schema user_application_event_schema = {
    .name = "ApplicationRef",
    .size = sizeof(struct user_application_event),
    .fields = application_ref_fields,
    .doc = "An app that is installed to the receiver's account.",
};

static const struct field integrations_ref_fields[] = {
    { FIELD(struct guild_integrations_event, guild_id), .type = &type_id },
    { 0 },
};
const struct schema guild_integrations_event_schema = {
    .name = "IntegrationsRef",
    .size = sizeof(struct guild_integrations_event),
    .fields = integrations_ref_fields,
    .doc = "A guild whose integrations changed.",
};
