/* bonds.h - the two sides of a relationship, read, changed and told together.
 *
 * Each side is a row of its own. Legal are: nothing on both, friends on both, a request
 * and its answer to be, a block on one side or on both. Ignoring is a mark beside the
 * type, private to its owner. */
#ifndef PLATFORM_RELATIONSHIPS_BONDS_H
#define PLATFORM_RELATIONSHIPS_BONDS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* What one account keeps about the other. */
struct side {
    int64_t type; /* enum relationship_type */
    bool ignored;
    struct opt_str nickname, note;
    struct opt_int since;
    bool is_spam, is_stranger;
    snowflake origin_application_id; /* 0: none */
};

struct bond {
    snowflake my_id, their_id;
    struct side mine, theirs;
};

/* Both sides, to change them; a relationship that only one of them has is removed. */
enum err bond_find(struct tx *tx, snowflake my_id, snowflake their_id, struct bond *ret);

/* --- changing it ---------------------------------------------------------------------- */

/* What one side hears. */
enum side_news { NEWS_NONE, NEWS_ADDED, NEWS_UPDATED, NEWS_REMOVED };

struct side_change {
    int64_t type; /* afterwards */
    bool ignored;
    enum side_news news;
    bool notify;
};

struct bond_change {
    struct side_change mine, theirs;
};

/* What comes with a new request. */
struct friend_request {
    struct opt_str note;
    bool is_spam, is_stranger;
    snowflake origin_application_id;
};

/* Writes the sides that change and tells them, mine first. What a type does not keep is
 * dropped with it. request: NULL unless one begins. */
enum err bond_change(struct call *call, struct bond *b, const struct bond_change *c,
                     const struct friend_request *request);
/* Both become friends, I by accepting; suggestions of each other go. */
enum err bond_become_friends(struct call *call, struct bond *b);

/* Saves and tells my side alone after something in it changed that is not its type. */
enum err side_update(struct call *call, const struct bond *b);

/* --- lists ---------------------------------------------------------------------------- */

/* All of an account's (struct relationship), by id, but those with accounts that are
 * disabled; ret_all: the ids of these, too. */
enum err relationships_of(struct tx *tx, snowflake user_id, struct list *ret, struct list *ret_all);
/* Its friends as an app sees them. */
enum err friends_for_application(struct tx *tx, snowflake user_id, snowflake application_id,
                                 struct list *ret);

#endif
