/* server_gzip.c - compresses responses; each loop creates one deflate state at first use. */
#include <limits.h>
#include <zlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/http/server_internal.h"

enum { WORTH_IT = 1024, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };

struct gzip {
    z_stream z;
    struct buf out;
};

static bool deflate_start(z_stream *z, int level)
{
    if (deflateInit2(z, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
        return true;
    log_error("server: cannot initialise gzip, so responses are not compressed");
    return false;
}

static struct gzip *gzip_new(void)
{
    struct gzip *g = mem_new(sizeof *g);

    if (!deflate_start(&g->z, 1)) {
        mem_free(g);
        return NULL;
    }
    buf_init(&g->out, SIZE_MAX / 2);
    return g;
}

void gzip_free(struct gzip *g)
{
    if (!g)
        return;
    deflateEnd(&g->z);
    buf_clear(&g->out);
    mem_free(g);
}

bool http_gzip_fits(struct str content_type, size_t length)
{
    return length >= WORTH_IT && (str_starts(content_type, STR("application/json")) ||
                                  str_starts(content_type, STR("text/")));
}

/* Appends the compressed body to out; returns false if it would not be smaller. */
static bool deflate_whole(z_stream *z, struct str body, struct buf *out)
{
    size_t room;

    if (body.n > INT_MAX)
        return false;
    room = deflateBound(z, (uLong)body.n);
    z->next_in = (Bytef *)(uintptr_t)body.p;
    z->avail_in = (uInt)body.n;
    z->next_out = (Bytef *)buf_room(out, room);
    z->avail_out = (uInt)room;
    if (!z->next_out || deflate(z, Z_FINISH) != Z_STREAM_END || z->total_out >= body.n)
        return false;
    out->n += z->total_out;
    return true;
}

bool gzip_body(struct home *h, struct str body, struct str *ret)
{
    if (!h->gzip)
        h->gzip = gzip_new();
    struct gzip *g = h->gzip;
    if (!g || deflateReset(&g->z) != Z_OK)
        return false;

    if (g->out.cap > SCRATCH_KEPT)
        buf_clear(&g->out);
    buf_reset(&g->out);
    if (!deflate_whole(&g->z, body, &g->out))
        return false;
    *ret = buf_str(&g->out);
    return true;
}

bool http_gzip(struct str body, int level, struct buf *out)
{
    z_stream z = { 0 };

    if (!deflate_start(&z, level))
        return false;
    bool smaller = deflate_whole(&z, body, out);
    deflateEnd(&z);
    return smaller;
}
