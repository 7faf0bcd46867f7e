/* capabilities.h - writes READY in the form that the "capabilities" of a user client require.
 *
 * Some capabilities move fields to lists at the end of READY. For example, all users are in one
 * list, and the other objects have only user ids. struct ready_writer collects these lists while
 * READY is written. */
#ifndef GATEWAY_CAPABILITIES_H
#define GATEWAY_CAPABILITIES_H

#include "base/map.h"
#include "model/guild.h"

struct gateway;

/* Supported bits of "capabilities" in IDENTIFY; others are ignored. */
enum client_capability {
    CAPABILITY_NO_NOTES = 1 << 0,
    CAPABILITY_READ_STATE = 1 << 2,     /* read_state has entries, partial and version */
    CAPABILITY_GUILD_SETTINGS = 1 << 3, /* user_guild_settings has entries, partial and version */
    CAPABILITY_USERS = 1 << 4,        /* users are in one list; other objects have only user ids */
    CAPABILITY_SUPPLEMENTAL = 1 << 5, /* with CAPABILITY_USERS: READY_SUPPLEMENTAL follows READY */
    CAPABILITY_OTHER_STATES = 1 << 7, /* READY includes read states of types other than channel */
    CAPABILITY_NO_SETTINGS = 1 << 9,  /* no user_settings and no USER_SETTINGS_UPDATE */
    CAPABILITY_PROPERTIES = 1 << 10,  /* guild fields are inside "properties" */
    CAPABILITY_CALLS = 1 << 12, /* the client gets the running calls of its channels after READY */
    /* Set by the server, not by clients: the connection came by GATEWAY_SPACEBAR_PATH. READY then
     * has user_settings; members have id, user, guild_id and the role @everyone, relationships
     * user, and private channels recipients. */
    CAPABILITY_SPACEBAR = 1 << 30,
};

/* Lists at the end of READY with fields that were moved out of other objects. */
enum ready_list_kind {
    READY_LIST_USERS,         /* every user, once */
    READY_LIST_MEMBERS,       /* per guild: members that READY lists */
    READY_LIST_LATER_MEMBERS, /* per guild: members that READY_SUPPLEMENTAL lists */
    READY_LIST_PRESENCES,     /* presences, per guild */
    READY_LIST_GUILDS,        /* per guild: fields of READY_SUPPLEMENTAL */
    READY_LISTS,
};

struct ready_writer {
    int64_t capabilities;
    snowflake own;      /* account that gets this READY */
    snowflake guild_id; /* guild whose members are written, or 0 */
    struct map known;   /* ids of the users that are in READY_LIST_USERS */
    struct buf texts[READY_LISTS];
    struct json_writer lists[READY_LISTS]; /* open JSON arrays in `texts` */
};

/* Lengths of all lists of a struct ready_writer at one moment, for
 * ready_writer_truncate_to_position. */
struct ready_writer_position {
    struct json_writer lists[READY_LISTS];
    size_t bytes[READY_LISTS];
};

/* Initializes a writer, which must not move in memory. With capabilities 0 no field is moved. */
void ready_writer_init(struct ready_writer *s, int64_t capabilities, snowflake own);
void ready_writer_clear(struct ready_writer *s);

/* Returns whether READY has one list of all users, to which other objects refer; false for NULL. */
bool ready_writer_has_user_list(const struct ready_writer *s);

/* Encode the members of a guild, or relationships. If `refers` is true, each object is encoded
 * separately, with a user id instead of the user; otherwise all objects are one JSON list. */
struct encoded_members encode_guild_members_json(struct arena *arena, const struct list *members,
                                                 bool refers);
struct encoded_members encode_relationships_json(struct arena *arena,
                                                 const struct list *relationships, bool refers);

/* Encodes the fields of a guild that are the same for all viewers, and its channels, as JSON. */
const struct encoded_guild *encode_shared_guild_fields_json(struct arena *arena,
                                                            const struct guild *guild,
                                                            const struct list *sounds,
                                                            const struct list *channels);

struct encoded_members *copy_encoded_guild_members(struct arena *arena,
                                                   const struct encoded_members *people);

/* Writes a guild in the form of READY, or in the form of GUILD_CREATE if s is NULL. */
void write_ready_guild_json(struct ready_writer *s, const struct gateway_guild *g,
                            struct json_writer *out);
/* Writes an unavailable guild, whose data is sent after READY. */
void write_ready_unavailable_guild_json(struct ready_writer *s, snowflake id,
                                        struct json_writer *out);
/* Write a list of relationships, or a private channel, in the form of READY. */
void write_ready_relationships_json(struct ready_writer *s,
                                    const struct encoded_members *relationships,
                                    struct json_writer *out);
void write_ready_private_channel_json(struct ready_writer *s, const struct channel *c,
                                      struct json_writer *out);

/* ready_writer_get_position returns the lengths of all lists. ready_writer_truncate_to_position
 * removes all entries that were added to the lists since then, except users. */
struct ready_writer_position ready_writer_get_position(const struct ready_writer *s);
void ready_writer_truncate_to_position(struct ready_writer *s,
                                       const struct ready_writer_position *m);
size_t ready_writer_bytes(const struct ready_writer *s); /* total bytes of all lists */
bool ready_writer_is_full(const struct ready_writer *s); /* whether a list has reached its limit */

/* Completes READY with the presences of friends and the collected lists, and writes
 * READY_SUPPLEMENTAL if the capabilities require it. */
void ready_writer_write_ready(struct ready_writer *s, struct gateway *g, const struct list *friends,
                              struct json_writer *ready, struct json_writer *more);

#endif
