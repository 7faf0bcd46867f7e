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

static void decode_object(struct decoder *d, const struct schema *schema, const struct place *at,
                          char *object);
static void decode_array(struct decoder *d, const struct type *type, const struct place *at,
                         struct list *out);
static void decode_map(struct decoder *d, const struct type *type, const struct place *at,
                       struct list *out);

/* Reads past a value that is not what it should be, and says so. */
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

/* A whole number of a few digits with nothing but its end behind it, as nearly all are. False,
 * and nothing is taken, where a closer look is needed. */
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

/* Nothing but its length can be wrong with a text of the type. */
static inline bool is_simple(const struct type *type)
{
    return type->kind == KIND_STRING && !type->flags && !type->choices && !type->rule;
}

/* Most of what is sent is simple text: two comparisons let it through. Without an escape
 * there is no U+0000 in it. False, and nothing is taken, where a closer look is needed. */
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

/* The same for a value that is kept as it is written. */
static inline bool decode_plain_raw(struct json_reader *r, struct str *out)
{
    const char *start = r->at, *p = token_plain_end(start, r->end);

    if (!p || !token_count(r))
        return false;
    r->at = p + 1;
    *out = str_slice(start, (size_t)(p + 1 - start));
    return true;
}

/* Not a part of decode_value, which stays small. */
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

/* A null, where that means that there is nothing. */
static bool skip_null(struct decoder *d, const struct type *type)
{
    return type->flags & TYPE_NULL_NONE && token_is(&d->reader, 'n') && json_take_null(&d->reader);
}

static __attribute__((noinline)) bool take_joined(struct decoder *d, const struct type *type,
                                                  enum json_kind kind, const struct place *at,
                                                  struct list *out);

/* Each of the three is a function of its own: none pays for what another keeps at hand. */
static inline __attribute__((always_inline)) void decode_composite(struct decoder *d,
                                                                   const struct type *type,
                                                                   enum json_kind kind,
                                                                   const struct place *at,
                                                                   void *out)
{
    if (type->kind == KIND_MAP && kind == JSON_OBJECT)
        decode_map(d, type, at, out);
    else if (type->kind == KIND_OBJECT && kind == JSON_OBJECT)
        decode_object(d, type->schema, at, out);
    else if (type->kind == KIND_ARRAY && kind == JSON_ARRAY)
        decode_array(d, type, at, out);
    else if (type->kind != KIND_ARRAY ||
             !(skip_null(d, type) || take_joined(d, type, kind, at, out)))
        refuse_composite(d, type, at);
}

/* kind: what comes next. A part of the loops below, whatever the compiler thinks of its size:
 * it is a few comparisons before one of its branches. */
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

static void decode_null(struct decoder *d, struct progress *p, const struct field *f)
{
    json_take_null(&d->reader);
    if (f->flags & NULLABLE) {
        field_slot(f, p->object, GIVEN_NULL);
        field_fallback(f, p->object);
    } else {
        progress_unmark(p);
    }
}

/* What came before under the same name does not count. */
static __attribute__((noinline)) void forget_field(struct decoder *d, const struct field *f,
                                                   const struct place *up)
{
    struct place at = place_key(up, f->name);

    form_forget(d->form, &at);
}

/* Whatever comes as the field's value. */
static inline void decode_any(struct decoder *d, struct progress *p, const struct field *f,
                              const struct place *up)
{
    token_here(&d->reader);
    enum json_kind kind = json_peek(&d->reader);
    if (kind == JSON_NULL) {
        decode_null(d, p, f);
        return;
    }
    struct place at = place_key(up, f->name);
    void *slot = field_slot(f, p->object, GIVEN);
    /* A member points to its object; a list holds its objects themselves. */
    if (f->type->kind == KIND_OBJECT)
        slot = *(void **)slot = arena_alloc(d->form->arena, f->type->schema->size);
    decode_value(d, f->type, kind, &at, slot);
}

/* Simple text, dictionaries and values that are text are most of what is sent, and known by
 * their first byte. */
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
    } else {
        decode_any(d, p, f, up);
    }
}

/* To behind the colon of a name that begins here; NULL, and nothing is taken, when it is no
 * field's or not written as simply as it could be. */
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

/* The same for any name, with white space before it. */
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

static __attribute__((noinline)) void decode_object(struct decoder *d, const struct schema *schema,
                                                    const struct place *at, char *object)
{
    struct progress p = { .schema = schema, .object = object };

    for (bool more = token_open(&d->reader, true); more; more = token_more(&d->reader, true)) {
        const struct field *f = take_name(&d->reader, &p);

        if (f)
            decode_field(d, &p, f, at);
        else
            json_skip(&d->reader, NULL);
    }
    if (json_ok(&d->reader))
        progress_finish(&p, d->form, at);
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

static __attribute__((noinline)) void decode_array(struct decoder *d, const struct type *type,
                                                   const struct place *at, struct list *out)
{
    struct json_reader *r = &d->reader;
    size_t count = 0, size = schema_item_size(type->of);

    for (bool more = token_open(r, false); more; more = token_more(r, false), count++) {
        struct place here = place_index(at, count);

        if (count >= items_allowed(type)) {
            token_here(r);
            json_skip(r, NULL);
            continue;
        }
        void *item = list_add(d->form->arena, out, size);
        if (type->of->kind == KIND_OBJECT && token_is(r, '{'))
            decode_object(d, type->of->schema, &here, item);
        else if (!is_simple(type->of) || !decode_plain(r, type->of, item))
            decode_item(d, type->of, &here, item);
    }
    check_count(d, type, count, at);
}

/* A list that came as text, where that may be. */
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

/* The entry of a key, so that a later one takes the place of an earlier. */
static inline char *find_entry(const struct list *entries, size_t size, struct str key)
{
    char *entry = entries->items;

    for (size_t i = 0; i < entries->count; i++, entry += size)
        if (scan_eq(*(struct str *)(void *)entry, key))
            return entry;
    return NULL;
}

/* An entry of a map, whatever it is; false when there are too many already. */
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

/* The closing quote of a key: of two letters, as most locales are, or whatever token_plain_end
 * finds. */
static inline const char *key_end(const char *p, const char *end)
{
    if (end - p > SCAN_BLOCK && p[0] == '"' && p[3] == '"' && (unsigned char)(p[1] - 'a') < 26 &&
        (unsigned char)(p[2] - 'a') < 26)
        return p + 3;
    return token_plain_end(p, end);
}

/* An entry of simple text under a new key, as nearly all are. False, and nothing is taken, where
 * a closer look is needed. */
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

/* --- the whole ------------------------------------------------------------------------ */

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
