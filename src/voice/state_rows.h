/* state_rows.h - what the files share that change voice states. */
#ifndef VOICE_STATE_ROWS_H
#define VOICE_STATE_ROWS_H

#include "voice/states.h"

/* --- state_rows.c: the SQL ------------------------------------------------------------ */

/* The node of states that a restart has left, until their sessions are back or their time is over
 * (held_until). */
enum { VOICE_NODE_HELD = -1 };

enum err voice_put(struct tx *tx, const struct voice_state *s);
enum err voice_delete(struct tx *tx, const struct voice_state *s);
/* Nobody in the channel has a socket any more, and all get this salt: tokens follow from the
 * account too. */
enum err voice_renew_salts(struct tx *tx, snowflake channel_id, struct str salt);

/* A room, or all rooms of a guild, may hold ten thousand people. What concerns all of them is done
 * for so many by whoever changed something, and for the others in steps of a job, so that nobody
 * else waits for it. */
enum { CROWD_AT_ONCE = 64 };
struct voice_crowd {
    snowflake guild_id, channel_id; /* channel_id 0: all of the guild */
    snowflake after;                /* in the order of users */
};
/* A list of struct voice_state. */
enum err voice_crowd_after(struct tx *tx, const struct voice_crowd *c, struct list *ret);

/* --- crowds.c ------------------------------------------------------------------------- */

/* Those after the ones that were done are a job's, if there may be others, and whom it is about
 * follows from it. It goes by what holds when it runs, so that one of before does no harm. */
enum err voice_crowd_later(struct call *call, const struct job_kind *kind,
                           const struct voice_crowd *c, const struct list *done);
bool voice_crowd_of(const struct job *job, struct voice_crowd *ret);

/* --- state_changes.c ------------------------------------------------------------------ */

/* As it is told when there is no channel to be told: who left, or went out of sight. */
struct voice_state voice_without_channel(const struct voice_state *s);
/* What carries voice is told of a state alone. */
void voice_note(struct call *call, const struct voice_state *s);
/* VOICE_STATE_UPDATE to the account whose it is, wherever it is connected. */
void voice_tell_self(struct call *call, const struct voice_state *s);

/* --- idle.c --------------------------------------------------------------------------- */

/* All of a guild that has other wishes. */
enum err voice_watch_guild(struct call *call, snowflake guild_id);

#endif
