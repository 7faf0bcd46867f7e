/* fast_decode.c - tests that the fast JSON decoder gives the same result as the slow one. White
 * space between tokens selects the slow decoder, so each body is decoded with and without it. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "json/read.h"
#include "json/schema.h"

/* Field names of all lengths that are compared by different code. */
struct box {
    struct str v, name, names, description, twelve_bytes, note_that_has_twenty;
    struct opt_str one_and_twenty_bytes_, eight_and_twenty_bytes_there,
        nine_and_twenty_bytes_in_them;
    struct opt_str a_name_that_is_much_longer_than_what_is_compared_at_a_glance;
    struct opt_list words;
    struct list few;
    struct str raw;
    struct opt_str copy;
    struct opt_int number;
    int64_t level;
    struct opt_bool on;
    struct opt_real ratio;
    struct opt_list boxes, numbers;
    struct opt_id owner;
    uint64_t bitset;
    struct opt_int at, mode;
    int64_t moved;
    struct opt_bool loose;
    struct opt_list ids;
    struct box *box;
};

static const struct schema box_schema;
static const struct type text = { .kind = KIND_STRING };
static const struct type name = { .kind = KIND_STRING, .min = 1, .max = 20 };
static const struct type exact = { .kind = KIND_STRING, .min = 3, .max = 4 };
static const struct type trimmed = { .kind = KIND_STRING, .flags = TYPE_TRIM, .max = 20 };
static const struct type raw = { .kind = KIND_RAW };
static const struct type words = {
    .kind = KIND_MAP, .flags = TYPE_NULL_NONE, .of = &name, .max = 20
};
static const struct type few = { .kind = KIND_MAP, .of = &text, .max = 2 };
static const struct type number = { .kind = KIND_INT };
static const struct type level = { .kind = KIND_INT, .min = -5, .max = 10 };
static const struct type flag = { .kind = KIND_BOOL };
static const struct type real = { .kind = KIND_REAL };
static const struct type id = { .kind = KIND_ID };
static const struct type bits = { .kind = KIND_BITS };
static const struct type moment = { .kind = KIND_TIME };
static const struct enum_choice modes[] = { { .value = 1, .doc = "One." },
                                            { .value = 7, .doc = "Seven." },
                                            { 0 } };
static const struct type mode = { .kind = KIND_INT, .choices = modes };
static const struct type clamped = { .kind = KIND_INT, .flags = TYPE_CLAMP, .min = 1, .max = 8 };
static const struct type loose = { .kind = KIND_BOOL, .flags = TYPE_EITHER };
static const struct type joined = {
    .kind = KIND_ARRAY, .flags = TYPE_EITHER | TYPE_NULL_NONE, .of = &id, .max = 3
};
static const struct type box = { .kind = KIND_OBJECT, .schema = &box_schema };
static const struct type boxes = { .kind = KIND_ARRAY, .of = &box, .max = 3 };
static const struct type many = { .kind = KIND_ARRAY, .of = &box, .max = 100000 };
static const struct type numbers = { .kind = KIND_ARRAY, .of = &level, .max = 3 };

static const struct field box_fields[] = {
    { FIELD(struct box, v), .type = &text, .flags = OPTIONAL },
    { FIELD(struct box, name), .type = &name },
    { FIELD(struct box, names), .type = &text, .flags = OPTIONAL, .fallback_text = "none" },
    { FIELD(struct box, description), .type = &exact, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct box, twelve_bytes), .type = &trimmed, .flags = OPTIONAL },
    { FIELD(struct box, note_that_has_twenty), .type = &text, .flags = OPTIONAL },
    { FIELD(struct box, one_and_twenty_bytes_), .type = &text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct box, eight_and_twenty_bytes_there), .type = &text, .flags = OPTIONAL },
    { FIELD(struct box, nine_and_twenty_bytes_in_them), .type = &text, .flags = OPTIONAL },
    { FIELD(struct box, a_name_that_is_much_longer_than_what_is_compared_at_a_glance),
      .type = &text, .flags = OPTIONAL },
    { FIELD(struct box, words), .type = &words, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct box, few), .type = &few, .flags = OPTIONAL },
    { FIELD(struct box, raw), .type = &raw, .flags = OPTIONAL },
    { FIELD(struct box, copy), .type = &raw, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct box, number), .type = &number, .flags = OPTIONAL },
    { FIELD(struct box, level), .type = &level, .flags = OPTIONAL, .fallback = 7 },
    { FIELD(struct box, on), .type = &flag, .flags = OPTIONAL },
    { FIELD(struct box, ratio), .type = &real, .flags = OPTIONAL },
    { FIELD(struct box, boxes), .type = &boxes, .flags = OPTIONAL },
    { FIELD(struct box, numbers), .type = &numbers, .flags = OPTIONAL },
    { FIELD(struct box, owner), .type = &id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct box, bitset), .type = &bits, .flags = OPTIONAL, .fallback = 5 },
    { FIELD(struct box, at), .type = &moment, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct box, mode), .type = &mode, .flags = OPTIONAL },
    { FIELD(struct box, moved), .type = &clamped, .flags = OPTIONAL, .fallback = 3 },
    { FIELD(struct box, loose), .type = &loose, .flags = OPTIONAL },
    { FIELD(struct box, ids), .type = &joined, .flags = OPTIONAL },
    { FIELD(struct box, box), .type = &box, .flags = OPTIONAL },
    { 0 },
};

