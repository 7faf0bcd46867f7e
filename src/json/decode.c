/* decode.c - a JSON text through a schema into structs.
 *
 * One pass: each value is read, checked and put into its member before the next
 * one is looked at. Nothing stops at a wrong value, so that all of them are told
 * at once. Nested schemas recurse, no deeper than the reader lets a text go. */
#include "json/internal.h"

#include "base/arena.h"
#include "json/token.h"

struct decoder {
    struct json_reader reader;
    struct form *form;
};

static __attribute__((noinline)) void decode_composite(struct decoder *d, const struct type *type,
                                                       enum json_kind kind, const struct place *at,
                                                       void *out);

/* Reads past a value that is not what it should be, and says so. */
static void refuse(struct decoder *d, const struct place *at, const char *code, const char *message)
{
    if (json_skip(&d->reader, NULL))
        form_fail(d->form, at, code, "%s", message);
}

/* --- single values ------------------------------------------------------------------------ */

/* Not a part of decode_value, which stays small. */
static __attribute__((noinline)) void decode_scalar(struct decoder *d, const struct type *type,
                                                    const struct place *at, void *out)
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

/* Nothing but its length can be wrong with a text of the type. */
static inline bool is_simple(const struct type *type)
{
    return type->kind == KIND_STRING && !type->flags && !type->choices && !type->rule;
}

/* Most of what is sent is simple text: two comparisons let it through. Without an escape
 * there is no U+0000 in it. False, and nothing is taken, where a closer look is needed. */
static inline bool decode_plain(struct json_reader *r, const struct type *type, struct str *out)
{
    const char *start = r->at + 1, *p = token_plain_end(r);

    if (!p || !length_is_surely_fine(type, (size_t)(p - start)) || r->values >= r->values_max)
        return false;
    r->values++;
    r->at = p + 1;
    *out = str_slice(start, (size_t)(p - start));
    return true;
}

/* Any value as it is written; mostly it is text. */
static inline void decode_raw(struct decoder *d, enum json_kind kind, struct str *out)
{
    const char *start = d->reader.at;

    if (kind != JSON_STRING)
        json_skip(&d->reader, out);
    else if (token_count(&d->reader) && token_string(&d->reader, NULL))
        *out = str_slice(start, (size_t)(d->reader.at - start));
}

/* kind: what comes next. A part of the loops below, whatever the compiler thinks of its size:
 * it is a few comparisons before one of its branches. */
static inline __attribute__((always_inline)) void decode_value(struct decoder *d,
                                                               const struct type *type,
                                                               enum json_kind kind,
                                                               const struct place *at, void *out)
{
    if (kind == JSON_STRING && is_simple(type) && decode_plain(&d->reader, type, out))
        return;
    if (type->kind < KIND_RAW)
        decode_scalar(d, type, at, out);
    else if (type->kind == KIND_RAW)
        decode_raw(d, kind, out);
    else
        decode_composite(d, type, kind, at, out);
}

/* --- objects ------------------------------------------------------------------------------ */

static inline void decode_field(struct decoder *d, struct progress *p, const struct field *f,
                                const struct place *up)
{
    struct place at = place_key(up, f->name);
    enum json_kind kind = json_peek(&d->reader);

    if (progress_mark(p))
        form_forget(d->form, &at);
    if (kind != JSON_NULL) {
        void *slot = field_slot(f, p->object, GIVEN);

        /* A member points to its object; a list holds its objects themselves. */
        if (f->type->kind == KIND_OBJECT)
            slot = *(void **)slot = arena_alloc(d->form->arena, f->type->schema->size);
        decode_value(d, f->type, kind, &at, slot);
        return;
    }

    json_take_null(&d->reader);
    if (f->flags & NULLABLE) {
        field_slot(f, p->object, GIVEN_NULL);
        field_fallback(f, p->object);
    } else {
        progress_unmark(p);
    }
}

/* Takes a name; NULL when no field has it. */
static inline const struct field *take_name(struct decoder *d, struct progress *p)
{
    struct json_reader *r = &d->reader;
    const struct field *f = NULL;
    struct str key;

    if (token_is(r, '"'))
        f = progress_find_quoted(p, str_slice(r->at + 1, (size_t)(r->end - r->at - 1)));
    if (f) {
        token_colon(r, r->at + f->name.n + 2);
    } else if (token_string(r, &key)) {
        token_colon(r, r->at);
        f = progress_find(p, key);
    }
    return f;
}

