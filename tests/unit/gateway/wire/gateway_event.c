/* gateway_event.c - tests the encodings of an event that many sessions share, and the replay
 * buffer. */
#include "unit/unit.h"

#include <stdio.h>
#include <zlib.h>

#include "base/mem.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/sessions/replay.h"
#include "gateway/wire/compressor.h"
#include "support/schema_fault.h"

static void each_event_encoding_is_made_once(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    struct compressor *p = deflate_compressor_new();
    struct str payload = STR("{\"content\":\"hi\",\"embeds\":[{}],\"poll\":{},\"id\":\"1\","
                             "\"attachments\":[1],\"components\":[2]}");
    struct gateway_event *n =
        gateway_event_new(EVENT_MESSAGE_CREATE, audience_of_guild(1), payload);

    assert_true(str_eq(gateway_event_get_payload_in_form(n, 0, p, a), payload));
    struct str empty = gateway_event_get_payload_in_form(n, PAYLOAD_WITHOUT_CONTENT, p, a);
    assert_true(str_is(empty, "{\"content\":\"\",\"embeds\":[],\"id\":\"1\",\"attachments\":[],"
                              "\"components\":[]}"));
    assert_ptr_equal(empty.p,
                     gateway_event_get_payload_in_form(n, PAYLOAD_WITHOUT_CONTENT, p, a).p);
    assert_ptr_equal(gateway_event_get_payload_in_form(n, PAYLOAD_DEFLATED, p, a).p,
                     gateway_event_get_payload_in_form(n, PAYLOAD_DEFLATED, p, a).p);
    assert_int_equal((unsigned char)gateway_event_get_payload_in_form(n, PAYLOAD_ETF, p, a).p[0],
                     116);
    gateway_event_unref(n);
    deflate_compressor_free(p);
    arena_free(a);
}

static void long_event_payload_is_not_copied(void **state)
{
    struct arena *a = arena_new();
    struct compressor *p = deflate_compressor_new();
    struct buf out;

    (void)state;
    event_payload_buffer_init(&out, 10);
    buf_add_lit(&out, "{\"a\":1}");
    const char *text = out.p;
    struct gateway_event *n = gateway_event_from_buf(EVENT_READY, audience_of_session(1), &out);
    assert_null(out.p);
    assert_ptr_equal(gateway_event_get_payload(n).p, text + sizeof(struct length_prefixed_bytes));
    assert_str(gateway_event_get_payload(n), "{\"a\":1}");
    assert_int_equal((unsigned char)gateway_event_get_payload_in_form(n, PAYLOAD_ETF, p, a).p[0],
                     116);
    gateway_event_unref(gateway_event_ref(n));
    assert_str(gateway_event_get_payload(n), "{\"a\":1}");
    gateway_event_unref(n);
    /* The buffer's limit applies to the payload. */
    event_payload_buffer_init(&out, 3);
    buf_add_lit(&out, "abc");
    assert_false(buf_is_full(&out));
    buf_add_lit(&out, "d");
    assert_true(buf_is_full(&out));
    buf_clear(&out);
    deflate_compressor_free(p);
    arena_free(a);
}

static void stored_and_compressed_blocks_form_one_zlib_stream(void **state)
{
    (void)state;
    struct compressor *p = deflate_compressor_new();
    struct buf out, want;
    z_stream z = { 0 };
    char *got = mem_new(1 << 20), *big = mem_new(200000);

    buf_init(&out, 1 << 22);
    buf_init(&want, 1 << 22);
    memset(big, 'x', 200000);
    zlib_append_header(&out);
    for (int i = 0; i < 50; i++) {
        char own[32];
        struct str prefix = str_slice(own, (size_t)snprintf(own, sizeof own, "{\"s\":%d,", i));
        struct str parts[] = { i % 10 == 9 ? str_slice(big, (size_t)i * 400)
                                           : STR("\"d\":{\"content\":\"hello hello hello\"}"),
                               STR("}") };

        deflate_append_stored_block(prefix, &out);
        deflate_shared_payload(p, parts, 2, &out);
        assert_memory_equal(out.p + out.n - 4, "\0\0\xff\xff", 4);
        buf_add_str(&want, prefix);
        buf_add_str(&want, parts[0]);
        buf_add_str(&want, parts[1]);
    }
    deflate_append_stored_block(str_slice(big, 200000),
                                &out); /* more than a stored block can hold */
    deflate_append_stored_block(STR(""), &out);
    buf_add(&want, big, 200000);
    assert_int_equal(inflateInit(&z), Z_OK);
    z.next_in = (Bytef *)out.p;
    z.avail_in = (uInt)out.n;
    z.next_out = (Bytef *)got;
    z.avail_out = 1 << 20;
    assert_int_equal(inflate(&z, Z_SYNC_FLUSH), Z_OK);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal((1 << 20) - z.avail_out, want.n);
    assert_memory_equal(got, want.p, want.n);
    inflateEnd(&z);
    buf_clear(&out);
    buf_clear(&want);
    mem_free(got);
    mem_free(big);
    deflate_compressor_free(p);
}

static struct gateway_event *sized(size_t n)
{
    char *text = mem_new(n);
    struct gateway_event *made =
        gateway_event_new(EVENT_USER_UPDATE, audience_of_user(1), str_slice(text, n));

    mem_free(text);
    return made;
}

