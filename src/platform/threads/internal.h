/* internal.h - declarations shared by the files of threads/. */
#ifndef PLATFORM_THREADS_INTERNAL_H
#define PLATFORM_THREADS_INTERNAL_H

#include "api/hooks.h"
#include "model/fields/ids.h"
#include "model/thread.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/messages/message_body.h"
#include "platform/threads/threads.h"

enum { MAX_APPLIED_TAGS = 5, MAX_ADDED_BY_ROLE = 250 };

/* --- schema.c ------------------------------------------------------------------------- */

struct thread_create_body {
    struct str name;
    struct opt_int type, auto_archive_duration, rate_limit_per_user;
    struct opt_bool invitable;
    struct opt_list applied_tags;
    struct opt_object message; /* struct message_body of a forum post */
};
struct thread_settings {
    struct opt_int flags;
    struct opt_bool muted;
    struct opt_object mute_config;
};
struct thread_list_reply {
    struct list threads, members;
    bool has_more;
};
struct archived_threads_query {
    struct opt_int before;
    int64_t limit;
};
struct joined_threads_query {
    struct opt_id before;
    int64_t limit;
};
struct thread_members_query {
    bool with_member;
    struct opt_id after;
    int64_t limit;
};

extern const struct type thread_draft_body, message_thread_body, thread_settings_body;
extern const struct type thread_list_type;
extern const struct schema archived_query_schema, joined_query_schema, thread_members_query_schema;

/* --- membership.c: thread members ----------------------------------------------------- */

/* Reads the guild member of a thread member into .member. Returns ERR_UNKNOWN_MEMBER if the user is
 * not in the guild. */
enum err thread_member_read_guild_member(struct call *call, snowflake guild_id,
                                         struct thread_member *m);
/* Returns ERR_CHANNEL_TYPE if the call's channel is not a thread. */
enum err check_channel_is_thread(const struct call *call);
/* Adds guild members to a thread and emits the events. Skips users who are already thread members.
 * delivered_to is true if the users have already received THREAD_CREATE; otherwise it is emitted to
 * them. May return ERR_MAX_THREAD_MEMBERS. */
enum err thread_add_members(struct call *call, const struct channel *thread, const struct list *ids,
                            int64_t flags, bool delivered_to);
enum err thread_remove_member(struct call *call, const struct channel *thread, snowflake user_id,
                              bool *ret_found);
enum err read_whether_user_can_view_parent(struct call *call, const struct channel *thread,
                                           snowflake user_id, bool *ret);
/* Emits THREAD_MEMBER_UPDATE to each member of a thread that was unarchived, with the member's
 * settings for the thread. */
enum err emit_thread_member_updates(struct call *call, const struct channel *thread);
enum err thread_add_author_and_mentioned_users(struct call *call,
                                               const struct thread_message_insertion *coming);
enum err leave_threads_of_guild(struct call *call, const struct member_leaving_guild *leave);
extern const struct job_kind thread_leave_job;

/* --- handlers ------------------------------------------------------------------------- */

enum err validate_thread_create_request(struct call *call);
enum err create_thread(struct call *call);
enum err create_message_thread(struct call *call);
enum err schedule_storing_forum_post_uploads(struct call *call,
                                             const struct thread_create_body *in);
enum err create_post_in_forum(struct call *call);
/* Checks whether the caller (permissions perms) may change the tags of a forum post from `before`
 * to `tags`. */
enum err check_tag_change_permission(struct call *call, const struct channel *forum,
                                     const struct list *tags, const struct list *before,
                                     uint64_t perms);
/* If the forum requires a tag, checks that the post has one. May return ERR_TAG_REQUIRED or
 * ERR_NO_FREE_TAGS. */
enum err check_post_has_required_tag(const struct channel *forum, const struct list *tags,
                                     uint64_t perms);
/* Adds the caller as the first member of the thread and reads the thread again. */
enum err add_thread_creator(struct call *call, struct channel *thread);

/* Returns ERR_CHANNEL_TYPE or ERR_DM_CHANNEL if a channel of this type cannot have threads. */
enum err check_channel_can_have_threads(const struct channel *c);
enum err list_active_threads(struct call *call);
enum err list_channel_threads(struct call *call);
enum err list_public_archived_threads(struct call *call);
enum err list_private_archived_threads(struct call *call);
enum err list_joined_archived_threads(struct call *call);

enum err list_thread_members(struct call *call);
enum err get_thread_member(struct call *call);
enum err add_thread_member(struct call *call);
enum err join_thread(struct call *call);
enum err remove_thread_member(struct call *call);
enum err modify_thread_settings(struct call *call);

enum err check_modify_thread_permission(struct call *call, const struct channel *c);
enum err modify_thread(struct call *call, const struct channel *thread);
enum err delete_thread(struct call *call, const struct channel *c);
/* Returns the audit log changes of a thread. before is NULL for a new thread. */
struct list list_thread_changes_for_audit_log(struct call *call, const struct channel *before,
                                              const struct channel *now);

/* --- search.c ------------------------------------------------------------------------- */

extern const struct schema thread_search_schema;
extern const struct type thread_search_type;
enum err search_threads(struct call *call);

/* --- post_data.c ---------------------------------------------------------------------- */

extern const struct type post_data_body, post_data_reply;
enum err get_post_data(struct call *call);

/* --- lists.c: threads to which audit log entries refer -------------------------------- */

enum err audit_log_reply_add_threads(struct call *call, struct audit_log_objects *log);

#endif
