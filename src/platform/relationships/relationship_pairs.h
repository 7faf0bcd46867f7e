/* relationship_pairs.h - reads and writes the two rows of a relationship, and emits the events.
 * Each of the two users has one row (a "side"). Legal pairs of types: none and none, friend and
 * friend, outgoing and incoming, blocked and none, blocked and blocked. "Ignored" is a flag in
 * addition to the type; only the row's owner can see it. */
#ifndef PLATFORM_RELATIONSHIPS_RELATIONSHIP_PAIRS_H
#define PLATFORM_RELATIONSHIPS_RELATIONSHIP_PAIRS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* The row that a user has about the other user. */
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

/* Reads both rows before a change. If only one of them has a relationship, deletes this
 * inconsistent row. */
enum err relationship_pair_read(struct tx *tx, snowflake my_id, snowflake their_id,
                                struct relationship_pair *ret);
/* Saves one user's row. Deletes the row if it has neither a type nor the ignored flag. */
enum err relationship_row_save(struct tx *tx, snowflake owner, snowflake other,
                               const struct relationship_row *s);

/* --- changes -------------------------------------------------------------------------- */

/* The gateway event about a change that the owner of a row receives. */
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

/* Writes the changed rows and emits the events, first to my_id. Clears fields that rows of the new
 * type do not have. request has the fields of a new friend request; otherwise it is NULL. */
enum err relationship_pair_apply_change(struct call *call, struct relationship_pair *b,
                                        const struct relationship_pair_change *c,
                                        const struct friend_request *request);
/* Makes both users friends, with my_id as the user who accepts, and deletes their suggestions. */
enum err relationship_pair_make_friends(struct call *call, struct relationship_pair *b);

/* Saves my_id's row after a change of other fields than the type, and emits RELATIONSHIP_UPDATE to
 * my_id. */
enum err relationship_row_save_and_emit(struct call *call, const struct relationship_pair *b);

/* --- lists ---------------------------------------------------------------------------- */

/* Reads the relationships of an account (struct relationship), sorted by id. *ret omits disabled
 * accounts; *ret_all has the ids of all. */
enum err relationships_read(struct tx *tx, snowflake user_id, struct list *ret,
                            struct list *ret_all);
/* Reads the friends of an account, with the fields that OAuth2 apps may see. */
enum err friends_read_for_application(struct tx *tx, snowflake user_id, snowflake application_id,
                                      struct list *ret);

#endif
