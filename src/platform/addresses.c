/* addresses.c - where the gateway is. */
#include "platform/platform.h"

#include "base/clock.h"

enum { SESSIONS_A_DAY = 1000, CONCURRENCY = 16, DAY_MS = 24 * 60 * 60 * 1000 };

struct address {
    struct str url;
};
struct session_start_limit {
    int64_t total, remaining, reset_after, max_concurrency;
};
struct bot_address {
    struct str url;
    int64_t shards;
    const struct session_start_limit *session_start_limit;
};

static const struct type type_address = { .kind = KIND_STRING, .doc = "Without a query" };
static const struct type type_ms = { .kind = KIND_INT, .doc = "Milliseconds" };
static const struct field address_fields[] = {
    { FIELD(struct address, url), .type = &type_address },
    { 0 },
};
static const struct schema address_schema = {
    .name = "GatewayAddress",
    .size = sizeof(struct address),
    .fields = address_fields,
    .doc = "Where to connect.",
};
static const struct field start_limit_fields[] = {
    { FIELD(struct session_start_limit, total), .type = &type_count },
    { FIELD(struct session_start_limit, remaining), .type = &type_count },
    { FIELD(struct session_start_limit, reset_after), .type = &type_ms },
    { FIELD(struct session_start_limit, max_concurrency), .type = &type_count },
    { 0 },
};
static const struct schema start_limit_schema = {
    .name = "SessionStartLimit",
    .size = sizeof(struct session_start_limit),
    .fields = start_limit_fields,
    .doc = "How many sessions a bot may begin.",
};
static const struct type type_start_limit = { .kind = KIND_OBJECT, .schema = &start_limit_schema };
static const struct field bot_address_fields[] = {
    { FIELD(struct bot_address, url), .type = &type_address },
    { FIELD(struct bot_address, shards), .type = &type_count },
    { FIELD(struct bot_address, session_start_limit), .type = &type_start_limit },
    { 0 },
};
static const struct schema bot_address_schema = {
    .name = "BotGatewayAddress",
    .size = sizeof(struct bot_address),
    .fields = bot_address_fields,
    .doc = "Where a bot should connect, and in how many parts.",
};
static const struct type address_reply = { .kind = KIND_OBJECT, .schema = &address_schema };
static const struct type bot_address_reply = { .kind = KIND_OBJECT, .schema = &bot_address_schema };

/* GET /gateway */
static enum err get_gateway(struct call *call)
{
    return call_reply(call, &(struct address){ api_url(call, "ws") });
}

/* GET /gateway/bot */
static enum err get_bot_gateway(struct call *call)
{
    struct session_start_limit limit = {
        .total = SESSIONS_A_DAY,
        .remaining = SESSIONS_A_DAY,
        .reset_after = DAY_MS - clock_ms() % DAY_MS,
        .max_concurrency = CONCURRENCY,
    };
    struct bot_address out = { .url = api_url(call, "ws"),
                               .shards = 1,
                               .session_start_limit = &limit };

    return call_reply(call, &out);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/gateway",
        .name = "get_gateway",
        .doc = "Where the gateway is.",
        .auth = AUTH_OPEN,
        .reply = &address_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_gateway,
    },
    {
        .method = GET,
        .path = "/gateway/bot",
        .name = "get_bot_gateway",
        .doc = "Where the gateway is, and how a bot should connect.",
        .auth = AUTH_BOT,
        .reply = &bot_address_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_bot_gateway,
    },
    { 0 },
};

const struct domain gateway_addresses_domain = {
    .name = "Gateway",
    .doc = "Where events come from.",
    .routes = routes,
};
