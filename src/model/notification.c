/* notification.c - JSON schema of notification center items. */
#include "model/notification.h"

#define NOTHING(member_)                                                              \
    {                                                                                 \
        FIELD(struct notification, member_), .type = &type_nothing, .flags = NULLABLE \
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
    NOTHING(icon_url),
    NOTHING(icon_name),
    NOTHING(item_enum),
    { FIELD(struct notification, guild_id), .type = &type_id, .flags = NULLABLE },
    NOTHING(message_id),
    NOTHING(message_channel_id),
    NOTHING(message),
    NOTHING(guild_scheduled_event_id),
    { FIELD(struct notification, disable_action), .type = &type_bool },
    NOTHING(callout),
    NOTHING(application),
    { 0 },
};
const struct schema notification_schema = {
    .name = "NotificationCenterItem",
    .size = sizeof(struct notification),
    .fields = fields,
    .doc = "An item of the notification center.",
};
