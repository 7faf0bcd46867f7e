/* channels.h - public interface of channels/: guild channels, threads, direct messages and groups.
 *
 * The folder owns channels, overwrites, recipients, thread members and slow mode, and resolves
 * guild, channel, role and member of a path (access.c). It uses accounts/, guilds/, members/ and
 * emojis/. Invariants: a channel never changes its guild; a thread has its parent's overwrites.
 * Start with rows.c (SQL), access.c (permissions), channel_routes.c and guild_channels.c (routes).
 */
#ifndef PLATFORM_CHANNELS_CHANNELS_H
#define PLATFORM_CHANNELS_CHANNELS_H

#include "model/guild.h"
#include "model/permissions/member_permissions.h"
#include "platform/accounts/accounts.h"

/* Reads a channel with overwrites, without recipients. Returns ERR_UNKNOWN_CHANNEL if the id is
 * unknown. */
enum err channel_find(struct tx *tx, snowflake id, struct channel *ret);
/* Reads the recipients except `viewer`, and the time of the last pin, of a private channel. */
enum err channel_read_recipients_and_last_pin_time(struct tx *tx, struct channel *c,
                                                   snowflake viewer);
/* Reads the time of the channel's last pin; null if no message is pinned. */
enum err channel_read_last_pin_time(struct tx *tx, struct channel *c);
/* Lists the user ids of the recipients except `viewer`, in the order in which they joined. */
enum err channel_list_other_recipients(struct tx *tx, snowflake channel_id, snowflake viewer,
                                       struct list *ret);
/* Returns an error unless the caller may read the history of the request's channel. Use it as the
 * field .admit of a route row. */
enum err require_read_message_history(struct call *call);
/* *ret is true if the user may neither write nor call in this direct channel: one of its two users
 * blocked the other, or they have no connection (friends, common guild). */
enum err direct_channel_write_is_refused(struct tx *tx, const struct channel *c, snowflake user_id,
                                         bool *ret);
/* Returns ERR_CANNOT_MESSAGE if the caller may not write in the call's direct channel. */
enum err require_direct_channel_writable(struct call *call);
/* Returns ERR_CHANNEL_TYPE unless the channel in the path is a direct channel or a group. Use it as
 * the field .admit of a route row. */
enum err require_private_channel(struct call *call);
/* Checks whether the caller may write in a direct channel. Allowed receivers: friends, members of a
 * common guild, game friends who accept messages, users who have replied to the caller, and,
 * between a bot and a user, users who installed the bot's app. Returns ERR_CANNOT_MESSAGE,
 * ERR_NO_MUTUAL_GUILDS (for bots) or ERR_NO_GAME_FRIEND_DMS; always OK for other channel types. */
enum err check_caller_may_write_in_direct_channel(struct tx *tx, const struct channel *c,
                                                  const struct caller *from);
bool user_is_channel_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                               enum err *ret_error);

/* Resolves a channel id of a request body as if it were in the path: sets the call's target channel
 * and the caller's permissions in it. Returns ERR_UNKNOWN_CHANNEL or ERR_MISSING_ACCESS. */
enum err resolve_channel_by_id(struct call *call, snowflake id);

/* Computes the permissions of a member in a channel of the guild. The overwrites of `c` must have
 * been read. If it is a thread, the parent channel is read from the store. */
enum err member_permissions_in_channel(struct tx *tx, const struct member_access *s,
                                       const struct channel *c, uint64_t *ret);

/* --- permission_explanation.c --------------------------------------------------------- */

struct explained_permission_step {
    struct str text;
    bool has; /* whether the member has the permission after this step of the computation */
};
struct permission_explanation {
    struct list steps; /* struct explained_permission_step */
    uint64_t permissions;
    bool allowed;
    struct str cause; /* if the permission is denied: the deciding step, and how to change it */
};
/* Explains step by step whether a member has a permission in a channel, or in the whole guild if c
 * is NULL. The result is always that of member_permissions_in_channel. */
enum err explain_permission(struct tx *tx, const struct member_access *s, const struct channel *c,
                            unsigned permission_bit, struct permission_explanation *ret);
/* Listener of the hook call_refused. Explains which permission is missing, in which channel, and
 * why. */
