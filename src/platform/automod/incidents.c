/* incidents.c - PUT /guilds/{guild.id}/incident-actions. Disables invites for at most 24 hours, or
 * direct messages between members who are not friends or connected in another way. */
#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/automod/internal.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/messages/messages.h"

#define MAX_RESTRICTION_US (INT64_C(24) * 3600 * 1000000)

#define MEMBER(member_)                                                                          \
    {                                                                                            \
        FIELD(struct guild_incidents, member_), .type = &type_time, .flags = OPTIONAL | NULLABLE \
    }
static const struct field incident_fields[] = { MEMBER(invites_disabled_until),
                                                MEMBER(dms_disabled_until),
                                                { 0 } };
static const struct schema incident_schema = {
    .name = "IncidentActions",
    .size = sizeof(struct guild_incidents),
    .fields = incident_fields,
    .doc = "Until when invites and direct messages are disabled; null: not disabled.",
};
const struct type incident_body = { .kind = KIND_OBJECT, .schema = &incident_schema };

static enum err set_end_time_of_restriction(struct call *call, const char *field, struct opt_int in,
                                            struct opt_int *stop)
{
    if (in.given == GIVEN && in.value > clock_us() + MAX_RESTRICTION_US)
        return call_add_field_error(call, field, "NUMBER_TYPE_MAX",
                                    "Must be at most 24 hours from now.");
    if (in.given != ABSENT)
        *stop = (struct opt_int){ in.given == GIVEN && in.value > clock_us() ? GIVEN : GIVEN_NULL,
                                  in.value };
    return OK;
}

static int64_t latest_restriction_end(const struct guild_incidents *i)
{
    int64_t invites =
        i->invites_disabled_until.given == GIVEN ? i->invites_disabled_until.value : 0;
    int64_t dms = i->dms_disabled_until.given == GIVEN ? i->dms_disabled_until.value : 0;

    return invites > dms ? invites : dms;
}

/* Sends a system message to the safety alerts channel if the first restriction has begun, or if the
 * last one has ended. */
static enum err send_incident_message(struct call *call, const struct guild *g, bool was,
                                      int64_t until)
{
    struct str text = until ? json_column_encode(call->arena, &type_time, &until) : STR("\"\"");
    struct channel c;

    if (g->safety_alerts_channel_id.given != GIVEN || was == (until != 0))
        return OK;
    enum err e = channel_find(call->tx, g->safety_alerts_channel_id.value, &c);
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    return message_create_system_message(call, &c,
                                         until ? MESSAGE_INCIDENT_ON : MESSAGE_INCIDENT_OFF,
                                         call->caller->id, 0, str_slice(text.p + 1, text.n - 2));
}

static const struct field audited_incidents[] = {
    { FIELD(struct guild_incidents, invites_disabled_until), .type = &type_time },
    { FIELD(struct guild_incidents, dms_disabled_until), .type = &type_time },
    { 0 },
};

enum err put_incident_actions(struct call *call)
{
    static const struct guild_incidents none = { .invites_disabled_until.given = GIVEN_NULL,
                                                 .dms_disabled_until.given = GIVEN_NULL };
    const struct guild_incidents *in = call->body;
    const struct guild *g = call->target.guild;
    struct guild_incidents now = g->incidents_data ? *g->incidents_data : none;
    enum err e = set_end_time_of_restriction(
        call, "invites_disabled_until", in->invites_disabled_until, &now.invites_disabled_until);
    enum err other = set_end_time_of_restriction(call, "dms_disabled_until", in->dms_disabled_until,
                                                 &now.dms_disabled_until);

    if (e || other)
        return e ? e : other;
    e = guild_update_incident_restrictions(call->tx, g->id, &now);
    if (!e)
        e = audit_log_record_object_change(call, g->id, AUDIT_GUILD_UPDATE, g->id,
                                           audited_incidents, g->incidents_data, &now);
    if (!e)
        e = guild_emit_update(call, g->id);
    if (!e)
        e = send_incident_message(call, g, g->incidents_data != NULL, latest_restriction_end(&now));
    return e ? e : call_reply_with_object(call, &now);
}
