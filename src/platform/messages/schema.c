/* schema.c - JSON schemas of the bodies that create and change messages. */
#include "platform/messages/internal.h"

#include "base/utf8.h"
#include "json/read.h"

/* --- allowed mentions ----------------------------------------------------------------- */

static const struct enum_choice mention_kinds[] = {
    { 0, "users", "USERS", "People" },
    { 0, "roles", "ROLES", "Everybody with a role" },
    { 0, "everyone", "EVERYONE", "@everyone and @here" },
    { 0 },
};
static const struct type type_mention_kind = { .kind = KIND_STRING, .choices = mention_kinds };
static const struct type type_mention_kinds = { .kind = KIND_ARRAY, .of = &type_mention_kind };
static const struct type type_some_ids = { .kind = KIND_ARRAY, .max = 100, .of = &type_id };

static const struct field allowed_fields[] = {
    { FIELD(struct allowed_mentions, parse), .type = &type_mention_kinds,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct allowed_mentions, users), .type = &type_some_ids, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct allowed_mentions, roles), .type = &type_some_ids, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct allowed_mentions, replied_user), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};

static void check_allowed_mentions(struct form *form, const struct json_path *here,
                                   const void *object)
{
    const struct allowed_mentions *m = object;
    const struct str *kinds = m->parse.value.items;

    if (form_has_error_at_path(form, here))
        return;
    for (size_t i = 0; i < m->parse.value.count; i++)
        if ((str_is(kinds[i], "users") && m->users.value.count) ||
            (str_is(kinds[i], "roles") && m->roles.value.count))
            form_add_error(form, here, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                           "parse:[\"%.*s\"] and %.*s: [ids...] are mutually exclusive.",
                           STR_ARGS(kinds[i]), STR_ARGS(kinds[i]));
}

static const struct schema allowed_schema = {
    .name = "AllowedMentions",
    .size = sizeof(struct allowed_mentions),
    .fields = allowed_fields,
    .check = check_allowed_mentions,
    .doc = "Users and roles that a message may ping.",
};

/* --- message references, attachments ------------------------------------------------- */

static const struct enum_choice reference_types[] = {
    { REFERENCE_REPLY, NULL, "DEFAULT", "A reply" },
    { REFERENCE_FORWARD, NULL, "FORWARD", "A forward" },
    { 0 },
};
static const struct type type_reference_type = { .kind = KIND_INT, .choices = reference_types };
static const struct type type_index = { .kind = KIND_INT, .min = 0, .max = 9 };
static const struct type type_indices = { .kind = KIND_ARRAY, .max = 10, .of = &type_index };
static const struct type type_few_ids = { .kind = KIND_ARRAY, .max = 10, .of = &type_id };
static const struct field only_fields[] = {
    { FIELD(struct forward_selection, embed_indices), .type = &type_indices,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct forward_selection, attachment_ids), .type = &type_few_ids,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema only_schema = {
    .name = "ForwardOnly",
    .size = sizeof(struct forward_selection),
    .fields = only_fields,
    .doc = "Embeds and attachments to forward; absent: all.",
};
static const struct type type_only = { .kind = KIND_OBJECT, .schema = &only_schema };

static const struct field reference_fields[] = {
    { FIELD(struct message_reference_in_body, type), .type = &type_reference_type,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct message_reference_in_body, message_id), .type = &type_id },
    { FIELD(struct message_reference_in_body, channel_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct message_reference_in_body, guild_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct message_reference_in_body, fail_if_not_exists), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE, .fallback = true },
    { FIELD(struct message_reference_in_body, forward_only), .type = &type_only,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema reference_schema = {
    .name = "MessageReferenceDraft",
    .size = sizeof(struct message_reference_in_body),
    .fields = reference_fields,
    .doc = "The message to reply to or to forward.",
};

static const struct type type_filename = { .kind = KIND_STRING, .min = 1, .max = 1024 };
static const struct type type_description = { .kind = KIND_STRING, .max = 1024 };
static const struct type type_uploaded = { .kind = KIND_STRING, .min = 1, .max = 200 };
static bool is_base64(struct str s)
{
    while (s.n && s.p[s.n - 1] == '=')
        s.n--;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '+' || s.p[i] == '/'))
            return false;
    return true;
}

