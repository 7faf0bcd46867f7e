/* query.c - tests the decoding of query strings by schemas. */
#include "unit/unit.h"

#include "base/arena.h"
#include "json/schema.h"

struct search {
    struct str q;
    struct opt_int limit;
    int64_t page;
    struct opt_bool pinned;
    struct opt_id before;
    struct opt_list ids;
    struct list words;
    struct opt_int since;
    struct opt_str data;
};

static const struct type q = { .kind = KIND_STRING, .min = 1, .max = 5 };
static const struct type limit = { .kind = KIND_INT, .min = 1, .max = 50 };
static const struct type page = { .kind = KIND_INT, .flags = TYPE_CLAMP, .min = 1, .max = 9 };
static const struct type flag = { .kind = KIND_BOOL };
static const struct type id = { .kind = KIND_ID };
static const struct type ids = { .kind = KIND_ARRAY, .min = 1, .max = 3, .of = &id };
static const struct type words = { .kind = KIND_ARRAY, .of = &q };
static const struct type since = { .kind = KIND_TIME };
static const struct type data = { .kind = KIND_RAW };

static const struct field fields[] = {
    { FIELD(struct search, q), .type = &q },
    { FIELD(struct search, limit), .type = &limit, .flags = OPTIONAL },
    { FIELD(struct search, page), .type = &page, .flags = OPTIONAL, .fallback = 1 },
    { FIELD(struct search, pinned), .type = &flag, .flags = OPTIONAL },
    { FIELD(struct search, before), .type = &id, .flags = OPTIONAL },
    { FIELD(struct search, ids), .type = &ids, .flags = OPTIONAL },
    { FIELD(struct search, words), .type = &words, .flags = OPTIONAL },
    { FIELD(struct search, since), .type = &since, .flags = OPTIONAL },
    { FIELD(struct search, data), .type = &data, .flags = OPTIONAL },
    { 0 },
};

static void check(struct form *form, const struct json_path *here, const void *object)
{
    const struct search *s = object;
    struct json_path at = json_path_key(here, STR("limit"));

    if (s->limit.given && s->before.given && s->limit.value == 13)
        form_add_error(form, &at, "UNLUCKY", "not with before");
}

static const struct schema schema = { .size = sizeof(struct search),
                                      .fields = fields,
                                      .check = check };

static struct arena *arena;
static struct form form;

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

static const struct search *good(const char *query)
{
    void *ret = NULL;

    form = (struct form){ .arena = arena };
    if (schema_decode_query(&schema, str_of(query), &form, &ret) != OK)
        fail_msg("'%s' is refused", query);
    return ret;
}

/* Asserts the errors of a query; single quotes stand for double quotes. */
static void wrong(const char *query, const char *errors)
{
    void *ret = &form;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    form = (struct form){ .arena = arena };
    assert_int_equal(schema_decode_query(&schema, str_of(query), &form, &ret),
                     ERR_INVALID_FORM_BODY);
    assert_ptr_equal(ret, &form);
    buf_init(&out, 1 << 20);
    write_form_errors_json(&form, &j);
    for (size_t i = 0; i < out.n; i++)
        if (out.p[i] == '"')
            out.p[i] = '\'';
    assert_str(buf_as_str(&out), errors);
    buf_clear(&out);
}

static void query_values_are_decoded_by_type(void **state)
{
    (void)state;
    const struct search *s =
        good("q=abc&limit=50&pinned=true&before=175928847299117063&"
             "since=1970-01-01T00:00:01%2B00:00&data=%7B%22a%22:1%7D&unknown=%zz");

    assert_str(s->q, "abc");
    assert_int_equal(s->limit.value, 50);
    assert_int_equal(s->page, 1);
    assert_true(s->pinned.value);
    assert_int_equal(s->before.value, 175928847299117063);
    assert_int_equal(s->ids.given, ABSENT);
    assert_int_equal(s->since.value, 1000000);
    assert_str(s->data.value, "{\"a\":1}");
}

