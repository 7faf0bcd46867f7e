/* import_export.h - declarations for import and export of world files: schema macros, references by
 * name or id, and validation errors with their JSON paths. */
#ifndef PLATFORM_WORLDS_IMPORT_EXPORT_H
#define PLATFORM_WORLDS_IMPORT_EXPORT_H

#include <inttypes.h>

#include "base/map.h"
#include "json/read.h"
#include "json/schema.h"
#include "model/fields/rows.h"
#include "platform/worlds/world_file_fields.h"
#include "platform/worlds/worlds.h"

/* --- schemas -------------------------------------------------------------------------- */

enum { WORLD_MANY = 1000000 };

/* A field of a world file that may be absent or null. */
#define MAYBE(struct_, member_, type_)                                          \
    {                                                                           \
        FIELD(struct_, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE \
    }
#define MUST(struct_, member_, type_)             \
    {                                             \
        FIELD(struct_, member_), .type = &(type_) \
    }
/* Defines the fields and the type of an object of a world file (NAME_rows, NAME_type), and the type
 * of a list of such objects (world_NAME_list). */
#define WORLD_OBJECT(name_, fields_, check_) WORLD_LIST(name_, fields_, check_, 0, WORLD_MANY)
/* Defines the same as WORLD_OBJECT, and limits the length of the list. */
#define WORLD_LIST(name_, fields_, check_, min_, max_)                                        \
    static const struct schema name_##_rows = { .size = sizeof(struct world_##name_),         \
                                                .fields = (fields_),                          \
                                                .check = (check_) };                          \
    static const struct type name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_rows }; \
    const struct type world_##name_##_list = {                                                \
        .kind = KIND_ARRAY, .min = (min_), .max = (max_), .of = &name_##_type                 \
    }

/* Defines world_NAME_type, the type of an object that does not occur in lists. */
#define WORLD_SINGLE(name_, fields_, check_)                                          \
    static const struct schema name_##_rows = { .size = sizeof(struct world_##name_), \
                                                .fields = (fields_),                  \
                                                .check = (check_) };                  \
    const struct type world_##name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_rows }

/* Types in schema.c: a reference (name or id), lists of references, and other common types. */
extern const struct type type_world_ref, type_world_refs, type_world_permissions, type_world_name,
    type_world_content;

/* Checks that a field that is stored as JSON text has this JSON kind. If it is a list, also checks
 * the kind of its elements. */
void world_file_check_json_kind(struct form *form, const struct json_path *here, const char *name,
                                const struct opt_str *json, enum json_value_kind kind,
                                enum json_value_kind items);
void world_file_check_string_list(struct form *form, const struct json_path *here, const char *name,
                                  const struct opt_str *json);
void world_file_check_permissions(struct form *form, const struct json_path *here, const char *name,
                                  const struct opt_str *perms);

/* --- permission_names.c: permission sets in readable form ----------------------------- */

/* Parses a permission set: ["VIEW_CHANNEL", …], "ALL", "DEFAULT", or a number. If an element is
 * invalid, returns false, and *ret_wrong is that element. */
bool permission_names_parse(struct str json, struct arena *arena, uint64_t *ret,
                            struct str *ret_wrong);
struct opt_str permission_names_encode(uint64_t perms, struct arena *arena);

/* --- json_layout.c: readable text ----------------------------------------------------- */

/* Formats JSON for people: an object that contains no other object is on one line of text. */
void world_file_format_json(struct str json, struct buf *out);
/* Counts the objects in valid JSON. */
int64_t json_count_objects(struct str json);
/* Removes white space between the tokens of valid JSON. */
struct str json_remove_white_space(struct arena *arena, struct str json);
/* Formats the validation errors as text, one line per error: "users.0.username: …". */
struct str world_file_format_errors(const struct form *form, struct arena *arena);

/* --- references.c: names and ids ------------------------------------------------------ */

struct world_file_importer {
    const struct world_file_format *format;
    struct tx *tx;
    struct arena *arena;
    const struct world_file_import_options *options;
    struct world_file_import_report *report;
    struct form *form;
    struct list *pictures;    /* struct world_file_picture, stored before the commit */
    struct map *archived;     /* maps the hash of a path to struct archived_file */
    struct list *unread;      /* struct archived_file pointers: files that the import still needs */
    snowflake guild, channel; /* guild or channel whose entries are being imported; 0 if none */
};

/* A picture of a world file, with the name of the blob in which it is stored. */
struct world_file_picture {
    char name[96];
    struct str bytes;
};

/* A file in the archive of a copied guild. It is stored before the transaction that refers to it
 * begins, because writing a large file inside the transaction would block other writers. */
struct archived_file {
    char name[96]; /* name of the blob */
    const char *path;
    char digest[BLOB_DIGEST_SIZE];
    int64_t size; /* size in bytes; -1 if the file cannot be read */
};

/* SQL that finds the stored object of a reference by name or id. The queries return the lowest
 * matching id and the number of matches. */
