/* subscriptions.c - derives subscriptions from entitlements to subscription SKUs. There are no
 * payments: the periods of a subscription renew until the entitlement ends or is removed. */
#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/types.h"
#include "platform/entitlements/internal.h"

#define PERIOD_US (INT64_C(30) * 24 * 3600 * 1000000)

/* Returns the start time of the entitlement or, if it has none, its creation time. */
static int64_t subscription_start(const struct entitlement *e)
{
    return e->starts_at.given == GIVEN ? e->starts_at.value : snowflake_to_ms(e->id) * 1000;
}

static bool subscription_is_over(const struct entitlement *e, int64_t now)
{
    return e->deleted || (e->ends_at.given == GIVEN && e->ends_at.value <= now);
}

static struct subscription subscription_from_entitlement(struct arena *arena,
                                                         const struct entitlement *e, int64_t now)
{
    int64_t start = subscription_start(e);
    struct subscription s = {
        .id = e->id,
        .user_id = e->user_id,
        .renewal_sku_ids.given = GIVEN_NULL,
        .status = subscription_is_over(e, now) ? SUBSCRIPTION_INACTIVE : SUBSCRIPTION_ACTIVE,
        .canceled_at = e->deleted_at,
    };
    int64_t last = e->deleted_at.given == GIVEN ? e->deleted_at.value : now;

    if (last > start)
        start += (last - start) / PERIOD_US * PERIOD_US;
    s.current_period_start = start;
    s.current_period_end = start + PERIOD_US;
    if (e->ends_at.given == GIVEN && e->ends_at.value < s.current_period_end)
        s.current_period_end = e->ends_at.value;
    id_list_add(arena, &s.sku_ids, e->sku_id);
    id_list_add(arena, &s.entitlement_ids, e->id);
    return s;
}

void emit_event_of_application_subscription(struct call *call, enum event what, snowflake bot_id,
                                            const struct entitlement *e)
{
    if (e->sku_type != SKU_SUBSCRIPTION || !bot_id)
        return;
    struct subscription s = subscription_from_entitlement(call->arena, e, clock_us());
    call_emit_event(call, what, audience_of_user(bot_id), &subscription_schema, &s);
}

/* Finds the SKU in the path. A SKU of another application counts as unknown. */
static enum err find_sku_of_path(struct call *call, struct sku *ret)
{
    enum err e = sku_find(call->tx, call_get_path_id(call, "sku.id"), ret);

    return !e && ret->application_id != call->caller->application_id ? ERR_UNKNOWN_SKU : e;
}

enum err list_subscriptions(struct call *call)
{
    const struct subscriptions_query *q = call->query;
    bool bearer = call->caller->kind == CALLER_BEARER;
    struct list found, out = { 0 };
    struct sku sku;
    enum err e = find_sku_of_path(call, &sku);

    if (e)
        return e;
    if (!bearer && q->user_id.given != GIVEN)
        return call_add_field_error(call, "user_id", FORM_REQUIRED);
    e = subscription_entitlements_list(call->tx, sku.id,
                                       bearer ? call->caller->id : q->user_id.value, q, &found);
    for (size_t i = 0; !e && i < found.count; i++)
        *(struct subscription *)list_append(call->arena, &out, sizeof(struct subscription)) =
            subscription_from_entitlement(call->arena, (struct entitlement *)found.items + i,
                                          clock_us());
    return e ? e : call_reply_with_object(call, &out);
}

enum err get_subscription(struct call *call)
{
    struct entitlement found;
    struct subscription out;
    struct sku sku;
    bool there = false;
    enum err e = find_sku_of_path(call, &sku);

    if (!e)
        e = subscription_entitlement_find(
            call->tx, sku.id, call_get_path_id(call, "subscription.id"), &there, &found);
    if (!e && there && call->caller->kind == CALLER_BEARER && found.user_id != call->caller->id)
        there = false;
    if (e || !there)
        return e ? e : ERR_NOT_FOUND;
    out = subscription_from_entitlement(call->arena, &found, clock_us());
    return call_reply_with_object(call, &out);
}
