/* internal.h - what the files of json/ share about schemas. */
#ifndef JSON_INTERNAL_H
#define JSON_INTERNAL_H

#include "base/arena.h"
#include "json/read.h"
#include "json/schema.h"

/* What is allowed where a type says nothing; fields a schema may have (fewer than there are bits
 * in a word), and bytes in the name of one. */
enum { ITEMS_MAX = 1521, CHARACTERS_MAX = 152133, FIELDS_MAX = 63, NAME_MAX_BYTES = 60 };

/* The C side of an enum member_kind. */
struct member_info {
    const char *name;
    unsigned kinds;
    uint8_t size;
    uint8_t value; /* offset of the value in it */
    bool opt;      /* begins with an enum given */
};
extern const struct member_info member_infos[];

/* One value that is neither array, map nor object, as it was read. */
struct scalar {
    enum json_kind kind;
    bool truth;
    bool of_text; /* from a query or a form, where numbers are written as text, too */
    struct json_number number;
    struct str text; /* a string's content; else the value as written */
};

/* Puts a value that keeps the type's rules into out (a struct str *, an int64_t *
 * ...), or notes what is wrong with it. */
void scalar_decode(struct form *form, const struct type *type, const struct scalar *s,
                   const struct place *at, void *out);

/* The same for a whole number that has been read. */
void int_decode(struct form *form, const struct type *type, int64_t v, const struct place *at,
                int64_t *out);

/* Does a number keep the type's rules? */
bool int_is_fine(const struct type *type, int64_t v);

/* The same for images, which arrive as data URIs. */
void image_decode(struct form *form, const struct type *type, struct str text,
                  const struct place *at, struct image *out);

/* A text of n bytes, by its bytes alone: a code point has 1 to 4 of them, so that
 * counting is needed only near the limits. */
static inline bool length_is_surely_fine(const struct type *type, size_t n)
{
    uint64_t max = (uint64_t)(type->max ? type->max : CHARACTERS_MAX);

    return n <= max && (n + 3) / 4 >= (uint64_t)type->min;
}

/* False, and noted, when a length or count is outside the type's limits; cap is
 * for types without a maximum. */
bool length_check(struct form *form, const struct type *type, size_t n, int64_t cap,
                  const struct place *at);

/* The limits of a number; false for a side that has none. */
bool type_minimum(const struct type *type, int64_t *ret);
bool type_maximum(const struct type *type, int64_t *ret);

/* How far an object has come: which fields were there. */
struct progress {
    const struct schema *schema;
    char *object;
    size_t next;   /* the field that is likely to follow: the one after what was found last */
    uint64_t seen; /* a bit for each */
};

/* The field of a name, or NULL. */
const struct field *progress_find(struct progress *p, struct str name);
/* The same for a name that begins a text and ends at a quote: one that is known need not be
 * read before it is found. NULL also when it has escapes. NAME_MAX_BYTES and one more are there. */
const struct field *progress_find_quoted(struct progress *p, const char *text);
bool progress_has(const struct progress *p, size_t field);
/* The field that was found last arrives: true when it did before, its member is then empty
 * again. */
bool progress_mark(struct progress *p);
void progress_unmark(struct progress *p);
/* After the last field: defaults, what is missing, and the schema's check. */
void progress_finish(struct progress *p, struct form *form, const struct place *at);

/* Where a field's value goes; an opt member is marked as given. */
void *field_slot(const struct field *f, char *object, enum given given);
/* The value of an absent or null field. */
void field_fallback(const struct field *f, char *object);

/* list_add without zeroing. */
enum { LIST_FIRST = 4 };
void list_grow(struct arena *arena, struct list *list, size_t size);
static inline void *list_room(struct arena *arena, struct list *list, size_t size)
{
    if (!list->count && !list->cap) {
        list->items = arena_raw(arena, LIST_FIRST * size);
        list->cap = LIST_FIRST;
    } else if (list->count >= list->cap) {
        list_grow(arena, list, size);
    }
    return (char *)list->items + list->count++ * size;
}

/* What the interface sees of a type. */
static inline const struct type *type_shown(const struct type *type)
{
    return type->kind == KIND_RAW && type->show ? type->of : type;
}

/* Entries of a KIND_MAP: a struct str, then the value. */
size_t map_entry_size(const struct type *of);

#endif
