/* internal.h - functions shared by the files of integrations/. */
#ifndef INTEGRATIONS_INTERNAL_H
#define INTEGRATIONS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "integrations/connections/connection_rows.h"
#include "integrations/integrations.h"
#include "integrations/providers/provider.h"
#include "model/integration.h"
#include "model/permissions/permissions.h"
#include "platform/accounts/accounts.h"
#include "platform/applications/applications.h"

enum { MOST_INTEGRATIONS = 50, MOST_CONNECTIONS = 50, SECOND = 1000 * 1000 };
/* Value of members.join_source for a member who joined through an integration. */
enum { JOIN_SOURCE_INTEGRATION = 2 };
#define DAY (INT64_C(24) * 3600 * SECOND)

/* --- schema.c ------------------------------------------------------------------------- */

struct integrations_query {
    bool has_commands, include_role_connections_metadata;
};
struct integration_create_request {
    struct str type, id;
};
struct integration_patch {
    struct opt_int expire_behavior, expire_grace_period;
    struct opt_bool enable_emoticons;
};
struct migrated_integrations {
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
    /* An id is 0 if the integration has no such object. */
    snowflake id, guild_id, application_id, user_id, role_id;
    struct str type, name, account_id;
    enum platform platform; /* PLATFORM_NONE for an app or guild subscription */
    struct list scopes;     /* struct str */
    bool enabled, enable_emoticons, syncing;
    int64_t expire_behavior, expire_grace_period, subscriber_count, round;
    int64_t created_at, synced_at, asked_at, revoked_at; /* microseconds since 1970, or 0 */
};

/* SQL condition: the application of integration i, if it has one, is not being deleted. */
#define APP_NOT_REMOVED                                                           \
    "not exists (select 1 from applications a where a.id = i.application_id and " \
    "a.removed = 1) "

enum err read_integration(struct tx *tx, snowflake id, struct integration_row *ret);
enum err read_integration_of_account(struct tx *tx, snowflake guild_id, struct str type,
                                     struct str account_id, struct integration_row *ret,
                                     bool *ret_found);
/* Reads at most 50 integrations of the guild, sorted by id. If with_commands is set, reads only
 * apps with commands that can be used in the guild. */
enum err read_integrations_of_guild(struct tx *tx, snowflake guild_id, bool with_commands,
                                    struct list *ret);
/* Reads the integrations of a platform in the guilds of a user that are enabled and not revoked. */
enum err read_integrations_of_user_guilds(struct tx *tx, snowflake user_id, struct str type,
                                          struct list *ret);
/* Reads the integrations of all guilds with this platform account. */
enum err read_integrations_of_account(struct tx *tx, struct str type, struct str account_id,
                                      struct list *ret);
enum err read_integration_count(struct tx *tx, snowflake guild_id, int64_t *ret);
enum err insert_integration(struct tx *tx, const struct integration_row *i);
/* Writes all columns of a platform integration that can change. */
enum err update_integration_row(struct tx *tx, const struct integration_row *i);
enum err update_integration_scopes(struct tx *tx, const struct integration_row *i);
enum err delete_integration_row(struct tx *tx, snowflake id);

/* Builds the API object of an integration for events and replies. Reads the application from the
 * store. */
enum err read_application_and_build_integration(struct tx *tx, const struct integration_row *i,
                                                struct integration *ret);
/* Updates the row of an integration and emits GUILD_INTEGRATIONS_UPDATE and INTEGRATION_UPDATE. */
enum err update_integration_and_emit(struct call *call, const struct integration_row *i);

/* --- handlers, by file ---------------------------------------------------------------- */

/* audit.c */
/* Writes the audit log entry of a platform integration. `before` is NULL if the integration was
 * created, `now` is NULL if it was deleted. */
enum err record_integration_audit_entry(struct call *call, const struct integration_row *before,
                                        const struct integration_row *now);
enum err audit_log_reply_add_integrations(struct call *call, struct audit_log_objects *log);
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
enum err mark_guild_integrations_removed(struct call *call, snowflake guild_id);
/* join_guild.c */
enum err prepare_join_integration(struct call *call);
enum err join_integration(struct call *call);

/* --- sync.c, subscription_expiry.c, friend_sync.c, integration_removal.c: jobs -------- */

extern const struct job_kind sync_job, subscription_expiry_job, friend_sync_job,
    integration_removal_job;

