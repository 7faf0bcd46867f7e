/* server_gzip.c - compresses responses; each loop creates one deflate state at first use. */
#include <limits.h>
#include <zlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum { MIN_GZIP_BYTES = 1024, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };

struct gzip_state {
    z_stream z;
    struct buf out;
};

static bool init_deflate(z_stream *z, int level)
{
    if (deflateInit2(z, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
        return true;
    log_error("server: cannot initialise gzip, so responses are not compressed");
    return false;
}

static struct gzip_state *gzip_state_new(void)
{
    struct gzip_state *g = mem_new(sizeof *g);

    if (!init_deflate(&g->z, 1)) {
        mem_free(g);
        return NULL;
    }
    buf_init(&g->out, SIZE_MAX / 2);
    return g;
}

void gzip_state_free(struct gzip_state *g)
{
    if (!g)
        return;
    deflateEnd(&g->z);
    buf_clear(&g->out);
    mem_free(g);
}

bool http_response_is_worth_compressing(struct str content_type, size_t length)
{
    return length >= MIN_GZIP_BYTES && (str_starts_with(content_type, STR("application/json")) ||
                                        str_starts_with(content_type, STR("text/")));
}

/* Appends the compressed body to out. Returns false if the compressed body would not be smaller. */
static bool deflate_body(z_stream *z, struct str body, struct buf *out)
{
    size_t room;

    if (body.n > INT_MAX)
        return false;
    room = deflateBound(z, (uLong)body.n);
    z->next_in = (Bytef *)(uintptr_t)body.p;
    z->avail_in = (uInt)body.n;
    z->next_out = (Bytef *)buf_reserve(out, room);
    z->avail_out = (uInt)room;
    if (!z->next_out || deflate(z, Z_FINISH) != Z_STREAM_END || z->total_out >= body.n)
        return false;
    out->n += z->total_out;
    return true;
}

bool compress_response_body(struct server_loop *h, struct str body, struct str *ret)
{
    if (!h->gzip)
        h->gzip = gzip_state_new();
    struct gzip_state *g = h->gzip;
    if (!g || deflateReset(&g->z) != Z_OK)
        return false;

    if (g->out.cap > MAX_RETAINED_SCRATCH)
        buf_clear(&g->out);
    buf_reset(&g->out);
    if (!deflate_body(&g->z, body, &g->out))
        return false;
    *ret = buf_as_str(&g->out);
    return true;
}

bool http_compress_gzip(struct str body, int level, struct buf *out)
{
    z_stream z = { 0 };

    if (!init_deflate(&z, level))
        return false;
    bool smaller = deflate_body(&z, body, out);
    deflateEnd(&z);
    return smaller;
}
