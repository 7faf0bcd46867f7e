/* fuzz_http.c - fuzzes the HTTP parser. Input: any bytes. A head is parsed from them, the rest
 * is parsed as chunks, and the header values are parsed. The result must not depend on how the
 * bytes are split. */
#include "fuzz.h"

#include "net/http/http_parser.h"

enum { MAX_BODY = 4096 };

/* A truncated head is incomplete until the parser has seen enough to give the result of the
 * whole. */
static void check_cuts(struct str bytes, long whole)
{
    static struct http_request r;
    bool decided = false;
    /* Tests every length of a short input, and some lengths of a long one. */
    size_t step = 1 + bytes.n / 512;

    for (size_t n = 0; n <= bytes.n; n += step) {
        long result = http_parse_head(str_slice(bytes.p, n), &r);

        FUZZ_CHECK(result == whole || (result == 0 && !decided));
        decided = result != 0;
    }
}

static bool is_inside(struct str s, struct str bytes)
{
    return !s.p || (s.p >= bytes.p && s.p + s.n <= bytes.p + bytes.n);
}

static void check_request_is_parsed_equally_in_pieces(const struct http_request *r,
                                                      struct str bytes)
{
    char out[70];
    size_t n;
    int64_t first, last;

    FUZZ_CHECK(is_inside(r->path, bytes) && is_inside(r->query, bytes) &&
               is_inside(r->host, bytes));
    FUZZ_CHECK(r->path.n && (r->path.p[0] == '/' || r->path.p[0] == '*'));
    FUZZ_CHECK(!(r->chunked && r->has_length));
    FUZZ_CHECK(r->minor == 0 || r->host.p);
    FUZZ_CHECK(r->header_count <= HTTP_MAX_HEADERS);
    for (size_t i = 0; i < r->header_count; i++) {
        struct str value = r->headers[i].value;

        FUZZ_CHECK(is_inside(r->headers[i].name, bytes) && is_inside(value, bytes));
        http_media_type_is(value, STR("multipart/form-data"));
        http_accepts_content_coding(value, STR("gzip"));
        if (http_copy_header_parameter(value, STR("boundary"), out, sizeof out, &n))
            FUZZ_CHECK(n <= sizeof out);
        if (http_parse_range(value, 100, &first, &last) == 1)
            FUZZ_CHECK(0 <= first && first <= last && last < 100);
    }
}

/* Feeds pieces of `step` bytes; returns the number of used bytes or a status. */
static long read_chunks(struct str bytes, size_t step, struct buf *out, bool *ret_done)
{
    struct http_chunk_decoder c = { 0 };
    size_t at = 0;

    *ret_done = false;
    while (at < bytes.n && !*ret_done) {
        size_t n = bytes.n - at < step ? bytes.n - at : step;
        long used = http_decode_chunks(&c, str_slice(bytes.p + at, n), out, ret_done);

        if (used < 0)
            return used;
        FUZZ_CHECK(*ret_done || (size_t)used == n);
        at += (size_t)used;
    }
    return (long)at;
}

static void check_chunked_body_in_any_pieces(struct str bytes)
{
    struct buf whole, pieces;
    bool done, pieces_done;

    buf_init(&whole, MAX_BODY);
    long used = read_chunks(bytes, bytes.n, &whole, &done);
    for (size_t step = 1; step < 8; step += 2) {
        buf_init(&pieces, MAX_BODY);
        FUZZ_CHECK(read_chunks(bytes, step, &pieces, &pieces_done) == used);
        FUZZ_CHECK(used < 0 ||
                   (pieces_done == done && str_eq(buf_as_str(&whole), buf_as_str(&pieces))));
        buf_clear(&pieces);
    }
    buf_clear(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct http_request r;
    struct str bytes = { (const char *)data, size };
    long head = http_parse_head(bytes, &r);

    if (head > 0) {
        check_request_is_parsed_equally_in_pieces(&r, bytes);
        check_chunked_body_in_any_pieces(str_skip_bytes(bytes, (size_t)head));
    }
    check_cuts(bytes, head);
    return 0;
}
