/* sound.c - JSON schema of soundboard sounds. */
#include "model/sound.h"

#include "model/fields/types.h"

const struct type type_sound_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 2, .max = 32
};
const struct type type_volume = { .kind = KIND_REAL, .min = 0, .max = 1 };

static const struct field sound_fields[] = {
    { FIELD(struct soundboard_sound, sound_id), .type = &type_id },
    { FIELD(struct soundboard_sound, name), .type = &type_sound_name },
    { FIELD(struct soundboard_sound, volume), .type = &type_volume },
    { FIELD(struct soundboard_sound, emoji_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct soundboard_sound, emoji_name), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct soundboard_sound, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct soundboard_sound, available), .type = &type_bool },
    { FIELD(struct soundboard_sound, user), .type = &type_partial_user, .flags = OPTIONAL },
    { 0 },
};
const struct schema sound_schema = {
    .name = "SoundboardSound",
    .size = sizeof(struct soundboard_sound),
    .fields = sound_fields,
    .doc = "A soundboard sound.",
};
const struct type type_sound = { .kind = KIND_OBJECT, .schema = &sound_schema };
const struct type type_sounds = { .kind = KIND_ARRAY, .of = &type_sound };

static const struct field sounds_event_fields[] = {
    { FIELD(struct soundboard_sounds_event, guild_id), .type = &type_id },
    { FIELD(struct soundboard_sounds_event, soundboard_sounds), .type = &type_sounds },
    { 0 },
};
const struct schema soundboard_sounds_event_schema = {
    .name = "SoundboardSoundsUpdate",
    .size = sizeof(struct soundboard_sounds_event),
    .fields = sounds_event_fields,
    .doc = "Sounds that changed together.",
};

static const struct field sound_delete_fields[] = {
    { FIELD(struct sound_delete_event, guild_id), .type = &type_id },
    { FIELD(struct sound_delete_event, sound_id), .type = &type_id },
    { 0 },
};
const struct schema sound_delete_event_schema = {
    .name = "SoundboardSoundGone",
    .size = sizeof(struct sound_delete_event),
    .fields = sound_delete_fields,
    .doc = "A sound that was deleted.",
};
