/* log_entry.c - tests the encoding and decoding of event log frames. */
#include "unit/unit.h"

#include <string.h>

#include "base/mem.h"
#include "cluster/log_entry.h"
#include "model/events/event_routing.h"

static snowflake people[] = { 7, 8, 9 };

/* Routing fields of a member with two roles. */
static const struct event_routing *member_facts(struct arena *a)
{
    struct event_routing *f = arena_alloc(a, sizeof *f + 2 * sizeof(snowflake));
    snowflake roles[] = { 21, 22 };

    f->kind = ROUTING_MEMBER;
    f->count = 2;
    f->member.user_id = 7;
    f->member.restrained_until = 99;
    memcpy(f + 1, roles, sizeof roles);
    return f;
}

static struct str make_frame(struct arena *a)
{
    struct emitted_event second = {
        .event = EVENT_MESSAGE_CREATE,
        .to = audience_of_private_channel(5),
        .payload = STR("{\"content\":\"hi\"}"),
        .member_ids = { people, 3 },
    };
    struct emitted_event first = {
        .event = EVENT_GUILD_MEMBER_UPDATE,
        .to = { .kind = AUDIENCE_GUILD,
                .id = 1,
                .channel_id = 2,
                .parent_id = 3,
                .starter_id = 4,
                .thread_type = 12,
                .private_thread = true,
                .user_ids = people,
                .user_count = 2,
                .any_of = UINT64_C(1) << 63,
                .hidden_id = 6 },
        .payload = STR("{}"),
        .routing = member_facts(a),
        .next = &second,
        .guild_id = 11,
    };
    struct revocation_record app = { .application = 31, .applications_only = true };
    struct revocation_record one = {
        .next = &app, .account = 30, .one = true, .session = { 1, 2, 3, 4, 5, 6, 7, 8 }
    };
    static const struct session_move_message move = { .kind = MOVE_RELEASED,
                                                      .from = 0x80200001,
                                                      .to = 0x80400002,
                                                      .number = 0xfedcba9876543210,
                                                      .id = "0123456789abcdef0123456789abcdef" };
    static const struct voice_state_change left = { .state = { .guild_id = 41, .user_id = 42 } };
    struct voice_state_change muted = { .state = { .guild_id = 43,
                                                   .user_id = 44,
                                                   .channel_id = 45,
                                                   .room_id = 46,
                                                   .salt = { 1, [15] = 2 },
                                                   .may_receive_audio = true,
                                                   .priority = true,
                                                   .stage = true,
                                                   .flags = { GIVEN, 5 },
                                                   .platform = { GIVEN, VOICE_PLATFORM_MOBILE },
                                                   .claim = 47 } };
    muted.next = (struct voice_state_change *)(uintptr_t)&left;
    struct log_entry f = { .origin = 0x80200001,
                           .announced = &first,
                           .revocations = &one,
                           .move = &move,
                           .voices = &muted };

    return log_entry_encode(&f, a);
}

static void log_entry_decodes_to_the_encoded_values(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct log_entry f;

    assert_true(log_entry_decode(make_frame(a), a, &f));
    assert_int_equal(f.origin, 0x80200001);
    const struct emitted_event *n = f.announced;
    assert_non_null(f.move);
    assert_int_equal(f.move->kind, MOVE_RELEASED);
    assert_true(f.move->from == 0x80200001 && f.move->to == 0x80400002);
    assert_true(f.move->number == 0xfedcba9876543210);
    assert_string_equal(f.move->id, "0123456789abcdef0123456789abcdef");
    assert_int_equal(n->event, EVENT_GUILD_MEMBER_UPDATE);
    assert_int_equal(n->to.kind, AUDIENCE_GUILD);
    assert_int_equal(n->to.id, 1);
    assert_int_equal(n->to.channel_id, 2);
    assert_int_equal(n->to.parent_id, 3);
    assert_int_equal(n->to.starter_id, 4);
    assert_int_equal(n->to.thread_type, 12);
    assert_true(n->to.private_thread);
    assert_int_equal(n->to.user_count, 2);
    assert_int_equal(n->to.user_ids[1], 8);
    assert_true(n->to.any_of == UINT64_C(1) << 63);
    assert_int_equal(n->to.hidden_id, 6);
    assert_int_equal(n->guild_id, 11);
    assert_str(n->payload, "{}");
    assert_int_equal(n->routing->member.restrained_until, 99);
    assert_int_equal(event_routing_get_ids(n->routing)[1], 22);
    n = n->next;
    assert_int_equal(n->event, EVENT_MESSAGE_CREATE);
    assert_int_equal(n->member_ids.count, 3);
    assert_null(n->routing);
    assert_str(n->payload, "{\"content\":\"hi\"}");
    assert_null(n->next);
    const struct relay_voice_state *v = &f.voices->state;
    assert_true(v->guild_id == 43 && v->user_id == 44 && v->channel_id == 45 && v->room_id == 46);
    assert_true(v->may_receive_audio && v->priority && v->stage && !v->may_send_audio &&
                !v->may_send_video && v->claim == 47);
    assert_true(v->salt[0] == 1 && v->salt[15] == 2);
    assert_true(v->flags.given == GIVEN && v->flags.value == 5);
    assert_true(v->platform.given == GIVEN && v->platform.value == VOICE_PLATFORM_MOBILE);
    assert_true(f.voices->next->state.flags.given != GIVEN);
    assert_true(f.voices->next->state.platform.given != GIVEN);
    assert_true(f.voices->next->state.user_id == 42 && !f.voices->next->state.channel_id);
    assert_null(f.voices->next->next);
    assert_int_equal(f.revocations->account, 30);
    assert_true(f.revocations->one && f.revocations->session[7] == 8);
    assert_int_equal(f.revocations->next->application, 31);
    assert_true(f.revocations->next->applications_only && !f.revocations->next->one);
    arena_free(a);
}

