/* integration.h - an app, or an account of another platform, in a guild. */
#ifndef MODEL_INTEGRATION_H
#define MODEL_INTEGRATION_H

#include "model/application.h"
#include "model/configured/platforms.h"

enum expire_behavior { EXPIRE_REMOVE_ROLE = 0, EXPIRE_KICK = 1 };

struct integration_account {
    struct str id, name;
};

/* What an app can say about the people who use it. */
struct role_connection_metadata {
    int64_t type;
    struct str key, name, description;
    struct opt_list name_localizations, description_localizations; /* struct pair */
};

struct integration {
    snowflake id, guild_id;
    struct str name, type; /* the store's word */
    bool enabled;
    const struct integration_account *account;
    /* Platforms only. */
    struct opt_bool syncing, enable_emoticons, revoked;
    struct opt_id role_id;
    struct opt_int expire_behavior, expire_grace_period, synced_at, subscriber_count;
    /* Apps only. */
    const struct application *application;
    struct opt_list scopes; /* struct str */
    /* Lists of a guild's only. */
    struct opt_list role_connections_metadata;
    const struct user *user;

    struct str word; /* shown as the type; integration_dress sets it */
};

/* The last touch before an integration is shown: the type's word, and what a word of the
 * operator's brings with it. */
void integration_dress(struct integration *i);

struct integration_gone {
    snowflake id;
    struct opt_id guild_id, channel_id, application_id;
};

extern const struct schema integration_event_schema; /* INTEGRATION_CREATE, _UPDATE */
extern const struct schema integration_gone_schema;  /* INTEGRATION_DELETE */
/* What lists show; the second with what only include_role_connections_metadata shows. */
extern const struct type type_integrations, type_described_integrations;
extern const struct type type_integration_account;
extern const struct type type_role_connections_metadata; /* at most 5 */

#endif
