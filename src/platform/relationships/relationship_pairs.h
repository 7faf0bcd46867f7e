/* relationship_pairs.h - reads and writes the two rows of a relationship (one per user, called its
 * side) and emits the events. Legal pairs of types: none and none, friend and friend, outgoing and
 * incoming, blocked and none, blocked and blocked. "Ignored" is a separate flag, visible only to
 * its owner. */
#ifndef PLATFORM_RELATIONSHIPS_RELATIONSHIP_PAIRS_H
#define PLATFORM_RELATIONSHIPS_RELATIONSHIP_PAIRS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* The row that one user has about the other user. */
struct relationship_row {
    int64_t type; /* enum relationship_type */
    bool ignored;
    struct opt_str nickname, note;
    struct opt_int since;
    bool is_spam, is_stranger;
    snowflake origin_application_id; /* application that sent the friend request, or 0 */
};

struct relationship_pair {
    snowflake my_id, their_id;
    struct relationship_row mine, theirs;
};

/* Reads both rows before a change. Removes a relationship that only one of the rows has. */
enum err relationship_pair_read(struct tx *tx, snowflake my_id, snowflake their_id,
                                struct relationship_pair *ret);
/* Saves the row of one side; deletes it if it has neither a type nor the ignored flag. */
enum err relationship_row_save(struct tx *tx, snowflake owner, snowflake other,
                               const struct relationship_row *s);

/* --- changes -------------------------------------------------------------------------- */

/* The gateway event that the owner of a row receives. */
enum relationship_event { SIDE_EVENT_NONE, SIDE_EVENT_ADD, SIDE_EVENT_UPDATE, SIDE_EVENT_REMOVE };

struct relationship_row_change {
    int64_t type; /* new type */
    bool ignored;
    enum relationship_event event;
    bool notify;
};

struct relationship_pair_change {
    struct relationship_row_change mine, theirs;
};

/* Fields of a new friend request. */
struct friend_request {
    struct opt_str note;
    bool is_spam, is_stranger;
    snowflake origin_application_id;
};

/* Writes the changed rows and emits their events, first to my_id. Clears the fields that the new
 * type does not have. request is NULL unless a new friend request is sent. */
enum err relationship_pair_apply_change(struct call *call, struct relationship_pair *b,
                                        const struct relationship_pair_change *c,
                                        const struct friend_request *request);
/* Makes both users friends, with my_id as the user who accepts, and deletes their suggestions. */
enum err relationship_pair_make_friends(struct call *call, struct relationship_pair *b);

/* Saves the row of my_id and emits RELATIONSHIP_UPDATE; for fields other than the type. */
enum err relationship_row_save_and_emit(struct call *call, const struct relationship_pair *b);

/* --- lists ---------------------------------------------------------------------------- */

/* Reads the relationships of an account (struct relationship), sorted by id, without disabled
 * accounts. *ret_all gets the ids of all, including disabled accounts. */
enum err relationships_read(struct tx *tx, snowflake user_id, struct list *ret,
                            struct list *ret_all);
/* Reads the friends of an account as OAuth2 apps see them. */
enum err friends_read_for_application(struct tx *tx, snowflake user_id, snowflake application_id,
                                      struct list *ret);

#endif
