/* internal.h - declarations that the files of applications/ share. */
#ifndef PLATFORM_APPLICATIONS_INTERNAL_H
#define PLATFORM_APPLICATIONS_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/applications/applications.h"

enum { MAX_APPLICATIONS_PER_USER = 50, MAX_APPLICATIONS_PER_TEAM = 25, KEY_SALT_BYTES = 16 };

/* --- schema.c ------------------------------------------------------------------------- */

/* Request body of the routes that create and modify an application. */
struct application_patch {
    struct opt_str name, description;
    struct opt_image icon, cover_image;
    struct opt_str terms_of_service_url, privacy_policy_url, event_webhooks_url;
    struct opt_int event_webhooks_status;
    struct opt_list event_webhooks_types;
    struct opt_id
        team_id; /* team of a new app; another route changes the team of an existing app */
    struct opt_int type, max_participants, explicit_content_filter; /* validated but not stored */
    struct opt_list redirect_uris, tags, integration_types_config;
    struct opt_str interactions_endpoint_url, role_connections_verification_url, custom_install_url;
    struct opt_object install_params;
    struct opt_int flags;
    struct opt_bool integration_public, integration_require_code_grant;
    struct opt_bool bot_public, bot_require_code_grant;
};
struct application_list_query {
    bool with_team_applications;
};
struct application_transfer {
    snowflake team_id;
};
struct bot_token_reply {
    struct opt_str token;
};
struct client_secret_reply {
    struct str secret;
};

extern const struct schema application_query_schema;
extern const struct type application_body, application_patch_body, current_application_patch_body,
    application_transfer_body, bot_token_reply, secret_reply;

/* --- rows.c --------------------------------------------------------------------------- */

enum err applications_list_of_owner(struct tx *tx, snowflake owner_id, bool with_teams,
                                    struct list *ret);
enum err applications_count_of_owner(struct tx *tx, snowflake owner_id, snowflake team_id,
                                     int64_t *ret);
enum err application_insert(struct tx *tx, const struct application *a);
enum err application_update(struct tx *tx, const struct application *a);
/* Marks an application as removed. application_find does not find it any more,
 * application_find_removed finds only removed applications, application_find_including_removed
 * finds both. */
enum err application_mark_removed(struct tx *tx, snowflake id);
enum err application_find_removed(struct tx *tx, snowflake id, struct application *ret);
enum err application_find_including_removed(struct tx *tx, snowflake id, struct application *ret);
enum err application_delete_row(struct tx *tx, snowflake id);
/* Creates the bot account of an application that has none. */
enum err application_add_bot(struct tx *tx, struct application *a);
/* Sets the user flag BOT_HTTP_INTERACTIONS if the app has an interactions endpoint, else clears the
 * flag. */
enum err bot_update_http_interactions_flag(struct tx *tx, struct application *a);
enum err application_disable_bot_account(struct tx *tx, snowflake id);

/* --- rules.c: pure functions ------------------------------------------------------------ */

/* Returns a bot username derived from an app's name: 2-32 characters of a-z, 0-9, _ and single
 * dots. */
struct str derive_bot_username_from_app_name(struct arena *a, struct str name);
/* Returns a bot username that consists of the app's name and digits of its id. Used if the name
 * alone is taken. */
struct str derive_bot_username_from_app_name_and_id(struct arena *a, struct str name, snowflake id);
/* Returns the default of integration_types_config, which is {"0":{},"1":{}}. */
struct list get_default_application_install_types(void);

/* --- uninstall.c ---------------------------------------------------------------------- */

/* Hook that runs before a bot leaves a guild. If `bot` is the only scope of the app in the guild,
 * uninstalls the app. */
enum err application_uninstall_before_bot_leaves(struct call *call,
                                                 const struct member_leaving_guild *leave);
/* Hook that runs after a bot has left a guild. Removes the scope `bot` from the app's integration
 * and deletes the bot's role. */
enum err application_remove_bot_scope_after_leave(struct call *call,
                                                  const struct member_leaving_guild *leave);

/* --- keys.c, access.c, create_modify.c, delete.c -------------------------------------- */

enum err resolve_application(struct call *call);
enum err resolve_caller_application(struct call *call);

enum err check_application_limit(struct call *call, snowflake owner_id, snowflake team_id);
enum err schedule_storing_new_application_icon(struct call *call);
enum err create_application(struct call *call);
enum err schedule_application_patch_checks(struct call *call);
enum err modify_application(struct call *call);
enum err schedule_current_application_patch_checks(struct call *call);
enum err modify_current_application(struct call *call);
enum err delete_application(struct call *call);
/* Removes an app from a guild without calling hook_guild_app_changing. */
enum err application_uninstall_without_change_hook(struct call *call, const struct application *a,
                                                   snowflake guild_id);
extern const struct job_kind application_deletion_job;
extern const struct deletion_rule application_deletions[];

/* --- attachment.c --------------------------------------------------------------------- */

extern const struct type application_attachment_reply;
enum err validate_application_attachment(struct call *call);
enum err create_application_attachment(struct call *call);

#endif
