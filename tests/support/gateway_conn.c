/* gateway_conn.c - gateway connections of test clients. */
#include "gateway_conn.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "gateway/wire/etf.h"
#include "internal.h"
#include "net/websocket/websocket.h"
#include "waits.h"

enum { PATIENCE_MS = 120000, MAX_PAYLOAD_FORM_BYTES = 64 * 1024 * 1024 };

struct gateway_conn {
    struct gateway_conn *next;
    struct client *client;
    int fd;
    struct buf in;
    bool etf, zlib, zstd, binary;
    bool voice, numbered; /* the voice gateway; its binary messages have sequence numbers */
    struct str frame;     /* payload of the latest binary message of the voice gateway */
    bool watches;         /* presence events are returned, too */
    bool beats;           /* answers heartbeat requests */
    unsigned beaten;      /* heartbeats without acknowledgement */
    z_stream inflate;
    ZSTD_DCtx *dctx;
    int close_code;
    uint64_t seq;
    char id[40];
};

/* --- frames --------------------------------------------------------------------------- */

static void send_bytes(struct gateway_conn *g, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(g->fd, bytes.p, bytes.n, MSG_NOSIGNAL);

        if (n <= 0)
            return; /* the next read reports the error */
        bytes = str_skip_bytes(bytes, (size_t)n);
    }
}

void conn_send_bytes(struct gateway_conn *g, int opcode, struct str bytes)
{
    static const unsigned char mask[4] = { 0x12, 0x34, 0x56, 0x78 };
    struct buf out;

    buf_init(&out, MAX_PAYLOAD_FORM_BYTES);
    buf_add_char(&out, (char)(0x80 | opcode));
    if (bytes.n < 126) {
        buf_add_char(&out, (char)(0x80 | bytes.n));
    } else if (bytes.n <= UINT16_MAX) {
        char head[3] = { (char)(0x80 | 126), (char)(bytes.n >> 8), (char)bytes.n };

        buf_add(&out, head, sizeof head);
    } else {
        buf_add_char(&out, (char)(0x80 | 127));
        for (int shift = 56; shift >= 0; shift -= 8)
            buf_add_char(&out, (char)((uint64_t)bytes.n >> shift));
    }
    buf_add(&out, mask, 4);
    for (size_t i = 0; i < bytes.n; i++)
        buf_add_char(&out, (char)((unsigned char)bytes.p[i] ^ mask[i & 3]));
    send_bytes(g, buf_as_str(&out));
    buf_clear(&out);
}

static bool receive(struct gateway_conn *g, int wait_ms)
{
    struct pollfd p = { .fd = g->fd, .events = POLLIN };
    char *room = buf_reserve(&g->in, 65536);

    if (poll(&p, 1, wait_ms) <= 0)
        return false;
    ssize_t n = recv(g->fd, room, 65536, 0);
    if (n > 0)
        g->in.n += (size_t)n;
    else if (!g->close_code)
        g->close_code = 1006;
    return n > 0;
}

/* Removes one whole frame from the received bytes and copies its payload. */
static bool remove_frame(struct gateway_conn *g, int *ret_opcode, struct str *ret)
{
    const unsigned char *p = (const unsigned char *)g->in.p;
    size_t head = 2, n;

    if (g->in.n < 2)
        return false;
    n = p[1] & 127;
    if (n == 126 || n == 127) {
        size_t bytes = n == 126 ? 2 : 8;

        if (g->in.n < 2 + bytes)
            return false;
        n = 0;
        for (size_t i = 0; i < bytes; i++)
            n = n << 8 | p[2 + i];
        head += bytes;
    }
    if (g->in.n < head + n)
        return false;
    *ret_opcode = p[0] & 15;
    *ret = str_dup(g->client->world->arena, str_slice(g->in.p + head, n));
    buf_drop_first_bytes(&g->in, head + n);
    return true;
}

/* --- decoding ------------------------------------------------------------------------- */

