/* image.c - decodes images from data URIs, such as data:<mime>;base64,<data>, with optional spaces
 * after ';' and ','. The first bytes of the data determine the image type; the declared MIME type
 * is ignored. */
#include "json/internal.h"

#include "base/arena.h"
#include "base/pictures/pictures.h"

static bool parse_data_uri(struct str uri, struct str *ret)
{
    if (!memchr(uri.p, ',', uri.n))
        return false;

    struct str data = uri, head = str_cut(&data, ',');
    struct str scheme = str_cut(&head, ':');
    str_cut(&head, ';');
    if (!str_eq_nocase(scheme, STR("data")) || !str_eq_nocase(str_skip_spaces(head), STR("base64")))
        return false;
    *ret = str_skip_spaces(data);
    return true;
}

static const char *detect_image_extension(struct str bytes)
{
    static const struct {
        struct str magic;
        const char *extension;
    } kinds[] = {
        { STR_INIT("\x89PNG\r\n\x1a\n"), "png" },
        { STR_INIT("\xff\xd8\xff"), "jpeg" },
        { STR_INIT("GIF87a"), "gif" },
        { STR_INIT("GIF89a"), "gif" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_starts_with(bytes, kinds[i].magic))
            return kinds[i].extension;
    if (str_starts_with(bytes, STR("RIFF")) &&
        str_starts_with(str_skip_bytes(bytes, 8), STR("WEBP")))
        return "webp";
    return picture_is_avif(bytes) ? "avif" : NULL;
}

/* Returns true if base64 text decodes to more than max bytes. Spaces and padding do not count. */
static bool base64_decodes_to_more_than(struct str data, uint64_t max)
{
    size_t n = data.n;

    if (n / 4 * 3 <= max)
        return false;
    for (size_t i = 0; i < data.n; i++)
        n -= (unsigned char)data.p[i] <= ' ' || data.p[i] == '=';
    return n * 3 / 4 > max;
}

void decode_image_uri(struct form *form, const struct type *type, struct str text,
                      const struct json_path *at, struct uploaded_image *out)
{
    struct str data;

    if (!parse_data_uri(text, &data)) {
        form_add_error(form, at, FORM_NOT_IMAGE);
        return;
    }
    if (type->max && base64_decodes_to_more_than(data, (uint64_t)type->max)) {
        form_add_error(form, at, FORM_IMAGE_TOO_LARGE, (double)type->max / 1024);
        return;
    }
    if (!str_base64_decode(form->arena, data, &out->bytes) ||
        !(out->extension = detect_image_extension(out->bytes)))
        form_add_error(form, at, FORM_NOT_IMAGE);
}
