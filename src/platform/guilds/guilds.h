/* guilds.h - guilds, roles and where a member stands in them. */
#ifndef PLATFORM_GUILDS_GUILDS_H
#define PLATFORM_GUILDS_GUILDS_H

#include "model/guild.h"
#include "model/permissions/rights.h"
#include "platform/accounts/accounts.h"

/* --- rows ----------------------------------------------------------------------------- */

/* ERR_UNKNOWN_GUILD. Without roles; guild_load_roles fills them. */
enum err guild_find(struct tx *tx, snowflake id, struct guild *ret);
enum err guild_load_roles(struct tx *tx, struct guild *g);
/* For a row's visitors: OK if the path's guild can be discovered. ERR_UNKNOWN_GUILD otherwise, so
 * that a caller outside does not learn that it exists. */
enum err guild_admit_visitor(struct call *call);
/* With all its lists, as calls and events show it. */
enum err guild_show(struct call *call, struct guild *g);
/* What guild_show is going to ask. */
enum err guild_prefetch_shown(struct call *call, snowflake id);
enum err guild_roles(struct tx *tx, snowflake guild_id, struct list *ret); /* struct role */
void guild_roles_prefetch(struct tx *tx, snowflake guild_id);
/* ERR_UNKNOWN_ROLE. */
enum err role_find(struct tx *tx, snowflake guild_id, snowflake id, struct role *ret);
/* A new role at a position; others are not moved. */
enum err role_insert(struct tx *tx, const struct role *r);
enum err role_update(struct tx *tx, const struct role *r);
/* Every role but @everyone goes up by one, so that position 1 is free. */
enum err roles_make_room(struct tx *tx, snowflake guild_id);
/* Takes it from members and channels too; roles above it go down by one. Nobody is told before
 * role_announce_gone. */
enum err role_delete(struct call *call, const struct role *r);
enum err role_announce_gone(struct call *call, const struct role *r);

/* --- a guild that is founded in steps, founding.c ------------------------------------- */

/* A new guild with its roles, which nobody finds until guild_reveal, and which goes again by
 * itself when that is not called soon. Channels come next, a few a transaction. */
enum err guild_hold(struct call *call, const struct guild *g, const struct role *roles,
                    size_t count);
/* The guild as it is, with its roles. ERR_UNAVAILABLE: it took too long, and it is gone. */
enum err guild_held(struct tx *tx, snowflake id, struct guild *ret);
/* With its owner in it. Nobody is told. */
enum err guild_reveal(struct call *call, const struct guild *g);

/* --- the audit log -------------------------------------------------------------------- */

/* Action types of the interface. */
enum audit_action {
    AUDIT_GUILD_UPDATE = 1,
    AUDIT_CHANNEL_CREATE = 10,
    AUDIT_CHANNEL_UPDATE = 11,
    AUDIT_CHANNEL_DELETE = 12,
    AUDIT_OVERWRITE_CREATE = 13,
    AUDIT_OVERWRITE_UPDATE = 14,
    AUDIT_OVERWRITE_DELETE = 15,
    AUDIT_MEMBER_KICK = 20,
    AUDIT_MEMBER_PRUNE = 21,
    AUDIT_MEMBER_BAN_ADD = 22,
    AUDIT_MEMBER_BAN_REMOVE = 23,
    AUDIT_MEMBER_UPDATE = 24,
    AUDIT_MEMBER_ROLE_UPDATE = 25,
    AUDIT_MEMBER_MOVE = 26,
    AUDIT_MEMBER_DISCONNECT = 27,
    AUDIT_BOT_ADD = 28,
    AUDIT_ROLE_CREATE = 30,
    AUDIT_ROLE_UPDATE = 31,
    AUDIT_ROLE_DELETE = 32,
    AUDIT_INVITE_CREATE = 40,
    AUDIT_INVITE_DELETE = 42,
    AUDIT_WEBHOOK_CREATE = 50,
    AUDIT_WEBHOOK_UPDATE = 51,
    AUDIT_WEBHOOK_DELETE = 52,
    AUDIT_EMOJI_CREATE = 60,
    AUDIT_EMOJI_UPDATE = 61,
    AUDIT_EMOJI_DELETE = 62,
    AUDIT_STICKER_CREATE = 90,
    AUDIT_STICKER_UPDATE = 91,
    AUDIT_STICKER_DELETE = 92,
    AUDIT_MESSAGE_DELETE = 72,
    AUDIT_MESSAGE_BULK_DELETE = 73,
    AUDIT_MESSAGE_PIN = 74,
    AUDIT_MESSAGE_UNPIN = 75,
    AUDIT_INTEGRATION_CREATE = 80,
    AUDIT_INTEGRATION_UPDATE = 81,
    AUDIT_INTEGRATION_DELETE = 82,
    AUDIT_STAGE_CREATE = 83,
    AUDIT_STAGE_UPDATE = 84,
    AUDIT_STAGE_DELETE = 85,
    AUDIT_EVENT_CREATE = 100,
    AUDIT_EVENT_UPDATE = 101,
    AUDIT_EVENT_DELETE = 102,
    AUDIT_THREAD_CREATE = 110,
    AUDIT_THREAD_UPDATE = 111,
    AUDIT_THREAD_DELETE = 112,
    AUDIT_COMMAND_PERMISSIONS = 121,
    AUDIT_SOUND_CREATE = 130,
    AUDIT_SOUND_UPDATE = 131,
    AUDIT_SOUND_DELETE = 132,
    AUDIT_AUTOMOD_RULE_CREATE = 140,
    AUDIT_AUTOMOD_RULE_UPDATE = 141,
    AUDIT_AUTOMOD_RULE_DELETE = 142,
    AUDIT_AUTOMOD_BLOCK = 143,
    AUDIT_AUTOMOD_ALERT = 144,
    AUDIT_AUTOMOD_TIMEOUT = 145,
    AUDIT_AUTOMOD_QUARANTINE = 146,
    AUDIT_ONBOARDING_PROMPT_CREATE = 163,
    AUDIT_ONBOARDING_PROMPT_UPDATE = 164,
    AUDIT_ONBOARDING_PROMPT_DELETE = 165,
    AUDIT_ONBOARDING_CREATE = 166,
    AUDIT_ONBOARDING_UPDATE = 167,
    AUDIT_VOICE_STATUS_CREATE = 192,
    AUDIT_VOICE_STATUS_DELETE = 193,
    AUDIT_EVENT_EXCEPTION_CREATE = 200,
    AUDIT_EVENT_EXCEPTION_UPDATE = 201,
    AUDIT_EVENT_EXCEPTION_DELETE = 202,
};

