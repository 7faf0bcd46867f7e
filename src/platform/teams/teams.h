/* teams.h - people who make applications together. */
#ifndef PLATFORM_TEAMS_TEAMS_H
#define PLATFORM_TEAMS_TEAMS_H

#include "model/application.h"
#include "platform/accounts/accounts.h"

/* What somebody may do with a team or an application; each level holds those before
 * it. An invitation that is not accepted gives nothing. */
enum maker_level { MAKER_NOBODY, MAKER_READER, MAKER_DEVELOPER, MAKER_ADMIN, MAKER_OWNER };

enum maker_level team_level(const struct team *team, snowflake user_id);

/* NULL: neither a member nor invited. */
const struct team_member *team_member_of(const struct team *team, snowflake user_id);

/* With its members. ERR_UNKNOWN_TEAM. */
enum err team_find(struct tx *tx, snowflake id, struct team *ret);

/* Makes a team; its owner is its first member. */
enum err team_insert(struct tx *tx, const struct team *team);

extern const struct domain teams_domain;

#endif
