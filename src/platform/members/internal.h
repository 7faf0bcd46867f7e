/* internal.h - declarations that the files of members/ share. */
#ifndef PLATFORM_MEMBERS_INTERNAL_H
#define PLATFORM_MEMBERS_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* Columns of `members m`, in the order that member_from_row expects. They must be the first columns
 * of a query. */
#define MEMBER_COLUMNS                                                                          \
    "m.guild_id, m.user_id, m.nick, m.avatar, m.banner, m.joined_at, m.premium_since, m.deaf, " \
    "m.mute, m.pending, m.timed_out_until, m.flags"
enum { MEMBER_COLUMN_COUNT = 12 };
/* Fills a member from a row, without the roles. */
void member_from_row(const struct rows *r, struct member *m);

/* Writes the member and the member's roles; emits no events. */
enum err member_update(struct tx *tx, const struct member *m);
/* Restores timeout, mute and deafen of a member who left and joins again, and deletes their stored
 * copy. */
enum err member_restore_sanctions(struct tx *tx, struct member *m);
/* Deletes a member with its pictures. Returns ERR_UNKNOWN_MEMBER if the user is not a member. */
enum err member_delete(struct call *call, snowflake guild_id, snowflake user_id);
/* Writes m's roles: inserts and deletes the rows of member_roles that differ. */
enum err member_write_roles(struct tx *tx, const struct member *m);

struct guild_ban {
    snowflake user_id;
    const struct user *user;
    struct opt_str reason;
};
/* Finds the ban of a user. Returns ERR_UNKNOWN_BAN if the user is not banned. */
enum err guild_ban_find(struct tx *tx, snowflake guild_id, snowflake user_id,
                        struct guild_ban *ret);
/* Lists bans ordered by user id: the last ones below `before` or, if `before` is 0, the first
 * ones above `after`. */
enum err guild_bans_list(struct tx *tx, snowflake guild_id, snowflake after, snowflake before,
                         int64_t limit, struct list *ret);
/* Inserts a ban. If the user is already banned, *ret_new is false and the existing ban is not
 * changed. */
enum err guild_ban_insert(struct tx *tx, snowflake guild_id, snowflake user_id,
                          struct opt_str reason, bool *ret_new);
enum err guild_ban_delete(struct tx *tx, snowflake guild_id, snowflake user_id);

/* --- schema.c ------------------------------------------------------------------------- */

struct members_page_query {
    snowflake after;
    int64_t limit;
};
struct member_search_request {
    struct str query;
    int64_t limit;
};
struct member_patch {
    struct opt_str nick;
    struct opt_list roles; /* snowflakes */
    struct opt_bool mute, deaf;
    struct opt_id channel_id;
    struct opt_int communication_disabled_until, flags;
};
struct current_member_patch {
    struct opt_str nick, bio;
    struct opt_image avatar, banner;
};
struct member_add_request {
    struct str access_token;
    struct opt_str nick;
    struct list roles;
    bool mute, deaf;
    struct opt_int flags;
};
struct bans_page_query {
    snowflake before, after;
    int64_t limit;
};
struct ban_request {
    struct opt_int delete_message_seconds, delete_message_days;
    struct opt_str reason;
};
/* Query parameters of bans up to API version 9. */
struct ban_query {
    struct opt_int delete_message_days, delete_message_days_old;
};
struct bulk_ban_request {
    struct list user_ids;
    int64_t delete_message_seconds;
};
struct bulk_ban_result {
    struct list banned_users, failed_users;
};

extern const struct schema member_list_query, member_search_query, ban_list_query, ban_query;
extern const struct type member_patch_body, current_member_patch_body, member_add_body, ban_body,
    bulk_ban_body;
extern const struct type type_ban, type_bans, bulk_ban_reply;

/* --- rules.c: permission checks between members ----------------------------------------- */

/* Returns ERR_MISSING_PERMISSIONS unless the caller ranks above the member. */
enum err require_rank_above_member(struct call *call, const struct member *m);
/* Checks whether the caller may change the flags of other members. */
enum err check_member_flags_permission(const struct call *call);
/* Checks whether the caller may assign or remove this role. Returns ERR_INVALID_ROLE for @everyone
 * and roles that apps manage, which cannot be assigned. */
enum err check_caller_may_assign_role(struct call *call, const struct role *role);
/* Calls check_caller_may_assign_role for each role that was added or removed between the two lists.
 */
enum err check_caller_may_assign_changed_roles(struct call *call, const struct list *from,
                                               const struct list *to);
struct list copy_ids_without_duplicates(struct arena *arena, const struct list *ids);

/* --- modify.c ------------------------------------------------------------------------- */

/* Adds the role of the path to a member or removes it, if the caller may do so. */
enum err member_set_role(struct call *call, struct member *m, bool give);

/* Applies AutoMod to the member's nickname. If AutoMod blocks it, writes the HTTP reply and sets
 * *ret_refused. */
enum err member_check_nick_with_automod(struct call *call, struct member *m, bool *ret_refused);

/* --- join_leave.c --------------------------------------------------------------------- */

/* Adds the owner of a new guild as its first member. Returns ERR_MAX_GUILDS if the owner is in too
 * many guilds. */
enum err member_insert_guild_owner(struct call *call, const struct created_guild *made);

/* --- account_updates.c ---------------------------------------------------------------- */

/* Emits GUILD_MEMBER_UPDATE for a changed account to all guilds of which the account is a
 * member. */
enum err account_update_emit_to_guilds(struct call *call, const struct user *user);
extern const struct job_kind
    account_emit_job; /* job that continues account_update_emit_to_guilds */

/* --- deletion.c ----------------------------------------------------------------------- */

extern const struct deletion_rule member_deletions[];

/* --- prune.c -------------------------------------------------------------------------- */

extern const struct schema prune_query;
extern const struct type prune_body, prune_reply;
extern const struct rate_limit limit_prune_count;
extern const struct job_kind member_prune_job;
enum err check_prune_permission(struct call *call);
enum err get_prune_count(struct call *call);
enum err schedule_counting_of_members_to_prune(struct call *call);
enum err begin_guild_prune(struct call *call);

/* --- role_members.c ------------------------------------------------------------------- */

extern const struct type role_counts_reply, role_members_reply, role_new_members_body,
    role_new_members_reply;
enum err add_role_members(struct call *call);
enum err get_role_member_counts(struct call *call);
enum err get_role_member_ids(struct call *call);

/* --- new_member_welcome.c ------------------------------------------------------------- */

enum err get_new_member_welcome(struct call *call);

/* --- handlers of routes -------------------------------------------------------------- */

enum err modify_member(struct call *call);
enum err schedule_storing_member_pictures(struct call *call);
enum err modify_current_member(struct call *call);
enum err schedule_storing_guild_profile_pictures(struct call *call);
enum err modify_guild_profile(struct call *call);
enum err add_member_role(struct call *call);
enum err remove_member_role(struct call *call);
enum err add_guild_member(struct call *call);

#endif
