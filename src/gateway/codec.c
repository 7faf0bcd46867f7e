/* codec.c - messages to a client, in the form it asked for.
 *
 * A dispatch is the session's own few bytes, then the payload that all sessions
 * share: {"t":…,"s":…,"op":0,"d": + payload + }. */
#include <stdlib.h>
#include <zstd.h>

#include "base/log.h"
#include "base/mem.h"
#include "gateway/etf.h"
#include "gateway/internal.h"

enum { WORTH_PACKING = 1024, PREFIX_MAX = 256, OUT_KEPT = 1024 * 1024 };
enum { ZSTD_WINDOW = 12, ZSTD_TABLES = 9, ZSTD_LEVEL = 1 };

/* --- zstd: a private stream, as its blocks cannot be shared --------------------------- */

struct zstd {
    ZSTD_CCtx *context;
};

static struct zstd *zstd_new(void)
{
    struct zstd *z = mem_new(sizeof *z);

    z->context = ZSTD_createCCtx();
    if (!z->context) {
        log_error("gateway: cannot start compression");
        abort();
    }
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    /* A small window and small tables: the state is kept as long as the socket. */
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_windowLog, ZSTD_WINDOW);
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_hashLog, ZSTD_TABLES);
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_chainLog, ZSTD_TABLES);
    return z;
}

void zstd_free(struct zstd *z)
{
    if (!z)
        return;
    ZSTD_freeCCtx(z->context);
    mem_free(z);
}

static void zstd_add(struct zstd *z, struct str part, bool last, struct buf *out)
{
    ZSTD_inBuffer in = { part.p, part.n, 0 };
    size_t left;

    do {
        size_t room = ZSTD_compressBound(part.n) + 64;
        char *at = buf_room(out, room);

        if (!at)
            return;
        ZSTD_outBuffer o = { at, room, 0 };
        left = ZSTD_compressStream2(z->context, &o, &in, last ? ZSTD_e_flush : ZSTD_e_continue);
        out->n += o.pos;
        if (ZSTD_isError(left))
            return;
    } while (last ? left != 0 : in.pos < in.size);
}

/* --- the envelope --------------------------------------------------------------------- */

static void add_prefix(struct buf *out, bool etf, enum event event, uint64_t seq)
{
    struct str name = str_of(event_name(event));

    if (!etf) {
        buf_add_lit(out, "{\"t\":\"");
        buf_add_str(out, name);
        buf_add_lit(out, "\",\"s\":");
        buf_add_u64(out, seq);
        buf_add_lit(out, ",\"op\":0,\"d\":");
        return;
    }
    buf_add_char(out, (char)ETF_VERSION);
    etf_map(out, 4);
    etf_text(out, STR("t"));
    etf_text(out, name);
    etf_text(out, STR("s"));
    etf_int(out, (int64_t)seq);
    etf_text(out, STR("op"));
    etf_int(out, OP_DISPATCH);
    etf_text(out, STR("d"));
}

/* Starts the zlib stream of a connection. */
static void add_stream_header(struct peer *p, struct buf *out)
{
    if (!p->streaming)
        pack_header(out);
    p->streaming = true;
}

static void send_all(struct peer *p, bool text)
{
    struct hub *h = p->hub;

    if (buf_full(&h->out)) {
        log_warn("gateway: a message would be too large");
        peer_close(p, CLOSE_UNKNOWN, "message too large");
    } else {
        websocket_send(p->ws, text ? WS_TEXT : WS_BINARY, buf_str(&h->out));
    }
    /* A large payload shall not make every loop keep as much for ever. */
    if (h->out.cap > OUT_KEPT)
        buf_clear(&h->out);
}

/* What is in h->out, whole and plain, in the form of the connection. */
static void send_plain(struct peer *p)
{
    struct hub *h = p->hub;
    struct buf whole = h->out;
    bool text = false;

    buf_init(&h->out, MAX_SENT);
    if (p->dialect->compression == COMPRESS_ZLIB) {
        struct str parts[] = { buf_str(&whole) };

        add_stream_header(p, &h->out);
        if (whole.n > WORTH_PACKING) {
            pack_shared(h->packer, parts, 1, &h->out);
        } else {
            pack_stored(parts[0], &h->out);
            pack_stored(STR(""), &h->out);
        }
    } else if (p->dialect->compression == COMPRESS_ZSTD) {
        if (!p->zstd)
            p->zstd = zstd_new();
        zstd_add(p->zstd, buf_str(&whole), true, &h->out);
    } else if (p->compress && whole.n > WORTH_PACKING) {
        pack_whole(h->packer, buf_str(&whole), &h->out);
    } else {
        struct buf empty = h->out;

        h->out = whole;
        whole = empty;
        text = !p->dialect->etf;
    }
    send_all(p, text);
    buf_clear(&whole);
}

void send_op(struct peer *p, enum opcode op, struct str d)
{
    struct buf *out = &p->hub->out;

    buf_reset(out);
    if (!p->dialect->etf) {
        buf_printf(out, "{\"t\":null,\"s\":null,\"op\":%d,\"d\":", op);
        buf_add_str(out, d);
        buf_add_lit(out, "}");
    } else {
        struct str null = STR("null");

        buf_add_char(out, (char)ETF_VERSION);
        etf_map(out, 4);
        etf_text(out, STR("t"));
        etf_from_json(null, p->hub->arena, out);
        etf_text(out, STR("s"));
        etf_from_json(null, p->hub->arena, out);
        etf_text(out, STR("op"));
        etf_int(out, op);
        etf_text(out, STR("d"));
        etf_from_json(d, p->hub->arena, out);
    }
    send_plain(p);
}

void send_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    struct hub *h = p->hub;
    bool etf = p->dialect->etf;

    if (etf)
        form |= NEWS_ETF;
    buf_reset(&h->out);
    if (p->dialect->compression == COMPRESS_ZLIB) {
        char room[PREFIX_MAX];
        struct buf prefix = { room, 0, sizeof room, sizeof room, false };

        add_prefix(&prefix, etf, n->event, seq);
        add_stream_header(p, &h->out);
        pack_stored(buf_str(&prefix), &h->out);
        buf_add_str(&h->out, news_bytes(n, form | NEWS_DEFLATED, h->packer, h->arena));
        send_all(p, false);
        return;
    }
    add_prefix(&h->out, etf, n->event, seq);
    buf_add_str(&h->out, news_bytes(n, form, h->packer, h->arena));
    if (!etf)
        buf_add_char(&h->out, '}');
    if (p->dialect->compression == COMPRESS_NONE && !p->compress)
        send_all(p, !etf);
    else
        send_plain(p);
}
