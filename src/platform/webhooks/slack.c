/* slack.c - webhook endpoint for Slack-compatible messages. */
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "platform/messages/message_body.h"
#include "platform/message_parts/embed.h"
#include "platform/webhooks/internal.h"

enum { MOST_TEXT = 2000, MOST_FIELDS = 25, LONGEST_TEXT = 64 * 1024 };

struct slack_field {
    struct opt_str title, name;
    struct str value;
    bool is_short, is_inline;
};

struct slack_attachment {
    struct opt_str title, title_link, text, pretext, fallback, color, footer, footer_icon;
    struct opt_str author_name, author_link, author_icon, image_url, thumb_url;
    struct opt_int ts;
    struct list fields; /* struct slack_field */
};

struct slack_message {
    struct opt_str payload, text, username, icon_url;
    struct list attachments; /* struct slack_attachment */
};

/* --- schema --------------------------------------------------------------------------- */

/* Parses "#36a64f" or "36a64f". Returns -1 if the text is invalid. */
static int64_t parse_hex_color(struct str s)
{
    int64_t value = 0;

    if (s.n && s.p[0] == '#')
        s = str_skip_bytes(s, 1);
    for (size_t i = 0; i < s.n; i++) {
        const char *digits = "0123456789abcdef", *at = strchr(digits, s.p[i] | 0x20);

        if (!at || s.p[i] < '0')
            return -1;
        value = value * 16 + (at - digits);
        if (value > 0xffffff)
            return -1;
    }
    return s.n == 6 ? value : -1;
}

static const struct slack_color {
    const char *word;
    int64_t value;
} slack_colors[] = { { "good", 0x2eb886 }, { "warning", 0xdaa038 }, { "danger", 0xa30200 } };

static int64_t parse_slack_color(struct str s)
{
    for (size_t i = 0; i < sizeof slack_colors / sizeof *slack_colors; i++)
        if (str_is(s, slack_colors[i].word))
            return slack_colors[i].value;
    return parse_hex_color(s);
}

static bool slack_color_is_valid(struct str s)
{
    return parse_slack_color(s) >= 0;
}

static const struct string_rule color_rule = { slack_color_is_valid, FORM_REGEX };
static const struct type type_slack_text = { .kind = KIND_STRING, .max = MOST_TEXT };
static const struct type type_slack_username = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 80
};
static const struct type type_slack_title = { .kind = KIND_STRING, .max = EMBED_MOST_TITLE };
static const struct type type_slack_body = { .kind = KIND_STRING, .max = EMBED_MOST_DESCRIPTION };
static const struct type type_slack_footer = { .kind = KIND_STRING, .max = 2048 };
static const struct type type_slack_value = { .kind = KIND_STRING, .min = 1, .max = 1024 };
static const struct type type_slack_color = { .kind = KIND_STRING,
                                              .rule = &color_rule,
                                              .doc = "#RRGGBB, good, warning or danger" };
static const struct type type_slack_time = {
    .kind = KIND_INT, .flags = TYPE_EITHER, .min = 0, .max = 253402300799, .doc = "Unix seconds"
};

static void check_slack_field(struct form *form, const struct json_path *here, const void *object)
{
    const struct slack_field *f = object;
    struct json_path at = json_path_key(here, STR("title"));

    if (!f->title.value.n && !f->name.value.n && !form_has_error_at_path(form, here))
        form_add_error(form, &at, FORM_REQUIRED);
}

