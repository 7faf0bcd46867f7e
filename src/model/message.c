/* message.c - JSON schemas of messages and attachments. */
#include "model/message.h"

#include "model/reaction.h"

static const struct type type_nonce = { .kind = KIND_RAW,
                                        .doc = "A string or number, as the client sent it" };
static const struct type type_embeds = { .kind = KIND_RAW, .doc = "Embeds" };
static const struct type type_components = { .kind = KIND_RAW, .doc = "Components" };
static const struct type type_snapshots = { .kind = KIND_RAW,
                                            .doc = "Forwarded messages: [{message}]" };
static const struct type type_items = { .kind = KIND_RAW, .doc = "Stickers" };
static const struct type type_interaction = { .kind = KIND_RAW,
                                              .doc = "Interaction it responds to" };

static const struct type type_seconds = { .kind = KIND_REAL };
static const struct field attachment_fields[] = {
    { FIELD(struct attachment, id), .type = &type_id },
    { FIELD(struct attachment, filename), .type = &type_text },
    { FIELD(struct attachment, description), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct attachment, content_type), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct attachment, size), .type = &type_int, .doc = "Bytes" },
    { FIELD(struct attachment, url), .type = &type_text, .doc = "Signed URL, valid for one day" },
    { FIELD(struct attachment, proxy_url), .type = &type_text },
    { FIELD(struct attachment, width), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct attachment, height), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct attachment, title), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct attachment, duration_secs), .type = &type_seconds, .flags = OPTIONAL,
      .doc = "Voice messages only" },
    { FIELD(struct attachment, waveform), .type = &type_text, .flags = OPTIONAL,
      .doc = "Voice messages only, in base64" },
    { FIELD(struct attachment, flags), .type = &type_count, .flags = OPTIONAL,
      .doc = "Bit set; 8: the file is a spoiler" },
    { 0 },
};
const struct schema attachment_schema = {
    .name = "Attachment",
    .size = sizeof(struct attachment),
    .fields = attachment_fields,
    .doc = "A file attached to a message.",
};
static const struct type type_attachment = { .kind = KIND_OBJECT, .schema = &attachment_schema };
const struct type type_message_files = { .kind = KIND_ARRAY, .of = &type_attachment };

