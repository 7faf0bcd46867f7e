/* relationship.h - relationships: friends, requests, blocks; friend suggestions. */
#ifndef MODEL_RELATIONSHIP_H
#define MODEL_RELATIONSHIP_H

#include "model/user.h"

enum relationship_type {
    RELATIONSHIP_NONE = 0, /* no relationship; a row is stored only if the other user is ignored */
    RELATIONSHIP_FRIEND = 1,
    RELATIONSHIP_BLOCKED = 2,
    RELATIONSHIP_INCOMING = 3,
    RELATIONSHIP_OUTGOING = 4,
    RELATIONSHIP_IMPLICIT = 5, /* defined by Discord; this server neither stores nor sends it */
};

struct relationship {
    snowflake id; /* id of the other account */
    int64_t type;
    const struct user *user;
    struct opt_str nickname;
    struct opt_bool is_spam_request, stranger_request;
    /* Same value as stranger_request, under the name that events use. */
    struct opt_bool is_stranger_request;
    bool user_ignored;
    struct opt_id origin_application_id;
    struct opt_int since;
    struct opt_bool has_played_game; /* only in responses to apps */
    struct opt_str note;
    struct opt_bool should_notify; /* whether clients notify the user; set only in events; absent
                                    * instead of false */
};

extern const struct schema relationship_schema;        /* also payload of RELATIONSHIP_ADD */
extern const struct schema relationship_change_schema; /* payload of RELATIONSHIP_UPDATE, _REMOVE */
extern const struct type type_relationships;

/* --- game relationships --------------------------------------------------------------- */

/* Where clients show direct messages of a game friend. */
enum game_friend_dm_visibility { DM_ANYWHERE, DM_IN_GAME_ONLY, DM_NOWHERE };

struct game_relationship {
    snowflake id; /* id of the other account */
    snowflake application_id;
    int64_t type;            /* RELATIONSHIP_FRIEND, _INCOMING or _OUTGOING */
    const struct user *user; /* NULL in responses to apps */
    int64_t since, dm_access_type;
    snowflake user_id; /* account that has the relationship */
};

extern const struct schema game_relationship_schema;        /* also GAME_RELATIONSHIP_ADD payload */
extern const struct schema game_relationship_delete_schema; /* GAME_RELATIONSHIP_REMOVE payload */
extern const struct type type_game_relationships;

/* --- friend suggestions --------------------------------------------------------------- */

enum { SUGGESTION_EXTERNAL_FRIEND = 1 };

struct friend_suggestion_reason {
    int64_t type;
    /* Platform of the contact; both fields have the same value, because the API has two names. */
    struct str platform, platform_type;
    struct str name;
};

struct friend_suggestion {
    const struct user *suggested_user;
    struct list reasons; /* struct friend_suggestion_reason */
    struct opt_bool from_suggested_user_contacts;
    struct opt_int mutual_friends_count;
    struct opt_list contact_names; /* struct str */
};

struct friend_suggestion_delete_event {
    snowflake suggested_user_id;
};

extern const struct schema friend_suggestion_schema; /* also FRIEND_SUGGESTION_CREATE payload */
extern const struct schema friend_suggestion_delete_schema; /* FRIEND_SUGGESTION_DELETE payload */
extern const struct type type_friend_suggestions;

#endif
