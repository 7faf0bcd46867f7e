/* relationship.h - what somebody is to somebody else. */
#ifndef MODEL_RELATIONSHIP_H
#define MODEL_RELATIONSHIP_H

#include "model/user.h"

enum relationship_type {
    RELATIONSHIP_NONE = 0,
    RELATIONSHIP_FRIEND = 1,
    RELATIONSHIP_BLOCKED = 2,
    RELATIONSHIP_INCOMING = 3,
    RELATIONSHIP_OUTGOING = 4,
};

struct relationship {
    snowflake id; /* the other account's */
    int64_t type;
    const struct user *user;
    struct opt_str nickname;
    struct opt_bool is_spam_request, stranger_request, is_stranger_request, should_notify;
    bool user_ignored;
    struct opt_id origin_application_id;
    struct opt_int since;
};

extern const struct schema relationship_schema; /* and what RELATIONSHIP_ADD carries */

#endif
