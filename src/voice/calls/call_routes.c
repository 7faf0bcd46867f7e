/* call_routes.c - /channels/{channel.id}/call: ringing and region of a private call. */
#include "voice/calls/calls.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/configured/regions.h"
#include "platform/channels/channels.h"

#define RING_TIMEOUT_US (INT64_C(60) * 1000000)

struct ring_request {
    struct opt_list recipients; /* snowflakes */
};
struct call_patch {
    struct opt_str region;
};
struct call_state {
    bool ringable;
};

static const struct type type_recipients = { .kind = KIND_ARRAY, .max = 25, .of = &type_id };
static const struct field ring_fields[] = {
    { FIELD(struct ring_request, recipients), .type = &type_recipients,
      .flags = OPTIONAL | NULLABLE, .doc = "Recipients of the channel" },
    { 0 },
};
static const struct schema ring_schema = {
    .name = "RingRequest",
    .size = sizeof(struct ring_request),
    .fields = ring_fields,
    .doc = "The users to ring, or to stop ringing for.",
};
static const struct type ring_body = { .kind = KIND_OBJECT, .schema = &ring_schema };

static const struct field patch_fields[] = {
    { FIELD(struct call_patch, region), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "A voice region" },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "CallPatch",
    .size = sizeof(struct call_patch),
    .fields = patch_fields,
    .doc = "Changes to a call.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field state_fields[] = {
    { FIELD(struct call_state, ringable), .type = &type_bool },
    { 0 },
};
static const struct schema state_schema = {
    .name = "CallState",
    .size = sizeof(struct call_state),
    .fields = state_fields,
    .doc = "Whether a call can ring.",
};
static const struct type type_call_state = { .kind = KIND_OBJECT, .schema = &state_schema };

/* Returns the users whose clients ring: the recipients in the body, who must be in the channel.
 * Without recipients: the caller if `self` is set, else all other users of the channel. */
static enum err choose_ring_recipients(struct call *call, const struct ring_request *in, bool self,
                                       struct list *ret)
{
    const struct list *named = &in->recipients.value;
    struct list all;
    enum err e = channel_list_other_recipients(call->tx, call->target.channel->id, 0, &all);

    if (e)
        return e;
    if (in->recipients.given != GIVEN) {
        if (!self)
            return channel_list_other_recipients(call->tx, call->target.channel->id,
                                                 call->caller->id, ret);
        id_list_add(call->arena, ret, call->caller->id);
        return OK;
    }
    for (size_t i = 0; i < named->count; i++)
        if (!id_list_contains(&all, ((const snowflake *)named->items)[i]))
            return call_add_field_error(call, "recipients", FORM_CHOICES,
                                        "One of the users is not in the channel.");
    *ret = *named;
    return OK;
}

/* GET /channels/{channel.id}/call */
static enum err get_call(struct call *call)
{
    struct call_state state = { 0 };
    enum err e = require_direct_channel_writable(call);

    state.ringable = !e;
    if (e && e != ERR_CANNOT_MESSAGE)
        return e;
    return call_reply_with_object(call, &state);
}

/* POST /channels/{channel.id}/call/ring */
static enum err ring_call(struct call *call)
{
    snowflake id = call->target.channel->id;
    struct voice_call running;
    struct list recipients = { 0 };
    enum err e = choose_ring_recipients(call, call->body, false, &recipients);

    if (!e)
        e = voice_call_find(call->tx, id, &running);
    if (!e)
        e = require_direct_channel_writable(call);
    for (size_t i = 0; !e && i < recipients.count; i++) {
        snowflake user_id = ((const snowflake *)recipients.items)[i];
        struct voice_state s;

        e = voice_state_find(call->tx, 0, user_id, &s);
        if (!e && voice_state_get_channel_id(&s) == id)
            continue; /* the user is already in the call */
        if (!e || e == ERR_UNKNOWN_VOICE_STATE)
            e = voice_call_add_ringing_user(call->tx, id, user_id);
    }
    if (!e)
        e = job_schedule(call, &call_ring_job, id, clock_us() + RING_TIMEOUT_US, STR(""));
    return e ? e : emit_voice_call_update(call, id);
}

/* POST /channels/{channel.id}/call/stop-ringing */
static enum err stop_ringing(struct call *call)
{
    snowflake id = call->target.channel->id;
    struct voice_call running;
    struct list recipients = { 0 };
    bool changed = false;
    enum err e = choose_ring_recipients(call, call->body, true, &recipients);

    if (!e)
        e = voice_call_find(call->tx, id, &running);
    for (size_t i = 0; !e && i < recipients.count; i++) {
        snowflake user_id = ((const snowflake *)recipients.items)[i];

        changed = changed || id_list_contains(&running.ringing, user_id);
        e = voice_call_remove_ringing_user(call->tx, id, user_id);
    }
    return e || !changed ? e : emit_voice_call_update(call, id);
}

/* PATCH /channels/{channel.id}/call */
static enum err modify_call(struct call *call)
{
    const struct call_patch *in = call->body;
    snowflake id = call->target.channel->id;
    struct voice_call running;

    if (in->region.given == GIVEN && !voice_region_is_usable(in->region.value, false))
        return call_add_field_error(call, "region", FORM_CHOICES, "There is no such voice region.");
    enum err e = voice_call_find(call->tx, id, &running);
    if (e || in->region.given != GIVEN || str_eq(in->region.value, running.region))
        return e;
    e = voice_call_update_region(call->tx, id, in->region.value);
    if (!e)
        e = emit_voice_call_update(call, id);
    return e ? e : voice_call_change_region(call, id, in->region.value);
}

static const enum event fired[] = { EVENT_CALL_UPDATE, EVENT_NONE };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/channels/{channel.id}/call",
        .name = "get_call",
        .doc = "Whether a call in a private channel can ring.",
        .auth = AUTH_USER,
        .reply = &type_call_state,
        .admit = require_private_channel,
        .handle = get_call,
    },
    {
        .method = PATCH,
        .path = "/channels/{channel.id}/call",
        .name = "modify_call",
        .doc = "Move a running call to another region.",
        .auth = AUTH_USER,
        .body = &patch_body,
        .fires = (const enum event[]){ EVENT_CALL_UPDATE, EVENT_VOICE_SERVER_UPDATE, EVENT_NONE },
        .admit = require_private_channel,
        .handle = modify_call,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/call/ring",
        .name = "ring_call",
        .doc = "Ring some users of the channel, or all others, for a running call. Ringing stops "
               "after one minute.",
        .auth = AUTH_USER,
        .body = &ring_body,
        .fires = fired,
        .admit = require_private_channel,
        .handle = ring_call,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/call/stop-ringing",
        .name = "stop_ringing",
        .doc = "Stop ringing for some users, or for the caller.",
        .auth = AUTH_USER,
        .body = &ring_body,
        .fires = fired,
        .admit = require_private_channel,
        .handle = stop_ringing,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &call_ring_job, NULL };

const struct domain calls_domain = {
    .name = "Calls",
    .doc = "Calls in direct messages and group channels.",
    .routes = routes,
    .jobs = jobs,
    .hooks = &(const struct hook_listeners){ .voice_left = voice_call_on_leave },
};
