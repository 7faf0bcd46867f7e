/* types.c - rules that many objects share. */
#include "model/types.h"

static bool url_holds(struct str s)
{
    size_t scheme = str_starts(s, STR("https://")) ? 8 : str_starts(s, STR("http://")) ? 7 : 0;

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ')
            return false;
    return scheme && s.n > scheme;
}

static const struct rule url_rule = { url_holds, "URL_TYPE_INVALID_URL", "Not a well formed URL." };

const struct type type_id = { .kind = KIND_ID };
const struct type type_bool = { .kind = KIND_BOOL };
const struct type type_text = { .kind = KIND_STRING };
const struct type type_count = { .kind = KIND_INT, .min = 0, .max = INT32_MAX };
const struct type type_int = { .kind = KIND_INT };
const struct type type_time = { .kind = KIND_TIME };
const struct type type_raw = { .kind = KIND_RAW };
const struct type type_ids = { .kind = KIND_ARRAY, .of = &type_id };
const struct type type_texts = { .kind = KIND_ARRAY, .of = &type_text };
const struct type type_permissions = { .kind = KIND_BITS, .doc = "Set of rights" };
const struct type type_color = {
    .kind = KIND_INT, .min = 0, .max = 0xffffff, .doc = "Colour as 0xRRGGBB"
};
const struct type type_locale = { .kind = KIND_STRING, .doc = "Language tag such as en-US" };
const struct type type_asset_hash = {
    .kind = KIND_STRING, .doc = "Name of a picture: 32 hex digits, a_ before them when animated"
};
const struct type type_picture = { .kind = KIND_IMAGE,
                                   .max = 10 * 1024 * 1024,
                                   .doc = "data:image/png;base64,… (png, jpeg, gif, webp)" };
const struct type type_nothing = { .kind = KIND_RAW, .doc = "Not used; null" };
const struct type type_none = { .kind = KIND_ARRAY, .of = &type_raw, .doc = "Not used; empty" };
const struct type type_url = {
    .kind = KIND_STRING, .max = 512, .rule = &url_rule, .doc = "http or https address"
};
