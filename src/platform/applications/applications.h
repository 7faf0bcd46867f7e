/* applications.h - public interface of applications/: apps, their bots, keys and installations.
 *
 * The folder owns the tables of applications and of apps installed in guilds (integrations of type
 * "service"). It uses guilds/, members/, messages/ and teams/. Invariants: a bot has the id of its
 * application; keys are derived from the server's key file, secrets are stored as digests. Start
 * with rows.c (SQL), install.c, uninstall.c, then delete.c. */
#ifndef PLATFORM_APPLICATIONS_APPLICATIONS_H
#define PLATFORM_APPLICATIONS_APPLICATIONS_H

#include "model/application.h"
#include "model/guild.h"
#include "model/integration.h"
#include "platform/accounts/accounts.h"
#include "platform/teams/teams.h"

/* --- reading and creating applications ----------------------------------------------- */

/* Reads an application and its bot, if it has one (applications of world files may have none).
 * Returns ERR_UNKNOWN_APPLICATION if the id is unknown. Then application_read_owner_and_team reads
 * owner and team, which only developers may see. */
enum err application_find(struct tx *tx, snowflake id, struct application *ret);
enum err application_read_owner_and_team(struct tx *tx, struct application *a);
/* Numbers of installations of an app. application_count_installations may read 500,000 rows, so do
 * not call it in a write transaction. */
struct application_install_counts {
    int64_t guilds, installs, authorizations;
};
enum err application_count_installations(struct tx *tx, snowflake id,
                                         struct application_install_counts *ret);
void application_set_install_counts(struct application *a,
                                    const struct application_install_counts *counts);

/* Application to be created. Its bot gets the same id and a username derived from the name. */
struct new_application {
    snowflake id; /* 0 to generate an id */
    struct str name, description;
    struct opt_str icon;
    snowflake owner_id, team_id; /* team_id is 0 if a user owns the app */
    struct list redirect_uris;   /* struct str */
    int64_t flags;
};
enum err application_create(struct tx *tx, const struct auth *auth,
                            const struct new_application *draft, struct application *ret);

/* --- permission checks --------------------------------------------------------------- */

/* Reads the caller's access level to an app. The app's bot, and callers with a bearer token of the
 * app, have the level of a developer. */
enum err application_read_access_level(struct tx *tx, const struct application *a,
                                       const struct caller *caller, enum team_access_level *ret);

/* Permission checks for the field .admit of routes with {application.id}. They return
 * ERR_APPLICATION_NOT_YOURS if the caller's access level is too low. */
enum err require_application_reader(struct call *call);
enum err require_application_developer(struct call *call);
enum err require_application_owner(struct call *call);
/* Returns an error unless the caller's token belongs to the application in the path. Use it as the
 * field .admit of a route row. */
enum err require_token_of_application(struct call *call);

/* --- signing keys, bot tokens and client secrets ------------------------------------- */

/* Returns the app's Ed25519 public key in hex. The key pair is derived from the server's key, the
 * app's id and its key_salt. */
struct str application_public_key(struct arena *arena, const struct auth *auth,
                                  const struct application *a);
/* Signs bytes with the application's Ed25519 private key. application_public_key returns the public
 * key. */
void application_sign_bytes(const struct auth *auth, const struct application *a, struct str bytes,
                            unsigned char signature[64]);

/* Issues a new bot token and revokes the previous one. The token is allocated in the transaction's
 * arena. Returns ERR_NO_BOT if the app has no bot. */
enum err application_reset_bot_token(struct tx *tx, struct auth *auth, const struct application *a,
                                     struct str *ret);
/* Issues a new client secret; only the digest of the secret is stored. */
enum err application_reset_client_secret(struct tx *tx, const struct auth *auth,
                                         const struct application *a, struct str *ret);
bool application_client_secret_matches(const struct auth *auth, const struct application *a,
                                       struct str secret);

/* --- installations in guilds --------------------------------------------------------- */

struct app_installation {
    const struct application *application;
    snowflake guild_id;
    snowflake user_id;    /* user who installs the app */
    struct list scopes;   /* struct str: "bot", "applications.commands" */
    uint64_t permissions; /* permissions for the bot's role; 0: the bot gets no role */
    /* If the app is installed again: the member who installs it. This member's permissions limit
     * changes of the bot's role. NULL for the first installation. */
    const struct member_access *installer;
};
struct app_installation_result {
    struct integration integration;
    bool new_integration, new_commands; /* new_commands: the scope applications.commands is new */
    struct role role;                   /* the bot's role; its id is 0 if the bot has none */
    bool new_role, changed_role;
};

/* Installs an app in a guild: writes the rows of the integration and of the bot's role, adds the
 * bot as a member, emits the events and writes the audit log. Returns ERR_MAX_INTEGRATIONS, or
 * ERR_NO_BOT if the scopes contain `bot` but the app has no bot. */
enum err application_install_in_guild(struct call *call, const struct app_installation *in);
/* Events that application_install_in_guild emits, for the field .fires of route rows. */
#define INSTALL_EVENTS                                                                            \
    EVENT_GUILD_ROLE_CREATE, EVENT_GUILD_ROLE_UPDATE, EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD, \
        EVENT_MESSAGE_CREATE, EVENT_GUILD_MEMBER_UPDATE, EVENT_GUILD_INTEGRATIONS_UPDATE,         \
        EVENT_INTEGRATION_CREATE, EVENT_INTEGRATION_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,   \
        EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE

/* Builds the API object of an app's integration in a guild, without scopes. */
struct integration integration_from_application(struct arena *arena, const struct application *a,
                                                snowflake guild_id, snowflake id);
bool scope_list_contains(const struct list *scopes, const char *name);

/* Emits GUILD_INTEGRATIONS_UPDATE and then `event` (INTEGRATION_CREATE or _UPDATE) to members who
 * may manage the guild. */
void integration_emit_change(struct call *call, enum event event, const struct integration *i);
/* Emits the events of a deleted integration. application_id is 0 if the integration is not an
 * app. */
void integration_emit_deleted(struct call *call, snowflake guild_id, snowflake id,
                              snowflake application_id);
/* Deletes a role of an integration and emits GUILD_ROLE_DELETE. Does nothing if the role does not
 * exist. */
enum err integration_delete_role(struct call *call, snowflake guild_id, snowflake role_id);

/* Removes an app from a guild, with its bot, roles and webhooks. The app's commands for this guild
 * remain stored: if the app is installed again, they are available again. Does nothing if the app
 * is not installed. */
enum err application_uninstall_from_guild(struct call *call, snowflake application_id,
                                          snowflake guild_id);
#define UNINSTALL_EVENTS                                                                  \
    EVENT_GUILD_INTEGRATIONS_UPDATE, EVENT_INTEGRATION_DELETE, EVENT_GUILD_MEMBER_REMOVE, \
        EVENT_GUILD_DELETE, EVENT_WEBHOOKS_UPDATE, EVENT_GUILD_ROLE_DELETE,               \
        EVENT_GUILD_EMOJIS_UPDATE, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE

extern const struct domain applications_domain, application_emojis_domain;
extern const struct world_file_fields applications_world;

/* New row of the table integrations: an app, or a linked account of another platform. */
struct new_integration {
    snowflake id, guild_id, application_id, role_id, user_id; /* 0: none */
    struct str type, name, account_id, scopes;                /* scopes: a JSON array */
    bool disabled;
    int64_t created_at;
};
enum err integration_insert_row(struct tx *tx, const struct new_integration *i);

#endif
