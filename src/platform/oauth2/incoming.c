/* incoming.c - the scope webhook.incoming: the code exchange creates a webhook in a channel that
 * the user chose, on behalf of the user, and returns it with the token. */
#include "platform/oauth2/internal.h"

#include "platform/channels/channels.h"
#include "platform/members/members.h"

/* Resolves the channel for the caller; call->target is restored afterwards. */
static enum err incoming_enter(struct call *call, snowflake channel_id, struct target *ret)
{
    struct target here = call->target;

    call->target = (struct target){ 0 };
    enum err e = channel_enter(call, channel_id);
    *ret = call->target;
    call->target = here;
    if (e)
        return e;
    if (!ret->channel->guild_id.value || !webhook_fits(ret->channel->type))
        return ERR_CHANNEL_TYPE;
    if (ret->rights & PERMISSION(MANAGE_WEBHOOKS))
        return OK;
    return standing_lacks_in(call->tx, ret->standing, ret->channel, PERMISSION(MANAGE_WEBHOOKS));
}

enum err incoming_check(struct call *call, const struct scopes *s, snowflake *ret_channel)
{
    const struct authorize_body *in = call->body;
    struct target there;

    *ret_channel = 0;
    if (!scopes_have(s, "webhook.incoming"))
        return OK;
    if (in->webhook_channel_id.given != GIVEN)
        return call_invalid(call, "webhook_channel_id", FORM_REQUIRED);
    enum err e = incoming_enter(call, in->webhook_channel_id.value, &there);
    if (!e && in->guild_id.given == GIVEN && in->guild_id.value != there.channel->guild_id.value)
        e = call_invalid(call, "webhook_channel_id", "CHANNEL_INVALID",
                         "The channel is not in this guild.");
    if (!e)
        e = webhook_check_room(call, there.channel->guild_id.value, there.channel->id);
    *ret_channel = in->webhook_channel_id.value;
    return e;
}

static bool is_refusal(enum err e)
{
    return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_GUILD || e == ERR_MISSING_ACCESS ||
           e == ERR_MISSING_PERMISSIONS || e == ERR_GUILD_MFA_REQUIRED || e == ERR_CHANNEL_TYPE ||
           e == ERR_MAX_CHANNEL_WEBHOOKS || e == ERR_MAX_GUILD_WEBHOOKS;
}

/* Checks or creates the webhook as the user who granted the code. h NULL: only checks. */
static enum err incoming_as(struct call *call, const struct application *a,
                            const struct authorization_code *code, struct webhook *h)
{
    const struct caller *before = call->caller;
    struct caller *person = arena_alloc(call->arena, sizeof *person);
    struct target there;

    *person = (struct caller){ .kind = CALLER_USER, .id = code->user_id };
    call->caller = person;
    enum err e = incoming_enter(call, code->webhook_channel_id, &there);
    if (!e && h)
        e = webhook_make(call, there.channel,
                         webhook_name_holds(a->name) ? a->name : STR("Webhook"), a->id, h);
    else if (!e)
        e = webhook_check_room(call, there.channel->guild_id.value, there.channel->id);
    call->caller = before;
    return e;
}

enum err incoming_may(struct call *call, const struct authorization_code *code, bool *ret)
{
    enum err e = incoming_as(call, NULL, code, NULL);

    *ret = !is_refusal(e);
    return *ret ? e : OK;
}

enum err incoming_make(struct call *call, const struct application *a,
                       const struct authorization_code *code, const struct webhook **ret)
{
    struct webhook *h = arena_alloc(call->arena, sizeof *h);

    *ret = h;
    return incoming_as(call, a, code, h);
}

enum err incoming_take_back(struct call *call, const struct authorization_code *code)
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
    e = webhook_end(call, &h);
    call->caller = before;
    return e;
}
