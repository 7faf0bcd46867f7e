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
 * people of a private channel, one session. Within a guild it may be narrowed to
 * those who see a channel, or who have one of some rights. */
enum subject_kind { SUBJECT_USER, SUBJECT_GUILD, SUBJECT_CHANNEL, SUBJECT_SESSION };

struct subject {
    enum subject_kind kind;
    snowflake id;
    snowflake channel_id; /* SUBJECT_GUILD: 0, or only who can view it */
    uint64_t any_of;      /* SUBJECT_GUILD: 0, or only who has one of these rights */
};

static inline struct subject to_user(snowflake id)
{
    return (struct subject){ .kind = SUBJECT_USER, .id = id };
}

static inline struct subject to_guild(snowflake id)
{
    return (struct subject){ .kind = SUBJECT_GUILD, .id = id };
}

static inline struct subject to_viewers(snowflake guild_id, snowflake channel_id)
{
    return (struct subject){ .kind = SUBJECT_GUILD, .id = guild_id, .channel_id = channel_id };
}

/* In the channel when one is given, else in the guild as a whole. */
static inline struct subject to_entitled(snowflake guild_id, snowflake channel_id, uint64_t any_of)
{
    return (struct subject){ SUBJECT_GUILD, guild_id, channel_id, any_of };
}

/* The people of a private channel. */
static inline struct subject to_channel(snowflake id)
{
    return (struct subject){ .kind = SUBJECT_CHANNEL, .id = id };
}

/* One announcement: the payload is encoded once, for all who receive it. */
struct announcement {
    enum event event;
    struct subject to;
    struct str payload; /* JSON of "d" */
    struct announcement *next;
};

#endif
