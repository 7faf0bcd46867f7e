/* events.h - what clients are told, and whom an event is for. */
#ifndef MODEL_EVENTS_H
#define MODEL_EVENTS_H

#include <stdint.h>

#include "base/snowflake.h"
#include "base/str.h"

enum event {
    EVENT_NONE,
#define EVENT(name, doc) EVENT_##name,
#include "model/events.def"
#undef EVENT
    EVENT_COUNT
};

const char *event_name(enum event e);
const char *event_doc(enum event e);

/* A subject names who listens: a user's own sessions, everybody in a guild, the
 * people of a private channel, one session. */
enum subject_kind { SUBJECT_USER, SUBJECT_GUILD, SUBJECT_CHANNEL, SUBJECT_SESSION };

struct subject {
    enum subject_kind kind;
    snowflake id;
};

static inline struct subject to_user(snowflake id)
{
    return (struct subject){ SUBJECT_USER, id };
}

static inline struct subject to_guild(snowflake id)
{
    return (struct subject){ SUBJECT_GUILD, id };
}

static inline struct subject to_channel(snowflake id)
{
    return (struct subject){ SUBJECT_CHANNEL, id };
}

/* One announcement: the payload is encoded once, for all who receive it. */
struct announcement {
    enum event event;
    struct subject to;
    struct str payload; /* JSON of "d" */
    struct announcement *next;
};

#endif
