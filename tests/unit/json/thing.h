/* thing.h - a schema that has every type, for the tests of decoding. */
#ifndef TESTS_UNIT_JSON_THING_H
#define TESTS_UNIT_JSON_THING_H

#include "unit/unit.h"

#include "base/arena.h"
#include "json/read.h"
#include "json/schema.h"

/* A struct with every kind of member. */
struct thing {
    struct str name;
    struct opt_str nick;
    struct opt_int rank;
    int64_t level;
    struct opt_real ratio;
    struct opt_bool on;
    bool off;
    struct opt_id owner;
    uint64_t bits;
    struct opt_int at;
    struct opt_str raw;
    struct opt_list tags;
    struct list words;
    struct thing *child;
    struct opt_object other;
    struct str kind;
    struct opt_int mode;
    struct opt_int loose;
    struct opt_str lower;
    struct opt_int safe;
    struct opt_int clamp;
    struct opt_real clamped;
    struct list children;
    struct str note;
    double weight;
    struct opt_str alt;
    struct opt_int since;
};

static bool no_x(struct str s)
{
    return !memchr(s.p, 'x', s.n);
}

static const struct string_rule without_x = { no_x, "STRING_TYPE_REGEX",
                                              "String value did not match validation regex." };
static const struct enum_choice kinds[] = { { .text = "red", .name = "RED", .doc = "Red." },
                                            { .text = "blue", .name = "BLUE", .doc = "Blue." },
                                            { 0 } };
static const struct enum_choice modes[] = {
    { .value = 1, .name = "ONE", .doc = "One." },
    { .value = 2, .name = "TWO", .doc = "Two.", .old_word = "deux" },
    { 0 }
};

static const struct schema thing_schema;
static const struct type name = { .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 2, .max = 4 };
static const struct type nick = { .kind = KIND_STRING, .max = 3, .rule = &without_x };
static const struct type rank = { .kind = KIND_INT };
static const struct type level = { .kind = KIND_INT, .min = -5, .max = 10 };
static const struct type ratio = { .kind = KIND_REAL, .min = 0, .max = 1 };
static const struct type flag = { .kind = KIND_BOOL };
static const struct type id = { .kind = KIND_ID };
static const struct type bits = { .kind = KIND_BITS };
static const struct type at = { .kind = KIND_TIME };
static const struct type raw = { .kind = KIND_RAW };
static const struct type tags = { .kind = KIND_ARRAY, .min = 1, .max = 3, .of = &level };
static const struct type words = { .kind = KIND_MAP, .max = 2, .of = &name };
static const struct type thing = { .kind = KIND_OBJECT, .schema = &thing_schema };
static const struct type kind = { .kind = KIND_STRING, .choices = kinds };
static const struct type mode = { .kind = KIND_INT, .choices = modes };
static const struct type loose = { .kind = KIND_INT,
                                   .choices = modes,
                                   .flags = TYPE_LOOSE_ENUM | TYPE_EITHER };
static const struct type lower = { .kind = KIND_STRING,
                                   .flags = TYPE_LOWER | TYPE_EITHER,
                                   .min = 1 };
static const struct type safe = { .kind = KIND_INT, .flags = TYPE_SAFE_INT };
static const struct type clamp = { .kind = KIND_INT, .flags = TYPE_CLAMP, .min = 1, .max = 10 };
static const struct type clamped = {
    .kind = KIND_REAL, .flags = TYPE_CLAMP | TYPE_EITHER, .min = 1, .max = 2
};
static const struct type children = { .kind = KIND_ARRAY, .of = &thing };
static const struct type text = { .kind = KIND_STRING };
static const struct type real = { .kind = KIND_REAL };
static const struct type alt = { .kind = KIND_STRING, .flags = TYPE_EMPTY_NONE };
static const struct type since = { .kind = KIND_TIME, .flags = TYPE_EMPTY_NONE };

