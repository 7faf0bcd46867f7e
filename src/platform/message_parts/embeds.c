/* embeds.c - JSON schema, limits and stored JSON of embeds. */
#include "platform/message_parts/embed.h"

#include "base/utf8.h"
#include "platform/message_parts/column_json.h"

static bool is_http_url(struct str s)
{
    return str_starts_with(s, STR("https://")) || str_starts_with(s, STR("http://"));
}

static bool is_media_url(struct str s)
{
    return is_http_url(s) || str_starts_with(s, STR("attachment://"));
}

static const struct string_rule url_rule = { is_http_url, "URL_TYPE_INVALID_URL",
                                             "Not a well formed URL." };
static const struct string_rule media_url_rule = { is_media_url, "URL_TYPE_INVALID_URL",
                                                   "Not a well formed URL." };

static const struct type type_title = { .kind = KIND_STRING, .max = EMBED_MOST_TITLE };
static const struct type type_description = { .kind = KIND_STRING, .max = EMBED_MOST_DESCRIPTION };
const struct type type_embed_link = {
    .kind = KIND_STRING, .flags = TYPE_EMPTY_NONE, .max = 2048, .rule = &url_rule
};
const struct type type_media_url = { .kind = KIND_STRING,
                                     .flags = TYPE_EMPTY_NONE,
                                     .max = 2048,
                                     .rule = &media_url_rule,
                                     .doc = "http, https, or attachment://filename" };
static const struct type type_field_name = { .kind = KIND_STRING, .min = 1, .max = 256 };
static const struct type type_field_value = { .kind = KIND_STRING, .min = 1, .max = 1024 };
static const struct type type_timestamp = { .kind = KIND_TIME, .flags = TYPE_EMPTY_NONE };
static const struct type type_footer_text = { .kind = KIND_STRING, .max = 2048 };
static const struct type type_author_name = { .kind = KIND_STRING, .max = 256 };

static const struct field field_fields[] = {
    { FIELD(struct embed_field, name), .type = &type_field_name },
    { FIELD(struct embed_field, value), .type = &type_field_value },
    { FIELD_AS(struct embed_field, is_inline, "inline"), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema field_schema = {
    .name = "EmbedField",
    .size = sizeof(struct embed_field),
    .fields = field_fields,
    .doc = "A name and a value in an embed.",
};
static const struct field footer_fields[] = {
    { FIELD(struct embed_footer, text), .type = &type_footer_text, .flags = OPTIONAL | NULLABLE,
      .fallback_text = "" },
    { FIELD(struct embed_footer, icon_url), .type = &type_media_url, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema footer_schema = {
    .name = "EmbedFooter",
    .size = sizeof(struct embed_footer),
    .fields = footer_fields,
    .doc = "The last line of an embed.",
};
static const struct field author_fields[] = {
    { FIELD(struct embed_author, name), .type = &type_author_name, .flags = OPTIONAL | NULLABLE,
      .fallback_text = "" },
    { FIELD(struct embed_author, url), .type = &type_embed_link, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed_author, icon_url), .type = &type_media_url, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema author_schema = {
    .name = "EmbedAuthor",
    .size = sizeof(struct embed_author),
    .fields = author_fields,
    .doc = "The author of an embed.",
};
static const struct field media_fields[] = {
    { FIELD(struct embed_media, url), .type = &type_media_url, .flags = OPTIONAL | NULLABLE,
      .fallback_text = "" },
    { 0 },
};
static const struct schema media_schema = {
    .name = "EmbedMedia",
    .size = sizeof(struct embed_media),
    .fields = media_fields,
    .doc = "A picture in an embed.",
};

static const struct type type_embed_field = { .kind = KIND_OBJECT, .schema = &field_schema };
static const struct type type_embed_fields = { .kind = KIND_ARRAY,
                                               .max = 25,
                                               .of = &type_embed_field };
static const struct type type_footer = { .kind = KIND_OBJECT, .schema = &footer_schema };
static const struct type type_author = { .kind = KIND_OBJECT, .schema = &author_schema };
static const struct type type_media = { .kind = KIND_OBJECT, .schema = &media_schema };

/* Returns false for a footer without text and icon. Clients send empty footers, authors and images;
 * they are not stored. */
static bool footer_is_visible(const struct opt_object *part)
{
    const struct embed_footer *f = part->value;

    return f && (f->text.n || f->icon_url.given == GIVEN);
}

static bool author_is_visible(const struct opt_object *part)
{
    const struct embed_author *a = part->value;

    return a && (a->name.n || a->icon_url.given == GIVEN);
}

static bool media_is_visible(const struct opt_object *part)
{
    const struct embed_media *m = part->value;

    return m && m->url.n;
}

static void check_limits_of_embed(struct form *form, const struct json_path *here,
                                  const void *object)
{
    const struct embed *e = object;
    struct json_path at = json_path_key(here, STR("description"));

    if (e->title.given != GIVEN && e->description.given != GIVEN && e->fields.value.count == 0 &&
        !footer_is_visible(&e->footer) && !media_is_visible(&e->image) &&
        !media_is_visible(&e->thumbnail) && !author_is_visible(&e->author) &&
        !form_has_error_at_path(form, here))
        form_add_error(form, &at, FORM_REQUIRED);
}

static const struct field embed_fields[] = {
    { FIELD(struct embed, type), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .fallback_text = "rich", .doc = "Always rich" },
    { FIELD(struct embed, title), .type = &type_title, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, description), .type = &type_description, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, url), .type = &type_embed_link, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, timestamp), .type = &type_timestamp, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, color), .type = &type_color, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, footer), .type = &type_footer, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, image), .type = &type_media, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, thumbnail), .type = &type_media, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, author), .type = &type_author, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct embed, fields), .type = &type_embed_fields, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema embed_schema = {
    .name = "Embed",
    .size = sizeof(struct embed),
    .fields = embed_fields,
    .check = check_limits_of_embed,
    .doc = "A card below a message's text; 6000 characters in all embeds together.",
};
const struct type type_embed_in = { .kind = KIND_OBJECT, .schema = &embed_schema };
const struct type type_embeds_in = { .kind = KIND_ARRAY, .max = EMBEDS_MOST, .of = &type_embed_in };

