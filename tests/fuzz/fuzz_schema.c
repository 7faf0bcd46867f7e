/* fuzz_schema.c - fuzzes a schema that has every type. Invalid JSON is refused exactly when the
 * reader refuses it; errors are valid JSON; an accepted value encodes to a body that is accepted
 * and encodes to the same text. Input that begins with '?' is a query string. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "json/read.h"
#include "json/schema.h"

struct thing {
    struct str name;
    struct opt_str nick;
    int64_t level;
    struct opt_int mode;
    struct opt_real ratio;
    struct opt_bool on;
    struct opt_id owner;
    uint64_t bits;
    struct opt_int at;
    struct opt_str raw;
    struct opt_image icon;
    struct opt_list tags;
    struct opt_list words;
    struct opt_list options;
    struct thing *child;
};

static bool no_x(struct str s)
{
    return !s.n || !memchr(s.p, 'x', s.n);
}

static const struct string_rule rule = { no_x, "STRING_TYPE_REGEX", "No x." };
static const struct enum_choice modes[] = { { .value = 1, .doc = "One." },
                                            { .value = 2, .doc = "Two.", .old_word = "two" },
                                            { 0 } };
static const struct enum_choice tag_words[] = { { .text = "red", .doc = "Red." },
                                                { .text = "blue", .doc = "Blue." },
                                                { 0 } };
static const struct schema thing_schema;
static const struct type name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM | TYPE_LOWER, .min = 1, .max = 8
};
static const struct type nick = {
    .kind = KIND_STRING, .flags = TYPE_EMPTY_NONE, .max = 4, .rule = &rule
};
static const struct type level = { .kind = KIND_INT, .flags = TYPE_CLAMP, .min = 1, .max = 10 };
static const struct type mode = { .kind = KIND_INT, .choices = modes };
static const struct type ratio = { .kind = KIND_REAL };
static const struct type on = { .kind = KIND_BOOL };
static const struct type owner = { .kind = KIND_ID };
static const struct type bits = { .kind = KIND_BITS };
static const struct type at = { .kind = KIND_TIME, .flags = TYPE_EMPTY_NONE };
static const struct type raw = { .kind = KIND_RAW };
static const struct type icon = { .kind = KIND_IMAGE, .max = 64 };
static const struct type tag = { .kind = KIND_STRING, .choices = tag_words };
static const struct type tags = { .kind = KIND_ARRAY, .min = 1, .max = 3, .of = &tag };
static const struct type words = { .kind = KIND_MAP, .max = 3, .of = &nick };
static const struct type thing = { .kind = KIND_OBJECT, .schema = &thing_schema };
static const struct type options = { .kind = KIND_ARRAY, .max = 5, .of = &thing };

static const struct field fields[] = {
    { FIELD(struct thing, name), .type = &name },
    { FIELD(struct thing, nick), .type = &nick, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, level), .type = &level, .flags = OPTIONAL, .fallback = 7 },
    { FIELD(struct thing, mode), .type = &mode, .flags = OPTIONAL },
    { FIELD(struct thing, ratio), .type = &ratio, .flags = OPTIONAL },
    { FIELD(struct thing, on), .type = &on, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, owner), .type = &owner, .flags = OPTIONAL },
    { FIELD(struct thing, bits), .type = &bits, .flags = OPTIONAL },
    { FIELD(struct thing, at), .type = &at, .flags = OPTIONAL },
    { FIELD(struct thing, raw), .type = &raw, .flags = OPTIONAL },
    { FIELD(struct thing, icon), .type = &icon, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, tags), .type = &tags, .flags = OPTIONAL },
    { FIELD(struct thing, words), .type = &words, .flags = OPTIONAL },
    { FIELD(struct thing, options), .type = &options, .flags = OPTIONAL },
    { FIELD(struct thing, child), .type = &thing, .flags = OPTIONAL },
    { 0 },
};

/* Dereferences the decoded fields, as the checks in the domains do. */
static void check(struct form *form, const struct json_path *here, const void *object)
{
    const struct thing *t = object;
    struct json_path location = json_path_key(here, STR("child"));

    if (t->child && !form_has_error_at_path(form, &location) && t->child->name.n == 0)
        form_add_error(form, &location, "NAMELESS", "A child needs a name.");
}

/* Mode 2 has no ratio. */
static uint64_t counts(const void *object)
{
    const struct thing *t = object;

    return t->mode.value == 2 ? ~(UINT64_C(1) << 4) : UINT64_MAX;
}

static const struct schema thing_schema = { .name = "Thing",
                                            .size = sizeof(struct thing),
                                            .fields = fields,
                                            .check = check,
                                            .applicable_fields = counts };

/* Returns the nesting depth of a JSON text. */
static unsigned depth_of(struct str text)
{
    unsigned depth = 0, most = 0;
    bool inside = false; /* inside a string */

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (inside && c == '\\')
            i++;
        else if (c == '"')
            inside = !inside;
        else if (!inside && (c == '{' || c == '['))
            most = ++depth > most ? depth : most;
        else if (!inside && (c == '}' || c == ']'))
            depth--;
    }
    return most;
}

/* Errors are nested a few levels deeper than their fields, possibly beyond the reader's depth
 * limit. */
static void check_form_errors_are_json(const struct form *form, struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    FUZZ_CHECK(form_has_errors(form));
    write_form_errors_json(form, &j);
    FUZZ_CHECK(!buf_is_full(out));
    FUZZ_CHECK(utf8_is_valid(buf_as_str(out)));
    FUZZ_CHECK(json_is_valid(buf_as_str(out)) || depth_of(buf_as_str(out)) > JSON_MAX_DEPTH);
}

/* An accepted value must be accepted again in its encoded form. */
static void check_accepted_value_is_encoded_equally(const void *value, struct arena *arena,
                                                    struct buf *once)
{
    struct form form = { .arena = arena };
    struct json_writer j = json_writer_to_buf(once), k;
    struct buf twice;
    void *again;

    schema_encode(&j, &thing, value);
    FUZZ_CHECK(schema_decode(&thing, buf_as_str(once), &form, &again) == OK);
    buf_init(&twice, 64 << 20);
    k = json_writer_to_buf(&twice);
    schema_encode(&k, &thing, again);
    FUZZ_CHECK(str_eq(buf_as_str(once), buf_as_str(&twice)));
    buf_clear(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    struct buf out;
    void *value = NULL;
    bool query = size && data[0] == '?';
    enum err e = query ? schema_decode_query(&thing_schema, str_skip_bytes(text, 1), &form, &value)
                       : schema_decode(&thing, text, &form, &value);

    buf_init(&out, 64 << 20);
    if (!query)
        FUZZ_CHECK((e == ERR_INVALID_JSON) == (size && !json_is_valid(text)));
    if (e == ERR_INVALID_FORM_BODY)
        check_form_errors_are_json(&form, &out);
    else if (e == OK)
        check_accepted_value_is_encoded_equally(value, arena, &out);
    else
        FUZZ_CHECK(e == ERR_INVALID_JSON && !form_has_errors(&form));
    buf_clear(&out);
    arena_free(arena);
    return 0;
}
