/* application.h - applications (apps with a bot or OAuth2), and the teams that own them. */
#ifndef MODEL_APPLICATION_H
#define MODEL_APPLICATION_H

#include "model/user.h"

/* --- teams ---------------------------------------------------------------------------- */

enum team_membership_state { TEAM_MEMBER_INVITED = 1, TEAM_MEMBER_ACCEPTED = 2 };

struct team_member {
    const struct user *user;
    snowflake team_id;
    int64_t membership_state;
    struct str role;         /* "admin", "developer" or "read_only" */
    struct list permissions; /* always ["*"] */
};

struct team {
    snowflake id, owner_user_id;
    struct str name;
    struct opt_str icon;
    struct list members; /* struct team_member */
};

extern const struct type type_team, type_teams, type_team_member, type_team_members;
extern const struct type type_team_name, type_team_role;

/* --- applications --------------------------------------------------------------------- */

/* Flags that the owners of an application set: its privileged intents, and whether it is a public
 * OAuth2 client. */
enum {
    APPLICATION_PRESENCE_LIMITED = 1 << 13,
    APPLICATION_MEMBERS_LIMITED = 1 << 15,
    APPLICATION_CONTENT_LIMITED = 1 << 19,
    APPLICATION_FLAGS_INTENTS =
        APPLICATION_PRESENCE_LIMITED | APPLICATION_MEMBERS_LIMITED | APPLICATION_CONTENT_LIMITED,
    APPLICATION_PUBLIC_CLIENT = 1 << 8, /* OAuth2 client that has no secret */
    APPLICATION_FLAGS_SETTABLE = APPLICATION_FLAGS_INTENTS | APPLICATION_PUBLIC_CLIENT,
};

/* Flags that the server sets. */
enum {
    APPLICATION_EMBEDDED = 1 << 17,      /* the application can be launched inside a client */
    APPLICATION_COMMAND_BADGE = 1 << 23, /* the application has a global command */
    APPLICATION_ACTIVE = 1 << 24,        /* a command of the app was used in the last 30 days */
    APPLICATION_FLAGS_PRIVATE = APPLICATION_ACTIVE, /* flags that only the owners see */
};

/* Installation context of an app; also the keys of integration_types_config. */
enum integration_type { INSTALL_GUILD = 0, INSTALL_USER = 1 };

enum event_webhooks_status { EVENT_WEBHOOKS_OFF = 1, EVENT_WEBHOOKS_ON = 2 };

struct install_params {
    struct list scopes; /* struct str */
    uint64_t permissions;
};
struct integration_type_config {
    const struct install_params *oauth2_install_params; /* NULL if not configured */
};
struct integration_type_config_entry {
    struct str key; /* enum integration_type as text: "0" or "1" */
    struct integration_type_config config;
};

struct application {
    snowflake id;
    struct str name, description, summary; /* summary is always empty */
    struct opt_str icon;
    struct opt_int type; /* always null */
    int64_t flags;
    uint64_t flags_new; /* same value as `flags`, but encoded as a string in JSON */
    int64_t public_flags;
    uint64_t public_flags_new;
    struct str verify_key;
    const struct user *bot;
    /* Owner of the app; if a team owns the app, a user that represents the team. */
    const struct user *owner;
    const struct team *team; /* team that owns the app; NULL if a user owns the app */
    struct list redirect_uris, tags;
    struct opt_str interactions_endpoint_url, role_connections_verification_url;
    struct opt_str custom_install_url;
    struct opt_str cover_image, terms_of_service_url, privacy_policy_url; /* absent if not set */
    struct opt_str event_webhooks_url;
    int64_t event_webhooks_status; /* enum event_webhooks_status */
    /* Types of webhook events that the app has subscribed to (struct str). The list is stored, but
     * the server sends no webhook events. */
    struct list event_webhooks_types;
    const struct install_params *install_params;
    struct list integration_types_config; /* struct integration_type_config_entry */
    bool integration_public, integration_require_code_grant;
    bool bot_public, bot_require_code_grant; /* older names of the integration_… members */
    int64_t approximate_guild_count, approximate_user_install_count,
        approximate_user_authorization_count;
    int64_t explicit_content_filter, interactions_version;
    bool is_verified, is_discoverable, is_monetized, hook;
    struct list interactions_event_types, eligible_oauth2_scopes; /* always empty */

    /* The members below are not part of the JSON object. */
    snowflake owner_id; /* account of the owner; if a team owns the app, the team's owner */
    snowflake team_id;  /* id of the team that owns the app; 0 if a user owns the app */
    snowflake bot_id;
    struct str key_salt;
    struct str secret_digest; /* digest of the client secret; NULL pointer if no client secret was
                               * created yet */
};

static inline void application_set_flags(struct application *a, int64_t flags)
{
    a->flags = flags;
    a->public_flags = flags & ~(int64_t)APPLICATION_FLAGS_PRIVATE;
    a->flags_new = (uint64_t)a->flags;
    a->public_flags_new = (uint64_t)a->public_flags;
}

/* Returns whether the app can be installed in guilds (INSTALL_GUILD) or on accounts
 * (INSTALL_USER). */
bool application_can_be_installed(const struct application *a, enum integration_type type);

extern const struct type type_application, type_applications, type_public_application;
extern const struct type type_application_name, type_application_description;
extern const struct type type_install_params, type_integration_types, type_redirect_uris, type_tags;

/* --- applications inside other objects ------------------------------------------------ */

/* Types of the application object in an integration: without and with the field
 * role_connections_verification_url. */
extern const struct type type_integration_application, type_application_with_verification;

struct user_application_event {
    snowflake application_id;
};
struct guild_integrations_event {
    snowflake guild_id;
};

extern const struct schema user_application_event_schema; /* payload of USER_APPLICATION_* events */
/* Payload of GUILD_INTEGRATIONS_UPDATE and GUILD_APPLICATION_COMMAND_INDEX_UPDATE. */
extern const struct schema guild_integrations_event_schema;

#endif