static bool inflate_all(z_stream *z, struct str in, struct buf *out)
{
    z->next_in = (Bytef *)(uintptr_t)in.p;
    z->avail_in = (uInt)in.n;
    do {
        z->next_out = (Bytef *)buf_reserve(out, 65536);
        z->avail_out = 65536;
        int status = inflate(z, Z_SYNC_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return false;
        out->n += 65536 - z->avail_out;
    } while (z->avail_out == 0);
    return z->avail_in == 0;
}

static bool unzstd(struct gateway_conn *g, struct str in, struct buf *out)
{
    ZSTD_inBuffer from = { in.p, in.n, 0 };

    while (from.pos < from.size) {
        ZSTD_outBuffer to = { buf_reserve(out, 65536), 65536, 0 };

        if (ZSTD_isError(ZSTD_decompressStream(g->dctx, &to, &from)))
            return false;
        out->n += to.pos;
    }
    for (size_t more = 1; more;) {
        ZSTD_outBuffer to = { buf_reserve(out, 65536), 65536, 0 };

        ZSTD_decompressStream(g->dctx, &to, &from);
        out->n += more = to.pos;
    }
    return true;
}

static bool decode(struct gateway_conn *g, struct str in, struct buf *out)
{
    if (g->zlib) {
        static const char end[] = { 0, 0, (char)0xff, (char)0xff };

        return in.n >= 4 && memcmp(in.p + in.n - 4, end, 4) == 0 &&
               inflate_all(&g->inflate, in, out);
    }
    if (g->zstd)
        return unzstd(g, in, out);
    if (g->binary && !g->etf) {
        z_stream whole = { 0 };
        bool ok = inflateInit(&whole) == Z_OK && inflate_all(&whole, in, out);

        inflateEnd(&whole);
        return ok;
    }
    buf_add_str(out, in);
    return true;
}

static const struct dom *understand(struct gateway_conn *g, struct str payload)
{
    struct arena *a = g->client->world->arena;
    struct buf plain, json;

    buf_init(&plain, MAX_PAYLOAD_FORM_BYTES);
    buf_init(&json, MAX_PAYLOAD_FORM_BYTES);
    if (!decode(g, payload, &plain))
        fail_test(__FILE__, __LINE__, "a message of %zu bytes cannot be unpacked", payload.n);
    if (g->etf && !etf_to_json(buf_as_str(&plain), &json))
        fail_test(__FILE__, __LINE__, "a message is not valid ETF");
    struct str text = str_dup(a, buf_as_str(g->etf ? &json : &plain));
    buf_clear(&plain);
    buf_clear(&json);
    const struct dom *d = dom_parse(a, text);
    if (!d)
        fail_test(__FILE__, __LINE__, "a message is not JSON: %.*s", STR_ARGS(text));
    return d;
}

/* Returns opcode and sequence number of a binary message of the voice gateway as JSON. */
static const struct dom *understand_voice(struct gateway_conn *g, struct str payload)
{
    const unsigned char *p = (const unsigned char *)payload.p;
    size_t head = g->numbered ? 3 : 1;

    if (payload.n < head)
        fail_test(__FILE__, __LINE__, "a binary message has %zu bytes", payload.n);
    g->frame = str_skip_bytes(payload, head);
    return dom_parse(g->client->world->arena,
                     str_printf(g->client->world->arena, "{\"op\":%d,\"seq\":%d}", p[head - 1],
                                g->numbered ? p[0] << 8 | p[1] : 0));
}

static long number_at(const struct dom *d, const char *path)
{
    const struct dom *n = dom_at(d, path);

    return n && n->kind == JSON_NUMBER ? strtol(n->text.p, NULL, 10) : -1;
}

/* Whether an event may come at any time and most tests skip it. */
static bool comes_anytime(struct str event)
{
    return str_is(event, "PRESENCE_UPDATE") || str_is(event, "VOICE_CHANNEL_START_TIME_UPDATE");
}

/* Whether the message is part of the automatic heartbeats. */
static bool is_seen_to(struct gateway_conn *g, const struct dom *m)
{
    long op = number_at(m, "op");

    if (op == 1) {
        conn_send(g, "{'op':1,'d':null}");
        g->beaten++;
    } else if (op == 11 && g->beaten) {
        g->beaten--;
    } else {
        return false;
    }
    return true;
}

const struct dom *conn_read(struct gateway_conn *g, int wait_ms)
{
    int opcode;
    struct str payload;

    while (g->fd >= 0) {
        if (!remove_frame(g, &opcode, &payload)) {
            if (!receive(g, wait_ms))
                return NULL;
            continue;
        }
        if (opcode == WS_CLOSE) {
            const unsigned char *p = (const unsigned char *)payload.p;

            g->close_code = payload.n >= 2 ? p[0] << 8 | p[1] : WS_NO_CODE;
            return NULL;
        }
        if (opcode == WS_TEXT || opcode == WS_BINARY) {
            g->binary = opcode == WS_BINARY;
            const struct dom *m =
                g->voice && g->binary ? understand_voice(g, payload) : understand(g, payload);
            const struct dom *t = m ? dom_at(m, "t") : NULL;
            if (g->beats && is_seen_to(g, m))
                continue;
            if (g->watches || !t || !comes_anytime(t->text))
                return m;
            g->seq += number_at(m, "s") == (long)g->seq + 1;
        }
    }
    return NULL;
}

/* --- beginning and end ---------------------------------------------------------------- */

static struct gateway_conn *all_gates;

struct gateway_conn *conn_open(struct client *c, const char *query)
{
    char target[256];

    snprintf(target, sizeof target, "/?%s", query);
    return conn_open_at(c, target);
}

struct gateway_conn *conn_open_at(struct client *c, const char *target)
{
    return conn_open_as(c, target, "gate.test");
}

struct gateway_conn *conn_open_as(struct client *c, const char *target, const char *host)
{
    struct gateway_conn *g = mem_new(sizeof *g);
    char request[512];

    g->client = c;
    g->fd = client_dial(c);
    g->etf = strstr(target, "encoding=etf");
    g->voice = strncmp(target, "/voice", 6) == 0;
    g->numbered = strstr(target, "v=8") || strstr(target, "v=9");
    g->zlib = strstr(target, "compress=zlib-stream");
    g->zstd = strstr(target, "compress=zstd-stream");
    buf_init(&g->in, MAX_PAYLOAD_FORM_BYTES);
    inflateInit(&g->inflate);
    g->dctx = ZSTD_createDCtx();
    g->next = all_gates;
    all_gates = g;
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                     "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                     "Sec-WebSocket-Version: 13\r\n\r\n",
                     target, host);
    send_bytes(g, str_slice(request, (size_t)n));
    for (;;) {
        const char *end = g->in.n ? memmem(g->in.p, g->in.n, "\r\n\r\n", 4) : NULL;

        if (end) {
            if (memcmp(g->in.p, "HTTP/1.1 101", 12) != 0)
                fail_test(__FILE__, __LINE__, "no upgrade: %.*s", (int)g->in.n, g->in.p);
            buf_drop_first_bytes(&g->in, (size_t)(end - g->in.p) + 4);
            return g;
        }
        if (!receive(g, PATIENCE_MS))
            fail_test(__FILE__, __LINE__, "the gateway does not respond");
    }
}

