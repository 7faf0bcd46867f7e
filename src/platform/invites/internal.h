/* internal.h - declarations shared by the files of invites/. */
#ifndef PLATFORM_INVITES_INTERNAL_H
#define PLATFORM_INVITES_INTERNAL_H

#include "api/hooks.h"
#include "platform/guilds/guilds.h"
#include "platform/invites/invites.h"

enum { MOST_INVITES = 1000 };

/* --- rows.c: SQL; the functions ignore expired invites -------------------------------- */

enum err invites_list_of_guild(struct tx *tx, snowflake guild_id, struct list *ret);
enum err invites_list_of_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err friend_invites_list_of_user(struct tx *tx, snowflake user_id, struct list *ret);
/* Finds an existing invite with the same properties, which can be returned instead of a new one. */
enum err invite_find_equivalent(struct tx *tx, const struct invite *like, struct invite *ret,
                                bool *ret_found);
/* Inserts an invite with a new code. Also deletes expired invites of the same guild, group or user.
 * Returns ERR_MAX_INVITES if too many remain. */
enum err invite_insert(struct tx *tx, struct invite *invite);
enum err invite_delete(struct tx *tx, struct str code);
/* Increments the use count of an invite. Returns ERR_UNKNOWN_INVITE if the invite has reached its
 * maximum number of uses. */
enum err invite_increment_use_count(struct tx *tx, struct invite *invite);
/* Reads the objects to which an invite refers: inviter, guild, channel, roles and target. */
enum err invite_read_referenced_objects(struct tx *tx, struct invite *invite);

/* --- schema.c ------------------------------------------------------------------------- */

struct invite_create_request {
    int64_t max_age, max_uses;
    bool temporary, unique;
    struct opt_int target_type;
    struct opt_id target_user_id, target_application_id;
    struct list role_ids; /* snowflakes */
    int64_t flags;
};
struct friend_invite_create_request {
    int64_t max_age, max_uses;
};
struct invite_query {
    bool with_counts;
    struct opt_id guild_scheduled_event_id;
};
extern const struct type invite_body, friend_invite_body;
extern const struct schema invite_query_schema;

/* --- rules.c -------------------------------------------------------------------------- */

/* Returns true if this member could assign the role now. */
bool member_can_grant_invite_role(const struct member_access *s, const struct role *role);
/* Returns true if a member may see the invite's code: the invite's creator, and members who could
 * assign all roles that the invite grants. */
bool member_can_view_invite(const struct invite *invite, const struct member_access *viewer);
/* Lists the accounts and roles that may see the code of an invite that grants roles: the invite's
 * creator, the guild's owner, and every role above the invite's roles. The ids are the argument of
 * audience_limit_to_role_granters. `roles` are all roles of the guild. */
struct list invite_list_users_and_roles_that_see_code(struct arena *arena,
                                                      const struct invite *invite,
                                                      const struct list *roles);

/* --- create.c ------------------------------------------------------------------------- */

enum err check_invite_creation_permission(struct call *call);
enum err create_channel_invite(struct call *call);
enum err create_friend_invite(struct call *call);

/* --- accept.c ------------------------------------------------------------------------- */

enum err invite_accept_at_registration(struct call *call, const struct account_creation *made);

/* --- targets.c ------------------------------------------------------------------------ */

/* Parses the user ids in target_users_file of the body to snowflakes. Adds form errors for invalid
 * ids. */
enum err invite_target_users_parse(struct call *call, struct list *ret, bool *ret_given);
enum err invite_target_users_write(struct tx *tx, struct str code, const struct list *ids);
/* Returns ERR_UNKNOWN_INVITE if the invite is only for certain users (targets) and the user is not
 * one of them. */
enum err require_user_is_invite_target(struct tx *tx, const struct invite *invite,
                                       snowflake user_id);
extern const struct type invite_targets_body, invite_targets_job_reply;
enum err check_invite_targets_read_permission(struct call *call);
enum err check_invite_targets_write_permission(struct call *call);
enum err get_invite_target_users(struct call *call);
enum err put_invite_target_users(struct call *call);
enum err get_invite_target_users_job(struct call *call);

/* --- vanity.c ------------------------------------------------------------------------- */

enum err vanity_invite_find(struct tx *tx, struct str code, struct invite *ret, bool *ret_found);
enum err vanity_invite_increment_use_count(struct tx *tx, snowflake guild_id);
extern const struct type vanity_body, vanity_reply;
enum err require_vanity_feature(struct call *call);
enum err get_vanity_url(struct call *call);
enum err modify_vanity_url(struct call *call);

/* --- audit.c -------------------------------------------------------------------------- */

enum err audit_log_record_invite(struct call *call, enum audit_log_action action,
                                 const struct invite *invite);

/* --- routes.c ------------------------------------------------------------------------- */

/* Emits an invite event to members who can manage the invite's channel and may see its code. */
enum err invite_emit_event(struct call *call, enum event event, const struct schema *schema,
                           const struct invite *invite);

#endif
