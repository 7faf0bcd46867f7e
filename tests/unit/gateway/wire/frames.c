/* frames.c - tests that a frame shared by many sockets equals a frame made for one socket. */
#include "unit/unit.h"

#include "base/mem.h"
#include "gateway/wire/codec.h"
#include "gateway/wire/frames.h"
#include "gateway/wire/compressor.h"
#include "net/websocket/websocket.h"

static struct {
    struct shared_event_frame frames[PAYLOAD_FORMS];
    struct compressor *packer;
    struct arena *arena;
} location;

static int prepare(void **state)
{
    (void)state;
    location.packer = deflate_compressor_new();
    location.arena = arena_new();
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    shared_frames_free(location.frames);
    deflate_compressor_free(location.packer);
    arena_free(location.arena);
    return 0;
}

static struct str frame(uint64_t seq, struct gateway_event *n, unsigned form)
{
    return get_shared_frame_for_seq(location.frames, seq, n, form, location.packer, location.arena);
}

/* The parts together are the message without its frame. */
static void check_parts(uint64_t seq, struct gateway_event *n, unsigned form, struct str message)
{
    char room[FRAME_PREFIX_MAX];
    struct str parts[FRAME_PARTS];
    struct buf all;

    buf_init(&all, 1 << 20);
    build_dispatch_frame_parts(seq, n, form, location.packer, location.arena, room, parts);
    for (size_t i = 0; i < FRAME_PARTS; i++)
        buf_add_str(&all, parts[i]);
    assert_true(str_eq(buf_as_str(&all), message));
    buf_clear(&all);
}

/* PAYLOAD_SPACEBAR occurs alone or compressed. */
static bool form_is_used(unsigned form)
{
    return !(form & PAYLOAD_SPACEBAR) || !(form & ~(unsigned)(PAYLOAD_SPACEBAR | PAYLOAD_DEFLATED));
}

/* Encodes and frames the message for this socket alone and compares. */
static void check_frame(uint64_t seq, struct gateway_event *n, unsigned form)
{
    struct wire_format d = { .etf = form & PAYLOAD_ETF,
                             .spacebar = form & PAYLOAD_SPACEBAR,
                             .compression =
                                 form & PAYLOAD_DEFLATED ? COMPRESS_ZLIB : COMPRESS_NONE };
    struct message_encoder c = { .dialect = &d,
                                 .packer = location.packer,
                                 .arena = location.arena };
    struct buf message, want;

    buf_init(&message, 1 << 20);
    buf_init(&want, 1 << 20);
    bool text = encode_dispatch(&c, seq, n, form & PAYLOAD_WITHOUT_CONTENT, &message);
    ws_append_frame(&want, text ? WS_TEXT : WS_BINARY, buf_as_str(&message));
    struct str got = frame(seq, n, form);
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    check_parts(seq, n, form, buf_as_str(&message));
    buf_clear(&message);
    buf_clear(&want);
}

static struct gateway_event *message_of(size_t n)
{
    struct buf b;

    buf_init(&b, n + 100);
    buf_add_lit(&b, "{\"id\":\"1\",\"content\":\"");
    for (size_t i = 0; i < n; i++)
        buf_add_char(&b, (char)('a' + i * 7 % 23));
    buf_add_lit(&b, "\"}");
    struct gateway_event *made =
        gateway_event_new(EVENT_MESSAGE_CREATE, audience_of_guild(1), buf_as_str(&b));
    buf_clear(&b);
    return made;
}

/* Sequence numbers have as many digits as the number before, more, or fewer. */
static void shared_frames_have_the_sequence_number_of_each_socket(void **state)
{
    static const uint64_t numbers[] = { 1,  1,    9,    10,    12,     99, 100,           7,
                                        70, 9999, 1000, 65536, 100000, 9,  UINT64_MAX / 3 };
    static const size_t sizes[] = { 0, 20, 70, 125, 1000, 70000 };

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        struct gateway_event *n = message_of(sizes[s]);

        for (size_t i = 0; i < COUNT_OF(numbers); i++)
            for (unsigned form = 0; form < PAYLOAD_FORMS; form++)
                if (form_is_used(form) && (!(form & PAYLOAD_ETF) || numbers[i] <= INT64_MAX))
                    check_frame(numbers[i], n, form);
        gateway_event_unref(n);
    }
}

/* A new event may have the memory address of a freed one. */
static void cached_frame_is_not_used_for_another_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < 50; i++) {
        struct gateway_event *n = message_of(10 + i % 3);

        check_frame(i + 1, n, 0);
        gateway_event_unref(n);
    }
    shared_frames_release_events(location.frames);
    for (unsigned form = 0; form < PAYLOAD_FORMS; form++)
        assert_null(location.frames[form].event);
}

static void large_frames_are_freed(void **state)
{
    struct gateway_event *n = message_of(3 << 20);

    (void)state;
    assert_true(frame(1, n, 0).n > 3 << 20);
    shared_frames_release_events(location.frames);
    assert_null(location.frames[0].bytes.p);
    gateway_event_unref(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_frames_have_the_sequence_number_of_each_socket),
        cmocka_unit_test(cached_frame_is_not_used_for_another_event),
        cmocka_unit_test(large_frames_are_freed),
    };

    return cmocka_run_group_tests(tests, prepare, clean_up);
}
