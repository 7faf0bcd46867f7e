/* voice_internal.h - what the files of platform's voice share. */
#ifndef PLATFORM_VOICE_INTERNAL_H
#define PLATFORM_VOICE_INTERNAL_H

#include "platform/voice.h"

/* --- voice_rows.c: the SQL ------------------------------------------------------------ */

enum err voice_put(struct tx *tx, const struct voice_state *s);
enum err voice_delete(struct tx *tx, const struct voice_state *s);

/* --- voice_idle.c --------------------------------------------------------------------- */

/* All of a guild that has other wishes. */
enum err voice_watch_guild(struct call *call, snowflake guild_id);

#endif
