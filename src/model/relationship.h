/* relationship.h - what somebody is to somebody else. */
#ifndef MODEL_RELATIONSHIP_H
#define MODEL_RELATIONSHIP_H

#include "model/user.h"

enum relationship_type {
    RELATIONSHIP_NONE = 0, /* kept only for those who are ignored */
    RELATIONSHIP_FRIEND = 1,
    RELATIONSHIP_BLOCKED = 2,
    RELATIONSHIP_INCOMING = 3,
    RELATIONSHIP_OUTGOING = 4,
    RELATIONSHIP_IMPLICIT = 5, /* never kept, never shown */
};

struct relationship {
    snowflake id; /* the other account's */
    int64_t type;
    const struct user *user;
    struct opt_str nickname;
    struct opt_bool is_spam_request, stranger_request;
    struct opt_bool is_stranger_request; /* the same, as events also call it */
    bool user_ignored;
    struct opt_id origin_application_id;
    struct opt_int since;
    struct opt_bool has_played_game; /* only for apps */
    struct opt_str note;
    struct opt_bool should_notify; /* only in events, and only when true */
};

extern const struct schema relationship_schema;        /* and what RELATIONSHIP_ADD carries */
extern const struct schema relationship_change_schema; /* RELATIONSHIP_UPDATE, _REMOVE */
extern const struct type type_relationship_type, type_relationships;

/* --- friends in one game -------------------------------------------------------------- */

/* Where messages of a game's friend arrive. */
enum dm_access { DM_ANYWHERE, DM_IN_GAME_ONLY, DM_NOWHERE };

struct game_relationship {
    snowflake id; /* the other account's */
    snowflake application_id;
    int64_t type;            /* FRIEND, INCOMING or OUTGOING */
    const struct user *user; /* NULL for apps */
    int64_t since, dm_access_type;
    snowflake user_id; /* whose it is */
};

extern const struct schema game_relationship_schema; /* and what GAME_RELATIONSHIP_ADD carries */
extern const struct schema game_relationship_gone_schema; /* GAME_RELATIONSHIP_REMOVE */
extern const struct type type_game_relationships;

/* --- whom one might know -------------------------------------------------------------- */

enum { SUGGESTION_EXTERNAL_FRIEND = 1 };

struct suggestion_reason {
    int64_t type;
    struct str platform, platform_type; /* the same: the interface has it both ways */
    struct str name;
};

struct friend_suggestion {
    const struct user *suggested_user;
    struct list reasons; /* struct suggestion_reason */
    struct opt_bool from_suggested_user_contacts;
    struct opt_int mutual_friends_count;
    struct opt_list contact_names; /* struct str */
};

struct suggestion_gone {
    snowflake suggested_user_id;
};

extern const struct schema friend_suggestion_schema; /* and what FRIEND_SUGGESTION_CREATE carries */
extern const struct schema suggestion_gone_schema;   /* FRIEND_SUGGESTION_DELETE */
extern const struct type type_friend_suggestions;

#endif
