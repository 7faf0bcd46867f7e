/* sound.c - JSON schema of soundboard sounds. */
#include "model/sound.h"

#include "model/fields/types.h"

const struct type type_sound_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 2, .max = 32
};
const struct type type_volume = { .kind = KIND_REAL, .min = 0, .max = 1 };

static const struct field sound_fields[] = {
    { FIELD(struct sound, sound_id), .type = &type_id },
    { FIELD(struct sound, name), .type = &type_sound_name },
    { FIELD(struct sound, volume), .type = &type_volume },
    { FIELD(struct sound, emoji_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct sound, emoji_name), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct sound, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct sound, available), .type = &type_bool },
    { FIELD(struct sound, user), .type = &type_partial_user, .flags = OPTIONAL },
    { 0 },
};
const struct schema sound_schema = {
    .name = "SoundboardSound",
    .size = sizeof(struct sound),
    .fields = sound_fields,
    .doc = "A soundboard sound.",
};
const struct type type_sound = { .kind = KIND_OBJECT, .schema = &sound_schema };
const struct type type_sounds = { .kind = KIND_ARRAY, .of = &type_sound };

static const struct field sounds_event_fields[] = {
    { FIELD(struct sounds_event, guild_id), .type = &type_id },
    { FIELD(struct sounds_event, soundboard_sounds), .type = &type_sounds },
    { 0 },
};
const struct schema sounds_event_schema = {
    .name = "SoundboardSoundsUpdate",
    .size = sizeof(struct sounds_event),
    .fields = sounds_event_fields,
    .doc = "Sounds that changed together.",
};

static const struct field gone_fields[] = {
    { FIELD(struct sound_gone, guild_id), .type = &type_id },
    { FIELD(struct sound_gone, sound_id), .type = &type_id },
    { 0 },
};
const struct schema sound_gone_schema = {
    .name = "SoundboardSoundGone",
    .size = sizeof(struct sound_gone),
    .fields = gone_fields,
    .doc = "A sound that was deleted.",
};
