/* welcome.c - JSON schema of welcome screens. */
#include "model/welcome.h"

static const struct type type_welcome_text = { .kind = KIND_STRING, .min = 1, .max = 50 };
static const struct field channel_fields[] = {
    { FIELD(struct welcome_channel, channel_id), .type = &type_id },
    { FIELD(struct welcome_channel, description), .type = &type_welcome_text },
    { FIELD(struct welcome_channel, emoji_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct welcome_channel, emoji_name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema welcome_channel_schema = {
    .name = "WelcomeChannel",
    .size = sizeof(struct welcome_channel),
    .fields = channel_fields,
    .doc = "A channel of the welcome screen, with an optional emoji.",
};
static const struct type type_welcome_channel = { .kind = KIND_OBJECT,
                                                  .schema = &welcome_channel_schema };
const struct type type_welcome_channels = { .kind = KIND_ARRAY,
                                            .of = &type_welcome_channel,
                                            .max = 5 };

static const struct field screen_fields[] = {
    { FIELD(struct welcome_screen, description), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct welcome_screen, welcome_channels), .type = &type_welcome_channels },
    { 0 },
};
static const struct schema screen_schema = {
    .name = "WelcomeScreen",
    .size = sizeof(struct welcome_screen),
    .fields = screen_fields,
    .doc = "The screen that a guild shows to new members.",
};
const struct type type_welcome_screen = { .kind = KIND_OBJECT, .schema = &screen_schema };
