/* decode.c - decodes JSON text into structs by a schema.
 *
 * The decoder works in one pass: each value is read, validated and stored before the next one.
 * Errors do not stop the decoder, so that all errors of a text are reported at once. Nested schemas
 * recurse, limited by JSON_MAX_DEPTH.
 *
 * plan.h and fast_decode.h are the fast path for common input; this file is the slow path, which
 * also reports the errors. Both paths give the same result. */
#include "json/internal.h"

#include "base/arena.h"
#include "json/plan.h"
#include "json/fast_decode.h"
#include "json/reader_inline.h"

struct json_decoder {
    struct json_reader reader;
    struct form *form;
};

static void decode_object(struct json_decoder *d, struct decode_plan *plan,
                          const struct json_path *at, char *object);
static void decode_array(struct json_decoder *d, const struct type *type, struct decode_plan *plan,
                         const struct json_path *at, struct list *out);
static void decode_map(struct json_decoder *d, const struct type *type, const struct json_path *at,
                       struct list *out);

/* Adds an error for a value of the wrong type, and skips the value. */
static void add_type_error_and_skip_value(struct json_decoder *d, const struct json_path *at,
                                          const char *code, const char *message)
{
    if (json_skip_value(&d->reader, NULL))
        form_add_error(d->form, at, code, "%s", message);
}

static __attribute__((noinline)) void refuse_composite_value(struct json_decoder *d,
                                                             const struct type *type,
                                                             const struct json_path *at)
{
    if (type->kind == KIND_OBJECT)
        add_type_error_and_skip_value(d, at, FORM_NOT_MODEL);
    else if (type->kind == KIND_ARRAY)
        add_type_error_and_skip_value(d, at, FORM_NOT_LIST);
    else
        add_type_error_and_skip_value(d, at, FORM_NOT_DICT);
}

/* --- single values -------------------------------------------------------------------- */

/* Decodes an integer of at most eight digits, followed by a comma or a closing bracket. Returns
 * false and consumes nothing if the slow path is needed. */
static inline bool decode_short_int(struct json_reader *r, int64_t *ret)
{
    const char *p = r->at, *end = r->end - p > 9 ? p + 9 : r->end;
    int64_t v = 0;

    while (p < end && *p >= '0' && *p <= '9')
        v = v * 10 + (*p++ - '0');
    if (p == r->at || p == end || (*r->at == '0' && p > r->at + 1) ||
        (*p != ',' && *p != '}' && *p != ']') || !json_reader_count_towards_value_limit(r))
        return false;
    r->at = p;
    *ret = v;
    return true;
}

/* Decodes an ASCII string of a type that limits only the length. (A string without escapes cannot
 * contain U+0000.) Returns false and consumes nothing if the slow path is needed (escapes,
 * non-ASCII). */
static inline bool decode_plain_string(struct json_reader *r, const struct type *type,
                                       struct str *out)
{
    const char *start = r->at + 1, *p = find_plain_string_end(r->at, r->end);

    if (!p || !byte_length_certainly_meets_limits(type, (size_t)(p - start)) ||
        r->values >= r->values_max)
        return false;
    r->values++;
    r->at = p + 1;
    *out = str_slice(start, (size_t)(p - start));
    return true;
}

/* Decodes an ASCII string like decode_plain_string, but stores its JSON text, with the quotes. */
static inline bool decode_plain_string_as_raw(struct json_reader *r, struct str *out)
{
    const char *start = r->at, *p = find_plain_string_end(start, r->end);

    if (!p || !json_reader_count_towards_value_limit(r))
        return false;
    r->at = p + 1;
    *out = str_slice(start, (size_t)(p + 1 - start));
    return true;
}

/* Not inlined, because decode_value, which calls this function, is inlined and must stay small. */
static __attribute__((noinline)) void decode_scalar(struct json_decoder *d, const struct type *type,
                                                    enum json_value_kind kind,
                                                    const struct json_path *at, void *out)
{
    struct json_reader *r = &d->reader;
    struct scalar_value s;
    int64_t v;
    bool taken;

    if (kind == JSON_STRING && type_is_plain_string(type) && decode_plain_string(r, type, out))
        return;
    if (type->kind == KIND_INT && decode_short_int(r, &v)) {
        decode_integer_value(d->form, type, v, at, out);
        return;
    }
    s.of_text = false;
    switch (s.kind = kind) {
    case JSON_STRING:
        taken = json_read_string(r, &s.text);
        break;
    case JSON_NUMBER:
        taken = json_read_number(r, &s.number);
        s.text = s.number.raw;
        break;
    case JSON_BOOL:
        taken = json_read_bool(r, &s.truth);
        s.text = taken && s.truth ? STR("true") : STR("false");
        break;
    default:
        taken = json_skip_value(r, &s.text);
    }
    if (taken)
        decode_scalar_value(d->form, type, &s, at, out);
}