static const struct string_rule rule_base64 = { is_base64, FORM_CHOICES, "Not base64." };
static const struct type type_waveform = { .kind = KIND_STRING, .rule = &rule_base64, .max = 400 };
static const struct type type_duration = { .kind = KIND_REAL, .min = 0, .max = 24 * 3600 };
static const struct field attachment_fields[] = {
    { FIELD(struct attachment_in_body, id), .type = &type_id,
      .doc = "Id of an existing attachment, or the n of files[n]" },
    { FIELD(struct attachment_in_body, filename), .type = &type_filename,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct attachment_in_body, description), .type = &type_description,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct attachment_in_body, title), .type = &type_description,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct attachment_in_body, duration_secs), .type = &type_duration,
      .flags = OPTIONAL | NULLABLE, .doc = "Of a voice message" },
    { FIELD(struct attachment_in_body, waveform), .type = &type_waveform,
      .flags = OPTIONAL | NULLABLE, .doc = "Of a voice message, base64" },
    { FIELD(struct attachment_in_body, is_spoiler), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct attachment_in_body, is_remix), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct attachment_in_body, uploaded_filename), .type = &type_uploaded,
      .flags = OPTIONAL | NULLABLE, .doc = "Name of a file that was uploaded before" },
    { 0 },
};
static const struct schema attachment_in_schema = {
    .name = "AttachmentDraft",
    .size = sizeof(struct attachment_in_body),
    .fields = attachment_fields,
    .doc = "Properties of an attachment.",
};

const struct type type_message_content = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .max = 2000, .doc = "Text"
};
static const struct type type_nonce = { .kind = KIND_RAW,
                                        .doc = "String or integer, returned in the reply" };
const struct type type_allowed_mentions = { .kind = KIND_OBJECT, .schema = &allowed_schema };
const struct type type_message_reference_in = { .kind = KIND_OBJECT, .schema = &reference_schema };
static const struct type type_attachment_in = { .kind = KIND_OBJECT,
                                                .schema = &attachment_in_schema };
const struct type type_attachments_in = { .kind = KIND_ARRAY,
                                          .max = MESSAGE_MAX_FILES,
                                          .of = &type_attachment_in };
static const struct type type_webhook_username = {
    .kind = KIND_STRING,
    .flags = TYPE_TRIM | TYPE_EMPTY_NONE,
    .min = 1,
    .max = 80,
    .doc = "Name to show instead of the webhook's name"
};

static const struct type type_applied_tags = {
    .kind = KIND_ARRAY, .max = 5, .of = &type_id, .doc = "Tags of the post that thread_name creates"
};

enum { MOST_NONCE = 25 };

static bool is_valid_message_nonce(struct str json, struct arena *arena)
{
    struct json_reader r;
    struct json_number number;
    struct str text;

    json_reader_init(&r, json, arena);
    switch (json_peek_kind(&r)) {
    case JSON_STRING:
        return json_read_string(&r, &text) && utf8_length(text) <= MOST_NONCE;
    case JSON_NUMBER:
        return json_read_number(&r, &number) && number.kind != NUMBER_REAL;
    default:
        return false;
    }
}

void message_nonce_validate(struct form *form, const struct json_path *here,
                            const struct opt_str *nonce)
{
    struct json_path at = json_path_key(here, STR("nonce"));

    if (nonce->given == GIVEN && !is_valid_message_nonce(nonce->value, form->arena))
        form_add_error(form, &at, "NONCE_TYPE_INVALID",
                       "A nonce has at most %d characters or is an integer.", MOST_NONCE);
}

/* Some client libraries send the same embed in `embed` and `embeds`; `embeds` is used unless it is
 * empty. */
struct opt_list message_body_get_embeds(const struct message_body *in)
{
    struct list one = { .items = in->embed.value, .count = in->embed.given == GIVEN };

