/* internal.h - declarations that the files of channels/ share. */
#ifndef PLATFORM_CHANNELS_INTERNAL_H
#define PLATFORM_CHANNELS_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum {
    CHANNEL_BITRATE = 64000,
    STAGE_MAX_BITRATE = 64000,
    VOICE_MAX_USERS = 99,
    MAX_CHANNELS = 500,
    MAX_CHILDREN = 50,
    MAX_OVERWRITES = 1000,
    MAX_GUILD_OVERWRITES = 50000, /* maximum number of overwrites in all channels of a guild; about
                                   * 4 MiB of JSON */
    MAX_LOCKED = 2000, /* overwrites that one request may copy from categories (lock_permissions) */
    MAX_ACTIVE_THREADS = 1000, /* maximum number per guild */
    MAX_RECIPIENTS = 10,       /* maximum number of recipients of a group, including the caller */
    MAX_GROUPS = 10,
};

/* --- rows.c: SQL of channels ------------------------------------------------------------ */

enum err channel_find_without_overwrites(struct tx *tx, snowflake id, struct channel *ret);
enum err channel_read_overwrites(struct tx *tx, struct channel *c);
/* Lists up to 500 channels of a category, or threads of a channel (open threads first), without
 * overwrites. */
enum err channel_list_children(struct tx *tx, snowflake parent_id, struct list *ret);
/* Lists at most `limit` private channels of the user's channel list whose id is greater than
 * `after`, with their recipients. */
enum err user_private_channels_list_page(struct tx *tx, snowflake user_id, snowflake after,
                                         int64_t limit, struct list *ret);
enum err channel_count_children(struct tx *tx, snowflake parent_id, int64_t *ret);
/* Counts the channels of a guild, without threads. *ret_top is the highest channel position; -1 if
 * there is no channel. */
enum err guild_count_channels(struct tx *tx, snowflake guild_id, int64_t *ret_count,
                              int64_t *ret_top);

/* --- write_rows.c: writes channels and overwrites --------------------------------------- */

enum err channel_overwrite_write(struct tx *tx, snowflake channel_id, const struct overwrite *o);
enum err channel_overwrites_replace(struct tx *tx, snowflake channel_id,
                                    const struct list *overwrites);
/* Makes the overwrites of channel to_id equal to those of channel from_id. Writes only rows that
 * differ. */
enum err channel_overwrites_copy(struct tx *tx, snowflake from_id, snowflake to_id);

/* --- private/recipients.c: recipients of private channels ------------------------------- */

enum err channel_recipient_insert(struct tx *tx, snowflake channel_id, snowflake user_id,
                                  struct opt_str nick);
/* Inserts the initial recipients of a new private channel. If closed is true, the channel is hidden
 * from their channel lists. */
enum err channel_recipients_insert(struct tx *tx, snowflake channel_id, const struct list *users,
                                   bool closed);
/* *ret is the id of the direct channel of two users, or 0 if there is none. */
enum err direct_channel_find(struct tx *tx, snowflake a, snowflake b, snowflake *ret);
enum err direct_channel_insert(struct tx *tx, snowflake id, snowflake a, snowflake b, bool closed);
/* Reads the recipients of `channels`, which must be sorted by id and contain only channels of the
 * user's channel list. */
enum err user_private_channels_read_recipients(struct tx *tx, snowflake user_id,
                                               struct list *channels);