static _Thread_local struct checked_object_text_properties checked_text;

static void box_check(struct form *form, const struct json_path *here, const void *object)
{
    const struct box *b = object;
    struct json_path path = json_path_key(here, STR("v"));

    checked_text = form->text;
    if (str_is(b->v, "bad"))
        form_add_error(form, &path, "BAD", "bad");
}

static const struct schema box_schema = {
    .name = "Box", .size = sizeof(struct box), .fields = box_fields, .check = box_check
};

/* --- one body, both decoders ---------------------------------------------------------- */

/* Writes the result of a body as text: the value or the errors, without white space, which
 * differs. */
static void write_decode_result(const struct type *type, struct str json, struct buf *out)
{
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    struct json_writer j = json_writer_to_buf(out);
    /* An exact copy lets the address sanitizer detect reads beyond its end. */
    char *p = malloc(json.n);
    void *value;
    size_t n = 0;

    assert_non_null(p);
    memcpy(p, json.p, json.n);
    enum err e = schema_decode(type, str_slice(p, json.n), &form, &value);
    buf_reset(out);
    if (e == OK)
        schema_encode(&j, type, value);
    else if (e == ERR_INVALID_FORM_BODY)
        write_form_errors_json(&form, &j);
    else
        buf_add_lit(out, "no JSON");
    for (size_t i = 0; i < out->n; i++)
        if (out->p[i] != ' ')
            out->p[n++] = out->p[i];
    out->n = n;
    assert_int_equal(form.text.bytes, 0);
    assert_int_equal(e == ERR_INVALID_JSON, !json_is_valid(json));
    free(p);
    arena_free(arena);
}

/* Copies the JSON with a space on both sides of every separator. */
static void space_out(struct str json, struct buf *out)
{
    bool inside = false;

    buf_reset(out);
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        bool between = !inside && memchr("{}[]:,", c, 6);

        if (between)
            buf_add_char(out, ' ');
        buf_add_char(out, c);
        if (between)
            buf_add_char(out, ' ');
        if (inside && c == '\\' && i + 1 < json.n)
            buf_add_char(out, json.p[++i]);
        else if (c == '"')
            inside = !inside;
    }
}

/* The last bytes of a text always use the slow decoder; padding moves the end away from the
 * body. */
static void assert_fast_and_slow_results_agree(const struct type *type, struct str json)
{
    struct buf spaced, padded, quick, slow;

    buf_init(&spaced, 16 << 20);
    buf_init(&padded, 16 << 20);
    buf_init(&quick, 64 << 20);
    buf_init(&slow, 64 << 20);
    space_out(json, &spaced);
    write_decode_result(type, buf_as_str(&spaced), &slow);
    for (size_t pad = 0; pad <= 100; pad += pad < 5 ? 1 : 19) {
        buf_reset(&padded);
        buf_add_str(&padded, json);
        for (size_t i = 0; i < pad; i++)
            buf_add_char(&padded, ' ');
        write_decode_result(type, buf_as_str(&padded), &quick);
        if (!str_eq(buf_as_str(&quick), buf_as_str(&slow)))
            fail_msg("%.*s\nis\n%.*s\nand with spaces\n%.*s", STR_ARGS(json),
                     STR_ARGS(buf_as_str(&quick)), STR_ARGS(buf_as_str(&slow)));
    }
    buf_clear(&spaced);
    buf_clear(&padded);
    buf_clear(&quick);
    buf_clear(&slow);
}

