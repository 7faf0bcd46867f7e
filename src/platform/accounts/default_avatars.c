/* default_avatars.c - default avatars for accounts without a picture, drawn on request. */
#include "platform/accounts/internal.h"

#include "base/pictures/png.h"

enum { SIDE = 128, AVATARS = 6 };

static const unsigned char colors[AVATARS][3] = {
    { 88, 101, 242 }, { 116, 127, 141 }, { 59, 165, 93 },
    { 250, 166, 26 }, { 237, 66, 69 },   { 235, 69, 158 },
};

static void draw_white_ring(const struct png_image *png)
{
    const int middle = SIDE / 2, outer = 40 * 40, inner = 24 * 24;

    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int far = (x - middle) * (x - middle) + (y - middle) * (y - middle);

            if (far >= inner && far <= outer)
                png_set_pixel(png, (unsigned)x, (unsigned)y);
        }
}

static void encode_default_avatar(struct buf *out, const unsigned char color[3])
{
    unsigned char pixels[SIDE * PNG_ROW_BYTES(SIDE)] = { 0 };
    struct png_image png = { SIDE, SIDE, { color[0], color[1], color[2], 255, 255, 255 }, pixels };

    draw_white_ring(&png);
    png_encode_two_colors(&png, out);
}

static enum err reply_with_default_avatar(struct call *call, uint64_t n)
{
    struct buf png;

    buf_init(&png, 64 * 1024);
    encode_default_avatar(&png, colors[n]);
    call_add_header(call, "Cache-Control", STR("public, max-age=31536000, immutable"));
    return call_reply_with_buf(call, STR("image/png"), &png);
}

enum err reply_with_default_picture(struct call *call, snowflake owner)
{
    return reply_with_default_avatar(call, (owner >> 22) % AVATARS);
}

struct str user_avatar_url(struct call *call, const struct user *u)
{
    struct str base = api_get_base_url(call, "http");

    if (u->avatar.given == GIVEN)
        return str_printf(call->arena, "%.*s/avatars/%llu/%.*s.png", STR_ARGS(base),
                          (unsigned long long)u->id, STR_ARGS(u->avatar.value));
    return str_printf(call->arena, "%.*s/embed/avatars/%llu.png", STR_ARGS(base),
                      (unsigned long long)((u->id >> 22) % AVATARS));
}

static enum err get_default_avatar(struct call *call)
{
    struct str file = call_get_path_text(call, "file"), number = str_cut(&file, '.');
    uint64_t n;

    if (!str_to_u64(number, &n) || n >= AVATARS || !str_is(file, "png"))
        return ERR_NOT_FOUND;
    return reply_with_default_avatar(call, n);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/embed/avatars/{file}",
        .name = "get_default_avatar",
        .doc = "A default avatar: 0.png to 5.png.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_default_avatar,
    },
    { 0 },
};

const struct domain default_avatars_domain = {
    .name = "Default avatars",
    .doc = "Default avatars.",
    .routes = routes,
};