struct str conn_frame(const struct gateway_conn *g)
{
    return g->frame;
}

void conn_kill(struct gateway_conn *g)
{
    struct linger now = { 1, 0 };

    if (g->fd < 0)
        return;
    setsockopt(g->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(g->fd);
    g->fd = -1;
}

static const struct dom *census_of(const struct gateway_conn *g)
{
    struct world *w = g->client->world;
    struct buf all;

    buf_init(&all, MAX_PAYLOAD_FORM_BYTES);
    gateway_write_session_list(guildhall_get_gateway(world_server(w)), &all);
    struct str rest = str_dup(w->arena, buf_as_str(&all));
    buf_clear(&all);
    while (rest.n) {
        const struct dom *line = dom_parse(w->arena, str_cut(&rest, '\n'));

        if (line && str_is(dom_at(line, "session_id")->text, g->id))
            return line;
    }
    return NULL;
}

long conn_census(const struct gateway_conn *g, const char *name)
{
    const struct dom *line = census_of(g), *value = line ? dom_at(line, name) : NULL;

    if (!value)
        return -1;
    return value->kind == JSON_BOOL ? value->truth : number_at(line, name);
}

void conn_lose(struct gateway_conn *g)
{
    conn_kill(g);
    expect_soon(conn_census(g, "connected") == 0);
}

/* Waits until the server has sent its close frame, released the session and closed the socket. */
static void await_end(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char rest[256];

    while (poll(&p, 1, PATIENCE_MS) > 0 && recv(fd, rest, sizeof rest, 0) > 0)
        ;
}

void conn_close(struct gateway_conn *g, int code)
{
    char bytes[2] = { (char)(code >> 8), (char)code };

    conn_send_bytes(g, WS_CLOSE, str_slice(bytes, 2));
    while (!g->close_code && conn_read(g, PATIENCE_MS))
        ;
    await_end(g->fd);
    close(g->fd);
    g->fd = -1;
}

void conns_close(struct world *w)
{
    (void)w;
    for (struct gateway_conn *g = all_gates, *next; g; g = next) {
        next = g->next;
        conn_kill(g);
        buf_clear(&g->in);
        inflateEnd(&g->inflate);
        ZSTD_freeDCtx(g->dctx);
        mem_free(g);
    }
    all_gates = NULL;
}

void conn_watch(struct gateway_conn *g, bool watch)
{
    g->watches = watch;
}

void conn_beat(struct gateway_conn *g)
{
    g->beats = true;
}

int conn_fd(struct gateway_conn *g)
{
    return g->fd;
}

int conn_close_code(const struct gateway_conn *g)
{
    return g->close_code;
}

uint64_t conn_seq(const struct gateway_conn *g)
{
    return g->seq;
}

const char *conn_id(const struct gateway_conn *g)
{
    return g->id;
}

bool conn_was_binary(const struct gateway_conn *g)
{
    return g->binary;
}

/* --- sending -------------------------------------------------------------------------- */

static void send_json(struct gateway_conn *g, struct str json)
{
    struct arena *a = g->client->world->arena;
    struct buf out;

    if (!g->etf) {
        conn_send_bytes(g, WS_TEXT, json);
        return;
    }
    buf_init(&out, MAX_PAYLOAD_FORM_BYTES);
    buf_add_char(&out, (char)ETF_VERSION);
    etf_from_json(json, a, &out);
    conn_send_bytes(g, WS_BINARY, buf_as_str(&out));
    buf_clear(&out);
}

void conn_send(struct gateway_conn *g, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    send_json(g, str_of(text));
    free(text);
}

void conn_identify(struct gateway_conn *g, const char *more)
{
    conn_send(g, "{'op':2,'d':{'token':'%s','properties':{'os':'test'}%s%s}}",
              g->client->authorization, *more ? "," : "", more);
}

void conn_resume(struct gateway_conn *g, const char *session_id, uint64_t seq)
{
    g->seq = seq;
    snprintf(g->id, sizeof g->id, "%s", session_id);
    conn_send(g, "{'op':6,'d':{'token':'%s','session_id':'%s','seq':%llu}}",
              g->client->authorization, session_id, (unsigned long long)seq);
}

struct gateway_conn *conn_session(struct client *c, const char *query, const char *more)
{
    struct gateway_conn *g = conn_open(c, query);

    expect_op(g, 10);
    conn_identify(g, more);
    const struct dom *d = expect_dispatch(g, "READY", "{}");
    const struct dom *id = dom_at(d, "session_id");
    snprintf(g->id, sizeof g->id, "%.*s", STR_ARGS(id->text));
    return g;
}

void client_connect(struct client *c)
{
    struct gateway_conn *g = conn_open(c, "v=10");

    expect_op(g, 10);
    conn_identify(g, "'intents': 33554431");
    const struct dom *ready = expect_dispatch(g, "READY", "{}");
    bool bot = dom_at(ready, "application");
    snprintf(g->id, sizeof g->id, "%.*s", STR_ARGS(dom_at(ready, "session_id")->text));
    for (size_t i = 0; bot && i < dom_at(ready, "guilds")->count; i++)
        expect_dispatch(g, "GUILD_CREATE", "{}");
    c->gate = g;
}

/* --- expectations --------------------------------------------------------------------- */

static const struct dom *read_or_fail(const char *file, int line, struct gateway_conn *g,
                                      const char *what)
{
    const struct dom *d = conn_read(g, PATIENCE_MS);

    if (!d)
        fail_test(file, line, "%s: %s, not %s (%d)", g->client->name,
                  g->close_code ? "closed" : "nothing received", what, g->close_code);
    return d;
}

void conn_count(struct gateway_conn *g, const struct dom *message)
{
    if (number_at(message, "s") != (long)g->seq + 1)
        fail_test(__FILE__, __LINE__, "sequence number %ld after %ld", number_at(message, "s"),
                  (long)g->seq);
    g->seq++;
}

void conn_restart(struct gateway_conn *g)
{
    g->seq = 0;
}

const struct dom *expect_op_at(const char *file, int line, struct gateway_conn *g, int op)
{
    const struct dom *d = read_or_fail(file, line, g, "an opcode");
    long got = number_at(d, "op");

    if (got != op)
        fail_test(file, line, "%s got opcode %ld, not %d", g->client->name, got, op);
    return d;
}

const struct dom *expect_dispatch_of(const char *file, int line, struct gateway_conn *g,
                                     const char *event, const struct dom *expected)
{
    const struct dom *m = read_or_fail(file, line, g, event), *t = dom_at(m, "t");
    const struct dom *d = dom_at(m, "d");
    struct str where;

    if (number_at(m, "op") != 0 || !t || !str_is(t->text, event))
        fail_test(file, line, "%s got opcode %ld %.*s, expected %s", g->client->name,
                  number_at(m, "op"), t ? (int)t->text.n : 0, t ? t->text.p : "", event);
    if (number_at(m, "s") != (long)g->seq + 1)
        fail_test(file, line, "%s has sequence number %ld after %ld", event, number_at(m, "s"),
                  (long)g->seq);
    g->seq++;
    if (!dom_contains(d, expected, g->client->world->arena, &where))
        fail_test(file, line, "%s: %s", event, where.p);
    return d;
}

const struct dom *expect_dispatch_at(const char *file, int line, struct gateway_conn *g,
                                     const char *event, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    const struct dom *expected = parse_expected(g->client->world->arena, fmt, args);
    va_end(args);
    return expect_dispatch_of(file, line, g, event, expected);
}

void expect_close_at(const char *file, int line, struct gateway_conn *g, int code)
{
    const struct dom *d = conn_read(g, PATIENCE_MS);

    if (d)
        fail_test(file, line, "%s got opcode %ld, not close %d", g->client->name,
                  number_at(d, "op"), code);
    if (g->close_code != code)
        fail_test(file, line, "%s was closed with %d, not %d", g->client->name, g->close_code,
                  code);
}

void expect_quiet_at(const char *file, int line, struct gateway_conn *g)
{
    conn_send(g, "{'op':1,'d':null}");
    expect_op_at(file, line, g, 11);
}
