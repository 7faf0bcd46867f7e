/* internal.h - declarations shared by the files of sounds/. */
#ifndef PLATFORM_SOUNDS_INTERNAL_H
#define PLATFORM_SOUNDS_INTERNAL_H

#include "model/permissions/member_permissions.h"
#include "platform/sounds/sounds.h"

enum { SOUND_MAX_BYTES = 512 * 1024, SOUND_MAX_MS = 5200 };

size_t soundboard_default_sounds_list(const struct soundboard_sound **ret);

/* --- sound_files.c -------------------------------------------------------------------- */

/* Returns true if the file begins with the Ogg signature. All other sounds are MP3 files. */
bool soundboard_sound_file_is_ogg(struct str bytes);

/* --- rows.c --------------------------------------------------------------------------- */

enum err soundboard_sound_insert(struct tx *tx, const struct soundboard_sound *s);
enum err soundboard_sound_update(struct tx *tx, const struct soundboard_sound *s);
enum err soundboard_sound_delete(struct call *call, const struct soundboard_sound *s);
enum err soundboard_sound_read_uploader(struct tx *tx, struct soundboard_sound *s);

#endif
