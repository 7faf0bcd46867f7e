/* gateway_source.h - reads the data of READY, GUILD_CREATE and permissions for the gateway.
 *
 * The gateway does not include platform folders. It calls this folder through the table struct
 * gateway_source (gateway/gateway.h). Owns the table session_starts; may use all resource folders.
 * Invariant: all data of one payload comes from one snapshot of the store. Start with source.c. */
#ifndef GATEWAY_SOURCE_GATEWAY_SOURCE_H
#define GATEWAY_SOURCE_GATEWAY_SOURCE_H

#include "api/hooks.h"
#include "gateway/gateway.h"

extern const struct gateway_source gateway_source;

extern const struct domain gateway_addresses_domain; /* /gateway, /gateway/bot */

/* Writes the fields of READY about an account. */
enum err write_ready_account_json(struct tx *tx, const struct payload_recipient *v,
                                  struct json_writer *out);
/* Implements gateway_source.guild. */
enum err write_gateway_guild_json(struct tx *tx, const struct member *m,
                                  const struct payload_recipient *v, struct json_writer *out);

/* Implement gateway_source.threads and .thread_members: read the open threads that a user can view
 * (in the channels that `sync` lists, or in all), and the members of a thread. */
enum err read_visible_threads(struct tx *tx, snowflake user_id, struct thread_list_sync *sync);
enum err read_visible_thread_members(struct tx *tx, struct gateway *g, snowflake guild_id,
                                     snowflake thread_id, snowflake viewer, struct list *ret);

struct guild_read_options {
    snowflake guild_id;
    const struct member *member; /* member who gets the guild, with roles */
    const struct user *user;
    int64_t listed_up_to; /* larger guilds list only the viewer and users in voice channels */
    bool encodes_members; /* encode all listed members as JSON */
    bool refers_to_users; /* encode each member separately, with a user id instead of the user */
};
enum { GUILD_LISTED_MEMBERS = 250 }; /* users get all members of guilds up to this size */
enum err read_guild_for_member(struct tx *tx, const struct guild_read_options *read_step,
                               struct gateway_guild *ret);
/* Reads a guild for a viewer without a known session, or returns ERR_MISSING_ACCESS. */
enum err read_guild_for_user(struct tx *tx, snowflake guild_id, snowflake viewer,
                             struct gateway_guild *ret);
/* Emits GUILD_CREATE to a new member. If the guild takes long to read, the event has only the
 * guild's id (fanout/delivery.h). */
enum err emit_guild_create_to_new_member(struct call *call, const struct member *m);

/* A guild with its channels. Read-only, and valid until the next read of a guild. */
struct guild_with_channels {
    struct guild guild;            /* includes the roles */
    struct list channels, threads; /* items: struct channel; threads that are not archived */
    struct list sounds; /* set only by read_whole_guild, like emoji and stickers in `guild` */
    const struct encoded_guild
        *encoded; /* JSON of the guild, set by read_whole_guild if cached; or NULL */
};
enum err read_guild_with_channels(struct tx *tx, snowflake guild_id,
                                  struct guild_with_channels *ret);
enum err read_whole_guild(struct tx *tx, snowflake guild_id, struct guild_with_channels *ret);

#endif