/* If the next value is null and the type treats null as empty (TYPE_NULL_NONE), consumes it and
 * returns true. */
static bool consume_null_if_allowed(struct json_decoder *d, const struct type *type)
{
    return type->flags & TYPE_NULL_NONE && json_reader_is_at_char(&d->reader, 'n') &&
           json_read_null(&d->reader);
}

static __attribute__((noinline)) bool decode_comma_separated_list(struct json_decoder *d,
                                                                  const struct type *type,
                                                                  enum json_value_kind kind,
                                                                  const struct json_path *at,
                                                                  struct list *out);

static struct decode_plan *get_plan_of_list_items(const struct type *type)
{
    return type->of->kind == KIND_OBJECT ? schema_get_decode_plan(type->of->schema) : NULL;
}

/* Each composite type has a decoding function of its own, so that a call saves only the CPU
 * registers that this type needs. */
static inline __attribute__((always_inline)) void decode_composite(struct json_decoder *d,
                                                                   const struct type *type,
                                                                   enum json_value_kind kind,
                                                                   const struct json_path *at,
                                                                   void *out)
{
    if (type->kind == KIND_MAP && kind == JSON_OBJECT)
        decode_map(d, type, at, out);
    else if (type->kind == KIND_OBJECT && kind == JSON_OBJECT)
        decode_object(d, schema_get_decode_plan(type->schema), at, out);
    else if (type->kind == KIND_ARRAY && kind == JSON_ARRAY)
        decode_array(d, type, get_plan_of_list_items(type), at, out);
    else if (type->kind != KIND_ARRAY || !(consume_null_if_allowed(d, type) ||
                                           decode_comma_separated_list(d, type, kind, at, out)))
        refuse_composite_value(d, type, at);
}

/* Decodes a value of the JSON kind `kind`. Always inlined into the loops of this file, because this
 * function only selects the function that does the work. */
static inline __attribute__((always_inline)) void decode_value(struct json_decoder *d,
                                                               const struct type *type,
                                                               enum json_value_kind kind,
                                                               const struct json_path *at,
                                                               void *out)
{
    if (type->kind == KIND_BOOL && kind == JSON_BOOL)
        json_read_bool(&d->reader, out);
    else if (type->kind < KIND_RAW)
        decode_scalar(d, type, kind, at, out);
    else if (type->kind == KIND_RAW)
        json_skip_value(&d->reader, out);
    else
        decode_composite(d, type, kind, at, out);
}

/* --- objects -------------------------------------------------------------------------- */

/* Returns true if the value is empty and the type treats it as null (TYPE_EMPTY_NONE). */
static bool is_empty_treated_as_null(const struct json_reader *r, const struct type *type)
{
    const char *at = r->at;

    if (!(type->flags & TYPE_EMPTY_NONE) || r->end - at < 2)
        return false;
    if (type->kind == KIND_TIME && at[0] == '0')
        return !strchr("0123456789.eE", at[1]) || !at[1];
    return at[0] == '"' && at[1] == '"';
}

/* Stores null in a nullable member. If the member is not nullable, returns false; the field then
 * counts as absent. */
static bool decode_null_field(struct json_decoder *d, const struct field *f, char *object)
{
    json_skip_value(&d->reader, NULL);
    if (!(f->flags & NULLABLE))
        return false;
    field_get_value_address(f, object, GIVEN_NULL);
    field_store_default(f, object);
    return true;
}

/* Called if a key occurs for the second time: removes the errors of the earlier value, because the
 * last value counts. */
static __attribute__((noinline)) void remove_field_errors(struct json_decoder *d,
                                                          const struct field *f,
                                                          const struct json_path *up)
{
    struct json_path at = json_path_key(up, f->name);

    form_remove_errors_at_path(d->form, &at);
}

