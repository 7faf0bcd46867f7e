/* state_rows.h - SQL and jobs for voice states, shared by the files that change them. */
#ifndef VOICE_STATE_ROWS_H
#define VOICE_STATE_ROWS_H

#include "voice/states.h"

/* --- state_rows.c: SQL ---------------------------------------------------------------- */

/* Node number of voice states that wait for RESUME after a restart, until held_until at most. */
enum { VOICE_NODE_AWAITING_RESUME = -1 };

enum err voice_state_write_row(struct tx *tx, const struct voice_state *s);
enum err voice_state_delete_row(struct tx *tx, const struct voice_state *s);
/* Marks all voice states of a channel as disconnected and sets their salts to `salt`. Their tokens
 * still differ, because a token is derived from the salt and the user id. */
enum err voice_states_renew_token_salts(struct tx *tx, snowflake channel_id, struct str salt);

/* A channel or guild may have 10,000 voice states. If all of them change, the transaction of the
 * request changes only LARGE_ROOM_STEP voice states, and a job changes the others in steps of this
 * size, so that other writers need not wait. */
enum { LARGE_ROOM_STEP = 64 };
struct large_room_step {
    snowflake guild_id, channel_id; /* channel_id 0 means the whole guild */
    snowflake after;                /* last user id that was handled */
};
/* Lists the LARGE_ROOM_STEP voice states (struct voice_state) of the next step. */
enum err list_voice_states_of_room_step(struct tx *tx, const struct large_room_step *c,
                                        struct list *ret);

/* --- large_rooms.c: jobs for large rooms ---------------------------------------------- */

/* schedule_next_large_room_step schedules the job `kind` for the voice states that follow those in
 * the list `done`, if there may be more. large_room_step_from_job reads the step from the job. A
 * job applies the settings that are stored when the job runs, so an outdated job is harmless. */
enum err schedule_next_large_room_step(struct call *call, const struct job_kind *kind,
                                       const struct large_room_step *c, const struct list *done);
bool large_room_step_from_job(const struct job *job, struct large_room_step *ret);

/* --- state_changes.c ------------------------------------------------------------------ */

/* Returns a copy of the voice state without a channel. It is sent if the user has left voice or is
 * in a hidden channel. */
struct voice_state voice_state_without_channel(const struct voice_state *s);
/* Sends the voice state to the relay (relay_voice_state) after the commit. Clients get no event. */
void voice_state_send_to_relay(struct call *call, const struct voice_state *s);
/* Emits VOICE_STATE_UPDATE to all sessions of the user. */
void emit_voice_state_to_account(struct call *call, const struct voice_state *s);

/* --- afk.c ---------------------------------------------------------------------------- */

/* Reschedules the AFK jobs of a guild whose AFK settings changed. */
enum err afk_reschedule_jobs_of_guild(struct call *call, snowflake guild_id);

#endif
