/* rooms.h - start time and status of voice channels. */
#ifndef VOICE_ROOMS_H
#define VOICE_ROOMS_H

#include "voice/states.h"

/* Called after a user joined a voice channel. If the channel was empty before, sets its start time
 * and emits VOICE_CHANNEL_START_TIME_UPDATE. */
enum err voice_room_on_join(struct call *call, const struct voice_state *s);
/* Lists the ids of the guild's voice channels that may have participants. */
enum err list_active_voice_rooms(struct tx *tx, snowflake guild_id, struct list *ret);
/* Deletes the status and start time of a deleted channel or of all channels of a deleted guild,
 * without events. */
enum err voice_room_delete(struct tx *tx, snowflake channel_id);
enum err voice_rooms_delete_of_guild(struct tx *tx, snowflake guild_id);

#endif
