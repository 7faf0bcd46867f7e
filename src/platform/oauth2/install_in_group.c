/* install_in_group.c - installs an app in a group DM. */
#include "platform/oauth2/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"

enum { MOST_INTEGRATIONS = 50 };

static const char COUNT[] =
    "select count(*) from channel_integrations where channel_id = $1 and application_id <> $2";
static const char ADD[] =
    "insert into channel_integrations (id, channel_id, application_id, scopes, user_id, "
    "created_at) values ($1, $2, $3, '[\"applications.commands\"]', $4, $5) "
    "on conflict (channel_id, application_id) do nothing";

/* Returns an error if the scopes contain more than commands: a bot cannot join a group DM. */
static enum err check_group_scopes(struct call *call, const struct oauth2_authorization_request *r)
{
    if (r->integration_type == INSTALL_GUILD && !oauth2_scopes_contain(&r->scopes, "bot"))
        return OK;
    return call_add_field_error(call, "scope", "ENUM_TYPE_COERCE",
                                "Only applications.commands can be installed in a group.");
}

enum err install_application_in_group(struct call *call,
                                      const struct oauth2_authorization_request *r,
                                      snowflake channel_id)
{
    int64_t n = 0;

    enum err e = check_application_is_public(call, r);
    if (!e)
        e = resolve_channel_by_id(call, channel_id);
    if (!e && call->target.channel->type != CHANNEL_GROUP)
        e = ERR_CHANNEL_TYPE;
    if (!e)
        e = check_group_scopes(call, r);
    if (!e)
        e = tx_read_int(call->tx, COUNT, BIND(v_id(channel_id), v_id(r->application->id)), &n);
    if (e)
        return e;
    if (n >= MOST_INTEGRATIONS)
        return ERR_MAX_INTEGRATIONS;
    e = tx_exec(call->tx, ADD,
                BIND(v_id(snowflake_new()), v_id(channel_id), v_id(r->application->id),
                     v_id(call->caller->id), v_int(clock_us())),
                NULL);
    return e ? e : hook_command_index_changed(call, channel_id);
}
