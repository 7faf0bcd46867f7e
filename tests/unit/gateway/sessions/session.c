/* session.c - tests session ids, client properties, state changes and the memory of an idle
 * session. */
#include "unit/unit.h"

#include <stdio.h>

#include "gateway/sessions/client_names.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

/* --- client properties ------------------------------------------------------------------ */

static void sessions_share_equal_client_property_strings(void **state)
{
    struct client_name_table all;
    char said[] = "linux|some|thing";

    (void)state;
    client_name_table_init(&all);
    const char *first = client_name_ref(&all, said);
    said[0] = 'L';
    const char *other = client_name_ref(&all, said);
    assert_ptr_equal(client_name_ref(&all, "linux|some|thing"), first);
    assert_string_equal(first, "linux|some|thing");
    assert_string_equal(other, "Linux|some|thing");
    client_name_unref(&all, first);
    assert_ptr_equal(client_name_ref(&all, "linux|some|thing"), first);
    client_name_unref(&all, first);
    client_name_unref(&all, first);
    assert_int_equal(all.map.count, 1);
    client_name_unref(&all, other);
    assert_int_equal(all.map.count, 0);
    client_name_ref(&all, "");
    client_name_table_clear(&all);
}

/* --- ids -------------------------------------------------------------------------------- */

static void session_id_is_written_as_it_was_parsed(void **state)
{
    static const char id[] = "00112233445566778899aabbccddeeff";
    struct session s = { .id_rest = { 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff } };
    char written[SESSION_ID + 1];

    (void)state;
    assert_true(session_id_parse(str_of(id), &s.number));
    session_id_format(&s, written);
    assert_string_equal(written, id);
    assert_true(session_has_id(&s, str_of(id)));
    assert_false(session_has_id(&s, STR("00112233445566778899aabbccddeefe")));
    assert_false(session_has_id(&s, STR("00112233445566778899AABBCCDDEEFF")));
    assert_false(session_has_id(&s, str_slice(id, SESSION_ID - 1)));
}

/* --- memory of an idle session ---------------------------------------------------------- */

/* A loop has ten thousand sessions: rarely used fields are allocated separately. */
static void idle_session_structs_stay_within_their_size_limits(void **state)
{
    (void)state;
    assert_in_range(sizeof(struct session), 1, 344);
    assert_in_range(sizeof(struct gateway_socket), 1, 136);
    assert_in_range(sizeof(struct topic_subscription), 1, 88);
    assert_in_range(SUBSCRIPTION_BYTES_OUTSIDE_GUILDS, 1, 40);
    assert_in_range(sizeof(struct gateway_account), 1, 104);
}

static void session_state_changes_follow_the_state_diagram(void **state)
{
    static const struct {
        enum session_state from, to;
    } arrows[] = {
        { SESSION_IDENTIFYING, SESSION_LIVE },       { SESSION_IDENTIFYING, SESSION_ARRIVING },
        { SESSION_IDENTIFYING, SESSION_RECOVERED },  { SESSION_LIVE, SESSION_DISCONNECTED },
        { SESSION_LIVE, SESSION_SUSPENDED },         { SESSION_DISCONNECTED, SESSION_LIVE },
        { SESSION_DISCONNECTED, SESSION_ARRIVING },  { SESSION_DISCONNECTED, SESSION_MOVING },
        { SESSION_DISCONNECTED, SESSION_SUSPENDED }, { SESSION_ARRIVING, SESSION_LIVE },
        { SESSION_ARRIVING, SESSION_DISCONNECTED },  { SESSION_RECOVERED, SESSION_LIVE },
        { SESSION_RECOVERED, SESSION_DISCONNECTED },
    };
    unsigned allowed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++)
        assert_true(session_can_change_state(arrows[i].from, arrows[i].to));
    for (int from = 0; from < SESSION_STATES; from++)
        for (int to = 0; to < SESSION_STATES; to++)
            allowed += from != to && session_can_change_state(from, to);
    assert_int_equal(allowed, sizeof arrows / sizeof *arrows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_share_equal_client_property_strings),
        cmocka_unit_test(session_id_is_written_as_it_was_parsed),
        cmocka_unit_test(idle_session_structs_stay_within_their_size_limits),
        cmocka_unit_test(session_state_changes_follow_the_state_diagram),
    };

    return cmocka_run_group_tests_name("gateway/session", tests, NULL, NULL);
}