struct world_file_name_lookup {
    const char *word;
    struct sql by_name; /* $1 is the name; if `scoped`, $2 is the guild */
    struct sql by_id;   /* $1 is the id; if `scoped`, $2 is the guild */
    struct sql any_id;  /* $1 id */
    bool scoped, unique;
};
/* Lookup of objects that belong to another object. The column owner_ contains the id of that
 * object. */
#define WORLD_NAME_LOOKUP(word_, table_, owner_)                                                   \
    {                                                                                              \
        .word = (word_), .scoped = true,                                                           \
        .by_name = SQL_TEXT("select min(id), count(*) from " table_ " where name = $1 and " owner_ \
                            " = $2"),                                                              \
        .by_id = SQL_TEXT("select min(id), count(*) from " table_ " where id = $1 and " owner_     \
                          " = $2"),                                                                \
        .any_id = SQL_TEXT("select min(id), count(*) from " table_ " where id = $1")               \
    }
extern const struct world_file_name_lookup user_naming, application_naming, guild_naming,
    role_naming, channel_naming, emoji_naming, webhook_naming;

/* Resolves a reference (name or id) to the id of a stored object. If not exactly one object
 * matches, adds a validation error and sets *ret to 0. */
enum err world_file_resolve_reference(struct world_file_importer *im,
                                      const struct world_file_name_lookup *n, snowflake guild,
                                      struct str to, const struct json_path *at, snowflake *ret);
/* Resolves the optional reference in the field `name` of the entry at path `up`. *ret is 0 if the
 * field is absent. */
enum err world_file_resolve_optional_reference(struct world_file_importer *im,
                                               const struct world_file_name_lookup *n,
                                               snowflake guild, const struct opt_str *to,
                                               const struct json_path *up, const char *name,
                                               snowflake *ret);
/* Finds the stored object to which an entry of the world file corresponds. *ret is 0 if there is
 * none yet, or if a validation error was added. */
enum err world_file_find_existing_object(struct world_file_importer *im,
                                         const struct world_file_name_lookup *n, snowflake guild,
                                         struct opt_id id, struct str name,
                                         const struct json_path *at, snowflake *ret);

/* Copies a field of a world file if it is present. If it is absent, the stored value does not
 * change. */
#define WORLD_SET_IF_GIVEN(to_, from_) \
    do {                               \
        if ((from_).given == GIVEN)    \
            (to_) = (from_).value;     \
    } while (0)
/* Copies a nullable field of a world file if it is present. */
#define WORLD_SET_OPT_IF_GIVEN(to_, from_) \
    do {                                   \
        if ((from_).given == GIVEN)        \
            (to_) = (from_);               \
    } while (0)

/* Returns the JSON of a world file's field without white space, for a database column. */
static inline struct value sql_value_of_optional_json(const struct world_file_importer *im,
                                                      struct opt_str json)
{
    return json.given == GIVEN ? v_text(json_remove_white_space(im->arena, json.value)) : v_null();
}

enum imported_object_kind {
    COUNT_USERS,
    COUNT_APPLICATIONS,
    COUNT_GUILDS,
    COUNT_ROLES,
    COUNT_CHANNELS,
    COUNT_MEMBERS,
    COUNT_RELATIONSHIPS,
    COUNT_MESSAGES,
    COUNT_COMMANDS,
};
void count(struct world_file_importer *im, enum imported_object_kind what, bool made);

/* Calls `step` for each entry of a list, with the entry's JSON path. `all` is the path of the
 * list. */
enum err world_file_import_entries(struct world_file_importer *im, const struct opt_list *list,
                                   size_t size, const struct json_path *all,
                                   world_import_function *step, snowflake owner);

/* Returns the id that an entry has in the store: that of the existing object, or a new one. Returns
 * 0 if a validation error was added. */
enum err world_file_resolve_entry_id(struct world_file_importer *im,
                                     const struct world_file_name_lookup *n, snowflake guild,
                                     struct opt_id id, struct str name, const struct json_path *at,
                                     snowflake *ret);
/* Resolves a list of references to a list of snowflakes. */
enum err world_file_resolve_references(struct world_file_importer *im,
                                       const struct world_file_name_lookup *n, snowflake guild,
                                       const struct opt_list *names, const struct json_path *up,
                                       const char *name, struct list *ret);

/* --- imported_files.c ----------------------------------------------------------------- */

/* A file that belongs to an imported object, such as the attachment of a message. */
struct world_file_attachment {
    snowflake id, owner;
    const char *area;
    struct str name, bytes;
};
/* Inserts the row of a file. world_file_import stores the file's bytes later, before the commit. */
enum err world_file_import_attachment(struct world_file_importer *im,
                                      const struct world_file_attachment *note);
/* Returns true if the name consists of a-z, 0-9 and _ only. Such a name cannot refer to a file
 * outside of its folder. */