/* Schedules the sync of an integration (now, then every hour), and its expiry job. */
enum err schedule_integration_sync(struct call *call, snowflake integration_id);
enum err cancel_integration_sync(struct call *call, snowflake integration_id);
/* Deletes a platform integration with its role and its subscribers, and emits the events. */
enum err begin_integration_removal(struct call *call, const struct integration_row *i);
/* Schedules the job that reads the friends of a user's connections. */
enum err schedule_linked_account_friend_sync(struct call *call, snowflake user_id);

/* --- subscriber_roles.c: a guild member and his subscriber role ------------------------- */

/* State of a guild member in a sync of subscribers. */
struct subscriber_state {
    snowflake user_id;
    bool subscribes, has_role;
    /* End of the subscription in microseconds since 1970; 0 while it is active. */
    int64_t lapsed_at;
};
/* Reads members that have a connection of the integration's platform, sorted by id: at most
 * `limit`, with ids greater than `after` and at most `up_to`. */
enum err read_subscriber_states(struct tx *tx, const struct integration_row *i, snowflake after,
                                snowflake up_to, int64_t limit, struct list *ret);
bool subscriber_role_is_correct(const struct integration_row *i, const struct subscriber_state *s);
/* Adds the subscriber role to the member, or records the end of a subscription that has ended. */
enum err update_subscriber_role_or_record_lapse(struct call *call, const struct integration_row *i,
                                                const struct subscriber_state *s);
/* Applies the subscriber roles of one user in all his guilds, from the stored subscribers. */
enum err update_subscriber_roles_of_user(struct call *call, snowflake user_id, struct str type);
enum err add_or_remove_subscriber_role(struct call *call, const struct integration_row *i,
                                       snowflake user_id, bool has);
enum err upsert_member_row_of_integration(struct tx *tx, const struct integration_row *i,
                                          snowflake user_id, int64_t lapsed_at, bool joined);

/* --- secrets.c: encryption and digests ------------------------------------------------ */

/* Encrypt and decrypt a secret of a provider for the database. On failure the result has p ==
 * NULL. */
struct str encrypt_linked_account_secret(struct arena *arena, const struct auth *auth,
                                         snowflake user_id, struct str secret);
struct str decrypt_linked_account_secret(struct arena *arena, const struct auth *auth,
                                         snowflake user_id, struct str sealed);
/* Returns the digest under which a link code or OAuth2 state is stored. `word` names its purpose,
 * so that a digest for one purpose is not valid for another. */
struct str compute_digest_of_account_link_secret(struct arena *arena, const struct auth *auth,
                                                 const char *word, struct str secret);

/* --- linking.c: linking an account of another platform -------------------------------- */

/* A request to link a platform account, with the provider's response. */
struct account_link_request {
    enum platform platform;
    struct str code, state;
    struct opt_bool friend_sync;
    snowflake user_id; /* user to whom the OAuth2 state was issued */
    enum platform_provider_result result;
    struct platform_provider_account account;
};
/* Reads the user to whom the OAuth2 state was issued, or returns ERR_INVALID_OAUTH2_STATE. */
enum err read_user_of_oauth2_state(struct call *call, const struct account_link_request *l,
                                   snowflake *ret_user);
/* Requests the account from the provider, for the struct account_link_request of this call. Blocks
 * no thread (await stage). */
void request_account_from_provider(struct call *call);
/* Deletes the OAuth2 state, stores the connection, and updates subscriber roles and friends. */
enum err complete_account_link(struct call *call, struct account_link_request *l,
                               struct linked_platform_account *ret);
enum err delete_linked_account_and_its_effects(struct call *call,
                                               const struct linked_platform_account *c);
void emit_user_connections_update(struct call *call, snowflake user_id);

/* Events that linking and unlinking an account emit, for the field .fires of routes. */
#define LINK_EVENTS                                                                       \
    EVENT_GUILD_MEMBER_UPDATE, EVENT_GUILD_INTEGRATIONS_UPDATE, EVENT_INTEGRATION_UPDATE, \
        EVENT_GUILD_MEMBER_REMOVE, EVENT_GUILD_DELETE, EVENT_USER_CONNECTIONS_UPDATE,     \
        EVENT_FRIEND_SUGGESTION_DELETE

struct connection_authorize_url {
    struct str url;
};
struct account_link_callback_body {
    struct str code, state;
    struct opt_bool friend_sync;
};

enum err authorize_connection(struct call *call);
enum err prepare_account_link_callback(struct call *call);
enum err callback_connection(struct call *call);
/* Returns the platform in {connection.type}. */
enum platform get_platform_from_path(const struct call *call);

/* Adds a subscriber and marks it with the number of the integration's current sync
 * (sync_steps.c). */
enum err insert_integration_subscriber(struct tx *tx, const struct integration_row *i,
                                       struct str id);

#endif