struct audit_shown;
/* What entries with actions of this range are about; snowflakes, each once. */
struct list audit_targets(struct arena *arena, const struct audit_shown *log,
                          enum audit_action first, enum audit_action last);
/* Adds an object to one of the lists. */
void audit_show(struct arena *arena, struct list *texts, const struct type *type,
                const void *object);

/* Writes an entry with the call's X-Audit-Log-Reason and announces it. A reason
 * that is too long ends the call with a form error on "reason". */
enum err audit(struct call *call, snowflake guild_id, enum audit_action action, snowflake target);

/* What some actions tell besides. Clients read it without asking whether it is there:
 * overwrites tell id, type and role_name, deleted messages channel_id and count,
 * pinned ones channel_id and message_id, a prune its days and how many went, permissions of
 * commands application_id. */
struct audit_options {
    struct opt_id channel_id, message_id, id, application_id, event_exception_id;
    struct opt_str count, type, role_name, delete_member_days, members_removed;
    struct opt_str auto_moderation_rule_name, auto_moderation_rule_trigger_type;
    struct opt_str status;
};
/* What was changed; the values are JSON. Invites tell their code and limits. */
struct audit_change {
    struct str key;
    struct opt_str old_value, new_value;
};
/* Adds what a member was and is, as JSON; without text: there was none, or is none any more.
 * Nothing, when both are the same. */
void audit_add_change(struct call *call, struct list *changes, const char *key, struct str before,
                      struct str now);
/* The same of values; NULL: none. */
void audit_add_values(struct call *call, struct list *changes, const char *key,
                      const struct type *type, const void *before, const void *now);
/* Adds a change for each of the fields (ended by { 0 }) whose value differs. before: NULL if the
 * object is new; now: NULL if it was deleted. A value that is null counts as none. */
void audit_add_fields(struct call *call, struct list *changes, const struct field *fields,
                      const void *before, const void *now);
/* Writes the entry of an object that was created, changed or deleted, with these changes. */
enum err audit_object(struct call *call, snowflake guild_id, enum audit_action action,
                      snowflake target, const struct field *fields, const void *before,
                      const void *now);
/* The fields of a guild that the settings of several folders change. */
extern const struct field audited_guild[];
/* Writes a MEMBER_ROLE_UPDATE entry with the roles (snowflakes) that were added and removed. */
enum err audit_member_roles(struct call *call, snowflake guild_id, snowflake user_id,
                            const struct list *before, const struct list *now);
/* The same with both. options: may be NULL. */
enum err audit_with(struct call *call, snowflake guild_id, enum audit_action action,
                    snowflake target, const struct audit_options *options, struct list changes);

/* The same with a reason that the caller gave elsewhere. */
enum err audit_because(struct call *call, snowflake guild_id, enum audit_action action,
                       snowflake target, const struct audit_options *options, struct list changes,
                       struct opt_str reason);

/* The call's X-Audit-Log-Reason, for what keeps it elsewhere too. Up to version 9 the query's
 * "reason" counts, too. */
enum err audit_reason(struct call *call, struct opt_str *ret);

/* --- settings that other folders keep, features.c ------------------------------------- */

enum err guild_put_widget(struct tx *tx, snowflake id, bool enabled, struct opt_id channel_id);
extern const struct type type_vanity_code;
/* null: none. ERR_INVITE_CODE_INVALID: another guild has it. Nobody used it so far. */
enum err guild_put_vanity(struct tx *tx, snowflake id, struct opt_str code);
enum err guild_put_incidents(struct tx *tx, snowflake id, const struct guild_incidents *i);
/* GUILD_UPDATE with the guild as it is now. */
enum err guild_tell(struct call *call, snowflake id);
/* The same after a feature was given to it or taken; also when it is so already. */
enum err guild_turn_feature(struct call *call, snowflake id, const char *feature, bool on);
/* Without a call, for an import: the guild has it from now on. */
enum err guild_add_feature(struct tx *tx, snowflake id, const char *feature);

/* --- the whole of it, give.c ---------------------------------------------------------- */

/* To another member, who is a person: ERR_UNKNOWN_MEMBER, ERR_OWNER_IS_BOT,
 * ERR_ALREADY_OWNER. Announces it. */
enum err guild_give(struct call *call, const struct guild *g, snowflake user_id);
/* Ends a guild and announces it; what hangs on it goes in steps. */
enum err guild_end(struct call *call, snowflake id);

extern const struct domain guilds_domain, guild_mfa_domain, roles_domain;
extern const struct world_parts roles_world;
extern const struct world_parts guilds_world;

#endif
