/* world_file_fields.h - fields of world files. Each domain (resource folder) declares its fields in
 * the member .world of struct domain. The schema of world files is composed from them once per
 * process. If several domains add fields to an object, the struct of the object's own domain comes
 * first in memory. */
#ifndef PLATFORM_WORLDS_WORLD_FILE_FIELDS_H
#define PLATFORM_WORLDS_WORLD_FILE_FIELDS_H

#include "json/schema.h"
#include "platform/worlds/worlds.h"

struct world_file_importer;
struct world_file_exporter;

/* Imports one element of a list, or a field that is not a list. owner is the id of the object that
 * has the field. */
typedef enum err world_import_function(struct world_file_importer *im, const void *entry,
                                       const struct json_path *at, snowflake owner);

/* The exported entries of a list, sorted by id. An export function fills one field of each. */
struct world_file_entries {
    char *next, *end;
    size_t size, member; /* bytes: size of an entry; offset of the field inside an entry */
};
/* Returns a pointer to the field of the entry with this id; NULL if there is none. Call it with
 * ascending ids. */
void *world_file_entry_find_field(struct world_file_entries *e, snowflake id);

struct world_file_field {
    const char *of;   /* object that has the field, such as "guild"; NULL: the file's top level */
    const char *name; /* name of the field; NULL if import is called for the whole object */
    const struct type *type; /* type of the value; NULL if another row declares the field */
    const char *object;      /* name of the listed objects, by which other domains add fields */
    int order;  /* import order, lowest first; an object comes after those that it refers to */
    bool whole; /* whether import is called once with the whole list (struct opt_list) */
    bool later; /* import is called only by world_file_import_deferred_fields */
    world_import_function *import; /* imports one entry; not called if the field is absent */
    /* Slow work on the entries, such as hashing; runs before the transaction. Changes the entries
     * in place. */
    enum err (*prepare)(const struct world_file_import_options *options, struct arena *arena,
                        struct list *entries);
    /* How to export a list: `select` has one row per entry ($1 is the owner), and `read` converts
     * the row; it returns false to skip it. */
    struct sql select;
    bool (*read)(struct world_file_exporter *ex, const struct rows *r, void *entry);
    struct sql count; /* optional: the number of entries of all owners, for the progress report */
    /* Export functions for fields that `select` cannot export. *ret is empty on entry. */
    enum err (*export)(struct world_file_exporter *ex, struct opt_list *ret);
    enum err (*export_object)(struct world_file_exporter *ex, struct opt_object *ret);
    enum err (*export_text)(struct world_file_exporter *ex, struct opt_str *ret);
    /* Exports one field for all entries of a list. */
    enum err (*export_members)(struct world_file_exporter *ex, struct world_file_entries *to);
};
struct world_file_fields {
    const struct world_file_field *rows; /* terminated by .order == 0 */
};

/* A field whose type another domain declares. */
#define WORLD_FILE_FIELD(name_) \
    {                           \
        .name = STR_INIT(name_) \
    }

/* --- world_file_fields.c -------------------------------------------------------------- */

struct world_file_format;
const struct world_file_format *world_file_format_of_domains(const struct domain *const *domains);
const struct type *world_file_schema_type(const struct world_file_format *f);

enum err world_file_prepare_fields_before_import(const struct world_file_format *f,
                                                 const struct world_file_import_options *options,
                                                 struct arena *arena, void *file);
/* Import the fields of an entry. world_file_import_fields imports those without .later; afterwards,
 * world_file_import_deferred_fields imports those with .later. */
enum err world_file_import_fields(struct world_file_importer *im, const char *object,
                                  const void *entry, const struct json_path *at, snowflake owner);
enum err world_file_import_deferred_fields(struct world_file_importer *im, const char *object,
                                           const void *entry, const struct json_path *at,
                                           snowflake owner);
/* Estimates the number of entries of an export from the queries `.count`. */
enum err world_file_estimate_entries(const struct world_file_format *f, struct tx *tx,
                                     int64_t *ret);
/* Adds an entry to a list, with memory for the fields of other domains. */
void *world_file_entry_add(struct world_file_exporter *ex, const char *object,
                           struct opt_list *list);
size_t world_file_entry_size(const struct world_file_format *f, const char *object);
/* Exports the fields that other domains add to entries. owner is the object to which the entries
 * belong. */
enum err world_file_export_fields(struct world_file_exporter *ex, const char *object,
                                  snowflake owner, void *entries, size_t count);

#endif
