/* decode.c - decodes JSON text into structs by a schema.
 *
 * One pass: each value is read, validated and stored before the next one. Errors do not stop the
 * decoder, so that all are reported at once. Nested schemas recurse, limited by JSON_MAX_DEPTH.
 *
 * plan.h and quick.h are the fast path for common input; this file is the slow path, which also
 * reports the errors. Both paths give the same result. */
#include "json/internal.h"

#include "base/arena.h"
#include "json/plan.h"
#include "json/quick.h"
#include "json/token.h"

struct decoder {
    struct json_reader reader;
    struct form *form;
};

static void decode_object(struct decoder *d, struct plan *plan, const struct place *at,
                          char *object);
static void decode_array(struct decoder *d, const struct type *type, struct plan *plan,
                         const struct place *at, struct list *out);
static void decode_map(struct decoder *d, const struct type *type, const struct place *at,
                       struct list *out);

/* Skips a value of the wrong type and adds an error. */
static void decode_refuse(struct decoder *d, const struct place *at, const char *code,
                          const char *message)
{
    if (json_skip(&d->reader, NULL))
        form_fail(d->form, at, code, "%s", message);
}

static __attribute__((noinline)) void refuse_composite(struct decoder *d, const struct type *type,
                                                       const struct place *at)
{
    if (type->kind == KIND_OBJECT)
        decode_refuse(d, at, FORM_NOT_MODEL);
    else if (type->kind == KIND_ARRAY)
        decode_refuse(d, at, FORM_NOT_LIST);
    else
        decode_refuse(d, at, FORM_NOT_DICT);
}

/* --- single values -------------------------------------------------------------------- */

/* Decodes an integer of up to eight digits that a comma or bracket follows. Returns false and
 * consumes nothing if the slow path is needed. */
static inline bool take_short(struct json_reader *r, int64_t *ret)
{
    const char *p = r->at, *end = r->end - p > 9 ? p + 9 : r->end;
    int64_t v = 0;

    while (p < end && *p >= '0' && *p <= '9')
        v = v * 10 + (*p++ - '0');
    if (p == r->at || p == end || (*r->at == '0' && p > r->at + 1) ||
        (*p != ',' && *p != '}' && *p != ']') || !token_count(r))
        return false;
    r->at = p;
    *ret = v;
    return true;
}

/* Decodes a string whose only limit is its length. A string without escapes contains no U+0000.
 * Returns false and consumes nothing if the slow path is needed. */
static inline bool decode_plain(struct json_reader *r, const struct type *type, struct str *out)
{
    const char *start = r->at + 1, *p = token_plain_end(r->at, r->end);

    if (!p || !length_is_surely_fine(type, (size_t)(p - start)) || r->values >= r->values_max)
        return false;
    r->values++;
    r->at = p + 1;
    *out = str_slice(start, (size_t)(p - start));
    return true;
}

/* Like decode_plain, but stores the JSON text of the string with its quotes. */
static inline bool decode_plain_raw(struct json_reader *r, struct str *out)
{
    const char *start = r->at, *p = token_plain_end(start, r->end);

    if (!p || !token_count(r))
        return false;
    r->at = p + 1;
    *out = str_slice(start, (size_t)(p + 1 - start));
    return true;
}

