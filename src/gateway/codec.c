/* codec.c - messages to a client, in the form it asked for.
 *
 * A dispatch is the session's own few bytes, then the payload that all sessions
 * share: {"t":…,"s":…,"op":0,"d": + payload + }. */
#include <stdlib.h>
#include <zstd.h>

#include "base/log.h"
#include "base/mem.h"
#include "gateway/codec.h"
#include "gateway/etf.h"

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

/* What is in `out`, whole and plain, in the form of the connection; true: it is text. */
static bool encode_plain(struct coder *c, struct buf *out)
{
    struct buf whole = *out;
    bool text = false;

    buf_init(out, MAX_SENT);
    if (c->dialect->compression == COMPRESS_ZLIB) {
        struct str parts[] = { buf_str(&whole) };

        if (c->begins)
            pack_header(out);
        if (whole.n > WORTH_PACKING) {
            pack_shared(c->packer, parts, 1, out);
        } else {
            pack_stored(parts[0], out);
            pack_stored(STR(""), out);
        }
    } else if (c->dialect->compression == COMPRESS_ZSTD) {
        if (!c->zstd)
            c->zstd = zstd_new();
        zstd_add(c->zstd, buf_str(&whole), true, out);
    } else if (c->compress && whole.n > WORTH_PACKING) {
        pack_whole(c->packer, buf_str(&whole), out);
    } else {
        struct buf empty = *out;

        *out = whole;
        whole = empty;
        text = !c->dialect->etf;
    }
    buf_clear(&whole);
    return text;
}

bool encode_dispatch(struct coder *c, uint64_t seq, struct news *n, unsigned form, struct buf *out)
{
    bool etf = c->dialect->etf;

    if (etf)
        form |= NEWS_ETF;
    if (c->dialect->compression == COMPRESS_ZLIB) {
        char room[PREFIX_MAX];
        struct buf prefix = { room, 0, sizeof room, sizeof room, false };

        add_prefix(&prefix, etf, n->event, seq);
        pack_stored(buf_str(&prefix), out);
        buf_add_str(out, news_bytes(n, form | NEWS_DEFLATED, c->packer, c->arena));
        return false;
    }
    add_prefix(out, etf, n->event, seq);
    buf_add_str(out, news_bytes(n, form, c->packer, c->arena));
    if (!etf)
        buf_add_char(out, '}');
    if (c->dialect->compression == COMPRESS_NONE && !c->compress)
        return !etf;
    return encode_plain(c, out);
}

/* --- sending -------------------------------------------------------------------------- */

static struct coder coder_of(const struct peer *p)
{
    return (struct coder){
        .dialect = p->dialect,
        .compress = p->compress,
        .begins = !p->streaming,
        .packer = p->hub->packer,
        .arena = p->hub->arena,
        .zstd = p->zstd,
    };
}

static bool codec_fits(struct peer *p, const struct buf *message)
{
    if (!buf_full(message))
        return true;
    log_warn("gateway: a message would be too large");
    peer_close(p, CLOSE_UNKNOWN, "message too large");
    return false;
}

static void send_all(struct peer *p, bool text)
{
    struct hub *h = p->hub;

    if (codec_fits(p, &h->out))
        websocket_send(p->ws, text ? WS_TEXT : WS_BINARY, buf_str(&h->out));
    /* A large payload shall not make every loop keep as much for ever. */
    if (h->out.cap > OUT_KEPT)
        buf_clear(&h->out);
}

void send_encoded(struct peer *p, struct buf *message, bool text)
{
    if (codec_fits(p, message))
        websocket_send_buf(p->ws, text ? WS_TEXT : WS_BINARY, message);
}

/* What is in h->out, whole and plain. */
static void send_plain(struct peer *p)
{
    struct hub *h = p->hub;
    struct coder c = coder_of(p);
    bool text = encode_plain(&c, &h->out);

    p->zstd = c.zstd;
    p->streaming = true;
    send_all(p, text);
}

static void send_later(struct peer *p, enum opcode op, struct str d);

void send_op(struct peer *p, enum opcode op, struct str d)
{
    struct buf *out = &p->hub->out;

    if (p->lent) {
        send_later(p, op, d);
        return;
    }
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
    struct coder c = coder_of(p);

    buf_reset(&h->out);
    bool text = encode_dispatch(&c, seq, n, form, &h->out);
    p->zstd = c.zstd;
    send_all(p, text);
}

/* --- while a stream is lent ----------------------------------------------------------- */

void coder_lend(struct peer *p, struct coder *ret)
{
    *ret = (struct coder){ .dialect = p->dialect, .compress = p->compress, .zstd = p->zstd };
    p->zstd = NULL;
    p->lent = p->dialect->compression == COMPRESS_ZSTD;
}

void coder_return(struct peer *p, struct coder *c)
{
    p->zstd = c->zstd;
    p->lent = false;
    c->zstd = NULL;
}

struct late_op {
    struct late_op *next;
    enum opcode op;
    size_t n;
    char d[];
};

static void send_later(struct peer *p, enum opcode op, struct str d)
{
    struct late_op *late = mem_resize(NULL, sizeof *late + d.n);
    struct late_op **end = &p->late;

    while (*end)
        end = &(*end)->next;
    *late = (struct late_op){ .op = op, .n = d.n };
    memcpy(late->d, d.p, d.n);
    *end = late;
}

void send_late(struct peer *p)
{
    struct late_op *next;

    for (struct late_op *late = p->late; late; late = next) {
        next = late->next;
        send_op(p, late->op, str_slice(late->d, late->n));
        mem_free(late);
    }
    p->late = NULL;
}

void late_free(struct peer *p)
{
    while (p->late) {
        struct late_op *next = p->late->next;

        mem_free(p->late);
        p->late = next;
    }
}
