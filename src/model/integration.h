/* integration.h - integrations of a guild: apps, and accounts of external platforms. */
#ifndef MODEL_INTEGRATION_H
#define MODEL_INTEGRATION_H

#include "model/application.h"
#include "model/configured/platforms.h"

enum expire_behavior { EXPIRE_REMOVE_ROLE = 0, EXPIRE_KICK = 1 };

struct integration_account {
    struct str id, name;
};

/* Describes a value that an app can report about its users, for linked roles. */
struct role_connection_metadata {
    int64_t type;
    struct str key, name, description;
    struct opt_list name_localizations, description_localizations; /* struct string_pair */
};

struct integration {
    snowflake id, guild_id;
    struct str name, type; /* type as stored; clients get displayed_type */
    bool enabled;
    const struct integration_account *account;
    /* Struct fields that only integrations with external platforms have. */
    struct opt_bool syncing, enable_emoticons, revoked;
    struct opt_id role_id;
    struct opt_int expire_behavior, expire_grace_period, synced_at, subscriber_count;
    /* Struct fields that only integrations of apps have. */
    const struct application *application;
    struct opt_list scopes; /* struct str */
    /* Struct fields that are set only in lists of a guild's integrations. */
    struct opt_list role_connections_metadata;
    const struct user *user;

    struct str displayed_type; /* type that clients get */
};

/* Sets the type that clients get, and the fields that depend on the type. Called before the
 * integration is encoded. */
void integration_set_displayed_type(struct integration *i);

struct integration_delete_event {
    snowflake id;
    struct opt_id guild_id, channel_id, application_id;
};

extern const struct schema integration_event_schema; /* payload of INTEGRATION_CREATE and _UPDATE */
extern const struct schema integration_delete_event_schema; /* payload of INTEGRATION_DELETE */
/* Types of lists of integrations. The second type has the fields that a request with
 * ?include_role_connections_metadata gets in addition. */
extern const struct type type_integrations, type_integrations_with_metadata;
extern const struct type type_integration_account;
extern const struct type type_role_connections_metadata; /* at most 5 entries */

#endif
