/* presence.c - emits a user's presence from an API call. The store contains no presence: the
 * gateway derives it from the open sessions. */
#include "platform/relationships/presence.h"

#include "gateway/gateway.h"
#include "model/presence.h"

enum { MAX_KINDS = 256 };

static const char *status_of(const struct call *call, snowflake user_id, struct json *kinds)
{
    struct gateway *gateway = api_options(call->api)->gateway;

    return gateway ? gateway_status(gateway, user_id, kinds) : NULL;
}

void presence_show(struct call *call, snowflake to, const struct user *user)
{
    struct buf kinds;
    struct json j = json_to(&kinds);

    buf_init(&kinds, MAX_KINDS);
    const char *status = status_of(call, user->id, &j);
    struct presence presence = {
        .user = user,
        .status = str_of(status ? status : "offline"),
        .client_status = kinds.n ? buf_str(&kinds) : STR("{}"),
    };
    call_emit(call, EVENT_PRESENCE_UPDATE, to_user(to), &presence_schema, &presence);
    buf_clear(&kinds);
}

bool presence_is_online(const struct call *call, snowflake user_id)
{
    return status_of(call, user_id, NULL) != NULL;
}
