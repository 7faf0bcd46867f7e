/* facts.h - the few facts of an event that decide who hears it, and what loops learn from it.
 *
 * They are taken from the struct that the payload is written from, so that nobody has to
 * read the payload again. Facts are flat: the items follow the struct and nothing points
 * anywhere, so that a bus may send facts_size bytes to another process as they are. */
#ifndef MODEL_FACTS_H
#define MODEL_FACTS_H

#include "model/channel.h"
#include "model/events/events.h"

enum facts_kind {
    FACTS_NONE,
    FACTS_GUILD,
    FACTS_ROLE,
    FACTS_CHANNEL, /* items: struct overwrite */
    FACTS_MEMBER,  /* or a presence or voice state; items: ids of roles */
    FACTS_MESSAGE, /* items: ids of those it mentions */
    FACTS_PEOPLE,  /* items: ids of those it is about */
};

struct facts {
    uint32_t kind;
    uint32_t count; /* of items */
    union {
        struct {
            snowflake id, owner_id; /* owner_id 0: not said */
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
            snowflake author_id, application_id; /* 0: none */
        } message;
    };
};

/* NULL: nobody asks for facts of such an event. Lives in the arena. The schema is the one
 * that the event is always announced with. */
const struct facts *facts_of(enum event event, const struct schema *schema, const void *object,
                             struct arena *arena);

/* Whether an event has facts at all. */
enum facts_kind facts_kind(enum event event);

size_t facts_size(const struct facts *f); /* with the items */

/* The items, as the kind says. */
static inline const snowflake *facts_ids(const struct facts *f)
{
    return (const snowflake *)(const void *)(f + 1);
}

static inline const struct overwrite *facts_overwrites(const struct facts *f)
{
    return (const struct overwrite *)(const void *)(f + 1);
}

/* Whose member, presence or voice state it is about, or 0. */
static inline snowflake facts_about(const struct facts *f)
{
    return f->kind == FACTS_MEMBER ? f->member.user_id : 0;
}

#endif
