/* capabilities.h - READY as the "capabilities" of a user client require.
 *
 * The source passes each part of READY to the shape while READY is written. The shape writes the
 * fields that stay in place and collects those that move to lists at the end. */
#ifndef GATEWAY_CAPABILITIES_H
#define GATEWAY_CAPABILITIES_H

#include "base/map.h"
#include "model/guild.h"

struct gateway;

/* Supported bits of op 2's "capabilities"; others are ignored. */
enum capability {
    CAPABILITY_NO_NOTES = 1 << 0,
    CAPABILITY_READ_STATE = 1 << 2,     /* read_state with entries, partial, version */
    CAPABILITY_GUILD_SETTINGS = 1 << 3, /* user_guild_settings in the same form */
    CAPABILITY_USERS = 1 << 4,          /* users in one list; other objects have ids */
    CAPABILITY_SUPPLEMENTAL = 1 << 5,   /* with CAPABILITY_USERS: READY_SUPPLEMENTAL follows */
    CAPABILITY_OTHER_STATES = 1 << 7,   /* read states of other types than channel */
    CAPABILITY_NO_SETTINGS = 1 << 9,    /* no user_settings, no USER_SETTINGS_UPDATE */
    CAPABILITY_PROPERTIES = 1 << 10,    /* a guild's own fields in "properties" */
    CAPABILITY_CALLS = 1 << 12,         /* receives running calls after READY */
};

/* Lists that collect the fields which move. */
enum shape_list {
    SHAPE_USERS,     /* every user once */
    SHAPE_MEMBERS,   /* per guild: members in READY */
    SHAPE_LATER,     /* per guild: members in READY_SUPPLEMENTAL */
    SHAPE_PRESENCES, /* per guild */
    SHAPE_GUILDS,    /* per guild: fields in READY_SUPPLEMENTAL */
    SHAPE_LISTS,
};

struct ready_shape {
    int64_t capabilities;
    snowflake own;    /* account of this READY */
    struct map known; /* users that are in the list */
    struct buf texts[SHAPE_LISTS];
    struct json lists[SHAPE_LISTS]; /* open arrays in texts */
};

/* The state of the lists, to return to. */
struct shape_mark {
    struct json lists[SHAPE_LISTS];
    size_t bytes[SHAPE_LISTS];
};

/* The shape must not move in memory. capabilities 0: every field stays in place. */
void shape_init(struct ready_shape *s, int64_t capabilities, snowflake own);
void shape_clear(struct ready_shape *s);

/* Whether users are in one list and other objects have only their ids. NULL: false. */
bool shape_refers(const struct ready_shape *s);

/* Encodes members of a guild, or relationships. refers: one by one, for a shape that refers to
 * users; else as one list. */
struct written_people members_write(struct arena *arena, const struct list *members, bool refers);
struct written_people relationships_write(struct arena *arena, const struct list *relationships,
                                          bool refers);

/* Encodes the parts of a guild that are the same for all viewers, and each channel. */
const struct written_guild *guild_write(struct arena *arena, const struct guild *guild,
                                        const struct list *sounds, const struct list *channels);

struct written_people *people_copy(struct arena *arena, const struct written_people *people);

/* Writes a guild; s NULL: as in GUILD_CREATE. */
void shape_guild(struct ready_shape *s, const struct gateway_guild *g, struct json *out);
/* Writes an unavailable guild, which is sent later. */
void shape_late_guild(struct ready_shape *s, snowflake id, struct json *out);
/* Writes a list of relationships; a private channel. */
void shape_relationships(struct ready_shape *s, const struct written_people *relationships,
                         struct json *out);
void shape_private_channel(struct ready_shape *s, const struct channel *c, struct json *out);

/* Removes what guilds added to the lists since the mark, except users. */
struct shape_mark shape_mark(const struct ready_shape *s);
void shape_return(struct ready_shape *s, const struct shape_mark *m);
size_t shape_bytes(const struct ready_shape *s); /* bytes in all lists */
bool shape_full(const struct ready_shape *s);    /* whether a list is full */

/* Writes, at the end, the presences of friends and the lists into READY, which is open;
 * READY_SUPPLEMENTAL is written whole, if it is needed. */
void shape_end(struct ready_shape *s, struct gateway *g, const struct list *friends,
               struct json *ready, struct json *more);

#endif
