/* websocket_decode.c - tests the parsing of client frames, whole and in every pair of pieces. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/websocket/websocket.h"

enum { FIN = 0x80, RSV1 = 0x40, RSV2 = 0x20, RSV3 = 0x10 };
enum { TEXT = FIN | WS_TEXT, BINARY = FIN | WS_BINARY, CONTINUE = FIN | WS_CONTINUE };
enum { CLOSE = FIN | WS_CLOSE, PING = FIN | WS_PING, PONG = FIN | WS_PONG };
/* The first byte of a middle fragment is 0; the extra bit distinguishes it from the end of the
 * list. */
enum { FIRST_TEXT = WS_TEXT, FIRST_BINARY = WS_BINARY, MIDDLE = 0x100 | WS_CONTINUE };

/* A client frame: masked and with the shortest length encoding, unless the fields say otherwise. */
struct frame {
    int head; /* first byte */
    struct str payload;
    size_t fill;       /* number of letters 'x' instead of the payload */
    int form;          /* bytes of the extended length: 2 or 8; 0: the shortest */
    bool bare;         /* without a mask */
    uint64_t declared; /* the declared length if it is not the payload's */
    bool cut;          /* end after the length: no mask, no payload */
};

struct reading {
    const char *name;
    struct frame frames[8];
    const char *expect; /* messages in order, then "!code" */
    size_t max;         /* 0: 1000 */
};

/* The lengths come from the literals, which may hold NUL. */
#define P(literal) STR_INIT(literal)

