/* local_platform_routes.c - routes that change the accounts of a local platform while the server
 * runs. These routes are for programs of the operator, which send the platform's key. They do not
 * exist for a platform without a key or with an external provider. */
#include "integrations/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/fields/types.h"
#include "net/http/server.h"

struct account_body {
    struct str name;
    struct opt_bool has_programme, is_partner;
};
static const struct type type_account_name = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct field account_fields[] = {
    { FIELD(struct account_body, name), .type = &type_account_name },
    { FIELD(struct account_body, has_programme), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Guilds can follow it" },
    { FIELD(struct account_body, is_partner), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema account_schema = {
    .name = "PlatformAccount",
    .size = sizeof(struct account_body),
    .fields = account_fields,
    .doc = "An account of a local platform.",
};
static const struct type account_body = { .kind = KIND_OBJECT, .schema = &account_schema };

struct subscription_body {
    struct opt_int until;
};
static const struct field subscription_fields[] = {
    { FIELD(struct subscription_body, until), .type = &type_time, .flags = OPTIONAL | NULLABLE,
      .doc = "When it ends" },
    { 0 },
};
static const struct schema subscription_schema = {
    .name = "PlatformSubscription",
    .size = sizeof(struct subscription_body),
    .fields = subscription_fields,
    .doc = "A subscription, and when it ends.",
};
static const struct type subscription_body = { .kind = KIND_OBJECT,
                                               .schema = &subscription_schema };

struct code_reply {
    struct str code;
};
static const struct field code_fields[] = {
    { FIELD(struct code_reply, code), .type = &type_text, .doc = "Valid once, within a day" },
    { 0 },
};
static const struct schema code_schema = {
    .name = "LinkCode",
    .size = sizeof(struct code_reply),
    .fields = code_fields,
    .doc = "A code that proves ownership of an account.",
};
static const struct type code_reply = { .kind = KIND_OBJECT, .schema = &code_schema };

static enum err require_platform_key(struct call *call)
{
    enum platform p = get_platform_from_path(call);
    struct str key = STR_CONCAT(call->arena, STR("Bearer "), platform_get_provider_key(p));
    struct str header = call->exchange->request->authorization;

    if (!platform_is_enabled(p) || platform_get_provider_url(p).p ||
        !platform_get_provider_key(p).n)
        return ERR_NOT_FOUND;
    if (header.n != key.n || sodium_memcmp(header.p, key.p, key.n) != 0)
        return ERR_UNAUTHORIZED;
    return OK;
}

static enum err parse_account_id(struct call *call, const char *name, struct str *ret)
{
    *ret = call_get_path_text(call, name);
    return ret->n >= 1 && ret->n <= LONGEST_ACCOUNT_ID ? OK : ERR_NOT_FOUND;
}

static enum err put_platform_account(struct call *call)
{
    const struct account_body *in = call->body;
    struct local_platform_account a = { .platform = get_platform_from_path(call),
                                        .name = in->name,
                                        .has_programme = in->has_programme,
                                        .is_partner = in->is_partner };
    enum err e = parse_account_id(call, "connection.id", &a.id);

    return e ? e : upsert_local_platform_account(call->tx, &a);
}

static enum err make_link_code(struct call *call)
{
    struct code_reply out;
    enum err e = create_local_platform_link_code(
        call->tx, api_get_options(call->api)->auth, get_platform_from_path(call),
        call_get_path_text(call, "connection.id"), &out.code);

    return e ? e : call_reply_with_object(call, &out);
}

static enum err put_platform_subscriber(struct call *call)
{
    const struct subscription_body *in = call->body;
    struct local_platform_subscription s = { .platform = get_platform_from_path(call),
                                             .account_id =
                                                 call_get_path_text(call, "connection.id"),
                                             .until =
                                                 in->until.given == GIVEN ? in->until.value : 0 };
    enum err e = parse_account_id(call, "subscriber.id", &s.subscriber_id);

    return e ? e : upsert_local_platform_subscription(call->tx, &s);
}

static enum err delete_platform_subscriber(struct call *call)
{
    return delete_local_platform_subscription(call->tx, get_platform_from_path(call),
                                              call_get_path_text(call, "connection.id"),
                                              call_get_path_text(call, "subscriber.id"));
}

static const struct path_resolver resolvers[] = {
    {
        .name = "subscriber.id",
        .field = "subscriber_id",
        .is_text = true,
        .doc = "An account of the platform that subscribes.",
    },
    { 0 },
};

#define ACCOUNT    "/platforms/{connection.type}/accounts/{connection.id}"
#define SUBSCRIBER ACCOUNT "/subscribers/{subscriber.id}"

static const struct route routes[] = {
    {
        .method = PUT,
        .path = ACCOUNT,
        .name = "put_platform_account",
        .doc = "Create or modify an account of a local platform. Needs the platform's key.",
        .service = true,
        .body = &account_body,
        .status = 204,
        .admit = require_platform_key,
        .handle = put_platform_account,
    },
    {
        .method = POST,
        .path = ACCOUNT "/code",
        .name = "make_link_code",
        .doc = "Create a code that proves ownership of the account. Needs the platform's key.",
        .service = true,
        .reply = &code_reply,
        .admit = require_platform_key,
        .handle = make_link_code,
    },
    {
        .method = PUT,
        .path = SUBSCRIBER,
        .name = "put_platform_subscriber",
        .doc = "Add a subscriber of the account. Needs the platform's key.",
        .service = true,
        .body = &subscription_body,
        .status = 204,
        .admit = require_platform_key,
        .handle = put_platform_subscriber,
    },
    {
        .method = DELETE,
        .path = SUBSCRIBER,
        .name = "delete_platform_subscriber",
        .doc = "Remove a subscriber of the account. Needs the platform's key.",
        .service = true,
        .status = 204,
        .admit = require_platform_key,
        .handle = delete_platform_subscriber,
    },
    { 0 },
};

const struct domain platforms_domain = {
    .name = "Local platforms",
    .doc = "Accounts of platforms that are stored in this server's database.",
    .routes = routes,
    .resolvers = resolvers,
};
