/* tables.c - tests the tables of errors, events, permissions and users. Tests src/base/errors.c,
 * src/model/events/events.c and src/model/permissions/permissions.c. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/errors.h"
#include "model/events/events.h"
#include "model/permissions/permissions.h"
#include "model/user.h"
#include "support/schema_fault.h"

static bool has_own_status(enum err e)
{
    int status = error_info(e)->status;

    return status >= 400 && status < 600;
}

static void every_error_has_status_code_and_message(void **state)
{
    (void)state;
    for (int e = OK + 1; e < ERR_COUNT; e++) {
        const struct error_info *i = error_info((enum err)e);

        assert_true(has_own_status((enum err)e));
        assert_true(i->code >= 0);
        assert_true(strlen(i->message) > 0);
        /* A code may have several adjacent messages if its limit depends on the object. */
        for (int other = OK + 1; i->code && other < e - 1; other++)
            if (error_info((enum err)other)->code == i->code)
                assert_int_equal(error_info((enum err)(other + 1))->code, i->code);
    }
}

static void error_without_code_has_its_status_as_message(void **state)
{
    (void)state;
    char text[100];

    for (int e = OK + 1; e < ERR_COUNT; e++) {
        const struct error_info *i = error_info((enum err)e);

        if (i->code || e == ERR_RATE_LIMITED || e == ERR_NOT_SERVED)
            continue;
        /* An error that the operator must fix says what to do. */
        snprintf(text, sizeof text, "%d: %s", i->status,
                 e == ERR_FILE_DAMAGED ? "This file is missing or damaged"
                                       : http_reason_phrase(i->status));
        if (e == ERR_FILE_DAMAGED)
            assert_memory_equal(i->message, text, strlen(text));
        else
            assert_string_equal(i->message, text);
    }
}

static void error_code_ranges_have_their_http_status(void **state)
{
    (void)state;
    for (int e = OK + 1; e < ERR_COUNT; e++) {
        const struct error_info *i = error_info((enum err)e);

        /* Unknown tags in a body are errors of the body; reactions have codes of their own. */
        if (i->code / 1000 == 10 && e != ERR_UNKNOWN_TAG_GIVEN && e != ERR_NO_SUCH_EMOJI)
            assert_int_equal(i->status, 404);
        if (i->code / 1000 == 30 && e != ERR_MAX_REACTIONS)
            assert_int_equal(i->status, 400);
    }
}

static void every_event_has_a_unique_name_and_description(void **state)
{
    (void)state;
    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        const char *name = get_name_of_event_type((enum event)e);

        assert_true(strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(name));
        assert_true(strlen(get_description_of_event_type((enum event)e)) > 0);
        for (int other = EVENT_NONE + 1; other < e; other++)
            assert_string_not_equal(get_name_of_event_type((enum event)other), name);
    }
    assert_string_equal(get_name_of_event_type(EVENT_USER_UPDATE), "USER_UPDATE");
}

static void permission_names_and_bits_are_the_published_ones(void **state)
{
    (void)state;
    struct buf out;

    buf_init(&out, 4096);
    permission_set_append_names(&out, PERMISSION(MANAGE_GUILD));
    assert_str(buf_as_str(&out), "MANAGE_GUILD");
    buf_reset(&out);
    permission_set_append_names(&out, PERMISSION(CONNECT) | PERMISSION(ADMINISTRATOR));
    assert_str(buf_as_str(&out), "ADMINISTRATOR, CONNECT");
    buf_reset(&out);
    permission_set_append_names(&out, 0);
    assert_int_equal(out.n, 0);
    buf_clear(&out);
    /* The bits equal Discord's documented ones. */
    assert_true(PERMISSION(ADMINISTRATOR) == 0x8);
    assert_true(PERMISSION(MANAGE_GUILD) == 0x20);
    assert_true(PERMISSION(VIEW_CHANNEL) == 0x400);
    assert_true(PERMISSION(CONNECT) == 0x100000);
}

static void user_schemas_are_valid(void **state)
{
    (void)state;
    struct arena *arena = arena_new();

    assert_null(schema_fault(&partial_user_schema, arena));
    assert_null(schema_fault(&public_user_schema, arena));
    assert_null(schema_fault(&current_user_schema, arena));
    assert_null(schema_fault(&user_with_token_schema, arena));
    arena_free(arena);
}

static bool has_field(const struct schema *s, const char *name)
{
    for (const struct field *f = s->fields; f->name.p; f++)
        if (str_is(f->name, name))
            return true;
    return false;
}

static void public_user_schemas_have_no_private_fields(void **state)
{
    (void)state;
    static const char *const secret[] = { "email",    "phone",         "bio",           "token",
                                          "verified", "password_hash", "date_of_birth", "locale" };

    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
        assert_false(has_field(&partial_user_schema, secret[i]));
        assert_false(has_field(&public_user_schema, secret[i]));
    }
    /* The flags of other users are the public flags. */
    for (const struct field *f = public_user_schema.fields; f->name.p; f++)
        assert_true(!str_is(f->name, "flags") || f->offset == offsetof(struct user, public_flags));
    assert_false(has_field(&current_user_schema, "password_hash"));
    assert_false(has_field(&current_user_schema, "token"));
    assert_false(has_field(&current_user_schema, "date_of_birth"));
}

static void usernames_allow_lower_case_letters_digits_and_single_dots(void **state)
{
    (void)state;
    bool (*holds)(struct str) = type_username.rule->is_valid;

    assert_true(holds(STR("a.b_c9")));
    assert_true(holds(STR(".a.")));
    assert_false(holds(STR("a..b")));
    assert_false(holds(STR("A")));
    assert_false(holds(STR("a b")));
    assert_false(holds(STR("a-b")));
    assert_false(holds(STR("\xc3\xa4")));
    assert_false(holds(str_slice("a\0", 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_status_code_and_message),
        cmocka_unit_test(error_without_code_has_its_status_as_message),
        cmocka_unit_test(error_code_ranges_have_their_http_status),
        cmocka_unit_test(every_event_has_a_unique_name_and_description),
        cmocka_unit_test(permission_names_and_bits_are_the_published_ones),
        cmocka_unit_test(user_schemas_are_valid),
        cmocka_unit_test(public_user_schemas_have_no_private_fields),
        cmocka_unit_test(usernames_allow_lower_case_letters_digits_and_single_dots),
    };
    return cmocka_run_group_tests_name("model/tables", tests, NULL, NULL);
}
