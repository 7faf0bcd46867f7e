/* chunked_body.c - tests the parsing of chunked bodies, whole and in every pair of pieces. */
#include "unit/unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/http/http_parser.h"

enum { MAX_BODY = 32 };

struct reading {
    const char *name;
    struct str bytes;
    const char *expect; /* the body and " done" or " more"; or a status */
    size_t rest;        /* bytes left for the next request */
};

static const struct reading readings[] = {
    { "no chunk", STR_INIT("0\r\n\r\n"), " done" },
    { "one chunk", STR_INIT("5\r\nHello\r\n0\r\n\r\n"), "Hello done" },
    { "two chunks", STR_INIT("3\r\nHel\r\n2\r\nlo\r\n0\r\n\r\n"), "Hello done" },
    { "sizes in hex", STR_INIT("a\r\n0123456789\r\nA\r\nabcdefghij\r\n0\r\n\r\n"),
      "0123456789abcdefghij done" },
    { "zeros before a size", STR_INIT("0005\r\nHello\r\n000\r\n\r\n"), "Hello done" },
    { "line ends inside a chunk", STR_INIT("4\r\n\r\n\r\n\r\n0\r\n\r\n"), "\r\n\r\n done" },
    { "what follows is left", STR_INIT("1\r\na\r\n0\r\n\r\nGET /"), "a done", 5 },
    { "half a size", STR_INIT("1"), " more" },
    { "half a chunk", STR_INIT("5\r\nHel"), "Hel more" },
    { "a chunk without its end", STR_INIT("1\r\na\r\n0\r\n"), "a more" },

    { "no size", STR_INIT("\r\n"), "-400" },
    { "a size that is no number", STR_INIT("x\r\n"), "-400" },
    { "a size with 0x", STR_INIT("0x5\r\nHello\r\n"), "-400" },
    { "a size with plus", STR_INIT("+5\r\nHello\r\n"), "-400" },
    { "a size with minus", STR_INIT("-1\r\n"), "-400" },
    { "a space before the size", STR_INIT(" 5\r\nHello\r\n"), "-400" },
    { "a space behind the size", STR_INIT("5 \r\nHello\r\n"), "-400" },
    { "a size of 64 bits waits for that much", STR_INIT("ffffffffffffffff\r\n"), " more" },
    { "a size past 64 bits", STR_INIT("10000000000000000\r\n"), "-400" },
    { "a size past 64 bits with zeros before", STR_INIT("00ffffffffffffffff0\r\n"), "-400" },
    { "a bare LF behind a size", STR_INIT("5\nHello\r\n"), "-400" },
    { "a bare CR behind a size", STR_INIT("5\rHello\r\n"), "-400" },
    { "a bare LF behind a chunk", STR_INIT("5\r\nHello\n0\r\n\r\n"), "-400" },
    { "a bare CR behind a chunk", STR_INIT("5\r\nHello\r0\r\n\r\n"), "-400" },
    { "a chunk longer than its size", STR_INIT("4\r\nHello\r\n"), "-400" },
    { "a chunk shorter than its size", STR_INIT("6\r\nHello\r\n0\r\n\r\n"), "-400" },
    { "a bare LF at the end", STR_INIT("0\r\n\n"), "-400" },
    { "a bare CR at the end", STR_INIT("0\r\n\rx"), "-400" },

    { "an extension", STR_INIT("5;a=b\r\nHello\r\n0;c\r\n\r\n"), "Hello done" },
    { "an extension in quotes", STR_INIT("5;a=\"b c;\"\r\nHello\r\n0\r\n\r\n"), "Hello done" },
    { "a bare LF in an extension", STR_INIT("5;a\nb\r\nHello\r\n"), "-400" },
    { "a bare CR in an extension", STR_INIT("5;a\rb\r\nHello\r\n"), "-400" },
    { "a control in an extension", STR_INIT("5;a\x01\r\nHello\r\n"), "-400" },
    { "NUL in an extension", STR_INIT("5;a\0\r\nHello\r\n"), "-400" },

    { "a trailer", STR_INIT("0\r\nA: b\r\n\r\n"), " done" },
    { "two trailers", STR_INIT("0\r\nA: b\r\nC:\r\n\r\n"), " done" },
    { "a trailer without name", STR_INIT("0\r\n: b\r\n\r\n"), "-400" },
    { "a trailer without colon", STR_INIT("0\r\nA\r\n\r\n"), "-400" },
    { "a trailer with a space before its colon", STR_INIT("0\r\nA : b\r\n\r\n"), "-400" },
    { "a folded trailer", STR_INIT("0\r\nA: b\r\n c\r\n\r\n"), "-400" },
    { "a bare LF behind a trailer", STR_INIT("0\r\nA: b\n\r\n"), "-400" },
    { "a bare CR in a trailer", STR_INIT("0\r\nA: b\rc\r\n\r\n"), "-400" },
    { "NUL in a trailer", STR_INIT("0\r\nA: \0\r\n\r\n"), "-400" },

    { "a body as long as it may be",
      STR_INIT("20\r\n01234567890123456789012345678901\r\n0\r\n\r\n"),
      "01234567890123456789012345678901 done" },
    { "a body longer than it may be",
      STR_INIT("21\r\n012345678901234567890123456789012\r\n0\r\n\r\n"), "-413" },
    { "a body too long by its second chunk",
      STR_INIT("20\r\n01234567890123456789012345678901\r\n1\r\n2\r\n0\r\n\r\n"), "-413" },
};

