/* formats.c - detects the format of a sticker file; checks its dimensions and duration. */
#include "platform/stickers/internal.h"

#include "base/pictures/pictures.h"
#include "json/read.h"

enum { MOST_PIXELS = 320, MOST_MS = 5000 };

static enum err check_lottie_file(struct arena *arena, struct str bytes)
{
    double from = 0, to = 0, rate = 0, width = 0, height = 0;
    struct json_reader r;
    struct json_number n;
    struct str key;
    bool layers = false;

    json_reader_init(&r, bytes, arena);
    json_enter_container(&r);
    while (json_next_member(&r, &key)) {
        double *at = str_is(key, "ip")   ? &from
                     : str_is(key, "op") ? &to
                     : str_is(key, "fr") ? &rate
                     : str_is(key, "w")  ? &width
                     : str_is(key, "h")  ? &height
                                         : NULL;

        layers = layers || (str_is(key, "layers") && json_peek_kind(&r) == JSON_ARRAY);
        if (at && json_peek_kind(&r) == JSON_NUMBER && json_read_number(&r, &n))
            *at = n.d;
        else if (!json_skip_value(&r, NULL))
            return ERR_INVALID_ASSET;
    }
    if (!json_is_at_end(&r) || !layers)
        return ERR_INVALID_ASSET;
    if (width > MOST_PIXELS || height > MOST_PIXELS)
        return ERR_STICKER_LARGE;
    return rate > 0 && (to - from) / rate * 1000 > MOST_MS ? ERR_STICKER_LONG : OK;
}

enum err sticker_file_detect(struct arena *arena, struct str bytes, struct sticker_file *ret)
{
    struct picture_properties p;

    *ret = (struct sticker_file){ STICKER_LOTTIE, "json" };
    if (bytes.n && bytes.p[0] == '{')
        return check_lottie_file(arena, bytes);
    if (!picture_detect_type(bytes, &p))
        return ERR_INVALID_ASSET;
    if (str_is(str_of(p.type), "image/gif"))
        *ret = (struct sticker_file){ STICKER_GIF, "gif" };
    else if (str_is(str_of(p.type), "image/png"))
        *ret = (struct sticker_file){ picture_is_apng(bytes) ? STICKER_APNG : STICKER_PNG, "png" };
    else
        return ERR_INVALID_ASSET;
    if (!p.width || !p.height || p.width > MOST_PIXELS || p.height > MOST_PIXELS)
        return ERR_STICKER_LARGE;
    return picture_duration_ms(bytes) > MOST_MS ? ERR_STICKER_LONG : OK;
}
