/* facts.h - what the gateway itself needs to know from a payload. */
#ifndef GATEWAY_FACTS_H
#define GATEWAY_FACTS_H

#include "gateway/news.h"
#include "model/channel.h"
#include "model/member.h"

struct facts {
    snowflake id;         /* of the guild, channel or thread */
    snowflake owner_id;   /* of a guild */
    snowflake about;      /* whose member, presence or voice state it is */
    snowflake role_id;    /* made, changed or deleted */
    uint64_t permissions; /* of the role */
    struct channel channel;
    struct member member;  /* roles and communication_disabled_until */
    snowflake author;      /* of a message */
    struct list mentioned; /* struct { snowflake id; } */
};

/* False when the payload does not hold what such an event holds. What is not in it is
 * 0. Lives in the arena and the payload. */
bool facts_read(enum event event, struct str payload, struct arena *arena, struct facts *ret);

#endif
