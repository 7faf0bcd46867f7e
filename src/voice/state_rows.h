/* state_rows.h - what the files share that change voice states. */
#ifndef VOICE_STATE_ROWS_H
#define VOICE_STATE_ROWS_H

#include "voice/states.h"

/* --- state_rows.c: the SQL ------------------------------------------------------------ */

enum err voice_put(struct tx *tx, const struct voice_state *s);
enum err voice_delete(struct tx *tx, const struct voice_state *s);
/* Nobody in the channel has a socket any more, and all get this salt: tokens follow from the
 * account too. */
enum err voice_renew_salts(struct tx *tx, snowflake channel_id, struct str salt);

/* --- idle.c --------------------------------------------------------------------------- */

/* All of a guild that has other wishes. */
enum err voice_watch_guild(struct call *call, snowflake guild_id);

#endif