/* Decodes the value of a field, which may be null. Returns false if the field counts as absent. */
static inline bool decode_field_value(struct json_decoder *d, const struct field *f, char *object,
                                      const struct json_path *up)
{
    json_reader_skip_space(&d->reader);
    enum json_value_kind kind = json_peek_kind(&d->reader);
    if (kind == JSON_NULL || is_empty_treated_as_null(&d->reader, f->type))
        return decode_null_field(d, f, object);
    struct json_path at = json_path_key(up, f->name);
    void *slot = field_get_value_address(f, object, GIVEN);
    /* The struct member of an object type is a pointer to a struct, so allocate that struct. */
    if (f->type->kind == KIND_OBJECT)
        slot = *(void **)slot = arena_alloc(d->form->arena, f->type->schema->size);
    decode_value(d, f->type, kind, &at, slot);
    return true;
}

/* Decodes a field. Maps, strings and raw JSON are the most common values, so the first byte of the
 * value is compared with the first bytes of these kinds first. */
static inline void decode_field(struct json_decoder *d, struct object_decode_progress *p,
                                const struct field *f, const struct json_path *up)
{
    struct json_reader *r = &d->reader;
    struct str text;

    if (decode_mark_field_present(p))
        remove_field_errors(d, f, up);
    if (f->type->kind == KIND_MAP && json_reader_is_at_char(r, '{')) {
        struct json_path at = json_path_key(up, f->name);

        decode_map(d, f->type, &at, field_get_value_address(f, p->object, GIVEN));
    } else if (type_is_plain_string(f->type)
                   ? decode_plain_string(r, f->type, &text)
                   : f->type->kind == KIND_RAW && decode_plain_string_as_raw(r, &text)) {
        *(struct str *)field_get_value_address(f, p->object, GIVEN) = text;
    } else if (!decode_field_value(d, f, p->object, up)) {
        decode_unmark_field_present(p);
    }
}

/* Consumes the field name at r->at and its colon, if the name is known. Returns NULL and consumes
 * nothing if the name is unknown, has escapes or has white space around it. */
static inline const struct field *parse_known_field_name(struct json_reader *r,
                                                         struct object_decode_progress *p)
{
    const char *at = r->at, *colon;
    const struct field *f;

    if (r->end - at < MAX_FIELD_NAME_BYTES + 3 || *at != '"' ||
        !(f = decode_find_quoted_field(p, at + 1)))
        return NULL;
    colon = at + f->name.n + 2;
    if (*colon == ':')
        r->at = colon + 1;
    else
        json_reader_read_colon_slow(r, colon);
    return f;
}

/* Parses a field name and its colon. Unlike parse_known_field_name, accepts escapes, white space
 * and unknown names. */
static inline const struct field *parse_field_name(struct json_reader *r,
                                                   struct object_decode_progress *p)
{
    const struct field *f = parse_known_field_name(r, p);
    struct str key;

    if (f)
        return f;
    json_reader_skip_space(r);
    if ((f = parse_known_field_name(r, p)))
        return f;
    if (!json_reader_read_string(r, &key) || !json_reader_read_colon(r, r->at))
        return NULL;
    return decode_find_field(p, key);
}

/* Decodes one member of any syntax (with white space, escapes). r->at is at the comma before the
 * member, or at the opening brace at `start`. Returns false at the end of the object. */
static __attribute__((noinline)) bool decode_member(struct json_decoder *d,
                                                    struct object_decode_progress *p,
                                                    const struct json_path *up, const char *start)
{
    struct json_reader *r = &d->reader;

    if (!(r->at == start ? json_reader_move_to_first_element(r, true)
                         : json_reader_move_to_next_element(r, true)))
        return false;
    const struct field *f = parse_field_name(r, p);
    if (f)
        decode_field(d, p, f, up);
    else
        json_skip_value(r, NULL);
    return true;
}

/* Decodes a value that the fast path rejected; returns false if the field counts as absent. */
static __attribute__((noinline)) bool decode_field_slow(struct json_decoder *d,
                                                        const struct decode_plan_step *s,
                                                        char *object, const struct json_path *up)
{
    const struct field *f = s->field;
    struct json_path at = json_path_key(up, f->name);

    if (s->kind != STEP_LIST || !json_reader_is_at_char(&d->reader, '['))
        return decode_field_value(d, f, object, up);
    decode_array(d, f->type, s->inner, &at, field_get_value_address(f, object, GIVEN));
    return true;
}

/* State of decoding an object on the fast path. `count` is the number of values that were decoded
 * but not yet added to reader.values. */
struct object_cursor {
    struct decode_plan_step *last;
    uint64_t seen;
    unsigned count;
};

