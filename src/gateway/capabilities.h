/* capabilities.h - READY as the "capabilities" of a user client require.
 *
 * The source passes each part of READY to struct ready_shape while READY is written. It writes
 * the fields that stay in place and collects those that move to lists at the end. */
#ifndef GATEWAY_CAPABILITIES_H
#define GATEWAY_CAPABILITIES_H

#include "base/map.h"
#include "model/guild.h"

struct gateway;

/* Supported bits of "capabilities" in IDENTIFY; others are ignored. */
enum capability {
    CAPABILITY_NO_NOTES = 1 << 0,
    CAPABILITY_READ_STATE = 1 << 2,     /* read_state has entries, partial and version */
    CAPABILITY_GUILD_SETTINGS = 1 << 3, /* user_guild_settings has entries, partial and version */
    CAPABILITY_USERS = 1 << 4,        /* users are in one list; other objects have only user ids */
    CAPABILITY_SUPPLEMENTAL = 1 << 5, /* with CAPABILITY_USERS: READY_SUPPLEMENTAL follows READY */
    CAPABILITY_OTHER_STATES = 1 << 7, /* includes read states of other types than channel */
    CAPABILITY_NO_SETTINGS = 1 << 9,  /* no user_settings, no USER_SETTINGS_UPDATE */
    CAPABILITY_PROPERTIES = 1 << 10,  /* fields of a guild are in "properties" */
    CAPABILITY_CALLS = 1 << 12,       /* the client receives running calls after READY */
};

/* Lists at the end of READY that collect fields of other objects. */
enum shape_list {
    SHAPE_USERS,     /* every user once */
    SHAPE_MEMBERS,   /* per guild: members in READY */
    SHAPE_LATER,     /* per guild: members in READY_SUPPLEMENTAL */
    SHAPE_PRESENCES, /* per guild: presences */
    SHAPE_GUILDS,    /* per guild: fields in READY_SUPPLEMENTAL */
    SHAPE_LISTS,
};

struct ready_shape {
    int64_t capabilities;
    snowflake own;    /* account that gets this READY */
    struct map known; /* ids of the users that are in the list */
    struct buf texts[SHAPE_LISTS];
    struct json lists[SHAPE_LISTS]; /* open JSON arrays in `texts` */
};

/* A saved state of the lists, for shape_return. */
struct shape_mark {
    struct json lists[SHAPE_LISTS];
    size_t bytes[SHAPE_LISTS];
};

/* The struct must not move in memory. capabilities 0: every field stays in place. */
void shape_init(struct ready_shape *s, int64_t capabilities, snowflake own);
void shape_clear(struct ready_shape *s);

/* Returns whether users are in one list and other objects have only their ids; false for NULL. */
bool shape_refers(const struct ready_shape *s);

/* Encode members of a guild, or relationships. refers: each object separately, with a user id
 * instead of the user; else all as one list. */
struct written_people members_write(struct arena *arena, const struct list *members, bool refers);
struct written_people relationships_write(struct arena *arena, const struct list *relationships,
                                          bool refers);

/* Encodes the parts of a guild that are the same for all viewers, and each channel. */
const struct written_guild *guild_write(struct arena *arena, const struct guild *guild,
                                        const struct list *sounds, const struct list *channels);

struct written_people *people_copy(struct arena *arena, const struct written_people *people);

/* Writes a guild; s == NULL: as in GUILD_CREATE. */
void shape_guild(struct ready_shape *s, const struct gateway_guild *g, struct json *out);
/* Writes an unavailable guild, which is sent later. */
void shape_late_guild(struct ready_shape *s, snowflake id, struct json *out);
/* Write a list of relationships, and a private channel. */
void shape_relationships(struct ready_shape *s, const struct written_people *relationships,
                         struct json *out);
void shape_private_channel(struct ready_shape *s, const struct channel *c, struct json *out);

/* Save the state of the lists, and restore it: removes everything but users that guilds added
 * since. */
struct shape_mark shape_mark(const struct ready_shape *s);
void shape_return(struct ready_shape *s, const struct shape_mark *m);
size_t shape_bytes(const struct ready_shape *s); /* bytes in all lists */
bool shape_full(const struct ready_shape *s);    /* whether a list is full */

/* Completes READY with the presences of friends and the collected lists, and writes
 * READY_SUPPLEMENTAL if it is needed. */
void shape_end(struct ready_shape *s, struct gateway *g, const struct list *friends,
               struct json *ready, struct json *more);

#endif
