/* member.h - guild members. */
#ifndef MODEL_MEMBER_H
#define MODEL_MEMBER_H

#include "model/user.h"

/* Member flag: the name of the member breaks an auto moderation rule. */
enum { MEMBER_QUARANTINED = 1 << 7 };

struct member {
    snowflake guild_id, user_id; /* members are not in the JSON */
    const struct user *user;     /* if NULL, not in the JSON */
    struct opt_str nick, avatar, banner;
    struct list roles; /* snowflakes of roles, without @everyone */
    int64_t joined_at, flags;
    struct opt_int premium_since, communication_disabled_until;
    bool deaf, mute, pending;
    /* Permissions in the guild or channel; set only if the response needs them. */
    struct opt_id permissions;
};

/* Returns the time (microseconds) until which the member is restricted (see member_is_restricted)
 * and may only view and read. Returns 0 if the member is not restricted. Sessions need the time to
 * filter events. */
int64_t member_restricted_until(const struct member *m);

extern const struct schema member_schema;       /* includes `user`, if set */
extern const struct schema guild_member_schema; /* includes guild_id; for events */
extern const struct type type_member, type_members, type_nick;

#endif
