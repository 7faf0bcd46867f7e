/* routes.c - routes of SKUs and entitlements: list, grant for tests, consume, delete. */
#include "api/deletion.h"
#include "base/clock.h"
#include "model/fields/types.h"
#include "platform/entitlements/internal.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

static void emit_entitlement_event(struct call *call, enum event what, const struct entitlement *e)
{
    snowflake bot = call->target.application->bot_id;

    if (bot)
        call_emit_event(call, what, audience_of_user(bot), &entitlement_schema, e);
}

static enum err find_entitlement_of_path(struct call *call, struct entitlement *ret)
{
    return entitlement_find(call->tx, call->target.application->id,
                            call_get_path_id(call, "entitlement.id"), ret);
}

static enum err list_skus(struct call *call)
{
    struct list skus;
    enum err e = application_skus_list(call->tx, call->target.application->id, &skus);

    return e ? e : call_reply_with_object(call, &skus);
}

static enum err list_entitlements(struct call *call)
{
    struct list found;
    enum err e = entitlements_list(call->tx, call->target.application->id, call->query, &found);

    return e ? e : call_reply_with_object(call, &found);
}

static enum err get_entitlement(struct call *call)
{
    struct entitlement found;
    enum err e = find_entitlement_of_path(call, &found);

    return e ? e : call_reply_with_object(call, &found);
}

static enum err list_current_user_entitlements(struct call *call)
{
    const struct entitlements_query *asked = call->query;
    struct entitlements_query q = {
        .user_id = opt_id_or_null(call->caller->id),
        .sku_ids = asked->sku_ids,
        .exclude_consumed = asked->exclude_consumed,
        .only_active = true,
        .limit = 100,
    };
    struct list found;
    enum err e = entitlements_list(call->tx, call->target.application->id, &q, &found);

    return e ? e : call_reply_with_object(call, &found);
}

/* Finds a guild and checks that the caller or the application's bot is a member. Otherwise a caller
 * who guesses guild ids would learn each guild's owner from the reply. */
static enum err find_guild_of_caller_or_bot(struct call *call, snowflake id, struct guild *ret)
{
    struct member m;
    enum err e = member_find(call->tx, id, call->caller->id, &m);

    if (e == ERR_UNKNOWN_MEMBER)
        e = member_find(call->tx, id, call->target.application->bot_id, &m);
    if (e == ERR_UNKNOWN_MEMBER)
        e = ERR_UNKNOWN_GUILD;
    return e ? e : guild_find(call->tx, id, ret);
}

/* Sets the owner of an entitlement. The entitlement of a guild also has the id of the guild's
 * owner, because the API requires a user id. */
static enum err resolve_entitlement_owner(struct call *call, struct entitlement *e)
{
    const struct entitlement_create_request *in = call->body;
    struct guild guild;
    struct user user;
    enum err err;

    if (in->owner_type == OWNER_USER) {
        e->user_id = in->owner_id;
        return user_find(call->tx, in->owner_id, &user);
    }
    err = find_guild_of_caller_or_bot(call, in->owner_id, &guild);
    e->guild_id = opt_id_or_null(in->owner_id);
    if (!err)
        e->user_id = guild.owner_id;
    return err;
}

static enum err create_test_entitlement(struct call *call)
{
    const struct entitlement_create_request *in = call->body;
    snowflake application_id = call->target.application->id;
    struct sku sku;
    bool there = false;
    enum err e = sku_find(call->tx, in->sku_id, &sku);

