/* internal.h - what the files of webhooks/ share. */
#ifndef PLATFORM_WEBHOOKS_INTERNAL_H
#define PLATFORM_WEBHOOKS_INTERNAL_H

#include "platform/webhooks/webhooks.h"

/* --- schema.c ------------------------------------------------------------------------- */

struct webhook_draft {
    struct str name;
    struct opt_image avatar;
};
struct webhook_patch {
    struct opt_str name;
    struct opt_image avatar;
    struct opt_id channel_id;
};
struct execute_query {
    bool wait;
    struct opt_id thread_id;
};

extern const struct type webhook_create_body, webhook_patch_body;
extern const struct type webhook_reply, webhooks_reply;
extern const struct schema execute_query, webhook_message_query;

/* A name, or a word, that would be taken for somebody else's. */
bool webhook_name_holds(struct str name);

/* --- rows.c --------------------------------------------------------------------------- */

enum err webhook_update(struct tx *tx, const struct webhook *h);
enum err webhook_remove(struct tx *tx, snowflake id);
enum err webhooks_of_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err webhooks_of_guild(struct tx *tx, snowflake guild_id, struct list *ret);
enum err webhooks_count(struct tx *tx, snowflake guild_id, snowflake channel_id,
                        int64_t *ret_in_guild, int64_t *ret_in_channel);

/* --- manage.c ------------------------------------------------------------------------- */

/* 68 characters that follow from the id, the salt and the server's key. */
struct str webhook_token(struct call *call, const struct webhook *h);

enum err resolve_webhook(struct call *call);
enum err resolve_token(struct call *call);
enum err may_manage(struct call *call);
enum err list_channel_webhooks(struct call *call);
enum err list_guild_webhooks(struct call *call);
enum err get_webhook(struct call *call);
enum err prepare_create_webhook(struct call *call);
enum err create_webhook(struct call *call);
enum err prepare_modify_webhook(struct call *call);
enum err modify_webhook(struct call *call);
enum err delete_webhook(struct call *call);

/* --- execute.c ------------------------------------------------------------------------ */

enum err resolve_webhook_message(struct call *call);
enum err prepare_execute_webhook(struct call *call);
enum err execute_webhook(struct call *call);
enum err get_webhook_message(struct call *call);
enum err prepare_edit_webhook_message(struct call *call);
enum err edit_webhook_message(struct call *call);
enum err delete_webhook_message(struct call *call);

#endif