static const struct field thing_fields[] = {
    { FIELD(struct thing, name), .type = &name },
    { FIELD(struct thing, nick), .type = &nick, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, rank), .type = &rank, .flags = OPTIONAL },
    { FIELD(struct thing, level), .type = &level, .flags = OPTIONAL, .fallback = 7 },
    { FIELD(struct thing, ratio), .type = &ratio, .flags = OPTIONAL },
    { FIELD(struct thing, on), .type = &flag, .flags = OPTIONAL },
    { FIELD(struct thing, off), .type = &flag, .flags = OPTIONAL, .fallback = 1 },
    { FIELD(struct thing, owner), .type = &id, .flags = OPTIONAL },
    { FIELD(struct thing, bits), .type = &bits, .flags = OPTIONAL | NULLABLE, .fallback = 8 },
    { FIELD(struct thing, at), .type = &at, .flags = OPTIONAL },
    { FIELD(struct thing, raw), .type = &raw, .flags = OPTIONAL },
    { FIELD(struct thing, tags), .type = &tags, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, words), .type = &words, .flags = OPTIONAL },
    { FIELD(struct thing, child), .type = &thing, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, other), .type = &thing, .flags = OPTIONAL | NULLABLE },
    { FIELD_AS(struct thing, kind, "type"), .type = &kind, .flags = OPTIONAL,
      .fallback_text = "red" },
    { FIELD(struct thing, mode), .type = &mode, .flags = OPTIONAL },
    { FIELD(struct thing, loose), .type = &loose, .flags = OPTIONAL },
    { FIELD(struct thing, lower), .type = &lower, .flags = OPTIONAL },
    { FIELD(struct thing, safe), .type = &safe, .flags = OPTIONAL },
    { FIELD(struct thing, clamp), .type = &clamp, .flags = OPTIONAL },
    { FIELD(struct thing, clamped), .type = &clamped, .flags = OPTIONAL },
    { FIELD(struct thing, children), .type = &children, .flags = OPTIONAL },
    { FIELD(struct thing, note), .type = &text, .flags = OPTIONAL },
    { FIELD(struct thing, weight), .type = &real, .flags = OPTIONAL, .fallback = 3 },
    { FIELD(struct thing, alt), .type = &alt, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thing, since), .type = &since, .flags = OPTIONAL | NULLABLE },
    { 0 },
};

static int checked;

/* Refuses "bad" together with "wor", and counts its calls. */
static void check_thing(struct form *form, const struct json_path *here, const void *object)
{
    const struct thing *t = object;
    struct json_path location = json_path_key(here, STR("nick"));

    checked++;
    if (!form_has_error_at_path(form, &location) && str_is(t->name, "bad") &&
        str_is(t->nick.value, "wor"))
        form_add_error(form, &location, "TOGETHER", "bad and wor");
}

static const struct schema thing_schema = {
    .name = "Thing",
    .size = sizeof(struct thing),
    .fields = thing_fields,
    .check = check_thing,
};

static struct arena *arena;
static struct form form;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    buf_init(&out, 1 << 20);
    checked = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_clear(&out);
    arena_free(arena);
    return 0;
}

/* Replaces single quotes by double quotes; JSON in tests uses single quotes to be readable. */
static struct str quoted(const char *single)
{
    char *p = str_dup_cstring(arena, str_of(single));

    for (size_t i = 0; p[i]; i++)
        if (p[i] == '\'')
            p[i] = '"';
    return str_of(p);
}

static enum err decode(const struct type *type, struct str json, void **ret)
{
    form = (struct form){ .arena = arena };
    return schema_decode(type, json, &form, ret);
}

/* Decodes a valid body with these members and a name. */
static const struct thing *good(const char *members)
{
    void *ret = NULL;
    struct str json = str_printf(arena, "{'name':'abc'%s%s}", *members ? "," : "", members);
    enum err e = decode(&thing, quoted(json.p), &ret);

    if (e) {
        struct json_writer j = json_writer_to_buf(&out);
        write_form_errors_json(&form, &j);
        fail_msg("%s: error %d, %.*s", members, e, STR_ARGS(buf_as_str(&out)));
    }
    return ret;
}

static struct str form_text(void)
{
    struct json_writer j = json_writer_to_buf(&out);

    buf_reset(&out);
    write_form_errors_json(&form, &j);
    return buf_as_str(&out);
}

/* Asserts that a body with these members has exactly one error. */
static void wrong(const char *members, const char *code, const char *message)
{
    void *ret = &form;
    struct str json = str_printf(arena, "{'name':'abc',%s}", members);
    struct str key = quoted(members);
    str_cut(&key, '"');
    key = str_cut(&key, '"');

    assert_int_equal(decode(&thing, quoted(json.p), &ret), ERR_INVALID_FORM_BODY);
    assert_ptr_equal(ret, &form);
    struct buf expected;
    buf_init(&expected, 10000);
    struct json_writer j = json_writer_to_buf(&expected);
    json_begin_object(&j);
    json_write_key(&j, key);
    json_begin_object(&j);
    json_write_name(&j, "_errors");
    json_begin_array(&j);
    json_begin_object(&j);
    json_write_name(&j, "code");
    json_write_text(&j, str_of(code));
    json_write_name(&j, "message");
    json_write_text(&j, str_of(message));
    json_end_object(&j);
    json_end_array(&j);
    json_end_object(&j);
    json_end_object(&j);
    buf_add_char(&expected, '\0');
    assert_str(form_text(), expected.p);
    buf_clear(&expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
