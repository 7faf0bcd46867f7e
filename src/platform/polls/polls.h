/* polls.h - what a message asks, and how many chose which answer.
 *
 * This folder owns the rows of polls and the body that brings one; messages/ has polls as a part
 * of its messages. Choosing, lists of who chose, and the end of a poll are in votes/. How many
 * chose an answer is kept, not counted, in a row for each lane of the store. Begin with rows.c. */
#ifndef PLATFORM_POLLS_POLLS_H
#define PLATFORM_POLLS_POLLS_H

#include "model/poll.h"
#include "platform/emojis/emojis.h"

/* --- body.c: what brings a poll ------------------------------------------------------- */

struct poll_in;
extern const struct type poll_body;
/* From a body at this place to a poll that nobody chose from yet. ERR_POLL_EMOJI */
enum err poll_take(struct call *call, const struct poll_in *in, const struct emoji_user *who,
                   struct poll **ret);

/* --- rows.c --------------------------------------------------------------------------- */

enum err poll_insert(struct tx *tx, snowflake message_id, const struct poll *poll);
/* As the account sees it (0: nobody); NULL: there is none. */
enum err poll_find(struct tx *tx, snowflake message_id, snowflake user_id, const struct poll **ret);
/* The same poll as everybody sees it. */
const struct poll *poll_without_voter(struct arena *arena, const struct poll *poll);
/* The poll and its counts; who chose is left to a job. */
enum err poll_delete(struct tx *tx, snowflake message_id);
/* From now on it is what it is: expiry and results. */
enum err poll_finish(struct tx *tx, snowflake message_id, const struct poll *poll);

#endif
