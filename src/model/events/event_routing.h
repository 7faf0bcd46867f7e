/* event_routing.h - routing fields: fields of an event that the gateway needs to choose the
 * recipients and to update its own state.
 *
 * Routing fields are extracted from the struct that the payload is encoded from, so that the
 * payload need not be parsed. They contain no pointers: the items (such as role ids) follow the
 * struct, so event_routing_size bytes can be sent to another process unchanged. */
#ifndef MODEL_EVENT_ROUTING_H
#define MODEL_EVENT_ROUTING_H

#include "model/channel.h"
#include "model/events/events.h"

enum event_routing_kind {
    ROUTING_NONE,
    ROUTING_GUILD,
    ROUTING_ROLE,
    ROUTING_CHANNEL, /* the items are struct overwrite */
    /* For members, presences and voice states; the items are ids of the member's roles. */
    ROUTING_MEMBER,
    ROUTING_MESSAGE, /* for messages; the items are ids of mentioned users */
    ROUTING_USERS,   /* for events about several users; the items are ids of these users */
};

struct event_routing {
    uint32_t kind;
    uint32_t count; /* number of items after the struct */
    union {
        struct {
            snowflake id, owner_id; /* owner_id is 0 if unknown */
        } guild;
        struct {
            snowflake id;
            uint64_t permissions;
        } role;
        struct {
            snowflake id;
            int64_t type;
        } channel;
        struct {
            snowflake user_id;
            int64_t restrained_until; /* microseconds, see member_restricted_until */
        } member;
        struct {
            /* Ids of the message's author and application; 0 if unknown or absent. */
            snowflake author_id, application_id;
        } message;
    };
};

/* Extracts the routing fields of an event into the arena. Returns NULL if the event has none.
 * `schema` must be the schema of the event, `object` the struct from which its payload is
 * encoded. */
const struct event_routing *event_routing_extract(enum event event, const struct schema *schema,
                                                  const void *object, struct arena *arena);

/* Returns the kind of an event's routing fields; ROUTING_NONE if the event has none. */
enum event_routing_kind event_routing_kind(enum event event);

size_t event_routing_size(const struct event_routing *f); /* size in bytes, with the items */

/* Return the items that follow the struct. The items are ids or overwrites, depending on
 * f->kind. */
static inline const snowflake *event_routing_get_ids(const struct event_routing *f)
{
    return (const snowflake *)(const void *)(f + 1);
}

static inline const struct overwrite *event_routing_get_overwrites(const struct event_routing *f)
{
    return (const struct overwrite *)(const void *)(f + 1);
}

/* Returns the user whose member, presence or voice state changed, or 0. */
static inline snowflake event_routing_get_user_id(const struct event_routing *f)
{
    return f->kind == ROUTING_MEMBER ? f->member.user_id : 0;
}

#endif
