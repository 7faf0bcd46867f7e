/* incoming_webhook.c - the scope webhook.incoming: the user chooses a channel, and the code
 * exchange creates a webhook there on behalf of the user. The reply contains the webhook in
 * addition to the token. */
#include "platform/oauth2/internal.h"

#include "platform/channels/channels.h"
#include "platform/members/members.h"

/* Resolves a channel with the caller's permissions in it. Restores call->target. */
static enum err resolve_webhook_channel(struct call *call, snowflake channel_id,
                                        struct call_path_objects *ret)
{
    struct call_path_objects here = call->target;

    call->target = (struct call_path_objects){ 0 };
    enum err e = resolve_channel_by_id(call, channel_id);
    *ret = call->target;
    call->target = here;
    if (e)
        return e;
    if (!ret->channel->guild_id.value || !channel_type_allows_webhooks(ret->channel->type))
        return ERR_CHANNEL_TYPE;
    if (ret->permissions & PERMISSION(MANAGE_WEBHOOKS))
        return OK;
    return permission_error_in_channel(call->tx, ret->member_access, ret->channel,
                                       PERMISSION(MANAGE_WEBHOOKS));
}

enum err check_incoming_webhook_permission(struct call *call, const struct oauth2_scopes *s,
                                           snowflake *ret_channel)
{
    const struct oauth2_authorize_body *in = call->body;
    struct call_path_objects there;

    *ret_channel = 0;
    if (!oauth2_scopes_contain(s, "webhook.incoming"))
        return OK;
    if (in->webhook_channel_id.given != GIVEN)
        return call_add_field_error(call, "webhook_channel_id", FORM_REQUIRED);
    enum err e = resolve_webhook_channel(call, in->webhook_channel_id.value, &there);
    if (!e && in->guild_id.given == GIVEN && in->guild_id.value != there.channel->guild_id.value)
        e = call_add_field_error(call, "webhook_channel_id", "CHANNEL_INVALID",
                                 "The channel is not in this guild.");
    if (!e)
        e = check_webhook_limit(call, there.channel->guild_id.value, there.channel->id);
    *ret_channel = in->webhook_channel_id.value;
    return e;
}

static bool is_webhook_permission_error(enum err e)
{
    return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_GUILD || e == ERR_MISSING_ACCESS ||
           e == ERR_MISSING_PERMISSIONS || e == ERR_GUILD_MFA_REQUIRED || e == ERR_CHANNEL_TYPE ||
           e == ERR_MAX_CHANNEL_WEBHOOKS || e == ERR_MAX_GUILD_WEBHOOKS;
}

/* Creates the webhook with the permissions of the user who granted the code. If h is NULL, only
 * checks the permissions. */
static enum err check_or_create_webhook_as_granter(struct call *call, const struct application *a,
                                                   const struct authorization_code *code,
                                                   struct webhook *h)
{
    const struct caller *before = call->caller;
    struct caller *person = arena_alloc(call->arena, sizeof *person);
    struct call_path_objects there;

    *person = (struct caller){ .kind = CALLER_USER, .id = code->user_id };
    call->caller = person;
    enum err e = resolve_webhook_channel(call, code->webhook_channel_id, &there);
    if (!e && h)
        e = webhook_create_for_caller(call, there.channel,
                                      webhook_name_is_allowed(a->name) ? a->name : STR("Webhook"),
                                      a->id, h);
    else if (!e)
        e = check_webhook_limit(call, there.channel->guild_id.value, there.channel->id);
    call->caller = before;
    return e;
}

enum err read_whether_user_may_create_webhook(struct call *call,
                                              const struct authorization_code *code, bool *ret)
{
    enum err e = check_or_create_webhook_as_granter(call, NULL, code, NULL);

    *ret = !is_webhook_permission_error(e);
    return *ret ? e : OK;
}

enum err create_incoming_webhook(struct call *call, const struct application *a,
                                 const struct authorization_code *code, const struct webhook **ret)
{
    struct webhook *h = arena_alloc(call->arena, sizeof *h);

    *ret = h;
    return check_or_create_webhook_as_granter(call, a, code, h);
}

enum err delete_incoming_webhook(struct call *call, const struct authorization_code *code)
{
    const struct caller *before = call->caller;
    struct caller person = { .kind = CALLER_USER, .id = code->user_id };
    struct webhook h;

    if (!code->webhook_id)
        return OK;
    enum err e = webhook_find(call->tx, code->webhook_id, &h);
    if (e)
        return e == ERR_UNKNOWN_WEBHOOK ? OK : e;
    call->caller = &person;
    e = webhook_delete_for_caller(call, &h);
    call->caller = before;
    return e;
}
