/* sounds.h - the soundboard: default sounds, and sounds of guilds. Owns the sounds' rows and files
 * and computes durations (sound_files.c). voice/ plays sounds. May include threads/ and lower
 * layers. Start with routes.c. */
#ifndef PLATFORM_SOUNDS_SOUNDS_H
#define PLATFORM_SOUNDS_SOUNDS_H

#include "model/sound.h"
#include "platform/accounts/accounts.h"

/* Returns the default sound with this id, or NULL. The ids of default sounds are 1, 2, 3 … */
const struct soundboard_sound *soundboard_default_sound_find(snowflake id);
/* Reads a sound. Returns ERR_UNKNOWN_SOUND if it does not exist. */
enum err soundboard_sound_find(struct tx *tx, snowflake id, struct soundboard_sound *ret);
/* Reads the sounds of a guild, oldest first, without .user. */
enum err guild_soundboard_sounds_read(struct tx *tx, snowflake guild_id, struct list *ret);
/* Decodes a sound from a data URI. Returns ERR_INVALID_FORM_BODY if the URI is invalid, or
 * ERR_FILE_TOO_LARGE, ERR_SOUND_UNREADABLE or ERR_SOUND_TOO_LONG. */
enum err soundboard_sound_decode_data_uri(struct arena *arena, struct str uri, struct str *ret);

extern const struct domain sounds_domain;
extern const struct domain sound_files_domain; /* routes /soundboard-sounds, outside of /api */
extern const struct world_file_fields sounds_world;

#endif
