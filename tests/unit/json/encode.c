/* encode.c - tests the encoding of structs as JSON by their schemas. */
#include "unit/unit.h"

#include "base/arena.h"
#include "json/schema.h"

struct inner {
    int64_t n;
};

struct all {
    struct str s;
    int64_t i;
    double d;
    bool b;
    uint64_t id, bits;
    int64_t t;
    struct str raw;
    struct list list, map, objects;
    struct inner *object;
    struct opt_str os;
    struct opt_int oi;
    struct opt_real od;
    struct opt_bool ob;
    struct opt_id oid;
    struct opt_list ol;
    struct opt_object oo;
    struct opt_image image;
};

static const struct type text = { .kind = KIND_STRING }, number = { .kind = KIND_INT };
static const struct type real = { .kind = KIND_REAL }, flag = { .kind = KIND_BOOL };
static const struct type id = { .kind = KIND_ID }, bits = { .kind = KIND_BITS };
static const struct type moment = { .kind = KIND_TIME }, raw = { .kind = KIND_RAW };
static const struct type picture = { .kind = KIND_IMAGE };
static const struct type flags = { .kind = KIND_ARRAY, .of = &flag };
static const struct type map = { .kind = KIND_MAP, .of = &text };
static const struct field inner_fields[] = { { FIELD(struct inner, n), .type = &number }, { 0 } };
static const struct schema inner_schema = { .size = sizeof(struct inner), .fields = inner_fields };
static const struct type inner = { .kind = KIND_OBJECT, .schema = &inner_schema };
static const struct type inners = { .kind = KIND_ARRAY, .of = &inner };

static struct buf out;
static struct json_writer j;

static int set_up(void **state)
{
    (void)state;
    buf_init(&out, 1 << 20);
    j = json_writer_to_buf(&out);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_clear(&out);
    return 0;
}

static void each_member_type_is_encoded_as_json(void **state)
{
    (void)state;
    static const struct field fields[] = {
        { FIELD(struct all, s), .type = &text },
        { FIELD(struct all, i), .type = &number },
        { FIELD(struct all, d), .type = &real },
        { FIELD(struct all, b), .type = &flag },
        { FIELD(struct all, id), .type = &id },
        { FIELD_AS(struct all, bits, "permissions"), .type = &bits },
        { FIELD(struct all, t), .type = &moment },
        { FIELD(struct all, raw), .type = &raw },
        { FIELD(struct all, list), .type = &flags },
        { FIELD(struct all, map), .type = &map },
        { FIELD(struct all, objects), .type = &inners },
        { FIELD(struct all, object), .type = &inner },
        { 0 },
    };
    static const struct schema schema = { .size = sizeof(struct all), .fields = fields };
    bool b[] = { true, false, true };
    struct string_pair pairs[] = { { STR("a\""), STR("1") }, { STR("b"), STR("2") } };
    struct inner one = { 1 }, objects[] = { { 1 }, { 2 } };
    struct all all = { .s = STR("x\n"),
                       .i = -5,
                       .d = 0.5,
                       .b = true,
                       .id = 9007199254740993,
                       .bits = UINT64_MAX,
                       .t = 1,
                       .raw = STR("{\"x\":[]}"),
                       .list = { b, 3 },
                       .map = { pairs, 2 },
                       .objects = { objects, 2 },
                       .object = &one };

    schema_encode_object(&j, &schema, &all);
    assert_str(
        buf_as_str(&out),
        "{\"s\":\"x\\n\",\"i\":-5,\"d\":0.5,\"b\":true,\"id\":\"9007199254740993\","
        "\"permissions\":\"18446744073709551615\",\"t\":\"1970-01-01T00:00:00.000001+00:00\","
        "\"raw\":{\"x\":[]},\"list\":[true,false,true],\"map\":{\"a\\\"\":\"1\",\"b\":\"2\"},"
        "\"objects\":[{\"n\":1},{\"n\":2}],\"object\":{\"n\":1}}");
}

#define OPT_FIELDS(flags_)                                                    \
    {                                                                         \
        { FIELD(struct all, os), .type = &text, .flags = (flags_) },          \
            { FIELD(struct all, oi), .type = &number, .flags = (flags_) },    \
            { FIELD(struct all, od), .type = &real, .flags = (flags_) },      \
            { FIELD(struct all, ob), .type = &flag, .flags = (flags_) },      \
            { FIELD(struct all, oid), .type = &id, .flags = (flags_) },       \
            { FIELD(struct all, ol), .type = &flags, .flags = (flags_) },     \
            { FIELD(struct all, oo), .type = &inner, .flags = (flags_) },     \
            { FIELD(struct all, object), .type = &inner, .flags = (flags_) }, \
            { FIELD(struct all, s), .type = &text, .flags = (flags_) },       \
        {                                                                     \
            0                                                                 \
        }                                                                     \
    }

static const struct field optional[] = OPT_FIELDS(OPTIONAL);
static const struct field nullable[] = OPT_FIELDS(NULLABLE);
static const struct field both[] = OPT_FIELDS(OPTIONAL | NULLABLE);
static const struct schema optional_schema = { .size = sizeof(struct all), .fields = optional };
static const struct schema nullable_schema = { .size = sizeof(struct all), .fields = nullable };
static const struct schema both_schema = { .size = sizeof(struct all), .fields = both };

