/* world_members.h - writes fields of entries of world files: copied fields, references and
 * accounts. Shared by the files that convert API objects. */
#ifndef TOOLS_COPY_CONVERT_WORLD_MEMBERS_H
#define TOOLS_COPY_CONVERT_WORLD_MEMBERS_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/convert/convert.h"

/* A member of a JSON object that is copied, under its own name or another one. */
struct json_member_renaming {
    const char *from, *to; /* to: NULL if the name stays */
};
void write_json_member_raw(struct json_writer *j, const char *name, struct str raw);
/* Copies those of the listed members that the object has; the list ends with { 0 }. */
void copy_json_members(struct json_writer *j, struct str object,
                       const struct json_member_renaming *names);
/* Writes a reference to an object, if the object exists. */
void write_world_file_reference(struct guild_copy_conversion *c, struct json_writer *j,
                                const char *name, const struct map *ids, snowflake id);
/* Writes a list of references without those whose objects do not exist. */
void write_world_file_references(struct guild_copy_conversion *c, struct arena *arena,
                                 struct json_writer *j, const char *name, const struct map *ids,
                                 struct str array);
/* Writes the word that stands for a number. Writes nothing if no word stands for it. */
void write_json_word_for_number(struct json_writer *j, const char *name, const char *const *words,
                                size_t count, int64_t value);
/* Writes a file of the archive as a data URI, if the archive has it. */
void write_archive_file_as_data_uri(struct guild_copy_conversion *c, struct arena *arena,
                                    struct json_writer *j, const char *name, const char *type,
                                    const char *folder, snowflake id);
/* Writes an emoji that the API object has in two fields, one of which is null. */
void write_emoji_reference(struct guild_copy_conversion *c, struct json_writer *j, const char *name,
                           struct str object);

/* Adds an account of which only the id is known, because the person has left the guild. If a later
 * object has the person's name, it replaces this account. */
void add_user_id_to_world_file(struct guild_copy_conversion *c, struct arena *arena, snowflake id);
/* Writes a reference to an account, which is added if it is not known. */
void write_user_reference(struct guild_copy_conversion *c, struct arena *arena,
                          struct json_writer *j, const char *name, struct str user, snowflake id);
void write_user_references(struct guild_copy_conversion *c, struct arena *arena,
                           struct json_writer *j, const char *name, struct str users);

/* Argument of functions that write an item for each line of a file. */
struct json_item_per_line_writer {
    struct guild_copy_conversion *conversion;
    struct json_writer *j;
};

#endif
