/* events.h - what clients are told, and whom an event is for. */
#ifndef MODEL_EVENTS_H
#define MODEL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/snowflake.h"
#include "base/str.h"
#include "json/schema.h"

enum event {
    EVENT_NONE,
#define EVENT(name, intents, flags, doc) EVENT_##name,
#include "model/events/events.def"
#undef EVENT
    EVENT_COUNT
};

/* What a session asks for when it connects: the bits of the interface. Bots must; a person
 * who names none is told everything. */
enum intent_bit {
    INTENT_BIT_GUILDS,
    INTENT_BIT_GUILD_MEMBERS,
    INTENT_BIT_GUILD_MODERATION,
    INTENT_BIT_GUILD_EXPRESSIONS,
    INTENT_BIT_GUILD_INTEGRATIONS,
    INTENT_BIT_GUILD_WEBHOOKS,
    INTENT_BIT_GUILD_INVITES,
    INTENT_BIT_GUILD_VOICE_STATES,
    INTENT_BIT_GUILD_PRESENCES,
    INTENT_BIT_GUILD_MESSAGES,
    INTENT_BIT_GUILD_MESSAGE_REACTIONS,
    INTENT_BIT_GUILD_MESSAGE_TYPING,
    INTENT_BIT_DIRECT_MESSAGES,
    INTENT_BIT_DIRECT_MESSAGE_REACTIONS,
    INTENT_BIT_DIRECT_MESSAGE_TYPING,
    INTENT_BIT_MESSAGE_CONTENT,
    INTENT_BIT_GUILD_SCHEDULED_EVENTS,
    INTENT_BIT_PRIVATE_CHANNELS = 18,
    INTENT_BIT_CALLS,
    INTENT_BIT_AUTO_MODERATION_CONFIGURATION,
    INTENT_BIT_AUTO_MODERATION_EXECUTION,
    INTENT_BIT_USER_RELATIONSHIPS = 22,
    INTENT_BIT_USER_PRESENCE,
    INTENT_BIT_GUILD_MESSAGE_POLLS,
    INTENT_BIT_DIRECT_MESSAGE_POLLS,
    INTENT_BITS = 29, /* higher ones do not exist */
};
#define INTENT(name) (1u << INTENT_BIT_##name)

/* Intents that count in private channels; all others count in guilds. */
#define INTENTS_PRIVATE                                                                           \
    (INTENT(DIRECT_MESSAGES) | INTENT(DIRECT_MESSAGE_REACTIONS) | INTENT(DIRECT_MESSAGE_TYPING) | \
     INTENT(DIRECT_MESSAGE_POLLS) | INTENT(CALLS))

/* Intents that only people have. */
#define INTENTS_OF_PEOPLE \
    (INTENT(PRIVATE_CHANNELS) | INTENT(CALLS) | INTENT(USER_RELATIONSHIPS) | INTENT(USER_PRESENCE))

enum event_flags {
    EVENT_TO_ALL = 0,
    EVENT_TO_USERS = 1,   /* never to bots */
    EVENT_STRUCTURE = 2,  /* of a guild: bots hear of channels that they cannot view */
    EVENT_CONTENT = 4,    /* a message: its content is for those who asked for it */
    EVENT_OWN = 8,        /* about the receiver itself it needs no intent */
    EVENT_BY_INTENT = 16, /* people need the subject's rights, bots only the intent */
    /* All of it with the intent GUILD_MEMBERS; who it is about hears its own part without. */
    EVENT_CONCERNED = 32,
    EVENT_TO_BOTS = 64, /* never to people */
    EVENT_BOTS_CONTENT = EVENT_TO_BOTS | EVENT_CONTENT,
    /* Worth nothing a moment later: it is not kept for servers that were not listening. */
    EVENT_FLEETING = 128,
};

struct event_info {
    const char *name, *doc;
    unsigned intents; /* any of them; 0: none is needed */
    unsigned flags;
};

const struct event_info *event_info(enum event e);
const char *event_name(enum event e);
enum event event_named(struct str name); /* EVENT_NONE: no event of ours */
const char *event_doc(enum event e);

/* A subject names who listens: a user's own sessions, everybody in a guild, the
 * people of a private channel, one session. Within a guild it may be narrowed to
 * those who see a channel, or who have one of some rights. */
enum subject_kind { SUBJECT_USER, SUBJECT_GUILD, SUBJECT_CHANNEL, SUBJECT_SESSION };

struct subject {
    enum subject_kind kind;
    snowflake id;
    snowflake channel_id; /* SUBJECT_GUILD: 0, or only who can view it; to_person_in */
    /* When that channel is a thread: what decides who can view it. starter_id: of a private one
     * that is being started, somebody who is about to become a member; else 0. */
    snowflake parent_id, starter_id;
    int64_t thread_type;
    bool closed; /* it is a private one */
    /* By id: of a private thread its members; otherwise see to_granters. */
    const snowflake *people;
    size_t people_count;
    uint64_t any_of;     /* SUBJECT_GUILD: 0, or only who has one of these rights */
    snowflake hidden_id; /* SUBJECT_GUILD: 0, or only who cannot view this channel */
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

/* Who can view the one channel, but not the other. */
static inline struct subject to_viewers_unless(snowflake guild_id, snowflake channel_id,
                                               snowflake hidden_id)
{
    return (struct subject){
        .kind = SUBJECT_GUILD, .id = guild_id, .channel_id = channel_id, .hidden_id = hidden_id
    };
}

/* In the channel when one is given, else in the guild as a whole. */
static inline struct subject to_entitled(snowflake guild_id, snowflake channel_id, uint64_t any_of)
{
    return (struct subject){
        .kind = SUBJECT_GUILD, .id = guild_id, .channel_id = channel_id, .any_of = any_of
    };
}

/* Restricts an audience to these accounts, and to members who have MANAGE_ROLES and one of these
 * roles. The ids are sorted; at most one for each role of the guild and two more. */
static inline struct subject to_granters(struct subject to, struct list ids)
{
    to.people = ids.items;
    to.people_count = ids.count;
    return to;
}

/* The people of a private channel. */
static inline struct subject to_channel(snowflake id)
{
    return (struct subject){ .kind = SUBJECT_CHANNEL, .id = id };
}

/* The same for one of them: their sessions hear it as something of the private channel. */
static inline struct subject to_person_in(snowflake channel_id, snowflake user_id)
{
    return (struct subject){ .kind = SUBJECT_USER, .id = user_id, .channel_id = channel_id };
}

/* One session, by the number that the gateway gave it. */
static inline struct subject to_session(uint64_t number)
{
    return (struct subject){ .kind = SUBJECT_SESSION, .id = number };
}

struct facts;

/* One announcement: the payload is encoded once, for all who receive it. */
struct announcement {
    enum event event;
    struct subject to;
    struct str payload;        /* JSON of "d" */
    const struct facts *facts; /* NULL: nobody asks for any (model/events/facts.h) */
    struct announcement *next;
    struct list people; /* SUBJECT_CHANNEL: snowflakes, who was in it then */
    snowflake guild_id; /* of a user's event that belongs to a guild: its shard gets it; or 0 */
};

#endif
