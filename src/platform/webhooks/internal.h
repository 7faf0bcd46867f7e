/* internal.h - declarations shared by the files of webhooks/. */
#ifndef PLATFORM_WEBHOOKS_INTERNAL_H
#define PLATFORM_WEBHOOKS_INTERNAL_H

#include "api/hooks.h"
#include "platform/webhooks/webhooks.h"

struct message_body;

/* --- schema.c ------------------------------------------------------------------------- */

struct webhook_create_request {
    struct str name;
    struct opt_image avatar;
};
struct webhook_patch {
    struct opt_str name;
    struct opt_image avatar;
    struct opt_id channel_id;
};
struct webhook_execute_query {
    bool wait, with_components;
    struct opt_id thread_id;
};

extern const struct type webhook_create_body, webhook_patch_body;
extern const struct type webhooks_reply;
extern const struct schema execute_query, webhook_message_query, webhook_service_query;

/* --- rows.c --------------------------------------------------------------------------- */

enum err webhook_update(struct tx *tx, const struct webhook *h);
enum err webhook_row_delete(struct tx *tx, snowflake id);
enum err webhooks_read_of_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err webhooks_read_of_guild(struct tx *tx, snowflake guild_id, struct list *ret);
enum err webhooks_count_in_channel(struct tx *tx, snowflake guild_id, snowflake channel_id,
                                   int64_t *ret_in_guild, int64_t *ret_in_channel);

/* --- manage.c ------------------------------------------------------------------------- */

enum err resolve_webhook(struct call *call);
enum err resolve_webhook_token(struct call *call);
enum err check_manage_webhook_permission(struct call *call);
enum err list_channel_webhooks(struct call *call);
enum err list_guild_webhooks(struct call *call);
enum err get_webhook(struct call *call);
enum err schedule_storing_new_webhook_avatar(struct call *call);
enum err create_webhook(struct call *call);
enum err schedule_storing_changed_webhook_avatar(struct call *call);
enum err modify_webhook(struct call *call);
enum err delete_webhook(struct call *call);

/* --- execute.c ------------------------------------------------------------------------ */

enum err resolve_webhook_message(struct call *call);
enum err schedule_storing_webhook_message_uploads(struct call *call);
enum err execute_webhook(struct call *call);
/* Passes a message that was converted from a Slack or GitHub body to the next stages of the
 * call. `in` must remain valid until the call ends. Adds errors to the call's form. */
enum err pass_on_converted_webhook_message(struct call *call, const struct message_body *in);
/* Creates the message that was passed to pass_on_converted_webhook_message. If the channel is a
 * forum, the query must have a thread_id. */
enum err send_converted_webhook_message(struct call *call);
enum err get_webhook_message(struct call *call);
enum err schedule_storing_edited_webhook_uploads(struct call *call);
enum err edit_webhook_message(struct call *call);
enum err delete_webhook_message(struct call *call);

/* --- slack.c -------------------------------------------------------------------------- */

extern const struct type slack_body;
enum err convert_slack_body_to_message(struct call *call);
enum err execute_slack_webhook(struct call *call);

/* --- github.c, github_embeds.c -------------------------------------------------------- */

extern const struct type github_body;
enum err convert_github_event_to_message(struct call *call);
enum err execute_github_webhook(struct call *call);

enum err audit_log_reply_add_webhooks(struct call *call, struct audit_log_objects *log);

#endif
