/* channels.h - channels of guilds and private ones. */
#ifndef PLATFORM_CHANNELS_CHANNELS_H
#define PLATFORM_CHANNELS_CHANNELS_H

#include "model/guild.h"
#include "model/permissions/rights.h"
#include "platform/accounts/accounts.h"

/* ERR_UNKNOWN_CHANNEL. With overwrites; recipients are for channel_load_recipients. */
enum err channel_find(struct tx *tx, snowflake id, struct channel *ret);
/* The others of a private channel, as `viewer` sees it, and when something was last pinned. */
enum err channel_load_recipients(struct tx *tx, struct channel *c, snowflake viewer);
/* When something was last pinned in a channel; null: nothing is. */
enum err channel_load_pins_time(struct tx *tx, struct channel *c);
/* Only their ids (snowflakes), the longest-standing first. */
enum err channel_others(struct tx *tx, snowflake channel_id, snowflake viewer, struct list *ret);
/* A direct channel of two of whom one has blocked the other, or of two strangers: neither calls
 * nor what apps say for this person go through it. */
enum err channel_is_barred(struct tx *tx, const struct channel *c, snowflake user_id, bool *ret);
/* The same for the call's channel and caller: ERR_CANNOT_MESSAGE. */
enum err channel_check_barred(struct call *call);
/* For .admit: the path's channel is a direct one or a group. ERR_CHANNEL_TYPE. */
enum err channel_admit_private(struct call *call);
/* Somebody writes in a direct channel to friends, to members of a guild of theirs, to friends in
 * a game who take messages, and to those who answered; people and bots also if the person has
 * the bot's app. In other channels nothing is refused. ERR_CANNOT_MESSAGE,
 * ERR_NO_MUTUAL_GUILDS (bots), ERR_NO_GAME_FRIEND_DMS. */
enum err channel_check_writer(struct tx *tx, const struct channel *c, const struct caller *from);
bool channel_is_recipient(struct tx *tx, snowflake channel_id, snowflake user_id,
                          enum err *ret_error);

/* The channel of an id that came in a body, as if it had come in the path: sets the
 * call's target and rights. ERR_UNKNOWN_CHANNEL, ERR_MISSING_ACCESS. */
enum err channel_enter(struct call *call, snowflake id);
/* Foresees what that will ask, where it is known which guild the channel is in; else false. */
bool channel_home_prefetch(struct call *call, snowflake id);
/* Whether it was seen to be a channel of a guild. */
bool channel_home_known(snowflake id);

/* What a member may do in a channel of its guild, with its overwrites loaded. A thread's parent is
 * loaded from the store. */
enum err standing_rights_in(struct tx *tx, const struct standing *s, const struct channel *c,
                            uint64_t *ret);

/* Why somebody is refused who has none of these rights there, as standing_lacks says it. */
enum err standing_lacks_in(struct tx *tx, const struct standing *s, const struct channel *c,
                           uint64_t any);

/* Writes the private channels in somebody's list as an array, the newest first. There may be a
 * hundred thousand, so only a page of them is in memory; write puts one of them, which has its
 * recipients, into JSON. */
typedef void channel_writer(void *arg, const struct channel *c, struct json *out);
enum err user_channels_write(struct tx *tx, snowflake user_id, channel_writer *write, void *arg,
                             struct json *out);

/* All channels of a guild with their overwrites; threads that are not archived apart. */
enum err guild_channels(struct tx *tx, snowflake guild_id, struct list *ret_channels,
                        struct list *ret_threads);
/* Writes a new channel with its overwrites; announces nothing. */
enum err channel_insert(struct tx *tx, const struct channel *c);

/* The direct channel of two accounts, made when there is none. *ret_new says which.
 * A new one is closed for both. */
enum err direct_channel(struct tx *tx, snowflake a, snowflake b, struct channel *ret,
                        bool *ret_new);

/* Puts a private channel into somebody's list, with CHANNEL_CREATE to them, unless
 * it is there already. A message does it for everybody. */
enum err channel_open(struct call *call, const struct channel *c, snowflake user_id);
enum err channel_open_for_all(struct call *call, const struct channel *c);

