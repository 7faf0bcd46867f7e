/* fields.c - struct members as described by schemas, and lookup of fields by name.
 *
 * JSON bodies and query strings fill structs in the same way: find the field by its name, store the
 * value in the struct member, and handle missing fields at the end. */
#include "json/internal.h"

#include "base/arena.h"
#include "base/mem.h"
#include "json/scan.h"

#define KIND(name) (1u << KIND_##name)

#define PLAIN(name_, type_, kinds_) \
    [MEMBER_##name_] = { .name = #type_, .size = sizeof(type_), .kinds = (kinds_) }
#define OPT(name_, type_, kinds_)                             \
    [MEMBER_OPT_##name_] = { .name = #type_,                  \
                             .size = sizeof(type_),           \
                             .kinds = (kinds_),               \
                             .value = offsetof(type_, value), \
                             .opt = true }

const struct struct_member_layout member_type_infos[] = {
    PLAIN(POINTER, void *, KIND(OBJECT)),
    PLAIN(STR, struct str, KIND(STRING) | KIND(RAW)),
    PLAIN(INT, int64_t, KIND(INT) | KIND(TIME)),
    PLAIN(REAL, double, KIND(REAL)),
    PLAIN(BOOL, bool, KIND(BOOL)),
    PLAIN(U64, uint64_t, KIND(ID) | KIND(BITS)),
    PLAIN(LIST, struct list, KIND(ARRAY) | KIND(MAP)),
    PLAIN(IMAGE, struct uploaded_image, KIND(IMAGE)),
    OPT(STR, struct opt_str, KIND(STRING) | KIND(RAW)),
    OPT(INT, struct opt_int, KIND(INT) | KIND(TIME)),
    OPT(REAL, struct opt_real, KIND(REAL)),
    OPT(BOOL, struct opt_bool, KIND(BOOL)),
    OPT(ID, struct opt_id, KIND(ID) | KIND(BITS)),
    OPT(LIST, struct opt_list, KIND(ARRAY) | KIND(MAP)),
    OPT(OBJECT, struct opt_object, KIND(OBJECT)),
    OPT(IMAGE, struct opt_image, KIND(IMAGE)),
};

size_t schema_list_item_size(const struct type *type)
{
    switch (type->kind) {
    case KIND_STRING:
    case KIND_RAW:
        return sizeof(struct str);
    case KIND_INT:
    case KIND_TIME:
        return sizeof(int64_t);
    case KIND_REAL:
        return sizeof(double);
    case KIND_BOOL:
        return sizeof(bool);
    case KIND_ID:
    case KIND_BITS:
        return sizeof(uint64_t);
    case KIND_IMAGE:
        return sizeof(struct uploaded_image);
    case KIND_ARRAY:
    case KIND_MAP:
        return sizeof(struct list);
    case KIND_OBJECT:
        return type->schema->size;
    }
    return 0;
}

/* Returns the size of a map entry: a key and a value, with the padding that the compiler adds. */
size_t json_map_entry_size(const struct type *of)
{
    size_t align = sizeof(void *);

    return sizeof(struct str) + (schema_list_item_size(of) + align - 1) / align * align;
}

void list_grow(struct arena *arena, struct list *list, size_t size)
{
    size_t cap = list->count < LIST_INITIAL_CAPACITY ? LIST_INITIAL_CAPACITY : list->count * 2;
    void *bigger = arena_alloc_unzeroed(arena, cap * size);

    if (list->count)
        memcpy(bigger, list->items, list->count * size);
    list->items = bigger;
    list->cap = cap;
}

void list_reserve(struct arena *arena, struct list *list, size_t size, size_t cap)
{
    *list = (struct list){ .items = arena_alloc_unzeroed(arena, cap * size), .cap = cap };
}

void *list_append(struct arena *arena, struct list *list, size_t size)
{
    return memset(list_append_unzeroed(arena, list, size), 0, size);
}

void list_reverse(struct list *list, size_t size)
{
    char *first = list->items, *last = first + list->count * size;

    for (; list->count && first < (last -= size); first += size)
        for (size_t i = 0; i < size; i++) {
            char swapped = first[i];

            first[i] = last[i];
            last[i] = swapped;
        }
}

/* Returns true if text is the field's name. If `quoted` is set, text must start with name and
 * quote. */
static inline bool field_has_name(const struct field *f, struct str text, bool quoted)
{
    size_t n = f->name.n;

    return (quoted ? text.p[n] == '"' : n == text.n) && bytes_are_equal(f->name.p, text.p, n);
}

/* Finds a field by name. Names usually arrive in the order of the schema, so search from the field
 * after the last found field to the end, then from the start. */
static inline const struct field *find_field_by_name(struct object_decode_progress *p,
                                                     struct str text, bool quoted)
{
    const struct field *fields = p->schema->fields, *f;
    size_t i = p->next;

    for (f = fields + i; f->name.p; f++, i++)
        if (field_has_name(f, text, quoted))
            goto found;
    for (f = fields, i = 0; i < p->next; f++, i++)
        if (field_has_name(f, text, quoted))
            goto found;
    return NULL;

found:
    p->next = i + 1;
    return f;
}

const struct field *decode_find_field(struct object_decode_progress *p, struct str name)
{
    return find_field_by_name(p, name, false);
}

const struct field *decode_find_quoted_field(struct object_decode_progress *p, const char *text)
{
    return find_field_by_name(p, str_slice(text, 0), true);
}

bool decode_field_is_present(const struct object_decode_progress *p, size_t field)
{
    return p->seen >> field & 1;
}

bool decode_mark_field_present(struct object_decode_progress *p)
{
    size_t i = p->next - 1;
    uint64_t bit = 1ULL << i;

    if (p->seen & bit) {
        const struct field *f = &p->schema->fields[i];

        memset(p->object + f->offset, 0, member_type_infos[f->member].size);
        return true;
    }
    p->seen |= bit;
    return false;
}

void decode_unmark_field_present(struct object_decode_progress *p)
{
    p->seen &= ~(1ULL << (p->next - 1));
}

void *field_get_value_address(const struct field *f, char *object, enum field_presence given)
{
    const struct struct_member_layout *info = &member_type_infos[f->member];
    char *member = object + f->offset, *value = member + info->value;

    if (info->opt)
        *(enum field_presence *)(void *)member = given;
    return value;
}

void field_store_default(const struct field *f, char *object)
{
    void *member = object + f->offset;

    switch (f->member) {
    case MEMBER_STR:
        *(struct str *)member = str_of(f->fallback_text);
        break;
    case MEMBER_INT:
        *(int64_t *)member = f->fallback;
        break;
    case MEMBER_REAL:
        *(double *)member = (double)f->fallback;
        break;
    case MEMBER_BOOL:
        *(bool *)member = f->fallback != 0;
        break;
    case MEMBER_U64:
        *(uint64_t *)member = (uint64_t)f->fallback;
        break;
    default:
        break; /* members of other kinds stay zeroed, which means absent, NULL or empty */
    }
}

static __attribute__((noinline)) void report_missing_field(struct form *form,
                                                           const struct json_path *at,
                                                           struct str name)
{
    struct json_path here = json_path_key(at, name);

    form_add_error(form, &here, FORM_REQUIRED);
}

/* Sets defaults of absent optional fields, and reports absent required ones. The loop ends at the
 * row after the last field, whose bit is never set in `seen` and which is not OPTIONAL. */
static void set_defaults_or_report_absent(struct object_decode_progress *p, struct form *form,
                                          const struct json_path *at)
{
    for (uint64_t missing = ~p->seen; missing; missing &= missing - 1) {
        const struct field *f = &p->schema->fields[__builtin_ctzll(missing)];

        if (!(f->flags & OPTIONAL)) {
            if (!f->name.p)
                return;
            report_missing_field(form, at, f->name);
        } else if (f->fallback || f->fallback_text) {
            field_store_default(f, p->object); /* fields without a default stay zeroed */
        }
    }
}

/* Clears the fields that do not apply to this object, and removes their validation errors. */
static void clear_inapplicable_fields(struct object_decode_progress *p, struct form *form,
                                      const struct json_path *at)
{
    for (uint64_t extra = p->seen & ~p->schema->applicable_fields(p->object); extra;
         extra &= extra - 1) {
        const struct field *f = &p->schema->fields[__builtin_ctzll(extra)];
        struct json_path here = json_path_key(at, f->name);

        memset(p->object + f->offset, 0, member_type_infos[f->member].size);
        form_remove_errors_at_path(form, &here);
    }
}

void decode_set_defaults_and_check_object(struct object_decode_progress *p, struct form *form,
                                          const struct json_path *at)
{
    if (p->schema->applicable_fields)
        clear_inapplicable_fields(p, form, at);
    set_defaults_or_report_absent(p, form, at);
    if (p->schema->check)
        p->schema->check(form, at, p->object);
}
