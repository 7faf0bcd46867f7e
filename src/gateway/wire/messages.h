/* messages.h - structs that the schemas of client messages (op 2, 3, 6, 8, …) fill. */
#ifndef GATEWAY_WIRE_MESSAGES_H
#define GATEWAY_WIRE_MESSAGES_H

#include "json/schema.h"

struct client_properties {
    struct str os, browser, device;
};

/* Presence from op 3 or IDENTIFY. Decoding accepts null and old names, which libraries send. */
struct presence_update {
    struct opt_str status;
    struct str activities, game, since, afk; /* unparsed JSON */
};

/* The message IDENTIFY (op 2). */
struct identify_message {
    struct str token;
    const struct client_properties *properties;
    struct opt_bool compress;
    struct opt_int large_threshold, capabilities;
    /* raw JSON of the fields, because each invalid value has its own close code */
    struct str shard, intents;
    const struct presence_update *presence;
};

/* The message RESUME (op 6). */
struct resume_message {
    struct str token, session_id;
    struct str seq; /* unparsed JSON */
};

/* The message REQUEST_GUILD_MEMBERS (op 8). */
struct request_members_message {
    struct str guild_id, user_ids, nonce; /* raw JSON of an id or a list of ids */
    struct opt_str query;
    struct opt_int limit;
    struct opt_bool presences;
};

/* Request for recently active members (op 35). */
struct search_recent_members_message {
    snowflake guild_id;
    struct opt_str query;
    struct opt_id continuation_token;
    struct str nonce; /* unparsed JSON */
};

/* The message REQUEST_SOUNDBOARD_SOUNDS (op 31). */
struct request_sounds_message {
    struct list guild_ids;
};

/* Request for channel statuses (op 36) or for channel info (op 43). */
struct request_channel_info_message {
    snowflake guild_id;
    /* Names of requested fields (struct str), only in op 43; all fields if empty. */
    struct list fields;
};

/* Member list subscriptions of a client in one guild: the data of op 14, or one guild of op 37. */
struct guild_subscription {
    snowflake guild_id;                       /* set only in op 14 */
    struct list channels;                     /* items: struct requested_member_list_channel */
    struct list members, thread_member_lists; /* items: snowflakes */
    struct opt_bool typing, activities, member_updates, threads;
};

/* A channel whose member list a client requests, with the requested rows. */
struct requested_member_list_channel {
    struct str id;
    struct list ranges; /* row ranges; items: struct list of two int64_t (first and last row) */
};

/* Member list subscriptions of a client in several guilds (op 37). */
struct guild_subscriptions {
    struct list subscriptions; /* items: struct subscribed_guild */
};
struct subscribed_guild {
    struct str id;
    struct guild_subscription subscription;
};

#endif
