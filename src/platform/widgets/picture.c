/* picture.c - GET /guilds/{guild.id}/widget.png: a picture with the number of online members. */
#include <stdio.h>

#include "base/pictures/png.h"
#include "gateway/gateway.h"
#include "platform/widgets/internal.h"

static const struct enum_choice styles[] = {
    { 0, "shield", "SHIELD", "205 by 20" },    { 0, "banner1", "BANNER1", "320 by 76" },
    { 0, "banner2", "BANNER2", "320 by 76" },  { 0, "banner3", "BANNER3", "320 by 76" },
    { 0, "banner4", "BANNER4", "320 by 180" }, { 0 },
};
static const struct type type_widget_style = { .kind = KIND_STRING, .choices = styles };
static const struct field query_fields[] = {
    { FIELD(struct widget_picture_query, style), .type = &type_widget_style, .flags = OPTIONAL,
      .fallback_text = "shield" },
    { 0 },
};
const struct schema widget_picture_query_schema = {
    .name = "WidgetPictureQuery",
    .size = sizeof(struct widget_picture_query),
    .fields = query_fields,
    .doc = "Which picture.",
};

/* Digits as bitmaps of 3 × 5 dots, one byte per row of dots. */
static const unsigned char digits[10][5] = {
    { 7, 5, 5, 5, 7 }, { 2, 6, 2, 2, 7 }, { 7, 1, 7, 4, 7 }, { 7, 1, 7, 1, 7 }, { 5, 5, 7, 1, 1 },
    { 7, 4, 7, 1, 7 }, { 7, 4, 7, 5, 7 }, { 7, 1, 1, 1, 1 }, { 7, 5, 7, 5, 7 }, { 7, 5, 7, 1, 7 },
};

static void draw_digit(const struct png_image *png, unsigned digit, unsigned left, unsigned top,
                       unsigned scale)
{
    for (unsigned y = 0; y < 5 * scale; y++)
        for (unsigned x = 0; x < 3 * scale; x++)
            if (digits[digit][y / scale] >> (2 - x / scale) & 1)
                png_set_pixel(png, left + x, top + y);
}

static void draw_centered_number(const struct png_image *png, unsigned n)
{
    char text[12];
    unsigned scale = png->height / 10, count = (unsigned)snprintf(text, sizeof text, "%u", n);
    unsigned left = (png->width - count * 4 * scale) / 2, top = (png->height - 5 * scale) / 2;

    for (unsigned i = 0; i < count; i++)
        draw_digit(png, (unsigned)(text[i] - '0'), left + i * 4 * scale, top, scale);
}

/* GET /guilds/{guild.id}/widget.png */
enum err get_guild_widget_picture(struct call *call)
{
    const struct widget_picture_query *in = call->query;
    bool shield = str_is(in->style, "shield"), tall = str_is(in->style, "banner4");
    struct png_image png = { .width = shield ? 205 : 320,
                             .height = shield ? 20
                                       : tall ? 180
                                              : 76,
                             .colors = { 88, 101, 242, 255, 255, 255 } };
    struct gateway *gateway = api_get_options(call->api)->gateway;
    struct buf out;

    if (!call->target.guild->widget_enabled)
        return ERR_WIDGET_DISABLED;
    png.pixels = arena_alloc(call->arena, (size_t)png.height * PNG_ROW_BYTES(png.width));
    draw_centered_number(&png,
                         (unsigned)gateway_online_member_count(gateway, call->target.guild->id));
    buf_init(&out, 256 * 1024);
    png_encode_two_colors(&png, &out);
    call_add_header(call, "Cache-Control", STR("public, max-age=60"));
    return call_reply_with_buf(call, STR("image/png"), &out);
}
