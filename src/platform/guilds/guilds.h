/* guilds.h - public interface of guilds/: guilds, roles, audit log.
 *
 * The folder owns the tables guilds, roles and audit_log. It uses accounts/; members/ and channels/
 * are above it and are notified with hooks. Invariants: the @everyone role has the guild's id; a
 * guild or role that is being deleted is marked and hidden from lookups. Start with rows.c,
 * role_rows.c (SQL), routes.c and roles.c. */
#ifndef PLATFORM_GUILDS_GUILDS_H
#define PLATFORM_GUILDS_GUILDS_H

#include "model/guild.h"
#include "model/permissions/member_permissions.h"
#include "platform/accounts/accounts.h"

/* --- reading and writing guilds and roles -------------------------------------------- */

/* Reads a guild without its roles. Returns ERR_UNKNOWN_GUILD if the id is unknown. */
enum err guild_find(struct tx *tx, snowflake id, struct guild *ret);
enum err guild_read_roles(struct tx *tx, struct guild *g);
/* Returns ERR_UNKNOWN_GUILD unless the guild in the path is discoverable, so that non-members do
 * not learn that the guild exists. Use it as the field .visitors of a route row. */
enum err require_discoverable_guild(struct call *call);
/* Reads all lists (roles, emojis, stickers …) that the guild object in replies and events
 * contains. */
enum err guild_read_roles_emojis_and_other_lists(struct call *call, struct guild *g);
enum err guild_roles_list(struct tx *tx, snowflake guild_id, struct list *ret); /* struct role */
/* Finds a role of a guild. Returns ERR_UNKNOWN_ROLE if the guild does not have it. */
enum err role_find(struct tx *tx, snowflake guild_id, snowflake id, struct role *ret);
/* Inserts a role. Does not change the positions of other roles. */
enum err role_insert(struct tx *tx, const struct role *r);
enum err role_update(struct tx *tx, const struct role *r);
/* Moves every role except @everyone up by one position. Position 1 is free afterwards. */
enum err roles_shift_up_by_one_position(struct tx *tx, snowflake guild_id);
/* Deletes a role, also from its members and from overwrites. Roles above it move down by one
 * position. Emits no events; role_emit_delete does. */
enum err role_delete(struct call *call, const struct role *r);
enum err role_emit_delete(struct call *call, const struct role *r);

/* Deletes a role with the events. */
enum err role_delete_and_emit(struct call *call, const struct role *role);
/* Emits GUILD_ROLE_CREATE for an imported role if `created` is true, else GUILD_ROLE_UPDATE. */
enum err role_emit_imported(struct call *call, snowflake guild_id, snowflake id, bool created);

/* --- creating a guild in several transactions, hidden_guild.c --------------------------- */

/* Inserts a guild with its roles, hidden from users. The caller then inserts the channels, a few
 * per transaction, and calls guild_show_hidden_guild. If this does not happen within 10 minutes, a
 * job deletes the guild. */
enum err guild_insert_hidden(struct call *call, const struct guild *g, const struct role *roles,
                             size_t count);
/* Reads a guild that is still hidden, because it is being created, with its roles. Returns
 * ERR_UNAVAILABLE if the job has deleted it after the timeout. */
enum err guild_find_being_created(struct tx *tx, snowflake id, struct guild *ret);
/* Makes a hidden guild visible and adds its owner as a member. Emits no events. */
enum err guild_show_hidden_guild(struct call *call, const struct guild *g);

/* --- audit log entries --------------------------------------------------------------- */