enum err explain_access_refusal(struct call *call, const struct call_refusal_cause *refusal);

/* Returns the error for a member who needs one of the permissions `any` in the channel and has none
 * of them. */
enum err permission_error_in_channel(struct tx *tx, const struct member_access *s,
                                     const struct channel *c, uint64_t any);

/* Writes the user's private channels as a JSON array, latest message first. A user may have
 * 100,000, so only one page of channels is in memory. `write` encodes one channel with its
 * recipients. */
typedef void channel_json_writer(void *arg, const struct channel *c, struct json_writer *out);
enum err write_user_private_channels_json(struct tx *tx, snowflake user_id,
                                          channel_json_writer *write, void *arg,
                                          struct json_writer *out);

/* Lists all channels of a guild with their overwrites, and its open threads in ret_threads. */
enum err guild_channels_list(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                             struct list *ret_threads);
/* Inserts a channel with its overwrites; emits no events. */
enum err channel_insert(struct tx *tx, const struct channel *c);

/* Finds or creates the direct channel of two accounts. *ret_new is true if it was created. A new
 * channel appears in a user's channel list only after private_channel_show_in_list. */
enum err direct_channel_find_or_create(struct tx *tx, snowflake a, snowflake b, struct channel *ret,
                                       bool *ret_new);

/* Emits the create event (if `created` is true) or the update event of an imported channel. */
enum err channel_emit_imported(struct call *call, snowflake id, bool created);
/* Deletes a guild channel that is no thread, with its threads and the events. Checks no
 * permissions. */
enum err guild_channel_delete(struct call *call, const struct channel *c);

/* Adds a private channel to a user's channel list and emits CHANNEL_CREATE to the user, unless the
 * channel is in the list already. private_channel_show_to_recipients does this for all recipients.
 */
enum err private_channel_show_in_list(struct call *call, const struct channel *c,
                                      snowflake user_id);
enum err private_channel_show_to_recipients(struct call *call, const struct channel *c);

/* Adds `user` to a group on behalf of the user `by` and emits the events to the recipients. If the
 * user is already in the group, nothing changes and *ret_new is false. Returns ERR_MAX_RECIPIENTS
 * if the group is full. */
enum err group_channel_add_user(struct call *call, const struct channel *c, const struct user *user,
                                snowflake by, bool *ret_new);

/* --- slow_mode.c ---------------------------------------------------------------------- */

enum slow_mode_kind { SLOW_MESSAGE, SLOW_THREAD };
struct slow_mode_author {
    const struct channel *channel;
    snowflake user_id;
    uint64_t permissions; /* permissions of the writer in the channel */
};
/* *ret_ms is the number of milliseconds until slow mode allows the writer's next message (or
 * thread, depending on kind); 0 if allowed now. */
enum err slow_mode_remaining_ms(struct tx *tx, const struct slow_mode_author *writer,
                                enum slow_mode_kind kind, int64_t *ret_ms);
/* *ret_ms is the time until slow mode allows the caller's next message; always 0 for bots. */
enum err slow_mode_remaining_for_caller(struct call *call, const struct channel *c,
                                        enum slow_mode_kind kind, int64_t *ret_ms);
/* Records that the caller writes a message or starts a thread now. Returns ERR_SLOW_MODE if slow
 * mode does not allow it yet. */
enum err slow_mode_record_message(struct call *call, const struct channel *c,
                                  enum slow_mode_kind kind);

/* Body of routes that create or change a channel. Which fields apply depends on the channel
 * type. */
struct channel_edit {
    struct opt_str name, topic, rtc_region, default_tag_setting;
    struct opt_int type, position, bitrate, user_limit, rate_limit_per_user, video_quality_mode,
        default_auto_archive_duration, auto_archive_duration, flags,
        default_thread_rate_limit_per_user, default_sort_order, default_forum_layout;
    struct opt_id parent_id, owner;
    struct opt_bool nsfw, archived, locked, invitable;
    struct opt_list permission_overwrites, available_tags, applied_tags;
    struct opt_object default_reaction_emoji;
    struct opt_image icon;
};
/* Writes all columns of a channel, but not its overwrites. */
enum err channel_update(struct tx *tx, const struct channel *c);

