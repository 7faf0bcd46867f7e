/* notification.c - JSON schema of notification center items. */
#include "model/notification.h"

#define ALWAYS_NULL(member_)                                                              \
    {                                                                                     \
        FIELD(struct notification, member_), .type = &type_always_null, .flags = NULLABLE \
    }

static const struct field fields[] = {
    { FIELD(struct notification, id), .type = &type_id },
    { FIELD(struct notification, type), .type = &type_text },
    { FIELD(struct notification, body), .type = &type_text },
    { FIELD(struct notification, bundle_id), .type = &type_text },
    { FIELD(struct notification, acked), .type = &type_bool },
    { FIELD(struct notification, completed), .type = &type_bool },
    { FIELD(struct notification, deeplink), .type = &type_text },
    { FIELD(struct notification, other_user), .type = &type_partial_user, .flags = NULLABLE },
    ALWAYS_NULL(icon_url),
    ALWAYS_NULL(icon_name),
    ALWAYS_NULL(item_enum),
    { FIELD(struct notification, guild_id), .type = &type_id, .flags = NULLABLE },
    ALWAYS_NULL(message_id),
    ALWAYS_NULL(message_channel_id),
    ALWAYS_NULL(message),
    ALWAYS_NULL(guild_scheduled_event_id),
    { FIELD(struct notification, disable_action), .type = &type_bool },
    ALWAYS_NULL(callout),
    ALWAYS_NULL(application),
    { 0 },
};
const struct schema notification_schema = {
    .name = "NotificationCenterItem",
    .size = sizeof(struct notification),
    .fields = fields,
    .doc = "An item of the notification center.",
};