static void replay_buffer_retains_the_last_events(void **state)
{
    (void)state;
    struct replay_buffer r = { 0 };
    struct gateway_event *list[REPLAY_COUNT + 10];

    for (int i = 0; i < REPLAY_COUNT + 10; i++) {
        list[i] = sized(10);
        replay_buffer_add(&r, list[i], 0, 1000);
        gateway_event_unref(list[i]);
    }
    assert_int_equal(r.count, REPLAY_COUNT);
    for (uint32_t i = 0; i < REPLAY_COUNT; i++)
        assert_ptr_equal(replay_buffer_entry_at(&r, i)->event, list[i + 10]);
    replay_buffer_evict_expired(&r, 1000 + REPLAY_AGE_S);
    assert_int_equal(r.count, REPLAY_COUNT);
    replay_buffer_evict_expired(&r, 1001 + REPLAY_AGE_S);
    assert_int_equal(r.count, 0);
    assert_null(r.oldest); /* an idle session has no memory for events */
}

static size_t bytes_of_pages(const struct replay_buffer *r)
{
    size_t n = 0;

    for (const struct replay_page *page = r->oldest; page; page = page->next)
        n += sizeof *page + page->cap * sizeof *page->items;
    return n;
}

/* 10,000 busy sessions take hundreds of megabytes, so the memory of one is checked here. */
static void full_replay_buffer_takes_at_most_69_kib(void **state)
{
    (void)state;
    struct replay_buffer r = { 0 };
    struct gateway_event *n = sized(10);

    for (int i = 0; i < 3 * REPLAY_COUNT; i++) {
        replay_buffer_add(&r, n, PAYLOAD_WITHOUT_CONTENT, 1000);
        assert_true(i % 100 || bytes_of_pages(&r) <= 69 * 1024);
    }
    assert_int_equal(r.count, REPLAY_COUNT);
    assert_int_equal(r.bytes, REPLAY_COUNT * 10);
    assert_int_equal(replay_buffer_entry_at(&r, REPLAY_COUNT - 1)->form, PAYLOAD_WITHOUT_CONTENT);
    replay_buffer_clear(&r);
    replay_buffer_add(&r, n, 0, 1000);
    assert_true(bytes_of_pages(&r) <= 160); /* a quiet session takes almost nothing */
    replay_buffer_clear(&r);
    gateway_event_unref(n);
}

static void replay_buffer_handles_times_beyond_2038(void **state)
{
    (void)state;
    struct replay_buffer r = { 0 };
    struct gateway_event *n = sized(10);

    for (int64_t i = 0; i < 3; i++)
        replay_buffer_add(&r, n, 0, 4000000000 + i);
    replay_buffer_evict_expired(&r, 4000000001 + REPLAY_AGE_S);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.oldest_s, 4000000001);
    replay_buffer_clear(&r);
    gateway_event_unref(n);
}

static void replay_buffer_expires_events_one_by_one(void **state)
{
    (void)state;
    struct replay_buffer r = { 0 };

    for (int i = 0; i < 3; i++) {
        struct gateway_event *n = sized(10);

        replay_buffer_add(&r, n, 0, 1000 + i);
        gateway_event_unref(n);
    }
    for (uint32_t left = 3; left; left--) {
        replay_buffer_evict_expired(&r, 1003 - left + REPLAY_AGE_S);
        assert_int_equal(r.count, left);
        assert_int_equal(r.oldest_s, 1003 - left);
    }
    replay_buffer_evict_expired(&r, 1003 + REPLAY_AGE_S);
    assert_int_equal(r.count, 0);
}

static void replay_buffer_is_bounded_in_bytes(void **state)
{
    (void)state;
    struct replay_buffer r = { 0 };

    for (int i = 0; i < 5; i++) {
        struct gateway_event *n = sized(REPLAY_BYTES / 4);

        replay_buffer_add(&r, n, 0, 1000);
        gateway_event_unref(n);
        assert_int_equal(r.count, i < 4 ? i + 1 : 4);
    }
    struct gateway_event *huge = sized(REPLAY_BYTES + 1);
    replay_buffer_add(&r, huge, 0, 1000);
    assert_int_equal(r.count, 0);
    gateway_event_unref(huge);
    replay_buffer_clear(&r);
}

static void each_opcode_has_one_row(void **state)
{
    (void)state;
    struct arena *a = arena_new();

    for (const struct gateway_opcode_declaration *r = opcode_rows; r->name; r++) {
        assert_ptr_equal(opcode_find(r->op), r);
        assert_in_range(r->op, 0, OP_MAX);
        if (r->type)
            assert_null(schema_fault(r->type->schema, a));
    }
    assert_null(opcode_find(OP_DISPATCH));
    assert_null(opcode_find(OP_MAX));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_encoding_is_made_once),
        cmocka_unit_test(long_event_payload_is_not_copied),
        cmocka_unit_test(stored_and_compressed_blocks_form_one_zlib_stream),
        cmocka_unit_test(replay_buffer_retains_the_last_events),
        cmocka_unit_test(full_replay_buffer_takes_at_most_69_kib),
        cmocka_unit_test(replay_buffer_handles_times_beyond_2038),
        cmocka_unit_test(replay_buffer_expires_events_one_by_one),
        cmocka_unit_test(replay_buffer_is_bounded_in_bytes),
        cmocka_unit_test(each_opcode_has_one_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
