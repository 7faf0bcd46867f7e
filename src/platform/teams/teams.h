/* teams.h - developer teams, which own applications. Owns the tables teams and team_members. May
 * include threads/ and lower layers. Invariant: a team has exactly one owner, who is also a member.
 * Start with routes.c. */
#ifndef PLATFORM_TEAMS_TEAMS_H
#define PLATFORM_TEAMS_TEAMS_H

#include "model/application.h"
#include "platform/accounts/accounts.h"

/* Access levels to a team or an application; each level includes the lower ones. A user whose
 * invitation is pending has none. */
enum team_access_level {
    TEAM_ACCESS_NONE,
    TEAM_ACCESS_READER,
    TEAM_ACCESS_DEVELOPER,
    TEAM_ACCESS_ADMIN,
    TEAM_ACCESS_OWNER
};

enum team_access_level team_access_level_of_user(const struct team *team, snowflake user_id);

/* Finds the row of a member or invited user of the team. Returns NULL if the user is neither. */
const struct team_member *team_find_member(const struct team *team, snowflake user_id);

/* Reads the team with its members. May return ERR_UNKNOWN_TEAM. */
enum err team_find(struct tx *tx, snowflake id, struct team *ret);

/* Inserts a team with the owner as its first member. */
enum err team_insert(struct tx *tx, const struct team *team);

extern const struct domain teams_domain;

#endif
