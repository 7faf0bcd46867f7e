/* spacebar.c - tests the form of events for clients of Spacebar. */
#include "unit/unit.h"

#include "base/arena.h"
#include "gateway/wire/spacebar.h"

static void expect_form(const char *json, const char *form)
{
    struct arena *a = arena_new();
    struct buf out;

    buf_init(&out, 65536);
    buf_add_lit(&out, "x"); /* bytes before the payload remain */
    encode_json_for_spacebar(str_of(json), a, &out);
    assert_str(str_skip_bytes(buf_as_str(&out), 1), form);
    assert_int_equal(out.p[0], 'x');
    buf_clear(&out);
    arena_free(a);
}

static void members_get_ids_user_and_everyone(void **state)
{
    (void)state;
    expect_form("{\"guild_id\":\"7\",\"members\":[{\"user\":{\"id\":\"1\"},\"roles\":[\"8\"],"
                "\"joined_at\":\"x\"}]}",
                "{\"guild_id\":\"7\",\"members\":[{\"id\":\"1\",\"guild_id\":\"7\",\"user\":{"
                "\"id\":\"1\"},\"roles\":[\"7\",\"8\"],\"joined_at\":\"x\"}]}");
    expect_form("{\"author\":{\"id\":\"1\",\"name\":\"\\u0041\\n\"},\"member\":{\"roles\":[],"
                "\"joined_at\":\"x\"},\"guild_id\":\"7\"}",
                "{\"author\":{\"id\":\"1\",\"name\":\"\\u0041\\n\"},\"member\":{\"id\":\"1\","
                "\"guild_id\":\"7\",\"user\":{\"id\":\"1\",\"name\":\"\\u0041\\n\"},\"roles\":["
                "\"7\"],\"joined_at\":\"x\"},\"guild_id\":\"7\"}");
    /* The payload itself is the member. */
    expect_form("{\"guild_id\":\"7\",\"user\":{\"id\":\"1\"},\"roles\":[],\"joined_at\":null}",
                "{\"id\":\"1\",\"guild_id\":\"7\",\"user\":{\"id\":\"1\"},\"roles\":[\"7\"],"
                "\"joined_at\":null}");
}

static void everything_else_is_unchanged(void **state)
{
    static const char *const unchanged[] = {
        "",
        "null",
        "[]",
        "{\"joined_at\":\"x\"}",
        "{\"guild_id\":\"7\",\"user\":{\"id\":\"1\"},\"roles\":[]}",
        /* a member that is complete, as in READY */
        "{\"m\":{\"id\":\"1\",\"user\":{\"id\":\"1\"},\"roles\":[\"7\"],\"joined_at\":\"x\"}}",
        "{\"member\":{\"roles\":[],\"joined_at\":\"x\"}}",
        "{\"author\":null,\"member\":{\"roles\":[],\"joined_at\":\"x\"}}",
        "{\"user\":{\"name\":\"no id\"},\"joined_at\":\"x\"}",
        /* a thread member, and text that only looks like a member */
        "{\"content\":\"\\\"joined_at\\\"\",\"joined_at\":1.5e3,\"x\":[[],{},true]}",
        /* no JSON */
        "{\"joined_at\":",
        "{\"a\":[{\"user\":{\"id\":\"1\"},\"joined_at\":nul}]}",
        "\"joined_at\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++)
        expect_form(unchanged[i], unchanged[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_get_ids_user_and_everyone),
        cmocka_unit_test(everything_else_is_unchanged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