static const struct reading readings[] = {
    { "no bytes are no message", { { 0 } }, "" },
    { "a text message", { { TEXT, P("Hello") } }, "text=Hello " },
    { "a binary message", { { BINARY, P("\x00\xff") } }, "binary=\\00\\ff " },
    { "an empty text message", { { TEXT, P("") } }, "text= " },
    { "an empty binary message", { { BINARY, P("") } }, "binary= " },
    { "a ping", { { PING, P("hi") } }, "ping=hi " },
    { "an empty ping", { { PING, P("") } }, "ping= " },
    { "two pings", { { PING, P("hi") }, { PING, P("ho") } }, "ping=hi ping=ho " },
    { "a pong nobody asked for", { { PONG, P("hi") } }, "pong=hi " },
    { "pings may hold any bytes", { { PING, P("\xff\xfe") } }, "ping=\\ff\\fe " },
    { "two messages in one read", { { TEXT, P("a") }, { BINARY, P("b") } }, "text=a binary=b " },
    { "two fragments", { { FIRST_TEXT, P("Hel") }, { CONTINUE, P("lo") } }, "text=Hello " },
    { "three fragments",
      { { FIRST_BINARY, P("a") }, { MIDDLE, P("b") }, { CONTINUE, P("c") } },
      "binary=abc " },
    { "empty fragments",
      { { FIRST_TEXT, P("") }, { MIDDLE, P("") }, { CONTINUE, P("") } },
      "text= " },
    { "content in the last fragment only",
      { { FIRST_TEXT, P("") }, { MIDDLE, P("") }, { CONTINUE, P("end") } },
      "text=end " },
    { "content in the first fragment only",
      { { FIRST_TEXT, P("start") }, { CONTINUE, P("") } },
      "text=start " },
    { "a ping between fragments",
      { { FIRST_TEXT, P("a") }, { PING, P("?") }, { CONTINUE, P("b") } },
      "ping=? text=ab " },
    { "a pong and a ping between fragments",
      { { FIRST_TEXT, P("a") }, { PONG, P("1") }, { PING, P("2") }, { CONTINUE, P("b") } },
      "pong=1 ping=2 text=ab " },
    { "a close between fragments",
      { { FIRST_TEXT, P("a") }, { CLOSE, P("\x03\xe8") }, { CONTINUE, P("b") } },
      "close=1000: " },
    { "a message after a fragmented one",
      { { FIRST_TEXT, P("a") }, { CONTINUE, P("b") }, { TEXT, P("c") } },
      "text=ab text=c " },

    /* Lengths. */
    { "125 bytes in the short form", { { BINARY, .fill = 125 } }, "binary#125 " },
    { "126 bytes with 16 bits", { { BINARY, .fill = 126 } }, "binary#126 " },
    { "65535 bytes with 16 bits", { { BINARY, .fill = 65535 } }, "binary#65535 ", 70000 },
    { "65536 bytes with 64 bits", { { BINARY, .fill = 65536 } }, "binary#65536 ", 70000 },
    { "125 bytes with 16 bits are refused", { { BINARY, .fill = 125, .form = 2 } }, "!1002" },
    { "no bytes with 16 bits are refused", { { TEXT, P(""), .form = 2 } }, "!1002" },
    { "65535 bytes with 64 bits are refused",
      { { BINARY, .fill = 65535, .form = 8 } },
      "!1002",
      70000 },
    { "5 bytes with 64 bits are refused", { { BINARY, .fill = 5, .form = 8 } }, "!1002" },
    { "a length of 2^63 is refused as malformed",
      { { BINARY, .form = 8, .declared = 1ULL << 63, .cut = true } },
      "!1002" },
    { "a length of 2^63-1 is too large",
      { { BINARY, .form = 8, .declared = INT64_MAX, .cut = true } },
      "!1009" },
    { "the largest message", { { BINARY, .fill = 1000 } }, "binary#1000 " },
    { "one byte past the largest message", { { BINARY, .fill = 1001 } }, "!1009" },
    { "too large is known before the payload",
      { { TEXT, .declared = 1001, .form = 2, .cut = true } },
      "!1009" },
    { "too large is known from seven bits, too",
      { { TEXT, .declared = 101, .cut = true } },
      "!1009",
      100 },
    { "fragments up to the largest message",
      { { FIRST_TEXT, .fill = 900 }, { CONTINUE, .fill = 100 } },
      "text#1000 " },
    { "fragments past the largest message",
      { { FIRST_TEXT, .fill = 900 }, { CONTINUE, .declared = 101, .cut = true } },
      "!1009" },
    { "the limit starts anew with each message",
      { { TEXT, .fill = 900 }, { FIRST_TEXT, .fill = 900 }, { CONTINUE }, { TEXT, .fill = 900 } },
      "text#900 text#900 text#900 " },
    { "pings do not count towards the largest message",
      { { FIRST_TEXT, .fill = 1000 }, { PING, .fill = 125 }, { CONTINUE } },
      "ping#125 text#1000 " },

    /* Header bits. */
    { "no mask", { { TEXT, P("Hello"), .bare = true } }, "!1002" },
    { "no mask on a ping", { { PING, P(""), .bare = true } }, "!1002" },
    { "no mask on a close", { { CLOSE, P(""), .bare = true } }, "!1002" },
    { "the first reserved bit", { { TEXT | RSV1, P("a") } }, "!1002" },
    { "the second reserved bit", { { TEXT | RSV2, P("a") } }, "!1002" },
    { "the third reserved bit", { { TEXT | RSV3, P("a") } }, "!1002" },
    { "a reserved bit on a ping", { { PING | RSV1, P("a") } }, "!1002" },
    { "a reserved bit on a continuation",
      { { FIRST_TEXT, P("a") }, { CONTINUE | RSV1, P("b") } },
      "!1002" },
    { "opcode 3", { { FIN | 3, P("a") } }, "!1002" },
    { "opcode 7", { { FIN | 7, P("a") } }, "!1002" },
    { "opcode 11", { { FIN | 11, P("a") } }, "!1002" },
    { "opcode 15", { { FIN | 15, P("a") } }, "!1002" },
    { "a message before a bad frame still comes out",
      { { TEXT, P("a") }, { FIN | 3, P("b") } },
      "text=a !1002" },
    { "a ping in fragments", { { WS_PING, P("a") } }, "!1002" },
    { "a close in fragments", { { WS_CLOSE, P("") } }, "!1002" },
    { "a ping of 125 bytes", { { PING, .fill = 125 } }, "ping#125 " },
    { "a ping of 126 bytes", { { PING, .fill = 126 } }, "!1002" },
    { "a ping of 65536 bytes", { { PING, .fill = 65536 } }, "!1002", 70000 },
    { "a continuation of nothing", { { CONTINUE, P("a") } }, "!1002" },
    { "a middle of nothing", { { MIDDLE, P("a") } }, "!1002" },
    { "a continuation after the end",
      { { FIRST_TEXT, P("a") }, { CONTINUE, P("b") }, { CONTINUE, P("c") } },
      "text=ab !1002" },
    { "a text inside a message", { { FIRST_TEXT, P("a") }, { TEXT, P("b") } }, "!1002" },
    { "a binary inside a message", { { FIRST_TEXT, P("a") }, { BINARY, P("b") } }, "!1002" },
    { "a second start inside an empty message",
      { { FIRST_TEXT, P("") }, { FIRST_TEXT, P("") } },
      "!1002" },

    /* UTF-8. */
    { "characters of one to four bytes",
      { { TEXT, P("a\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80") } },
      "text=a\\c2\\80\\e0\\a0\\80\\f0\\90\\80\\80 " },
    { "the last characters of each length",
      { { TEXT, P("\x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf") } },
      "text=\\7f\\df\\bf\\ef\\bf\\bf\\f4\\8f\\bf\\bf " },
    { "around the surrogates",
      { { TEXT, P("\xed\x9f\xbf\xee\x80\x80") } },
      "text=\\ed\\9f\\bf\\ee\\80\\80 " },
    { "a character across fragments",
      { { FIRST_TEXT, P("\xe2") }, { MIDDLE, P("\x82") }, { CONTINUE, P("\xac") } },
      "text=\\e2\\82\\ac " },
    { "a character across fragments with a ping inside",
      { { FIRST_TEXT, P("\xe2\x82") }, { PING, P("\xff") }, { CONTINUE, P("\xac") } },
      "ping=\\ff text=\\e2\\82\\ac " },
    { "a surrogate", { { TEXT, P("\xed\xa0\x80") } }, "!1007" },
    { "an overlong slash", { { TEXT, P("\xc0\xaf") } }, "!1007" },
    { "an overlong form of three bytes", { { TEXT, P("\xe0\x9f\xbf") } }, "!1007" },
    { "an overlong form of four bytes", { { TEXT, P("\xf0\x8f\xbf\xbf") } }, "!1007" },
    { "past the last code point", { { TEXT, P("\xf4\x90\x80\x80") } }, "!1007" },
    { "a byte that never begins a character", { { TEXT, P("\xf5\x80\x80\x80") } }, "!1007" },
    { "a continuation byte alone", { { TEXT, P("abcdefgh\x80") } }, "!1007" },
    { "a character cut off by the end", { { TEXT, P("\xe2\x82") } }, "!1007" },
    { "a character cut off by a letter", { { TEXT, P("\xe2\x82z") } }, "!1007" },
    { "a character cut off by the last fragment",
      { { FIRST_TEXT, P("ok\xe2") }, { CONTINUE, P("") } },
      "!1007" },
    { "bad text fails before the message ends",
      { { FIRST_TEXT, P("\xce\xba\xed\xa0") } },
      "!1007" },
    { "bad text fails before its frame ends", { { TEXT, P("\xff"), .declared = 100 } }, "!1007" },
    { "the check starts anew with each message",
      { { TEXT, P("\xc3\xa9") }, { TEXT, P("\xc3\xa9") } },
      "text=\\c3\\a9 text=\\c3\\a9 " },
    { "binary messages may hold any bytes", { { BINARY, P("\xff\xc0") } }, "binary=\\ff\\c0 " },

    /* Closing. */
    { "a close without a code", { { CLOSE, P("") } }, "close=1005: " },
    { "a close with a code", { { CLOSE, P("\x03\xe8") } }, "close=1000: " },
    { "a close with a reason", { { CLOSE, P("\x03\xe9going") } }, "close=1001:going " },
    { "a close with the longest reason",
      { { CLOSE, P("\x03\xe8"
                   "1234567890123456789012345678901234567890123456789012345678901"
                   "23456789012345678901234567890123456789012345678901234567890123") } },
      "close=1000:#123 " },
    { "a close of one byte", { { CLOSE, P("\x03") } }, "!1002" },
    { "a close with a broken reason", { { CLOSE, P("\x03\xe8\xce\xba\xed\xa0\x80") } }, "!1007" },
    { "a close with a reason cut off", { { CLOSE, P("\x03\xe8\xc3") } }, "!1007" },
    { "what follows a close is ignored",
      { { CLOSE, P("") }, { FIN | 3, P("a"), .bare = true } },
      "close=1005: " },
    { "close code 0", { { CLOSE, P("\x00\x00") } }, "!1002" },
    { "close code 999", { { CLOSE, P("\x03\xe7") } }, "!1002" },
    { "close code 1003", { { CLOSE, P("\x03\xeb") } }, "close=1003: " },
    { "close code 1004", { { CLOSE, P("\x03\xec") } }, "!1002" },
    { "close code 1005", { { CLOSE, P("\x03\xed") } }, "!1002" },
    { "close code 1006", { { CLOSE, P("\x03\xee") } }, "!1002" },
    { "close code 1007", { { CLOSE, P("\x03\xef") } }, "close=1007: " },
    { "close code 1014", { { CLOSE, P("\x03\xf6") } }, "close=1014: " },
    { "close code 1015", { { CLOSE, P("\x03\xf7") } }, "!1002" },
    { "close code 2999", { { CLOSE, P("\x0b\xb7") } }, "!1002" },
    { "close code 3000", { { CLOSE, P("\x0b\xb8") } }, "close=3000: " },
    { "close code 4999", { { CLOSE, P("\x13\x87") } }, "close=4999: " },
    { "close code 5000", { { CLOSE, P("\x13\x88") } }, "!1002" },

    /* Incomplete frames. */
    { "half a frame waits", { { TEXT, P("abc"), .declared = 4 } }, "" },
    { "half a message waits", { { FIRST_TEXT, P("abc") } }, "" },
    { "a length without a mask waits", { { TEXT, .declared = 5, .cut = true } }, "" },
};