static long feed(struct http_chunk_decoder *c, struct str piece, struct buf *out, bool *ret_done)
{
    char *copy = malloc(piece.n + !piece.n);

    if (piece.n)
        memcpy(copy, piece.p, piece.n);
    long used = http_decode_chunks(c, str_slice(copy, piece.n), out, ret_done);
    free(copy);
    return used;
}

static void check_chunks_in_pieces(const struct reading *c, size_t first, size_t step)
{
    struct http_chunk_decoder chunks = { 0 };
    struct buf body, out;
    size_t at = 0, n = first;
    bool done = false;
    long used;

    buf_init(&body, MAX_BODY);
    buf_init(&out, 4096);
    do {
        used = feed(&chunks, str_slice(c->bytes.p + at, n), &body, &done);
        at += used > 0 ? (size_t)used : 0;
        if (used >= 0 && !done)
            assert_int_equal(used, n);
        n = c->bytes.n - at < step ? c->bytes.n - at : step;
    } while (used >= 0 && !done && n);
    if (used < 0) {
        buf_printf(&out, "%ld", used);
    } else {
        buf_add_str(&out, buf_as_str(&body));
        buf_printf(&out, done ? " done" : " more");
        assert_int_equal(c->bytes.n - at, c->rest);
    }
    if (!str_is(buf_as_str(&out), c->expect))
        fail_msg("%s: '%.*s' instead of '%s' (%zu, then %zu a piece)", c->name,
                 STR_ARGS(buf_as_str(&out)), c->expect, first, step);
    buf_clear(&body);
    buf_clear(&out);
}

static void chunked_bodies_are_parsed_equally_in_all_pieces(void **state)
{
    const struct reading *c = *state;

    for (size_t first = 0; first <= c->bytes.n; first++) {
        check_chunks_in_pieces(c, first, c->bytes.n);
        check_chunks_in_pieces(c, first, 1);
    }
}

static void add_times(struct buf *b, char c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add_char(b, c);
}

static long read_all(const struct buf *bytes)
{
    struct http_chunk_decoder chunks = { 0 };
    struct buf body;
    bool done;

    buf_init(&body, MAX_BODY);
    long used = http_decode_chunks(&chunks, buf_as_str(bytes), &body, &done);
    buf_clear(&body);
    return used;
}

static void chunk_size_line_length_is_limited(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_lit(&b, "1;");
    add_times(&b, 'a', HTTP_MAX_CHUNK_LINE - 2);
    buf_add_lit(&b, "\r\nx\r\n");
    /* The limit applies to each chunk separately. */
    add_times(&b, '0', HTTP_MAX_CHUNK_LINE);
    buf_add_lit(&b, "\r\n\r\n");
    assert_int_equal(read_all(&b), b.n);

    buf_reset(&b);
    buf_add_lit(&b, "1;");
    add_times(&b, 'a', HTTP_MAX_CHUNK_LINE - 1);
    assert_int_equal(read_all(&b), -400);
    buf_reset(&b);
    add_times(&b, '0', HTTP_MAX_CHUNK_LINE + 1);
    assert_int_equal(read_all(&b), -400);
    buf_clear(&b);
}

static void chunked_trailers_size_is_limited(void **state)
{
    (void)state;
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_lit(&b, "0\r\nA:");
    add_times(&b, 'a', HTTP_MAX_TRAILERS - strlen("A:\r\n\r\n"));
    buf_add_lit(&b, "\r\n\r\n");
    assert_int_equal(read_all(&b), b.n);

    buf_reset(&b);
    buf_add_lit(&b, "0\r\nA:");
    add_times(&b, 'a', HTTP_MAX_TRAILERS - strlen("A:") + 1);
    assert_int_equal(read_all(&b), -431);
    buf_clear(&b);
}

static void chunk_reader_consumes_nothing_after_the_last_chunk(void **state)
{
    (void)state;
    struct http_chunk_decoder chunks = { 0 };
    struct buf body;
    bool done;

    buf_init(&body, MAX_BODY);
    assert_int_equal(http_decode_chunks(&chunks, STR("0\r\n\r\n"), &body, &done), 5);
    assert_true(done);
    assert_int_equal(http_decode_chunks(&chunks, STR("1\r\na\r\n"), &body, &done), 0);
    assert_true(done);
    buf_clear(&body);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(chunk_size_line_length_is_limited),
        cmocka_unit_test(chunked_trailers_size_is_limited),
        cmocka_unit_test(chunk_reader_consumes_nothing_after_the_last_chunk),
    };
    struct CMUnitTest tests[COUNT_OF(readings) + COUNT_OF(others)];

    for (size_t i = 0; i < COUNT_OF(readings); i++)
        tests[i] =
            (struct CMUnitTest){ .name = readings[i].name,
                                 .test_func = chunked_bodies_are_parsed_equally_in_all_pieces,
                                 .initial_state = (void *)(uintptr_t)&readings[i] };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        tests[COUNT_OF(readings) + i] = others[i];
    return cmocka_run_group_tests_name("net/chunks", tests, NULL, NULL);
}