/* Action types of the Discord API. */
enum audit_log_action {
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

struct audit_log_objects;
/* Lists the target ids (snowflakes, without duplicates) of those audit log entries whose action is
 * between `first` and `last`. */
struct list audit_log_list_target_ids_of_actions(struct arena *arena,
                                                 const struct audit_log_objects *log,
                                                 enum audit_log_action first,
                                                 enum audit_log_action last);
/* Encodes an object as JSON and appends it to `texts`, a list of an audit log reply. */
void audit_log_append_object(struct arena *arena, struct list *texts, const struct type *type,
                             const void *object);

/* Writes an audit log entry with the call's X-Audit-Log-Reason and emits the event. If the reason
 * is too long, the whole call fails with a form error at "reason". */
enum err audit_log_record_action(struct call *call, snowflake guild_id,
                                 enum audit_log_action action, snowflake target);

/* Options of an audit log entry, as in the Discord API. Which fields are set depends on the action:
 * overwrites have id, type and role_name; deleted messages channel_id and count; pins channel_id
 * and message_id; prunes the days and the number of members; command permissions application_id. */
struct audit_log_options {
    struct opt_id channel_id, message_id, id, application_id, event_exception_id;
    struct opt_str count, type, role_name, delete_member_days, members_removed;
    struct opt_str auto_moderation_rule_name, auto_moderation_rule_trigger_type;
    struct opt_str status;
};
/* A changed field with its JSON values before and after the change. */
struct audit_log_change {
    struct str key;
    struct opt_str old_value, new_value;
};
/* Adds a change of a field to an audit log entry. before and now are JSON; if they are equal,
 * adds nothing. before.p (now.p) is NULL if the field did not exist before (does not exist now). */
void audit_log_add_change_to_list(struct call *call, struct list *changes, const char *key,
                                  struct str before, struct str now);
/* Adds a change of a field to an audit log entry; before and now have the type `type`, or are NULL
 * if there is no value. */
void audit_log_add_typed_change_to_list(struct call *call, struct list *changes, const char *key,
                                        const struct type *type, const void *before,
                                        const void *now);
/* Adds a change for each field whose value differs (the array ends with { 0 }). before is NULL if
 * the object is new; now is NULL if it was deleted. Null and absent count as equal. */
void audit_log_add_changed_fields_to_list(struct call *call, struct list *changes,
                                          const struct field *fields, const void *before,
                                          const void *now);
/* Writes an audit log entry for an object that was created, changed or deleted. The entry contains
 * the changes of the fields in `fields`. */
enum err audit_log_record_object_change(struct call *call, snowflake guild_id,
                                        enum audit_log_action action, snowflake target,
                                        const struct field *fields, const void *before,
                                        const void *now);
/* Fields of a guild that the audit log records. It is shared, because several folders change
 * guilds. */
extern const struct field audited_guild[];
/* Writes the audit log entry MEMBER_ROLE_UPDATE with the roles (snowflakes) that were added and
 * removed. */
enum err audit_log_record_member_roles(struct call *call, snowflake guild_id, snowflake user_id,
                                       const struct list *before, const struct list *now);
/* Writes an audit log entry with options (may be NULL) and changes. */
enum err audit_log_record_changes(struct call *call, snowflake guild_id,
                                  enum audit_log_action action, snowflake target,
                                  const struct audit_log_options *options, struct list changes);

/* Writes an audit log entry with this reason instead of the one in the request's header. */
enum err audit_log_record_changes_with_reason(struct call *call, snowflake guild_id,
                                              enum audit_log_action action, snowflake target,
                                              const struct audit_log_options *options,
                                              struct list changes, struct opt_str reason);

/* Reads the call's X-Audit-Log-Reason or, up to API version 9, the query parameter "reason". */
enum err audit_log_parse_reason_of_call(struct call *call, struct opt_str *ret);

/* --- settings that other folders control, features.c ------------------------------------ */

enum err guild_update_widget_settings(struct tx *tx, snowflake id, bool enabled,
                                      struct opt_id channel_id);
extern const struct type type_vanity_code;
/* Sets the vanity code, or removes it if code is null; resets its use counter. Returns
 * ERR_INVITE_CODE_INVALID if another guild has the code. */
enum err guild_update_vanity_code(struct tx *tx, snowflake id, struct opt_str code);
enum err guild_update_incident_restrictions(struct tx *tx, snowflake id,
                                            const struct guild_incidents *i);
enum err guild_emit_update(struct call *call, snowflake id);
/* Adds or removes a feature. Emits GUILD_UPDATE in any case, even if the guild already had (or did
 * not have) the feature. */
enum err guild_set_feature_and_emit(struct call *call, snowflake id, const char *feature, bool on);
/* Adds a feature without an event, for the import of world files. */
enum err guild_add_feature_without_event(struct tx *tx, snowflake id, const char *feature);

/* --- transfer and deletion of guilds, transfer.c ---------------------------------------- */

/* Makes another member the owner of the guild and emits the events. Returns ERR_UNKNOWN_MEMBER,
 * ERR_OWNER_IS_BOT (a bot cannot own a guild) or ERR_ALREADY_OWNER. */
enum err guild_transfer_ownership(struct call *call, const struct guild *g, snowflake user_id);
/* Marks a guild as deleted and emits the events. A job deletes the dependent rows in steps. */
enum err guild_delete(struct call *call, snowflake id);

extern const struct domain guilds_domain, guild_mfa_domain, roles_domain;
extern const struct world_file_fields roles_world;
extern const struct world_file_fields guilds_world;

#endif
