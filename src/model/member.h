/* member.h - an account in a guild. */
#ifndef MODEL_MEMBER_H
#define MODEL_MEMBER_H

#include "model/user.h"

enum { MEMBER_QUARANTINED = 1 << 7 }; /* a flag: its name breaks a rule */

struct member {
    snowflake guild_id, user_id; /* not shown */
    const struct user *user;     /* NULL where a structure leaves it out */
    struct opt_str nick, avatar, banner;
    struct list roles; /* snowflakes, without @everyone */
    int64_t joined_at, flags;
    struct opt_int premium_since, communication_disabled_until;
    bool deaf, mute, pending;
    struct opt_id permissions; /* where asked for: all rights in the guild or channel */
};

/* Until when it may look and read at the most (rights_restrained), in microseconds: what a session
 * has to know to hear no more than that. 0: it is not so. */
int64_t member_restrained_until(const struct member *m);

extern const struct schema member_schema;       /* with user where it is set */
extern const struct schema guild_member_schema; /* and guild_id: what events carry */
extern const struct type type_member, type_members, type_nick;

#endif
