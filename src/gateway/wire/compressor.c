/* compressor.c - zlib compression for the gateway; one compressor per loop.
 *
 * The zlib state needs 256 KiB, so it is allocated at the first use. */
#include "gateway/wire/compressor.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/log.h"
#include "base/mem.h"

enum { RAW_WINDOW = -15, ZLIB_WINDOW = 15, MEMORY = 8, LEVEL = 6, STORED_MAX = 65535 };

struct compressor {
    z_stream raw, whole;
};

static void deflate_stream_restart(z_stream *z, int window)
{
    if (z->state) {
        deflateReset(z);
        return;
    }
    if (deflateInit2(z, LEVEL, Z_DEFLATED, window, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        log_error("gateway: cannot create a zlib compressor; out of memory?");
        abort();
    }
}

struct compressor *deflate_compressor_new(void)
{
    return mem_new(sizeof(struct compressor));
}

void deflate_compressor_free(struct compressor *p)
{
    if (!p)
        return;
    deflateEnd(&p->raw);
    deflateEnd(&p->whole);
    mem_free(p);
}

static void append_deflated_bytes(z_stream *z, struct str in, int flush, struct buf *out)
{
    z->next_in = (Bytef *)(uintptr_t)in.p;
    z->avail_in = (uInt)in.n;
    do {
        size_t room = deflateBound(z, (uLong)z->avail_in) + 64;
        char *at = buf_reserve(out, room);

        if (!at)
            return;
        z->next_out = (Bytef *)at;
        z->avail_out = (uInt)room;
        deflate(z, flush);
        out->n += room - z->avail_out;
    } while (z->avail_out == 0);
}

void deflate_shared_payload(struct compressor *p, const struct str *parts, size_t count,
                            struct buf *out)
{
    deflate_stream_restart(&p->raw, RAW_WINDOW);
    for (size_t i = 0; i < count; i++)
        append_deflated_bytes(&p->raw, parts[i], i + 1 == count ? Z_SYNC_FLUSH : Z_NO_FLUSH, out);
}

void zlib_append_complete_stream(struct compressor *p, struct str bytes, struct buf *out)
{
    deflate_stream_restart(&p->whole, ZLIB_WINDOW);
    append_deflated_bytes(&p->whole, bytes, Z_FINISH, out);
}

void deflate_append_stored_block(struct str bytes, struct buf *out)
{
    do {
        size_t n = bytes.n < STORED_MAX ? bytes.n : STORED_MAX;
        unsigned char head[5] = { 0, (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)~n,
                                  (unsigned char)(~n >> 8) };

        buf_add(out, head, sizeof head);
        buf_add(out, bytes.p, n);
        bytes = str_skip_bytes(bytes, n);
    } while (bytes.n);
}

void zlib_append_header(struct buf *out)
{
    buf_add_lit(out, "\x78\x9c");
}
