/* server_gzip.c - smaller answers: one deflate state a loop, made when first used. */
#include <zlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/server_internal.h"

enum { WORTH_IT = 1024, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };

struct gzip {
    z_stream z;
    struct buf out;
};

static struct gzip *gzip_new(void)
{
    struct gzip *g = mem_new(sizeof *g);

    if (deflateInit2(&g->z, 1, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        log_error("server: cannot start gzip");
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

bool gzip_fits(struct str content_type, size_t length)
{
    return length >= WORTH_IT && (str_starts(content_type, STR("application/json")) ||
                                  str_starts(content_type, STR("text/")));
}

bool gzip_body(struct home *h, struct str body, struct str *ret)
{
    if (!h->gzip)
        h->gzip = gzip_new();
    struct gzip *g = h->gzip;
    if (!g || deflateReset(&g->z) != Z_OK || body.n > UINT32_MAX / 2)
        return false;

    if (g->out.cap > SCRATCH_KEPT)
        buf_clear(&g->out);
    buf_reset(&g->out);
    size_t room = deflateBound(&g->z, (uLong)body.n);
    g->z.next_in = (Bytef *)(uintptr_t)body.p;
    g->z.avail_in = (uInt)body.n;
    g->z.next_out = (Bytef *)buf_room(&g->out, room);
    g->z.avail_out = (uInt)room;
    if (deflate(&g->z, Z_FINISH) != Z_STREAM_END || g->z.total_out >= body.n)
        return false;
    *ret = str_slice(g->out.p, g->z.total_out);
    return true;
}
