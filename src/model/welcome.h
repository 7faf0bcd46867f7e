/* welcome.h - the welcome screen of a guild, for new members. */
#ifndef MODEL_WELCOME_H
#define MODEL_WELCOME_H

#include "model/fields/types.h"

struct welcome_channel {
    snowflake channel_id;
    struct str description;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
};
struct welcome_screen {
    struct opt_str description;
    struct list welcome_channels; /* struct welcome_channel */
};

extern const struct type type_welcome_screen, type_welcome_channels;

#endif