bool world_file_name_is_safe(struct str name);
/* map_world_file_into_memory maps a file into memory (false if it cannot be read); unmap_world_file
 * unmaps it. */
bool map_world_file_into_memory(const char *path, struct str *ret);
void unmap_world_file(struct str bytes);
/* Stores the bytes of an archive's file as a blob. Sets the digest and the size of *f. */
enum err archived_file_store(struct store *store, struct archived_file *f);
/* Inserts the row of an archive's file, which is options->files/files/FOLDER/NAME. The file is not
 * read into memory. *ret is its size in bytes; -1 if it does not exist. note->bytes is not used. */
enum err world_file_import_archived_file(struct world_file_importer *im, const char *folder,
                                         struct str name, const struct world_file_attachment *note,
                                         int64_t *ret);
/* Stores the picture AREA/OWNER/HASH of the archive under the same name, and sets *ret to the hash.
 * Leaves *ret as it is if the archive does not contain the picture, or if *ret already has this
 * hash. */
enum err world_file_import_archived_picture(struct world_file_importer *im, const char *area,
                                            snowflake owner, const struct opt_str *hash,
                                            struct opt_str *ret);
/* --- export --------------------------------------------------------------------------- */

struct exported_object_name {
    snowflake id;
    struct str name;
};
/* State of an export, with the names that entries may use as references. */
struct world_file_exporter {
    const struct world_file_format *format;
    struct tx *tx;
    snowflake guild, application, channel; /* object that has the exported entries */
    size_t entries;                        /* exported so far */
    struct world_file_progress *progress;  /* or NULL */
    struct list roles, channels, emojis,
        applications; /* struct exported_object_name, of the guild */
};
/* Counts an exported entry. */
static inline void world_file_count_exported_entry(struct world_file_exporter *ex)
{
    ex->entries++;
    world_file_progress_add(ex->progress, 1);
}
/* Returns whether the export has more entries than an import accepts, so that the export ends. */
static inline bool world_file_export_is_too_large(const struct world_file_exporter *ex)
{
    return ex->entries > JSON_MAX_VALUES;
}
/* Reads the names of roles, channels and emojis of the guild ex->guild, and of all applications. */
enum err world_file_export_read_names(struct world_file_exporter *ex);
/* Returns how a world file refers to an object: by name if the name is unique, else by id. The
 * result is absent if the object does not exist. */
struct opt_str world_file_export_reference(struct tx *tx, const struct list *things, snowflake id);
/* Converts a list of ids to names or ids for a world file. Skips deleted objects. */
struct opt_list world_file_export_references(struct tx *tx, const struct list *things,
                                             const struct list *ids);

/* Returns the value for the export; absent if it equals `usual`, the default of an import. */
static inline struct opt_int export_nondefault_int(const struct rows *r, int column, int64_t usual)
{
    bool shown = !row_column_is_null(r, column) && row_int(r, column) != usual;

    return (struct opt_int){ shown ? GIVEN : ABSENT, row_int(r, column) };
}
static inline struct opt_bool export_nondefault_bool(const struct rows *r, int column, bool usual)
{
    return (struct opt_bool){ row_bool(r, column) != usual ? GIVEN : ABSENT, row_bool(r, column) };
}
static inline struct opt_str export_nondefault_text(const struct rows *r, int column,
                                                    const char *usual)
{
    bool shown = !row_column_is_null(r, column) && !str_is(row_text(r, column), usual);

    return (struct opt_str){ shown ? GIVEN : ABSENT, row_text(r, column) };
}
static inline void *export_add_list_item(struct tx *tx, struct opt_list *list, size_t size)
{
    list->given = GIVEN;
    return list_append(tx_arena(tx), &list->value, size);
}
/* Returns absent instead of null, because world files do not distinguish the two. */
static inline struct opt_int export_optional_int(struct opt_int v)
{
    return (struct opt_int){ v.given == GIVEN ? GIVEN : ABSENT, v.value };
}
static inline struct opt_str export_optional_text(struct opt_str v)
{
    return (struct opt_str){ v.given == GIVEN ? GIVEN : ABSENT, v.value };
}
static inline struct str format_id_string(struct tx *tx, snowflake id)
{
    return str_printf(tx_arena(tx), "%" PRIu64, id);
}
static inline struct opt_str format_optional_id_string(struct tx *tx, struct opt_id id)
{
    return id.given == GIVEN ? (struct opt_str){ GIVEN, format_id_string(tx, id.value) }
                             : (struct opt_str){ 0 };
}
static inline struct opt_list format_id_strings(struct tx *tx, const struct list *ids)
{
    struct opt_list out = { .given = ids->count ? GIVEN : ABSENT };

    for (size_t i = 0; i < ids->count; i++)
        *(struct str *)list_append(tx_arena(tx), &out.value, sizeof(struct str)) =
            format_id_string(tx, ((const snowflake *)ids->items)[i]);
    return out;
}

#endif