/* --- the bytes of a case -------------------------------------------------------------- */

static void add_frame(struct buf *b, const struct frame *f, unsigned turn)
{
    const unsigned char key[4] = { 0x37, (unsigned char)(0xfa + turn), 0x21, 0x3d };
    size_t n = f->fill ? f->fill : f->payload.n;
    uint64_t length = f->declared ? f->declared : n;
    int form = f->form ? f->form : length < 126 ? 0 : length < 65536 ? 2 : 8;

    buf_add_char(b, (char)f->head);
    int short_length = form == 0 ? (int)length : form == 2 ? 126 : 127;
    buf_add_char(b, (char)(short_length | (f->bare ? 0 : 0x80)));
    for (int i = form - 1; i >= 0; i--)
        buf_add_char(b, (char)(length >> 8 * i));
    if (f->cut)
        return;
    if (!f->bare)
        buf_add(b, key, 4);
    for (size_t i = 0; i < n; i++) {
        char c = f->fill ? 'x' : f->payload.p[i];
        buf_add_char(b, f->bare ? c : (char)(c ^ key[i & 3]));
    }
}

static struct buf case_bytes(const struct reading *c)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    for (unsigned i = 0; i < COUNT_OF(c->frames); i++)
        if (c->frames[i].head)
            add_frame(&b, &c->frames[i], i);
    return b;
}

