/* world_members.h - writes fields of entries of world files: copied fields, references and
 * accounts. Shared by the files that convert API objects. */
#ifndef TOOLS_COPY_CONVERT_WORLD_MEMBERS_H
#define TOOLS_COPY_CONVERT_WORLD_MEMBERS_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/convert/convert.h"

/* A field that is copied: its name in the API object and its name in the world file. */
struct member_name {
    const char *from, *to; /* to: NULL if the name stays */
};
void write_raw_member(struct json_writer *j, const char *name, struct str raw);
/* Copies those of the named fields that the object has. The list `names` ends with { 0 }. */
void copy_members(struct json_writer *j, struct str object, const struct member_name *names);
/* Writes a reference to an object, if the object exists. */
void write_reference(struct copy_conversion *c, struct json_writer *j, const char *name,
                     const struct map *ids, snowflake id);
/* Writes a list of references. Omits references to objects that do not exist. */
void write_references(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                      const char *name, const struct map *ids, struct str array);
/* Writes the word that world files use for a number of the API. Writes nothing if there is none. */
void write_words_member(struct json_writer *j, const char *name, const char *const *words,
                        size_t count, int64_t value);
/* Writes a file of the archive as a data URI. Writes nothing if the archive does not have the
 * file. */
void write_data_uri(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                    const char *name, const char *type, const char *folder, snowflake id);
/* Writes an emoji that the API object has in two fields, one of which is null. */
void write_emoji_reference(struct copy_conversion *c, struct json_writer *j, const char *name,
                           struct str object);

/* Adds an account of which only the id is known, because the person has left the guild. If a later
 * object has the person's name, it replaces this account. */
void queue_user_id(struct copy_conversion *c, struct arena *arena, snowflake id);
/* Writes a reference to an account. If the account is not known yet, adds it. */
void write_user(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                const char *name, struct str user, snowflake id);
void write_users(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                 const char *name, struct str users);

/* Argument of functions that write an element for each line of a file. */
struct member_reader {
    struct copy_conversion *conversion;
    struct json_writer *j;
};

#endif
