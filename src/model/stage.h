/* stage.h - stage instances: live stages with topic and privacy level. */
#ifndef MODEL_STAGE_H
#define MODEL_STAGE_H

#include "model/fields/types.h"

enum stage_privacy_level { STAGE_PUBLIC = 1, STAGE_GUILD_ONLY = 2 };

struct stage_instance {
    snowflake id, guild_id, channel_id;
    struct str topic;
    int64_t privacy_level;
    bool discoverable_disabled;
    struct opt_str invite_code; /* always null */
    /* Scheduled event to which the stage belongs; null if there is none. */
    struct opt_id guild_scheduled_event_id;
};

extern const struct schema stage_instance_schema;
extern const struct type type_stages; /* type of responses with a list */
extern const struct type type_stage, type_stage_topic, type_stage_privacy;

#endif
