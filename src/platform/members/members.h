/* members.h - public interface of members/: membership, bans, roles of members, permissions.
 *
 * The folder owns members, member_roles, member_names, bans and member_sanctions. It uses accounts/
 * and guilds/. Invariants: guilds.member_count equals the number of members; role lists are ordered
 * by id. Start with member_access.c (permissions and rank), join_leave.c (join, leave), rows.c. */
#ifndef PLATFORM_MEMBERS_MEMBERS_H
#define PLATFORM_MEMBERS_MEMBERS_H

#include "model/guild.h"
#include "model/permissions/member_permissions.h"
#include "platform/accounts/accounts.h"

/* Reads a member without .user. Returns ERR_UNKNOWN_MEMBER if the user is not a member. */
enum err member_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct member *ret);
enum err member_read_user(struct tx *tx, struct member *m);
/* Reads a member's permissions and rank (position of the highest role). Returns ERR_UNKNOWN_GUILD,
 * or ERR_MISSING_ACCESS if the user is not a member. */
enum err member_access_find(struct tx *tx, snowflake guild_id, snowflake user_id,
                            struct member_access *ret);
/* Reads the permissions and rank of a user other than the caller. Returns ERR_UNKNOWN_MEMBER if the
 * user is not a member. */
enum err member_access_find_of_other_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                          struct member_access *ret);

/* Lists at most `limit` members whose user ids are above `after`, with users and roles, ordered by
 * id. */
enum err members_list_after(struct tx *tx, snowflake guild_id, snowflake after, int64_t limit,
                            struct list *ret);
/* Lists up to `limit` members with a name that starts with the text, ordered by id. */
enum err members_find_by_name(struct tx *tx, snowflake guild_id, struct str text, int64_t limit,
                              struct list *ret);

/* Lists the `limit` members who joined last, newest first. */
enum err members_list_newest(struct tx *tx, snowflake guild_id, int64_t limit, struct list *ret);
/* Updates the member's names in the table for searches. Call it when the account's names
 * changed. */
enum err member_update_search_names(struct tx *tx, snowflake guild_id, const struct user *user);

/* Lists the members in voice channels, ordered by id. */
enum err members_list_in_voice(struct tx *tx, snowflake guild_id, struct list *ret);
/* Lists at most `limit` members with user ids above `after` who are in this voice channel; in any
 * voice channel if channel_id is 0. */
enum err members_list_in_voice_after(struct tx *tx, snowflake guild_id, snowflake channel_id,
                                     snowflake after, int64_t limit, struct list *ret);

/* Returns ERR_MAX_GUILDS if the user is in the maximum number of guilds. */
enum err check_guild_limit_of_user(struct tx *tx, snowflake user_id);

enum { MEMBER_BYPASSES_VERIFICATION = 4 }; /* the only member flag that other members can change */

/* Parameters of member_add_to_guild, which adds an account to a guild. member_add_to_guild updates
 * the member count and emits GUILD_CREATE to the new member and GUILD_MEMBER_ADD to the guild. If
 * the account is already a member, nothing changes and *ret_new is false. For users, but not for
 * bots, member_add_to_guild may return ERR_MAX_GUILDS or ERR_BANNED. */
struct member_to_add_to_guild {
    snowflake guild_id, user_id;
    struct opt_str nick;
    struct list roles;
    bool mute, deaf, temporary;
    int64_t flags; /* MEMBER_BYPASSES_VERIFICATION or 0 */
};
enum err member_add_to_guild(struct call *call, const struct member_to_add_to_guild *n,
                             struct member *ret, bool *ret_new);

/* Inserts the member with its roles and updates the guild's member count. Emits no events. */
enum err member_insert(struct tx *tx, const struct member *m, bool temporary);
/* Inserts only the row in `members`, without roles. *ret_new is false if the user is already a
 * member. */
enum err member_insert_row(struct tx *tx, const struct member *m, bool temporary, bool *ret_new);

/* Removes an account from a guild. First, hooks disconnect the account from voice and update the
 * integration of a bot. Then emits GUILD_MEMBER_REMOVE to the guild and GUILD_DELETE to the
 * account. */
enum err member_remove_from_guild(struct call *call, snowflake guild_id, snowflake user_id);
/* Events that member_remove_from_guild emits, for the field .fires of a struct route. */
#define LEAVE_EVENTS                                                                \
    EVENT_GUILD_MEMBER_REMOVE, EVENT_GUILD_DELETE, EVENT_GUILD_INTEGRATIONS_UPDATE, \
        EVENT_INTEGRATION_UPDATE, EVENT_INTEGRATION_DELETE, EVENT_WEBHOOKS_UPDATE,  \
        EVENT_GUILD_ROLE_DELETE, EVENT_GUILD_EMOJIS_UPDATE,                         \
        EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE, EVENT_VOICE_STATE_UPDATE,     \
        EVENT_GUILD_JOIN_REQUEST_DELETE

/* Writes all changeable fields of the member and emits GUILD_MEMBER_UPDATE. */
enum err member_update_and_emit(struct call *call, const struct member *m);

/* Emits GUILD_MEMBER_ADD for an imported member if `created` is true, else GUILD_MEMBER_UPDATE. */
enum err member_emit_imported(struct call *call, snowflake guild_id, snowflake user_id,
                              bool created);
/* Removes a ban and emits GUILD_BAN_REMOVE. Returns ERR_UNKNOWN_BAN if the user is not banned. */
enum err guild_ban_remove_and_emit(struct call *call, snowflake guild_id, struct user *user);

extern const struct domain members_domain, bans_domain;
extern const struct world_file_fields members_world;

enum err bot_read_application_flags(struct tx *tx, snowflake bot_id, int64_t *ret, bool *ret_found);

#endif
