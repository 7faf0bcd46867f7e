/* delivery.c - decides whether a session receives an event, and in which form. */
#include "gateway/fanout/delivery.h"

#include "gateway/capabilities.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/snapshot_positions.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "model/permissions/message_content.h"

struct event_delivery event_delivery_new(struct gateway_loop *h, struct gateway_event *n)
{
    return (struct event_delivery){ .gateway_loop = h,
                                    .event = n,
                                    .info = get_properties_of_event_type(n->type),
                                    .routing = &n->routing };
}

/* Returns the intents that allow a session to receive the event: the direct message intents if the
 * audience is a private channel or one account, else the guild intents. */
static unsigned intents_for_event_audience(const struct event_delivery *d)
{
    unsigned all = d->info->intents, private = all & INTENTS_PRIVATE_CHANNELS;

    switch (d->event->to.kind) {
    case AUDIENCE_GUILD:
        return all & ~INTENTS_PRIVATE_CHANNELS;
    default:
        /* A message whose audience is one account counts as a direct message. */
        return private || d->event->to.channel_id ? private : all;
    }
}

static bool event_concerns_user(const struct event_routing *f, snowflake id)
{
    for (uint32_t i = 0; f->kind == ROUTING_USERS && i < f->count; i++)
        if (event_routing_get_ids(f)[i] == id)
            return true;
    return false;
}

static bool event_is_about_account(const struct event_delivery *d, const struct session *s)
{
    return event_routing_get_user_id(d->routing) == s->caller.id;
}

/* An event with the flag EVENT_CONCERNED is announced twice: once to the guild, for users and for
 * bots with the intent GUILD_MEMBERS; once to each account concerned, for other bots. Returns
 * whether this session must get the announcement `d`, or gets the other one. */
static bool session_wants_event_about_account(const struct event_delivery *d,
                                              const struct session *s)
{
    bool all = !s->bot || s->options.intents & INTENT(GUILD_MEMBERS);

    return d->event->to.kind == AUDIENCE_GUILD ? all : !all && s->options.intents & INTENT(GUILDS);
}

static bool session_intents_allow_event(const struct event_delivery *d, const struct session *s)
{
    unsigned intents = intents_for_event_audience(d);

    if (d->info->flags & EVENT_CONCERNED)
        return session_wants_event_about_account(d, s);
    if (s->bot && d->info->flags & EVENT_TO_USERS)
        return false;
    if (!d->info->intents || intents & s->options.intents || (!intents && !s->bot))
        return true;
    return d->info->flags & EVENT_OWN && event_is_about_account(d, s);
}

/* Returns whether the session's shard gets the event. An event whose audience is one account goes
 * to one shard: the shard of its guild, or shard 0. */
static bool session_shard_receives_event(const struct event_delivery *d, const struct session *s)
{
    snowflake guild_id = d->event->guild_id;

    if (d->event->to.kind == AUDIENCE_GUILD || d->event->to.kind == AUDIENCE_SESSION)
        return true;
    if (d->event->type == EVENT_GUILD_CREATE || d->event->type == EVENT_GUILD_DELETE)
        guild_id = d->routing->guild.id;
    return guild_id ? session_shard_has_guild(s, guild_id) : s->options.shard_id == 0;
}

/* Returns whether the session may receive the event in the event's channel. A member receives
 * events about itself even in channels that it cannot view. */
static bool subscription_can_view_event(const struct event_delivery *d,
                                        struct topic_subscription *seat)
{
    const struct audience *to = &d->event->to;
    bool own = (d->info->flags & EVENT_OWN && event_is_about_account(d, seat->session)) ||
               (d->info->flags & EVENT_CONCERNED &&
                event_concerns_user(d->routing, seat->session->caller.id));

    if (to->hidden_id &&
        (own || subscription_permissions(seat, to->hidden_id) & PERMISSION(VIEW_CHANNEL)))
        return false;
    if (own)
        return true;

    if (to->kind != AUDIENCE_GUILD || !(to->channel_id || to->any_of))
        return true;
    if (seat->session->bot && d->info->flags & EVENT_BY_INTENT)
        return true;
    /* Bots receive events about the guild structure (EVENT_STRUCTURE) even if they cannot view the
     * channel, except events about private Discord threads. */
    bool looks = to->channel_id &&
                 (to->private_thread || !(seat->session->bot && d->info->flags & EVENT_STRUCTURE));
    if (!looks && !to->any_of)
        return true;
    uint64_t perms = subscription_event_permissions(seat, to);
    if ((looks && !(perms & PERMISSION(VIEW_CHANNEL))) || (to->any_of && !(perms & to->any_of)))
        return false;
    return to->private_thread || !to->user_count ||
           subscription_receives_role_granter_event(seat, to);
}

