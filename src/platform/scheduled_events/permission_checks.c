/* permission_checks.c - permission checks of scheduled events. */
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/scheduled_events/internal.h"

/* Reads the caller's permissions in the channel of the scheduled event; if it has no channel, in
 * the guild. */
static enum err read_permissions_for_scheduled_event(struct call *call,
                                                     const struct scheduled_event *e, uint64_t *ret)
{
    struct channel c;
    enum err err = OK;

    *ret = call->target.permissions;
    if (e->channel_id.given != GIVEN)
        return OK;
    err = channel_find(call->tx, e->channel_id.value, &c);
    if (err)
        return err == ERR_UNKNOWN_CHANNEL ? OK : err;
    return member_permissions_in_channel(call->tx, call->target.member_access, &c, ret);
}

enum err check_view_scheduled_event_permission(struct call *call, const struct scheduled_event *e)
{
    uint64_t perms;
    enum err err = read_permissions_for_scheduled_event(call, e, &perms);

    if (err || e->channel_id.given != GIVEN)
        return err;
    return perms & PERMISSION(VIEW_CHANNEL) ? OK : ERR_UNKNOWN_SCHEDULED_EVENT;
}

static uint64_t permissions_needed_for_event_type(const struct scheduled_event *e)
{
    switch (e->entity_type) {
    case EVENT_IN_STAGE:
        return PERMISSION(MANAGE_CHANNELS) | PERMISSION(MUTE_MEMBERS) | PERMISSION(MOVE_MEMBERS);
    case EVENT_IN_VOICE:
        return PERMISSION(VIEW_CHANNEL) | PERMISSION(CONNECT);
    default:
        return 0;
    }
}

/* Returns the error for a caller without MANAGE_CHANNELS. Of the permissions that scheduled events
 * need, only this one can be withheld because of a missing second factor. */
static enum err get_missing_manage_channels_error(struct call *call,
                                                  const struct scheduled_event *e)
{
    struct channel c;
    enum err err = channel_find(call->tx, e->channel_id.value, &c);

    if (err)
        return err == ERR_UNKNOWN_CHANNEL ? ERR_MISSING_PERMISSIONS : err;
    return permission_error_in_channel(call->tx, call->target.member_access, &c,
                                       PERMISSION(MANAGE_CHANNELS));
}

enum err require_scheduled_event_permission(struct call *call, const struct scheduled_event *e,
                                            uint64_t any_of)
{
    uint64_t perms, needs = permissions_needed_for_event_type(e);
    enum err err = read_permissions_for_scheduled_event(call, e, &perms);

    if (err)
        return err;
    if (perms & any_of && (perms & needs) == needs)
        return OK;
    return perms & any_of && (needs & ~perms) == PERMISSION(MANAGE_CHANNELS)
               ? get_missing_manage_channels_error(call, e)
           : perms & any_of ? call_get_missing_permissions_error(call, needs & ~perms)
                            : call_get_missing_any_permission_error(call, any_of);
}

enum err check_change_scheduled_event_permission(struct call *call, const struct scheduled_event *e)
{
    bool own = e->creator_id.given == GIVEN && e->creator_id.value == call->caller->id;

    return require_scheduled_event_permission(
        call, e, PERMISSION(MANAGE_EVENTS) | (own ? PERMISSION(CREATE_EVENTS) : 0));
}

enum err scheduled_event_check_channel(struct call *call, const struct scheduled_event *e)
{
    struct channel c;
    enum err err;

    if (e->channel_id.given != GIVEN)
        return OK;
    err = channel_find(call->tx, e->channel_id.value, &c);
    if (err == ERR_UNKNOWN_CHANNEL || (!err && c.guild_id.value != e->guild_id))
        return call_add_field_error(call, "channel_id", FORM_CHOICES, "Unknown channel.");
    if (err)
        return err;
    return c.type == (e->entity_type == EVENT_IN_STAGE ? CHANNEL_STAGE : CHANNEL_VOICE)
               ? OK
               : ERR_EVENT_ENTITY_TYPE;
}
