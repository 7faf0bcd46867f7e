/* codec.c - encodes messages to a client: JSON or ETF, with or without compression.
 *
 * A dispatch is a short prefix with the session's own sequence number, then the payload that all
 * sessions share: {"t":…,"s":…,"op":0,"d": + payload + }. */
#include "gateway/wire/codec.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/log.h"
#include "base/mem.h"
#include "gateway/wire/etf.h"
#include "gateway/wire/compressor.h"
#include "gateway/wire/protocol.h"
#include "model/text/old_api_encoding.h"

enum { COMPRESS_MIN_BYTES = 1024 };
enum { ZSTD_WINDOW = 12, ZSTD_TABLES = 9, ZSTD_LEVEL = 1 };

/* --- zstd: one stream per connection, because zstd blocks cannot be shared ------------- */

struct zstd {
    ZSTD_CCtx *context;
};

static struct zstd *zstd_stream_new(void)
{
    struct zstd *z = mem_new(sizeof *z);

    z->context = ZSTD_createCCtx();
    if (!z->context) {
        log_error("gateway: cannot create a zstd compressor; out of memory?");
        abort();
    }
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    /* Use a small window and small tables, because each connection has such a state. */
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_windowLog, ZSTD_WINDOW);
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_hashLog, ZSTD_TABLES);
    ZSTD_CCtx_setParameter(z->context, ZSTD_c_chainLog, ZSTD_TABLES);
    return z;
}

void zstd_stream_free(struct zstd *z)
{
    if (!z)
        return;
    ZSTD_freeCCtx(z->context);
    mem_free(z);
}

static void zstd_stream_compress(struct zstd *z, struct str part, bool last, struct buf *out)
{
    ZSTD_inBuffer in = { part.p, part.n, 0 };
    size_t left;

    do {
        size_t room = ZSTD_compressBound(part.n) + 64;
        char *at = buf_reserve(out, room);

        if (!at)
            return;
        ZSTD_outBuffer o = { at, room, 0 };
        left = ZSTD_compressStream2(z->context, &o, &in, last ? ZSTD_e_flush : ZSTD_e_continue);
        out->n += o.pos;
        if (ZSTD_isError(left))
            return;
    } while (last ? left != 0 : in.pos < in.size);
}

void encode_dispatch_prefix(struct buf *out, bool etf, enum event event, uint64_t seq)
{
    struct str name = str_of(get_name_of_event_type(event));

    if (!etf) {
        buf_add_lit(out, "{\"t\":\"");
        buf_add_str(out, name);
        buf_add_lit(out, "\",\"s\":");
        buf_add_u64(out, seq);
        buf_add_lit(out, DISPATCH_JSON_AFTER_SEQ);
        return;
    }
    buf_add_char(out, (char)ETF_VERSION);
    etf_append_map_head(out, 4);
    etf_append_binary(out, STR("t"));
    etf_append_binary(out, name);
    etf_append_binary(out, STR("s"));
    etf_append_int(out, (int64_t)seq);
    etf_append_binary(out, STR("op"));
    etf_append_int(out, OP_DISPATCH);
    etf_append_binary(out, STR("d"));
}

/* Compresses the plain message in `out` as the connection requires. Returns true if the result is a
 * WebSocket text frame. */
static bool compress_encoded_message(struct message_encoder *c, struct buf *out)
{
    struct buf whole = *out;
    bool text = false;

    buf_init(out, MAX_ENCODED_MESSAGE);
    if (c->dialect->compression == COMPRESS_ZLIB) {
        struct str parts[] = { buf_as_str(&whole) };

        if (c->begins)
            zlib_append_header(out);
        if (whole.n > COMPRESS_MIN_BYTES) {
            deflate_shared_payload(c->packer, parts, 1, out);
        } else {
            deflate_append_stored_block(parts[0], out);
            deflate_append_stored_block(STR(""), out);
        }
    } else if (c->dialect->compression == COMPRESS_ZSTD) {
        if (!c->zstd)
            c->zstd = zstd_stream_new();
        zstd_stream_compress(c->zstd, buf_as_str(&whole), true, out);
    } else if (c->compress && whole.n > COMPRESS_MIN_BYTES) {
        zlib_append_complete_stream(c->packer, buf_as_str(&whole), out);
    } else {
        struct buf empty = *out;

        *out = whole;
        whole = empty;
        text = !c->dialect->etf;
    }
    buf_clear(&whole);
    return text;
}

unsigned wire_format_add_payload_form_bits(const struct wire_format *d, unsigned form)
{
    form |= (d->version <= VERSION_OLD_ENCODING ? PAYLOAD_OLD_PERMISSIONS : 0) |
            (d->etf ? PAYLOAD_ETF : 0) | (d->compression == COMPRESS_ZLIB ? PAYLOAD_DEFLATED : 0);
    return d->spacebar && !(form & ~(unsigned)PAYLOAD_DEFLATED) ? form | PAYLOAD_SPACEBAR : form;
}

bool encode_dispatch(struct message_encoder *c, uint64_t seq, struct gateway_event *n,
                     unsigned form, struct buf *out)
{
    bool etf = c->dialect->etf;

    form = wire_format_add_payload_form_bits(c->dialect, form);
    if (form & PAYLOAD_DEFLATED) {
        char room[DISPATCH_PREFIX_MAX];
        struct buf prefix = { room, 0, sizeof room, sizeof room, false };

        encode_dispatch_prefix(&prefix, etf, n->type, seq);
        deflate_append_stored_block(buf_as_str(&prefix), out);
        buf_add_str(out, gateway_event_get_payload_in_form(n, form, c->packer, c->arena));
        return false;
    }
    encode_dispatch_prefix(out, etf, n->type, seq);
    buf_add_str(out, gateway_event_get_payload_in_form(n, form, c->packer, c->arena));
    if (!etf)
        buf_add_char(out, '}');
    if (c->dialect->compression == COMPRESS_NONE && !c->compress)
        return !etf;
    return compress_encoded_message(c, out);
}

bool encode_opcode_message(struct message_encoder *c, enum gateway_opcode op, struct str d,
                           struct buf *out)
{
    struct str null = STR("null");

    if (!c->dialect->etf) {
        buf_add_lit(out, "{\"t\":null,\"s\":null,\"op\":");
        buf_add_u64(out, op);
        buf_add_lit(out, ",\"d\":");
        buf_add_str(out, d);
        buf_add_lit(out, "}");
        return compress_encoded_message(c, out);
    }
    buf_add_char(out, (char)ETF_VERSION);
    etf_append_map_head(out, 4);
    etf_append_binary(out, STR("t"));
    etf_from_json(null, c->arena, out);
    etf_append_binary(out, STR("s"));
    etf_from_json(null, c->arena, out);
    etf_append_binary(out, STR("op"));
    etf_append_int(out, op);
    etf_append_binary(out, STR("d"));
    etf_from_json(d, c->arena, out);
    return compress_encoded_message(c, out);
}

bool encode_json_message(struct message_encoder *c, struct str json, struct buf *out)
{
    if (c->dialect->etf) {
        buf_add_char(out, (char)ETF_VERSION);
        etf_from_json(json, c->arena, out);
    } else {
        buf_add_str(out, json);
    }
    return compress_encoded_message(c, out);
}