/* --- results -------------------------------------------------------------------------- */

static void append_printable_text(struct buf *out, struct str s)
{
    if (s.n > 100) {
        buf_printf(out, "#%zu ", s.n);
        return;
    }
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] > ' ' && s.p[i] < 0x7f)
            buf_add_char(out, s.p[i]);
        else
            buf_printf(out, "\\%02x", (unsigned char)s.p[i]);
    buf_add_char(out, ' ');
}

static void describe(struct buf *out, const struct ws_message *m)
{
    static const char *const names[16] = { [WS_TEXT] = "text",
                                           [WS_BINARY] = "binary",
                                           [WS_CLOSE] = "close",
                                           [WS_PING] = "ping",
                                           [WS_PONG] = "pong" };

    assert_non_null(names[m->opcode]);
    buf_printf(out, "%s", names[m->opcode]);
    if (m->opcode == WS_CLOSE)
        buf_printf(out, "=%d:", m->close_code);
    else if (m->payload.n <= 100)
        buf_add_char(out, '=');
    append_printable_text(out, m->payload);
}

/* Feeds one piece in memory of exactly its size. Returns false after an error. */
static bool feed(struct ws_reader *r, struct str piece, struct buf *out)
{
    char *copy = malloc(piece.n + !piece.n);
    size_t at = 0;
    bool found = true;
    long used = 0;

    if (piece.n)
        memcpy(copy, piece.p, piece.n);
    while (at < piece.n || found) {
        struct ws_message m;

        used = ws_reader_decode_bytes(r, copy + at, piece.n - at, &m, &found);
        if (used < 0)
            break;
        at += (size_t)used;
        if (found)
            describe(out, &m);
        else
            assert_int_equal(at, piece.n);
    }
    free(copy);
    if (used < 0)
        buf_printf(out, "!%ld", -used);
    return used >= 0;
}

