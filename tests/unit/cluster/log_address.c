/* log_address.c - tests which nodes need a log entry, and the encoding of addresses. */
#include "unit/unit.h"

#include <string.h>

#include "cluster/log_address.h"

static snowflake people[] = { 7, 8, 9, 10, 11 };

static struct log_entry_address address_of(struct emitted_event *list)
{
    struct log_entry f = { .announced = list };
    struct log_entry_address a;

    assert_true(log_address_from_entry(&f, STR("entry"), &a));
    return a;
}

static void log_address_has_guilds_and_users_of_all_events(void **state)
{
    (void)state;
    struct emitted_event again = { .event = EVENT_MESSAGE_UPDATE, .to = audience_of_guild(1) };
    struct emitted_event person = { .event = EVENT_MESSAGE_ACK,
                                    .to = audience_of_user(7),
                                    .next = &again };
    struct emitted_event first = { .event = EVENT_MESSAGE_CREATE,
                                   .to = audience_of_guild(1),
                                   .next = &person };
    struct log_entry_address a = address_of(&first);

    assert_int_equal(a.count, 2);
    assert_true(a.keys[0] == log_address_key(AUDIENCE_GUILD, 1));
    assert_int_equal(log_address_get_kind_of_key(a.keys[0]), AUDIENCE_GUILD);
    assert_int_equal(log_address_get_id_of_key(a.keys[0]), 1);
    assert_true(a.keys[1] == log_address_key(AUDIENCE_USER, 7));
    assert_int_equal(a.events, 3);
}

/* The gateway creates one event per recipient of a private channel. */
static void log_address_of_a_private_channel_has_recipients(void **state)
{
    (void)state;
    struct emitted_event a = { .event = EVENT_MESSAGE_CREATE,
                               .to = audience_of_private_channel(5),
                               .member_ids = { people, 3 } };
    struct log_entry_address to = address_of(&a);

    assert_int_equal(to.count, 3);
    assert_int_equal(to.events, 3);
    assert_true(to.keys[2] == log_address_key(AUDIENCE_USER, 9));
}

static void log_entries_that_all_nodes_need_have_no_address(void **state)
{
    (void)state;
    struct emitted_event guild = { .event = EVENT_MESSAGE_CREATE, .to = audience_of_guild(1) };
    struct emitted_event session = { .event = EVENT_MESSAGE_CREATE, .to = audience_of_session(1) };
    struct emitted_event many = { .event = EVENT_MESSAGE_CREATE,
                                  .to = audience_of_private_channel(5),
                                  .member_ids = { people, LOG_ADDRESS_KEYS_MAX + 1 } };
    struct revocation_record revocation = { .account = 1 };
    struct voice_state_change voice = { 0 };
    static const struct session_move_message move = { .kind = MOVE_REQUEST };
    const struct log_entry entries[] = {
        { .announced = &guild, .revocations = &revocation },
        { .announced = &guild, .voices = &voice },
        { .announced = &guild, .move = &move },
        { .announced = &session },
        { .announced = &many },
        { 0 },
    };
    struct log_entry_address a;

    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        assert_false(log_address_from_entry(&entries[i], STR("entry"), &a));
}

static void nats_subjects_of_guilds_replace_those_of_users(void **state)
{
    (void)state;
    struct log_entry_address a = { .count = 3,
                                   .keys = { log_address_key(AUDIENCE_USER, 7),
                                             log_address_key(AUDIENCE_GUILD, 1),
                                             log_address_key(AUDIENCE_GUILD, 1) } };
    unsigned parts[LOG_ADDRESS_KEYS_MAX];

    assert_int_equal(log_address_list_nats_parts(&a, parts), 1);
    assert_int_equal(parts[0], log_address_get_nats_part_of_key(a.keys[1]));
    a.count = 1;
    assert_int_equal(log_address_list_nats_parts(&a, parts), 1);
    assert_int_equal(parts[0], log_address_get_nats_part_of_key(a.keys[0]));
}

static void log_address_round_trips_and_bad_bytes_are_refused(void **state)
{
    (void)state;
    struct log_entry_address a = { .count = 2,
                                   .keys = { log_address_key(AUDIENCE_GUILD, 1), 5 },
                                   .events = 4,
                                   .hash = UINT64_MAX },
                             got;
    struct buf b;

    buf_init(&b, 1024);
    log_address_append(&a, &b);
    assert_true(b.n <= LOG_ADDRESS_MAX_BYTES);
    buf_add_lit(&b, "entry");
    struct str bytes = buf_as_str(&b);
    assert_true(log_address_decode(&bytes, &got));
    assert_true(str_is(bytes, "entry"));
    assert_memory_equal(&got, &a, sizeof a);
    for (size_t n = 0; n < b.n - strlen("entry"); n++) {
        bytes = str_slice(b.p, n);
        assert_false(log_address_decode(&bytes, &got));
    }
    static const struct log_entry_address bad[] = {
        { .count = 0, .events = 1 },
        { .count = 1, .keys = { 1 }, .events = 0 },
        { .count = 1, .keys = { 1 }, .events = UINT64_MAX },
        { .count = 1, .keys = { UINT64_MAX }, .events = 1 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        buf_reset(&b);
        log_address_append(&bad[i], &b);
        bytes = buf_as_str(&b);
        assert_false(log_address_decode(&bytes, &got));
    }
    buf_clear(&b);
}

static void recipients_have_the_part_of_each_key(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct log_entry_address a = { .count = 2,
                                   .keys = { log_address_key(AUDIENCE_GUILD, 1),
                                             log_address_key(AUDIENCE_USER, 5) },
                                   .events = 4,
                                   .hash = 9 },
                             got;
    struct str bytes = log_recipients_encode(&a, arena);
    const unsigned char *p = (const unsigned char *)bytes.p;

    assert_true(bytes.n <= LOG_RECIPIENTS_MAX_BYTES);
    for (unsigned i = 0; i < LOG_RECIPIENTS_PARTS; i++)
        assert_int_equal(p[2 * i] * 256 + p[2 * i + 1],
                         log_address_get_nats_part_of_key(a.keys[i % 2]));
    assert_true(log_recipients_decode(bytes, &got));
    assert_memory_equal(&got, &a, sizeof a);
    assert_false(log_recipients_decode(str_slice(bytes.p, bytes.n - 1), &got));
    assert_false(log_recipients_decode(str_slice(bytes.p, 7), &got));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_address_has_guilds_and_users_of_all_events),
        cmocka_unit_test(log_address_of_a_private_channel_has_recipients),
        cmocka_unit_test(log_entries_that_all_nodes_need_have_no_address),
        cmocka_unit_test(nats_subjects_of_guilds_replace_those_of_users),
        cmocka_unit_test(log_address_round_trips_and_bad_bytes_are_refused),
        cmocka_unit_test(recipients_have_the_part_of_each_key),
    };

    return cmocka_run_group_tests_name("cluster/log_address", tests, NULL, NULL);
}