bool session_receives_event(const struct event_delivery *d, const struct session *s)
{
    if ((s->bot || s->options.intents || d->info->flags & EVENT_CONCERNED) &&
        !session_intents_allow_event(d, s))
        return false;
    if (!s->bot && d->info->flags & EVENT_TO_BOTS)
        return false;
    if (d->event->except && d->event->except == s->number)
        return false;
    if (!session_shard_receives_event(d, s) ||
        (d->event->number && d->event->number <= s->resume.delivered_elsewhere))
        return false;
    switch (d->event->type) {
    case EVENT_USER_SETTINGS_UPDATE:
        return !(s->options.capabilities & CAPABILITY_NO_SETTINGS);
    case EVENT_PRESENCE_UPDATE:
        /* READY contains the presences known when it was written. PRESENCE_UPDATE events that were
         * queued before READY are older than these presences, so they are not sent. */
        return !event_is_about_account(d, s) && d->event->number > s->presences;
    case EVENT_GUILD_MEMBER_REMOVE: /* the removed member gets GUILD_DELETE */
        return !event_is_about_account(d, s);
    default:
        return true;
    }
}

/* Sends a message with content to a bot without the intent MESSAGE_CONTENT. If the message is a
 * reply, the bot may need a payload of its own, without the content of the message replied to. */
static void send_message_with_visible_content(const struct event_delivery *d, struct session *s,
                                              bool in_guild,
                                              const struct message_content_reader *reader)
{
    struct str whole = gateway_event_get_payload(d->event);
    struct str own = build_message_json_with_readable_references(whole, in_guild, reader,
                                                                 d->gateway_loop->arena);

    if (own.p == whole.p) {
        session_deliver_event(s, d->event, 0);
        return;
    }
    struct gateway_event *n = gateway_event_new(d->event->type, d->event->to, own);

    n->guild_id = d->event->guild_id;
    n->number = d->event->number;
    session_deliver_event(s, n, 0);
    gateway_event_unref(n);
}

static void send_event_with_visible_content(const struct event_delivery *d, struct session *s)
{
    const struct message_content_reader reader = {
        .id = s->caller.id,
        .application_id = s->caller.application_id,
        .bot = s->bot,
        .granted = s->options.intents & INTENT(MESSAGE_CONTENT),
    };
    const struct message_author_and_mentions from = {
        .author_id = d->routing->message.author_id,
        .application_id = d->routing->message.application_id,
        .mentioned = event_routing_get_ids(d->routing),
        .mentioned_count = d->routing->count,
    };
    bool in_guild = d->event->to.kind == AUDIENCE_GUILD;
    bool is_message = d->info->flags & EVENT_CONTENT;
    bool hidden = is_message && message_content_is_hidden(&reader, in_guild, &from);

    if (is_message && !hidden && reader.bot && !reader.granted)
        send_message_with_visible_content(d, s, in_guild, &reader);
    else
        session_deliver_event(s, d->event, hidden ? PAYLOAD_WITHOUT_CONTENT : 0);
}

/* Returns whether the guild is too large for this event: above SMALL_GUILD_MEMBERS members, user
 * sessions receive neither presences nor joins of other members. */
static bool guild_is_too_large_for_event(const struct event_delivery *d,
                                         const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;
    enum event event = d->event->type;

    if (event != EVENT_PRESENCE_UPDATE && event != EVENT_GUILD_MEMBER_ADD)
        return false;
    return d->event->to.kind == AUDIENCE_GUILD && !seat->session->bot &&
           !event_is_about_account(d, seat->session) &&
           !(v && v->member_count <= SMALL_GUILD_MEMBERS);
}

/* Returns whether GUILD_CREATE has only the id of the guild that an account joined, because the
 * guild takes long to read. Each session of the account then reads the guild itself. */
static bool event_has_only_guild_id(const struct event_delivery *d)
{
    return d->event->type == EVENT_GUILD_CREATE && d->event->to.kind == AUDIENCE_USER &&
           !d->routing->guild.owner_id;
}

bool session_must_read_guild_from_store(const struct event_delivery *d, const struct session *s)
{
    return event_has_only_guild_id(d) ||
           (d->event->type == EVENT_GUILD_CREATE && d->event->to.kind == AUDIENCE_USER &&
            s->options.capabilities & CAPABILITY_SPACEBAR);
}

bool subscription_snapshot_includes_event(const struct event_delivery *d,
                                          struct topic_subscription *seat)
{
    return snapshot_includes_event(&seat->snapshot_positions, d->event->number) &&
           !(d->info->flags & EVENT_FLEETING);
}

void deliver_event_to_subscription(const struct event_delivery *d, struct topic_subscription *seat)
{
    struct session *s = seat->session;

    if (session_must_read_guild_from_store(d, s))
        return;
    if (!session_receives_event(d, s) || guild_is_too_large_for_event(d, seat) ||
        !subscription_can_view_event(d, seat))
        return;
    d->gateway_loop->at_once = d->write_at_once;
    send_event_with_visible_content(d, s);
    d->gateway_loop->at_once = false;
}
