/* schema.c - JSON schemas of webhooks and their request bodies. */
#include "platform/webhooks/internal.h"

bool webhook_name_is_allowed(struct str name)
{
    static const char reserved[] = "clyde";

    for (size_t i = 0; i + sizeof reserved - 1 <= name.n; i++)
        if (str_eq_nocase(str_slice(name.p + i, sizeof reserved - 1), STR(reserved)))
            return false;
    return true;
}

static const struct string_rule name_rule = { webhook_name_is_allowed, "USERNAME_INVALID_CONTAINS",
                                              "Username cannot contain \"clyde\"" };
static const struct type type_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 80, .rule = &name_rule, .doc = "Name"
};

static const struct field source_guild_fields[] = {
    { FIELD(struct webhook_followed_source, id), .type = &type_id },
    { FIELD(struct webhook_followed_source, name), .type = &type_text },
    { FIELD(struct webhook_followed_source, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { 0 },
};
static const struct field source_channel_fields[] = {
    { FIELD(struct webhook_followed_source, id), .type = &type_id },
    { FIELD(struct webhook_followed_source, name), .type = &type_text },
    { 0 },
};
static const struct schema source_guild_schema = {
    .name = "WebhookSourceGuild",
    .size = sizeof(struct webhook_followed_source),
    .fields = source_guild_fields,
    .doc = "The guild whose channel is followed.",
};
static const struct schema source_channel_schema = {
    .name = "WebhookSourceChannel",
    .size = sizeof(struct webhook_followed_source),
    .fields = source_channel_fields,
    .doc = "The channel that is followed.",
};
static const struct type type_source_guild = { .kind = KIND_OBJECT,
                                               .schema = &source_guild_schema };
static const struct type type_source_channel = { .kind = KIND_OBJECT,
                                                 .schema = &source_channel_schema };

static const struct field webhook_fields[] = {
    { FIELD(struct webhook, id), .type = &type_id },
    { FIELD(struct webhook, type), .type = &type_count },
    { FIELD(struct webhook, guild_id), .type = &type_id },
    { FIELD(struct webhook, channel_id), .type = &type_id },
    { FIELD(struct webhook, user), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct webhook, name), .type = &type_name, .flags = NULLABLE },
    { FIELD(struct webhook, avatar), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct webhook, token), .type = &type_text, .flags = OPTIONAL,
      .doc = "Keep it secret" },
    { FIELD(struct webhook, application_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct webhook, url), .type = &type_text, .flags = OPTIONAL,
      .doc = "URL that accepts messages" },
    { FIELD(struct webhook, source_guild), .type = &type_source_guild, .flags = OPTIONAL },
    { FIELD(struct webhook, source_channel), .type = &type_source_channel, .flags = OPTIONAL },
    { 0 },
};
static const struct schema webhook_schema = {
    .name = "Webhook",
    .size = sizeof(struct webhook),
    .fields = webhook_fields,
    .doc = "A URL that accepts messages of programs.",
};
const struct type webhook_reply = { .kind = KIND_OBJECT, .schema = &webhook_schema };
const struct type webhooks_reply = { .kind = KIND_ARRAY, .of = &webhook_reply };

static const struct field draft_fields[] = {
    { FIELD(struct webhook_create_request, name), .type = &type_name },
    { FIELD(struct webhook_create_request, avatar), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "WebhookDraft",
    .size = sizeof(struct webhook_create_request),
    .fields = draft_fields,
    .doc = "A new webhook.",
};
static const struct field patch_fields[] = {
    { FIELD(struct webhook_patch, name), .type = &type_name, .flags = OPTIONAL },
    { FIELD(struct webhook_patch, avatar), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct webhook_patch, channel_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Ignored if the caller uses the token" },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "WebhookPatch",
    .size = sizeof(struct webhook_patch),
    .fields = patch_fields,
    .doc = "Fields of a webhook to change.",
};
const struct type webhook_create_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
const struct type webhook_patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

/* clang-format off */
#define WITH_COMPONENTS                                                                            \
    { FIELD(struct webhook_execute_query, with_components), .type = &type_bool, .flags = OPTIONAL,         \
      .doc = "Required for components of webhooks that no application owns" }
/* clang-format on */

static const struct field execute_fields[] = {
    { FIELD(struct webhook_execute_query, wait), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Reply with the message" },
    WITH_COMPONENTS,
    { FIELD(struct webhook_execute_query, thread_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "A thread of the webhook's channel" },
    { 0 },
};
const struct schema execute_query = {
    .size = sizeof(struct webhook_execute_query),
    .fields = execute_fields,
    .doc = "Target thread, and whether the reply contains the message.",
};
static const struct field service_fields[] = {
    { FIELD(struct webhook_execute_query, wait), .type = &type_bool, .flags = OPTIONAL,
      .fallback = true, .doc = "Accepted, without effect: the message is stored before the reply" },
    { FIELD(struct webhook_execute_query, thread_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "A thread of the webhook's channel" },
    { 0 },
};
const struct schema webhook_service_query = {
    .size = sizeof(struct webhook_execute_query),
    .fields = service_fields,
    .doc = "Target thread of the message.",
};
static const struct field message_fields[] = {
    WITH_COMPONENTS,
    { FIELD(struct webhook_execute_query, thread_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "A thread of the webhook's channel" },
    { 0 },
};
const struct schema webhook_message_query = {
    .size = sizeof(struct webhook_execute_query),
    .fields = message_fields,
    .doc = "Thread of the message.",
};
