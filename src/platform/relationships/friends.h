/* friends.h - friendship queries and changes for other folders. */
#ifndef PLATFORM_RELATIONSHIPS_FRIENDS_H
#define PLATFORM_RELATIONSHIPS_FRIENDS_H

#include "model/relationship.h"
#include "platform/accounts/accounts.h"

struct ready_event_writer;

/* Reads the type of the relationship that user_id has to target_id (enum relationship_type). */
enum err relationship_type_read(struct tx *tx, snowflake user_id, snowflake target_id,
                                int64_t *ret);

/* Returns ERR_MAX_FRIENDS if the account has reached the friend limit. */
enum err check_friend_limit(struct tx *tx, snowflake user_id);

/* Makes two accounts friends, even without a friend request, and emits the events to both. `by` is
 * the account that counts as accepting. Does nothing if they are already friends. May return
 * ERR_MAX_FRIENDS. */
enum err friendship_create(struct call *call, snowflake by, snowflake other, bool *ret_new);

enum err write_ready_relationships(struct tx *tx, snowflake user_id,
                                   struct ready_event_writer *shape, struct json_writer *out);

/* Reads the friends that two accounts have in common (struct user), sorted by id. */
enum err mutual_friends(struct tx *tx, snowflake a, snowflake b, struct list *ret);
enum err friend_ids_read(struct tx *tx, snowflake user_id, struct list *ret);

extern const struct domain profiles_domain; /* route /users/{user.id}/profile */

/* Emits PRESENCE_UPDATE with the new user object of the account to all of its friends. */
enum err friends_emit_presence_update(struct call *call, const struct user *user);

#endif
