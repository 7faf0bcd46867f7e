/* inspect.c - tests the walk over schemas and the detection of faulty schemas. */
#include "unit/unit.h"

#include "base/arena.h"
#include "json/schema.h"
#include "support/schema_fault.h"

struct node {
    int64_t a;
    struct str s;
    struct opt_int o;
    struct node *next;
    struct list list;
    struct uploaded_image image;
};

static const struct type number = { .kind = KIND_INT }, text = { .kind = KIND_STRING };

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct schema loop_schema, other_schema, inline_schema;
static const struct type loop = { .kind = KIND_OBJECT, .schema = &loop_schema };
static const struct type loops = { .kind = KIND_ARRAY, .of = &loop };
static const struct type other = { .kind = KIND_OBJECT, .schema = &other_schema };
static const struct type others = { .kind = KIND_MAP, .of = &other };
static const struct type within = { .kind = KIND_OBJECT, .schema = &inline_schema };
static const struct field loop_fields[] = {
    { FIELD(struct node, a), .type = &number },
    { FIELD(struct node, list), .type = &loops },
    { FIELD(struct node, next), .type = &within },
    { 0 },
};
static const struct field inline_fields[] = { { FIELD(struct node, list), .type = &others },
                                              { 0 } };
static const struct field other_fields[] = { { FIELD(struct node, next), .type = &loop }, { 0 } };
static const struct schema loop_schema = { .name = "Loop",
                                           .size = sizeof(struct node),
                                           .fields = loop_fields };
static const struct schema inline_schema = { .size = sizeof(struct node), .fields = inline_fields };
static const struct schema other_schema = { .name = "Other",
                                            .size = sizeof(struct node),
                                            .fields = other_fields };

static void append_schema_name(const struct schema *schema, void *arg)
{
    buf_printf(arg, "%s ", schema->name);
}

static void schema_walk_visits_each_named_schema_once(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 1000);
    schema_visit_contained_schemas(&loops, append_schema_name, &b);
    assert_str(buf_as_str(&b), "Loop Other ");
    buf_reset(&b);
    schema_visit_contained_schemas(&within, append_schema_name, &b);
    assert_str(buf_as_str(&b), "Other Loop ");
    buf_reset(&b);
    schema_visit_contained_schemas(&text, append_schema_name, &b);
    assert_int_equal(b.n, 0);
    buf_clear(&b);
}

static void valid_schemas_have_no_faults(void **state)
{
    (void)state;
    assert_null(schema_fault(&loop_schema, arena));
    assert_null(schema_fault(&other_schema, arena));
}

static void fault(struct field f, const char *expected)
{
    struct field fields[] = { { FIELD(struct node, a), .type = &number }, f, { 0 } };
    struct schema schema = { .name = "S", .size = sizeof(struct node), .fields = fields };

    assert_string_equal(schema_fault(&schema, arena), expected);
}

static void incomplete_types_are_schema_faults(void **state)
{
    (void)state;
    static const struct type none = { 0 }, array = { .kind = KIND_ARRAY },
                             object = { .kind = KIND_OBJECT };
    static const struct type array_of_none = { .kind = KIND_ARRAY, .of = &none };
    static const struct enum_choice words[] = { { .text = "x", .doc = "X." }, { 0 } };
    static const struct enum_choice numbers[] = { { .value = 1, .doc = "X." }, { 0 } };
    static const struct type c1 = { .kind = KIND_INT, .choices = words };
    static const struct type c2 = { .kind = KIND_STRING, .choices = numbers };
    static const struct type c3 = { .kind = KIND_REAL, .choices = numbers };
    static const struct string_rule rule = { 0 };
    static const struct type r = { .kind = KIND_INT, .rule = &rule };

    fault((struct field){ FIELD(struct node, s) }, "S.s has no type");
    fault((struct field){ FIELD(struct node, s), .type = &none }, "S.s has a type without kind");
    fault((struct field){ FIELD(struct node, list), .type = &array },
          "S.list holds nothing: .of is missing");
    fault((struct field){ FIELD(struct node, list), .type = &array_of_none },
          "S.list has a type without kind");
    fault((struct field){ FIELD(struct node, next), .type = &object },
          "S.next is an object without schema");
    fault((struct field){ FIELD(struct node, o), .type = &c1 },
          "S.o has a choice of the wrong kind");
    fault((struct field){ FIELD(struct node, s), .type = &c2 },
          "S.s has a choice of the wrong kind");
    fault((struct field){ FIELD(struct node, s), .type = &c3 },
          "S.s has choices but is neither string nor integer");
    fault((struct field){ FIELD(struct node, o), .type = &r }, "S.o has a rule but is no string");
}