static void decode_object(struct decoder *d, const struct schema *schema, const struct place *at,
                          char *object)
{
    struct progress p = { .schema = schema, .object = object };

    token_enter(&d->reader, true);
    for (bool more = token_next(&d->reader, true); more; more = token_more(&d->reader, true)) {
        const struct field *f = take_name(d, &p);

        if (f)
            decode_field(d, &p, f, at);
        else
            json_skip(&d->reader, NULL);
    }
    if (json_ok(&d->reader))
        progress_finish(&p, d->form, at);
}

/* --- lists -------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void decode_item(struct decoder *d,
                                                              const struct type *type,
                                                              const struct place *at, void *out)
{
    enum json_kind kind = json_peek(&d->reader);

    if (kind == JSON_NULL && type->kind == KIND_OBJECT)
        refuse(d, at, FORM_NO_ITEM);
    else if (kind == JSON_NULL && type->kind != KIND_RAW)
        refuse(d, at, FORM_REQUIRED);
    else
        decode_value(d, type, kind, at, out);
}

static size_t items_allowed(const struct type *type)
{
    return type->max ? (size_t)type->max : ITEMS_MAX;
}

static inline void check_count(struct decoder *d, const struct type *type, size_t count,
                               const struct place *at)
{
    if (count > items_allowed(type) || count < (size_t)type->min)
        length_check(d->form, type, count, ITEMS_MAX, at);
}

static void decode_array(struct decoder *d, const struct type *type, const struct place *at,
                         struct list *out)
{
    size_t count = 0, size = schema_item_size(type->of);

    token_enter(&d->reader, false);
    for (; token_next(&d->reader, false); count++) {
        struct place here = place_index(at, count);

        if (count < items_allowed(type))
            decode_item(d, type->of, &here, list_add(d->form->arena, out, size));
        else
            json_skip(&d->reader, NULL);
    }
    check_count(d, type, count, at);
}

/* --- maps --------------------------------------------------------------------------------- */

/* The entry of a key, so that a later one takes the place of an earlier. */
static char *find_entry(const struct list *entries, size_t size, struct str key)
{
    char *entry = entries->items;

    for (size_t i = 0; i < entries->count; i++, entry += size)
        if (str_eq(*(struct str *)(void *)entry, key))
            return entry;
    return NULL;
}

/* An empty entry; most maps hold text. */
static inline void begin_entry(char *entry, size_t size, struct str key)
{
    if (size == sizeof(struct pair)) {
        *(struct pair *)(void *)entry = (struct pair){ .key = key };
    } else {
        memset(entry, 0, size);
        *(struct str *)(void *)entry = key;
    }
}

/* An entry that is null, where that means that there is none. */
static bool skip_null(struct decoder *d, const struct type *type)
{
    return type->flags & TYPE_NULL_NONE && token_is(&d->reader, 'n') && json_take_null(&d->reader);
}

static void decode_map(struct decoder *d, const struct type *type, const struct place *at,
                       struct list *out)
{
    struct json_reader *r = &d->reader;
    size_t skipped = 0, size = map_entry_size(type->of);
    struct str key;

    token_enter(r, true);
    while (token_next(r, true) && token_string(r, &key) && token_colon(r, r->at)) {
        if (skip_null(d, type))
            continue;
        struct place here = place_key(at, key);
        char *entry = find_entry(out, size, key);

        if (entry) {
            form_forget(d->form, &here);
        } else if (out->count < items_allowed(type)) {
            entry = list_room(d->form->arena, out, size);
        } else {
            json_skip(&d->reader, NULL);
            skipped++;
            continue;
        }
        begin_entry(entry, size, key);
        decode_item(d, type->of, &here, entry + sizeof(struct str));
    }
    check_count(d, type, out->count + skipped, at);
}

/* --- any value ---------------------------------------------------------------------------- */

static __attribute__((noinline)) void decode_composite(struct decoder *d, const struct type *type,
                                                       enum json_kind kind, const struct place *at,
                                                       void *out)
{
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
    default:
        if (kind == JSON_OBJECT)
            decode_map(d, type, at, out);
        else
            refuse(d, at, FORM_NOT_DICT);
    }
}

enum err schema_decode_at(const struct type *type, struct str text, struct form *form,
                          const struct place *here, void **ret)
{
    struct decoder d = { .form = form };
    void *value = arena_alloc(form->arena, schema_item_size(type));

    json_reader_init(&d.reader, text.n ? text : STR("{}"), form->arena);
    decode_value(&d, type, json_peek(&d.reader), here, value);
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