static void absent_members_are_omitted_or_encoded_as_null(void **state)
{
    (void)state;
    struct all all = { 0 };

    schema_encode_object(&j, &optional_schema, &all);
    assert_str(buf_as_str(&out), "{}");
    buf_reset(&out);
    j = json_writer_to_buf(&out);
    schema_encode_object(&j, &nullable_schema, &all);
    assert_str(buf_as_str(&out), "{\"os\":null,\"oi\":null,\"od\":null,\"ob\":null,\"oid\":null,"
                                 "\"ol\":null,\"oo\":null,\"object\":null,\"s\":null}");
    buf_reset(&out);
    j = json_writer_to_buf(&out);
    schema_encode_object(&j, &both_schema, &all);
    assert_str(buf_as_str(&out), "{\"object\":null,\"s\":null}");
}

static void given_members_are_encoded_even_when_null(void **state)
{
    (void)state;
    struct inner one = { 1 };
    struct all all = { .os = { GIVEN, STR("") },
                       .oi = { GIVEN, 0 },
                       .od = { GIVEN, 0 },
                       .ob = { GIVEN, true },
                       .oid = { GIVEN, 0 },
                       .ol = { GIVEN, { NULL, 0 } },
                       .oo = { GIVEN, &one },
                       .s = STR("") };

    schema_encode_object(&j, &both_schema, &all);
    assert_str(buf_as_str(&out),
               "{\"os\":\"\",\"oi\":0,\"od\":0,\"ob\":true,\"oid\":\"0\",\"ol\":[],"
               "\"oo\":{\"n\":1},\"object\":null,\"s\":\"\"}");

    all = (struct all){ .os.given = GIVEN_NULL, .ob.given = GIVEN_NULL };
    buf_reset(&out);
    j = json_writer_to_buf(&out);
    schema_encode_object(&j, &both_schema, &all);
    assert_str(buf_as_str(&out), "{\"os\":null,\"ob\":null,\"object\":null,\"s\":null}");
}

static void required_text_is_encoded_even_when_empty(void **state)
{
    (void)state;
    static const struct field fields[] = { { FIELD(struct all, s), .type = &text }, { 0 } };
    static const struct schema schema = { .size = sizeof(struct all), .fields = fields };
    struct all all = { 0 };

    schema_encode_object(&j, &schema, &all);
    assert_str(buf_as_str(&out), "{\"s\":\"\"}");
}

static void single_values_of_each_type_are_encoded(void **state)
{
    (void)state;
    struct str s = STR("x");
    struct inner one = { 1 };
    struct list list = { &one, 1 };
    struct uploaded_image none = { 0 };

    schema_encode(&j, &text, &s);
    schema_encode(&j, &inner, &one);
    schema_encode(&j, &inners, &list);
    schema_encode(&j, &picture, &none);
    schema_encode_object(&j, &inner_schema, NULL);
    assert_str(buf_as_str(&out), "\"x\",{\"n\":1},[{\"n\":1}],null,null");
}

static void encoded_json_decodes_to_the_same_values(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    struct str in =
        STR("{\"os\":\"a\\u0001\xc3\xa9\",\"oi\":-9223372036854775808,\"od\":0.1,\"ob\":false,"
            "\"oid\":\"5\",\"ol\":[true],\"oo\":{\"n\":5},\"object\":{\"n\":6},\"s\":\"\"}");
    static const struct type all = { .kind = KIND_OBJECT, .schema = &both_schema };
    void *value;

    assert_int_equal(schema_decode(&all, in, &form, &value), OK);
    schema_encode(&j, &all, value);
    buf_add_char(&out, '\0');
    assert_str(in, out.p);
    arena_free(arena);
}

/* An object to which several elements point is encoded once and copied; this test uses more
 * objects than the encoder caches. */
struct pointing {
    const struct inner *first, *second;
};
static const struct field pointing_fields[] = {
    { FIELD(struct pointing, first), .type = &inner },
    { FIELD(struct pointing, second), .type = &inner, .flags = NULLABLE },
    { 0 },
};
static const struct schema pointing_schema = { .size = sizeof(struct pointing),
                                               .fields = pointing_fields };
static const struct type pointing = { .kind = KIND_OBJECT, .schema = &pointing_schema };
static const struct type pointings = { .kind = KIND_ARRAY, .of = &pointing };

static void object_shared_by_many_elements_is_encoded_for_each(void **state)
{
    enum { THINGS = 11, ITEMS = 60 };
    struct inner things[THINGS];
    struct pointing items[ITEMS];
    struct buf expected;
    (void)state;

    buf_init(&expected, 1 << 20);
    for (int i = 0; i < THINGS; i++)
        things[i].n = i;
    buf_add_char(&expected, '[');
    for (int i = 0; i < ITEMS; i++) {
        int first = i * i % THINGS, second = i % 3;

        items[i] = (struct pointing){ &things[first], second ? &things[second] : NULL };
        buf_printf(&expected, "%s{\"first\":{\"n\":%d},\"second\":", i ? "," : "", first);
        buf_printf(&expected, second ? "{\"n\":%d}}" : "null}", second);
    }
    buf_add_char(&expected, ']');
    schema_encode(&j, &pointings, &(struct list){ items, ITEMS, 0 });
    assert_int_equal(out.n, expected.n);
    assert_memory_equal(out.p, expected.p, out.n);
    buf_clear(&expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_member_type_is_encoded_as_json),
        TEST(absent_members_are_omitted_or_encoded_as_null),
        TEST(given_members_are_encoded_even_when_null),
        TEST(required_text_is_encoded_even_when_empty),
        TEST(single_values_of_each_type_are_encoded),
        TEST(encoded_json_decodes_to_the_same_values),
        TEST(object_shared_by_many_elements_is_encoded_for_each),
    };
    return cmocka_run_group_tests_name("json/encode", tests, NULL, NULL);
}
