/* events.h - gateway events: enum event, intents, flags, and the recipients of an event. */
#ifndef MODEL_EVENTS_H
#define MODEL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
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

/* Intents that a session declares in IDENTIFY, with the same bits as Discord's. Bots must declare
 * them; user sessions without intents receive all events. */
enum intent_bit {
#define INTENT_ROW(bit, name) INTENT_BIT_##name = bit,
#include "model/events/intents.def"
#undef INTENT_ROW
    INTENT_BITS = 29, /* number of intent bits that exist */
};
#define INTENT(name) (1u << INTENT_BIT_##name)

/* Intents for private channels; all other intents are for guilds. */
#define INTENTS_PRIVATE_CHANNELS                                                                  \
    (INTENT(DIRECT_MESSAGES) | INTENT(DIRECT_MESSAGE_REACTIONS) | INTENT(DIRECT_MESSAGE_TYPING) | \
     INTENT(DIRECT_MESSAGE_POLLS) | INTENT(CALLS))

/* Intents that only user sessions may have. */
#define INTENTS_USER_ONLY \
    (INTENT(PRIVATE_CHANNELS) | INTENT(CALLS) | INTENT(USER_RELATIONSHIPS) | INTENT(USER_PRESENCE))

enum event_flags {
    EVENT_TO_ALL = 0,
    EVENT_TO_USERS = 1,   /* event is not sent to bots */
    EVENT_STRUCTURE = 2,  /* guild structure: bots also receive it for channels they cannot view */
    EVENT_CONTENT = 4,    /* only recipients with MESSAGE_CONTENT get the content of the message */
    EVENT_OWN = 8,        /* recipients need no intent for events about themselves */
    EVENT_BY_INTENT = 16, /* users need the permissions of the audience, bots only the intent */
    /* All recipients need the intent GUILD_MEMBERS, except that affected users receive the part of
     * the event that is about them. */
    EVENT_CONCERNED = 32,
    EVENT_TO_BOTS = 64, /* event is not sent to users */
    EVENT_BOTS_CONTENT = EVENT_TO_BOTS | EVENT_CONTENT,
    /* Transient event: not written to the event log, so a disconnected node of the cluster misses
     * it. */
    EVENT_FLEETING = 128,
};

struct event_info {
    const char *name, *doc;
    unsigned intents; /* recipients need one of these intents; 0 means that they need none */
    unsigned flags;
};

const struct event_info *event_info(enum event e);
const char *event_name(enum event e);
enum event event_find_by_name(struct str name); /* EVENT_NONE if the name is unknown */
const char *event_description(enum event e);
/* Appends names such as "GUILDS, GUILD_MESSAGES"; "none" for an empty set. */
void append_intent_names(struct buf *out, unsigned intents);

/* The audience of an event: the sessions of a user, all members of a guild, the members of a
 * private channel, or one session. Within a guild the audience can be limited to members who can
 * view a channel, or who have one of some permissions. */
enum audience_kind { AUDIENCE_USER, AUDIENCE_GUILD, AUDIENCE_CHANNEL, AUDIENCE_SESSION };

struct audience {
    enum audience_kind kind;
    snowflake id;
    snowflake channel_id; /* AUDIENCE_GUILD: channel that recipients can view, or 0; AUDIENCE_USER:
                             see audience_of_channel_member */
    /* If channel_id is a thread, parent_id, starter_id and the following members decide who can
     * view it. starter_id is the creator of a new private thread, who is about to become a member;
     * otherwise 0. */
    snowflake parent_id, starter_id;
    int64_t thread_type;
    bool private_thread;
    /* Sorted: ids of a private thread's members, or the ids of audience_of_role_granters. */
    const snowflake *user_ids;
    size_t user_count;
    uint64_t any_of;     /* AUDIENCE_GUILD: recipients have one of these permissions; 0 if unused */
    snowflake hidden_id; /* AUDIENCE_GUILD: recipients cannot view this channel; 0 if unused */
};

static inline struct audience audience_of_user(snowflake id)
{
    return (struct audience){ .kind = AUDIENCE_USER, .id = id };
}

static inline struct audience audience_of_guild(snowflake id)
{
    return (struct audience){ .kind = AUDIENCE_GUILD, .id = id };
}

static inline struct audience audience_of_channel_viewers(snowflake guild_id, snowflake channel_id)
{
    return (struct audience){ .kind = AUDIENCE_GUILD, .id = guild_id, .channel_id = channel_id };
}

/* Returns the audience of members who can view the first channel, but not the second. */
static inline struct audience audience_of_viewers_of_first_channel_only(snowflake guild_id,
                                                                        snowflake channel_id,
                                                                        snowflake hidden_id)
{
    return (struct audience){
        .kind = AUDIENCE_GUILD, .id = guild_id, .channel_id = channel_id, .hidden_id = hidden_id
    };
}

/* Returns the audience of members with one of these permissions in the channel, or in the guild if
 * channel_id is 0. */
static inline struct audience audience_with_permission(snowflake guild_id, snowflake channel_id,
                                                       uint64_t any_of)
{
    return (struct audience){
        .kind = AUDIENCE_GUILD, .id = guild_id, .channel_id = channel_id, .any_of = any_of
    };
}

/* Limits the audience to the accounts in `ids`, and to members who have MANAGE_ROLES and one of the
 * roles in `ids`. ids is sorted and has at most the number of roles of the guild plus two. */
static inline struct audience audience_of_role_granters(struct audience to, struct list ids)
{
    to.user_ids = ids.items;
    to.user_count = ids.count;
    return to;
}

static inline struct audience audience_of_private_channel(snowflake id)
{
    return (struct audience){ .kind = AUDIENCE_CHANNEL, .id = id };
}

/* Returns the audience of one member of a private channel; the event counts as an event of that
 * channel. */
static inline struct audience audience_of_channel_member(snowflake channel_id, snowflake user_id)
{
    return (struct audience){ .kind = AUDIENCE_USER, .id = user_id, .channel_id = channel_id };
}

static inline struct audience audience_of_session(uint64_t number)
{
    return (struct audience){ .kind = AUDIENCE_SESSION, .id = number };
}

struct event_routing;

/* An event to publish; the payload is encoded once for all recipients. */
struct emitted_event {
    enum event event;
    struct audience to;
    struct str payload;                  /* JSON of the field "d" of the gateway payload */
    const struct event_routing *routing; /* routing fields, or NULL if the event has none */
    struct emitted_event *next;
    struct list member_ids; /* AUDIENCE_CHANNEL: ids of the members when the event was emitted */
    snowflake guild_id;     /* for events to a user: guild whose shard receives the event, or 0 */
};

#endif
