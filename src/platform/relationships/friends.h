/* friends.h - what two accounts are to each other. */
#ifndef PLATFORM_RELATIONSHIPS_FRIENDS_H
#define PLATFORM_RELATIONSHIPS_FRIENDS_H

#include "model/relationship.h"
#include "platform/accounts/accounts.h"

struct ready_shape;

/* enum relationship_type, as the one sees the other. */
enum err relationship_type(struct tx *tx, snowflake user_id, snowflake target_id, int64_t *ret);

/* ERR_MAX_FRIENDS when an account has as many as one may have. */
enum err friends_have_room(struct tx *tx, snowflake user_id);

/* Makes two accounts friends, whatever was asked before, and tells both. `by` is who
 * accepted. Nothing happens when they are friends already. ERR_MAX_FRIENDS. */
enum err friendship_begin(struct call *call, snowflake by, snowflake other, bool *ret_new);

/* Writes the members of READY that are about relationships, in this shape. */
enum err ready_relationships(struct tx *tx, snowflake user_id, struct ready_shape *shape,
                             struct json *out);

/* Friends of both (struct user), by id. */
enum err mutual_friends(struct tx *tx, snowflake a, snowflake b, struct list *ret);
/* Ids of all friends. */
enum err friends_of(struct tx *tx, snowflake user_id, struct list *ret);

extern const struct domain profiles_domain; /* /users/{user.id}/profile */

/* PRESENCE_UPDATE to all friends of an account that looks different now. */
enum err friends_see_account(struct call *call, const struct user *user);

#endif
