/* capabilities.h - READY as the "capabilities" of a user client require.
 *
 * The source passes each part of READY to struct ready_writer while READY is written. It writes
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
enum ready_list {
    READY_LIST_USERS,         /* every user once */
    READY_LIST_MEMBERS,       /* per guild: members in READY */
    READY_LIST_LATER_MEMBERS, /* per guild: members in READY_SUPPLEMENTAL */
    READY_LIST_PRESENCES,     /* per guild: presences */
    READY_LIST_GUILDS,        /* per guild: fields in READY_SUPPLEMENTAL */
    READY_LISTS,
};

struct ready_writer {
    int64_t capabilities;
    snowflake own;    /* account that gets this READY */
    struct map known; /* ids of the users that are in the list */
    struct buf texts[READY_LISTS];
    struct json_writer lists[READY_LISTS]; /* open JSON arrays in `texts` */
};

/* A saved state of the lists, for ready_writer_restore. */
struct ready_writer_mark {
    struct json_writer lists[READY_LISTS];
    size_t bytes[READY_LISTS];
};

/* The struct must not move in memory. capabilities 0: every field stays in place. */
void ready_writer_init(struct ready_writer *s, int64_t capabilities, snowflake own);
void ready_writer_clear(struct ready_writer *s);

/* Returns whether users are in one list and other objects have only their ids; false for NULL. */
bool ready_refers_to_users(const struct ready_writer *s);

/* Encode members of a guild, or relationships. refers: each object separately, with a user id
 * instead of the user; else all as one list. */
struct encoded_members encode_members(struct arena *arena, const struct list *members, bool refers);
struct encoded_members encode_relationships(struct arena *arena, const struct list *relationships,
                                            bool refers);

/* Encodes the parts of a guild that are the same for all viewers, and each channel. */
const struct encoded_guild *encode_shared_guild(struct arena *arena, const struct guild *guild,
                                                const struct list *sounds,
                                                const struct list *channels);

struct encoded_members *encoded_users_copy(struct arena *arena,
                                           const struct encoded_members *people);

/* Writes a guild; s == NULL: as in GUILD_CREATE. */
void write_ready_guild_json(struct ready_writer *s, const struct gateway_guild *g,
                            struct json_writer *out);
/* Writes an unavailable guild, which is sent later. */
void write_ready_late_guild_json(struct ready_writer *s, snowflake id, struct json_writer *out);
/* Write a list of relationships, and a private channel. */
void write_ready_relationships_json(struct ready_writer *s,
                                    const struct encoded_members *relationships,
                                    struct json_writer *out);
void write_ready_private_channel_json(struct ready_writer *s, const struct channel *c,
                                      struct json_writer *out);

/* Save the state of the lists, and restore it: removes everything but users that guilds added
 * since. */
struct ready_writer_mark ready_writer_save(const struct ready_writer *s);
void ready_writer_restore(struct ready_writer *s, const struct ready_writer_mark *m);
size_t ready_writer_bytes(const struct ready_writer *s); /* bytes in all lists */
bool ready_writer_is_full(const struct ready_writer *s); /* whether a list is full */

/* Completes READY with the presences of friends and the collected lists, and writes
 * READY_SUPPLEMENTAL if it is needed. */
void ready_writer_end(struct ready_writer *s, struct gateway *g, const struct list *friends,
                      struct json_writer *ready, struct json_writer *more);

#endif