/* Feeds a piece and replaces the reader by a new one whenever it is idle. */
static bool feed_to_replaceable_reader(struct ws_reader *r, struct str piece, struct buf *out)
{
    bool going = feed(r, piece, out);

    if (going && ws_reader_release_message(r))
        ws_reader_init(r, r->max);
    return going;
}

/* Reads in pieces of `step` bytes; the first piece may be shorter. */
static void check_reading_in_pieces(const struct reading *c, struct str bytes, size_t first,
                                    size_t step)
{
    struct ws_reader r;
    struct buf out;

    buf_init(&out, 4096);
    ws_reader_init(&r, c->max ? c->max : 1000);
    bool going = feed_to_replaceable_reader(&r, str_slice(bytes.p, first), &out);
    for (size_t at = first; going && at < bytes.n; at += step)
        going = feed_to_replaceable_reader(
            &r, str_slice(bytes.p + at, bytes.n - at < step ? bytes.n - at : step), &out);
    if (!str_is(buf_as_str(&out), c->expect))
        fail_msg("%s: %.*s instead of %s (%zu, then %zu a piece)", c->name,
                 STR_ARGS(buf_as_str(&out)), c->expect, first, step);
    ws_reader_free(&r);
    buf_clear(&out);
}

static void websocket_frames_are_parsed_equally_in_all_pieces(void **state)
{
    const struct reading *c = *state;
    struct buf b = case_bytes(c);
    struct str bytes = buf_as_str(&b);

    check_reading_in_pieces(c, bytes, bytes.n, 1);
    check_reading_in_pieces(c, bytes, 0, 1);
    check_reading_in_pieces(c, bytes, 0, 7);
    for (size_t first = 0; first < bytes.n && first < 1200; first++)
        check_reading_in_pieces(c, bytes, first, bytes.n);
    buf_clear(&b);
}

/* --- memory --------------------------------------------------------------------------- */

static void whole_message_is_neither_copied_nor_allocated(void **state)
{
    (void)state;
    struct reading c = { .frames = { { TEXT, P("Hello") } } };
    struct buf b = case_bytes(&c);
    struct ws_reader r;
    struct ws_message m;
    bool found;

    ws_reader_init(&r, 1000);
    assert_int_equal(ws_reader_decode_bytes(&r, b.p, b.n, &m, &found), b.n);
    assert_true(found);
    assert_ptr_equal(m.payload.p, b.p + 6);
    assert_null(r.pieces);
    ws_reader_free(&r);
    buf_clear(&b);
}

