/* calls.h - calls in private channels: they begin with the first who joins and end with the
 * last who leaves. */
#ifndef VOICE_CALLS_H
#define VOICE_CALLS_H

#include "voice/internal.h"
#include "voice/states.h"

/* Somebody is about to join: begins the call, or ends its ringing for them, and says where
 * it is hosted. */
enum err voice_call_enter(struct call *call, const struct channel *c, struct voice_state *s);

/* Somebody has left: the last one ends the call. */
enum err voice_call_left(struct call *call, const struct voice_state *was);

/* op 13: CALL_CREATE to the session that asks, when a call runs. */
struct call_request {
    snowflake channel_id;
};
extern const struct type type_call_request;
enum err connect_call(struct call *call, struct session_order *o);

/* --- call_rows.c ---------------------------------------------------------------------- */

/* ERR_UNKNOWN_CHANNEL when none runs. With ringing. */
enum err voice_call_find(struct tx *tx, snowflake channel_id, struct voice_call *ret);
enum err voice_call_insert(struct tx *tx, const struct voice_call *c);
enum err voice_call_delete(struct tx *tx, snowflake channel_id);
enum err voice_call_move(struct tx *tx, snowflake channel_id, struct str region);
enum err ringing_add(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err ringing_remove(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err ringing_clear(struct tx *tx, snowflake channel_id);

/* CALL_UPDATE to everybody in the channel, as the store has it. */
enum err voice_call_tell(struct call *call, snowflake channel_id);
extern const struct job_kind call_ring_job; /* nobody answers */

#endif