static const struct field slack_field_fields[] = {
    { FIELD(struct slack_field, title), .type = &type_slack_title, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct slack_field, name), .type = &type_slack_title, .flags = OPTIONAL | NULLABLE,
      .doc = "Used if there is no title" },
    { FIELD(struct slack_field, value), .type = &type_slack_value },
    { FIELD_AS(struct slack_field, is_short, "short"), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { FIELD_AS(struct slack_field, is_inline, "inline"), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema slack_field_schema = {
    .name = "SlackField",
    .size = sizeof(struct slack_field),
    .fields = slack_field_fields,
    .check = check_slack_field,
    .doc = "A name and a value.",
};
static const struct type type_slack_field = { .kind = KIND_OBJECT, .schema = &slack_field_schema };
static const struct type type_slack_fields = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = MOST_FIELDS, .of = &type_slack_field
};

static void check_slack_attachment(struct form *form, const struct json_path *here,
                                   const void *object)
{
    const struct slack_attachment *a = object;
    struct json_path at = json_path_key(here, STR("text"));

    if (!a->title.value.n && !a->text.value.n && !a->pretext.value.n && !a->fallback.value.n &&
        !a->footer.value.n && !a->author_name.value.n && !a->image_url.value.n &&
        !a->thumb_url.value.n && !a->fields.count && !form_has_error_at_path(form, here))
        form_add_error(form, &at, FORM_REQUIRED);
}

/* clang-format off */
#define SLACK_FIELD(member_, type_)                                                                \
    { FIELD(struct slack_attachment, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

static const struct field slack_attachment_fields[] = {
    SLACK_FIELD(title, type_slack_title),
    SLACK_FIELD(title_link, type_embed_link),
    SLACK_FIELD(text, type_slack_body),
    SLACK_FIELD(pretext, type_slack_body),
    SLACK_FIELD(fallback, type_slack_body),
    SLACK_FIELD(color, type_slack_color),
    SLACK_FIELD(ts, type_slack_time),
    SLACK_FIELD(footer, type_slack_footer),
    SLACK_FIELD(footer_icon, type_embed_link),
    SLACK_FIELD(author_name, type_slack_title),
    SLACK_FIELD(author_link, type_embed_link),
    SLACK_FIELD(author_icon, type_embed_link),
    SLACK_FIELD(image_url, type_embed_link),
    SLACK_FIELD(thumb_url, type_embed_link),
    { FIELD(struct slack_attachment, fields), .type = &type_slack_fields, .flags = OPTIONAL },
    { 0 },
};
static const struct schema slack_attachment_schema = {
    .name = "SlackAttachment",
    .size = sizeof(struct slack_attachment),
    .fields = slack_attachment_fields,
    .check = check_slack_attachment,
    .doc = "Is converted to an embed; the fallback is used if there is no text.",
};
static const struct type type_slack_attachment = { .kind = KIND_OBJECT,
                                                   .schema = &slack_attachment_schema };
static const struct type type_slack_attachments = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = EMBEDS_MOST, .of = &type_slack_attachment
};

static const struct field slack_message_fields[] = {
    { FIELD(struct slack_message, payload), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "In forms: the whole message as JSON" },
    { FIELD(struct slack_message, text), .type = &type_slack_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct slack_message, username), .type = &type_slack_username,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct slack_message, icon_url), .type = &type_long_url, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct slack_message, attachments), .type = &type_slack_attachments,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema slack_message_schema = {
    .name = "SlackMessage",
    .size = sizeof(struct slack_message),
    .fields = slack_message_fields,
    .doc = "A message in Slack's format.",
};
const struct type slack_body = { .kind = KIND_OBJECT, .schema = &slack_message_schema };

/* --- conversion to a message body ----------------------------------------------------- */

/* Parses a link with a label, <url|label>, at the start of s. *ret_bar is the offset of "|". */
static bool parse_labelled_link(struct str s, size_t *ret_bar, size_t *ret_end)
{
    const char *end = memchr(s.p, '>', s.n);
    const char *bar = end ? memchr(s.p, '|', (size_t)(end - s.p)) : NULL;

    if (!bar || !(str_starts_with(s, STR("<https://")) || str_starts_with(s, STR("<http://"))))
        return false;
    *ret_bar = (size_t)(bar - s.p);
    *ret_end = (size_t)(end - s.p);
    return true;
}

/* Converts Slack links <https://x.y|label> to Markdown [label](https://x.y). The search for the end
 * of a link stops at the next "<", so the conversion takes linear time. */
static struct str convert_slack_links(struct arena *arena, struct str s)
{
    struct buf out;

    if (!s.n || !memchr(s.p, '|', s.n))
        return s;
    buf_init(&out, LONGEST_TEXT);
    while (s.n) {
        const char *next = memchr(s.p + 1, '<', s.n - 1);
        struct str piece = str_slice(s.p, next ? (size_t)(next - s.p) : s.n);
        size_t bar, end;

        s = str_skip_bytes(s, piece.n);
        if (!parse_labelled_link(piece, &bar, &end)) {
            buf_add_str(&out, piece);
            continue;
        }
        buf_add_str(&out, STR("["));
        buf_add_str(&out, str_slice(piece.p + bar + 1, end - bar - 1));
        buf_add_str(&out, STR("]("));
        buf_add_str(&out, str_slice(piece.p + 1, bar - 1));
        buf_add_str(&out, STR(")"));
        buf_add_str(&out, str_skip_bytes(piece, end + 1));
    }
    return buf_move_to_arena(&out, arena);
}

static struct opt_str opt_text_if_not_empty(struct str s)
{
    return s.n ? opt_str_or_null(s) : (struct opt_str){ 0 };
}

static struct opt_object embed_media_of_url(struct arena *arena, struct opt_str url)
{
    struct embed_media *media;

    if (!url.value.n)
        return (struct opt_object){ 0 };
    media = arena_alloc(arena, sizeof *media);
    media->url = url.value;
    return (struct opt_object){ GIVEN, media };
}

static struct opt_object embed_author_of_attachment(struct arena *arena,
                                                    const struct slack_attachment *a)
{
    struct embed_author *author;

    if (!a->author_name.value.n)
        return (struct opt_object){ 0 };
    author = arena_alloc(arena, sizeof *author);
    *author =
        (struct embed_author){ a->author_name.value, opt_text_if_not_empty(a->author_link.value),
                               opt_text_if_not_empty(a->author_icon.value) };
    return (struct opt_object){ GIVEN, author };
}

static struct opt_object embed_footer_of_attachment(struct arena *arena,
                                                    const struct slack_attachment *a)
{
    struct embed_footer *footer;

    if (!a->footer.value.n)
        return (struct opt_object){ 0 };
    footer = arena_alloc(arena, sizeof *footer);
    *footer = (struct embed_footer){ a->footer.value, opt_text_if_not_empty(a->footer_icon.value) };
    return (struct opt_object){ GIVEN, footer };
}

static struct opt_list embed_fields_of_attachment(struct arena *arena, const struct list *in)
{
    struct opt_list out = { .given = in->count ? GIVEN : ABSENT };

    for (size_t i = 0; i < in->count; i++) {
        const struct slack_field *f = &((const struct slack_field *)in->items)[i];
        struct embed_field *field = list_append(arena, &out.value, sizeof *field);

        field->name = f->title.value.n ? f->title.value : f->name.value;
        field->value = convert_slack_links(arena, f->value);
        field->is_inline = f->is_short || f->is_inline;
    }
    return out;
}

/* Returns the embed's description: pretext and text or, if the attachment has neither text nor
 * title, its fallback. */
static struct str description_of_attachment(struct arena *arena, const struct slack_attachment *a)
{
    struct str text = a->text.value, above = a->pretext.value;

    if (text.n && above.n)
        text = STR_CONCAT(arena, above, STR("\n"), text);
    else if (above.n)
        text = above;
    else if (!text.n && !a->title.value.n)
        text = a->fallback.value;
    return convert_slack_links(arena, text);
}

static void embed_from_attachment(struct arena *arena, const struct slack_attachment *a,
                                  struct embed *ret)
{
    *ret = (struct embed){
        .title = opt_text_if_not_empty(a->title.value),
        .description = opt_text_if_not_empty(description_of_attachment(arena, a)),
        .url = opt_text_if_not_empty(a->title_link.value),
        .footer = embed_footer_of_attachment(arena, a),
        .image = embed_media_of_url(arena, a->image_url),
        .thumbnail = embed_media_of_url(arena, a->thumb_url),
        .author = embed_author_of_attachment(arena, a),
        .fields = embed_fields_of_attachment(arena, &a->fields),
    };
    if (a->ts.given == GIVEN)
        ret->timestamp = (struct opt_int){ GIVEN, a->ts.value * 1000000 };
    if (a->color.value.n)
        ret->color = (struct opt_int){ GIVEN, parse_slack_color(a->color.value) };
}

/* Checks the lengths after the conversion to Markdown, because it makes texts longer. */
static void check_converted_text_lengths(struct form *form, const struct json_path *here,
                                         const struct message_body *out)
{
    struct json_path text = json_path_key(here, STR("text")),
                     list = json_path_key(here, STR("attachments"));
    const struct embed *embeds = out->embeds.value.items;

    if (utf8_length(out->content.value) > MOST_TEXT)
        form_add_error(form, &text, FORM_MAX_LENGTH, (long long)MOST_TEXT);
    for (size_t i = 0; i < out->embeds.value.count; i++) {
        struct json_path one = json_path_index(&list, i), at = json_path_key(&one, STR("text"));

        if (utf8_length(embeds[i].description.value) > EMBED_MOST_DESCRIPTION)
            form_add_error(form, &at, FORM_MAX_LENGTH, (long long)EMBED_MOST_DESCRIPTION);
    }
    if (!form_has_errors(form) &&
        embeds_count_characters(&out->embeds.value) > EMBEDS_MOST_CHARACTERS)
        form_add_error(form, &list, "MAX_EMBED_SIZE_EXCEEDED",
                       "Embed size exceeds maximum size of 6000");
}

/* Returns the Slack message of a request: the body, or in a form request the JSON in the field
 * `payload`. Returns NULL and adds errors to the call's form if it is invalid. */
static const struct slack_message *decode_slack_message(struct call *call,
                                                        const struct json_path *payload)
{
    const struct slack_message *in = call->body;
    void *inner = NULL;

    if (!in->payload.value.n)
        return in;
    enum err e =
        schema_decode_part_of_body(&slack_body, in->payload.value, &call->form, payload, &inner);
    if (e == ERR_INVALID_JSON)
        form_add_error(&call->form, payload, FORM_NOT_MODEL);
    return e ? NULL : inner;
}

enum err convert_slack_body_to_message(struct call *call)
{
    struct message_body *out = arena_alloc(call->arena, sizeof *out);
    struct json_path payload = json_path_key(NULL, STR("payload"));
    const struct slack_message *in = decode_slack_message(call, &payload);

    *out = (struct message_body){ 0 };
    if (!in)
        return pass_on_converted_webhook_message(call, out);
    out->content = opt_text_if_not_empty(convert_slack_links(call->arena, in->text.value));
    out->username = in->username;
    out->avatar_url = in->icon_url;
    out->embeds.given = in->attachments.count ? GIVEN : ABSENT;
    for (size_t i = 0; i < in->attachments.count; i++)
        embed_from_attachment(call->arena,
                              &((const struct slack_attachment *)in->attachments.items)[i],
                              list_append(call->arena, &out->embeds.value, sizeof(struct embed)));
    check_converted_text_lengths(&call->form, in == call->body ? NULL : &payload, out);
    return pass_on_converted_webhook_message(call, out);
}

/* POST /webhooks/{webhook.id}/{webhook.token}/slack */
enum err execute_slack_webhook(struct call *call)
{
    enum err e = send_converted_webhook_message(call);

    return e ? e : call_reply_with_text(call, STR("text/plain; charset=utf-8"), STR("ok"));
}
