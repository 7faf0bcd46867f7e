/* integrations.h - integrations of guilds: apps, and accounts of other platforms. Owns the tables
 * of subscribers, connections, role connections and local platforms; the table integrations belongs
 * to platform/applications. Uses api/, model/ and platform/. Invariants: no request to a provider
 * (the server of another platform) is sent inside a transaction; a platform account is linked to at
 * most one user. Start with routes.c; then platform_integrations.c, sync.c, connections/linking.c
 * and providers/provider.h. */
#ifndef INTEGRATIONS_INTEGRATIONS_H
#define INTEGRATIONS_INTEGRATIONS_H

#include "api/api.h"
#include "model/configured/platforms.h"

extern const struct domain integrations_domain;     /* routes of guilds and private channels */
extern const struct domain connections_domain;      /* routes of linked accounts of users */
extern const struct domain connection_pages_domain; /* HTML page to link an account */
extern const struct domain role_connections_domain; /* role connection metadata and values */
extern const struct domain platforms_domain;        /* routes that fill the local platforms */
extern const struct world_file_fields integrations_world;

/* --- local platforms, for tools ------------------------------------------------------- */

struct local_platform_account {
    enum platform platform;
    struct str id, name;
    /* ABSENT leaves an existing account unchanged, and means false for a new account. */
    struct opt_bool has_programme, is_partner;
};
/* Creates or updates an account of a local platform. */
enum err upsert_local_platform_account(struct tx *tx, const struct local_platform_account *a);

struct local_platform_subscription {
    enum platform platform;
    struct str account_id, subscriber_id, name, tier;
    int64_t since, until; /* start (0: now) and end (0: never) in microseconds since 1970 */
};
/* Creates or updates a subscription. Returns ERR_NOT_FOUND if the account does not exist. */
enum err upsert_local_platform_subscription(struct tx *tx,
                                            const struct local_platform_subscription *s);
enum err delete_local_platform_subscription(struct tx *tx, enum platform p, struct str account_id,
                                            struct str subscriber_id);
/* Makes two accounts friends of each other. Returns ERR_NOT_FOUND if one does not exist. */
enum err insert_local_platform_friendship(struct tx *tx, enum platform p, struct str one,
                                          struct str other);
/* Adds a friend to the friend list of one account; neither account has to exist. */
enum err insert_local_friend_list_entry(struct tx *tx, enum platform p, struct str of,
                                        struct str friend);

/* Creates a code with which a user proves ownership of a platform account. The code works once,
 * within a day. ret is allocated in the transaction's arena. Returns ERR_NOT_FOUND if the account
 * does not exist. */
enum err create_local_platform_link_code(struct tx *tx, const struct auth *auth, enum platform p,
                                         struct str account_id, struct str *ret);

/* Adds the integration for subscriptions to the guild itself. Sets ret_new to false if the guild
 * already has one. Returns ERR_UNKNOWN_GUILD or ERR_MAX_INTEGRATIONS on failure. */
enum err insert_guild_subscription_integration(struct tx *tx, snowflake guild_id, bool *ret_new);

#endif
