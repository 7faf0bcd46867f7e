/* internal.h - functions shared by the files of integrations/. */
#ifndef INTEGRATIONS_INTERNAL_H
#define INTEGRATIONS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "integrations/connections/connected.h"
#include "integrations/integrations.h"
#include "integrations/providers/provider.h"
#include "model/integration.h"
#include "model/permissions/permissions.h"
#include "platform/accounts/accounts.h"
#include "platform/applications/applications.h"

enum { MOST_INTEGRATIONS = 50, MOST_CONNECTIONS = 50, SECOND = 1000 * 1000 };
/* Value of members.join_source for members who joined through an integration. */
enum { JOIN_SOURCE_INTEGRATION = 2 };
#define DAY (INT64_C(24) * 3600 * SECOND)

/* --- schema.c ------------------------------------------------------------------------- */

struct integrations_query {
    bool has_commands, include_role_connections_metadata;
};
struct integration_draft {
    struct str type, id;
};
struct integration_patch {
    struct opt_int expire_behavior, expire_grace_period;
    struct opt_bool enable_emoticons;
};
struct migrated {
    struct list integration_ids_with_app_commands; /* snowflakes */
};
struct guild_applications {
    struct str key;
    struct list applications; /* snowflakes */
};

extern const struct schema integrations_query_schema;
extern const struct type integration_create_body, integration_patch_body, migrated_reply,
    application_ids_reply;

/* --- rows.c --------------------------------------------------------------------------- */

struct integration_row {
    snowflake id, guild_id, application_id, user_id, role_id; /* 0: none */
    struct str type, name, account_id;
    enum platform platform; /* PLATFORM_NONE: app or guild subscription */
    struct list scopes;     /* struct str */
    bool enabled, enable_emoticons, syncing;
    int64_t expire_behavior, expire_grace_period, subscriber_count, round;
    int64_t created_at, synced_at, asked_at, revoked_at; /* 0: never */
};

/* SQL: integration i does not belong to an application that is being deleted. */
#define APP_STAYS                                                                 \
    "not exists (select 1 from applications a where a.id = i.application_id and " \
    "a.removed = 1) "

/* ERR_UNKNOWN_INTEGRATION. */
enum err integration_find(struct tx *tx, snowflake id, struct integration_row *ret);
enum err integration_find_account(struct tx *tx, snowflake guild_id, struct str type,
                                  struct str account_id, struct integration_row *ret,
                                  bool *ret_found);
/* Reads integrations sorted by id, at most 50. with_commands: only apps with usable commands in the
 * guild. */
enum err integrations_of_guild(struct tx *tx, snowflake guild_id, bool with_commands,
                               struct list *ret);
/* Reads the enabled, not revoked integrations of a platform in the guilds of a user. */
enum err integrations_around(struct tx *tx, snowflake user_id, struct str type, struct list *ret);
/* Reads the integrations that follow a platform account. */
enum err integrations_following(struct tx *tx, struct str type, struct str account_id,
                                struct list *ret);
enum err integrations_count(struct tx *tx, snowflake guild_id, int64_t *ret);
enum err integration_insert(struct tx *tx, const struct integration_row *i);
/* Writes all mutable columns of a platform integration. */
enum err integration_save(struct tx *tx, const struct integration_row *i);
enum err integration_save_scopes(struct tx *tx, const struct integration_row *i);
enum err integration_delete_row(struct tx *tx, snowflake id);

/* Builds the object for events and replies; reads the application. */
enum err integration_show(struct tx *tx, const struct integration_row *i, struct integration *ret);
/* Updates the row and emits GUILD_INTEGRATIONS_UPDATE and INTEGRATION_UPDATE. */
enum err integration_change(struct call *call, const struct integration_row *i);

/* --- handlers, by file ---------------------------------------------------------------- */

/* audit.c */
/* Writes the audit log entry of a platform integration. before: NULL if created; now: NULL if
 * deleted. */
enum err integration_audit(struct call *call, const struct integration_row *before,
                           const struct integration_row *now);
enum err integrations_in_audit(struct call *call, struct audit_shown *log);
/* guild_apps.c */
enum err migrate_command_scope(struct call *call);
enum err list_application_ids(struct call *call);
/* channel_apps.c */
enum err list_channel_integrations(struct call *call);
enum err delete_channel_integration(struct call *call);
/* platform_integrations.c */
enum err prepare_create_integration(struct call *call);
enum err create_integration(struct call *call);
enum err sync_integration(struct call *call);
enum err modify_integration(struct call *call);
/* delete_integration.c */
enum err delete_integration(struct call *call);
enum err integrations_mark_of_guild(struct call *call, snowflake guild_id);
/* join_guild.c */
enum err prepare_join_integration(struct call *call);
enum err join_integration(struct call *call);