static void read_quoted(const char *single)
{
    char *p = strdup(single);

    assert_non_null(p);
    for (size_t i = 0; p[i]; i++)
        if (p[i] == '\'')
            p[i] = '"';
    assert_fast_and_slow_results_agree(&box, str_of(p));
    free(p);
}

/* --- random bodies -------------------------------------------------------------------- */

static uint64_t state = 88172645463325252U;

static size_t chance(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % n;
}

#define ONE_OF(list) list[chance(sizeof(list) / sizeof *(list))]

static void add_string(struct buf *out)
{
    static const char *const parts[] = {
        "a",
        "b",
        "-",
        "0",
        "~",
        "\x7f",
        " ",
        "'",
        "{",
        "}",
        ":",
        ",",
        "é",
        "中",
        "😀",
        "\\n",
        "\\\"",
        "\\\\",
        "/",
        "é",
        "é",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\u0041",
    };
    static const char *const wrong[] = {
        "\\ud83d",
        "\\ude00",
        "\\x",
        "\x01",
        "\n",
        "\xc3",
        "\xff",
        "\xc0\x80",
        "\\u00g0",
        "\\u0000",
        "\xed\xa0\x80",
        "\xe4\xb8",
        "\xf5\x80\x80\x80",
    };
    size_t n = chance(3) ? chance(6) : chance(70);
    bool plain = chance(3);

    buf_add_char(out, '"');
    for (size_t i = 0; i < n; i++)
        buf_add_str(out, str_of(plain ? "x" : ONE_OF(parts)));
    if (!chance(60))
        buf_add_str(out, str_of(ONE_OF(wrong)));
    buf_add_char(out, '"');
}

static void add_key(struct buf *out)
{
    static const char *const keys[] = { "de",       "fr",     "ed",  "`~", "{}", "|\x7f",
                                        "en-US",    "es-419", "",    "d",  "é",  "DE",
                                        "d\\u0065", "zh-TW",  "a b", "\\n" };

    buf_add_char(out, '"');
    buf_add_str(out, str_of(ONE_OF(keys)));
    buf_add_lit(out, "\":");
}

static void add_map(struct buf *out)
{
    size_t n = chance(10) ? chance(4) : chance(25);

    buf_add_char(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(out, ',');
        add_key(out);
        if (chance(20))
            add_string(out);
        else
            buf_add_lit(out, "null");
    }
    buf_add_char(out, '}');
}

static void add_box(struct buf *out, unsigned depth);

static void add_boxes(struct buf *out, unsigned depth)
{
    size_t n = chance(5);

    buf_add_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(out, ',');
        if (chance(10))
            add_box(out, depth + 1);
        else
            buf_add_lit(out, "null");
    }
    buf_add_char(out, ']');
}

static void add_scalar(struct buf *out)
{
    static const char *const scalars[] = {
        "null",
        "true",
        "false",
        "0",
        "7",
        "-3",
        "12",
        "01",
        "1.5",
        "1e3",
        "-",
        "1e400",
        "[]",
        "{}",
        "[1,2]",
        "123456789012",
        "\"\"",
        "nul",
        "tru",
        "+1",
        "\"3\"",
        "10",
        "4294967296",
        "99999999999999999999",
        "-0",
        "00",
        "1.0",
        "1E2",
        "1e-400",
        "\"true\"",
        "\"-1\"",
        "\"123456789012345678\"",
        "123456789012345678",
        "9223372036854775808",
        "18446744073709551616",
        "\"2026-01-02T03:04:05Z\"",
        "\"2026-13-02T03:04:05Z\"",
        "\"1, 2\"",
        "[\"1\",2]",
    };

    buf_add_str(out, str_of(ONE_OF(scalars)));
}

static void add_value(struct buf *out, const struct field *f, unsigned depth)
{
    size_t otherwise = chance(12);

    if (otherwise == 0)
        add_scalar(out);
    else if (otherwise == 1)
        add_string(out);
    else if (f->type->kind == KIND_MAP)
        add_map(out);
    else if (f->type == &boxes)
        add_boxes(out, depth);
    else if (f->type->kind == KIND_OBJECT)
        add_box(out, depth + 1);
    else if (f->type->kind == KIND_STRING || (f->type->kind == KIND_RAW && chance(2)))
        add_string(out);
    else
        add_scalar(out);
}

