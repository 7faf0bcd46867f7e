/* webhooks.h - webhooks: URLs that accept messages without an account. Incoming webhooks accept
 * messages; follower webhooks belong to a followed announcement channel (announcement_channels/).
 * Owns the table webhooks. May include threads/ and lower layers. Start with manage.c, then
 * execute.c. */
#ifndef PLATFORM_WEBHOOKS_WEBHOOKS_H
#define PLATFORM_WEBHOOKS_WEBHOOKS_H

#include "model/user.h"
#include "platform/accounts/accounts.h"

enum webhook_type { WEBHOOK_INCOMING = 1, WEBHOOK_FOLLOWER = 2 };
enum { WEBHOOK_SALT = 16 };

/* The guild or channel whose messages a follower webhook copies. */
struct webhook_followed_source {
    snowflake id;
    struct str name;
    struct opt_str icon; /* set for guilds only */
};

struct webhook {
    snowflake id, guild_id, channel_id;
    int64_t type;            /* enum webhook_type */
    const struct user *user; /* creator; hidden from callers who have only the webhook's token */
    struct opt_str name, avatar;
    struct opt_id application_id;
    struct opt_str token, url; /* incoming webhooks only */
    const struct webhook_followed_source *source_guild,
        *source_channel; /* NULL if none or deleted */

    /* Internal fields, not part of the JSON. */
    snowflake user_id;
    struct str salt;
    snowflake source_channel_id, source_guild_id; /* 0 if not a follower webhook */
};

/* Reads a webhook without its user, token and URL. May return ERR_UNKNOWN_WEBHOOK. */
enum err webhook_find(struct tx *tx, snowflake id, struct webhook *ret);

/* Emits WEBHOOKS_UPDATE to members with MANAGE_WEBHOOKS in the channel. */
void emit_webhooks_update(struct call *call, snowflake guild_id, snowflake channel_id);

enum err webhook_insert(struct tx *tx, const struct webhook *h);
/* Returns ERR_MAX_CHANNEL_WEBHOOKS or ERR_MAX_GUILD_WEBHOOKS if the channel or guild has the
 * maximum number of webhooks. */
enum err check_webhook_limit(struct call *call, snowflake guild_id, snowflake channel_id);

/* Returns whether a guild channel of this type can have webhooks. */
bool channel_type_allows_webhooks(int64_t channel_type);
/* Returns false if the name contains a reserved word. */
bool webhook_name_is_allowed(struct str name);
/* Creates a webhook with the caller as its creator, and its token. application is the id of the app
 * that owns it, or 0. */
enum err webhook_create_for_caller(struct call *call, const struct channel *c, struct str name,
                                   snowflake application, struct webhook *ret);
/* Writes an audit entry. before is NULL for a new webhook, now is NULL for a deleted one. */
enum err audit_log_record_webhook(struct call *call, const struct webhook *before,
                                  const struct webhook *now);
/* Deletes a webhook, writes the audit log entry and emits WEBHOOKS_UPDATE. */
enum err webhook_delete_for_caller(struct call *call, const struct webhook *h);
extern const struct type webhook_reply;

extern const struct domain webhooks_domain;
extern const struct world_file_fields webhooks_world;

#endif