/* Puts somebody into a group and tells everybody in it; *ret_new is false, and nothing
 * happens, when they are in it already. ERR_MAX_RECIPIENTS. by: who did it. */
enum err group_join(struct call *call, const struct channel *c, const struct user *user,
                    snowflake by, bool *ret_new);

/* --- slow_mode.c ---------------------------------------------------------------------- */

enum slow_kind { SLOW_MESSAGE, SLOW_THREAD };
struct slow_writer {
    const struct channel *channel;
    snowflake user_id;
    uint64_t rights; /* in the channel */
};
/* How long somebody still waits for the next of this kind; 0: not at all. */
enum err slow_mode_left(struct tx *tx, const struct slow_writer *who, enum slow_kind kind,
                        int64_t *ret_ms);
/* The same of the caller; bots never wait. */
enum err slow_mode_wait(struct call *call, const struct channel *c, enum slow_kind kind,
                        int64_t *ret_ms);
/* The caller does one of this kind now. ERR_SLOW_MODE: not yet. */
enum err slow_mode_pass(struct call *call, const struct channel *c, enum slow_kind kind);

/* What can be said about a channel when it is made or changed; which of it counts
 * depends on the channel's type. */
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
/* Writes all but the overwrites. */
enum err channel_save(struct tx *tx, const struct channel *c);

/* --- threads: what rights, messages and the gateway need of them; the rest is threads/ ---- */

enum { MAX_THREAD_MEMBERS = 1000 };

/* Which threads, with .member where the viewer is in them. */
enum thread_list { THREADS_OPEN_IN_GUILD, THREADS_OPEN, THREADS_ARCHIVED, THREADS_JOINED };
struct thread_page {
    enum thread_list list;
    snowflake of; /* the guild, or the channel they hang on */
    snowflake viewer, guild_id;
    int64_t type, limit; /* archived ones */
    int64_t before;      /* archived ones: microseconds; joined ones: an id */
};
/* The newest first: by when they were archived, joined and open ones by id. */
enum err threads_list(struct tx *tx, const struct thread_page *page, struct list *ret);

struct thread_member;
enum err thread_member_find(struct tx *tx, snowflake thread_id, snowflake user_id,
                            struct thread_member *ret, bool *ret_found);
/* By account, with no more than so many of those after an id. */
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
/* Takes somebody out of threads of a guild that were joined until then, so many at most. */
enum err thread_members_forget(struct tx *tx, snowflake guild_id, snowflake user_id, int64_t until,
                               int64_t limit, int64_t *ret_gone);
/* Sets .member of the open threads of a guild, which are in the order of their ids, or of one. */
enum err threads_load_own(struct tx *tx, snowflake guild_id, snowflake user_id,
                          struct list *threads);
enum err thread_load_own(struct tx *tx, snowflake user_id, struct channel *thread);

/* THREAD_DELETE to those who see it; its members must still be there. */
void emit_thread_gone(struct call *call, const struct channel *thread);

/* Whether a guild may have one more thread that is not archived. ERR_MAX_ACTIVE_THREADS. */
enum err thread_check_room(struct tx *tx, snowflake guild_id);

/* May a thread's messages be changed or reacted to: ERR_THREAD_ARCHIVED, ERR_THREAD_LOCKED. Of
 * other channels nothing is refused. */
enum err thread_check_open(const struct channel *c, uint64_t rights);

/* An open thread is archived when it has been quiet for as long as it says. To be said when
 * it is made, opened again, or its time changes. */
enum err thread_watch(struct call *call, const struct channel *thread);
/* It is archived, or will be within a minute if nobody says anything. */
bool thread_is_quiet(const struct channel *thread);

/* Whom an event about this channel is for: viewers in a guild, else its people. */
struct subject to_channel_viewers(const struct channel *c);

extern const struct domain access_domain;           /* resolvers and rights that all share */
extern const struct domain channels_domain;         /* of guilds, and what all share */
extern const struct domain private_channels_domain; /* direct ones and groups */
extern const struct world_parts private_channels_world;
extern const struct world_parts channels_world;

/* Does the first account have a relationship of this type (model/relationship.h) to the second? */
enum err account_has_relationship(struct tx *tx, snowflake user_id, snowflake target_id,
                                  int64_t type, bool *ret);

#endif
