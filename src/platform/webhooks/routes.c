/* routes.c - route table of webhooks. */
#include "api/deletion.h"
#include "api/hooks.h"
#include "model/permissions/permissions.h"
#include "platform/messages/message_body.h"
#include "platform/webhooks/internal.h"

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    {
        .name = "webhook.id",
        .field = "webhook_id",
        .major = true,
        .doc = "A webhook.",
        .resolve = resolve_webhook,
    },
    {
        .name = "webhook.token",
        .field = "webhook_token",
        .is_text = true,
        .major = true,
        .doc = "The webhook's token.",
        .resolve = resolve_webhook_token,
    },
    {
        .name = "webhook.message.id",
        .field = "message_id",
        .is_text = true, /* resolve_webhook_message parses the id after the token was checked */
        .doc = "A message that the webhook sent.",
        .resolve = resolve_webhook_message,
    },
    { 0 },
};

#define CHANGES                                                      \
    (const enum event[])                                             \
    {                                                                \
        EVENT_WEBHOOKS_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, 0 \
    }

#define SENDS                                                                              \
    (const enum event[])                                                                   \
    {                                                                                      \
        EVENT_MESSAGE_CREATE, THREAD_MESSAGE_EVENTS, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, 0 \
    }

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/webhooks",
        .name = "create_webhook",
        .doc = "Create a webhook.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_WEBHOOKS),
        .body = &webhook_create_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &webhook_reply,
        .fires = CHANGES,
        .prepare = schedule_storing_new_webhook_avatar,
        .handle = create_webhook,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/webhooks",
        .name = "list_channel_webhooks",
        .doc = "Webhooks of a channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_WEBHOOKS),
        .reply = &webhooks_reply,
        .handle = list_channel_webhooks,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/webhooks",
        .name = "list_guild_webhooks",
        .doc = "Webhooks of a guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_WEBHOOKS),
        .reply = &webhooks_reply,
        .handle = list_guild_webhooks,
    },
    {
        .method = GET,
        .path = "/webhooks/{webhook.id}",
        .name = "get_webhook",
        .doc = "A webhook; needs MANAGE_WEBHOOKS in its channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &webhook_reply,
        .admit = check_manage_webhook_permission,
        .handle = get_webhook,
    },
    {
        .method = PATCH,
        .path = "/webhooks/{webhook.id}",
        .name = "modify_webhook",
        .doc = "Change or move a webhook; needs MANAGE_WEBHOOKS in its channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &webhook_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &webhook_reply,
        .fires = CHANGES,
        .prepare = schedule_storing_changed_webhook_avatar,
        .admit = check_manage_webhook_permission,
        .handle = modify_webhook,
    },
    {
        .method = DELETE,
        .path = "/webhooks/{webhook.id}",
        .name = "delete_webhook",
        .doc = "Delete a webhook; needs MANAGE_WEBHOOKS in its channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = CHANGES,
        .admit = check_manage_webhook_permission,
        .handle = delete_webhook,
    },
    {
        .method = GET,
        .path = "/webhooks/{webhook.id}/{webhook.token}",
        .name = "get_webhook_with_token",
        .doc = "A webhook, by its token; without its creator.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .reply = &webhook_reply,
        .handle = get_webhook,
    },
    {
        .method = PATCH,
        .path = "/webhooks/{webhook.id}/{webhook.token}",
        .name = "modify_webhook_with_token",
        .doc = "Change a webhook, by its token; the channel cannot be changed.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .body = &webhook_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &webhook_reply,
        .fires = CHANGES,
        .prepare = schedule_storing_changed_webhook_avatar,
        .handle = modify_webhook,
    },
    {
        .method = DELETE,
        .path = "/webhooks/{webhook.id}/{webhook.token}",
        .name = "delete_webhook_with_token",
        .doc = "Delete a webhook, by its token.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .fires = CHANGES,
        .handle = delete_webhook,
    },
    {
        .method = POST,
        .path = "/webhooks/{webhook.id}/{webhook.token}",
        .name = "execute_webhook",
        .doc = "Send a message as the webhook.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &execute_query,
        .body = &webhook_message_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_message,
        .fires = SENDS,
        .store = ROUTE_STORE_APPEND,
        .prepare = schedule_storing_webhook_message_uploads,
        .handle = execute_webhook,
    },
    {
        .method = POST,
        .path = "/webhooks/{webhook.id}/{webhook.token}/slack",
        .name = "execute_slack_webhook",
        .doc = "Send a message in Slack's format; the reply is the text ok.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &webhook_service_query,
        .body = &slack_body,
        .body_kinds = BODY_FORM,
        .status = 200,
        .fires = SENDS,
        .store = ROUTE_STORE_APPEND,
        .prepare = convert_slack_body_to_message,
        .handle = execute_slack_webhook,
    },
    {
        .method = POST,
        .path = "/webhooks/{webhook.id}/{webhook.token}/github",
        .name = "execute_github_webhook",
        .doc = "Send a message about a GitHub event; unknown events are ignored.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &webhook_service_query,
        .body = &github_body,
        .fires = SENDS,
        .store = ROUTE_STORE_APPEND,
        .prepare = convert_github_event_to_message,
        .handle = execute_github_webhook,
    },
    {
        .method = GET,
        .path = "/webhooks/{webhook.id}/{webhook.token}/messages/{webhook.message.id}",
        .name = "get_webhook_message",
        .doc = "A message that the webhook sent.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &webhook_message_query,
        .reply = &type_message,
        .handle = get_webhook_message,
    },
    {
        .method = PATCH,
        .path = "/webhooks/{webhook.id}/{webhook.token}/messages/{webhook.message.id}",
        .name = "edit_webhook_message",
        .doc = "Change a message that the webhook sent.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &webhook_message_query,
        .body = &message_edit_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, 0 },
        .prepare = schedule_storing_edited_webhook_uploads,
        .handle = edit_webhook_message,
    },
    {
        .method = DELETE,
        .path = "/webhooks/{webhook.id}/{webhook.token}/messages/{webhook.message.id}",
        .name = "delete_webhook_message",
        .doc = "Delete a message that the webhook sent.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &webhook_message_query,
        .fires = (const enum event[]){ EVENT_MESSAGE_DELETE, 0 },
        .handle = delete_webhook_message,
    },
    { 0 },
};

const struct domain webhooks_domain = {
    .name = "Webhooks",
    .doc = "URLs that accept messages without an account.",
    .routes = routes,
    .world = &webhooks_world,
    .resolvers = resolvers,
    .hooks = &(const struct hook_listeners){ .audit_log_fill = audit_log_reply_add_webhooks },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WITH_FILE(WITH_CHANNEL, "webhooks", "avatars", "avatar", "channel_id = $1"),
              .phase = DELETE_FIRST },
            { DELETE_WITH_FILE(WITH_GUILD, "webhooks", "avatars", "avatar", "guild_id = $1") },
            { 0 } },
};
