/* describe.c - tests the descriptions of schemas as JSON Schema and as phrases. */
#include "unit/unit.h"

#include "json/schema.h"

struct pet {
    struct str name;
    struct opt_str nick;
    int64_t age;
    struct opt_int mode;
    struct opt_int level;
    bool tame;
    double ratio;
    struct opt_id owner;
    uint64_t bits;
    struct opt_int born;
    struct opt_image icon;
    struct opt_str extra;
    struct opt_list tags;
    struct opt_list words;
    struct pet *parent;
    struct pet *mate;
    struct list pets;
    struct opt_object location;
    struct str colour;
    struct opt_int safe;
};

struct spot {
    int64_t x;
};

static const struct enum_choice modes[] = { { .value = 1, .name = "ONE", .doc = "One." },
                                            { .value = 2, .name = "TWO", .doc = "Two." },
                                            { 0 } };
static const struct enum_choice colours[] = { { .text = "red", .name = "RED", .doc = "Red." },
                                              { 0 } };
static const struct schema pet_schema;
static const struct type name = { .kind = KIND_STRING, .min = 1, .max = 32, .doc = "Name" };
static const struct type nick = { .kind = KIND_STRING, .max = 32 };
static const struct type age = { .kind = KIND_INT, .min = 0, .max = 9 };
static const struct type mode = { .kind = KIND_INT, .choices = modes };
static const struct type level = { .kind = KIND_INT, .min = -3, .max = 0 };
static const struct type flag = { .kind = KIND_BOOL };
static const struct type ratio = { .kind = KIND_REAL, .min = 1 };
static const struct type id = { .kind = KIND_ID };
static const struct type bits = { .kind = KIND_BITS };
static const struct type born = { .kind = KIND_TIME };
static const struct type icon = { .kind = KIND_IMAGE, .max = 100 };
static const struct type extra = { .kind = KIND_RAW };
static const struct type tags = { .kind = KIND_ARRAY, .min = 2, .max = 2, .of = &nick };
static const struct type words = { .kind = KIND_MAP, .max = 5, .of = &name };
static const struct type pet = { .kind = KIND_OBJECT, .schema = &pet_schema };
static const struct type pets = { .kind = KIND_ARRAY, .of = &pet };
static const struct field spot_fields[] = {
    { FIELD(struct spot, x), .type = &age, .flags = OPTIONAL }, { 0 }
};
static const struct schema spot_schema = { .size = sizeof(struct spot), .fields = spot_fields };
static const struct type spot = { .kind = KIND_OBJECT, .schema = &spot_schema };
static const struct type colour = { .kind = KIND_STRING, .choices = colours };
static const struct type safe = { .kind = KIND_INT, .flags = TYPE_SAFE_INT };

static const struct field pet_fields[] = {
    { FIELD(struct pet, name), .type = &name },
    { FIELD(struct pet, nick), .type = &nick, .flags = NULLABLE, .doc = "Nickname" },
    { FIELD(struct pet, age), .type = &age, .flags = OPTIONAL, .fallback = 3 },
    { FIELD(struct pet, mode), .type = &mode, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct pet, level), .type = &level, .flags = OPTIONAL },
    { FIELD(struct pet, tame), .type = &flag, .flags = OPTIONAL | DEPRECATED },
    { FIELD(struct pet, ratio), .type = &ratio, .flags = OPTIONAL, .fallback = 1 },
    { FIELD(struct pet, owner), .type = &id, .flags = OPTIONAL },
    { FIELD(struct pet, bits), .type = &bits, .flags = OPTIONAL },
    { FIELD(struct pet, born), .type = &born, .flags = OPTIONAL },
    { FIELD(struct pet, icon), .type = &icon, .flags = OPTIONAL },
    { FIELD(struct pet, extra), .type = &extra, .flags = OPTIONAL },
    { FIELD(struct pet, tags), .type = &tags, .flags = OPTIONAL },
    { FIELD(struct pet, words), .type = &words, .flags = OPTIONAL },
    { FIELD(struct pet, parent), .type = &pet, .flags = OPTIONAL },
    { FIELD(struct pet, mate), .type = &pet, .flags = OPTIONAL | NULLABLE, .doc = "Mate" },
    { FIELD(struct pet, pets), .type = &pets, .flags = OPTIONAL },
    { FIELD(struct pet, location), .type = &spot, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct pet, colour), .type = &colour, .flags = OPTIONAL, .fallback_text = "red" },
    { FIELD(struct pet, safe), .type = &safe, .flags = OPTIONAL },
    { 0 },
};
static const struct schema pet_schema = {
    .name = "Pet", .size = sizeof(struct pet), .fields = pet_fields, .doc = "An animal."
};

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

