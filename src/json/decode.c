/* decode.c - a JSON text through a schema into structs.
 *
 * One pass: each value is read, checked and put into its member before the next
 * one is looked at. Nothing stops at a wrong value, so that all of them are told
 * at once. Nested schemas recurse, no deeper than the reader lets a text go. */
#include "json/internal.h"

#include "base/arena.h"

struct decoder {
    struct json_reader reader;
    struct form *form;
};

static void decode_value(struct decoder *d, const struct type *type, const struct place *at,
                         void *out);

/* Reads past a value that is not what it should be, and says so. */
static void refuse(struct decoder *d, const struct place *at, const char *code, const char *message)
{
    if (json_skip(&d->reader, NULL))
        form_fail(d->form, at, code, "%s", message);
}

static void decode_field(struct decoder *d, struct progress *p, const struct field *f,
                         const struct place *up)
{
    struct place at = place_key(up, f->name);

    if (progress_mark(p, f))
        form_forget(d->form, &at);
    if (json_peek(&d->reader) != JSON_NULL) {
        void *slot = field_slot(f, p->object, GIVEN);

        /* A member points to its object; a list holds its objects themselves. */
        if (f->type->kind == KIND_OBJECT)
            slot = *(void **)slot = arena_alloc(d->form->arena, f->type->schema->size);
        decode_value(d, f->type, &at, slot);
        return;
    }

    json_take_null(&d->reader);
    if (f->flags & NULLABLE) {
        field_slot(f, p->object, GIVEN_NULL);
        field_fallback(f, p->object);
    } else {
        progress_unmark(p, f);
    }
}

static void decode_object(struct decoder *d, const struct schema *schema, const struct place *at,
                          char *object)
{
    struct progress p = { .schema = schema, .object = object };
    struct str key;

    json_enter(&d->reader);
    while (json_next_member(&d->reader, &key)) {
        const struct field *f = progress_find(&p, key);

        if (f)
            decode_field(d, &p, f, at);
        else
            json_skip(&d->reader, NULL);
    }
    if (json_ok(&d->reader))
        progress_finish(&p, d->form, at);
}

static void decode_item(struct decoder *d, const struct type *type, const struct place *at,
                        void *out)
{
    if (json_peek(&d->reader) == JSON_NULL && type->kind == KIND_OBJECT)
        refuse(d, at, FORM_NO_ITEM);
    else if (json_peek(&d->reader) == JSON_NULL && type->kind != KIND_RAW)
        refuse(d, at, FORM_REQUIRED);
    else
        decode_value(d, type, at, out);
}

static size_t items_allowed(const struct type *type)
{
    return type->max ? (size_t)type->max : ITEMS_MAX;
}

static void decode_array(struct decoder *d, const struct type *type, const struct place *at,
                         struct list *out)
{
    size_t count = 0, size = schema_item_size(type->of);

    json_enter(&d->reader);
    for (; json_next_item(&d->reader); count++) {
        struct place here = place_index(at, count);

        if (count < items_allowed(type))
            decode_item(d, type->of, &here, list_add(d->form->arena, out, size));
        else
            json_skip(&d->reader, NULL);
    }
    length_check(d->form, type, count, ITEMS_MAX, at);
}

/* The entry of a key, so that a later one takes the place of an earlier. */
static char *find_entry(const struct list *entries, size_t size, struct str key)
{
    char *entry = entries->items;

    for (size_t i = 0; i < entries->count; i++, entry += size)
        if (str_eq(*(struct str *)(void *)entry, key))
            return entry;
    return NULL;
}

static void decode_entry(struct decoder *d, const struct type *of, struct str key,
                         const struct place *up, struct list *entries)
{
    size_t size = map_entry_size(of);
    struct place at = place_key(up, key);
    char *entry = find_entry(entries, size, key);

    if (entry) {
        form_forget(d->form, &at);
        memset(entry, 0, size);
    } else {
        entry = list_add(d->form->arena, entries, size);
    }
    *(struct str *)(void *)entry = key;
    decode_item(d, of, &at, entry + sizeof(struct str));
}

/* An entry that is null, where that means that there is none. */
static bool skip_null(struct decoder *d, const struct type *type)
{
    return type->flags & TYPE_NULL_NONE && json_peek(&d->reader) == JSON_NULL &&
           json_take_null(&d->reader);
}

static void decode_map(struct decoder *d, const struct type *type, const struct place *at,
                       struct list *out)
{
    size_t skipped = 0;
    struct str key;

    json_enter(&d->reader);
    while (json_next_member(&d->reader, &key)) {
        if (skip_null(d, type))
            continue;
        if (out->count < items_allowed(type) || find_entry(out, map_entry_size(type->of), key)) {
            decode_entry(d, type->of, key, at, out);
        } else {
            json_skip(&d->reader, NULL);
            skipped++;
        }
    }
    length_check(d->form, type, out->count + skipped, ITEMS_MAX, at);
}

static void decode_scalar(struct decoder *d, const struct type *type, const struct place *at,
                          void *out)
{
    struct json_reader *r = &d->reader;
    struct scalar s;
    bool taken;

    s.kind = json_peek(r);
    switch (s.kind) {
    case JSON_STRING:
        taken = json_take_string(r, &s.text);
        break;
    case JSON_NUMBER:
        taken = json_take_number(r, &s.number);
        s.text = s.number.raw;
        break;
    case JSON_BOOL:
        taken = json_take_bool(r, &s.truth);
        s.text = taken && s.truth ? STR("true") : STR("false");
        break;
    default:
        taken = json_skip(r, &s.text);
    }
    if (taken)
        scalar_decode(d->form, type, &s, at, out);
}

static void decode_value(struct decoder *d, const struct type *type, const struct place *at,
                         void *out)
{
    enum json_kind kind = json_peek(&d->reader);

    switch (type->kind) {
    case KIND_OBJECT:
        if (kind == JSON_OBJECT)
            decode_object(d, type->schema, at, out);
        else
            refuse(d, at, FORM_NOT_MODEL);
        break;
    case KIND_ARRAY:
        if (kind == JSON_ARRAY)
            decode_array(d, type, at, out);
        else if (!skip_null(d, type))
            refuse(d, at, FORM_NOT_LIST);
        break;
    case KIND_MAP:
        if (kind == JSON_OBJECT)
            decode_map(d, type, at, out);
        else
            refuse(d, at, FORM_NOT_DICT);
        break;
    case KIND_RAW:
        json_skip(&d->reader, out);
        break;
    default:
        decode_scalar(d, type, at, out);
    }
}

enum err schema_decode_at(const struct type *type, struct str text, struct form *form,
                          const struct place *here, void **ret)
{
    struct decoder d = { .form = form };
    void *value = arena_alloc(form->arena, schema_item_size(type));

    json_reader_init(&d.reader, text.n ? text : STR("{}"), form->arena);
    decode_value(&d, type, here, value);
    if (!json_end(&d.reader))
        return ERR_INVALID_JSON;
    if (form_failed_at(form, here))
        return ERR_INVALID_FORM_BODY;
    *ret = value;
    return OK;
}

enum err schema_decode(const struct type *type, struct str text, struct form *form, void **ret)
{
    enum err e = schema_decode_at(type, text, form, NULL, ret);

    if (e == ERR_INVALID_JSON)
        *form = (struct form){ .arena = form->arena };
    return e;
}
