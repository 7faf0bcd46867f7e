/* decode.c - tests the decoding of JSON bodies by schemas: presence, containers, errors. */
#include "unit/json/thing.h"

static void absent_json_fields_are_absent_or_get_their_default(void **state)
{
    (void)state;
    const struct thing *t = good("");

    assert_str(t->name, "abc");
    assert_int_equal(t->nick.given, ABSENT);
    assert_int_equal(t->rank.given, ABSENT);
    assert_int_equal(t->level, 7);
    assert_true(t->off);
    assert_int_equal(t->bits, 8);
    assert_int_equal(t->tags.given, ABSENT);
    assert_int_equal(t->words.count, 0);
    assert_null(t->child);
    assert_int_equal(t->other.given, ABSENT);
    assert_str(t->kind, "red");
    assert_null(t->note.p);
    assert_true(t->weight == 3);
    assert_int_equal(checked, 1);
}

static void json_null_counts_as_given_only_for_nullable_fields(void **state)
{
    (void)state;
    const struct thing *t = good("'nick':null,'tags':null,'child':null,'other':null,'bits':null,"
                                 "'rank':null,'level':null,'on':null,'type':null,'words':null");

    assert_int_equal(t->nick.given, GIVEN_NULL);
    assert_int_equal(t->tags.given, GIVEN_NULL);
    assert_int_equal(t->other.given, GIVEN_NULL);
    assert_null(t->child);
    assert_int_equal(t->bits, 8);
    assert_int_equal(t->rank.given, ABSENT);
    assert_int_equal(t->level, 7);
    assert_int_equal(t->on.given, ABSENT);
    assert_str(t->kind, "red");
    assert_int_equal(t->words.count, 0);
}

static void missing_or_null_required_field_is_refused(void **state)
{
    (void)state;
    static const char required[] = "{\"name\":{\"_errors\":[{\"code\":\"BASE_TYPE_REQUIRED\","
                                   "\"message\":\"This field is required\"}]}}";
    void *ret;

    assert_int_equal(decode(&thing, quoted("{}"), &ret), ERR_INVALID_FORM_BODY);
    assert_str(form_text(), required);
    assert_int_equal(decode(&thing, quoted("{'name':null}"), &ret), ERR_INVALID_FORM_BODY);
    assert_str(form_text(), required);
    assert_int_equal(decode(&thing, STR(""), &ret), ERR_INVALID_FORM_BODY);
    assert_str(form_text(), required);
}

static void unknown_json_keys_are_ignored(void **state)
{
    (void)state;
    const struct thing *t =
        good("'unknown':{'name':[1,{'x':null}]},'':1,'Name':5,'names':6,'rank':1");

    assert_int_equal(t->rank.value, 1);
    assert_str(t->name, "abc");
}

static void field_names_are_matched_after_decoding_escapes(void **state)
{
    (void)state;
    assert_int_equal(good("'r\\u0061nk':1")->rank.value, 1);
    assert_int_equal(good(" 'rank' : 2 ")->rank.value, 2);
    assert_int_equal(good("'rank'\n:3")->rank.value, 3);
    /* Keys that only share a prefix or suffix with a field name are unknown keys. */
    assert_int_equal(good("'rank\\u0000':1,'ran':1,'rankk':1,'ank':1")->rank.given, ABSENT);
}

static void json_fields_may_come_in_any_order(void **state)
{
    (void)state;
    const struct thing *t = good("'weight':0.5,'safe':2,'rank':1,'on':true,'\\u006eick':'a'");

    assert_true(t->weight == 0.5);
    assert_int_equal(t->safe.value, 2);
    assert_int_equal(t->rank.value, 1);
    assert_true(t->on.value);
    assert_str(t->nick.value, "a");
}

static void last_duplicate_json_key_wins_even_after_an_invalid_one(void **state)
{
    (void)state;
    const struct thing *t = good("'rank':'x','rank':5");
    assert_int_equal(t->rank.value, 5);
    assert_int_equal(t->rank.given, GIVEN);

    t = good("'rank':5,'rank':null");
    assert_int_equal(t->rank.given, ABSENT);
    t = good("'level':5,'level':null");
    assert_int_equal(t->level, 7);
    t = good("'tags':[1,2,3,4],'tags':[1]");
    assert_int_equal(t->tags.value.count, 1);
    t = good("'child':{'name':1},'child':{'name':'abcd'}");
    assert_str(t->child->name, "abcd");
    t = good("'child':{'name':'abcd'},'child':null");
    assert_null(t->child);
    wrong("'rank':5,'rank':[]", "NUMBER_TYPE_COERCE", "Value \"[]\" is not int.");

    void *ret;
    assert_int_equal(decode(&thing, quoted("{'name':'abc','name':null}"), &ret),
                     ERR_INVALID_FORM_BODY);
    assert_int_equal(decode(&thing, quoted("{'name':'abcde','name':'abc'}"), &ret), OK);
}