    return in->embed.given == ABSENT || in->embeds.value.count
               ? in->embeds
               : (struct opt_list){ in->embed.given, one };
}

static void check_embeds(struct form *form, const struct json_path *here,
                         const struct message_body *in)
{
    struct opt_list embeds = message_body_get_embeds(in);

    message_embeds_validate(form, here, &embeds);
}

void message_body_check_components_v2(struct form *form, const struct json_path *here,
                                      const struct message_body *in, bool only_components)
{
    struct json_path content = json_path_key(here, STR("content")),
                     embeds = json_path_key(here, STR("embeds")),
                     poll = json_path_key(here, STR("poll")),
                     stickers = json_path_key(here, STR("sticker_ids"));

    message_components_validate(form, here, &in->components, only_components);
    if (!only_components)
        return;
    if (in->content.given == GIVEN && in->content.value.n)
        form_add_error(form, &content, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                       "content cannot be used with these components.");
    if (message_body_get_embeds(in).value.count)
        form_add_error(form, &embeds, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                       "Embeds cannot be used with these components.");
    if (in->poll.given == GIVEN)
        form_add_error(form, &poll, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                       "A poll cannot be used with these components.");
    if (in->sticker_ids.value.count)
        form_add_error(form, &stickers, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                       "Stickers cannot be used with these components.");
}

const struct type type_sticker_ids = { .kind = KIND_ARRAY,
                                       .max = MESSAGE_MAX_STICKERS,
                                       .of = &type_id };

void message_body_validate(struct form *form, const struct json_path *here, const void *object)
{
    const struct message_body *in = object;

    message_nonce_validate(form, here, &in->nonce);
    check_embeds(form, here, in);
    message_body_check_components_v2(
        form, here, in, in->flags.given == GIVEN && in->flags.value & MESSAGE_IS_COMPONENTS_V2);
}

/* Validates an edit's body; message_edit checks rules that depend on the stored message. */
void message_patch_validate(struct form *form, const struct json_path *here, const void *object)
{
    const struct message_body *in = object;

    check_embeds(form, here, in);
}

static const struct field create_fields[] = {
    MESSAGE_BODY_FIELDS,
    MESSAGE_BODY_FIELD(embed, type_embed_in),
    MESSAGE_BODY_FIELD(nonce, type_nonce),
    MESSAGE_BODY_FIELD(enforce_nonce, type_bool),
    MESSAGE_BODY_FIELD(message_reference, type_message_reference_in),
    { 0 },
};
static const struct field edit_fields[] = {
    MESSAGE_PATCH_FIELDS,
    MESSAGE_BODY_FIELD(embed, type_embed_in),
    { 0 },
};
static const struct field webhook_fields[] = {
    MESSAGE_BODY_FIELDS,
    MESSAGE_BODY_FIELD(username, type_webhook_username),
    MESSAGE_BODY_FIELD(avatar_url, type_long_url),
    MESSAGE_BODY_FIELD(thread_name, type_channel_name),
    MESSAGE_BODY_FIELD(applied_tags, type_applied_tags),
    { 0 },
};

static const struct schema create_schema = {
    .name = "MessageDraft",
    .size = sizeof(struct message_body),
    .fields = create_fields,
    .check = message_body_validate,
    .doc = "A new message. Embeds and components of users are ignored.",
};
static const struct schema edit_schema = {
    .name = "MessagePatch",
    .size = sizeof(struct message_body),
    .fields = edit_fields,
    .check = message_patch_validate,
    .doc = "Fields of a message to change.",
};
static const struct schema webhook_schema = {
    .name = "WebhookMessageDraft",
    .size = sizeof(struct message_body),
    .fields = webhook_fields,
    .check = message_body_validate,
    .doc = "A new message of a webhook.",
};

const struct type message_create_body = { .kind = KIND_OBJECT, .schema = &create_schema };
const struct type message_edit_body = { .kind = KIND_OBJECT, .schema = &edit_schema };
const struct type webhook_message_body = { .kind = KIND_OBJECT, .schema = &webhook_schema };