static size_t optional_text_length(struct opt_str s)
{
    return s.given == GIVEN ? utf8_length(s.value) : 0;
}

static size_t count_embed_characters(const struct embed *e)
{
    size_t sum = optional_text_length(e->title) + optional_text_length(e->description);
    const struct embed_footer *footer = e->footer.value;
    const struct embed_author *author = e->author.value;
    const struct embed_field *fields = e->fields.value.items;

    if (footer)
        sum += utf8_length(footer->text);
    if (author)
        sum += utf8_length(author->name);
    for (size_t i = 0; i < e->fields.value.count; i++)
        sum += utf8_length(fields[i].name) + utf8_length(fields[i].value);
    return sum;
}

size_t embeds_count_characters(const struct list *embeds)
{
    const struct embed *e = embeds->items;
    size_t sum = 0;

    for (size_t i = 0; i < embeds->count; i++)
        sum += count_embed_characters(&e[i]);
    return sum;
}

void message_embeds_validate(struct form *form, const struct json_path *here,
                             const struct opt_list *embeds)
{
    struct json_path at = json_path_key(here, STR("embeds"));

    if (embeds->given != GIVEN || form_has_error_at_path(form, &at))
        return;
    if (embeds_count_characters(&embeds->value) > EMBEDS_MOST_CHARACTERS)
        form_add_error(form, &at, "MAX_EMBED_SIZE_EXCEEDED",
                       "Embed size exceeds maximum size of 6000");
}

static void normalize_embed_part(struct opt_object *part, const struct schema *schema, bool shown)
{
    if (shown)
        json_object_remove_null_fields(schema, part->value);
    else
        *part = (struct opt_object){ .given = ABSENT };
}

/* Converts an embed to its stored form: sets the type "rich" and removes empty parts and null
 * fields. */
static void normalize_embed(struct embed *e)
{
    e->type = STR("rich");
    normalize_embed_part(&e->footer, &footer_schema, footer_is_visible(&e->footer));
    normalize_embed_part(&e->author, &author_schema, author_is_visible(&e->author));
    normalize_embed_part(&e->image, &media_schema, media_is_visible(&e->image));
    normalize_embed_part(&e->thumbnail, &media_schema, media_is_visible(&e->thumbnail));
    json_object_remove_null_fields(&embed_schema, e);
}

struct str embeds_encode_json(struct arena *arena, const struct list *embeds)
{
    for (size_t i = 0; i < embeds->count; i++)
        normalize_embed(&((struct embed *)embeds->items)[i]);
    return encode_json_for_database_column(arena, &type_embeds_in, embeds);
}
