/* internal.h - what the files of integrations/ share. */
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
/* How a member came to its guild; 0: otherwise. */
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

/* An integration of a guild, as it is kept. */
struct integration_row {
    snowflake id, guild_id, application_id, user_id, role_id; /* 0: none */
    struct str type, name, account_id;
    enum platform platform; /* PLATFORM_NONE: an app, or the guild's own */
    struct list scopes;     /* struct str */
    bool enabled, enable_emoticons, syncing;
    int64_t expire_behavior, expire_grace_period, subscriber_count, round;
    int64_t created_at, synced_at, asked_at, revoked_at; /* 0: never */
};

/* SQL: the app of the integration i, if it is one's, is not being removed. */
#define APP_STAYS                                                                 \
    "not exists (select 1 from applications a where a.id = i.application_id and " \
    "a.removed = 1) "

/* ERR_UNKNOWN_INTEGRATION. */
enum err integration_find(struct tx *tx, snowflake id, struct integration_row *ret);
enum err integration_find_account(struct tx *tx, snowflake guild_id, struct str type,
                                  struct str account_id, struct integration_row *ret,
                                  bool *ret_found);
/* By id, at most 50. with_commands: only apps whose commands can be used there. */
enum err integrations_of_guild(struct tx *tx, snowflake guild_id, bool with_commands,
                               struct list *ret);
/* Those of a platform, not switched off or refused, in guilds that somebody is in. */
enum err integrations_around(struct tx *tx, snowflake user_id, struct str type, struct list *ret);
/* Those that follow an account. */
enum err integrations_following(struct tx *tx, struct str type, struct str account_id,
                                struct list *ret);
enum err integrations_count(struct tx *tx, snowflake guild_id, int64_t *ret);
enum err integration_insert(struct tx *tx, const struct integration_row *i);
/* Writes all that can change of a platform's. */
enum err integration_save(struct tx *tx, const struct integration_row *i);
enum err integration_save_scopes(struct tx *tx, const struct integration_row *i);
enum err integration_delete_row(struct tx *tx, snowflake id);

/* As it is shown in events; apps are loaded. */
enum err integration_show(struct tx *tx, const struct integration_row *i, struct integration *ret);
/* Saves and tells: GUILD_INTEGRATIONS_UPDATE, INTEGRATION_UPDATE. */
enum err integration_change(struct call *call, const struct integration_row *i);

/* --- handlers, by file ---------------------------------------------------------------- */

/* audit.c */
/* The entry of an account of another platform. before: NULL if it is new; now: NULL if deleted. */
enum err integration_audit(struct call *call, const struct integration_row *before,
                           const struct integration_row *now);
enum err integrations_in_audit(struct call *call, struct audit_shown *log);
/* apps.c */
enum err migrate_command_scope(struct call *call);
enum err list_application_ids(struct call *call);
/* channel.c */
enum err list_channel_integrations(struct call *call);
enum err delete_channel_integration(struct call *call);
/* changes.c */
enum err prepare_create_integration(struct call *call);
enum err create_integration(struct call *call);
enum err sync_integration(struct call *call);
enum err modify_integration(struct call *call);
/* delete.c */
enum err delete_integration(struct call *call);
enum err integrations_mark_of_guild(struct call *call, snowflake guild_id);
/* join.c */
enum err prepare_join_integration(struct call *call);
enum err join_integration(struct call *call);

/* --- sync.c, expiry.c, friends.c, removal.c: what happens by itself ------------------- */

extern const struct job_kind sync_kind, expiry_kind, friends_kind, removal_kind;

/* A sync now, and from then on every hour; the expiry of what lapses, too. */
enum err sync_begin(struct call *call, snowflake integration_id);
enum err sync_end_for_good(struct call *call, snowflake integration_id);
/* Ends a platform's, with its role and all it knows of its subscribers, and tells of it. */
enum err removal_begin(struct call *call, const struct integration_row *i);
/* Whom somebody's connections know, now. */
enum err friends_begin(struct call *call, snowflake user_id);

/* --- members.c: a member and its subscriber role -------------------------------------- */

/* What a sync has to know about one member. */
struct subscriber {
    snowflake user_id;
    bool subscribes, has_role;
    int64_t lapsed_at; /* 0: not lapsed */
};
/* Members after an id with connections of the integration's platform, by id. */
enum err subscribers_after(struct tx *tx, const struct integration_row *i, snowflake after,
                           snowflake up_to, int64_t limit, struct list *ret);
bool subscriber_is_settled(const struct integration_row *i, const struct subscriber *s);
/* Gives the role, or notes that a subscription has lapsed. */
enum err subscriber_settle(struct call *call, const struct integration_row *i,
                           const struct subscriber *s);
/* The same for one person in all guilds, by what is known of the subscribers now. */
enum err subscriber_settle_all(struct call *call, snowflake user_id, struct str type);
enum err subscriber_set_role(struct call *call, const struct integration_row *i, snowflake user_id,
                             bool has);
enum err subscriber_note(struct tx *tx, const struct integration_row *i, snowflake user_id,
                         int64_t lapsed_at, bool joined);

/* --- secrets.c: what is not kept as it is --------------------------------------------- */

/* A provider's secret, for the store, and back again; p == NULL: it cannot be read. */
struct str secret_seal(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str secret);
struct str secret_open(struct arena *arena, const struct auth *auth, snowflake user_id,
                       struct str sealed);
/* Codes and states are only recognised. word: what it is. */
struct str secret_digest(struct arena *arena, const struct auth *auth, const char *word,
                         struct str secret);

/* --- linking.c: an account of another platform becomes somebody's --------------------- */

/* What the provider is asked, and what came of it, from prepare to the handler. */
struct linking {
    enum platform platform;
    struct str code, state;
    struct opt_bool friend_sync;
    snowflake user_id; /* whose state it is */
    enum provider_result result;
    struct provider_account account;
};
/* Of the state, within a transaction: whose it is. ERR_INVALID_OAUTH2_STATE. */
enum err state_find(struct call *call, const struct linking *l, snowflake *ret_user);
/* For .await of calls whose data is a struct linking. */
void linking_ask(struct call *call);
/* Uses up the state and keeps the connection, with all that follows. */
enum err linking_finish(struct call *call, struct linking *l, struct linked_account *ret);
/* Ends a connection, with all that follows. */
enum err connection_unlink(struct call *call, const struct linked_account *c);
void connections_announce(struct call *call, snowflake user_id);

/* What a link and its end can announce, for rows' .fires. */
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
/* The platform of a path's {connection.type}. */
enum platform path_platform(const struct call *call);

#endif