    if (!e && (sku.application_id != application_id || sku.type == SKU_GROUP))
        e = ERR_UNKNOWN_SKU;
    if (e)
        return e;
    struct entitlement made = { .id = snowflake_new(),
                                .sku_id = sku.id,
                                .sku_type = sku.type,
                                .application_id = application_id,
                                .type = ENTITLEMENT_OF_APPLICATION,
                                .test = true,
                                .starts_at.given = GIVEN_NULL,
                                .ends_at.given = GIVEN_NULL,
                                .deleted_at.given = GIVEN_NULL };
    e = resolve_entitlement_owner(call, &made);
    if (!e)
        e = owner_has_unconsumed_entitlement(call->tx, &made, &there);
    if (!e && there)
        e = ERR_ENTITLEMENT_GRANTED;
    if (!e)
        e = entitlement_insert(call->tx, &made);
    if (e)
        return e;
    emit_entitlement_event(call, EVENT_ENTITLEMENT_CREATE, &made);
    emit_event_of_application_subscription(call, EVENT_SUBSCRIPTION_CREATE,
                                           call->target.application->bot_id, &made);
    return call_reply_with_object(call, &made);
}

/* Hook for messages with premium buttons: checks that the SKU of a button belongs to the app that
 * sends the message. */
static enum err require_sku_of_application(struct call *call, const struct premium_button *offer)
{
    struct sku sku;
    enum err e = sku_find(call->tx, offer->sku_id, &sku);

    return !e && sku.application_id != offer->application_id ? ERR_UNKNOWN_SKU : e;
}

/* --- consuming and deleting entitlements --------------------------------------------- */

/* Marks an entitlement as consumed. If it already is, changes nothing and emits no event. */
static enum err consume_entitlement(struct call *call)
{
    struct entitlement used;
    enum err e = find_entitlement_of_path(call, &used);

    if (!e && used.sku_type != SKU_CONSUMABLE)
        e = ERR_NOT_CONSUMABLE;
    if (e || used.consumed)
        return e;
    used.consumed = true;
    e = entitlement_update(call->tx, &used);
    if (!e)
        emit_entitlement_event(call, EVENT_ENTITLEMENT_UPDATE, &used);
    return e;
}

/* Removes a test entitlement, which ends its subscription. The subscription routes still return the
 * ended subscription. */
static enum err delete_test_entitlement(struct call *call)
{
    struct entitlement gone;
    enum err e = find_entitlement_of_path(call, &gone);

    if (!e && !gone.test)
        e = ERR_NOT_TEST_ENTITLEMENT;
    if (e)
        return e;
    gone.deleted = true;
    gone.deleted_at = opt_int_present(clock_us());
    e = entitlement_update(call->tx, &gone);
    if (e)
        return e;
    emit_entitlement_event(call, EVENT_ENTITLEMENT_DELETE, &gone);
    emit_event_of_application_subscription(call, EVENT_SUBSCRIPTION_UPDATE,
                                           call->target.application->bot_id, &gone);
    return OK;
}

/* Always replies with ERR_NOT_FOUND, because this server runs no activities (embedded apps). */
static enum err get_activity_instance(struct call *call)
{
    (void)call;
    return ERR_NOT_FOUND;
}

static const struct path_resolver resolvers[] = {
    { .name = "entitlement.id", .field = "entitlement_id", .doc = "An entitlement." },
    { .name = "sku.id", .field = "sku_id", .doc = "A SKU of an application." },
    { .name = "subscription.id", .field = "subscription_id", .doc = "A subscription." },
    { .name = "instance.id",
      .field = "instance_id",
      .is_text = true,
      .doc = "A running activity." },
    { 0 },
};

