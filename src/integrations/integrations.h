/* integrations.h - guilds and the world around them: apps, and accounts of other platforms. */
#ifndef INTEGRATIONS_INTEGRATIONS_H
#define INTEGRATIONS_INTEGRATIONS_H

#include "api/api.h"
#include "model/configured/platforms.h"

extern const struct domain integrations_domain; /* of guilds and private channels */
extern const struct domain connections_domain;  /* accounts of other platforms that people have */
extern const struct domain connection_pages_domain; /* where people prove that one is theirs */
extern const struct domain role_connections_domain; /* what apps say about people */
extern const struct domain platforms_domain;        /* feeding the local platforms */

/* --- the local platforms, for tools --------------------------------------------------- */

struct local_account {
    enum platform platform;
    struct str id, name;
    struct opt_bool has_programme, is_partner; /* absent: as before, else false */
};
/* Makes an account, or changes it. */
enum err local_account_save(struct tx *tx, const struct local_account *a);

struct local_subscription {
    enum platform platform;
    struct str account_id, subscriber_id, name, tier;
    int64_t since, until; /* microseconds; since 0: now; until 0: no end */
};
/* ERR_NOT_FOUND: there is no such account. */
enum err local_subscription_save(struct tx *tx, const struct local_subscription *s);
enum err local_subscription_end(struct tx *tx, enum platform p, struct str account_id,
                                struct str subscriber_id);
/* Both know each other. ERR_NOT_FOUND: one of the accounts does not exist. */
enum err local_friends_save(struct tx *tx, enum platform p, struct str one, struct str other);

/* A code that proves once, within a day, that an account is its holder's. Its text is in
 * the transaction's arena; ERR_NOT_FOUND. */
enum err local_code_make(struct tx *tx, const struct auth *auth, enum platform p,
                         struct str account_id, struct str *ret);

/* A guild's subscription to its own roles; *ret_new false: it has one. ERR_UNKNOWN_GUILD,
 * ERR_MAX_INTEGRATIONS. */
enum err guild_subscription_add(struct tx *tx, snowflake guild_id, bool *ret_new);

#endif