static void reader_frees_a_message_received_in_pieces(void **state)
{
    (void)state;
    struct reading c = { .frames = { { TEXT, P("Hello") } } };
    struct buf b = case_bytes(&c);
    struct ws_reader r;
    struct ws_message m;
    bool found;

    ws_reader_init(&r, 1000);
    assert_int_equal(ws_reader_decode_bytes(&r, b.p, 8, &m, &found), 8);
    assert_false(found);
    assert_int_equal(ws_reader_decode_bytes(&r, b.p + 8, b.n - 8, &m, &found), b.n - 8);
    assert_true(found);
    assert_str(m.payload, "Hello");
    assert_int_equal(ws_reader_decode_bytes(&r, NULL, 0, &m, &found), 0);
    assert_false(found);
    assert_null(r.pieces);
    ws_reader_free(&r);
    buf_clear(&b);
}

static void reader_is_idle_only_between_messages(void **state)
{
    (void)state;
    struct reading c = { .frames = {
                             { FIRST_TEXT, P("Hel") }, { PING, P("x") }, { CONTINUE, P("lo") } } };
    struct buf b = case_bytes(&c);
    struct ws_reader r;
    struct ws_message m;
    bool found;

    ws_reader_init(&r, 1000);
    assert_true(ws_reader_release_message(&r));
    for (size_t at = 0; at < b.n; at++) {
        assert_int_equal(ws_reader_decode_bytes(&r, b.p + at, 1, &m, &found), 1);
        assert_int_equal(ws_reader_release_message(&r), at + 1 == b.n);
    }
    assert_null(r.pieces);
    buf_clear(&b);
}

/* --- frames of the server ------------------------------------------------------------- */

