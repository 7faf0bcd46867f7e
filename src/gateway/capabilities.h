/* capabilities.h - READY in the forms that newer clients of people ask for.
 *
 * A form is made while READY is written: whoever writes a part of it from its struct hands it
 * to the shape, which writes what stays there and gathers what stands elsewhere. */
#ifndef GATEWAY_CAPABILITIES_H
#define GATEWAY_CAPABILITIES_H

#include "base/map.h"
#include "model/guild.h"

struct gateway;

/* Bits of op 2's capabilities; others mean nothing here. */
enum capability {
    CAPABILITY_NO_NOTES = 1 << 0,
    CAPABILITY_READ_STATE = 1 << 2,     /* read_state with entries, partial, version */
    CAPABILITY_GUILD_SETTINGS = 1 << 3, /* user_guild_settings likewise */
    CAPABILITY_USERS = 1 << 4,          /* users stand once, others refer to them */
    CAPABILITY_SUPPLEMENTAL = 1 << 5,   /* with the one above: READY_SUPPLEMENTAL follows */
    CAPABILITY_OTHER_STATES = 1 << 7,   /* read states that are not of channels */
    CAPABILITY_NO_SETTINGS = 1 << 9,    /* no user_settings and no news of them */
    CAPABILITY_PROPERTIES = 1 << 10,    /* a guild's own fields under "properties" */
    CAPABILITY_CALLS = 1 << 12,         /* is told of the calls that run */
};

/* What does not stay in its place. */
enum shape_list {
    SHAPE_USERS,     /* everybody once */
    SHAPE_MEMBERS,   /* for each guild: those that READY has */
    SHAPE_LATER,     /* and those that follow it */
    SHAPE_PRESENCES, /* for each guild */
    SHAPE_GUILDS,    /* what follows of each guild */
    SHAPE_LISTS,
};

struct ready_shape {
    int64_t capabilities;
    snowflake own;    /* whose READY it is */
    struct map known; /* users that stand in the list already */
    struct buf texts[SHAPE_LISTS];
    struct json lists[SHAPE_LISTS]; /* open, into texts */
};

/* Lists as they were at some moment. */
struct shape_mark {
    struct json lists[SHAPE_LISTS];
    size_t bytes[SHAPE_LISTS];
};

/* Stays where it is. capabilities 0: everything stands in its place. */
void shape_init(struct ready_shape *s, int64_t capabilities, snowflake own);
void shape_clear(struct ready_shape *s);

/* Whether users stand in one list and everything else refers to them. NULL: no. */
bool shape_refers(const struct ready_shape *s);

/* Members of a guild, or relationships, for a shape that refers to users or for one that does not:
 * one by one, or as one list. */
struct written_people members_write(struct arena *arena, const struct list *members, bool refers);
struct written_people relationships_write(struct arena *arena, const struct list *relationships,
                                          bool refers);

/* A guild without what differs by who is shown it, and each of its channels. */
const struct written_guild *guild_write(struct arena *arena, const struct guild *guild,
                                        const struct list *sounds, const struct list *channels);

struct written_people *people_copy(struct arena *arena, const struct written_people *people);

/* NULL: as GUILD_CREATE has it. */
void shape_guild(struct ready_shape *s, const struct gateway_guild *g, struct json *out);
/* A guild that has no more than its id there, since it comes later. */
void shape_late_guild(struct ready_shape *s, snowflake id, struct json *out);
/* A list of relationships, or of private channels. */
void shape_relationships(struct ready_shape *s, const struct written_people *relationships,
                         struct json *out);
void shape_private_channel(struct ready_shape *s, const struct channel *c, struct json *out);

/* Takes back what guilds have put into lists since; who stands among the users stays. */
struct shape_mark shape_mark(const struct ready_shape *s);
void shape_return(struct ready_shape *s, const struct shape_mark *m);
size_t shape_bytes(const struct ready_shape *s); /* in the lists */
bool shape_full(const struct ready_shape *s);    /* one of them is */

/* When all else is written: presences of friends and the lists, as members of READY, which is
 * open; READY_SUPPLEMENTAL is written as a whole where it follows. */
void shape_end(struct ready_shape *s, struct gateway *g, const struct list *friends,
               struct json *ready, struct json *more);

#endif