static void json_schema_lists_every_field_of_an_object(void **state)
{
    (void)state;
    schema_write_json_schema_component(&j, &pet_schema);
    assert_str(
        buf_as_str(&out),
        "{\"type\":\"object\",\"description\":\"An animal.\",\"properties\":{"
        "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":32,\"description\":\"Name\"},"
        "\"nick\":{\"type\":[\"string\",\"null\"],\"maxLength\":32,\"description\":\"Nickname\"},"
        "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9,\"default\":3},"
        "\"mode\":{\"type\":[\"integer\",\"null\"],\"enum\":[1,2,null]},"
        "\"level\":{\"type\":\"integer\",\"minimum\":-3,\"maximum\":0},"
        "\"tame\":{\"type\":\"boolean\",\"default\":false,\"deprecated\":true},"
        "\"ratio\":{\"type\":\"number\",\"minimum\":1,\"default\":1},"
        "\"owner\":{\"type\":\"string\",\"format\":\"snowflake\"},"
        "\"bits\":{\"type\":\"string\",\"format\":\"uint64\",\"default\":\"0\"},"
        "\"born\":{\"type\":\"string\",\"format\":\"date-time\"},"
        "\"icon\":{\"type\":\"string\",\"format\":\"uri\"},"
        "\"extra\":{},"
        "\"tags\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"items\":{\"type\":\"string\",\"maxLength\":32}},"
        "\"words\":{\"type\":\"object\",\"maxProperties\":5,\"additionalProperties\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":32,\"description\":\"Name\"}},"
        "\"parent\":{\"$ref\":\"#/components/schemas/Pet\"},"
        "\"mate\":{\"anyOf\":[{\"$ref\":\"#/components/schemas/Pet\"},{\"type\":\"null\"}],\"description\":\"Mate\"},"
        "\"pets\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Pet\"}},"
        "\"location\":{\"type\":[\"object\",\"null\"],\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9,\"default\":0}}},"
        "\"colour\":{\"type\":\"string\",\"enum\":[\"red\"],\"default\":\"red\"},"
        "\"safe\":{\"type\":\"integer\",\"minimum\":-9007199254740992,\"maximum\":9007199254740992}"
        "},\"required\":[\"name\",\"nick\"]}");
}

static void json_schema_describes_single_types(void **state)
{
    (void)state;
    schema_write_json_schema(&j, &pet);
    schema_write_json_schema(&j, &pets);
    schema_write_json_schema(&j, &name);
    assert_str(buf_as_str(&out),
               "{\"$ref\":\"#/components/schemas/Pet\"},"
               "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Pet\"}},"
               "{\"type\":\"string\",\"minLength\":1,\"maxLength\":32,\"description\":\"Name\"}");
}

static void json_schema_of_a_loose_enumeration_lists_no_values(void **state)
{
    (void)state;
    static const struct type loose = { .kind = KIND_INT,
                                       .choices = modes,
                                       .flags = TYPE_LOOSE_ENUM };

    schema_write_json_schema(&j, &loose);
    assert_str(buf_as_str(&out), "{\"type\":\"integer\"}");
}

static void phrase(const struct type *type, const char *expected)
{
    buf_reset(&out);
    schema_append_type_in_words(&out, type);
    assert_str(buf_as_str(&out), expected);
}

static void type_descriptions_are_readable_phrases(void **state)
{
    (void)state;
    phrase(&name, "string, 1-32 characters");
    phrase(&nick, "string, at most 32 characters");
    phrase(&age, "integer, 0-9");
    phrase(&level, "integer, -3 to 0");
    phrase(&ratio, "number, at least 1");
    phrase(&flag, "boolean");
    phrase(&id, "snowflake");
    phrase(&bits, "bitset");
    phrase(&born, "timestamp");
    phrase(&icon, "image, at most 100 bytes");
    phrase(&extra, "any");
    phrase(&pets, "array[Pet]");
    phrase(&tags, "array[string, at most 32 characters], exactly 2 items");
    phrase(&words, "map[string, 1-32 characters], at most 5 items");
    phrase(&spot, "object");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_schema_lists_every_field_of_an_object),
        TEST(json_schema_describes_single_types),
        TEST(json_schema_of_a_loose_enumeration_lists_no_values),
        TEST(type_descriptions_are_readable_phrases),
    };
    return cmocka_run_group_tests_name("json/describe", tests, NULL, NULL);
}
