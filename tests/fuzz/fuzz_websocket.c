/* fuzz_websocket.c - fuzzes the WebSocket frame parser: the messages must not depend on how the
 * bytes are split. Input: the bytes of the connection after the handshake. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "net/websocket/websocket.h"

enum { MAX_MESSAGE = 1024 };

static void check_decoded_websocket_message(const struct ws_message *m)
{
    bool control = m->opcode >= WS_CLOSE;

    FUZZ_CHECK(m->opcode == WS_TEXT || m->opcode == WS_BINARY || m->opcode == WS_CLOSE ||
               m->opcode == WS_PING || m->opcode == WS_PONG);
    FUZZ_CHECK(m->payload.n <= (control ? WS_MAX_CONTROL : MAX_MESSAGE));
    if (m->payload.n && (m->opcode == WS_TEXT || m->opcode == WS_CLOSE))
        FUZZ_CHECK(utf8_is_valid(m->payload));
}

static void append_websocket_message_to_log(struct buf *log, const struct ws_message *m)
{
    buf_printf(log, "%d %d %zu ", m->opcode, m->opcode == WS_CLOSE ? m->close_code : 0,
               m->payload.n);
    buf_add_str(log, m->payload);
}

/* Feeds one piece; returns false after an error. The reader changes bytes, so it gets a copy. */
static bool feed(struct ws_reader *r, struct str piece, struct buf *log)
{
    char *copy = mem_new(piece.n);
    size_t at = 0;
    long used = 0;
    bool found = true;

    memcpy(copy, piece.p, piece.n);
    while (at < piece.n || found) {
        struct ws_message m;

        used = ws_reader_decode_bytes(r, copy + at, piece.n - at, &m, &found);
        if (used < 0)
            break;
        FUZZ_CHECK((size_t)used <= piece.n - at);
        at += (size_t)used;
        FUZZ_CHECK(found || at == piece.n);
        if (found) {
            check_decoded_websocket_message(&m);
            append_websocket_message_to_log(log, &m);
        }
    }
    mem_free(copy);
    if (used < 0)
        buf_printf(log, "error %ld", used);
    return used >= 0;
}

static void read_websocket_messages_of_input(struct str bytes, size_t step, struct buf *log)
{
    struct ws_reader r;
    bool going = true;

    ws_reader_init(&r, MAX_MESSAGE);
    for (size_t at = 0; going && at < bytes.n; at += step)
        going = feed(&r, str_slice(bytes.p + at, bytes.n - at < step ? bytes.n - at : step), log);
    ws_reader_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = { (const char *)data, size };
    struct buf whole, pieces;

    buf_init(&whole, SIZE_MAX);
    buf_init(&pieces, SIZE_MAX);
    if (size)
        read_websocket_messages_of_input(bytes, size, &whole);
    for (size_t step = 1; step < 8; step += 2) {
        buf_reset(&pieces);
        read_websocket_messages_of_input(bytes, step, &pieces);
        FUZZ_CHECK(str_eq(buf_as_str(&whole), buf_as_str(&pieces)));
    }
    buf_clear(&whole);
    buf_clear(&pieces);
    return 0;
}
