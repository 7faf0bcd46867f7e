/* game_relationship_rows.h - rows and events of friendships within one game. */
#ifndef PLATFORM_RELATIONSHIPS_GAME_RELATIONSHIP_ROWS_H
#define PLATFORM_RELATIONSHIPS_GAME_RELATIONSHIP_ROWS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* Reads the game relationships of an account; in all games if application_id is 0. */
enum err game_relationships_read(struct tx *tx, snowflake user_id, snowflake application_id,
                                 struct list *ret);

/* Finds or saves the game relationship row of user_id, without user objects. The type is
 * RELATIONSHIP_NONE if no row exists; saving this type deletes the row. */
enum err game_relationship_find(struct tx *tx, snowflake user_id, snowflake target_id,
                                snowflake application_id, struct game_relationship *ret);
enum err game_relationship_save(struct tx *tx, const struct game_relationship *g);
/* Emits GAME_RELATIONSHIP_ADD with the target's user object, or GAME_RELATIONSHIP_REMOVE. */
enum err game_relationship_emit(struct call *call, enum event event,
                                const struct game_relationship *g);

/* Deletes all game relationships between two accounts and emits the events to both. */
enum err game_relationships_delete_between(struct call *call, snowflake a, snowflake b);
/* Delete up to step->rows_left game relationships of a deleted application or account. */
struct deletion_step_limits;
enum err game_relationships_delete_of_application(struct call *call, snowflake id,
                                                  struct deletion_step_limits *step);
enum err game_relationships_delete_of_account(struct call *call, snowflake id,
                                              struct deletion_step_limits *step);

#endif
