/* parts.h - the members of world files that each domain registers.
 *
 * A world file is an object of objects: the file has guilds, a guild has channels, a channel has
 * messages. Each domain brings the rows of its own members (struct domain's .world). From all
 * rows the schema of the whole file is composed once in a process. A struct that others add
 * members to is the beginning of its entry: the members of others follow it. */
#ifndef PLATFORM_WORLDS_PARTS_H
#define PLATFORM_WORLDS_PARTS_H

#include "json/schema.h"
#include "platform/worlds/worlds.h"

struct importing;
struct exporting;

/* entry: one of a list, or the value of a member that is no list. owner: the id of the object
 * that the member belongs to. */
typedef enum err import_step(struct importing *im, const void *entry, const struct place *at,
                             snowflake owner);

/* Entries in the order of their ids, to which an export adds a member. */
struct world_entries {
    char *next, *end;
    size_t size, member; /* of an entry; offset of the member */
};
/* The member of the entry with this id, which is not below those asked for before; NULL: there is
 * no such entry. */
void *world_entry_member(struct world_entries *e, snowflake id);

struct world_part {
    const char *of;          /* "guild": the object; NULL: the file itself */
    const char *name;        /* the member; NULL: a step of the import for the whole entry */
    const struct type *type; /* NULL: one more step of the import for a member of another row */
    const char *object;  /* what entries of the list are called, if others add members to them */
    int order;           /* of the import: what refers to others has a greater number */
    bool whole;          /* import is called once, with the struct opt_list */
    bool later;          /* import is called by world_import_later_parts alone */
    import_step *import; /* not called where the file says nothing */
    /* Before the transaction begins, for what takes long. Changes the entries in place. */
    enum err (*prepare)(const struct world_options *options, struct arena *arena,
                        struct list *entries);
    /* The entries of a list: what a row says, with $1 the owner of the member. read says whether
     * there is such an entry. */
    struct sql select;
    bool (*read)(struct exporting *ex, const struct rows *r, void *entry);
    /* Or one of them, by the kind of the type. ret is empty before. */
    enum err (*export)(struct exporting *ex, struct opt_list *ret);
    enum err (*export_object)(struct exporting *ex, struct opt_object *ret);
    enum err (*export_text)(struct exporting *ex, struct opt_str *ret);
    /* Of all entries of a list at once. */
    enum err (*export_members)(struct exporting *ex, struct world_entries *to);
};
struct world_parts {
    const struct world_part *rows; /* end with .order == 0 */
};

/* Where the member of another domain stands among the fields of an object. */
#define WORLD_PART(name_)       \
    {                           \
        .name = STR_INIT(name_) \
    }

/* --- parts.c -------------------------------------------------------------------------- */

struct world_format;
const struct world_format *world_format_of(const struct domain *const *domains);
const struct type *world_type(const struct world_format *f);

enum err world_prepare(const struct world_format *f, const struct world_options *options,
                       struct arena *arena, void *file);
/* All members of an entry that are of rows of this object, in order; or those with .later. */
enum err world_import_parts(struct importing *im, const char *object, const void *entry,
                            const struct place *at, snowflake owner);
enum err world_import_later_parts(struct importing *im, const char *object, const void *entry,
                                  const struct place *at, snowflake owner);
/* One more entry of a list, with room for the members of others. */
void *world_entry_add(struct exporting *ex, const char *object, struct opt_list *list);
size_t world_entry_size(const struct world_format *f, const char *object);
/* The members of others, of one entry or of all of a list. owner: the object that has them. */
enum err world_export_parts(struct exporting *ex, const char *object, snowflake owner,
                            void *entries, size_t count);

#endif
