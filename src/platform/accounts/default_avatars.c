/* default_avatars.c - pictures for those who have none, drawn when asked for. */
#include "platform/accounts/internal.h"

#include <zlib.h>

#include "base/mem.h"

enum { SIDE = 128, AVATARS = 6 };

static const unsigned char colors[AVATARS][3] = {
    { 88, 101, 242 }, { 116, 127, 141 }, { 59, 165, 93 },
    { 250, 166, 26 }, { 237, 66, 69 },   { 235, 69, 158 },
};

static void add_u32(struct buf *out, uint32_t v)
{
    const char bytes[] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };

    buf_add(out, bytes, sizeof bytes);
}

static void add_chunk(struct buf *out, const char *type, const void *data, size_t n)
{
    uLong crc = crc32(0, (const Bytef *)type, 4);

    add_u32(out, (uint32_t)n);
    buf_add(out, type, 4);
    buf_add(out, data, n);
    add_u32(out, (uint32_t)(n ? crc32(crc, data, (uInt)n) : crc));
}

/* A white ring on the colour: one bit a pixel, each line after its filter byte. */
static void default_avatars_draw(unsigned char *pixels)
{
    const int middle = SIDE / 2, outer = 40 * 40, inner = 24 * 24;

    for (int y = 0; y < SIDE; y++) {
        unsigned char *line = pixels + y * (SIDE / 8 + 1) + 1;

        for (int x = 0; x < SIDE; x++) {
            int far = (x - middle) * (x - middle) + (y - middle) * (y - middle);

            if (far >= inner && far <= outer)
                line[x / 8] |= (unsigned char)(0x80 >> x % 8);
        }
    }
}

static void make_png(struct buf *out, const unsigned char color[3])
{
    static const unsigned char head[] = { 0, 0, 0, SIDE, 0, 0, 0, SIDE, 1, 3, 0, 0, 0 };
    unsigned char palette[6] = { color[0], color[1], color[2], 255, 255, 255 };
    unsigned char pixels[SIDE * (SIDE / 8 + 1)] = { 0 }, packed[sizeof pixels + 64];
    uLongf n = sizeof packed;

    default_avatars_draw(pixels);
    compress2(packed, &n, pixels, sizeof pixels, Z_BEST_COMPRESSION);
    buf_add(out, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(out, "IHDR", head, sizeof head);
    add_chunk(out, "PLTE", palette, sizeof palette);
    add_chunk(out, "IDAT", packed, n);
    add_chunk(out, "IEND", "", 0);
}

static enum err reply_ring(struct call *call, uint64_t n)
{
    struct buf png;

    buf_init(&png, 64 * 1024);
    make_png(&png, colors[n]);
    call_add_header(call, "Cache-Control", STR("public, max-age=31536000, immutable"));
    return call_reply_buf(call, STR("image/png"), &png);
}

enum err picture_reply_default(struct call *call, snowflake owner)
{
    return reply_ring(call, (owner >> 22) % AVATARS);
}

/* GET /embed/avatars/{file} */
static enum err get_default_avatar(struct call *call)
{
    struct str file = call_text(call, "file"), number = str_cut(&file, '.');
    uint64_t n;

    if (!str_to_u64(number, &n) || n >= AVATARS || !str_is(file, "png"))
        return ERR_NOT_FOUND;
    return reply_ring(call, n);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/embed/avatars/{file}",
        .name = "get_default_avatar",
        .doc = "The avatar of those who have none: 0.png to 5.png.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_default_avatar,
    },
    { 0 },
};

const struct domain default_avatars_domain = {
    .name = "Default avatars",
    .doc = "Pictures for those who have none.",
    .routes = routes,
};
