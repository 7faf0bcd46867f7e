/* applications.h - programs that use the interface: their bots, keys and installs. */
#ifndef PLATFORM_APPLICATIONS_APPLICATIONS_H
#define PLATFORM_APPLICATIONS_APPLICATIONS_H

#include "model/application.h"
#include "model/guild.h"
#include "model/integration.h"
#include "platform/accounts/accounts.h"
#include "platform/teams/teams.h"

/* --- rows ----------------------------------------------------------------------------- */

/* ERR_UNKNOWN_APPLICATION. With its bot, where it has one (those of world files may have
 * none); application_load_makers adds owner and team, which only its makers see. */
enum err application_find(struct tx *tx, snowflake id, struct application *ret);
enum err application_load_makers(struct tx *tx, struct application *a);
/* Who uses it, which its makers see too. There may be half a million: not on the writer. */
struct application_counts {
    int64_t guilds, installs, authorizations;
};
enum err application_load_counts(struct tx *tx, snowflake id, struct application_counts *ret);
void application_set_counts(struct application *a, const struct application_counts *counts);

/* A new application with its bot, whose id is the application's own. The bot's name
 * follows from the application's. */
struct application_draft {
    snowflake id; /* 0: a new one */
    struct str name, description;
    struct opt_str icon;
    snowflake owner_id, team_id; /* 0: no team */
    struct list redirect_uris;   /* struct str */
    int64_t flags;
};
enum err application_create(struct tx *tx, const struct auth *auth,
                            const struct application_draft *draft, struct application *ret);

/* --- who may -------------------------------------------------------------------------- */

/* What the caller may do with it; its bot and its bearers are developers of it. */
enum err application_level(struct tx *tx, const struct application *a, const struct caller *caller,
                           enum maker_level *ret);

/* For .admit of rows whose path has {application.id}: ERR_APPLICATION_NOT_YOURS when the
 * caller's level is below. The resolver itself lets everybody in. */
enum err application_readable(struct call *call);
enum err application_modifiable(struct call *call);
enum err application_owned(struct call *call);
/* The same unless the token was made for it: one is good for its own app only. */
enum err application_of_caller(struct call *call);

/* --- keys ----------------------------------------------------------------------------- */

/* The public half of the application's key, in hex; follows from its id and key_salt. */
struct str application_verify_key(struct arena *arena, const struct auth *auth,
                                  const struct application *a);
/* Signs with the application's Ed25519 key; what verify_key verifies. */
void application_sign(const struct auth *auth, const struct application *a, struct str bytes,
                      unsigned char signature[64]);

/* The bot's token: the one before, if any, ends. Its text is in the transaction's arena.
 * ERR_NO_BOT. */
enum err application_renew_token(struct tx *tx, struct auth *auth, const struct application *a,
                                 struct str *ret);
/* The client secret: only its digest is kept. */
enum err application_renew_secret(struct tx *tx, const struct auth *auth,
                                  const struct application *a, struct str *ret);
bool application_secret_is(const struct auth *auth, const struct application *a, struct str secret);

/* --- installs ------------------------------------------------------------------------- */

struct installation {
    const struct application *application;
    snowflake guild_id;
    snowflake user_id;    /* who installs it */
    struct list scopes;   /* struct str: "bot", "applications.commands" */
    uint64_t permissions; /* of the bot's role; 0: no role */
    /* Limits what an installation changes about a role that exists; NULL: nothing does. */
    const struct standing *installer;
};
struct installed {
    struct integration integration;
    bool new_integration, new_commands; /* new_commands: it brought none before */
    struct role role;                   /* id 0: none */
    bool new_role, changed_role;
};

/* Writes the integration and the bot's role; the bot joins nothing and nobody is told.
 * ERR_MAX_INTEGRATIONS; ERR_NO_BOT when a bot is asked for. */
enum err application_install_rows(struct tx *tx, const struct installation *in,
                                  struct installed *ret);
/* The same, and the bot joins, the guild is told, and the audit log. */
enum err application_install_guild(struct call *call, const struct installation *in);
/* What application_install_guild can announce, for rows' .fires. */
#define INSTALL_EVENTS                                                                            \
    EVENT_GUILD_ROLE_CREATE, EVENT_GUILD_ROLE_UPDATE, EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD, \
        EVENT_MESSAGE_CREATE, EVENT_GUILD_MEMBER_UPDATE, EVENT_GUILD_INTEGRATIONS_UPDATE,         \
        EVENT_INTEGRATION_CREATE, EVENT_INTEGRATION_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,   \
        EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE

/* An app in a guild, as it is shown; without scopes. */
struct integration integration_of_application(struct arena *arena, const struct application *a,
                                              snowflake guild_id, snowflake id);
bool scopes_have_name(const struct list *scopes, const char *name);

/* Tells those who manage the guild, in the order of the interface: that its integrations
 * changed, and which one. event: INTEGRATION_CREATE or _UPDATE. */
void integration_announce(struct call *call, enum event event, const struct integration *i);
/* The same for one that goes; application_id 0: it is no app. */
void integration_announce_gone(struct call *call, snowflake guild_id, snowflake id,
                               snowflake application_id);
/* Takes a role of an integration's from everybody, with GUILD_ROLE_DELETE. Fine when it
 * is gone already. */
enum err integration_drop_role(struct call *call, snowflake guild_id, snowflake role_id);

/* Takes an app out of a guild with all it brought: its bot, roles and webhooks. Commands
 * that it has only there come back with it. Does nothing where it is not installed. */
enum err application_uninstall_guild(struct call *call, snowflake application_id,
                                     snowflake guild_id);
#define UNINSTALL_EVENTS                                                                  \
    EVENT_GUILD_INTEGRATIONS_UPDATE, EVENT_INTEGRATION_DELETE, EVENT_GUILD_MEMBER_REMOVE, \
        EVENT_GUILD_DELETE, EVENT_WEBHOOKS_UPDATE, EVENT_GUILD_ROLE_DELETE,               \
        EVENT_GUILD_EMOJIS_UPDATE, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE

extern const struct domain applications_domain, application_emojis_domain;
extern const struct world_parts applications_world;

#endif
