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

/* Implement gateway_source.threads and gateway_source.thread_members. read_visible_threads reads
 * the open Discord threads that a user can view, in the channels that `sync` lists, or in all
 * channels. read_visible_thread_members reads the members of a Discord thread. */
enum err read_visible_threads(struct tx *tx, snowflake user_id, struct thread_list_sync *sync);
enum err read_visible_thread_members(struct tx *tx, struct gateway *g, snowflake guild_id,
                                     snowflake thread_id, snowflake viewer, struct list *ret);

struct guild_read_options {
    snowflake guild_id;
    const struct member *member; /* the member for whom the guild is read; must have .roles */
    const struct user *user;
    /* Maximum size of a guild whose members are all listed. In larger guilds only the viewer and
     * users in voice channels are listed. */
    int64_t listed_up_to;
    bool encodes_members; /* encode all listed members as JSON */
    bool refers_to_users; /* encode each member separately, with "user_id" instead of "user" */
};
enum { GUILD_LISTED_MEMBERS = 250 }; /* maximum size of guilds of which users get all members */
enum err read_guild_for_member(struct tx *tx, const struct guild_read_options *read_step,
                               struct gateway_guild *ret);
/* Reads a guild for a viewer whose session is not known. Returns ERR_MISSING_ACCESS if the viewer
 * is not a member. */
enum err read_guild_for_user(struct tx *tx, snowflake guild_id, snowflake viewer,
                             struct gateway_guild *ret);
/* Emits GUILD_CREATE to a new member. If the guild takes long to read, the event has only the
 * guild's id, and each session reads the guild itself (gateway/fanout/delivery.h). */
enum err emit_guild_create_to_new_member(struct call *call, const struct member *m);

/* A guild with its channels. It is read-only, and valid until the next read of a guild. */
struct guild_with_channels {
    struct guild guild; /* includes the roles */
    /* items: struct channel; `threads` has the Discord threads that are not archived. */
    struct list channels, threads;
    /* Soundboard sounds, set only by read_guild_with_all_lists, as emoji and stickers in `guild`.
     */
    struct list sounds;
    /* JSON of the guild, if read_guild_with_all_lists found it in the cache; otherwise NULL. */
    const struct encoded_guild *encoded;
};
enum err read_guild_with_channels(struct tx *tx, snowflake guild_id,
                                  struct guild_with_channels *ret);
enum err read_guild_with_all_lists(struct tx *tx, snowflake guild_id,
                                   struct guild_with_channels *ret);

#endif