static void percent_escapes_and_plus_in_queries_are_decoded(void **state)
{
    (void)state;
    assert_str(good("q=a+b%20c")->q, "a b c");
    assert_str(good("%71=%e2%82%ac")->q, "\xe2\x82\xac");
    assert_str(good("q=a=b")->q, "a=b");
    assert_str(good("q=%26%3D")->q, "&=");
    assert_str(good("&&q=a&&")->q, "a");
}

static void malformed_escapes_in_a_query_are_errors_of_their_key(void **state)
{
    (void)state;
    wrong(
        "q=%zz",
        "{'q':{'_errors':[{'code':'STRING_TYPE_CONVERT','message':'Could not interpret \\'%zz\\' as string.'}]}}");
    wrong(
        "q=%ff",
        "{'q':{'_errors':[{'code':'STRING_TYPE_CONVERT','message':'Could not interpret \\'%ff\\' as string.'}]}}");
    wrong(
        "q=\xff",
        "{'q':{'_errors':[{'code':'STRING_TYPE_CONVERT','message':'Could not interpret \\'\xef\xbf\xbd\\' as string.'}]}}");
    wrong(
        "q=a&ids=%",
        "{'ids':{'_errors':[{'code':'STRING_TYPE_CONVERT','message':'Could not interpret \\'%\\' as string.'},"
        "{'code':'BASE_TYPE_BAD_LENGTH','message':'Must be between 1 and 3 in length.'}]}}");
    wrong("%zz=1",
          "{'q':{'_errors':[{'code':'BASE_TYPE_REQUIRED','message':'This field is required'}]}}");
}

static void query_booleans_accept_six_spellings(void **state)
{
    (void)state;
    assert_true(good("q=a&pinned=True")->pinned.value);
    assert_true(good("q=a&pinned=1")->pinned.value);
    assert_false(good("q=a&pinned=False")->pinned.value);
    assert_false(good("q=a&pinned=false")->pinned.value);
    assert_int_equal(good("q=a&pinned=0")->pinned.given, GIVEN);
    wrong(
        "q=a&pinned=TRUE",
        "{'pinned':{'_errors':[{'code':'BOOLEAN_TYPE_CONVERT','message':'Must be either true or false.'}]}}");
    wrong(
        "q=a&pinned=",
        "{'pinned':{'_errors':[{'code':'BOOLEAN_TYPE_CONVERT','message':'Must be either true or false.'}]}}");
    wrong(
        "q=a&pinned",
        "{'pinned':{'_errors':[{'code':'BOOLEAN_TYPE_CONVERT','message':'Must be either true or false.'}]}}");
}

static void query_integers_out_of_range_are_refused_or_clamped(void **state)
{
    (void)state;
    wrong(
        "q=a&limit=51",
        "{'limit':{'_errors':[{'code':'NUMBER_TYPE_MAX','message':'int value should be less than or equal to 50.'}]}}");
    wrong(
        "q=a&limit=0",
        "{'limit':{'_errors':[{'code':'NUMBER_TYPE_MIN','message':'int value should be greater than or equal to 1.'}]}}");
    wrong(
        "q=a&limit=x",
        "{'limit':{'_errors':[{'code':'NUMBER_TYPE_COERCE','message':'Value \\'x\\' is not int.'}]}}");
    wrong(
        "q=a&limit=1.0",
        "{'limit':{'_errors':[{'code':'NUMBER_TYPE_COERCE','message':'Value \\'1.0\\' is not int.'}]}}");
    assert_int_equal(good("q=a&page=0")->page, 1);
    assert_int_equal(good("q=a&page=100")->page, 9);
    assert_int_equal(good("q=a&page=99999999999999999999")->page, 9);
    wrong(
        "q=a&page=x",
        "{'page':{'_errors':[{'code':'NUMBER_TYPE_COERCE','message':'Value \\'x\\' is not int.'}]}}");
}