/* --- sync.c, subscription_expiry.c, friend_sync.c, integration_removal.c: jobs -------- */

extern const struct job_kind sync_kind, expiry_kind, friends_kind, removal_kind;

/* Schedules the sync, now and then every hour, and the expiry job. */
enum err sync_begin(struct call *call, snowflake integration_id);
enum err sync_end_for_good(struct call *call, snowflake integration_id);
/* Deletes a platform integration with its role and subscribers, and emits the events. */
enum err removal_begin(struct call *call, const struct integration_row *i);
/* Schedules the job that reads the friends of a user's connections. */
enum err friends_begin(struct call *call, snowflake user_id);

/* --- subscriber_roles.c: a member and its subscriber role ----------------------------- */

/* State of one member in a sync. */
struct subscriber {
    snowflake user_id;
    bool subscribes, has_role;
    int64_t lapsed_at; /* 0: subscription is active */
};
/* Reads the members after an id that have a connection of the integration's platform, sorted by
 * id. */
enum err subscribers_after(struct tx *tx, const struct integration_row *i, snowflake after,
                           snowflake up_to, int64_t limit, struct list *ret);
bool subscriber_is_settled(const struct integration_row *i, const struct subscriber *s);
/* Adds the member's role, or records that the subscription has lapsed. */
enum err subscriber_settle(struct call *call, const struct integration_row *i,
                           const struct subscriber *s);
/* Does the same for one user in all guilds, from the stored subscribers. */
enum err subscriber_settle_all(struct call *call, snowflake user_id, struct str type);
enum err subscriber_set_role(struct call *call, const struct integration_row *i, snowflake user_id,
                             bool has);
enum err subscriber_note(struct tx *tx, const struct integration_row *i, snowflake user_id,
                         int64_t lapsed_at, bool joined);

/* --- secrets.c: encryption and digests ------------------------------------------------ */

/* Encrypt a provider's secret for the database, and decrypt it; p == NULL: decryption failed. */
struct str secret_seal(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str secret);
struct str secret_open(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str sealed);
/* Returns the digest under which a code or state is stored. word: purpose, for key derivation. */
struct str secret_digest(struct arena *arena, const struct auth *auth, const char *word,
                         struct str secret);

/* --- linking.c: linking an account of another platform -------------------------------- */

/* A request to link an account and the provider's result, passed from prepare to the handler. */
struct linking {
    enum platform platform;
    struct str code, state;
    struct opt_bool friend_sync;
    snowflake user_id; /* user to whom the state was issued */
    enum provider_result result;
    struct provider_account account;
};
/* Reads the user to whom the state was issued, in a transaction. ERR_INVALID_OAUTH2_STATE if there
 * is none. */
enum err state_find(struct call *call, const struct linking *l, snowflake *ret_user);
/* An await stage: asks the provider about the account of the struct linking that prepare has
 * passed. */
void linking_ask(struct call *call);
/* Deletes the state and stores the connection, with all effects. */
enum err linking_finish(struct call *call, struct linking *l, struct linked_account *ret);
/* Deletes a connection, with all effects. */
enum err connection_unlink(struct call *call, const struct linked_account *c);
void connections_announce(struct call *call, snowflake user_id);

/* Events of linking and unlinking, for .fires of routes. */
#define LINK_EVENTS                                                                       \
    EVENT_GUILD_MEMBER_UPDATE, EVENT_GUILD_INTEGRATIONS_UPDATE, EVENT_INTEGRATION_UPDATE, \
        EVENT_GUILD_MEMBER_REMOVE, EVENT_GUILD_DELETE, EVENT_USER_CONNECTIONS_UPDATE,     \
        EVENT_FRIEND_SUGGESTION_DELETE

struct authorize_url {
    struct str url;
};
struct callback_body {
    struct str code, state;
    struct opt_bool friend_sync;
};

enum err authorize_connection(struct call *call);
enum err prepare_link_callback(struct call *call);
enum err callback_connection(struct call *call);
/* Returns the platform in {connection.type}. */
enum platform path_platform(const struct call *call);

#endif