#define ENTITLEMENTS "/applications/{application.id}/entitlements"
#define ENTITLEMENT  ENTITLEMENTS "/{entitlement.id}"

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/applications/{application.id}/skus",
        .name = "list_skus",
        .doc = "The SKUs of an application. World files declare them; nothing is sold.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_skus,
        .admit = require_application_developer,
        .handle = list_skus,
    },
    {
        .method = GET,
        .path = ENTITLEMENTS,
        .name = "list_entitlements",
        .doc = "The entitlements to an application, oldest first; with before, the page directly "
               "before that id.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &entitlements_query_schema,
        .reply = &type_entitlements,
        .background = true,
        .admit = require_application_developer,
        .handle = list_entitlements,
    },
    {
        .method = POST,
        .path = ENTITLEMENTS,
        .name = "create_test_entitlement",
        .doc = "Grant a test entitlement to a guild or user.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &entitlement_create_body,
        .reply = &type_entitlement,
        .status = 200,
        .fires =
            (const enum event[]){ EVENT_ENTITLEMENT_CREATE, EVENT_SUBSCRIPTION_CREATE, EVENT_NONE },
        .admit = require_application_developer,
        .handle = create_test_entitlement,
    },
    {
        .method = GET,
        .path = ENTITLEMENT,
        .name = "get_entitlement",
        .doc = "One entitlement.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_entitlement,
        .admit = require_application_developer,
        .handle = get_entitlement,
    },
    {
        .method = DELETE,
        .path = ENTITLEMENT,
        .name = "delete_test_entitlement",
        .doc = "Delete a test entitlement.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires =
            (const enum event[]){ EVENT_ENTITLEMENT_DELETE, EVENT_SUBSCRIPTION_UPDATE, EVENT_NONE },
        .admit = require_application_developer,
        .handle = delete_test_entitlement,
    },
    {
        .method = POST,
        .path = ENTITLEMENT "/consume",
        .name = "consume_entitlement",
        .doc = "Mark a consumable entitlement as consumed.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = (const enum event[]){ EVENT_ENTITLEMENT_UPDATE, EVENT_NONE },
        .admit = require_application_developer,
        .handle = consume_entitlement,
    },
    {
        .method = GET,
        .path = "/users/@me/applications/{application.id}/entitlements",
        .name = "list_own_entitlements",
        .doc = "The account's active entitlements to an application.",
        .auth = AUTH_BEARER,
        .scope = "applications.entitlements",
        .query = &user_entitlements_query_schema,
        .reply = &type_entitlements,
        .background = true,
        .admit = require_token_of_application,
        .handle = list_current_user_entitlements,
    },
    {
        .method = GET,
        .path = "/skus/{sku.id}/subscriptions",
        .name = "list_subscriptions",
        .doc = "A user's subscriptions to a SKU of the caller's application: one per entitlement.",
        .auth = AUTH_BOT | AUTH_BEARER,
        .scope = "applications.entitlements",
        .query = &subscriptions_query_schema,
        .reply = &type_subscriptions,
        .handle = list_subscriptions,
    },
    {
        .method = GET,
        .path = "/skus/{sku.id}/subscriptions/{subscription.id}",
        .name = "get_subscription",
        .doc = "One subscription.",
        .auth = AUTH_BOT | AUTH_BEARER,
        .scope = "applications.entitlements",
        .reply = &type_subscription,
        .handle = get_subscription,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/activity-instances/{instance.id}",
        .name = "get_activity_instance",
        .doc = "A running activity; the server never has one, so the reply is 404.",
        .auth = AUTH_BOT,
        .admit = require_application_developer,
        .handle = get_activity_instance,
    },
    { 0 },
};

const struct domain entitlements_domain = {
    .name = "Entitlements",
    .doc = "SKUs of applications and entitlements to them. Nothing is sold.",
    .routes = routes,
    .world = &entitlements_world,
    .resolvers = resolvers,
    .hooks = &(const struct hook_listeners){ .sku_button_check = require_sku_of_application },
    .deletions =
        (const struct deletion_rule[]){
            { WITH_ACCOUNT, "entitlements", .run = entitlements_delete_of_account,
              .phase = DELETE_PARTS },
            { DELETE_WHERE(WITH_GUILD, "entitlements", "id", "guild_id = $1") },
            /* No events: the application's bot, which would receive them, is already deleted. */
            { DELETE_WHERE(WITH_APPLICATION, "entitlements", "id",
                           "application_id = $1 order by id") },
            { DELETE_WHERE(WITH_APPLICATION, "skus", "id", "application_id = $1") },
            { 0 } },
};
