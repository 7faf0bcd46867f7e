/* polls.h - polls in messages, and their vote counts, which are stored per answer and counter shard
 * (tx_get_counter_shard). votes/ has the routes for votes and voter lists, and ends polls. Owns the
 * tables polls, poll_counts, poll_voters and poll_votes. May include emojis/ and lower layers.
 * Start with rows.c. */
#ifndef PLATFORM_POLLS_POLLS_H
#define PLATFORM_POLLS_POLLS_H

#include "model/poll.h"
#include "platform/emojis/emojis.h"

/* --- body.c: new polls ---------------------------------------------------------------- */

struct poll_request;
extern const struct type poll_body;
/* Converts a request body to a poll without votes. Returns ERR_POLL_EMOJI if an emoji is not
 * usable. */
enum err poll_from_request_body(struct call *call, const struct poll_request *in,
                                const struct emoji_use_context *who, struct poll **ret);

/* --- rows.c --------------------------------------------------------------------------- */

enum err poll_insert(struct tx *tx, snowflake message_id, const struct poll *poll);
/* Reads the poll of a message, with the votes of user_id marked (0: no user). *ret is NULL if the
 * message has no poll. */
enum err poll_find(struct tx *tx, snowflake message_id, snowflake user_id, const struct poll **ret);
/* Returns a copy of the poll in which .me_voted is false. */
const struct poll *poll_copy_without_own_votes(struct arena *arena, const struct poll *poll);
/* Deletes the poll and its counts. A job deletes the votes. */
enum err poll_delete(struct tx *tx, snowflake message_id);
/* Ends a poll: stores its expiry and its final results. */
enum err poll_store_final_results(struct tx *tx, snowflake message_id, const struct poll *poll);

#endif
