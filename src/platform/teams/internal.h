/* internal.h - declarations shared by the files of teams/. */
#ifndef PLATFORM_TEAMS_INTERNAL_H
#define PLATFORM_TEAMS_INTERNAL_H

#include "platform/teams/teams.h"

enum { MOST_TEAMS = 30, TEAM_DIGEST_BYTES = 32 };

/* --- schema.c ------------------------------------------------------------------------- */

struct team_request_body {
    struct opt_str name;
    struct opt_image icon;
    struct opt_id owner_user_id; /* only in PATCH */
};
struct team_invitation_body {
    struct str username, role;
};
struct team_member_patch {
    struct str role;
};
struct team_acceptance_body {
    struct str token;
};
/* Reply to the user who sends an invitation. It contains the invitation's token, which no other
 * reply contains. */
struct invited_team_member {
    struct team_member member;
    struct str invite_token;
};

extern const struct type team_body, team_patch_body, team_invitation_body, team_member_patch_body,
    team_acceptance_body, invited_member_reply;

/* --- rows.c --------------------------------------------------------------------------- */

enum err teams_read_of_user(struct tx *tx, snowflake user_id, struct list *ret); /* struct team */
enum err team_update(struct tx *tx, const struct team *team);
enum err team_delete(struct tx *tx, snowflake id);
enum err team_has_applications(struct tx *tx, snowflake id, bool *ret);
enum err count_teams_of_user(struct tx *tx, snowflake user_id, int64_t *ret);

enum err team_member_insert(struct tx *tx, const struct team_member *m, struct str digest);
enum err team_member_set_role(struct tx *tx, snowflake team_id, snowflake user_id, struct str role);
enum err team_member_accept(struct tx *tx, snowflake team_id, snowflake user_id);
enum err team_member_delete(struct tx *tx, snowflake team_id, snowflake user_id);
/* Finds the team to which a user is invited, by the digest of the invitation's token. *ret_team is
 * 0 if there is no such invitation. */
enum err team_find_by_invitation(struct tx *tx, snowflake user_id, struct str digest,
                                 snowflake *ret_team);

/* --- routes.c, members.c -------------------------------------------------------------- */

/* Returns an error unless the caller is an admin of the team. */
enum err require_team_admin(struct call *call);

enum err resolve_team_member(struct call *call);
enum err list_team_members(struct call *call);
enum err invite_team_member(struct call *call);
enum err modify_team_member(struct call *call);
enum err remove_team_member(struct call *call);
enum err accept_team_invite(struct call *call);

#endif
