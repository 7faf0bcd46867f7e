/* sound.h - soundboard sounds. */
#ifndef MODEL_SOUND_H
#define MODEL_SOUND_H

#include "model/user.h"

struct soundboard_sound {
    snowflake sound_id;
    struct str name;
    double volume;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
    /* Guild of the sound; absent for a default sound, which every guild can use. */
    struct opt_id guild_id;
    bool available;
    /* User who uploaded the sound; set only for members who manage sounds. */
    const struct user *user;

    /* The members below are not part of the JSON object. */
    snowflake user_id;
    struct opt_str file; /* name of the audio file */
};
/* Several changed sounds of a guild. */
struct soundboard_sounds_event {
    snowflake guild_id;
    struct list soundboard_sounds; /* struct soundboard_sound */
};
extern const struct schema soundboard_sounds_event_schema;

struct sound_delete_event {
    snowflake guild_id, sound_id;
};

extern const struct schema sound_schema, sound_delete_event_schema;
extern const struct type type_sound, type_sounds, type_sound_name, type_volume;

#endif
