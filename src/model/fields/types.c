/* types.c - JSON types that many objects share: ids, times, names, URLs, locales. */
#include "model/fields/types.h"

#include "base/utf8.h"

static bool is_http_url(struct str s)
{
    size_t scheme = str_starts_with(s, STR("https://"))  ? 8
                    : str_starts_with(s, STR("http://")) ? 7
                                                         : 0;

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ')
            return false;
    return scheme && s.n > scheme;
}

static const struct string_rule url_rule = { is_http_url, "URL_TYPE_INVALID_URL",
                                             "Not a well formed URL." };

static const struct enum_choice locales[] = {
    { 0, "ar", "ar", "Arabic" },
    { 0, "bg", "bg", "Bulgarian" },
    { 0, "cs", "cs", "Czech" },
    { 0, "da", "da", "Danish" },
    { 0, "de", "de", "German" },
    { 0, "el", "el", "Greek" },
    { 0, "en-GB", "en-GB", "English, UK" },
    { 0, "en-US", "en-US", "English, US" },
    { 0, "es-ES", "es-ES", "Spanish" },
    { 0, "es-419", "es-419", "Spanish, Latin America" },
    { 0, "fi", "fi", "Finnish" },
    { 0, "fr", "fr", "French" },
    { 0, "he", "he", "Hebrew" },
    { 0, "hi", "hi", "Hindi" },
    { 0, "hr", "hr", "Croatian" },
    { 0, "hu", "hu", "Hungarian" },
    { 0, "id", "id", "Indonesian" },
    { 0, "it", "it", "Italian" },
    { 0, "ja", "ja", "Japanese" },
    { 0, "ko", "ko", "Korean" },
    { 0, "lt", "lt", "Lithuanian" },
    { 0, "nl", "nl", "Dutch" },
    { 0, "no", "no", "Norwegian" },
    { 0, "pl", "pl", "Polish" },
    { 0, "pt-BR", "pt-BR", "Portuguese, Brazil" },
    { 0, "ro", "ro", "Romanian" },
    { 0, "ru", "ru", "Russian" },
    { 0, "sv-SE", "sv-SE", "Swedish" },
    { 0, "th", "th", "Thai" },
    { 0, "tr", "tr", "Turkish" },
    { 0, "uk", "uk", "Ukrainian" },
    { 0, "vi", "vi", "Vietnamese" },
    { 0, "zh-CN", "zh-CN", "Chinese, simplified" },
    { 0, "zh-TW", "zh-TW", "Chinese, traditional" },
    { 0 },
};

/* Returns whether the character breaks the line, changes its direction or is invisible. Names must
 * not contain such characters, because names appear inside other texts. The joiners U+200C and
 * U+200D are allowed, because emoji and some scripts need them. */
static bool is_invisible_character(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x200b ||
           (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb);
}

static bool is_visible_name(struct str s)
{
    uint32_t c;

    for (size_t n; s.n; s = str_skip_bytes(s, n)) {
        n = utf8_decode(s, &c);
        if (n == 0 || is_invisible_character(c))
            return false;
    }
    return true;
}

const struct string_rule rule_visible_name = { is_visible_name, FORM_REGEX };

const struct type type_id = { .kind = KIND_ID };
const struct type type_bool = { .kind = KIND_BOOL };
const struct type type_text = { .kind = KIND_STRING };
const struct type type_count = { .kind = KIND_INT, .min = 0, .max = INT32_MAX };
const struct type type_int = { .kind = KIND_INT };
const struct type type_time = { .kind = KIND_TIME };
const struct type type_raw = { .kind = KIND_RAW };
const struct type type_ids = { .kind = KIND_ARRAY, .of = &type_id };
const struct type type_texts = { .kind = KIND_ARRAY, .of = &type_text };
const struct type type_permissions = { .kind = KIND_BITS, .doc = "Set of permission bits" };
const struct type type_color = {
    .kind = KIND_INT, .min = 0, .max = 0xffffff, .doc = "Colour as 0xRRGGBB"
};
const struct type type_locale = { .kind = KIND_STRING,
                                  .choices = locales,
                                  .doc = "Language tag such as en-US" };

struct str locale_find_supported(struct str tag)
{
    for (const struct enum_choice *c = type_locale.choices; c->text; c++)
        if (str_eq_nocase(tag, str_of(c->text)))
            return str_of(c->text);
    return (struct str){ 0 };
}

const struct type type_asset_hash = {
    .kind = KIND_STRING, .doc = "Hash of an image: 32 hex digits, with the prefix a_ if animated"
};
const struct type type_image_upload = { .kind = KIND_IMAGE,
                                        .max = IMAGE_MAX_BYTES,
                                        .doc = "data:image/png;base64,… (png, jpeg, gif, webp)" };
const struct type type_always_null = { .kind = KIND_RAW, .doc = "Not used; null" };
const struct type type_always_empty_list = { .kind = KIND_ARRAY,
                                             .of = &type_raw,
                                             .doc = "Not used; empty" };
const struct type type_url = { .kind = KIND_STRING,
                               .flags = TYPE_EMPTY_NONE,
                               .max = 512,
                               .rule = &url_rule,
                               .doc = "http or https URL" };
const struct type type_long_url = { .kind = KIND_STRING,
                                    .flags = TYPE_EMPTY_NONE,
                                    .max = 2048,
                                    .rule = &url_rule,
                                    .doc = "http or https URL" };
