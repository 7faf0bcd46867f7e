/* wire.h - a WebSocket test client over plain TCP or TLS. */
#ifndef TESTS_UNIT_NET_WIRE_H
#define TESTS_UNIT_NET_WIRE_H

#include <openssl/ssl.h>

#include "unit/net/peer.h"

struct api_client {
    int fd;
    SSL *ssl; /* NULL: plain */
};

static inline void wire_send(struct api_client *w, const void *p, size_t n)
{
    if (w->ssl)
        assert_int_equal(SSL_write(w->ssl, p, (int)n), n);
    else
        peer_send_bytes(w->fd, p, n);
}

/* Reads exactly n bytes; returns false if the connection ends. */
static inline bool wire_read(struct api_client *w, void *p, size_t n)
{
    for (char *at = p; n;) {
        ssize_t got = w->ssl ? SSL_read(w->ssl, at, (int)n) : recv(w->fd, at, n, 0);

        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static inline void wire_read_head(struct api_client *w, char *out, size_t max)
{
    size_t n = 0;

    do {
        assert_true(n < max - 1);
        assert_true(wire_read(w, out + n, 1));
        out[++n] = 0;
    } while (n < 4 || strcmp(out + n - 4, "\r\n\r\n") != 0);
}

/* The key and the accept value are those of RFC 6455 section 1.3. */
static inline void wire_handshake(struct api_client *w, const char *path)
{
    char text[512];

    snprintf(text, sizeof text,
             "GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
             path);
    wire_send(w, text, strlen(text));
    wire_read_head(w, text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 101 Switching Protocols\r\n"));
    assert_non_null(strstr(text, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
}

static inline size_t wire_frame(char *out, int opcode, const void *payload, size_t n)
{
    static const char mask[4] = { 1, 2, 3, 4 };
    size_t at = 0;

    out[at++] = (char)(0x80 | opcode);
    if (n < 126) {
        out[at++] = (char)(0x80 | n);
    } else { /* the shortest length encoding: others are refused */
        out[at++] = (char)(0x80 | (n < 65536 ? 126 : 127));
        for (int shift = n < 65536 ? 8 : 56; shift >= 0; shift -= 8)
            out[at++] = (char)((uint64_t)n >> shift);
    }
    memcpy(out + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < n; i++)
        out[at + i] = (char)(((const char *)payload)[i] ^ mask[i % 4]);
    return at + n;
}

static inline void api_client_send_websocket_frame(struct api_client *w, int opcode,
                                                   const void *payload, size_t n)
{
    char *frame = malloc(n + 14);

    wire_send(w, frame, wire_frame(frame, opcode, payload, n));
    free(frame);
}

static inline void wire_send_text(struct api_client *w, const char *text)
{
    api_client_send_websocket_frame(w, 1, text, strlen(text));
}

/* Reads one frame; returns its opcode, or -1 at the end of the connection. */
static inline int wire_read_frame(struct api_client *w, char *out, size_t max, size_t *ret_n)
{
    unsigned char head[10];
    uint64_t n;

    if (!wire_read(w, head, 2))
        return -1;
    n = head[1];
    if (n >= 126) {
        size_t bytes = n == 126 ? 2 : 8;

        assert_true(wire_read(w, head + 2, bytes));
        n = 0;
        for (size_t i = 0; i < bytes; i++)
            n = n << 8 | head[2 + i];
    }
    assert_true(n < max);
    assert_true(n == 0 || wire_read(w, out, n));
    out[n] = 0;
    *ret_n = n;
    return head[0] & 15;
}

static inline void wire_expect(struct api_client *w, int opcode, const char *payload)
{
    char got[1024];
    size_t n = 0;

    assert_int_equal(wire_read_frame(w, got, sizeof got, &n), opcode);
    assert_string_equal(got, payload);
}

static inline void wire_expect_close(struct api_client *w, int code)
{
    char got[256];
    size_t n = 0;

    assert_int_equal(wire_read_frame(w, got, sizeof got, &n), 8);
    assert_true(n >= 2);
    assert_int_equal((unsigned char)got[0] << 8 | (unsigned char)got[1], code);
}

/* Requests frames that are sent immediately, and reads them after the sockets are full. */
static inline void wire_expect_frames(struct api_client *w, int count, size_t length)
{
    char *got = malloc(length + 1);
    size_t n = 0;

    wire_send_text(w, "frames");
    for (int i = 0; i < count; i++) {
        assert_int_equal(wire_read_frame(w, got, length + 1, &n), 1);
        assert_int_equal(n, length);
        for (size_t k = 0; k < n; k += 997)
            if (got[k] != (char)('a' + k % (size_t)(2 + i % 20)))
                fail_msg("byte %zu of frame %d", k, i);
    }
    wire_expect(w, 1, "behind");
    free(got);
}

#endif