/* Ends an object on the fast path, at its closing brace. */
static inline void finish_decoding_object_fast(struct json_reader *r, const char *at,
                                               unsigned count)
{
    r->values += count;
    if (r->values > r->values_max)
        json_reader_mark_invalid(r);
    else
        json_reader_leave_container(r, at);
}

/* Fast path: decodes members. Before each member is a comma, or the opening brace at `start`.
 * Returns true at the end of the object, false if the slow path is needed. */
static inline __attribute__((always_inline)) bool decode_members_fast(
    struct json_decoder *d, struct decode_plan *plan, struct object_cursor *m,
    const struct json_path *up, const char *start, char *object)
{
    struct json_reader *r = &d->reader;
    const char *at = r->at, *behind;

    for (bool first = at == start; at < r->safe; first = false) {
        uint64_t word = load_u64_little_endian(at) ^ (first ? '{' ^ ',' : 0);
        struct decode_plan_step *s = decode_plan_step_get_predicted_next(m->last);

        if ((char)word == '}') {
            finish_decoding_object_fast(r, at, m->count);
            return true;
        }
        if (!decode_plan_step_matches(s, at, word) &&
            !(s = decode_plan_find_step(plan, m->last, at, word)))
            break;
        if (m->seen & s->bit)
            break;
        m->last = s;
        m->seen |= s->bit;
        at += s->key_n;
        if ((behind = fast_decode_value(r, s, at, object))) {
            at = behind;
            m->count++;
            continue;
        }
        r->at = at;
        if (!decode_field_slow(d, s, object, up))
            m->seen &= ~s->bit;
        at = r->at;
    }
    r->at = at;
    r->values += m->count;
    m->count = 0;
    if (r->values > r->values_max)
        json_reader_mark_invalid(r); /* finish_decoding_object_fast does not check the limit */
    return false;
}

/* Returns true if white space precedes the next member or its comma, because then the fast path
 * would fail. */
static inline bool has_space_before_member(const struct json_reader *r)
{
    return r->end - r->at > 1 && ((unsigned char)r->at[0] <= ' ' || (unsigned char)r->at[1] <= ' ');
}

/* Slow path: decodes the next member, and the members after it while white space precedes them. */
static inline bool decode_members_slow(struct json_decoder *d, struct decode_plan *plan,
                                       struct object_cursor *m, const struct json_path *up,
                                       const char *start, char *object)
{
    struct object_decode_progress p = { .schema = plan->schema, .object = object, .seen = m->seen };

    bool more;

    p.next = m->last->field ? (size_t)(m->last - plan->steps) + 1 : 0;
    do
        more = decode_member(d, &p, up, start);
    while (more && has_space_before_member(&d->reader));
    m->seen = p.seen;
    if (p.next)
        m->last = &plan->steps[p.next - 1];
    return more;
}

/* Ends an object: sets defaults, reports missing fields and runs the schema's check. */
static __attribute__((noinline)) void finish_object(struct json_decoder *d,
                                                    struct decode_plan *plan,
                                                    const struct json_path *at, const char *start,
                                                    char *object, uint64_t seen)
{
    struct object_decode_progress p = { .schema = plan->schema, .object = object, .seen = seen };

    if (!json_reader_has_no_error(&d->reader))
        return;
    d->form->text = (struct checked_object_text_properties){ (size_t)(d->reader.at - start),
                                                             !d->reader.escaped };
    decode_set_defaults_and_check_object(&p, d->form, at);
    d->form->text = (struct checked_object_text_properties){ 0 };
}

/* Decodes an object; r->at is at its opening brace. */
static inline __attribute__((always_inline)) void decode_object_inline(struct json_decoder *d,
                                                                       struct decode_plan *plan,
                                                                       const struct json_path *at,
                                                                       char *object)
{
    struct object_cursor m = { .last = &plan->begin, .count = 1 };
    const char *start = d->reader.at;

    if (!json_reader_enter_container_uncounted(&d->reader, true))
        return;
    while (!decode_members_fast(d, plan, &m, at, start, object) &&
           decode_members_slow(d, plan, &m, at, start, object))
        ;
    if (~m.seen & plan->wanted)
        finish_object(d, plan, at, start, object, m.seen);
}

static __attribute__((noinline)) void decode_object(struct json_decoder *d,
                                                    struct decode_plan *plan,
                                                    const struct json_path *at, char *object)
{
    decode_object_inline(d, plan, at, object);
}