static void query_lists_are_repeated_keys_or_comma_separated(void **state)
{
    (void)state;
    static const char *const forms[] = { "q=a&ids=1&ids=2&ids=3", "q=a&ids=1,2,3",
                                         "ids=1,2&q=a&ids=3", "q=a&ids=1%2C2%2c3" };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct list *list = &good(forms[i])->ids.value;

        assert_int_equal(list->count, 3);
        for (uint64_t k = 0; k < 3; k++)
            assert_int_equal(((uint64_t *)list->items)[k], k + 1);
    }
    assert_int_equal(good("q=a&words=x,y,z")->words.count, 3);
    assert_int_equal(good("q=a&words=")->words.count, 0);
}

static void query_list_items_have_their_own_errors(void **state)
{
    (void)state;
    wrong(
        "q=a&ids=1,x&ids=y",
        "{'ids':{'1':{'_errors':[{'code':'NUMBER_TYPE_COERCE','message':'Value \\'x\\' is not snowflake.'}]},"
        "'2':{'_errors':[{'code':'NUMBER_TYPE_COERCE','message':'Value \\'y\\' is not snowflake.'}]}}}");
    wrong(
        "q=a&ids=1,2,3,4",
        "{'ids':{'_errors':[{'code':'BASE_TYPE_BAD_LENGTH','message':'Must be between 1 and 3 in length.'}]}}");
    wrong(
        "q=a&ids=1&ids=2&ids=3&ids=x,y,z",
        "{'ids':{'_errors':[{'code':'BASE_TYPE_BAD_LENGTH','message':'Must be between 1 and 3 in length.'}]}}");
    wrong(
        "q=a&ids=",
        "{'ids':{'_errors':[{'code':'BASE_TYPE_BAD_LENGTH','message':'Must be between 1 and 3 in length.'}]}}");
}

static void last_value_of_a_repeated_query_key_wins(void **state)
{
    (void)state;
    assert_str(good("q=toolong&q=a")->q, "a");
    assert_int_equal(good("q=a&limit=x&limit=3")->limit.value, 3);
    wrong(
        "q=a&q=toolong",
        "{'q':{'_errors':[{'code':'BASE_TYPE_BAD_LENGTH','message':'Must be between 1 and 5 in length.'}]}}");
}

static void all_query_errors_are_reported_and_checks_run(void **state)
{
    (void)state;
    wrong("",
          "{'q':{'_errors':[{'code':'BASE_TYPE_REQUIRED','message':'This field is required'}]}}");
    wrong(
        "q=&limit=x",
        "{'q':{'_errors':[{'code':'BASE_TYPE_BAD_LENGTH','message':'Must be between 1 and 5 in length.'}]},"
        "'limit':{'_errors':[{'code':'NUMBER_TYPE_COERCE','message':'Value \\'x\\' is not int.'}]}}");
    wrong("q=a&limit=13&before=1",
          "{'limit':{'_errors':[{'code':'UNLUCKY','message':'not with before'}]}}");
    wrong(
        "q=a&data=nope",
        "{'data':{'_errors':[{'code':'STRING_TYPE_CONVERT','message':'Could not interpret \\'nope\\' as string.'}]}}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(query_values_are_decoded_by_type),
        TEST(percent_escapes_and_plus_in_queries_are_decoded),
        TEST(malformed_escapes_in_a_query_are_errors_of_their_key),
        TEST(query_booleans_accept_six_spellings),
        TEST(query_integers_out_of_range_are_refused_or_clamped),
        TEST(query_lists_are_repeated_keys_or_comma_separated),
        TEST(query_list_items_have_their_own_errors),
        TEST(last_value_of_a_repeated_query_key_wins),
        TEST(all_query_errors_are_reported_and_checks_run),
    };
    return cmocka_run_group_tests_name("json/query", tests, NULL, NULL);
}
