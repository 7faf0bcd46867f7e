/* facts.h - routing fields: fields of an event that the gateway needs for routing and for its
 * state.
 *
 * They are extracted from the struct that the payload is encoded from, so that the payload is not
 * parsed again. They contain no pointers: the items follow the struct, so facts_size bytes can be
 * sent to another process unchanged. */
#ifndef MODEL_FACTS_H
#define MODEL_FACTS_H

#include "model/channel.h"
#include "model/events/events.h"

enum facts_kind {
    FACTS_NONE,
    FACTS_GUILD,
    FACTS_ROLE,
    FACTS_CHANNEL, /* items: struct overwrite */
    FACTS_MEMBER,  /* also a presence or voice state; items: role ids */
    FACTS_MESSAGE, /* items: ids of mentioned users */
    FACTS_PEOPLE,  /* items: ids of affected users */
};

struct facts {
    uint32_t kind;
    uint32_t count; /* number of items */
    union {
        struct {
            snowflake id, owner_id; /* owner_id 0: unknown */
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
            int64_t restrained_until; /* member_restrained_until */
        } member;
        struct {
            snowflake author_id, application_id; /* 0: unknown or none */
        } message;
    };
};

/* Extracts the routing fields into the arena; NULL: none. schema: the event's, see facts.c. */
const struct facts *facts_of(enum event event, const struct schema *schema, const void *object,
                             struct arena *arena);

/* Returns FACTS_NONE if the event has no routing fields. */
enum facts_kind facts_kind(enum event event);

size_t facts_size(const struct facts *f); /* size with the items */

/* Return the items; the kind determines their type. */
static inline const snowflake *facts_ids(const struct facts *f)
{
    return (const snowflake *)(const void *)(f + 1);
}

static inline const struct overwrite *facts_overwrites(const struct facts *f)
{
    return (const struct overwrite *)(const void *)(f + 1);
}

/* Returns the user whose member, presence or voice state changed, or 0. */
static inline snowflake facts_about(const struct facts *f)
{
    return f->kind == FACTS_MEMBER ? f->member.user_id : 0;
}

#endif
