/* addresses.c - GET /gateway and GET /gateway/bot. */
#include "platform/accounts/accounts.h"

#include "base/clock.h"
#include "gateway_source/gateway_source.h"

enum { DAY_MS = 24 * 60 * 60 * 1000, GUILDS_PER_SHARD = 1000 };

struct gateway_address {
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

static const struct type type_address = { .kind = KIND_STRING, .doc = "Without a query string" };
static const struct type type_ms = { .kind = KIND_INT, .doc = "Milliseconds" };
static const struct field address_fields[] = {
    { FIELD(struct gateway_address, url), .type = &type_address },
    { 0 },
};
static const struct schema address_schema = {
    .name = "GatewayAddress",
    .size = sizeof(struct gateway_address),
    .fields = address_fields,
    .doc = "The URL of the gateway.",
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
    .doc = "Number of sessions that a bot may start.",
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
    .doc = "The URL of the gateway for a bot, and the recommended number of shards.",
};
static const struct type address_reply = { .kind = KIND_OBJECT, .schema = &address_schema };
static const struct type bot_address_reply = { .kind = KIND_OBJECT, .schema = &bot_address_schema };

static enum err get_gateway(struct call *call)
{
    return call_reply_with_object(call, &(struct gateway_address){ api_get_base_url(call, "ws") });
}

static const char COUNT_GUILDS[] = "select count(*) from members m join guilds g on "
                                   "g.id = m.guild_id and g.removed = 0 where m.user_id = $1";

static enum err get_bot_gateway(struct call *call)
{
    struct gateway *gateway = api_get_options(call->api)->gateway;
    struct session_start_limit limit = {
        .total = GATEWAY_STARTS_A_DAY,
        .remaining = gateway_count_session_starts_left(gateway, call->caller->id),
        .reset_after = DAY_MS - clock_ms() % DAY_MS,
        .max_concurrency = GATEWAY_CONCURRENCY,
    };
    struct bot_address out = { .url = api_get_base_url(call, "ws"),
                               .shards = 1,
                               .session_start_limit = &limit };
    int64_t n = 0;

    enum err e = tx_read_int(call->tx, COUNT_GUILDS, BIND(v_id(call->caller->id)), &n);
    if (e)
        return e;
    int64_t guilds = n, used = 0;
    e = gateway_source.starts(call->tx, call->caller->id, clock_ms() / DAY_MS, &used);
    if (e)
        return e;
    /* Report the smaller of two remaining numbers. The store may lack session starts that are not
     * written yet; this process may lack session starts from before its restart. */
    if (GATEWAY_STARTS_A_DAY - used < limit.remaining)
        limit.remaining = used < GATEWAY_STARTS_A_DAY ? GATEWAY_STARTS_A_DAY - used : 0;
    if (guilds > GUILDS_PER_SHARD)
        out.shards = (guilds + GUILDS_PER_SHARD - 1) / GUILDS_PER_SHARD;
    return call_reply_with_object(call, &out);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/gateway",
        .name = "get_gateway",
        .doc = "Returns the URL of the gateway.",
        .auth = AUTH_OPEN,
        .reply = &address_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_gateway,
    },
    {
        .method = GET,
        .path = "/gateway/bot",
        .name = "get_bot_gateway",
        .doc = "Returns the gateway's URL, the recommended shards and the session start limit.",
        .auth = AUTH_BOT,
        .reply = &bot_address_reply,
        .handle = get_bot_gateway,
    },
    { 0 },
};

const struct domain gateway_addresses_domain = {
    .name = "Gateway",
    .doc = "The WebSocket API that delivers events.",
    .routes = routes,
    .hooks = &(const struct hook_listeners){ .member_joined = emit_guild_create_to_new_member },
};
