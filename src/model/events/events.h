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
 * intents. A user session that declares none receives all events. */
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

/* Intents that only user sessions may declare. */
#define INTENTS_USER_ONLY \
    (INTENT(PRIVATE_CHANNELS) | INTENT(CALLS) | INTENT(USER_RELATIONSHIPS) | INTENT(USER_PRESENCE))

enum event_flags {
    EVENT_TO_ALL = 0,
    EVENT_TO_USERS = 1, /* event is not sent to bots */
    /* Event about channels or roles: bots receive it even for channels they cannot view. */
    EVENT_STRUCTURE = 2,
    /* Only recipients with the intent MESSAGE_CONTENT get the message's content. */
    EVENT_CONTENT = 4,
    EVENT_OWN = 8, /* an account needs no intent for an event that is about itself */
    /* Users need the permissions that the audience requires; bots need only the intent. */
    EVENT_BY_INTENT = 16,
    /* Recipients need the intent GUILD_MEMBERS. Accounts that the event is about receive a part of
     * the event even without it. */
    EVENT_CONCERNED = 32,
    EVENT_TO_BOTS = 64, /* event is not sent to users */
    EVENT_BOTS_CONTENT = EVENT_TO_BOTS | EVENT_CONTENT,
    /* Transient event: it is not in the event log, so a node that is disconnected misses it. */
    EVENT_FLEETING = 128,
};

struct event_type_properties {
    const char *name, *doc;
    unsigned intents; /* recipients need one of these intents; 0 means that they need none */
    unsigned flags;
};

const struct event_type_properties *get_properties_of_event_type(enum event e);
const char *get_name_of_event_type(enum event e);
enum event find_event_type_by_name(struct str name); /* EVENT_NONE if the name is unknown */
const char *get_description_of_event_type(enum event e);
/* Appends the names of the intents, such as "GUILDS, GUILD_MESSAGES"; "none" for an empty set. */
void intent_set_append_names(struct buf *out, unsigned intents);

/* The audience of an event: the sessions of a user, all members of a guild, all members of a
 * private channel, or one session. Within a guild the audience can be limited: to members who can
 * view a channel, or to members who have at least one of certain permissions. */
enum audience_kind { AUDIENCE_USER, AUDIENCE_GUILD, AUDIENCE_CHANNEL, AUDIENCE_SESSION };

struct audience {
    enum audience_kind kind;
    snowflake id;
    /* AUDIENCE_GUILD: channel that recipients must be able to view, or 0. AUDIENCE_USER: private
     * channel (see audience_of_private_channel_member), or 0. */
    snowflake channel_id;
    /* If channel_id is a Discord thread, parent_id, starter_id and the following struct members
     * decide who can view it. starter_id is the creator of a new private thread, who is about to
     * become a member of it; in other cases 0. */
    snowflake parent_id, starter_id;
    int64_t thread_type;
    bool private_thread;
    /* Sorted ids. If the channel is a private Discord thread: its members. For
     * audience_limit_to_role_granters: the accounts and roles. */
    const snowflake *user_ids;
    size_t user_count;
    /* AUDIENCE_GUILD: recipients must have at least one of these permissions; 0 if unused. */
    uint64_t any_of;
    /* AUDIENCE_GUILD: recipients must not be able to view this channel; 0 if unused. */
    snowflake hidden_id;
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

/* Returns the audience of members who can view the first channel but not the second one. */
static inline struct audience audience_who_can_view_only_first_channel(snowflake guild_id,
                                                                       snowflake channel_id,
                                                                       snowflake hidden_id)
{
    return (struct audience){
        .kind = AUDIENCE_GUILD, .id = guild_id, .channel_id = channel_id, .hidden_id = hidden_id
    };
}

/* Returns the audience of members who have at least one of the permissions in the channel, or in
 * the guild if channel_id is 0. */
static inline struct audience audience_of_members_with_permission(snowflake guild_id,
                                                                  snowflake channel_id,
                                                                  uint64_t any_of)
{
    return (struct audience){
        .kind = AUDIENCE_GUILD, .id = guild_id, .channel_id = channel_id, .any_of = any_of
    };
}

/* Limits the audience to two groups: accounts whose id is in `ids`, and members who have both
 * MANAGE_ROLES and a role whose id is in `ids`. ids is sorted and has at most the number of roles
 * of the guild plus two. */
static inline struct audience audience_limit_to_role_granters(struct audience to, struct list ids)
{
    to.user_ids = ids.items;
    to.user_count = ids.count;
    return to;
}

static inline struct audience audience_of_private_channel(snowflake id)
{
    return (struct audience){ .kind = AUDIENCE_CHANNEL, .id = id };
}

/* Returns the audience of one member of a private channel. The intents of that channel apply. */
static inline struct audience audience_of_private_channel_member(snowflake channel_id,
                                                                 snowflake user_id)
{
    return (struct audience){ .kind = AUDIENCE_USER, .id = user_id, .channel_id = channel_id };
}

static inline struct audience audience_of_session(uint64_t number)
{
    return (struct audience){ .kind = AUDIENCE_SESSION, .id = number };
}

struct event_routing;

/* An event that must be published. Its payload is encoded once for all recipients. */
struct emitted_event {
    enum event event;
    struct audience to;
    struct str payload;                  /* JSON of the field "d" of the gateway payload */
    const struct event_routing *routing; /* routing fields, or NULL if the event has none */
    struct emitted_event *next;
    /* AUDIENCE_CHANNEL: ids of the channel's members at the time when the event was emitted. */
    struct list member_ids;
    snowflake guild_id; /* AUDIENCE_USER: guild that determines a bot's shard for the event, or 0 */
};

#endif
