/* state_rows.h - what the files of platform's voice share. */
#ifndef VOICE_STATE_ROWS_H
#define VOICE_STATE_ROWS_H

#include "voice/states.h"

/* --- voice_rows.c: the SQL ------------------------------------------------------------ */

enum err voice_put(struct tx *tx, const struct voice_state *s);
enum err voice_delete(struct tx *tx, const struct voice_state *s);

/* --- voice_idle.c --------------------------------------------------------------------- */

/* All of a guild that has other wishes. */
enum err voice_watch_guild(struct call *call, snowflake guild_id);

#endif
