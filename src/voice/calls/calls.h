/* calls.h - calls in private channels. A call lasts from the first join to the last leave. */
#ifndef VOICE_CALLS_H
#define VOICE_CALLS_H

#include "voice/internal.h"
#include "voice/states.h"

/* Called before a user joins a private call: starts the call, or stops the ringing for the user if
 * the call is already running. Sets the voice region of s. */
enum err voice_call_on_join(struct call *call, const struct channel *c, struct voice_state *s);

/* Hook: ends the call if the last participant has left. */
enum err voice_call_on_leave(struct call *call, const struct voice_state *was);

/* Payload of op 13 (call connect): if a call is running, CALL_CREATE is sent to the session that
 * requested it. */
struct call_connect_request {
    snowflake channel_id;
};
extern const struct type type_call_request;
enum err handle_call_connect_opcode(struct call *call, struct session_opcode *o);

/* --- call_rows.c ---------------------------------------------------------------------- */

/* Finds the call of a channel, with the users whose clients ring. Returns ERR_UNKNOWN_CHANNEL if
 * there is no call. */
enum err voice_call_find(struct tx *tx, snowflake channel_id, struct voice_call *ret);
enum err voice_call_insert(struct tx *tx, const struct voice_call *c);
enum err voice_call_delete(struct tx *tx, snowflake channel_id);
enum err voice_call_update_region(struct tx *tx, snowflake channel_id, struct str region);
enum err voice_call_add_ringing_user(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err voice_call_remove_ringing_user(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err voice_call_remove_all_ringing_users(struct tx *tx, snowflake channel_id);

enum err emit_voice_call_update(struct call *call, snowflake channel_id);
extern const struct job_kind call_ring_job; /* stops the ringing for users who do not answer */

#endif
