/* channels.h - public interface of channels/: guild channels, threads, direct messages and groups.
 *
 * The folder owns channels, overwrites, recipients, thread members and slow mode, and resolves
 * guild, channel, role and member of a path (access.c). It uses accounts/, guilds/, members/ and
 * emojis/. Invariants: a channel never changes its guild; a thread has its parent's overwrites.
 * Start with rows.c (SQL), access.c (permissions), changes.c and guild_channels.c (routes). */
#ifndef PLATFORM_CHANNELS_CHANNELS_H
#define PLATFORM_CHANNELS_CHANNELS_H

#include "model/guild.h"
#include "model/permissions/rights.h"
#include "platform/accounts/accounts.h"

/* ERR_UNKNOWN_CHANNEL. Includes overwrites; channel_load_recipients adds the recipients. */
enum err channel_find(struct tx *tx, snowflake id, struct channel *ret);
/* Adds the recipients other than `viewer` and the time of the last pin to a private channel. */
enum err channel_load_recipients(struct tx *tx, struct channel *c, snowflake viewer);
/* Sets the time of the last pin; null if nothing is pinned. */
enum err channel_load_pins_time(struct tx *tx, struct channel *c);
/* Ids (snowflakes) of the recipients other than `viewer`, earliest joined first. */
enum err channel_others(struct tx *tx, snowflake channel_id, snowflake viewer, struct list *ret);
/* *ret is true for a direct channel in which user_id may not write to the other side: one of them
 * blocked the other, or they have nothing in common. Calls and app messages are refused too. */
enum err channel_is_barred(struct tx *tx, const struct channel *c, snowflake user_id, bool *ret);
/* Same for the call's channel and caller: ERR_CANNOT_MESSAGE. */
enum err channel_check_barred(struct call *call);
/* For .admit: the channel in the path must be a direct channel or a group. ERR_CHANNEL_TYPE. */
enum err channel_admit_private(struct call *call);
/* Checks whether the caller may write in a direct channel: to friends, members of a common guild,
 * game friends who accept messages, users who have answered, and between a bot and a user who
 * installed its app. Other channels always pass. ERR_CANNOT_MESSAGE, ERR_NO_MUTUAL_GUILDS (bots),
 * ERR_NO_GAME_FRIEND_DMS. */
enum err channel_check_writer(struct tx *tx, const struct channel *c, const struct caller *from);
bool channel_is_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                          enum err *ret_error);

/* Resolves a channel id from a body as if it came from the path: sets the call's target and
 * permissions. ERR_UNKNOWN_CHANNEL, ERR_MISSING_ACCESS. */
enum err channel_enter(struct call *call, snowflake id);
/* Prefetches what channel_enter reads, if the channel's guild is cached; else returns false. */
bool channel_home_prefetch(struct call *call, snowflake id);
/* True if the cache knows the guild of this channel. */
bool channel_home_known(snowflake id);

/* The permissions of a member in a channel of its guild; the overwrites must be loaded. For a
 * thread, the parent is read from the store. */
enum err standing_rights_in(struct tx *tx, const struct standing *s, const struct channel *c,
                            uint64_t *ret);

/* The error for a member who has none of these permissions in the channel; see standing_lacks. */
enum err standing_lacks_in(struct tx *tx, const struct standing *s, const struct channel *c,
                           uint64_t any);

/* Writes the user's private channels as a JSON array, latest message first. There may be 100,000,
 * so only one page is in memory; `write` encodes one channel with its recipients. */
typedef void channel_writer(void *arg, const struct channel *c, struct json *out);
enum err user_channels_write(struct tx *tx, snowflake user_id, channel_writer *write, void *arg,
                             struct json *out);

/* All channels of a guild with their overwrites; unarchived threads go to ret_threads. */
enum err guild_channels(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                        struct list *ret_threads);
/* Inserts a channel with its overwrites; sends no events. */
enum err channel_insert(struct tx *tx, const struct channel *c);

/* Finds or creates the direct channel of two accounts. *ret_new is true if it was created; a new
 * channel is hidden from both users' lists until channel_open. */
enum err direct_channel(struct tx *tx, snowflake a, snowflake b, struct channel *ret,
                        bool *ret_new);

/* Adds a private channel to a user's channel list and sends CHANNEL_CREATE to the user, unless it
 * is listed. A message opens the channel for all recipients. */
enum err channel_open(struct call *call, const struct channel *c, snowflake user_id);
enum err channel_open_for_all(struct call *call, const struct channel *c);

/* Adds a user to a group and sends the events to its recipients. *ret_new is false, and nothing
 * changes, if the user is already in it. ERR_MAX_RECIPIENTS. by: the user who added them. */
enum err group_join(struct call *call, const struct channel *c, const struct user *user,
                    snowflake by, bool *ret_new);

/* --- slow_mode.c ---------------------------------------------------------------------- */

