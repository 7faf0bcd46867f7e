/* world_parts.h - parts of world files, one per field, which the domains provide (struct domain's
 * .world). Their schema is composed once per process. If other domains add fields to an entry, the
 * domain's own struct is the start of the entry and their fields follow it. */
#ifndef PLATFORM_WORLDS_WORLD_PARTS_H
#define PLATFORM_WORLDS_WORLD_PARTS_H

#include "json/schema.h"
#include "platform/worlds/worlds.h"

struct world_importer;
struct world_exporter;

/* entry: one item of a list, or the value of a field that is not a list. owner: id of the object
 * that contains the field. */
typedef enum err world_import_function(struct world_importer *im, const void *entry,
                                       const struct json_path *at, snowflake owner);

/* Entries of a list, ordered by id, to whose field an export adds values. */
struct world_entries {
    char *next, *end;
    size_t size, member; /* size of an entry; offset of the field in an entry */
};
/* Returns the field of the entry with this id, or NULL. Successive calls must use ascending ids. */
void *world_entry_find_field(struct world_entries *e, snowflake id);

struct world_part {
    const char *of;          /* the object that has the field, such as "guild"; NULL: the file */
    const char *name;        /* name of the field; NULL: import step for the whole entry */
    const struct type *type; /* type of the field; NULL: import step for another part's field */
    const char *object;      /* name of list entries to which other domains add fields */
    int order;               /* import order: references need a higher number than their target */
    bool whole;              /* calls import once with the whole list (struct opt_list) */
    bool later;              /* only world_import_deferred_parts calls import */
    world_import_function *import; /* imports one entry; not called for an absent field */
    /* Runs before the transaction, for slow work such as hashing. Changes the entries in place. */
    enum err (*prepare)(const struct world_options *options, struct arena *arena,
                        struct list *entries);
    /* Export of a list: one entry per result row; $1 is the owner. read returns false to skip a
     * row. */
    struct sql select;
    bool (*read)(struct world_exporter *ex, const struct rows *r, void *entry);
    /* Export functions for other kinds of fields. ret is empty on entry. */
    enum err (*export)(struct world_exporter *ex, struct opt_list *ret);
    enum err (*export_object)(struct world_exporter *ex, struct opt_object *ret);
    enum err (*export_text)(struct world_exporter *ex, struct opt_str *ret);
    /* Exports one field of all entries of a list at once. */
    enum err (*export_members)(struct world_exporter *ex, struct world_entries *to);
};
struct world_parts {
    const struct world_part *rows; /* terminated by .order == 0 */
};

/* Field of an object that another domain provides. */
#define WORLD_PART(name_)       \
    {                           \
        .name = STR_INIT(name_) \
    }

/* --- parts.c -------------------------------------------------------------------------- */

struct world_format;
const struct world_format *world_format_of_domains(const struct domain *const *domains);
const struct type *world_file_type(const struct world_format *f);

enum err world_prepare_parts(const struct world_format *f, const struct world_options *options,
                             struct arena *arena, void *file);
/* Import the fields of an entry in order: those without .later, or those with it. */
enum err world_import_parts(struct world_importer *im, const char *object, const void *entry,
                            const struct json_path *at, snowflake owner);
enum err world_import_deferred_parts(struct world_importer *im, const char *object,
                                     const void *entry, const struct json_path *at,
                                     snowflake owner);
/* Adds an entry to a list, with space for the fields of other domains. */
void *world_entry_add(struct world_exporter *ex, const char *object, struct opt_list *list);
size_t world_entry_size(const struct world_format *f, const char *object);
/* Exports the fields of other domains, for one entry or a list. owner: id of the container. */
enum err world_export_parts(struct world_exporter *ex, const char *object, snowflake owner,
                            void *entries, size_t count);

#endif
