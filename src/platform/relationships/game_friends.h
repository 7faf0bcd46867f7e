/* game_friends.h - friends in one game, and what becomes of them. */
#ifndef PLATFORM_RELATIONSHIPS_GAME_FRIENDS_H
#define PLATFORM_RELATIONSHIPS_GAME_FRIENDS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* Of an account (struct game_relationship): all, or those of one application. */
enum err game_relationships_of(struct tx *tx, snowflake user_id, snowflake application_id,
                               struct list *ret);

/* One side's row, without accounts; of type RELATIONSHIP_NONE when there is none. Setting
 * that type takes it away. */
enum err game_relationship_find(struct tx *tx, snowflake user_id, snowflake target_id,
                                snowflake application_id, struct game_relationship *ret);
enum err game_relationship_set(struct tx *tx, const struct game_relationship *g);
/* GAME_RELATIONSHIP_ADD, with the other's account; or _REMOVE. */
enum err game_relationship_tell(struct call *call, enum event event,
                                const struct game_relationship *g);

/* All that two accounts have in any game ends; both are told. */
enum err game_relationships_end(struct call *call, snowflake a, snowflake b);
/* Of an application that goes, as many as there is room for; everybody concerned is told. */
struct deletion_step;
enum err game_relationships_end_with_application(struct call *call, snowflake id,
                                                 struct deletion_step *step);
enum err game_relationships_end_with_account(struct call *call, snowflake id,
                                             struct deletion_step *step);

#endif