static void add_box(struct buf *out, unsigned depth)
{
    const size_t count = sizeof box_fields / sizeof *box_fields - 1;
    size_t n = depth > 3 ? 1 : chance(9), at = chance(count);

    buf_add_char(out, '{');
    if (chance(20))
        buf_add_lit(out, "\"name\":\"abc\"");
    else
        buf_add_lit(out, "\"other\":{\"name\":[1,{}]}");
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &box_fields[at];

        /* Fields are mostly in order and seldom duplicated, like real bodies. */
        at = (at + 1 + (chance(3) ? 0 : chance(count))) % count;
        buf_add_lit(out, ",\"");
        buf_add(out, f->name.p, f->name.n - !chance(40));
        buf_add_lit(out, "\":");
        add_value(out, f, depth);
    }
    buf_add_char(out, '}');
}

/* Changes random bytes. */
static void change_random_bytes(struct buf *b)
{
    static const char bytes[] = "\"\\{}[],: x0\x80\xff\x1f";
    size_t at = chance(b->n);

    switch (chance(3)) {
    case 0:
        b->p[at] = bytes[chance(sizeof bytes)];
        break;
    case 1:
        memmove(b->p + at, b->p + at + 1, b->n - at - 1);
        b->n--;
        break;
    default:
        b->n = at;
    }
}

static void fast_and_slow_decoders_agree_on_random_bodies(void **state_)
{
    struct buf json;

    (void)state_;
    buf_init(&json, 16 << 20);
    for (int i = 0; i < 3000; i++) {
        buf_reset(&json);
        add_box(&json, 0);
        if (!chance(4))
            change_random_bytes(&json);
        if (json.n)
            assert_fast_and_slow_results_agree(&box, buf_as_str(&json));
    }
    buf_clear(&json);
}

/* --- chosen bodies -------------------------------------------------------------------- */

static void fast_decoder_matches_exactly_the_field_names(void **state_)
{
    struct arena *arena = arena_new();
    const struct str pad = STR("                                                                 ");

    (void)state_;
    for (const struct field *f = box_fields; f->name.p; f++) {
        char key[64] = { 0 };

        memcpy(key, f->name.p, f->name.n);
        for (size_t i = 0; i <= f->name.n; i++) {
            if (i < f->name.n)
                key[i] = (char)(key[i] ^ 2);
            struct form form = { .arena = arena };
            struct str json =
                str_printf(arena, "{\"%s\":[[]],\"name\":[[]]}%.*s", key, STR_ARGS(pad));
            struct str other = str_printf(arena, "{\"%s\":[[]]}%.*s", key, STR_ARGS(pad));
            void *value;
            struct json_path at = json_path_key(NULL, f->name);

            schema_decode(&box, json, &form, &value);
            if (f->type->kind != KIND_RAW)
                assert_int_equal(form_has_error_at_path(&form, &at),
                                 i == f->name.n || str_is(f->name, "name"));
            form = (struct form){ .arena = arena };
            schema_decode(&box, other, &form, &value);
            assert_int_equal(
                form.problems,
                i < f->name.n || f->type->kind == KIND_RAW || str_is(f->name, "name") ? 1 : 2);
            if (i < f->name.n)
                key[i] = (char)(key[i] ^ 2);
        }
    }
    arena_free(arena);
}

