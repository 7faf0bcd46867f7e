/* voice_internal.h - what the files of platform's voice share. */
#ifndef PLATFORM_VOICE_INTERNAL_H
#define PLATFORM_VOICE_INTERNAL_H

#include "platform/voice.h"

/* --- voice_rows.c: the SQL ------------------------------------------------------------ */

enum err voice_put(struct tx *tx, const struct voice_state *s);
enum err voice_delete(struct tx *tx, const struct voice_state *s);

/* --- voice.c -------------------------------------------------------------------------- */

enum err voice_tell_rights(struct call *call, const struct voice_state *s, uint64_t rights);

#endif