static const struct field reference_fields[] = {
    { FIELD(struct message_reference, type), .type = &type_count },
    { FIELD(struct message_reference, message_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct message_reference, channel_id), .type = &type_id },
    { FIELD(struct message_reference, guild_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
static const struct schema reference_schema = {
    .name = "MessageReference",
    .size = sizeof(struct message_reference),
    .fields = reference_fields,
    .doc = "The message that this message replies to or forwards.",
};
static const struct type type_reference = { .kind = KIND_OBJECT, .schema = &reference_schema };

static const struct field mention_fields[] = {
    PARTIAL_USER_FIELDS,
    { 0 },
};
static const struct field gateway_mention_fields[] = {
    PARTIAL_USER_FIELDS,
    { FIELD(struct mentioned_user, member), .type = &type_member, .flags = OPTIONAL },
    { 0 },
};
static const struct schema mention_schema = {
    .name = "Mention",
    .size = sizeof(struct mentioned_user),
    .fields = mention_fields,
    .doc = "A mentioned user.",
};
static const struct schema gateway_mention_schema = {
    .name = "GatewayMention",
    .size = sizeof(struct mentioned_user),
    .fields = gateway_mention_fields,
    .doc = "A mentioned user, in guilds with the member.",
};
static const struct type type_mention = { .kind = KIND_OBJECT, .schema = &mention_schema };
const struct type type_message_mentions = { .kind = KIND_ARRAY, .of = &type_mention };
static const struct type type_gateway_mention = { .kind = KIND_OBJECT,
                                                  .schema = &gateway_mention_schema };
static const struct type type_gateway_mentions = { .kind = KIND_ARRAY,
                                                   .of = &type_gateway_mention };

/* clang-format off */
#define MESSAGE_FIELDS(type_of_mentions)                                                           \
    { FIELD(struct message, id), .type = &type_id },                                               \
    { FIELD(struct message, channel_id), .type = &type_id },                                       \
    { FIELD(struct message, author), .type = &type_partial_user },                                 \
    FIELDS_AFTER_AUTHOR(type_of_mentions)
#define FIELDS_AFTER_AUTHOR(type_of_mentions)                                                      \
    { FIELD(struct message, content), .type = &type_text },                                        \
    { FIELD(struct message, timestamp), .type = &type_time },                                      \
    { FIELD(struct message, edited_timestamp), .type = &type_time, .flags = NULLABLE },            \
    { FIELD(struct message, tts), .type = &type_bool },                                            \
    { FIELD(struct message, mention_everyone), .type = &type_bool },                               \
    { FIELD(struct message, mentions), .type = (type_of_mentions) },                               \
    { FIELD(struct message, mention_roles), .type = &type_ids },                                   \
    { FIELD(struct message, attachments), .type = &type_message_files },                             \
    { FIELD(struct message, embeds), .type = &type_embeds },                                       \
    { FIELD(struct message, pinned), .type = &type_bool },                                         \
    { FIELD(struct message, type), .type = &type_count },                                          \
    { FIELD(struct message, flags), .type = &type_flag_bits },                                         \
    { FIELD(struct message, components), .type = &type_components },                               \
    { FIELD(struct message, nonce), .type = &type_nonce, .flags = OPTIONAL },                   \
    { FIELD(struct message, webhook_id), .type = &type_id, .flags = OPTIONAL },                    \
    { FIELD(struct message, application_id), .type = &type_id, .flags = OPTIONAL },                \
    { FIELD(struct message, interaction), .type = &type_interaction,                               \
      .flags = OPTIONAL | DEPRECATED },                                                            \
    { FIELD(struct message, interaction_metadata), .type = &type_interaction, .flags = OPTIONAL }, \
    { FIELD(struct message, call), .type = &type_raw, .flags = OPTIONAL },                         \
    { FIELD(struct message, message_reference), .type = &type_reference, .flags = OPTIONAL },      \
    { FIELD(struct message, referenced_message), .type = &type_message,                            \
      .flags = OPTIONAL | NULLABLE },                                                              \
    { FIELD(struct message, position), .type = &type_count, .flags = OPTIONAL },                   \
    { FIELD(struct message, thread), .type = &type_channel, .flags = OPTIONAL },                   \
    { FIELD(struct message, poll), .type = &type_poll, .flags = OPTIONAL },                        \
    { FIELD(struct message, sticker_items), .type = &type_items, .flags = OPTIONAL },              \
    { FIELD(struct message, message_snapshots), .type = &type_snapshots, .flags = OPTIONAL }
/* clang-format on */

static const struct field message_fields[] = {
    MESSAGE_FIELDS(&type_message_mentions),
    { FIELD(struct message, reactions), .type = &type_reactions, .flags = OPTIONAL },
    { FIELD(struct message, hit), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Search results only: whether the message matched" },
    { 0 },
};
static const struct field gateway_message_fields[] = {
    MESSAGE_FIELDS(&type_gateway_mentions),
    { FIELD(struct message, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct message, member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct message, channel_type), .type = &type_count, .flags = OPTIONAL },
    { 0 },
};
static const struct field message_after_author_fields[] = {
    FIELDS_AFTER_AUTHOR(&type_message_mentions), { 0 }
};
static const struct field webhook_message_from_author_fields[] = {
    { FIELD(struct message, author), .type = &type_partial_user },
    FIELDS_AFTER_AUTHOR(&type_message_mentions),
    { 0 },
};
const struct schema message_schema = {
    .name = "Message",
    .size = sizeof(struct message),
    .fields = message_fields,
    .doc = "A message.",
};
const struct schema gateway_message_schema = {
    .name = "GatewayMessage",
    .size = sizeof(struct message),
    .fields = gateway_message_fields,
    .doc = "A message with its guild and member, as sent in events.",
};
const struct schema message_after_author_schema = {
    .name = "ShownMessage",
    .size = sizeof(struct message),
    .fields = message_after_author_fields,
};
const struct schema webhook_message_from_author_schema = {
    .name = "ShownWebhookMessage",
    .size = sizeof(struct message),
    .fields = webhook_message_from_author_fields,
};
const struct type type_message = { .kind = KIND_OBJECT, .schema = &message_schema };
const struct type type_messages = { .kind = KIND_ARRAY, .of = &type_message };

static const struct field message_delete_fields[] = {
    { FIELD(struct message_delete_event, id), .type = &type_id },
    { FIELD(struct message_delete_event, channel_id), .type = &type_id },
    { FIELD(struct message_delete_event, guild_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
const struct schema message_delete_event_schema = {
    .name = "MessageGone",
    .size = sizeof(struct message_delete_event),
    .fields = message_delete_fields,
    .doc = "A message that was deleted.",
};
static const struct field messages_delete_fields[] = {
    { FIELD(struct messages_delete_event, ids), .type = &type_ids },
    { FIELD(struct messages_delete_event, channel_id), .type = &type_id },
    { FIELD(struct messages_delete_event, guild_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
const struct schema messages_delete_event_schema = {
    .name = "MessagesGone",
    .size = sizeof(struct messages_delete_event),
    .fields = messages_delete_fields,
    .doc = "Messages that were deleted together.",
};

bool message_cannot_be_deleted(int64_t type)
{
    return (type >= MESSAGE_RECIPIENT_ADD && type <= MESSAGE_CHANNEL_ICON_CHANGE) ||
           type == MESSAGE_THREAD_STARTER;
}

bool message_is_system(int64_t type)
{
    return type != MESSAGE_DEFAULT && type != MESSAGE_REPLY && type != MESSAGE_CHAT_INPUT_COMMAND &&
           type != MESSAGE_CONTEXT_MENU_COMMAND;
}
