/* fields.c - members of structs, as schemas see them.
 *
 * Bodies and query strings fill structs in the same way: find the field of a
 * name, put its value into the member, and see at the end what did not come. */
#include "json/internal.h"

#include "base/arena.h"

#define KIND(name) (1u << KIND_##name)

#define PLAIN(name_, type_, kinds_) \
    [MEMBER_##name_] = { .name = #type_, .size = sizeof(type_), .kinds = (kinds_) }
#define OPT(name_, type_, kinds_)                             \
    [MEMBER_OPT_##name_] = { .name = #type_,                  \
                             .size = sizeof(type_),           \
                             .kinds = (kinds_),               \
                             .value = offsetof(type_, value), \
                             .opt = true }

const struct member_info member_infos[] = {
    PLAIN(POINTER, void *, KIND(OBJECT)),
    PLAIN(STR, struct str, KIND(STRING) | KIND(RAW)),
    PLAIN(INT, int64_t, KIND(INT) | KIND(TIME)),
    PLAIN(REAL, double, KIND(REAL)),
    PLAIN(BOOL, bool, KIND(BOOL)),
    PLAIN(U64, uint64_t, KIND(ID) | KIND(BITS)),
    PLAIN(LIST, struct list, KIND(ARRAY) | KIND(MAP)),
    PLAIN(IMAGE, struct image, KIND(IMAGE)),
    OPT(STR, struct opt_str, KIND(STRING) | KIND(RAW)),
    OPT(INT, struct opt_int, KIND(INT) | KIND(TIME)),
    OPT(REAL, struct opt_real, KIND(REAL)),
    OPT(BOOL, struct opt_bool, KIND(BOOL)),
    OPT(ID, struct opt_id, KIND(ID) | KIND(BITS)),
    OPT(LIST, struct opt_list, KIND(ARRAY) | KIND(MAP)),
    OPT(OBJECT, struct opt_object, KIND(OBJECT)),
    OPT(IMAGE, struct opt_image, KIND(IMAGE)),
};

size_t schema_item_size(const struct type *type)
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
        return sizeof(struct image);
    case KIND_ARRAY:
    case KIND_MAP:
        return sizeof(struct list);
    case KIND_OBJECT:
        return type->schema->size;
    }
    return 0;
}

/* Rounded up as the compiler rounds up a struct that begins with a key. */
size_t map_entry_size(const struct type *of)
{
    size_t align = sizeof(void *);

    return sizeof(struct str) + (schema_item_size(of) + align - 1) / align * align;
}

/* The room is the next power of two, so it need not be remembered. */
void *list_add(struct arena *arena, struct list *list, size_t size)
{
    size_t n = list->count;

    if (n == 0 || (n >= 4 && (n & (n - 1)) == 0)) {
        void *bigger = arena_raw(arena, (n ? n * 2 : 4) * size);

        if (n)
            memcpy(bigger, list->items, n * size);
        list->items = bigger;
    }
    list->count++;
    return memset((char *)list->items + n * size, 0, size);
}

const struct field *progress_find(struct progress *p, struct str name)
{
    const struct field *fields = p->schema->fields;

    /* Bodies mostly come in the order of the rows. */
    if (fields[p->next].name.p && str_eq(fields[p->next].name, name))
        return &fields[p->next++];
    for (size_t i = 0; fields[i].name.p; i++) {
        if (str_eq(fields[i].name, name)) {
            p->next = i + 1;
            return &fields[i];
        }
    }
    return NULL;
}

static size_t field_index(const struct progress *p, const struct field *f)
{
    return (size_t)(f - p->schema->fields);
}

bool progress_has(const struct progress *p, const struct field *f)
{
    size_t i = field_index(p, f);

    return p->seen[i / 64] >> (i % 64) & 1;
}

bool progress_mark(struct progress *p, const struct field *f)
{
    size_t i = field_index(p, f);

    if (progress_has(p, f)) {
        memset(p->object + f->offset, 0, member_infos[f->member].size);
        return true;
    }
    p->seen[i / 64] |= 1ULL << (i % 64);
    return false;
}

void progress_unmark(struct progress *p, const struct field *f)
{
    size_t i = field_index(p, f);

    p->seen[i / 64] &= ~(1ULL << (i % 64));
}

void *field_slot(const struct field *f, char *object, enum given given)
{
    char *member = object + f->offset;

    if (member_infos[f->member].opt)
        *(enum given *)(void *)member = given;
    return member + member_infos[f->member].value;
}

void field_fallback(const struct field *f, char *object)
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
        break; /* zeroed: absent, NULL or empty */
    }
}

void progress_finish(struct progress *p, struct form *form, const struct place *at)
{
    for (const struct field *f = p->schema->fields; f->name.p; f++) {
        if (progress_has(p, f))
            continue;
        if (f->flags & OPTIONAL) {
            field_fallback(f, p->object);
        } else {
            struct place here = place_key(at, f->name);

            form_fail(form, &here, FORM_REQUIRED);
        }
    }
    if (p->schema->check)
        p->schema->check(form, at, p->object);
}