static void malformed_json_and_invalid_bodies_give_different_errors(void **state)
{
    (void)state;
    static const char *const bad[] = { "{",
                                       "{'name':'abc'",
                                       "{'name':1,}",
                                       "{'name':'abc'}}",
                                       "{'rank':'x', nope}",
                                       "{'child':{'name':[}}",
                                       " ",
                                       "{'unknown':[1,]}",
                                       "{'name':'abc'} x",
                                       "[[[" };
    void *ret;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(decode(&thing, quoted(bad[i]), &ret), ERR_INVALID_JSON);
        assert_false(form_has_errors(&form));
    }
}

static void body_of_the_wrong_json_type_is_refused_at_the_root(void **state)
{
    (void)state;
    static const char *const roots[] = { "[]", "null", "1", "'x'", "true" };
    void *ret;

    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        assert_int_equal(decode(&thing, quoted(roots[i]), &ret), ERR_INVALID_FORM_BODY);
        assert_str(form_text(), "{\"_errors\":[{\"code\":\"MODEL_TYPE_CONVERT\",\"message\":"
                                "\"Only dictionaries may be used in a ModelType\"}]}");
    }
    assert_int_equal(decode(&tags, STR("{}"), &ret), ERR_INVALID_FORM_BODY);
    assert_str(form_text(), "{\"_errors\":[{\"code\":\"LIST_TYPE_CONVERT\",\"message\":"
                            "\"Only iterables may be used in a ListType\"}]}");
}

static void body_may_be_a_list_or_a_single_value(void **state)
{
    (void)state;
    void *ret;

    assert_int_equal(decode(&tags, STR(" [1, 2] "), &ret), OK);
    const struct list *list = ret;
    assert_int_equal(list->count, 2);
    assert_int_equal(((int64_t *)list->items)[1], 2);
    assert_int_equal(decode(&rank, STR("5"), &ret), OK);
    assert_int_equal(*(int64_t *)ret, 5);
    assert_int_equal(decode(&tags, STR("[]"), &ret), ERR_INVALID_FORM_BODY);
    assert_int_equal(decode(&tags, STR("[1,'x']"), &ret), ERR_INVALID_JSON);
}

