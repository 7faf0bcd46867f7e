/* http_parser.c - tests the parsing of request heads, whole and truncated at every byte, and of
 * header values. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/http/http_parser.h"

#define H         "Host: h\r\n"
#define GET(x)    "GET / HTTP/1.1\r\n" H x "\r\n"
#define GET10(x)  "GET / HTTP/1.0\r\n" x "\r\n"
#define POST(x)   "POST / HTTP/1.1\r\n" H x "\r\n"
#define TARGET(t) "GET " t " HTTP/1.1\r\n" H "\r\n"

struct reading {
    const char *name;
    struct str head;
    const char *expect; /* a summary, or a status, or "more" */
};

static const struct reading readings[] = {
    /* The request line. */
    { "a plain request", STR_INIT(GET("")), "GET / ? 1.1 host=h keep" },
    { "a path and a query", STR_INIT(TARGET("/a/b?c=d?e")), "GET /a/b ?c=d?e 1.1 host=h keep" },
    { "an empty query", STR_INIT(TARGET("/a?")), "GET /a ? 1.1 host=h keep" },
    { "escapes are left alone", STR_INIT(TARGET("/%2F?%20")), "GET /%2F ?%20 1.1 host=h keep" },
    { "all the methods: HEAD", STR_INIT("HEAD / HTTP/1.1\r\n" H "\r\n"),
      "HEAD / ? 1.1 host=h keep" },
    { "all the methods: PUT", STR_INIT("PUT / HTTP/1.1\r\n" H "\r\n"), "PUT / ? 1.1 host=h keep" },
    { "all the methods: PATCH", STR_INIT("PATCH / HTTP/1.1\r\n" H "\r\n"),
      "PATCH / ? 1.1 host=h keep" },
    { "all the methods: DELETE", STR_INIT("DELETE / HTTP/1.1\r\n" H "\r\n"),
      "DELETE / ? 1.1 host=h keep" },
    { "a method we do not know", STR_INIT("PURGE / HTTP/1.1\r\n" H "\r\n"),
      "OTHER / ? 1.1 host=h keep" },
    { "methods have a case", STR_INIT("get / HTTP/1.1\r\n" H "\r\n"), "OTHER / ? 1.1 host=h keep" },
    { "no method", STR_INIT(" / HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "a method that is no token", STR_INIT("G@T / HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "two spaces behind the method", STR_INIT("GET  / HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "two spaces behind the target", STR_INIT("GET /  HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "a tab behind the method", STR_INIT("GET\t/ HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "a space behind the version", STR_INIT("GET / HTTP/1.1 \r\n" H "\r\n"), "-400" },
    { "a fragment in the target", STR_INIT(TARGET("/a#b")), "-400" },
    { "a control in the target", STR_INIT(TARGET("/a\x01")), "-400" },
    { "NUL in the target", STR_INIT(TARGET("/a\0b")), "-400" },
    { "DEL in the target", STR_INIT(TARGET("/abcdefghijk\x7f")), "-400" },
    { "DEL far into the target", STR_INIT(TARGET("/abcdefghijk\x7fxyzxyzxyz")), "-400" },
    { "a byte past ASCII in the target", STR_INIT(TARGET("/abcdefghijk\x80xyz")), "-400" },
    { "a fragment far into the target", STR_INIT(TARGET("/abcdefghijk#xyzxyzxyz")), "-400" },
    { "every sign a target may hold", STR_INIT(TARGET("/!\"$%&'()*+,-./09:;<=>@AZ[\\]^_`az{|}~")),
      "GET /!\"$%&'()*+,-./09:;<=>@AZ[\\]^_`az{|}~ ? 1.1 host=h keep" },
    { "a target without slash", STR_INIT(TARGET("abc")), "-400" },
    { "a query without path", STR_INIT(TARGET("?a")), "-400" },
    { "a host and port as target", STR_INIT("CONNECT h:443 HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "an absolute target", STR_INIT(TARGET("http://x:8080/a?b")),
      "GET /a ?b 1.1 host=x:8080 keep" },
    { "an absolute target in another case", STR_INIT(TARGET("HTTPS://x/a")),
      "GET /a ? 1.1 host=x keep" },
    { "an absolute target without path", STR_INIT(TARGET("http://x")), "GET / ? 1.1 host=x keep" },
    { "an absolute target with a query only", STR_INIT(TARGET("http://x?b")),
      "GET / ?b 1.1 host=x keep" },
    { "an absolute target without host", STR_INIT(TARGET("http:///a")), "-400" },
    { "an absolute target that stops at its scheme", STR_INIT(TARGET("http://")), "-400" },
    { "an absolute target with a user", STR_INIT(TARGET("http://u@x/")), "-400" },
    { "an absolute target of another scheme", STR_INIT(TARGET("ftp://x/a")), "-400" },
    { "an absolute target still needs a Host", STR_INIT("GET http://x/ HTTP/1.1\r\n\r\n"), "-400" },
    { "the asterisk for OPTIONS", STR_INIT("OPTIONS * HTTP/1.1\r\n" H "\r\n"),
      "OPTIONS * ? 1.1 host=h keep" },
    { "the asterisk for GET", STR_INIT(TARGET("*")), "-400" },
    { "the asterisk with more", STR_INIT("OPTIONS *a HTTP/1.1\r\n" H "\r\n"), "-400" },
    { "no version", STR_INIT("GET /\r\n" H "\r\n"), "-400" },
    { "version 1.0", STR_INIT(GET10("")), "GET / ? 1.0" },
    { "version 1.2", STR_INIT("GET / HTTP/1.2\r\n" H "\r\n"), "-505" },
    { "version 2.0", STR_INIT("GET / HTTP/2.0\r\n" H "\r\n"), "-505" },
    { "version 0.9", STR_INIT("GET / HTTP/0.9\r\n" H "\r\n"), "-505" },
    { "the preface of HTTP/2", STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "-400" },
    { "a version in small letters", STR_INIT("GET / http/1.1\r\n" H "\r\n"), "-400" },
    { "a version of two digits", STR_INIT("GET / HTTP/1.10\r\n" H "\r\n"), "-400" },
    { "a version cut short", STR_INIT("GET / HTTP/1\r\n" H "\r\n"), "-400" },
    { "a version of another protocol", STR_INIT("GET / ICAP/1.1\r\n" H "\r\n"), "-400" },

    /* Line ends. */
    { "one empty line before", STR_INIT("\r\n" GET("")), "GET / ? 1.1 host=h keep" },
    { "two empty lines before", STR_INIT("\r\n\r\n" GET("")), "-400" },
    { "a bare LF before", STR_INIT("\n" GET("")), "-400" },
    { "a bare CR before", STR_INIT("\r" GET("")), "-400" },
    { "a bare LF behind the version", STR_INIT("GET / HTTP/1.1\n" H "\r\n"), "-400" },
    { "a bare CR behind the version", STR_INIT("GET / HTTP/1.1\r" H "\r\n"), "-400" },
    { "a bare LF behind a header", STR_INIT("GET / HTTP/1.1\r\nHost: h\n\r\n"), "-400" },
    { "a bare CR in a header", STR_INIT(GET("A: b\rC: d\r\n")), "-400" },
    { "a bare LF at the end", STR_INIT("GET / HTTP/1.1\r\n" H "\n"), "-400" },
    { "a bare CR at the end", STR_INIT("GET / HTTP/1.1\r\n" H "\rx"), "-400" },
    { "nothing yet", STR_INIT(""), "more" },
    { "half a head", STR_INIT("GET / HTTP/1.1\r\nHost: h\r\n"), "more" },
    { "an empty line and nothing else", STR_INIT("\r\n"), "more" },

    /* Header lines. */
    { "white space around values", STR_INIT("GET / HTTP/1.1\r\nHost: \t h\t \r\n\r\n"),
      "GET / ? 1.1 host=h keep" },
    { "no white space before values", STR_INIT("GET / HTTP/1.1\r\nHost:h\r\n\r\n"),
      "GET / ? 1.1 host=h keep" },
    { "names in any case", STR_INIT("POST / HTTP/1.1\r\nhOST: h\r\ncontent-LENGTH: 3\r\n\r\n"),
      "POST / ? 1.1 host=h length=3 keep" },
    { "an empty value", STR_INIT(GET("A:\r\nB: \r\n")), "GET / ? 1.1 host=h keep" },
    { "tabs and bytes past ASCII in values", STR_INIT(GET("A: a\tb\x80\xff and so on\r\n")),
      "GET / ? 1.1 host=h keep" },
    { "a folded header", STR_INIT(GET("A: b\r\n c\r\n")), "-400" },
    { "a header folded with a tab", STR_INIT(GET("A: b\r\n\tc\r\n")), "-400" },
    { "a folded first header", STR_INIT("GET / HTTP/1.1\r\n Host: h\r\n\r\n"), "-400" },
    { "a space before the colon", STR_INIT("GET / HTTP/1.1\r\nHost : h\r\n\r\n"), "-400" },
    { "a tab before the colon", STR_INIT("GET / HTTP/1.1\r\nHost\t: h\r\n\r\n"), "-400" },
    { "no name", STR_INIT(GET(": a\r\n")), "-400" },
    { "no colon", STR_INIT(GET("A\r\n")), "-400" },
    { "a name that is no token", STR_INIT(GET("A(b): c\r\n")), "-400" },
    { "a name past ASCII", STR_INIT(GET("\xc3\xa4: c\r\n")), "-400" },
    { "NUL in a name", STR_INIT(GET("A\0: c\r\n")), "-400" },
    { "NUL in a value", STR_INIT(GET("A: abcdefghij\0klmnop\r\n")), "-400" },
    { "a control in a value", STR_INIT(GET("A: abcdefghij\x1fklmnop\r\n")), "-400" },
    { "DEL in a value", STR_INIT(GET("A: abcdefghij\x7fklmnop\r\n")), "-400" },
    { "names that end like known ones",
      STR_INIT(GET("Xonnection: close\r\nXontent-Length: x\r\nXransfer-Encoding: x\r\n")),
      "GET / ? 1.1 host=h keep" },
    { "names that begin like known ones",
      STR_INIT(GET("Hosts: a\r\nContent-Lengt_: x\r\nTransfer-EncodinG-: x\r\n")),
      "GET / ? 1.1 host=h keep" },

    /* Host. */
    { "no Host", STR_INIT("GET / HTTP/1.1\r\n\r\n"), "-400" },
    { "no Host in 1.0", STR_INIT(GET10("")), "GET / ? 1.0" },
    { "two Hosts", STR_INIT(GET("Host: i\r\n")), "-400" },
    { "the same Host twice", STR_INIT(GET(H)), "-400" },
    { "two Hosts in 1.0", STR_INIT(GET10(H H)), "-400" },
    { "an empty Host", STR_INIT("GET / HTTP/1.1\r\nHost:\r\n\r\n"), "GET / ? 1.1 host= keep" },
    { "an address as Host", STR_INIT("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"),
      "GET / ? 1.1 host=[::1]:80 keep" },
    { "a list of Hosts", STR_INIT("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n"), "-400" },
    { "a Host with a space", STR_INIT("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), "-400" },
    { "a Host with a path", STR_INIT("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), "-400" },
    { "a Host with a user", STR_INIT("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"), "-400" },

    /* Other headers that may come once. */
    { "two Authorizations", STR_INIT(GET("Authorization: a\r\nAuthorization: b\r\n")), "-400" },
    { "two Content-Types", STR_INIT(POST("Content-Type: a/b\r\nContent-Type: c/d\r\n")), "-400" },

    /* Content-Length. */
    { "a length", STR_INIT(POST("Content-Length: 42\r\n")), "POST / ? 1.1 host=h length=42 keep" },
    { "a length of nothing", STR_INIT(POST("Content-Length: 0\r\n")),
      "POST / ? 1.1 host=h length=0 keep" },
    { "the largest length", STR_INIT(POST("Content-Length: 9223372036854775807\r\n")),
      "POST / ? 1.1 host=h length=9223372036854775807 keep" },
    { "a length of 2^63", STR_INIT(POST("Content-Length: 9223372036854775808\r\n")), "-400" },
    { "a length past 64 bits", STR_INIT(POST("Content-Length: 18446744073709551621\r\n")), "-400" },
    { "a length with plus", STR_INIT(POST("Content-Length: +5\r\n")), "-400" },
    { "a length with minus", STR_INIT(POST("Content-Length: -5\r\n")), "-400" },
    { "a length in hex", STR_INIT(POST("Content-Length: 0x5\r\n")), "-400" },
    { "a length with a space inside", STR_INIT(POST("Content-Length: 5 5\r\n")), "-400" },
    { "a list of lengths", STR_INIT(POST("Content-Length: 5, 5\r\n")), "-400" },
    { "no length", STR_INIT(POST("Content-Length:\r\n")), "-400" },
    { "two lengths", STR_INIT(POST("Content-Length: 5\r\nContent-Length: 6\r\n")), "-400" },
    { "the same length twice", STR_INIT(POST("Content-Length: 5\r\nContent-Length: 5\r\n")),
      "-400" },

    /* Transfer-Encoding. */
    { "chunks", STR_INIT(POST("Transfer-Encoding: chunked\r\n")),
      "POST / ? 1.1 host=h chunked keep" },
    { "chunks in any case", STR_INIT(POST("Transfer-Encoding: cHUNKED\r\n")),
      "POST / ? 1.1 host=h chunked keep" },
    { "chunks in 1.0", STR_INIT(GET10("Transfer-Encoding: chunked\r\n")), "-400" },
    { "chunks, then a length",
      STR_INIT(POST("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")), "-400" },
    { "a length, then chunks",
      STR_INIT(POST("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), "-400" },
    { "chunks twice in one line", STR_INIT(POST("Transfer-Encoding: chunked, chunked\r\n")),
      "-400" },
    { "chunks twice in two lines",
      STR_INIT(POST("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), "-400" },
    { "chunks twice, the second hidden",
      STR_INIT(POST("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")), "-400" },
    { "almost chunks", STR_INIT(POST("Transfer-Encoding: xchunked\r\n")), "-400" },
    { "chunks with a tail", STR_INIT(POST("Transfer-Encoding: chunkedx\r\n")), "-400" },
    { "chunks in quotes", STR_INIT(POST("Transfer-Encoding: \"chunked\"\r\n")), "-400" },
    { "chunks behind a vertical tab",
      STR_INIT(POST("Transfer-Encoding: \x0b"
                    "chunked\r\n")),
      "-400" },
    { "chunks with a parameter", STR_INIT(POST("Transfer-Encoding: chunked;a=b\r\n")), "-400" },
    { "chunks and a comma", STR_INIT(POST("Transfer-Encoding: chunked,\r\n")), "-400" },
    { "a comma and chunks", STR_INIT(POST("Transfer-Encoding: ,chunked\r\n")), "-400" },
    { "chunks not at the end", STR_INIT(POST("Transfer-Encoding: chunked, gzip\r\n")), "-400" },
    { "a coding that is no token", STR_INIT(POST("Transfer-Encoding: gz@ip\r\n")), "-400" },
    { "no coding", STR_INIT(POST("Transfer-Encoding:\r\n")), "-400" },
    { "a coding we do not know", STR_INIT(POST("Transfer-Encoding: gzip\r\n")), "-501" },
    { "a coding we do not know and chunks", STR_INIT(POST("Transfer-Encoding: gzip, chunked\r\n")),
      "-501" },
    { "the coding that was none", STR_INIT(POST("Transfer-Encoding: identity\r\n")), "-501" },

    /* Connection, Upgrade, Expect. */
    { "close", STR_INIT(GET("Connection: close\r\n")), "GET / ? 1.1 host=h" },
    { "close in any case", STR_INIT(GET("Connection: CloSe\r\n")), "GET / ? 1.1 host=h" },
    { "close in a list", STR_INIT(GET("Connection: foo ,\tclose,\r\n")), "GET / ? 1.1 host=h" },
    { "close in a second line", STR_INIT(GET("Connection: keep-alive\r\nConnection: close\r\n")),
      "GET / ? 1.1 host=h" },
    { "close beats keep-alive", STR_INIT(GET("Connection: close, keep-alive\r\n")),
      "GET / ? 1.1 host=h" },
    { "not quite close", STR_INIT(GET("Connection: closed\r\n")), "GET / ? 1.1 host=h keep" },
    { "1.0 closes", STR_INIT(GET10("")), "GET / ? 1.0" },
    { "1.0 with keep-alive", STR_INIT(GET10("Connection: Keep-Alive\r\n")), "GET / ? 1.0 keep" },
    { "an upgrade", STR_INIT(GET("Connection: Upgrade\r\nUpgrade: WebSocket\r\n")),
      "GET / ? 1.1 host=h keep websocket" },
    { "an upgrade among others",
      STR_INIT(GET("Connection: keep-alive, Upgrade\r\nUpgrade: h2c, websocket\r\n")),
      "GET / ? 1.1 host=h keep websocket" },
    { "an upgrade that Connection does not name", STR_INIT(GET("Upgrade: websocket\r\n")),
      "GET / ? 1.1 host=h keep" },
    { "an upgrade to something else", STR_INIT(GET("Connection: upgrade\r\nUpgrade: h2c\r\n")),
      "GET / ? 1.1 host=h keep" },
    { "an upgrade by POST", STR_INIT(POST("Connection: upgrade\r\nUpgrade: websocket\r\n")),
      "POST / ? 1.1 host=h keep" },
    { "an upgrade in 1.0", STR_INIT(GET10("Connection: upgrade\r\nUpgrade: websocket\r\n")),
      "GET / ? 1.0" },
    { "an upgrade with a body",
      STR_INIT(GET("Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n")),
      "GET / ? 1.1 host=h length=1 keep" },
    { "an expectation", STR_INIT(POST("Content-Length: 1\r\nExpect: 100-Continue\r\n")),
      "POST / ? 1.1 host=h length=1 keep expect" },
    { "an expectation without body",
      STR_INIT(POST("Content-Length: 0\r\nExpect: 100-continue\r\n")),
      "POST / ? 1.1 host=h length=0 keep" },
    { "an expectation in 1.0", STR_INIT(GET10("Content-Length: 1\r\nExpect: 100-continue\r\n")),
      "GET / ? 1.0 length=1" },
    { "another expectation", STR_INIT(POST("Expect: 200-ok\r\n")), "-417" },
};

static void describe(struct buf *out, long result, const struct http_request *r)
{
    if (result < 0) {
        buf_printf(out, "%ld", result);
        return;
    }
    buf_printf(out, "%s %.*s ?%.*s 1.%d", http_method_name(r->method), STR_ARGS(r->path),
               STR_ARGS(r->query), r->minor);
    if (r->host.p)
        buf_printf(out, " host=%.*s", STR_ARGS(r->host));
    if (r->has_length)
        buf_printf(out, " length=%llu", (unsigned long long)r->length);
    const bool flags[] = { r->chunked, r->keep_alive, r->expect_continue, r->upgrade_websocket };
    static const char *const names[] = { " chunked", " keep", " expect", " websocket" };
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        buf_printf(out, "%s", flags[i] ? names[i] : "");
}

/* Parses the first n bytes of the head, in memory of exactly that size. */
static long read_first(struct str head, size_t n, struct buf *out)
{
    struct http_request r;
    char *copy = malloc(n + !n);

    if (n)
        memcpy(copy, head.p, n);
    long result = http_parse_head(str_slice(copy, n), &r);
    buf_reset(out);
    if (result == 0)
        buf_add_lit(out, "more");
    else
        describe(out, result, &r);
    free(copy);
    return result;
}

static void request_heads_are_parsed_equally_wherever_they_are_split(void **state)
{
    const struct reading *c = *state;
    struct buf out;
    bool decided = false;

    buf_init(&out, 4096);
    for (size_t n = 0; n <= c->head.n; n++) {
        long result = read_first(c->head, n, &out);

        decided |= result != 0;
        if (!str_is(buf_as_str(&out), decided ? c->expect : "more"))
            fail_msg("%s, cut at %zu: %.*s instead of %s", c->name, n, STR_ARGS(buf_as_str(&out)),
                     c->expect);
        if (result > 0)
            assert_int_equal(result, c->head.n);
    }
    assert_int_equal(decided, strcmp(c->expect, "more") != 0);
    buf_clear(&out);
}

static void bytes_after_a_request_head_are_not_consumed(void **state)
{
    (void)state;
    struct http_request r;

    assert_int_equal(http_parse_head(STR(GET("") "\x00\x01 next"), &r), sizeof(GET("")) - 1);
}

static void request_headers_are_found_by_name(void **state)
{
    (void)state;
    struct http_request r;
    struct str head = STR(POST("Authorization: Bot x\r\nX-A: 1\r\nx-a: 2\r\nContent-Type: a/b\r\n"
                               "Accept-Encoding: gzip\r\nAccept-Encoding: br\r\nX-B: \r\n"));

    assert_int_equal(http_parse_head(head, &r), head.n);
    assert_int_equal(r.header_count, 8);
    assert_str(http_find_header(&r, STR("X-a")), "1");
    assert_str(r.headers[3].value, "2");
    assert_str(r.authorization, "Bot x");
    assert_str(r.content_type, "a/b");
    assert_str(r.accept_encoding, "gzip");
    assert_non_null(http_find_header(&r, STR("x-b")).p);
    assert_int_equal(http_find_header(&r, STR("x-b")).n, 0);
    assert_null(http_find_header(&r, STR("x")).p);
    assert_str(r.method_text, "POST");
    assert_str(r.target, "/");

    /* No state of one request remains for the next. */
    assert_true(http_parse_head(STR(GET("")), &r) > 0);
    assert_null(r.authorization.p);
    assert_null(r.content_type.p);
    assert_int_equal(r.header_count, 1);
}

/* --- limits --------------------------------------------------------------------------- */

static void add_times(struct buf *b, char c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add_char(b, c);
}

/* Returns a head whose request line has n bytes. */
static struct buf long_line(size_t n)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_lit(&b, "GET /");
    add_times(&b, 'a', n - strlen("GET / HTTP/1.1"));
    buf_add_lit(&b, " HTTP/1.1\r\n" H "\r\n");
    return b;
}

static void request_line_length_is_limited(void **state)
{
    (void)state;
    struct http_request r;
    struct buf b = long_line(HTTP_MAX_LINE);

    assert_int_equal(http_parse_head(buf_as_str(&b), &r), b.n);
    buf_clear(&b);
    b = long_line(HTTP_MAX_LINE + 1);
    assert_int_equal(http_parse_head(buf_as_str(&b), &r), -414);
    /* The limit also applies before the end of the line has arrived. */
    assert_int_equal(http_parse_head(str_slice(b.p, HTTP_MAX_LINE + 1), &r), 0);
    assert_int_equal(http_parse_head(str_slice(b.p, HTTP_MAX_LINE + 2), &r), -414);
    buf_clear(&b);

    buf_init(&b, 1 << 20);
    add_times(&b, 'A', HTTP_MAX_LINE + 2);
    assert_int_equal(http_parse_head(buf_as_str(&b), &r), -414);
    buf_clear(&b);
}

/* Returns a head whose headers have n bytes, with the empty line. */
static struct buf long_head(size_t n)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_lit(&b, "GET / HTTP/1.1\r\n" H "A: ");
    add_times(&b, 'a', n - strlen(H "A: \r\n\r\n"));
    buf_add_lit(&b, "\r\n\r\n");
    return b;
}

static void total_header_size_is_limited(void **state)
{
    (void)state;
    struct http_request r;
    size_t line = strlen("GET / HTTP/1.1\r\n");
    struct buf b = long_head(HTTP_MAX_HEAD);

    assert_int_equal(http_parse_head(buf_as_str(&b), &r), b.n);
    assert_int_equal(http_parse_head(str_slice(b.p, b.n - 1), &r), 0);
    buf_clear(&b);
    b = long_head(HTTP_MAX_HEAD + 1);
    assert_int_equal(http_parse_head(buf_as_str(&b), &r), -431);
    assert_int_equal(http_parse_head(str_slice(b.p, line + HTTP_MAX_HEAD - 1), &r), 0);
    assert_int_equal(http_parse_head(str_slice(b.p, line + HTTP_MAX_HEAD), &r), -431);
    buf_clear(&b);
}

static void number_of_header_lines_is_limited(void **state)
{
    (void)state;
    struct http_request r;
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_lit(&b, "GET / HTTP/1.1\r\n" H);
    for (int i = 1; i < HTTP_MAX_HEADERS; i++)
        buf_add_lit(&b, "A: b\r\n");
    size_t n = b.n;
    buf_add_lit(&b, "\r\n");
    assert_int_equal(http_parse_head(buf_as_str(&b), &r), b.n);
    assert_int_equal(r.header_count, HTTP_MAX_HEADERS);
    b.n = n;
    buf_add_lit(&b, "A");
    assert_int_equal(http_parse_head(buf_as_str(&b), &r), -431);
    buf_clear(&b);
}

/* --- header values -------------------------------------------------------------------- */

static void media_types_are_compared_without_parameters(void **state)
{
    (void)state;
    struct str json = STR("application/json");

    assert_true(http_media_type_is(STR("application/json"), json));
    assert_true(http_media_type_is(STR("Application/JSON ; charset=utf-8"), json));
    assert_true(http_media_type_is(STR("application/json;"), json));
    assert_false(http_media_type_is(STR("application/jsonx"), json));
    assert_false(http_media_type_is(STR("text/plain; application/json"), json));
    assert_false(http_media_type_is((struct str){ 0 }, json));
}

static const struct asking {
    const char *value, *name, *expect; /* NULL: none */
} askings[] = {
    { "multipart/form-data; boundary=abc", "boundary", "abc" },
    { "multipart/form-data;boundary=abc", "boundary", "abc" },
    { "multipart/form-data; BOUNDARY=abc", "Boundary", "abc" },
    { "multipart/form-data ; a=b ; boundary=abc ", "boundary", "abc" },
    { "multipart/form-data; boundary=\"a b;c\"", "boundary", "a b;c" },
    { "multipart/form-data; boundary=\"a\\\"b\\\\\"", "boundary", "a\"b\\" },
    { "multipart/form-data; a=\"; boundary=x\"; boundary=y", "boundary", "y" },
    { "multipart/form-data; boundary=a=b/c", "boundary", "a=b/c" },
    { "multipart/form-data;; boundary=abc;", "boundary", "abc" },
    { "multipart/form-data; boundary=\"\"", "boundary", "" },
    { "multipart/form-data; boundary=", "boundary", NULL },
    { "multipart/form-data; boundary", "boundary", NULL },
    { "multipart/form-data; boundary =abc", "boundary", NULL },
    { "multipart/form-data; boundary=\"abc", "boundary", NULL },
    { "multipart/form-data; boundary=\"abc\\", "boundary", NULL },
    { "multipart/form-data; boundaryx=abc", "boundary", NULL },
    { "multipart/form-data; a=b c; boundary=abc", "boundary", NULL },
    { "multipart/form-data; a=b boundary=abc", "boundary", NULL },
    { "boundary=abc", "boundary", NULL },
    { "", "boundary", NULL },
    { "a/b; c=12345678", "c", "12345678" },
    { "a/b; c=123456789", "c", NULL }, /* longer than the buffer */
};

static void header_parameters_are_found_and_unquoted(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT_OF(askings); i++) {
        const struct asking *a = &askings[i];
        char out[8];
        size_t n = 99, only_n = 99;
        bool found =
            http_copy_header_parameter(str_of(a->value), str_of(a->name), out, sizeof out, &n);

        if (found != (a->expect != NULL) || (found && !str_is(str_slice(out, n), a->expect)))
            fail_msg("%s", a->value);
        if (!found)
            assert_int_equal(n, 99);
        if (found) {
            assert_true(
                http_copy_header_parameter(str_of(a->value), str_of(a->name), NULL, 0, &only_n));
            assert_int_equal(only_n, n);
        }
    }
}

static const struct offer {
    const char *value;
    bool gzip;
} offers[] = {
    { "gzip", true },
    { "GZip", true },
    { "deflate, gzip", true },
    { "gzip;q=0.5", true },
    { "gzip ; q=1.000", true },
    { "gzip;Q=0.001", true },
    { "*", true },
    { "br, *;q=0.1", true },
    { "", false },
    { "identity", false },
    { "gzipx", false },
    { "gzip;q=0", false },
    { "gzip;q=0.000", false },
    { "gzip;q=0, *", false },
    { "*, gzip;q=0", false },
    { "*;q=0, gzip", true },
    { "*;q=0", false },
    { "gzip;q=x", false },
    { "gzip;q=", false },
    { "gzip;q=2", false },
    { "gzip;q=0.x1", false },
    { "gzip;level=9", false },
};

static void accept_encoding_is_evaluated(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT_OF(offers); i++)
        if (http_accepts_content_coding(str_of(offers[i].value), STR("gzip")) != offers[i].gzip)
            fail_msg("%s", offers[i].value);
    assert_false(http_accepts_content_coding((struct str){ 0 }, STR("gzip")));
}

static void entity_tags_are_found_in_if_none_match_lists(void **state)
{
    struct str tag = STR("W/\"ab\"");

    (void)state;
    assert_true(http_etag_is_listed(STR("W/\"ab\""), tag));
    assert_true(http_etag_is_listed(STR("\"ab\""), tag));
    assert_true(http_etag_is_listed(STR("\"x\" ,W/\"ab\" "), tag));
    assert_true(http_etag_is_listed(STR("*"), tag));
    assert_false(http_etag_is_listed(STR("ab"), tag));
    assert_false(http_etag_is_listed(STR("\"abc\", \"a\", W/"), tag));
    assert_false(http_etag_is_listed((struct str){ 0 }, tag));
}

static const struct ranging {
    const char *value;
    int64_t size;
    int result;
    int64_t first, last;
} rangings[] = {
    { "bytes=0-99", 1000, 1, 0, 99 },
    { "bytes=0-0", 1000, 1, 0, 0 },
    { "Bytes=0-99", 1000, 1, 0, 99 },
    { "bytes=900-", 1000, 1, 900, 999 },
    { "bytes=900-2000", 1000, 1, 900, 999 },
    { "bytes=900-1000", 1000, 1, 900, 999 },
    { "bytes=999-999", 1000, 1, 999, 999 },
    { "bytes=-1", 1000, 1, 999, 999 },
    { "bytes=-1000", 1000, 1, 0, 999 },
    { "bytes=-2000", 1000, 1, 0, 999 },
    { "bytes=0-99999999999999999999", 1000, 1, 0, 999 },
    { "bytes=1000-", 1000, -1, 0, 0 },
    { "bytes=1000-2000", 1000, -1, 0, 0 },
    { "bytes=99999999999999999999-", 1000, -1, 0, 0 },
    { "bytes=-0", 1000, -1, 0, 0 },
    { "bytes=0-", 0, -1, 0, 0 },
    { "bytes=-5", 0, -1, 0, 0 },
    { "bytes=5-4", 1000, 0, 0, 0 },
    { "bytes=0-1,5-6", 1000, 0, 0, 0 },
    { "bytes=-", 1000, 0, 0, 0 },
    { "bytes=5", 1000, 0, 0, 0 },
    { "bytes=", 1000, 0, 0, 0 },
    { "bytes", 1000, 0, 0, 0 },
    { "bytes=a-b", 1000, 0, 0, 0 },
    { "bytes=+1-5", 1000, 0, 0, 0 },
    { "bytes=--5", 1000, 0, 0, 0 },
    { "items=0-5", 1000, 0, 0, 0 },
    { "", 1000, 0, 0, 0 },
};

static void byte_ranges_are_limited_to_the_file_size(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rangings); i++) {
        const struct ranging *c = &rangings[i];
        int64_t first = 0, last = 0;

        if (http_parse_range(str_of(c->value), c->size, &first, &last) != c->result ||
            first != c->first || last != c->last)
            fail_msg("%s of %lld", c->value, (long long)c->size);
    }
    int64_t first, last;
    assert_int_equal(http_parse_range((struct str){ 0 }, 1000, &first, &last), 0);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(bytes_after_a_request_head_are_not_consumed),
        cmocka_unit_test(request_headers_are_found_by_name),
        cmocka_unit_test(request_line_length_is_limited),
        cmocka_unit_test(total_header_size_is_limited),
        cmocka_unit_test(number_of_header_lines_is_limited),
        cmocka_unit_test(media_types_are_compared_without_parameters),
        cmocka_unit_test(header_parameters_are_found_and_unquoted),
        cmocka_unit_test(accept_encoding_is_evaluated),
        cmocka_unit_test(entity_tags_are_found_in_if_none_match_lists),
        cmocka_unit_test(byte_ranges_are_limited_to_the_file_size),
    };
    struct CMUnitTest tests[COUNT_OF(readings) + COUNT_OF(others)];

    for (size_t i = 0; i < COUNT_OF(readings); i++)
        tests[i] =
            (struct CMUnitTest){ .name = readings[i].name,
                                 .test_func =
                                     request_heads_are_parsed_equally_wherever_they_are_split,
                                 .initial_state = (void *)(uintptr_t)&readings[i] };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        tests[COUNT_OF(readings) + i] = others[i];
    return cmocka_run_group_tests_name("net/http", tests, NULL, NULL);
}