enum err channel_recipient_delete(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err channel_hide_from_recipient(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err user_count_group_channels(struct tx *tx, snowflake user_id, int64_t *ret);

/* --- schema.c ------------------------------------------------------------------------- */

struct channel_position_change {
    snowflake id;
    struct opt_int position;
    struct opt_id parent_id;
    struct opt_bool lock_permissions;
};
struct overwrite_edit {
    int64_t type;
    struct opt_id allow, deny; /* permission bits */
};
struct guild_channels_query {
    bool permissions;
};
struct channel_leave_query {
    bool silent;
};

extern const struct type channel_create_body, channel_edit_body, channel_moves_body, overwrite_body;
extern const struct schema channels_query_schema, leave_query_schema;

/* --- channel_edits.c: applying an edit to a channel of a guild ------------------------ */

/* Reports form errors: fields that the channel type does not allow, an unknown region, an invalid
 * parent. here is the path of the edit in the body, or NULL if the edit is the whole body. */
enum err channel_edit_validate(struct call *call, const struct json_path *here,
                               const struct channel_edit *in, const struct channel *c);
/* Applies an edit to a channel; unknown permission bits of overwrites are dropped. */
void channel_edit_apply(const struct channel_edit *in, struct channel *c);
/* Sets the missing types of overwrites: "role" if the guild has a role with the overwrite's id,
 * else "member". */
enum err channel_overwrites_infer_types(struct call *call, const struct list *wanted);
/* Checks whether a caller with the permissions `own` in the channel may replace the overwrites
 * `before` with `wanted`. */
enum err check_overwrites_permission(struct call *call, const struct list *wanted,
                                     const struct list *before, uint64_t own);
/* Returns ERR_MAX_GUILD_OVERWRITES if the guild has too many overwrites. Call it after writing
 * overwrites. of_channel: number of overwrites of the changed channel; coming: number of overwrites
 * that a job has yet to write. */
enum err check_guild_overwrite_limit(struct call *call, snowflake guild_id, size_t of_channel,
                                     int64_t coming);

/* --- channel_updates.c: CHANNEL_UPDATE events ------------------------------------------- */

/* Reads the channel again and emits CHANNEL_UPDATE to its viewers. */
enum err channel_emit_update(struct call *call, snowflake id);
/* Emits CHANNEL_UPDATE for many channels: the first in this transaction, the rest in a job. */
enum err channels_emit_updates(struct call *call, const struct list *ids);
extern const struct job_kind channel_updates_job;

/* --- forums.c ------------------------------------------------------------------------- */

enum { MAX_FORUM_TAGS = 20 };
/* Adds form errors for duplicate, unknown or too many tags, and for invalid emoji. */
enum err forum_edit_validate(struct call *call, const struct json_path *here,
                             const struct channel_edit *in, const struct channel *c);
/* Applies the forum fields of an edit to a channel; new tags get an id. */
void forum_edit_apply(const struct channel_edit *in, struct channel *c);
extern const struct type forum_tag_body;
enum err create_forum_tag(struct call *call);
enum err replace_forum_tag(struct call *call);
enum err delete_forum_tag(struct call *call);

/* --- category_sync.c ------------------------------------------------------------------ */

/* True if each changed overwrite gets an audit log entry of its own. If too many overwrites
 * changed, the result is false, and one audit log entry of the channel lists all of them. */
bool overwrites_need_separate_audit_entries(const struct list *before, const struct list *now);
enum err audit_log_record_overwrite_changes(struct call *call, const struct list *before,
                                            const struct list *now);
/* Fields of a channel that the audit log records. */
extern const struct field audited_channel[];
/* Copies a category's new overwrites to the channels that are synchronised with it: at once or, if
 * there are many, in a job. Call it after the category's overwrites were written and CHANNEL_UPDATE
 * was emitted. `was` is the category before the change; `now` is its number of overwrites after the
 * change. Returns ERR_MAX_GUILD_OVERWRITES if the guild would have too many overwrites. */
enum err category_copy_overwrites_to_channels(struct call *call, const struct channel *was,
                                              size_t now);
extern const struct job_kind category_sync_job;

/* --- handlers of routes -------------------------------------------------------------- */

enum err guild_insert_initial_channels(struct call *call, const struct created_guild *made);
enum err list_guild_channels(struct call *call);
enum err create_guild_channel(struct call *call);
enum err move_guild_channels(struct call *call);
enum err get_channel(struct call *call);
enum err schedule_storing_group_icon(struct call *call);
enum err check_modify_channel_permission(struct call *call);
enum err modify_channel(struct call *call);
enum err delete_or_leave_channel(struct call *call);
enum err put_overwrite(struct call *call);
enum err delete_overwrite(struct call *call);

/* --- private/groups.c ----------------------------------------------------------------- */

bool snowflake_list_contains(const struct list *ids, snowflake id);
/* Creates a group of the caller and the users `others` (snowflakes), and replies with the group.
 * Checks no permissions. nicks contains a struct string_pair (user id, nick) per nick. origin is
 * the direct channel from which the group is created, or 0. Returns ERR_MAX_RECIPIENTS or
 * ERR_MAX_GROUP_DMS. */
enum err create_group_channel(struct call *call, const struct list *others,
                              const struct list *nicks, snowflake origin);
struct group_recipient {
    const struct user *user;
    snowflake by; /* id of the user who adds .user to the group */
    struct opt_str nick;
};
/* Adds a user to a group, sets the user's nick, and emits the events to the recipients. */
enum err group_channel_add_recipient(struct call *call, const struct channel *c,
                                     const struct group_recipient *in, bool *ret_new);
/* Removes a user from a group. Creates a system message unless `silent` is true. Deletes the group
 * if it is empty afterwards. */
enum err group_channel_remove_user(struct call *call, const struct channel *c,
                                   const struct user *user, bool silent);

/* --- handlers of PATCH and DELETE /channels/{channel.id} for private channels ----------- */

/* Results of the earlier stages of PATCH /channels/{channel.id}, for the handler. */
struct channel_edit_results {
    struct opt_str icon;
    bool counted;
};

enum err modify_group_channel(struct call *call, const struct channel_edit_results *stages);
enum err leave_private_channel(struct call *call, bool silent);
extern const struct job_kind thread_archiving_job;

/* --- deletion.c ----------------------------------------------------------------------- */

enum err guild_channels_mark_as_deleted(struct call *call, snowflake guild_id);
extern const struct job_kind channel_deletion_job;
extern const struct deletion_rule channel_deletions[];

/* --- access.c ------------------------------------------------------------------------- */

/* Computes the permissions of a member in a channel, or in the guild if c is NULL, and records the
 * steps. */
enum err compute_member_permissions_with_trace(struct tx *tx, const struct member_access *s,
                                               const struct channel *c,
                                               struct permission_trace *trace, uint64_t *ret);

#endif