static void decoded_lists_have_their_items_in_order(void **state)
{
    (void)state;
    const struct thing *t = good("'tags':[3,2,1.0]");
    const int64_t *items = t->tags.value.items;

    assert_int_equal(t->tags.given, GIVEN);
    assert_int_equal(t->tags.value.count, 3);
    assert_int_equal(items[0], 3);
    assert_int_equal(items[1], 2);
    assert_int_equal(items[2], 1);
    wrong("'tags':[]", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 3 in length.");
    wrong("'tags':[1,2,3,4]", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 3 in length.");
    wrong("'tags':{}", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType");
    wrong("'tags':'1,2'", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType");
}

static void null_is_refused_as_a_list_item(void **state)
{
    (void)state;
    void *ret;

    assert_int_equal(decode(&tags, STR("[1,null]"), &ret), ERR_INVALID_FORM_BODY);
    assert_str(
        form_text(),
        "{\"1\":{\"_errors\":[{\"code\":\"BASE_TYPE_REQUIRED\",\"message\":\"This field is required\"}]}}");
}

static struct str repeated(size_t count)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_lit(&b, "[");
    for (size_t i = 0; i < count; i++)
        buf_printf(&b, "%s%zu", i ? "," : "", i);
    buf_add_lit(&b, "]");
    struct str s = str_dup(arena, buf_as_str(&b));
    buf_clear(&b);
    return s;
}

static void list_without_a_declared_maximum_is_limited(void **state)
{
    (void)state;
    static const struct type any = { .kind = KIND_ARRAY, .of = &rank };
    void *ret;

    assert_int_equal(decode(&any, repeated(1521), &ret), OK);
    const struct list *list = ret;
    assert_int_equal(list->count, 1521);
    for (int64_t i = 0; i < 1521; i++)
        assert_int_equal(((int64_t *)list->items)[i], i);
    assert_int_equal(decode(&any, repeated(1522), &ret), ERR_INVALID_FORM_BODY);
    assert_str(form_text(), "{\"_errors\":[{\"code\":\"BASE_TYPE_MAX_LENGTH\",\"message\":"
                            "\"Must be 1521 or fewer in length.\"}]}");
}

static void decoded_maps_have_the_last_value_of_each_key(void **state)
{
    (void)state;
    const struct thing *t = good("'words':{'de':'x','fr':'oui','de':'ja'}");
    const struct string_pair *pairs = t->words.items;

    assert_int_equal(t->words.count, 2);
    assert_str(pairs[0].key, "de");
    assert_str(pairs[0].value, "ja");
    assert_str(pairs[1].key, "fr");
    assert_str(pairs[1].value, "oui");
    wrong("'words':{'a':'aa','b':'bb','c':'cc'}", "BASE_TYPE_MAX_LENGTH",
          "Must be 2 or fewer in length.");
    wrong("'words':[]", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
}

static void map_entries_have_the_layout_of_a_c_struct(void **state)
{
    (void)state;
    static const struct type bools = { .kind = KIND_MAP, .of = &flag };
    struct entry {
        struct str key;
        bool value;
    };
    void *ret;

    assert_int_equal(decode(&bools, quoted("{'a':true,'b':false,'c':true}"), &ret), OK);
    const struct list *list = ret;
    const struct entry *entries = list->items;
    assert_int_equal(list->count, 3);
    assert_str(entries[2].key, "c");
    assert_true(entries[0].value && !entries[1].value && entries[2].value);
}

static void nested_objects_are_decoded(void **state)
{
    (void)state;
    const struct thing *t = good("'child':{'name':'ab','child':{'name':'cd'}},"
                                 "'children':[{'name':'ef'},{'name':'gh'}],'other':{'name':'ij'}");

    assert_str(t->child->child->name, "cd");
    assert_int_equal(t->child->child->level, 7);
    assert_int_equal(t->children.count, 2);
    assert_str(((struct thing *)t->children.items)[1].name, "gh");
    assert_str(((struct thing *)t->other.value)->name, "ij");
    assert_int_equal(checked, 6);
    wrong("'child':5", "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType");
}

static struct str nested(size_t depth)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    for (size_t i = 1; i < depth; i++)
        buf_add_lit(&b, "{\"name\":\"abc\",\"child\":");
    buf_add_lit(&b, "{\"name\":\"abc\"");
    for (size_t i = 0; i < depth; i++)
        buf_add_lit(&b, "}");
    struct str s = str_dup(arena, buf_as_str(&b));
    buf_clear(&b);
    return s;
}

static void recursive_schemas_are_limited_by_the_json_depth(void **state)
{
    (void)state;
    void *ret;

    assert_int_equal(decode(&thing, nested(JSON_MAX_DEPTH), &ret), OK);
    assert_int_equal(decode(&thing, nested(JSON_MAX_DEPTH + 1), &ret), ERR_INVALID_JSON);
    assert_int_equal(decode(&thing, nested(10000), &ret), ERR_INVALID_JSON);
}

static void all_errors_of_a_body_are_reported_together(void **state)
{
    (void)state;
    void *ret;

    assert_int_equal(decode(&thing,
                            quoted("{'nick':'abcd','rank':'x','child':{'level':99},"
                                   "'children':[{'name':'ab'},7,{'name':'ab','on':3}],"
                                   "'words':{'de':true}}"),
                            &ret),
                     ERR_INVALID_FORM_BODY);
    assert_str(
        form_text(),
        "{\"nick\":{\"_errors\":[{\"code\":\"BASE_TYPE_MAX_LENGTH\",\"message\":\"Must be 3 or fewer in length.\"}]},"
        "\"rank\":{\"_errors\":[{\"code\":\"NUMBER_TYPE_COERCE\",\"message\":\"Value \\\"x\\\" is not int.\"}]},"
        "\"child\":{"
        "\"level\":{\"_errors\":[{\"code\":\"NUMBER_TYPE_MAX\",\"message\":\"int value should be less than or equal to 10.\"}]},"
        "\"name\":{\"_errors\":[{\"code\":\"BASE_TYPE_REQUIRED\",\"message\":\"This field is required\"}]}},"
        "\"children\":{"
        "\"1\":{\"_errors\":[{\"code\":\"MODEL_TYPE_CONVERT\",\"message\":\"Only dictionaries may be used in a ModelType\"}]},"
        "\"2\":{\"on\":{\"_errors\":[{\"code\":\"BOOLEAN_TYPE_CONVERT\",\"message\":\"Must be either true or false.\"}]}}},"
        "\"words\":{\"de\":{\"_errors\":[{\"code\":\"STRING_TYPE_CONVERT\",\"message\":\"Could not interpret \\\"true\\\" as string.\"}]}},"
        "\"name\":{\"_errors\":[{\"code\":\"BASE_TYPE_REQUIRED\",\"message\":\"This field is required\"}]}}");
}

static void schema_check_runs_on_the_complete_object(void **state)
{
    (void)state;
    void *ret;

    assert_int_equal(decode(&thing, quoted("{'nick':'wor','name':'bad'}"), &ret),
                     ERR_INVALID_FORM_BODY);
    assert_str(form_text(),
               "{\"nick\":{\"_errors\":[{\"code\":\"TOGETHER\",\"message\":\"bad and wor\"}]}}");
    assert_int_equal(decode(&thing, quoted("{'nick':'wo','name':'bad'}"), &ret), OK);
    /* The check does not run on an object that malformed JSON cut short. */
    checked = 0;
    assert_int_equal(decode(&thing, quoted("{'name':'bad'"), &ret), ERR_INVALID_JSON);
    assert_int_equal(checked, 0);
}

static void errors_in_a_part_of_a_body_have_the_path_of_that_part(void **state)
{
    (void)state;
    struct json_path one = json_path_key(NULL, STR("one")), two = json_path_key(NULL, STR("two"));
    void *ret;

    form = (struct form){ .arena = arena };
    assert_int_equal(schema_decode_part_of_body(&thing, quoted("{}"), &form, &one, &ret),
                     ERR_INVALID_FORM_BODY);
    assert_int_equal(
        schema_decode_part_of_body(&thing, quoted("{'name':'abc'}"), &form, &two, &ret), OK);
    assert_int_equal(schema_decode_part_of_body(&thing, quoted("{"), &form, &two, &ret),
                     ERR_INVALID_JSON);
    assert_str(form_text(), "{\"one\":{\"name\":{\"_errors\":[{\"code\":\"BASE_TYPE_REQUIRED\","
                            "\"message\":\"This field is required\"}]}}}");
}

static void list_with_reserved_capacity_does_not_move(void **state)
{
    struct arena *a = arena_new();
    struct list l;

    (void)state;
    list_reserve(a, &l, sizeof(int64_t), 1000);
    const void *first = list_append(a, &l, sizeof(int64_t));
    size_t used = arena_used_bytes(a);
    for (int i = 1; i < 1000; i++)
        list_append(a, &l, sizeof(int64_t));
    assert_ptr_equal(l.items, first);
    assert_int_equal(arena_used_bytes(a), used);
    list_append(a, &l, sizeof(int64_t));
    assert_int_equal(l.count, 1001);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(absent_json_fields_are_absent_or_get_their_default),
        TEST(json_null_counts_as_given_only_for_nullable_fields),
        TEST(missing_or_null_required_field_is_refused),
        TEST(unknown_json_keys_are_ignored),
        TEST(field_names_are_matched_after_decoding_escapes),
        TEST(json_fields_may_come_in_any_order),
        TEST(last_duplicate_json_key_wins_even_after_an_invalid_one),
        TEST(malformed_json_and_invalid_bodies_give_different_errors),
        TEST(body_of_the_wrong_json_type_is_refused_at_the_root),
        TEST(body_may_be_a_list_or_a_single_value),
        TEST(decoded_lists_have_their_items_in_order),
        TEST(null_is_refused_as_a_list_item),
        TEST(list_without_a_declared_maximum_is_limited),
        TEST(decoded_maps_have_the_last_value_of_each_key),
        TEST(map_entries_have_the_layout_of_a_c_struct),
        TEST(nested_objects_are_decoded),
        TEST(recursive_schemas_are_limited_by_the_json_depth),
        TEST(all_errors_of_a_body_are_reported_together),
        TEST(schema_check_runs_on_the_complete_object),
        TEST(errors_in_a_part_of_a_body_have_the_path_of_that_part),
        TEST(list_with_reserved_capacity_does_not_move),
    };
    return cmocka_run_group_tests_name("json/decode", tests, NULL, NULL);
}
