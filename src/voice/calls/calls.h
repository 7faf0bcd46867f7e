/* calls.h - calls in private channels: they last from the first participant to the last. */
#ifndef VOICE_CALLS_H
#define VOICE_CALLS_H

#include "voice/internal.h"
#include "voice/states.h"

/* Call it before a join: starts the call, or stops ringing for the user, and sets the region of
 * s. */
enum err voice_call_enter(struct call *call, const struct channel *c, struct voice_state *s);

/* Hook: ends the call when the last participant has left. */
enum err voice_call_left(struct call *call, const struct voice_state *was);

/* op 13: emits CALL_CREATE to the requesting session if a call is running. */
struct call_request {
    snowflake channel_id;
};
extern const struct type type_call_request;
enum err connect_call(struct call *call, struct session_order *o);

/* --- call_rows.c ---------------------------------------------------------------------- */

/* Finds a running call, with the users for whom it rings; ERR_UNKNOWN_CHANNEL: none. */
enum err voice_call_find(struct tx *tx, snowflake channel_id, struct voice_call *ret);
enum err voice_call_insert(struct tx *tx, const struct voice_call *c);
enum err voice_call_delete(struct tx *tx, snowflake channel_id);
enum err voice_call_move(struct tx *tx, snowflake channel_id, struct str region);
enum err ringing_add(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err ringing_remove(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err ringing_clear(struct tx *tx, snowflake channel_id);

/* Emits CALL_UPDATE to the channel, from the stored call. */
enum err voice_call_tell(struct call *call, snowflake channel_id);
extern const struct job_kind call_ring_job; /* stops ringing for users who do not answer */

#endif
