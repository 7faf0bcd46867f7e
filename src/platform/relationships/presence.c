/* presence.c - emits presence updates of users from API handlers. Presence is not stored: the
 * gateway derives it from the open sessions. */
#include "platform/relationships/presence.h"

#include "gateway/gateway.h"
#include "model/presence.h"

enum { MAX_KINDS = 256 };

static const char *get_online_status_of_user(const struct call *call, snowflake user_id,
                                             struct json_writer *kinds)
{
    struct gateway *gateway = api_get_options(call->api)->gateway;

    return gateway ? gateway_get_account_status(gateway, user_id, kinds) : NULL;
}

void emit_presence_update(struct call *call, snowflake to, const struct user *user)
{
    struct buf kinds;
    struct json_writer j = json_writer_to_buf(&kinds);

    buf_init(&kinds, MAX_KINDS);
    const char *status = get_online_status_of_user(call, user->id, &j);
    struct presence presence = {
        .user = user,
        .status = str_of(status ? status : "offline"),
        .client_status = kinds.n ? buf_as_str(&kinds) : STR("{}"),
    };
    call_emit_event(call, EVENT_PRESENCE_UPDATE, audience_of_user(to), &presence_schema, &presence);
    buf_clear(&kinds);
}

bool presence_is_online(const struct call *call, snowflake user_id)
{
    return get_online_status_of_user(call, user_id, NULL) != NULL;
}