static void member_of_the_wrong_c_type_is_a_schema_fault(void **state)
{
    (void)state;
    static const struct type image = { .kind = KIND_IMAGE };

    fault((struct field){ FIELD(struct node, s), .type = &number },
          "S.s has a member that cannot hold its kind");
    fault((struct field){ FIELD_AS(struct node, s, ""), .type = &text }, "S. has no name");
    fault((struct field){ FIELD_AS(struct node, s,
                                   "a_name_of_sixty_one_bytes_which_is_one_more_than_there_may_be"),
                          .type = &text },
          "S.a_name_of_sixty_one_bytes_which_is_one_more_than_there_may_be has a name that is too "
          "long");
    fault((struct field){ FIELD_AS(struct node, s, "a"), .type = &text }, "S.a is there twice");
    fault((struct field){ FIELD_AS(struct node, a, "b"), .type = &number },
          "S.b shares its member with another field");
    fault((struct field){ FIELD(struct node, image), .type = &image, .flags = OPTIONAL },
          "S.image may be missing, but a plain image cannot say so");

    struct field nullable[] = { { FIELD(struct node, a), .type = &number, .flags = NULLABLE },
                                { 0 } };
    struct schema schema = { .name = "S", .size = sizeof(struct node), .fields = nullable };
    assert_string_equal(schema_fault(&schema, arena),
                        "S.a may be null, but a plain member cannot say so");
}

static void default_value_on_a_required_member_is_a_schema_fault(void **state)
{
    (void)state;
    fault(
        (struct field){ FIELD(struct node, o), .type = &number, .flags = OPTIONAL, .fallback = 1 },
        "S.o has a fallback but is not an OPTIONAL plain member");
    fault((struct field){ FIELD(struct node, s), .type = &text, .fallback_text = "x" },
          "S.s has a fallback but is not an OPTIONAL plain member");
    fault((struct field){ FIELD(struct node, s), .type = &text, .flags = OPTIONAL, .fallback = 1 },
          "S.s has a fallback of the wrong kind");
}

static void member_outside_the_struct_is_a_schema_fault(void **state)
{
    (void)state;
    struct field fields[] = { { FIELD(struct node, s), .type = &text }, { 0 } };
    struct schema schema = { .size = offsetof(struct node, s) + sizeof(struct str),
                             .fields = fields };

    assert_null(schema_fault(&schema, arena));
    schema.size--;
    assert_string_equal(schema_fault(&schema, arena), "(unnamed).s lies outside the struct");
    schema.fields = NULL;
    assert_string_equal(schema_fault(&schema, arena), "(unnamed) has no fields");
}

static void faults_in_nested_unnamed_schemas_are_found(void **state)
{
    (void)state;
    struct field inner_fields[] = { { FIELD(struct node, s), .type = &number }, { 0 } };
    struct schema inner = { .size = sizeof(struct node), .fields = inner_fields };
    struct type object = { .kind = KIND_OBJECT, .schema = &inner },
                list = { .kind = KIND_ARRAY, .of = &object };

    fault((struct field){ FIELD(struct node, list), .type = &list },
          "S.list: (unnamed).s has a member that cannot hold its kind");
}

static void schema_with_more_than_63_fields_is_a_fault(void **state)
{
    (void)state;
    static struct field fields[65];
    struct schema schema = { .name = "S", .size = 4096, .fields = fields };

    for (size_t i = 0; i < 64; i++)
        fields[i] = (struct field){ .name = str_printf(arena, "f%zu", i),
                                    .type = &number,
                                    .member = MEMBER_INT,
                                    .offset = (uint32_t)(i * 8) };
    assert_string_equal(schema_fault(&schema, arena), "S has more than 63 fields");
    fields[63] = (struct field){ 0 };
    assert_null(schema_fault(&schema, arena));
}

static void list_item_sizes_match_the_c_types(void **state)
{
    (void)state;
    static const struct {
        enum json_type_kind kind;
        size_t size;
    } sizes[] = {
        { KIND_STRING, sizeof(struct str) }, { KIND_INT, sizeof(int64_t) },
        { KIND_REAL, sizeof(double) },       { KIND_BOOL, sizeof(bool) },
        { KIND_ID, sizeof(snowflake) },      { KIND_BITS, sizeof(uint64_t) },
        { KIND_TIME, sizeof(int64_t) },      { KIND_IMAGE, sizeof(struct uploaded_image) },
        { KIND_RAW, sizeof(struct str) },    { KIND_ARRAY, sizeof(struct list) },
        { KIND_MAP, sizeof(struct list) },
    };
    static const struct schema schema = { .size = 40 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(schema_list_item_size(&(struct type){ .kind = sizes[i].kind }),
                         sizes[i].size);
    assert_int_equal(
        schema_list_item_size(&(struct type){ .kind = KIND_OBJECT, .schema = &schema }), 40);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(schema_walk_visits_each_named_schema_once),
        TEST(valid_schemas_have_no_faults),
        TEST(incomplete_types_are_schema_faults),
        TEST(member_of_the_wrong_c_type_is_a_schema_fault),
        TEST(default_value_on_a_required_member_is_a_schema_fault),
        TEST(member_outside_the_struct_is_a_schema_fault),
        TEST(faults_in_nested_unnamed_schemas_are_found),
        TEST(schema_with_more_than_63_fields_is_a_fault),
        TEST(list_item_sizes_match_the_c_types),
    };
    return cmocka_run_group_tests_name("json/inspect", tests, NULL, NULL);
}
