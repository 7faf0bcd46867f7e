/* state_rows.h - SQL and batch jobs for voice states, shared by the files that change them. */
#ifndef VOICE_STATE_ROWS_H
#define VOICE_STATE_ROWS_H

#include "voice/states.h"

/* --- state_rows.c: SQL ---------------------------------------------------------------- */

/* Node number of states that wait, after a restart, until their session resumes or held_until. */
enum { VOICE_NODE_HELD = -1 };

enum err voice_put(struct tx *tx, const struct voice_state *s);
enum err voice_delete(struct tx *tx, const struct voice_state *s);
/* Marks all states of a channel as disconnected and sets one salt; tokens also depend on the
 * user. */
enum err voice_renew_salts(struct tx *tx, snowflake channel_id, struct str salt);

/* A room, or a guild's rooms, may have 10,000 participants. A change to all of them handles
 * CROWD_AT_ONCE in its own transaction and the others in steps of a job, so that other writers do
 * not wait. */
enum { CROWD_AT_ONCE = 64 };
struct voice_crowd {
    snowflake guild_id, channel_id; /* channel_id 0: the whole guild */
    snowflake after;                /* last user id that was handled */
};
/* Lists the next CROWD_AT_ONCE states (struct voice_state). */
enum err voice_crowd_after(struct tx *tx, const struct voice_crowd *c, struct list *ret);

/* --- crowds.c: jobs for large rooms --------------------------------------------------- */

/* Schedules the job `kind` for the states after `done` if there may be more; voice_crowd_of reads
 * them from the job. The job applies the state at the time when it runs, so an outdated job is
 * harmless. */
enum err voice_crowd_later(struct call *call, const struct job_kind *kind,
                           const struct voice_crowd *c, const struct list *done);
bool voice_crowd_of(const struct job *job, struct voice_crowd *ret);

/* --- state_changes.c ------------------------------------------------------------------ */

/* Returns the state as it is sent without a channel: the user left, or is in a hidden channel. */
struct voice_state voice_without_channel(const struct voice_state *s);
/* Sends the state to the relay after the commit (voice_fact), without an event. */
void voice_note(struct call *call, const struct voice_state *s);
/* Emits VOICE_STATE_UPDATE to all sessions of the account itself. */
void voice_tell_self(struct call *call, const struct voice_state *s);

/* --- idle.c --------------------------------------------------------------------------- */

/* Reschedules the AFK jobs of a guild whose AFK settings changed. */
enum err voice_watch_guild(struct call *call, snowflake guild_id);

#endif
