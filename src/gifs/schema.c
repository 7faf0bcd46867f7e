/* schema.c - schemas of the GIF routes. */
#include "gifs/internal.h"

#include "model/fields/types.h"

static const struct type type_media = { .kind = KIND_STRING, .doc = "Address of a file" };

static const struct field gif_fields[] = {
    { FIELD(struct gif, id), .type = &type_text },
    { FIELD(struct gif, title), .type = &type_text, .flags = DEPRECATED },
    { FIELD(struct gif, url), .type = &type_text, .doc = "Its page" },
    { FIELD(struct gif, src), .type = &type_media, .doc = "In the format asked for" },
    { FIELD(struct gif, gif_src), .type = &type_media, .doc = "As a GIF" },
    { FIELD(struct gif, preview), .type = &type_media, .doc = "A still picture" },
    { FIELD(struct gif, width), .type = &type_int, .doc = "Of src" },
    { FIELD(struct gif, height), .type = &type_int, .doc = "Of src" },
    { 0 },
};
static const struct schema gif_schema = {
    .name = "Gif",
    .size = sizeof(struct gif),
    .fields = gif_fields,
    .doc = "A GIF that can be sent.",
};
static const struct type type_gif = { .kind = KIND_OBJECT, .schema = &gif_schema };
const struct type gifs_reply = { .kind = KIND_ARRAY, .max = 500, .of = &type_gif };

static const struct field category_fields[] = {
    { FIELD(struct gif_category, name), .type = &type_text, .doc = "What to search for" },
    { FIELD(struct gif_category, src), .type = &type_media, .doc = "Its best GIF" },
    { 0 },
};
static const struct schema category_schema = {
    .name = "GifCategory",
    .size = sizeof(struct gif_category),
    .fields = category_fields,
    .doc = "A tag that many GIFs have.",
};
static const struct type type_category = { .kind = KIND_OBJECT, .schema = &category_schema };
static const struct type type_categories = { .kind = KIND_ARRAY,
                                             .max = GIFS_CATEGORIES,
                                             .of = &type_category };
static const struct type type_one_gif = { .kind = KIND_ARRAY, .max = 1, .of = &type_gif };

static const struct field trends_fields[] = {
    { FIELD(struct gif_trends, categories), .type = &type_categories },
    { FIELD(struct gif_trends, gifs), .type = &type_one_gif, .doc = "The first trending one" },
    { 0 },
};
static const struct schema trends_schema = {
    .name = "GifTrends",
    .size = sizeof(struct gif_trends),
    .fields = trends_fields,
    .doc = "Categories and trending GIFs.",
};
const struct type gif_trends_reply = { .kind = KIND_OBJECT, .schema = &trends_schema };
const struct type gif_terms_reply = { .kind = KIND_ARRAY, .max = 50, .of = &type_text };

static const struct type type_q = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .max = GIFS_MAX_QUERY, .doc = "What to search for"
};
static const struct type type_format = {
    .kind = KIND_STRING,
    .doc = "mp4, tinymp4, nanomp4, loopedmp4, webm, tinywebm, nanowebm, gif, mediumgif, tinygif, "
           "nanogif, webp, tinywebp or nanowebp; anything else is mp4"
};
static const struct type type_tag = { .kind = KIND_STRING,
                                      .doc = "Language tag; an unknown one is en-US" };
static const struct type type_few = {
    .kind = KIND_INT, .flags = TYPE_CLAMP, .min = 1, .max = 50, .doc = "How many"
};
static const struct type type_many = {
    .kind = KIND_INT, .flags = TYPE_CLAMP, .min = 20, .max = 500, .doc = "How many"
};

static void check_search_text_not_empty(struct form *form, const struct json_path *here,
                                        const void *object)
{
    const struct gif_query *in = object;
    struct json_path at = json_path_key(here, STR("q"));

    if (!form_has_error_at_path(form, &at) && !in->q.n)
        form_add_error(form, &at, FORM_REQUIRED);
}

#define Q                                           \
    {                                               \
        FIELD(struct gif_query, q), .type = &type_q \
    }
#define LIMIT(type_, fallback_)                                                                 \
    {                                                                                           \
        FIELD(struct gif_query, limit), .type = type_, .flags = OPTIONAL, .fallback = fallback_ \
    }
#define LOCALE                                                                \
    {                                                                         \
        FIELD(struct gif_query, locale), .type = &type_tag, .flags = OPTIONAL \
    }
#define FORMAT                                                                          \
    {                                                                                   \
        FIELD(struct gif_query, media_format), .type = &type_format, .flags = OPTIONAL, \
                                               .fallback_text = "mp4"                   \
    }

static const struct field term_fields[] = { LIMIT(&type_few, 5), LOCALE, { 0 } };
const struct schema gif_term_query = { .size = sizeof(struct gif_query), .fields = term_fields };

static const struct field suggest_fields[] = { Q, LIMIT(&type_few, 20), LOCALE, { 0 } };
const struct schema gif_suggest_query = { .size = sizeof(struct gif_query),
                                          .fields = suggest_fields,
                                          .check = check_search_text_not_empty };

static const struct field search_fields[] = { Q, LIMIT(&type_many, 100), FORMAT, LOCALE, { 0 } };
const struct schema gif_search_query = { .size = sizeof(struct gif_query),
                                         .fields = search_fields,
                                         .check = check_search_text_not_empty };

static const struct field trends_query_fields[] = { FORMAT, LOCALE, { 0 } };
const struct schema gif_trends_query = { .size = sizeof(struct gif_query),
                                         .fields = trends_query_fields };

static const struct field list_fields[] = { LIMIT(&type_many, 100), FORMAT, LOCALE, { 0 } };
const struct schema gif_list_query = { .size = sizeof(struct gif_query), .fields = list_fields };

static const struct type type_gif_id = { .kind = KIND_STRING };
static const struct field choice_fields[] = {
    { FIELD(struct gif_select_body, id), .type = &type_gif_id, .doc = "The GIF" },
    { FIELD(struct gif_select_body, q), .type = &type_text,
      .doc = "Search text; empty if there was none" },
    { 0 },
};
static const struct schema choice_schema = {
    .name = "GifChoice",
    .size = sizeof(struct gif_select_body),
    .fields = choice_fields,
    .doc = "A GIF that somebody chose.",
};
const struct type gif_choice_body = { .kind = KIND_OBJECT, .schema = &choice_schema };
