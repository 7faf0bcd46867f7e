/* webhooks.h - addresses that programs send messages to without an account. */
#ifndef PLATFORM_WEBHOOKS_WEBHOOKS_H
#define PLATFORM_WEBHOOKS_WEBHOOKS_H

#include "model/user.h"
#include "platform/accounts/accounts.h"

struct webhook {
    snowflake id, guild_id, channel_id;
    int64_t type;            /* always 1 */
    const struct user *user; /* who made it; not shown to holders of the token */
    struct opt_str name, avatar;
    struct opt_id application_id;
    struct str token, url;

    /* Not shown to anybody. */
    snowflake user_id;
    struct str salt;
};

/* ERR_UNKNOWN_WEBHOOK. Without user, token and url. */
enum err webhook_find(struct tx *tx, snowflake id, struct webhook *ret);

/* Tells those who manage them that webhooks of a channel changed. */
void webhooks_announce(struct call *call, snowflake guild_id, snowflake channel_id);

extern const struct domain webhooks_domain;

#endif
