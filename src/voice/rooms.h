/* rooms.h - what a voice channel tells of itself. */
#ifndef VOICE_ROOMS_H
#define VOICE_ROOMS_H

#include "voice/states.h"

/* Somebody is in this voice channel; VOICE_CHANNEL_START_TIME_UPDATE to the first. */
enum err room_entered(struct call *call, const struct voice_state *s);
/* Channels (snowflakes) in which somebody may be: few, however many people they hold. */
enum err rooms_of_guild(struct tx *tx, snowflake guild_id, struct list *ret);
/* The channel or guild ends: nobody is told. */
enum err room_forget(struct tx *tx, snowflake channel_id);
enum err rooms_forget_guild(struct tx *tx, snowflake guild_id);

#endif