enum slow_kind { SLOW_MESSAGE, SLOW_THREAD };
struct slow_writer {
    const struct channel *channel;
    snowflake user_id;
    uint64_t rights; /* in the channel */
};
/* Remaining slow mode wait of a writer, in milliseconds; 0: none. */
enum err slow_mode_left(struct tx *tx, const struct slow_writer *who, enum slow_kind kind,
                        int64_t *ret_ms);
/* Same for the caller; bots never wait. */
enum err slow_mode_wait(struct call *call, const struct channel *c, enum slow_kind kind,
                        int64_t *ret_ms);
/* Records that the caller writes or starts a thread now. ERR_SLOW_MODE if the wait is not over. */
enum err slow_mode_pass(struct call *call, const struct channel *c, enum slow_kind kind);

/* Body of routes that create or change a channel; the channel type decides which fields apply. */
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
/* Writes everything but the overwrites. */
enum err channel_save(struct tx *tx, const struct channel *c);

/* --- threads: shared with permissions, messages and the gateway; the rest is in threads/ ---- */

enum { MAX_THREAD_MEMBERS = 1000 };

/* Selects threads; .member is set if the viewer is in the thread. */
enum thread_list { THREADS_OPEN_IN_GUILD, THREADS_OPEN, THREADS_ARCHIVED, THREADS_JOINED };
struct thread_page {
    enum thread_list list;
    snowflake of; /* guild id or parent channel id */
    snowflake viewer, guild_id;
    int64_t type, limit; /* archived threads only */
    int64_t before;      /* archived: microseconds; joined: an id */
};
/* Newest first: archived threads by archive time, joined and open ones by id. */
enum err threads_list(struct tx *tx, const struct thread_page *page, struct list *ret);

struct thread_member;
enum err thread_member_find(struct tx *tx, snowflake thread_id, snowflake user_id,
                            struct thread_member *ret, bool *ret_found);
/* Ordered by user id, starting after `after`, at most `limit`. */
enum err thread_members(struct tx *tx, snowflake thread_id, snowflake after, int64_t limit,
                        struct list *ret);
enum err thread_member_ids(struct tx *tx, snowflake thread_id, struct list *ret);
enum err thread_count_members(struct tx *tx, snowflake thread_id, int64_t *ret);
enum err thread_member_insert(struct tx *tx, const struct channel *thread, snowflake user_id,
                              int64_t flags, bool *ret_new);
enum err thread_member_delete(struct tx *tx, snowflake thread_id, snowflake user_id,
                              bool *ret_found);
enum err thread_member_load_mute(struct tx *tx, struct thread_member *m);
enum err thread_member_save(struct tx *tx, const struct thread_member *m);
enum err thread_member_set_flags(struct tx *tx, const struct thread_member *m, int64_t flags);
/* Removes a user from threads of a guild that were joined until `until`, at most `limit`. */
enum err thread_members_forget(struct tx *tx, snowflake guild_id, snowflake user_id, int64_t until,
                               int64_t limit, int64_t *ret_gone);
/* Sets .member of all open threads of a guild, which must be sorted by id, or of one thread. */
enum err threads_load_own(struct tx *tx, snowflake guild_id, snowflake user_id,
                          struct list *threads);
enum err thread_load_own(struct tx *tx, snowflake user_id, struct channel *thread);

/* Sends THREAD_DELETE to all viewers; call it before the thread's members are deleted. */
void emit_thread_gone(struct call *call, const struct channel *thread);

/* ERR_MAX_ACTIVE_THREADS if the guild has the maximum number of open threads. */
enum err thread_check_room(struct tx *tx, snowflake guild_id);

/* Checks whether messages of a thread may be changed or reacted to: ERR_THREAD_ARCHIVED,
 * ERR_THREAD_LOCKED. Other channels always pass. */
enum err thread_check_open(const struct channel *c, uint64_t rights);

/* Schedules the automatic archiving of an open thread. Call it when the thread is created or
 * unarchived, or when its auto-archive duration changes. */
enum err thread_watch(struct call *call, const struct channel *thread);
/* True if the thread is archived, or will be within a minute unless someone writes. */
bool thread_is_quiet(const struct channel *thread);

/* Recipients of an event about this channel: viewers in a guild, else the channel's recipients. */
struct subject to_channel_viewers(const struct channel *c);

extern const struct domain access_domain;           /* path resolvers, permissions */
extern const struct domain channels_domain;         /* guild channels, shared routes */
extern const struct domain private_channels_domain; /* direct messages and groups */
extern const struct world_parts private_channels_world;
extern const struct world_parts channels_world;

/* *ret: the first account has a relationship of this type (model/relationship.h) to the second. */
enum err account_has_relationship(struct tx *tx, snowflake user_id, snowflake target_id,
                                  int64_t type, bool *ret);

#endif
