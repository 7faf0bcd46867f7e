/* stage.c - JSON schema of stage instances. */
#include "model/stage.h"

static const struct enum_choice privacy_levels[] = {
    { STAGE_PUBLIC, NULL, "PUBLIC", "For everyone" },
    { STAGE_GUILD_ONLY, NULL, "GUILD_ONLY", "For members" },
    { 0 },
};

const struct type type_stage_topic = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 120, .doc = "Topic of the stage"
};
const struct type type_stage_privacy = { .kind = KIND_INT, .choices = privacy_levels };

static const struct field stage_fields[] = {
    { FIELD(struct stage_instance, id), .type = &type_id },
    { FIELD(struct stage_instance, guild_id), .type = &type_id },
    { FIELD(struct stage_instance, channel_id), .type = &type_id },
    { FIELD(struct stage_instance, topic), .type = &type_stage_topic },
    { FIELD(struct stage_instance, privacy_level), .type = &type_stage_privacy },
    { FIELD(struct stage_instance, discoverable_disabled), .type = &type_bool },
    { FIELD(struct stage_instance, invite_code), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct stage_instance, guild_scheduled_event_id), .type = &type_id, .flags = NULLABLE },
    { 0 },
};
const struct schema stage_instance_schema = {
    .name = "StageInstance",
    .size = sizeof(struct stage_instance),
    .fields = stage_fields,
    .doc = "A live stage.",
};
const struct type type_stage = { .kind = KIND_OBJECT, .schema = &stage_instance_schema };
const struct type type_stages = { .kind = KIND_ARRAY, .of = &type_stage };
