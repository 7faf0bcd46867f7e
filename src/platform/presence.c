/* presence.c - whether somebody is there, told by calls.
 *
 * Presence is not kept: the gateway knows it from the sessions that are open. */
#include "platform/presence.h"

#include "gateway/gateway.h"

enum { MAX_KINDS = 256 };

struct presence {
    const struct user *user;
    struct str status, client_status;
    struct list activities;
};

static const struct field presence_fields[] = {
    { FIELD(struct presence, user), .type = &type_partial_user },
    { FIELD(struct presence, status), .type = &type_text },
    { FIELD(struct presence, activities), .type = &type_none },
    { FIELD(struct presence, client_status), .type = &type_raw },
    { 0 },
};
static const struct schema presence_schema = {
    .name = "Presence",
    .size = sizeof(struct presence),
    .fields = presence_fields,
    .doc = "Whether somebody is there, and how they look.",
};

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
