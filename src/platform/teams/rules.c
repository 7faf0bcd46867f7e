/* rules.c - access levels of team members. */
#include "platform/teams/teams.h"

const struct team_member *team_member_of(const struct team *team, snowflake user_id)
{
    const struct team_member *members = team->members.items;

    for (size_t i = 0; i < team->members.count; i++)
        if (members[i].user->id == user_id)
            return &members[i];
    return NULL;
}

enum maker_level team_level(const struct team *team, snowflake user_id)
{
    const struct team_member *m = team_member_of(team, user_id);

    if (team->owner_user_id == user_id)
        return MAKER_OWNER;
    if (!m || m->membership_state != TEAM_ACCEPTED)
        return MAKER_NOBODY;
    if (str_is(m->role, "admin"))
        return MAKER_ADMIN;
    return str_is(m->role, "developer") ? MAKER_DEVELOPER : MAKER_READER;
}
