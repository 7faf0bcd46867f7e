/* internal.h - a world file in memory, and what the files of worlds/ share.
 *
 * file/ has what every part of a file needs, messages/ what was said, guilds/ what is in guilds,
 * this folder the rest and the whole. */
#ifndef PLATFORM_WORLDS_INTERNAL_H
#define PLATFORM_WORLDS_INTERNAL_H

#include "json/schema.h"
#include "model/application.h"
#include "model/fields/rows.h"
#include "platform/worlds/file/file.h"
#include "platform/worlds/guilds/guilds.h"
#include "platform/worlds/worlds.h"

/* --- schema.c: what a file can say ---------------------------------------------------- */

/* A member that is called as another thing ("owner", "parent", "role") names it, or
 * gives its id. Sets of rights are JSON, see rights_read. */
struct world_user {
    struct opt_id id;
    struct str username;
    struct opt_str global_name, email, password, password_hash, bio, locale, date_of_birth, phone;
    struct opt_str pronouns, theme_colors; /* theme_colors: JSON */
    struct opt_str token;                  /* chosen for tests */
    struct opt_int flags, public_flags, premium_type, accent_color;
    struct opt_bool bot;
    struct opt_bool disabled, paused, deleting; /* deleting: asked for, or done, see account_end */
};
struct world_application {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, bot, tags, redirect_uris, install_params, integration_types_config;
    struct opt_str interactions_endpoint_url, role_connections_verification_url, custom_install_url;
    struct opt_str terms_of_service_url, privacy_policy_url, event_webhooks_url;
    struct opt_str event_webhooks_types, role_connections_metadata; /* JSON */
    struct opt_int event_webhooks_status;
    struct opt_int flags;
    struct opt_bool bot_public, bot_require_code_grant;
    struct opt_str commands;            /* JSON, see world_parts */
    struct opt_str token;               /* the bot's, chosen for tests */
    struct opt_list emojis;             /* struct world_emoji */
    struct opt_list skus, entitlements; /* struct world_sku, struct world_entitlement */
};
struct world_sku {
    struct opt_id id;
    struct str name;
    struct opt_str type;
    struct opt_int flags;
};
struct world_entitlement {
    struct str sku;
    struct opt_str user, guild; /* one of them */
    struct opt_int ends_at;
    struct opt_bool test;
};
/* An account of a local platform, and a guild's integration that follows one. */
struct world_account {
    struct str platform, id, name;
    struct opt_bool programme, partner;
    struct opt_str owner;
    struct opt_list subscribers, friends; /* struct str */
};
struct world_followed {
    struct opt_id id;
    struct str platform, account, by;
    struct opt_str role;
    struct opt_int expire_behavior, expire_grace_period;
    struct opt_bool enable_emoticons;
};
struct world_relationship {
    struct str user, target, type;
    struct opt_str nickname, target_nickname;
    struct opt_int since;
};
struct world_file {
    struct opt_list users, applications, platform_accounts, guilds, relationships, directs, groups;
};

extern const struct schema world_schema;
extern const struct type type_world;
extern const struct type world_user_list, world_application_list, world_relationship_list,
    world_account_list, world_followed_list, world_sku_list, world_entitlement_list;

/* --- import_people.c ------------------------------------------------------------------ */

import_step import_user, import_application, import_relationship;
/* Of an application, global or of a guild. */
enum err import_commands(struct importing *im, const struct opt_str *json, struct world_scope scope,
                         const struct place *up);

/* --- platforms.c, entitlements.c ------------------------------------------------------ */

import_step import_account, import_followed;
enum err export_accounts(struct tx *tx, struct opt_list *ret);
export_part export_followed;
import_step import_sku, import_entitlements;
enum err export_entitlements(struct tx *tx, struct world_application *a);

/* --- tokens.c ------------------------------------------------------------------------- */

struct token_wanted {
    struct str username, purpose;
    struct str chosen; /* p == NULL: not said */
    bool lasts;        /* the same each time */
};
enum err token_renew(struct tx *tx, struct auth *auth, const struct token_wanted *wanted,
                     bool *ret_found, bool *ret_bot, struct str *ret_token);

#endif
