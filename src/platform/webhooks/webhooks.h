/* webhooks.h - addresses that programs send messages to without an account. */
#ifndef PLATFORM_WEBHOOKS_WEBHOOKS_H
#define PLATFORM_WEBHOOKS_WEBHOOKS_H

#include "model/user.h"
#include "platform/accounts/accounts.h"

enum webhook_type { WEBHOOK_INCOMING = 1, WEBHOOK_FOLLOWER = 2 };
enum { WEBHOOK_SALT = 16 };

/* What a follower follows. */
struct webhook_source {
    snowflake id;
    struct str name;
    struct opt_str icon; /* of guilds */
};

struct webhook {
    snowflake id, guild_id, channel_id;
    int64_t type;            /* enum webhook_type */
    const struct user *user; /* who made it; not shown to holders of the token */
    struct opt_str name, avatar;
    struct opt_id application_id;
    struct opt_str token, url; /* of those that messages are sent to */
    const struct webhook_source *source_guild, *source_channel; /* NULL: none, or gone */

    /* Not shown to anybody. */
    snowflake user_id;
    struct str salt;
    snowflake source_channel_id, source_guild_id; /* 0: it follows nothing */
};

/* ERR_UNKNOWN_WEBHOOK. Without user, token and url. */
enum err webhook_find(struct tx *tx, snowflake id, struct webhook *ret);

/* Tells those who manage them that webhooks of a channel changed. */
void webhooks_announce(struct call *call, snowflake guild_id, snowflake channel_id);

enum err webhook_insert(struct tx *tx, const struct webhook *h);
/* ERR_MAX_CHANNEL_WEBHOOKS, ERR_MAX_GUILD_WEBHOOKS. */
enum err webhook_check_room(struct call *call, snowflake guild_id, snowflake channel_id);

/* Can a guild's channel of this type have some? */
bool webhook_fits(int64_t channel_type);
/* Else it is a name, or a word, that would be taken for somebody else's. */
bool webhook_name_holds(struct str name);
/* Makes one in the caller's name and shows it, with its token; application 0: nobody's. */
enum err webhook_make(struct call *call, const struct channel *c, struct str name,
                      snowflake application, struct webhook *ret);
/* Writes the audit log entry. before: NULL if it is new; now: NULL if it was deleted. */
enum err webhook_audit(struct call *call, const struct webhook *before, const struct webhook *now);
/* Deletes one in the caller's name. */
enum err webhook_end(struct call *call, const struct webhook *h);
extern const struct type webhook_reply;

extern const struct domain webhooks_domain;
extern const struct world_parts webhooks_world;

#endif