static void fast_and_slow_decoders_agree_on_unusual_bodies(void **state_)
{
    static const char *const bodies[] = {
        "{}",
        "{'name':'abc'}",
        "{'name':'abc','name':'b'}",
        "{'name':'','name':'b'}",
        "{'name':'abc','words':{}}",
        "{'name':'abc','words':{'de':'x'}}",
        "{'name':'abc','words':{'de':'x','de':'y'},'v':'z'}",
        "{'name':'abc','words':{'de':'','fr':'x'},'v':'z'}",
        "{'name':'abc','words':{'de':'x','fr':null},'v':'z'}",
        "{'name':'abc','words':{'de':'x'},'words':{'fr':'y'}}",
        "{'name':'abc','words':null,'few':null}",
        "{'name':'abc','few':{'a':'1','b':'2','c':'3'}}",
        "{'name':'abc','few':{'a':'1','b':'2','a':'3'}}",
        "{'name':'abc','few':{'de':'x''fr':'y'}}",
        "{'name':'abc','few':{'de':'x',}}",
        "{'name':'abc','few':{,'de':'x'}}",
        "{'name':'abc','few':{'de':'x'}",
        "{'name':'abc','few':{'de':'x']}",
        "{'name':'abc',}",
        "{,'name':'abc'}",
        "{'name':'abc'{'v':'x'}",
        "{'name':'abc'}}",
        "{'name':'abc']",
        "{'name':'abc' 'v':'x'}",
        "{'name':'abc','v':'bad','boxes':[{'name':'x','v':'bad'},{'v':'bad'},{'name':'y'}]}",
        "{'name':'abc','boxes':[{'name':'x'},{'name':'x'},{'name':'x'},{'name':'x'}]}",
        "{'name':'abc','boxes':[{'name':'x'}{'name':'x'}]}",
        "{'name':'abc','raw':'\\u0000','copy':'\\ud800'}",
        "{'name':'abc','description':'ab'}",
        "{'name':'abc','description':'abc'}",
        "{'name':'abc','description':'abcde'}",
        "{'name':'abc','number':01}",
        "{'name':'abc','number':1x}",
        "{'name':'abc','on':truex}",
        "{'name':'abc','on':tru}",
    };

    (void)state_;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        read_quoted(bodies[i]);
}

static void fast_decoder_finds_the_end_of_text_at_every_offset(void **state_)
{
    static const char *const odd[] = { "", "é", "\\n", "\x01", "\xff", "中", "\\u0041" };
    struct buf json;

    (void)state_;
    buf_init(&json, 10000);
    for (size_t n = 0; n < 70; n++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            buf_reset(&json);
            buf_add_lit(&json, "{\"name\":\"abc\",\"v\":\"");
            for (size_t k = 0; k < n; k++)
                buf_add_char(&json, 'x');
            buf_add_str(&json, str_of(odd[i]));
            buf_add_lit(&json, "\",\"few\":{\"de\":\"");
            for (size_t k = 0; k < n; k++)
                buf_add_char(&json, 'y');
            buf_add_str(&json, str_of(odd[i]));
            buf_add_lit(&json, "\"},\"number\":1}");
            assert_fast_and_slow_results_agree(&box, buf_as_str(&json));
        }
    buf_clear(&json);
}

static void fast_and_slow_decoders_have_the_same_depth_limit(void **state_)
{
    struct buf json;

    (void)state_;
    buf_init(&json, 1 << 20);
    for (unsigned levels = 60; levels <= JSON_MAX_DEPTH + 2; levels++) {
        buf_reset(&json);
        for (unsigned i = 0; i < levels; i++)
            buf_printf(&json, "{\"name\":\"abc\",\"box\":");
        buf_add_lit(&json, "{\"name\":\"abc\",\"words\":{\"de\":\"x\"}}");
        for (unsigned i = 0; i < levels; i++)
            buf_add_char(&json, '}');
        assert_fast_and_slow_results_agree(&box, buf_as_str(&json));
    }
    buf_clear(&json);
}

static void fast_decoder_limits_the_number_of_values(void **state_)
{
    enum { OBJECTS = (JSON_MAX_VALUES - 1) / 3 };

    (void)state_;
    for (int more = 0; more < 3; more++) {
        struct arena *arena = arena_new();
        struct form form = { .arena = arena };
        struct buf json;
        void *value;

        buf_init(&json, 16 << 20);
        buf_printf(&json, "[{\"name\":\"a\",\"%s}",
                   more == 0   ? "v\":\"b\""
                   : more == 1 ? "v\":\"b\",\"raw\":\"c\""
                               : "words\":{\"de\":\"x\"}");
        for (size_t i = 1; i < OBJECTS; i++)
            buf_add_lit(&json, ",{\"name\":\"a\",\"v\":\"b\"}");
        buf_add_char(&json, ']');
        assert_int_equal(schema_decode(&many, buf_as_str(&json), &form, &value),
                         more ? ERR_INVALID_JSON : OK);
        buf_clear(&json);
        arena_free(arena);
    }
}

