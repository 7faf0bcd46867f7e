/* capabilities.h - writes READY in the form that the "capabilities" of a user client require.
 *
 * Some capabilities move fields to lists at the end of READY. For example, all users are in one
 * list, and the other objects have only user ids. struct ready_event_writer collects these lists
 * while READY is written. */
#ifndef GATEWAY_CAPABILITIES_H
#define GATEWAY_CAPABILITIES_H

#include "base/map.h"
#include "model/guild.h"

struct gateway;

/* Supported bits of "capabilities" in IDENTIFY; other bits are ignored. */
enum client_capability {
    CAPABILITY_NO_NOTES = 1 << 0,
    CAPABILITY_READ_STATE = 1 << 2,     /* read_state has entries, partial and version */
    CAPABILITY_GUILD_SETTINGS = 1 << 3, /* user_guild_settings has entries, partial and version */
    /* all users are in one list of READY; other objects have only user ids */
    CAPABILITY_USERS = 1 << 4,
    CAPABILITY_SUPPLEMENTAL = 1 << 5, /* with CAPABILITY_USERS: READY_SUPPLEMENTAL follows READY */
    /* READY includes read states of all types, not only of channels. */
    CAPABILITY_OTHER_STATES = 1 << 7,
    CAPABILITY_NO_SETTINGS = 1 << 9, /* no user_settings and no USER_SETTINGS_UPDATE */
    CAPABILITY_PROPERTIES = 1 << 10, /* guild fields are inside "properties" */
    /* After READY the client receives the running calls of its private channels. */
    CAPABILITY_CALLS = 1 << 12,
    /* Set by the server, not by clients: the client connected to GATEWAY_SPACEBAR_PATH. The server
     * then sends READY in the form of Spacebar: with user_settings, and with more fields in
     * members, relationships and private channels. */
    CAPABILITY_SPACEBAR = 1 << 30,
};

/* Lists at the end of READY, each with fields that were moved out of other objects of READY. */
enum ready_event_list_kind {
    READY_LIST_USERS,         /* every user, once */
    READY_LIST_MEMBERS,       /* per guild: members that READY lists */
    READY_LIST_LATER_MEMBERS, /* per guild: members that READY_SUPPLEMENTAL lists */
    READY_LIST_PRESENCES,     /* presences, per guild */
    READY_LIST_GUILDS,        /* per guild: fields of READY_SUPPLEMENTAL */
    READY_LISTS,
};

struct ready_event_writer {
    int64_t capabilities;
    snowflake own;      /* account that gets this READY */
    snowflake guild_id; /* guild whose members are being written; 0 if none */
    struct map known;   /* ids of the users that the list READY_LIST_USERS has already */
    struct buf texts[READY_LISTS];
    struct json_writer lists[READY_LISTS]; /* open JSON arrays in `texts` */
};

/* The lengths of all lists of a struct ready_event_writer at one moment.
 * ready_event_writer_truncate_to_position shortens the lists to these lengths. */
struct ready_event_writer_position {
    struct json_writer lists[READY_LISTS];
    size_t bytes[READY_LISTS];
};

/* Initializes a writer of READY, which must not move in memory. If capabilities is 0, no fields are
 * moved to the lists at the end of READY. */
void ready_event_writer_init(struct ready_event_writer *s, int64_t capabilities, snowflake own);
void ready_event_writer_clear(struct ready_event_writer *s);

/* Returns whether READY has one list of all users, to which other objects refer by user id. Returns
 * false if s is NULL. */
bool ready_event_writer_has_user_list(const struct ready_event_writer *s);

/* Encode the members of a guild, or relationships, as JSON. If `refers` is true, each object is
 * encoded separately, with "user_id" instead of "user"; otherwise all objects are one JSON list. */
struct encoded_members encode_guild_members_json(struct arena *arena, const struct list *members,
                                                 bool refers);
struct encoded_members encode_relationships_json(struct arena *arena,
                                                 const struct list *relationships, bool refers);

/* Encodes the fields of a guild that are the same for all viewers, and its channels, as JSON. */
const struct encoded_guild *encode_viewer_independent_guild_fields(struct arena *arena,
                                                                   const struct guild *guild,
                                                                   const struct list *sounds,
                                                                   const struct list *channels);

struct encoded_members *copy_encoded_guild_members(struct arena *arena,
                                                   const struct encoded_members *people);

/* For schema_encode_fields: leaves out "user". */
bool field_is_not_user(const void *arg, struct str name);

/* Writes a guild as READY has it, or as GUILD_CREATE has it if s is NULL. */
void write_ready_guild_json(struct ready_event_writer *s, const struct gateway_guild *g,
                            struct json_writer *out);
/* Writes a guild with "unavailable": true; its data is sent in GUILD_CREATE after READY. */
void write_ready_unavailable_guild_json(struct ready_event_writer *s, snowflake id,
                                        struct json_writer *out);
/* Write a list of relationships, or a private channel, as READY has them. */
void write_ready_relationships_json(struct ready_event_writer *s,
                                    const struct encoded_members *relationships,
                                    struct json_writer *out);
void write_ready_private_channel_json(struct ready_event_writer *s, const struct channel *c,
                                      struct json_writer *out);

/* ready_event_writer_get_position returns the current lengths of all lists.
 * ready_event_writer_truncate_to_position shortens the lists to these lengths; only the list of
 * users is not shortened. */
struct ready_event_writer_position ready_event_writer_get_position(
    const struct ready_event_writer *s);
void ready_event_writer_truncate_to_position(struct ready_event_writer *s,
                                             const struct ready_event_writer_position *m);
size_t ready_event_writer_count_bytes(
    const struct ready_event_writer *s); /* total bytes of all lists */
/* Returns whether one of the lists at the end of READY has its maximum size. */
bool ready_event_writer_is_full(const struct ready_event_writer *s);

/* Completes READY with the presences of friends and the collected lists, and writes
 * READY_SUPPLEMENTAL if the capabilities require it. */
void ready_event_writer_write_collected_lists(struct ready_event_writer *s, struct gateway *g,
                                              const struct list *friends, struct json_writer *ready,
                                              struct json_writer *more);

#endif