static void frame_headers_use_the_shortest_length_encoding(void **state)
{
    (void)state;
    char head[WS_MAX_HEAD];

    assert_int_equal(ws_encode_frame_head(head, WS_TEXT, 0), 2);
    assert_memory_equal(head, "\x81\x00", 2);
    assert_int_equal(ws_encode_frame_head(head, WS_BINARY, 125), 2);
    assert_memory_equal(head, "\x82\x7d", 2);
    assert_int_equal(ws_encode_frame_head(head, WS_TEXT, 126), 4);
    assert_memory_equal(head, "\x81\x7e\x00\x7e", 4);
    assert_int_equal(ws_encode_frame_head(head, WS_TEXT, 65535), 4);
    assert_memory_equal(head, "\x81\x7e\xff\xff", 4);
    assert_int_equal(ws_encode_frame_head(head, WS_TEXT, 65536), 10);
    assert_memory_equal(head, "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10);
}

static void frame_that_does_not_fit_the_buffer_is_omitted(void **state)
{
    (void)state;
    struct buf out;

    buf_init(&out, 6);
    ws_append_frame(&out, WS_TEXT, STR("abcde"));
    assert_int_equal(out.n, 0);
    assert_true(buf_is_full(&out));
    buf_clear(&out);
    ws_append_frame(&out, WS_TEXT, STR("abcd"));
    assert_str(buf_as_str(&out), "\x81\x04"
                                 "abcd");
    buf_clear(&out);
}

static void close_reason_is_truncated_at_a_character_boundary(void **state)
{
    (void)state;
    char reason[130];
    struct buf out;

    buf_init(&out, 1000);
    ws_append_close_frame(&out, 1001, STR("bye"));
    assert_str(buf_as_str(&out), "\x88\x05\x03\xe9"
                                 "bye");
    buf_reset(&out);
    ws_append_close_frame(&out, 1001, str_slice("bye\xa9", 3));
    assert_int_equal(out.n, 2 + 2 + 3);
    buf_reset(&out);
    ws_append_close_frame(&out, WS_NO_CODE, STR("bye"));
    assert_int_equal(out.n, 2);
    assert_memory_equal(out.p, "\x88\x00", 2);

    /* 123 bytes fit; the last two-byte character would occupy bytes 123 and 124. */
    memset(reason, 'r', sizeof reason);
    memcpy(reason + 122, "\xc3\xa9", 2);
    buf_reset(&out);
    ws_append_close_frame(&out, 1001, str_slice(reason, 124));
    assert_int_equal(out.n, 2 + 2 + 122);
    memset(reason, 'r', sizeof reason);
    buf_reset(&out);
    ws_append_close_frame(&out, 1001, str_slice(reason, 130));
    assert_int_equal(out.n, 2 + 125);
    assert_int_equal(out.p[1], 125);
    buf_clear(&out);
}

/* --- handshake ------------------------------------------------------------------------ */

#define OPENING "GET /gateway HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\n"
#define UPGRADE "Upgrade: websocket\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define KEY     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static const struct shaking {
    const char *name, *head;
    int status;
} shakings[] = {
    { "the handshake of the standard", OPENING UPGRADE VERSION KEY "\r\n", 101 },
    { "a handshake without upgrade", OPENING VERSION KEY "\r\n", 400 },
    { "a handshake without version", OPENING UPGRADE KEY "\r\n", 426 },
    { "a handshake of version 8", OPENING UPGRADE "Sec-WebSocket-Version: 8\r\n" KEY "\r\n", 426 },
    { "a handshake with two versions", OPENING UPGRADE VERSION VERSION KEY "\r\n", 426 },
    { "a handshake without key", OPENING UPGRADE VERSION "\r\n", 400 },
    { "a handshake with two keys", OPENING UPGRADE VERSION KEY KEY "\r\n", 400 },
    { "a key of 15 bytes",
      OPENING UPGRADE VERSION "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA\r\n\r\n", 400 },
    { "a key of 17 bytes",
      OPENING UPGRADE VERSION "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n", 400 },
    { "a key that is not base64",
      OPENING UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j!Q==\r\n\r\n", 400 },
    { "a key without padding",
      OPENING UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n\r\n", 400 },
};

static void websocket_handshake_gets_the_expected_status(void **state)
{
    const struct shaking *s = *state;
    struct http_request r;
    char accept[29] = "";
    int status = 101;

    assert_int_equal(http_parse_head(str_of(s->head), &r), strlen(s->head));
    assert_int_equal(ws_check_handshake(&r, accept, &status), s->status == 101);
    if (s->status == 101)
        assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    else
        assert_int_equal(status, s->status);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(whole_message_is_neither_copied_nor_allocated),
        cmocka_unit_test(reader_frees_a_message_received_in_pieces),
        cmocka_unit_test(reader_is_idle_only_between_messages),
        cmocka_unit_test(frame_headers_use_the_shortest_length_encoding),
        cmocka_unit_test(frame_that_does_not_fit_the_buffer_is_omitted),
        cmocka_unit_test(close_reason_is_truncated_at_a_character_boundary),
    };
    struct CMUnitTest tests[COUNT_OF(readings) + COUNT_OF(shakings) + COUNT_OF(others)];
    size_t n = 0;

    for (size_t i = 0; i < COUNT_OF(readings); i++)
        tests[n++] =
            (struct CMUnitTest){ .name = readings[i].name,
                                 .test_func = websocket_frames_are_parsed_equally_in_all_pieces,
                                 .initial_state = (void *)(uintptr_t)&readings[i] };
    for (size_t i = 0; i < COUNT_OF(shakings); i++)
        tests[n++] = (struct CMUnitTest){ .name = shakings[i].name,
                                          .test_func = websocket_handshake_gets_the_expected_status,
                                          .initial_state = (void *)(uintptr_t)&shakings[i] };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        tests[n++] = others[i];
    return cmocka_run_group_tests_name("net/websocket", tests, NULL, NULL);
}