/* The limit also applies if the fast decoder reads the last values and the slow one the end. */
static void fast_decoder_limits_the_number_of_values_at_the_end(void **state_)
{
    enum { OBJECTS = (JSON_MAX_VALUES - 2) / 3 };
    static const char *const last[] = { "\"v\":\"", "\"v\":\"\",\"raw\":\"",
                                        "\"words\":{\"de\":\"x\"},\"v\":\"" };

    (void)state_;
    for (size_t more = 0; more < sizeof last / sizeof *last; more++) {
        struct arena *arena = arena_new();
        struct form form = { .arena = arena };
        struct buf json;
        void *value;

        buf_init(&json, 16 << 20);
        buf_add_char(&json, '[');
        for (size_t i = 1; i < OBJECTS; i++)
            buf_add_lit(&json, "{\"name\":\"a\",\"v\":\"b\"},");
        buf_printf(&json, "{\"name\":\"a\",\"number\":1,\"level\":1,\"on\":true,%s", last[more]);
        for (size_t i = 0; i < 2 * JSON_MARGIN; i++)
            buf_add_char(&json, 'x');
        buf_add_lit(&json, "\"}]");
        assert_int_equal(schema_decode(&many, buf_as_str(&json), &form, &value),
                         more ? ERR_INVALID_JSON : OK);
        assert_int_equal(json_is_valid(buf_as_str(&json)), !more);
        buf_clear(&json);
        arena_free(arena);
    }
}

static void schema_checks_receive_the_source_text(void **state_)
{
    const struct str one =
        STR("{\"name\":\"abc\",\"v\":\"x\",\"boxes\":[],\"words\":{\"de\":\"x\"}}");
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    void *value;

    (void)state_;
    assert_int_equal(
        schema_decode(&box, STR_CONCAT(arena, STR("  "), one, STR("  ")), &form, &value), OK);
    assert_int_equal(checked_text.bytes, one.n);
    assert_true(checked_text.plain);
    assert_int_equal(schema_decode(&box, STR("{\"name\":\"abc\",\"x\":\"\\n\"}"), &form, &value),
                     OK);
    assert_int_equal(checked_text.bytes, 23);
    assert_false(checked_text.plain);
    assert_int_equal(form.text.bytes, 0);
    arena_free(arena);
}

/* --- several threads ------------------------------------------------------------------ */

static const struct schema shared_schema = {
    .name = "Shared", .size = sizeof(struct box), .fields = box_fields, .check = box_check
};
static const struct type shared = { .kind = KIND_OBJECT, .schema = &shared_schema };

/* Each thread uses another field order, so that it meets the orders that others learned. */
static void *read_many(void *arg)
{
    static const char *const orders[] = {
        "{\"name\":\"abc\",\"v\":\"x\",\"raw\":\"y\",\"words\":{\"de\":\"x\"}}",
        "{\"words\":{\"de\":\"x\"},\"v\":\"x\",\"name\":\"abc\",\"raw\":\"y\"}",
        "{\"raw\":\"y\",\"name\":\"abc\",\"words\":{\"de\":\"x\"},\"v\":\"x\"}",
        "{\"v\":\"x\",\"raw\":\"y\",\"name\":\"abc\",\"words\":{\"de\":\"x\"}}",
    };
    struct arena *arena = arena_new();
    size_t which = (size_t)arg, good = 0;
    char json[200];

    snprintf(json, sizeof json, "%-180s", orders[which]);
    for (int i = 0; i < 200; i++) {
        const struct box *b = schema_decode_or_null(&shared, str_of(json), arena);

        good += b && str_is(b->name, "abc") && str_is(b->v, "x") && str_is(b->raw, "\"y\"") &&
                b->words.value.count == 1;
        arena_reset(arena);
    }
    arena_free(arena);
    return (void *)good;
}

static void threads_share_the_learned_field_order(void **state_)
{
    pthread_t threads[4];

    (void)state_;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, (void *)i), 0);
    for (size_t i = 0; i < 4; i++) {
        void *good;

        pthread_join(threads[i], &good);
        assert_int_equal((size_t)good, 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_and_slow_decoders_agree_on_random_bodies),
        cmocka_unit_test(fast_decoder_matches_exactly_the_field_names),
        cmocka_unit_test(fast_and_slow_decoders_agree_on_unusual_bodies),
        cmocka_unit_test(fast_decoder_finds_the_end_of_text_at_every_offset),
        cmocka_unit_test(fast_and_slow_decoders_have_the_same_depth_limit),
        cmocka_unit_test(fast_decoder_limits_the_number_of_values),
        cmocka_unit_test(fast_decoder_limits_the_number_of_values_at_the_end),
        cmocka_unit_test(schema_checks_receive_the_source_text),
        cmocka_unit_test(threads_share_the_learned_field_order),
    };
    return cmocka_run_group_tests_name("json/quick", tests, NULL, NULL);
}