/* --- lists ---------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void decode_element_value(struct json_decoder *d,
                                                                       const struct type *type,
                                                                       const struct json_path *at,
                                                                       void *out)
{
    json_reader_skip_space(&d->reader);
    enum json_value_kind kind = json_peek_kind(&d->reader);

    if (kind == JSON_NULL && type->kind == KIND_OBJECT)
        add_type_error_and_skip_value(d, at, FORM_ITEM_REQUIRED);
    else if (kind == JSON_NULL && type->kind != KIND_RAW)
        add_type_error_and_skip_value(d, at, FORM_REQUIRED);
    else
        decode_value(d, type, kind, at, out);
}

static size_t get_max_list_items(const struct type *type)
{
    return type->max ? (size_t)type->max : DEFAULT_MAX_ITEMS;
}

static inline void check_array_item_count(struct json_decoder *d, const struct type *type,
                                          size_t count, const struct json_path *at)
{
    if (count > get_max_list_items(type) || count < (size_t)type->min)
        check_length_limits(d->form, type, count, DEFAULT_MAX_ITEMS, at);
}

/* Appends a zeroed element to a list. Small elements are zeroed several at a time, for speed. */
static inline void *list_append_zeroed(struct arena *arena, struct list *list, size_t size)
{
    enum { SMALL = 128, FIRST = 8 };
    size_t cap = list->cap;

    if (!cap && size <= SMALL)
        list->items = arena_alloc_unzeroed(arena, (list->cap = FIRST) * size);
    char *item = list_append_unzeroed(arena, list, size);

    if (size > SMALL)
        memset(item, 0, size);
    else if (list->cap != cap)
        memset(item, 0, (list->cap - list->count + 1) * size);
    return item;
}

/* Advances to the next array element if there is nothing but a comma between two objects. */
static inline bool advance_to_adjacent_object(struct json_reader *r)
{
    if (r->at >= r->safe || r->at[0] != ',' || r->at[1] != '{')
        return false;
    r->at++;
    return true;
}

/* Decodes an array. If its elements are objects, plan is the decode plan of their schema. */
static __attribute__((noinline)) void decode_array(struct json_decoder *d, const struct type *type,
                                                   struct decode_plan *plan,
                                                   const struct json_path *at, struct list *out)
{
    struct json_reader *r = &d->reader;
    struct json_path here = json_path_index(at, 0);
    size_t size = schema_list_item_size(type->of), most = get_max_list_items(type);

    for (bool more = json_reader_enter_and_move_to_first_element(r, false); more;
         more = json_reader_move_to_next_element(r, false), here.index++) {
        if (plan && here.index < most && json_reader_is_at_char(r, '{')) {
            do
                decode_object_inline(d, plan, &here, list_append_zeroed(r->arena, out, size));
            while (here.index + 1 < most && advance_to_adjacent_object(r) && ++here.index);
            continue;
        }
        if (here.index >= most) {
            json_reader_skip_space(r);
            json_skip_value(r, NULL);
            continue;
        }
        void *item = list_append_zeroed(r->arena, out, size);
        if (!type_is_plain_string(type->of) || !decode_plain_string(r, type->of, item))
            decode_element_value(d, type->of, &here, item);
    }
    check_array_item_count(d, type, here.index, at);
}

/* Decodes an array from a comma-separated string if the type allows that (TYPE_EITHER). */
static bool decode_comma_separated_list(struct json_decoder *d, const struct type *type,
                                        enum json_value_kind kind, const struct json_path *at,
                                        struct list *out)
{
    struct str text;
    size_t count = 0;

    if (!(type->flags & TYPE_EITHER) || kind != JSON_STRING)
        return false;
    if (!json_read_string(&d->reader, &text))
        return true;
    for (; text.n; count++) {
        struct scalar_value s = { .kind = JSON_STRING, .text = str_trim(str_cut(&text, ',')) };
        struct json_path here = json_path_index(at, count);

        if (count < get_max_list_items(type))
            decode_scalar_value(d->form, type->of, &s, &here,
                                list_append(d->form->arena, out, schema_list_item_size(type->of)));
    }
    check_array_item_count(d, type, count, at);
    return true;
}

/* --- maps ----------------------------------------------------------------------------- */

/* Finds the map entry of a key. If the key occurs again, its later value replaces the first. */
static inline char *find_map_entry(const struct list *entries, size_t size, struct str key)
{
    char *entry = entries->items;

    for (size_t i = 0; i < entries->count; i++, entry += size)
        if (short_str_eq(*(struct str *)(void *)entry, key))
            return entry;
    return NULL;
}

