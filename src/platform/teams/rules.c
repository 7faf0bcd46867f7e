/* rules.c - access levels of team members. */
#include "platform/teams/teams.h"

const struct team_member *team_find_member(const struct team *team, snowflake user_id)
{
    const struct team_member *members = team->members.items;

    for (size_t i = 0; i < team->members.count; i++)
        if (members[i].user->id == user_id)
            return &members[i];
    return NULL;
}

enum team_access_level team_access_level_of_user(const struct team *team, snowflake user_id)
{
    const struct team_member *m = team_find_member(team, user_id);

    if (team->owner_user_id == user_id)
        return TEAM_ACCESS_OWNER;
    if (!m || m->membership_state != TEAM_MEMBER_ACCEPTED)
        return TEAM_ACCESS_NONE;
    if (str_is(m->role, "admin"))
        return TEAM_ACCESS_ADMIN;
    return str_is(m->role, "developer") ? TEAM_ACCESS_DEVELOPER : TEAM_ACCESS_READER;
}