static void truncated_or_extended_log_entry_is_refused(void **state)
{
    (void)state;
    struct arena *a = arena_new(), *scratch = arena_new();
    struct str whole = make_frame(a);
    struct log_entry f;

    for (size_t n = 0; n < whole.n; n++) {
        /* Decode an exact copy, so that the address sanitizer detects reads beyond its end. */
        char *cut = mem_resize(NULL, n ? n : 1);

        memcpy(cut, whole.p, n);
        assert_false(log_entry_decode(str_slice(cut, n), scratch, &f));
        mem_free(cut);
        arena_reset(scratch);
    }
    assert_false(log_entry_decode(STR_CONCAT(a, whole, STR("x")), scratch, &f));
    arena_free(scratch);
    arena_free(a);
}

static void corrupted_log_entry_is_not_read_beyond_its_end(void **state)
{
    (void)state;
    struct arena *a = arena_new(), *scratch = arena_new();
    struct str whole = make_frame(a);
    unsigned random = 1;
    struct log_entry f;

    for (int round = 0; round < 20000; round++) {
        char *bytes = mem_resize(NULL, whole.n);

        memcpy(bytes, whole.p, whole.n);
        for (int i = 0; i < 3; i++) {
            random = random * 1103515245 + 12345;
            bytes[random / 65536 % whole.n] = (char)(random >> 8);
        }
        log_entry_decode(str_slice(bytes, whole.n), scratch, &f);
        mem_free(bytes);
        arena_reset(scratch);
    }
    arena_free(scratch);
    arena_free(a);
}

static void unknown_event_of_a_newer_server_is_skipped(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct str whole = make_frame(a);
    char *bytes = str_dup_cstring(a, whole);
    struct log_entry f;

    char *name = memmem(bytes, whole.n, "GUILD_MEMBER_UPDATE", 19);
    assert_non_null(name);
    memcpy(name, "GUILD_MEMBER_FOLDED", 19);
    assert_true(log_entry_decode(str_slice(bytes, whole.n), a, &f));
    assert_int_equal(f.announced->event, EVENT_MESSAGE_CREATE);
    assert_null(f.announced->next);
    assert_int_equal(f.revocations->account, 30);
    arena_free(a);
}

static void log_entries_with_only_transient_events_are_not_stored(void **state)
{
    (void)state;
    struct emitted_event message = { .event = EVENT_MESSAGE_CREATE };
    struct emitted_event typing = { .event = EVENT_TYPING_START };
    struct revocation_record one = { .account = 1 };

    assert_false(log_entry_must_be_stored(&(struct log_entry){ 0 }));
    assert_false(log_entry_must_be_stored(&(struct log_entry){ .announced = &typing }));
    assert_true(
        log_entry_must_be_stored(&(struct log_entry){ .announced = &typing, .revocations = &one }));
    typing.next = &message;
    assert_true(log_entry_must_be_stored(&(struct log_entry){ .announced = &typing }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_entry_decodes_to_the_encoded_values),
        cmocka_unit_test(truncated_or_extended_log_entry_is_refused),
        cmocka_unit_test(corrupted_log_entry_is_not_read_beyond_its_end),
        cmocka_unit_test(unknown_event_of_a_newer_server_is_skipped),
        cmocka_unit_test(log_entries_with_only_transient_events_are_not_stored),
    };

    return cmocka_run_group_tests_name("cluster/frames", tests, NULL, NULL);
}