/* --- thread functions that permissions, messages/ and the gateway need; see also threads/ --- */

enum { MAX_THREAD_MEMBERS = 1000 };

/* Kinds of thread lists. In the results, .member is set for each thread that the viewer has
 * joined. */
enum thread_list_kind { THREADS_OPEN_IN_GUILD, THREADS_OPEN, THREADS_ARCHIVED, THREADS_JOINED };
struct thread_list_query {
    enum thread_list_kind list;
    snowflake of; /* id of the guild (THREADS_OPEN_IN_GUILD), else of the parent channel */
    snowflake viewer, guild_id;
    int64_t type, limit; /* for archived threads only: type of the threads, maximum number */
    int64_t before; /* lists threads before this time (archived, in microseconds) or id (joined) */
};
/* Lists threads, newest first: archived threads by archive time, joined and open ones by id. */
enum err threads_list(struct tx *tx, const struct thread_list_query *page, struct list *ret);

struct thread_member;
enum err thread_member_find(struct tx *tx, snowflake thread_id, snowflake user_id,
                            struct thread_member *ret, bool *ret_found);
/* Lists at most `limit` members of a thread after user id `after`, ordered by user id. */
enum err thread_members_list(struct tx *tx, snowflake thread_id, snowflake after, int64_t limit,
                             struct list *ret);
enum err thread_member_ids_list(struct tx *tx, snowflake thread_id, struct list *ret);
enum err thread_count_members(struct tx *tx, snowflake thread_id, int64_t *ret);
enum err thread_member_insert(struct tx *tx, const struct channel *thread, snowflake user_id,
                              int64_t flags, int64_t joined_at, bool *ret_new);
enum err thread_member_delete(struct tx *tx, snowflake thread_id, snowflake user_id,
                              bool *ret_found);
enum err thread_member_read_mute_settings(struct tx *tx, struct thread_member *m);
enum err thread_member_update(struct tx *tx, const struct thread_member *m);
enum err thread_member_set_flags(struct tx *tx, const struct thread_member *m, int64_t flags);
/* Deletes at most `limit` thread memberships of a user in a guild, only those that began at or
 * before the time `until`. */
enum err thread_members_delete_of_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                       int64_t until, int64_t limit, int64_t *ret_gone);
/* Reads the user's membership of threads into their field .member.
 * open_threads_read_membership_of_user takes all open threads of a guild, sorted by id. */
enum err open_threads_read_membership_of_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                              struct list *threads);
enum err thread_read_membership_of_user(struct tx *tx, snowflake user_id, struct channel *thread);

/* Emits THREAD_DELETE to all viewers; call it before the thread's members are deleted. */
void emit_thread_delete(struct call *call, const struct channel *thread);

/* Returns ERR_MAX_ACTIVE_THREADS if the guild has the maximum number of open threads. */
enum err check_active_thread_limit(struct tx *tx, snowflake guild_id);

/* Checks whether messages of a thread may be edited and get reactions. Returns ERR_THREAD_ARCHIVED
 * or ERR_THREAD_LOCKED. Always returns OK for channels that are not threads. */
enum err check_thread_is_open(const struct channel *c, uint64_t perms);

/* Schedules the automatic archiving of an open thread. Call it when the thread is created or
 * unarchived, or when its auto-archive duration changes. */
enum err thread_schedule_archiving(struct call *call, const struct channel *thread);
/* True if the thread is archived, or will be archived within a minute if nobody writes. */
bool thread_is_nearly_archived(const struct channel *thread);

/* Returns the audience of events about a channel: members who can view the guild channel, or the
 * recipients of the private channel. */
struct audience audience_of_channel(const struct channel *c);

extern const struct domain access_domain;   /* path resolvers and permission checks of routes */
extern const struct domain channels_domain; /* routes of guild channels, and of all channel types */
extern const struct domain private_channels_domain; /* routes of direct channels and groups */
extern const struct world_file_fields private_channels_world;
extern const struct world_file_fields channels_world;

/* *ret is true if user_id has a relationship of this type (model/relationship.h) to target_id. */
enum err account_has_relationship(struct tx *tx, snowflake user_id, snowflake target_id,
                                  int64_t type, bool *ret);

#endif
