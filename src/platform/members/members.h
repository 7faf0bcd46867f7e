/* members.h - who is in a guild. */
#ifndef PLATFORM_MEMBERS_MEMBERS_H
#define PLATFORM_MEMBERS_MEMBERS_H

#include "model/guild.h"
#include "model/permissions/rights.h"
#include "platform/accounts/accounts.h"

/* ERR_UNKNOWN_MEMBER. Without .user; member_load_user adds it. */
enum err member_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct member *ret);
enum err member_load_user(struct tx *tx, struct member *m);
/* ERR_UNKNOWN_GUILD: no such guild; ERR_MISSING_ACCESS: not a member. */
enum err standing_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct standing *ret);
void standing_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id);
/* The same for somebody else: ERR_UNKNOWN_MEMBER when not a member. */
enum err standing_of_member(struct tx *tx, snowflake guild_id, snowflake user_id,
                            struct standing *ret);

/* The first `limit` members after an id, with users and roles, by id. */
enum err members_after(struct tx *tx, snowflake guild_id, snowflake after, int64_t limit,
                       struct list *ret);
/* Members one of whose names begins with a text: of those whose names come first, by id. */
enum err members_named(struct tx *tx, snowflake guild_id, struct str text, int64_t limit,
                       struct list *ret);

/* Those who joined last, the last first. */
enum err members_newest(struct tx *tx, snowflake guild_id, int64_t limit, struct list *ret);
/* A member's account has other names: it is found by them from now on. */
enum err member_follow_names(struct tx *tx, snowflake guild_id, const struct user *user);

/* Those who are in voice, by id. */
enum err members_in_voice(struct tx *tx, snowflake guild_id, struct list *ret);
/* The first `limit` of them after an id; of one channel, unless that is 0. */
enum err members_in_voice_after(struct tx *tx, snowflake guild_id, snowflake channel_id,
                                snowflake after, int64_t limit, struct list *ret);

/* ERR_MAX_GUILDS when somebody is in as many guilds as anybody may be. */
enum err member_check_room(struct tx *tx, snowflake user_id);

enum { MEMBER_BYPASSES_VERIFICATION = 4 }; /* the only flag that others may set */

/* Puts an account into a guild, counts it, and announces: GUILD_CREATE to the
 * newcomer, GUILD_MEMBER_ADD to the guild. Roles are snowflakes. *ret_new is false,
 * and nothing happens, when it is a member already. Limits (ERR_MAX_GUILDS,
 * ERR_BANNED) are checked for user accounts. */
struct newcomer {
    snowflake guild_id, user_id;
    struct opt_str nick;
    struct list roles;
    bool mute, deaf, temporary;
    int64_t flags; /* MEMBER_BYPASSES_VERIFICATION, or 0 */
};
enum err member_join(struct call *call, const struct newcomer *n, struct member *ret,
                     bool *ret_new);

/* Writes with roles and keeps the guild's count; nobody hears of it. */
enum err member_insert(struct tx *tx, const struct member *m, bool temporary);

/* Takes an account out of a guild and announces: GUILD_MEMBER_REMOVE to the guild,
 * GUILD_DELETE to the account. Who listens takes it out of voice before, and sets right what
 * a bot's app has there. */
enum err member_leave(struct call *call, snowflake guild_id, snowflake user_id);
/* What it can announce, for rows' .fires. */
#define LEAVE_EVENTS                                                                \
    EVENT_GUILD_MEMBER_REMOVE, EVENT_GUILD_DELETE, EVENT_GUILD_INTEGRATIONS_UPDATE, \
        EVENT_INTEGRATION_UPDATE, EVENT_INTEGRATION_DELETE, EVENT_WEBHOOKS_UPDATE,  \
        EVENT_GUILD_ROLE_DELETE, EVENT_GUILD_EMOJIS_UPDATE,                         \
        EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE, EVENT_VOICE_STATE_UPDATE,     \
        EVENT_GUILD_JOIN_REQUEST_DELETE

/* Writes nick, avatar, roles … and announces GUILD_MEMBER_UPDATE. */
enum err member_save(struct call *call, const struct member *m);

extern const struct domain members_domain, bans_domain;
extern const struct world_parts members_world;

/* Flags of the application of a bot. */
enum err bot_application_flags(struct tx *tx, snowflake bot_id, int64_t *ret, bool *ret_found);

#endif
