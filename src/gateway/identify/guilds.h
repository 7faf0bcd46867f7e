/* guilds.h - subscribes sessions to their guilds and sends GUILD_CREATE. */
#ifndef GATEWAY_IDENTIFY_GUILDS_H
#define GATEWAY_IDENTIFY_GUILDS_H

#include "gateway/gateway.h"

struct gateway_loop;
struct topic_subscription;
struct session;

/* Store reads for more guilds or channels than this run in the background, not on the event loop.
 */
enum { MANY_GUILDS_FOR_LOOP = 20, MANY_CHANNELS_FOR_LOOP = 32 };

/* Data from the store that is needed to subscribe a session to a guild. */
struct guild_subscription_data {
    snowflake guild_id;
    bool is_gone; /* the guild is deleted, or the account has left it */
    /* The read includes the guild view: either the loop has no view of the guild, or
     * TEST_FAULT_CHECK_VIEWS is on. */
    bool wants_view;
    bool lacks_view; /* the loop had no guild view before the read */
    struct guild guild;
    struct list channels;
    struct member member;
};

void guild_subscription_data_init(struct gateway_loop *h, snowflake guild_id,
                                  struct guild_subscription_data *f);
/* Reads the data of struct guild_subscription_data from the store, and the guild's JSON if
 * `payload` is not NULL. */
enum err read_guild_subscription_data(struct gateway_loop *h, struct tx *tx,
                                      const struct payload_recipient *v,
                                      struct json_writer *payload,
                                      struct guild_subscription_data *f);
/* Returns whether the data must be read again, because the loop's guild view does not match it.
 * There are two cases. Either another read created the view first and may have seen more commits,
 * whose events this session would miss. Or the view was freed after the guild's last session. */
bool guild_subscription_data_is_outdated(const struct gateway_loop *h,
                                         const struct guild_subscription_data *f);
/* Subscribes the session to the guild and sets the member's roles. Returns NULL if the guild is
 * deleted or the account has left it. */
struct topic_subscription *guild_subscription_data_subscribe_session(
    struct session *s, const struct guild_subscription_data *f);

/* Called when the account has joined a guild: reads the guild before the next event is delivered.
 * If is_received is true, also sends GUILD_CREATE to the session. */
void session_read_joined_guild(struct session *s, snowflake guild_id, bool is_received);
/* Sends one GUILD_CREATE per guild: for all guilds of a bot, or for a user's guilds that did not
 * fit into READY. */
void begin_sending_guild_creates(struct session *s, const struct list *guilds);

#endif