/* Not inlined, so that decode_value stays small. */
static __attribute__((noinline)) void decode_scalar(struct decoder *d, const struct type *type,
                                                    enum json_kind kind, const struct place *at,
                                                    void *out)
{
    struct json_reader *r = &d->reader;
    struct scalar s;
    int64_t v;
    bool taken;

    if (kind == JSON_STRING && is_simple(type) && decode_plain(r, type, out))
        return;
    if (type->kind == KIND_INT && take_short(r, &v)) {
        int_decode(d->form, type, v, at, out);
        return;
    }
    s.of_text = false;
    switch (s.kind = kind) {
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

/* Consumes a null if the type treats it as empty (TYPE_NULL_NONE). */
static bool skip_null(struct decoder *d, const struct type *type)
{
    return type->flags & TYPE_NULL_NONE && token_is(&d->reader, 'n') && json_take_null(&d->reader);
}

static __attribute__((noinline)) bool take_joined(struct decoder *d, const struct type *type,
                                                  enum json_kind kind, const struct place *at,
                                                  struct list *out);

static struct plan *plan_of_items(const struct type *type)
{
    return type->of->kind == KIND_OBJECT ? plan_of(type->of->schema) : NULL;
}

/* Maps, objects and arrays have separate functions, so that each saves only its own registers. */
static inline __attribute__((always_inline)) void decode_composite(struct decoder *d,
                                                                   const struct type *type,
                                                                   enum json_kind kind,
                                                                   const struct place *at,
                                                                   void *out)
{
    if (type->kind == KIND_MAP && kind == JSON_OBJECT)
        decode_map(d, type, at, out);
    else if (type->kind == KIND_OBJECT && kind == JSON_OBJECT)
        decode_object(d, plan_of(type->schema), at, out);
    else if (type->kind == KIND_ARRAY && kind == JSON_ARRAY)
        decode_array(d, type, plan_of_items(type), at, out);
    else if (type->kind != KIND_ARRAY ||
             !(skip_null(d, type) || take_joined(d, type, kind, at, out)))
        refuse_composite(d, type, at);
}

/* Decodes a value; kind: its JSON kind. Always inlined into the loops of this file, because only a
 * few comparisons precede the branches. */
static inline __attribute__((always_inline)) void decode_value(struct decoder *d,
                                                               const struct type *type,
                                                               enum json_kind kind,
                                                               const struct place *at, void *out)
{
    if (type->kind == KIND_BOOL && kind == JSON_BOOL)
        json_take_bool(&d->reader, out);
    else if (type->kind < KIND_RAW)
        decode_scalar(d, type, kind, at, out);
    else if (type->kind == KIND_RAW)
        json_skip(&d->reader, out);
    else
        decode_composite(d, type, kind, at, out);
}

/* --- objects -------------------------------------------------------------------------- */

/* Returns true if the value is empty and the type treats it as null (TYPE_EMPTY_NONE). */
static bool is_empty_value(const struct json_reader *r, const struct type *type)
{
    const char *at = r->at;

    if (!(type->flags & TYPE_EMPTY_NONE) || r->end - at < 2)
        return false;
    if (type->kind == KIND_TIME && at[0] == '0')
        return !strchr("0123456789.eE", at[1]) || !at[1];
    return at[0] == '"' && at[1] == '"';
}

/* Consumes a null; returns false if the field counts as absent. */
static bool decode_null(struct decoder *d, const struct field *f, char *object)
{
    json_skip(&d->reader, NULL);
    if (!(f->flags & NULLABLE))
        return false;
    field_slot(f, object, GIVEN_NULL);
    field_fallback(f, object);
    return true;
}

/* If a key occurs twice, the last value counts: removes the errors of the earlier value. */
static __attribute__((noinline)) void forget_field(struct decoder *d, const struct field *f,
                                                   const struct place *up)
{
    struct place at = place_key(up, f->name);

    form_forget(d->form, &at);
}

/* Decodes any value of a field; returns false if the field counts as absent. */
static inline bool decode_any(struct decoder *d, const struct field *f, char *object,
                              const struct place *up)
{
    token_here(&d->reader);
    enum json_kind kind = json_peek(&d->reader);
    if (kind == JSON_NULL || is_empty_value(&d->reader, f->type))
        return decode_null(d, f, object);
    struct place at = place_key(up, f->name);
    void *slot = field_slot(f, object, GIVEN);
    /* A struct member points to its object; a list contains its objects. */
    if (f->type->kind == KIND_OBJECT)
        slot = *(void **)slot = arena_alloc(d->form->arena, f->type->schema->size);
    decode_value(d, f->type, kind, &at, slot);
    return true;
}

/* Decodes a field; the first byte decides for maps, strings and raw JSON, the most common
 * values. */
static inline void decode_field(struct decoder *d, struct progress *p, const struct field *f,
                                const struct place *up)
{
    struct json_reader *r = &d->reader;
    struct str text;

    if (progress_mark(p))
        forget_field(d, f, up);
    if (f->type->kind == KIND_MAP && token_is(r, '{')) {
        struct place at = place_key(up, f->name);

        decode_map(d, f->type, &at, field_slot(f, p->object, GIVEN));
    } else if (is_simple(f->type) ? decode_plain(r, f->type, &text)
                                  : f->type->kind == KIND_RAW && decode_plain_raw(r, &text)) {
        *(struct str *)field_slot(f, p->object, GIVEN) = text;
    } else if (!decode_any(d, f, p->object, up)) {
        progress_unmark(p);
    }
}

/* Consumes the known field name at r->at and its colon. Returns NULL and consumes nothing if the
 * name is unknown or not in the simplest form. */
static inline const struct field *take_known_name(struct json_reader *r, struct progress *p)
{
    const char *at = r->at, *colon;
    const struct field *f;

    if (r->end - at < NAME_MAX_BYTES + 3 || *at != '"' || !(f = progress_find_quoted(p, at + 1)))
        return NULL;
    colon = at + f->name.n + 2;
    if (*colon == ':')
        r->at = colon + 1;
    else
        token_colon_any(r, colon);
    return f;
}

/* Like take_known_name, but for any name, with white space before it. */
static inline const struct field *take_name(struct json_reader *r, struct progress *p)
{
    const struct field *f = take_known_name(r, p);
    struct str key;

    if (f)
        return f;
    token_here(r);
    if ((f = take_known_name(r, p)))
        return f;
    if (!token_string(r, &key) || !token_colon(r, r->at))
        return NULL;
    return progress_find(p, key);
}

/* Decodes one member in any form, from the comma before it or the brace at `start`. Returns false
 * at the end of the object. */
static __attribute__((noinline)) bool decode_member(struct decoder *d, struct progress *p,
                                                    const struct place *up, const char *start)
{
    struct json_reader *r = &d->reader;

    if (!(r->at == start ? token_first(r, true) : token_more(r, true)))
        return false;
    const struct field *f = take_name(r, p);
    if (f)
        decode_field(d, p, f, up);
    else
        json_skip(r, NULL);
    return true;
}

/* Decodes a value that the fast path rejected; returns false if the field counts as absent. */
static __attribute__((noinline)) bool decode_step(struct decoder *d, const struct step *s,
                                                  char *object, const struct place *up)
{
    const struct field *f = s->field;
    struct place at = place_key(up, f->name);

    if (s->kind != STEP_LIST || !token_is(&d->reader, '['))
        return decode_any(d, f, object, up);
    decode_array(d, f->type, s->inner, &at, field_slot(f, object, GIVEN));
    return true;
}

/* State of decoding an object on the fast path; count: values not yet added to reader.values. */
struct members {
    struct step *last;
    uint64_t seen;
    unsigned count;
};

/* Ends an object on the fast path, at its closing brace. */
static inline void members_end(struct json_reader *r, const char *at, unsigned count)
{
    r->values += count;
    if (r->values > r->values_max)
        token_fail(r);
    else
        token_leave(r, at);
}

/* Fast path: decodes members from the comma before them or the brace at `start`. Returns true at
 * the end of the object, false if the slow path is needed. */
static inline __attribute__((always_inline)) bool take_members(struct decoder *d, struct plan *plan,
                                                               struct members *m,
                                                               const struct place *up,
                                                               const char *start, char *object)
{
    struct json_reader *r = &d->reader;
    const char *at = r->at, *behind;

    for (bool first = at == start; at < r->safe; first = false) {
        uint64_t word = scan_load(at) ^ (first ? '{' ^ ',' : 0);
        struct step *s = step_after(m->last);

        if ((char)word == '}') {
            members_end(r, at, m->count);
            return true;
        }
        if (!step_is(s, at, word) && !(s = step_search(plan, m->last, at, word)))
            break;
        if (m->seen & s->bit)
            break;
        m->last = s;
        m->seen |= s->bit;
        at += s->key_n;
        if ((behind = quick_value(r, s, at, object))) {
            at = behind;
            m->count++;
            continue;
        }
        r->at = at;
        if (!decode_step(d, s, object, up))
            m->seen &= ~s->bit;
        at = r->at;
    }
    r->at = at;
    r->values += m->count;
    m->count = 0;
    if (r->values > r->values_max)
        token_fail(r); /* the closing brace does not check the limit */
    return false;
}

/* True if white space precedes the next member or its comma: the fast path would fail. */
static inline bool is_spaced(const struct json_reader *r)
{
    return r->end - r->at > 1 && ((unsigned char)r->at[0] <= ' ' || (unsigned char)r->at[1] <= ' ');
}

/* Slow path: decodes the next member, and further ones while white space precedes them. */
static inline bool take_member(struct decoder *d, struct plan *plan, struct members *m,
                               const struct place *up, const char *start, char *object)
{
    struct progress p = { .schema = plan->schema, .object = object, .seen = m->seen };

    bool more;

    p.next = m->last->field ? (size_t)(m->last - plan->steps) + 1 : 0;
    do
        more = decode_member(d, &p, up, start);
    while (more && is_spaced(&d->reader));
    m->seen = p.seen;
    if (p.next)
        m->last = &plan->steps[p.next - 1];
    return more;
}

/* Sets defaults, reports missing fields and runs the schema's check. */
static __attribute__((noinline)) void object_finish(struct decoder *d, struct plan *plan,
                                                    const struct place *at, const char *start,
                                                    char *object, uint64_t seen)
{
    struct progress p = { .schema = plan->schema, .object = object, .seen = seen };

    if (!json_ok(&d->reader))
        return;
    d->form->text = (struct form_text){ (size_t)(d->reader.at - start), !d->reader.escaped };
    progress_finish(&p, d->form, at);
    d->form->text = (struct form_text){ 0 };
}

/* Decodes an object from its opening brace. */
static inline __attribute__((always_inline)) void read_object(struct decoder *d, struct plan *plan,
                                                              const struct place *at, char *object)
{
    struct members m = { .last = &plan->begin, .count = 1 };
    const char *start = d->reader.at;

    if (!token_deeper(&d->reader, true))
        return;
    while (!take_members(d, plan, &m, at, start, object) &&
           take_member(d, plan, &m, at, start, object))
        ;
    if (~m.seen & plan->wanted)
        object_finish(d, plan, at, start, object, m.seen);
}

static __attribute__((noinline)) void decode_object(struct decoder *d, struct plan *plan,
                                                    const struct place *at, char *object)
{
    read_object(d, plan, at, object);
}

/* --- lists ---------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void decode_item(struct decoder *d,
                                                              const struct type *type,
                                                              const struct place *at, void *out)
{
    token_here(&d->reader);
    enum json_kind kind = json_peek(&d->reader);

    if (kind == JSON_NULL && type->kind == KIND_OBJECT)
        decode_refuse(d, at, FORM_NO_ITEM);
    else if (kind == JSON_NULL && type->kind != KIND_RAW)
        decode_refuse(d, at, FORM_REQUIRED);
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

/* Appends a zeroed element to a list; small elements are zeroed several at a time. */
static inline void *list_next(struct arena *arena, struct list *list, size_t size)
{
    enum { SMALL = 128, FIRST = 8 };
    size_t cap = list->cap;

    if (!cap && size <= SMALL)
        list->items = arena_raw(arena, (list->cap = FIRST) * size);
    char *item = list_room(arena, list, size);

    if (size > SMALL)
        memset(item, 0, size);
    else if (list->cap != cap)
        memset(item, 0, (list->cap - list->count + 1) * size);
    return item;
}

/* Advances to the next array element if a comma alone separates two objects. */
static inline bool token_more_objects(struct json_reader *r)
{
    if (r->at >= r->safe || r->at[0] != ',' || r->at[1] != '{')
        return false;
    r->at++;
    return true;
}

/* Decodes an array; plan: the plan of its elements if they are objects. */
static __attribute__((noinline)) void decode_array(struct decoder *d, const struct type *type,
                                                   struct plan *plan, const struct place *at,
                                                   struct list *out)
{
    struct json_reader *r = &d->reader;
    struct place here = place_index(at, 0);
    size_t size = schema_item_size(type->of), most = items_allowed(type);

    for (bool more = token_open(r, false); more; more = token_more(r, false), here.index++) {
        if (plan && here.index < most && token_is(r, '{')) {
            do
                read_object(d, plan, &here, list_next(r->arena, out, size));
            while (here.index + 1 < most && token_more_objects(r) && ++here.index);
            continue;
        }
        if (here.index >= most) {
            token_here(r);
            json_skip(r, NULL);
            continue;
        }
        void *item = list_next(r->arena, out, size);
        if (!is_simple(type->of) || !decode_plain(r, type->of, item))
            decode_item(d, type->of, &here, item);
    }
    check_count(d, type, here.index, at);
}

/* Decodes an array from a comma-separated string if the type allows that (TYPE_EITHER). */
static bool take_joined(struct decoder *d, const struct type *type, enum json_kind kind,
                        const struct place *at, struct list *out)
{
    struct str text;
    size_t count = 0;

    if (!(type->flags & TYPE_EITHER) || kind != JSON_STRING)
        return false;
    if (!json_take_string(&d->reader, &text))
        return true;
    for (; text.n; count++) {
        struct scalar s = { .kind = JSON_STRING, .text = str_trim(str_cut(&text, ',')) };
        struct place here = place_index(at, count);

        if (count < items_allowed(type))
            scalar_decode(d->form, type->of, &s, &here,
                          list_add(d->form->arena, out, schema_item_size(type->of)));
    }
    check_count(d, type, count, at);
    return true;
}

/* --- maps ----------------------------------------------------------------------------- */

/* Finds the entry of a key; a later value of the same key replaces the earlier one. */
static inline char *find_entry(const struct list *entries, size_t size, struct str key)
{
    char *entry = entries->items;

    for (size_t i = 0; i < entries->count; i++, entry += size)
        if (scan_eq(*(struct str *)(void *)entry, key))
            return entry;
    return NULL;
}

/* Decodes any entry of a map; returns false if the map is full. */
static __attribute__((noinline)) bool decode_entry(struct decoder *d, const struct type *type,
                                                   const struct place *up, struct list *out)
{
    struct json_reader *r = &d->reader;
    size_t size = map_entry_size(type->of);
    struct str key;

    token_here(r);
    if (!token_string(r, &key) || !token_colon(r, r->at) || skip_null(d, type))
        return true;
    struct place at = place_key(up, key);
    char *entry = find_entry(out, size, key);

    if (entry) {
        form_forget(d->form, &at);
    } else if (out->count < items_allowed(type)) {
        entry = list_room(d->form->arena, out, size);
    } else {
        json_skip(r, NULL);
        return false;
    }
    memset(entry, 0, size);
    *(struct str *)(void *)entry = key;
    decode_item(d, type->of, &at, entry + sizeof key);
    return true;
}

/* Returns the closing quote of a key; fast for two letters, the length of most locales. */
static inline const char *key_end(const char *p, const char *end)
{
    if (end - p > SCAN_BLOCK && p[0] == '"' && p[3] == '"' && (unsigned char)(p[1] - 'a') < 26 &&
        (unsigned char)(p[2] - 'a') < 26)
        return p + 3;
    return token_plain_end(p, end);
}

/* Decodes a map entry with a plain string and a new key. Returns false and consumes nothing if the
 * slow path is needed. */
static inline bool take_pair(struct decoder *d, const struct type *type, struct list *out)
{
    struct json_reader *r = &d->reader;
    const char *start = r->at, *colon = key_end(start, r->end), *p;
    struct str key, value;

    if (!colon || ++colon == r->end || *colon != ':' || !(p = token_plain_end(colon + 1, r->end)))
        return false;
    key = str_slice(start + 1, (size_t)(colon - start - 2));
    value = str_slice(colon + 2, (size_t)(p - colon - 2));
    if (!length_is_surely_fine(type->of, value.n) || r->values >= r->values_max ||
        out->count >= items_allowed(type) || find_entry(out, sizeof(struct pair), key))
        return false;
    r->values++;
    r->at = p + 1;
    *(struct pair *)list_room(d->form->arena, out, sizeof(struct pair)) =
        (struct pair){ key, value };
    return true;
}

static __attribute__((noinline)) void decode_map(struct decoder *d, const struct type *type,
                                                 const struct place *at, struct list *out)
{
    struct json_reader *r = &d->reader;
    bool simple = is_simple(type->of);
    size_t skipped = 0;

    for (bool more = token_open(r, true); more; more = token_more(r, true))
        if ((!simple || !take_pair(d, type, out)) && !decode_entry(d, type, at, out))
            skipped++;
    check_count(d, type, out->count + skipped, at);
}

/* --- entry points --------------------------------------------------------------------- */

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

void *schema_read(const struct type *type, struct str text, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *value;

    return schema_decode(type, text, &form, &value) ? NULL : value;
}