/* Decodes a map entry of any syntax; returns false if the map is full. */
static __attribute__((noinline)) bool decode_map_entry(struct json_decoder *d,
                                                       const struct type *type,
                                                       const struct json_path *up, struct list *out)
{
    struct json_reader *r = &d->reader;
    size_t size = json_map_entry_size(type->of);
    struct str key;

    json_reader_skip_space(r);
    if (!json_reader_read_string(r, &key) || !json_reader_read_colon(r, r->at) ||
        consume_null_if_allowed(d, type))
        return true;
    struct json_path at = json_path_key(up, key);
    char *entry = find_map_entry(out, size, key);

    if (entry) {
        form_remove_errors_at_path(d->form, &at);
    } else if (out->count < get_max_list_items(type)) {
        entry = list_append_unzeroed(d->form->arena, out, size);
    } else {
        json_skip_value(r, NULL);
        return false;
    }
    memset(entry, 0, size);
    *(struct str *)(void *)entry = key;
    decode_element_value(d, type->of, &at, entry + sizeof key);
    return true;
}

/* Returns the closing quote of a key. Fast for keys of two letters, the length of most locales. */
static inline const char *find_key_end(const char *p, const char *end)
{
    if (end - p > SCAN_BLOCK && p[0] == '"' && p[3] == '"' && (unsigned char)(p[1] - 'a') < 26 &&
        (unsigned char)(p[2] - 'a') < 26)
        return p + 3;
    return find_plain_string_end(p, end);
}

/* Decodes a map entry whose value is a plain string and whose key is new. Returns false and
 * consumes nothing if the slow path is needed. */
static inline bool decode_string_map_entry_fast(struct json_decoder *d, const struct type *type,
                                                struct list *out)
{
    struct json_reader *r = &d->reader;
    const char *start = r->at, *colon = find_key_end(start, r->end), *p;
    struct str key, value;

    if (!colon || ++colon == r->end || *colon != ':' ||
        !(p = find_plain_string_end(colon + 1, r->end)))
        return false;
    key = str_slice(start + 1, (size_t)(colon - start - 2));
    value = str_slice(colon + 2, (size_t)(p - colon - 2));
    if (!byte_length_certainly_meets_limits(type->of, value.n) || r->values >= r->values_max ||
        out->count >= get_max_list_items(type) ||
        find_map_entry(out, sizeof(struct string_pair), key))
        return false;
    r->values++;
    r->at = p + 1;
    *(struct string_pair *)list_append_unzeroed(d->form->arena, out, sizeof(struct string_pair)) =
        (struct string_pair){ key, value };
    return true;
}

static __attribute__((noinline)) void decode_map(struct json_decoder *d, const struct type *type,
                                                 const struct json_path *at, struct list *out)
{
    struct json_reader *r = &d->reader;
    bool simple = type_is_plain_string(type->of);
    size_t skipped = 0;

    for (bool more = json_reader_enter_and_move_to_first_element(r, true); more;
         more = json_reader_move_to_next_element(r, true))
        if ((!simple || !decode_string_map_entry_fast(d, type, out)) &&
            !decode_map_entry(d, type, at, out))
            skipped++;
    check_array_item_count(d, type, out->count + skipped, at);
}

/* --- entry points --------------------------------------------------------------------- */

enum err schema_decode_part_of_body(const struct type *type, struct str text, struct form *form,
                                    const struct json_path *here, void **ret)
{
    struct json_decoder d = { .form = form };
    void *value = arena_alloc(form->arena, schema_list_item_size(type));

    json_reader_init(&d.reader, text.n ? text : STR("{}"), form->arena);
    decode_value(&d, type, json_peek_kind(&d.reader), here, value);
    if (!json_is_at_end(&d.reader))
        return ERR_INVALID_JSON;
    if (form_has_error_at_path(form, here))
        return ERR_INVALID_FORM_BODY;
    *ret = value;
    return OK;
}

enum err schema_decode(const struct type *type, struct str text, struct form *form, void **ret)
{
    enum err e = schema_decode_part_of_body(type, text, form, NULL, ret);

    if (e == ERR_INVALID_JSON)
        *form = (struct form){ .arena = form->arena };
    return e;
}

void *schema_decode_or_null(const struct type *type, struct str text, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *value;

    return schema_decode(type, text, &form, &value) ? NULL : value;
}
