/* messages.h - the messages of clients (op 2, 3, 6, 8, …) as structs that their schemas fill. */
#ifndef GATEWAY_WIRE_MESSAGES_H
#define GATEWAY_WIRE_MESSAGES_H

#include "json/schema.h"

struct client_properties {
    struct str os, browser, device;
};

/* op 3, and part of op 2. Lenient, because libraries send null and old names. */
struct presence_update {
    struct opt_str status;
    struct str activities, game, since, afk; /* JSON */
};

/* op 2 */
struct identify {
    struct str token;
    const struct client_properties *properties;
    struct opt_bool compress;
    struct opt_int large_threshold, capabilities;
    struct str shard, intents; /* JSON: an invalid one has a close code of its own */
    const struct presence_update *presence;
};

/* op 6 */
struct resume {
    struct str token, session_id;
    struct str seq; /* JSON */
};

/* op 8 */
struct request_members {
    struct str guild_id, user_ids, nonce; /* JSON: an id or a list of ids */
    struct opt_str query;
    struct opt_int limit;
    struct opt_bool presences;
};

/* op 35 */
struct search_recent {
    snowflake guild_id;
    struct opt_str query;
    struct opt_id continuation_token;
    struct str nonce; /* JSON */
};

/* op 31 */
struct request_sounds {
    struct list guild_ids;
};

/* op 36, 43 */
struct channel_info {
    snowflake guild_id;
    struct list fields; /* struct str; only in op 43. Empty: all */
};

/* op 14, and for each guild of op 37 */
struct guild_subscription {
    snowflake guild_id;                       /* op 14 */
    struct list channels;                     /* struct shown_channel */
    struct list members, thread_member_lists; /* snowflakes */
    struct opt_bool typing, activities, member_updates, threads;
};

/* Rows of a channel's member list. */
struct shown_channel {
    struct str id;
    struct list ranges; /* struct list of two int64_t (first, last row) */
};

/* op 37 */
struct guild_subscriptions {
    struct list subscriptions; /* struct subscribed_guild */
};
struct subscribed_guild {
    struct str id;
    struct guild_subscription subscription;
};

#endif
