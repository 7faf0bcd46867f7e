/* delivery.c - decides whether a session receives an event, and in which form. */
#include "gateway/fanout/delivery.h"

#include "gateway/capabilities.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/session.h"
#include "gateway/views/known.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "model/permissions/message_content.h"

struct delivery delivery_of(struct hub *h, struct news *n)
{
    return (
        struct delivery){ .hub = h, .news = n, .info = event_info(n->event), .facts = &n->facts };
}

/* Returns the event's intents for guilds, or those for direct messages, depending on the
 * audience. */
static unsigned intents_here(const struct delivery *d)
{
    unsigned all = d->info->intents, private = all & INTENTS_PRIVATE;

    switch (d->news->to.kind) {
    case SUBJECT_GUILD:
        return all & ~INTENTS_PRIVATE;
    default:
        /* A message that is sent to one account counts as a direct message. */
        return private || d->news->to.channel_id ? private : all;
    }
}

static bool concerns_people(const struct facts *f, snowflake id)
{
    for (uint32_t i = 0; f->kind == FACTS_PEOPLE && i < f->count; i++)
        if (facts_ids(f)[i] == id)
            return true;
    return false;
}

static bool about_itself(const struct delivery *d, const struct session *s)
{
    return facts_about(d->facts) == s->caller.id;
}

/* An event with EVENT_CONCERNED is announced twice: to the guild, for sessions with the intent
 * GUILD_MEMBERS, and to each account concerned, for sessions without it. */
static bool asked_for_part(const struct delivery *d, const struct session *s)
{
    bool all = !s->bot || s->options.intents & INTENT(GUILD_MEMBERS);

    return d->news->to.kind == SUBJECT_GUILD ? all : !all && s->options.intents & INTENT(GUILDS);
}

static bool asked_for(const struct delivery *d, const struct session *s)
{
    unsigned intents = intents_here(d);

    if (d->info->flags & EVENT_CONCERNED)
        return asked_for_part(d, s);
    if (s->bot && d->info->flags & EVENT_TO_USERS)
        return false;
    if (!d->info->intents || intents & s->options.intents || (!intents && !s->bot))
        return true;
    return d->info->flags & EVENT_OWN && about_itself(d, s);
}

/* An event of a user goes to one shard: the shard of its guild, or shard 0. */
static bool shard_covers(const struct delivery *d, const struct session *s)
{
    snowflake guild_id = d->news->guild_id;

    if (d->news->to.kind == SUBJECT_GUILD || d->news->to.kind == SUBJECT_SESSION)
        return true;
    if (d->news->event == EVENT_GUILD_CREATE || d->news->event == EVENT_GUILD_DELETE)
        guild_id = d->facts->guild.id;
    return guild_id ? session_covers(s, guild_id) : s->options.shard_id == 0;
}

/* Events about the receiving account skip the channel check: a member receives changes of itself
 * even in channels that it cannot view. */
static bool has_rights(const struct delivery *d, struct seat *seat)
{
    const struct subject *to = &d->news->to;
    bool own =
        (d->info->flags & EVENT_OWN && about_itself(d, seat->session)) ||
        (d->info->flags & EVENT_CONCERNED && concerns_people(d->facts, seat->session->caller.id));

    if (to->hidden_id && (own || seat_rights(seat, to->hidden_id) & PERMISSION(VIEW_CHANNEL)))
        return false;
    if (own)
        return true;

    if (to->kind != SUBJECT_GUILD || !(to->channel_id || to->any_of))
        return true;
    if (seat->session->bot && d->info->flags & EVENT_BY_INTENT)
        return true;
    /* Bots receive structure events of channels that they cannot view, except of private
     * threads. */
    bool looks =
        to->channel_id && (to->closed || !(seat->session->bot && d->info->flags & EVENT_STRUCTURE));
    if (!looks && !to->any_of)
        return true;
    uint64_t rights = seat_rights_for(seat, to);
    if ((looks && !(rights & PERMISSION(VIEW_CHANNEL))) || (to->any_of && !(rights & to->any_of)))
        return false;
    return to->closed || !to->people_count || seat_may_grant(seat, to);
}

bool delivery_receives(const struct delivery *d, const struct session *s)
{
    if ((s->bot || s->options.intents || d->info->flags & EVENT_CONCERNED) && !asked_for(d, s))
        return false;
    if (!s->bot && d->info->flags & EVENT_TO_BOTS)
        return false;
    if (d->news->except && d->news->except == s->number)
        return false;
    if (!shard_covers(d, s) || (d->news->number && d->news->number <= s->resume.seen))
        return false;
    switch (d->news->event) {
    case EVENT_USER_SETTINGS_UPDATE:
        return !(s->options.capabilities & CAPABILITY_NO_SETTINGS);
    case EVENT_PRESENCE_UPDATE:
        /* READY has the current presences from memory. PRESENCE_UPDATE events that were queued
         * before READY are older. */
        return !about_itself(d, s) && d->news->number > s->presences;
    case EVENT_GUILD_MEMBER_REMOVE: /* the removed member gets GUILD_DELETE */
        return !about_itself(d, s);
    default:
        return true;
    }
}

/* A bot without the intent MESSAGE_CONTENT may need its own copy: if the bot replies to a
 * message, the event must not reveal the content of that message. */
static void dispatch_visible_message(const struct delivery *d, struct session *s, bool in_guild,
                                     const struct content_reader *reader)
{
    struct str whole = news_payload(d->news);
    struct str own = visible_message_for_reader(whole, in_guild, reader, d->hub->arena);

    if (own.p == whole.p) {
        session_dispatch(s, d->news, 0);
        return;
    }
    struct news *n = news_new(d->news->event, d->news->to, own);

    n->guild_id = d->news->guild_id;
    n->number = d->news->number;
    session_dispatch(s, n, 0);
    news_unref(n);
}

static void delivery_dispatch(const struct delivery *d, struct session *s)
{
    const struct content_reader reader = {
        .id = s->caller.id,
        .application_id = s->caller.application_id,
        .bot = s->bot,
        .granted = s->options.intents & INTENT(MESSAGE_CONTENT),
    };
    const struct content_origin from = {
        .author_id = d->facts->message.author_id,
        .application_id = d->facts->message.application_id,
        .mentioned = facts_ids(d->facts),
        .mentioned_count = d->facts->count,
    };
    bool in_guild = d->news->to.kind == SUBJECT_GUILD;
    bool is_message = d->info->flags & EVENT_CONTENT;
    bool hidden = is_message && content_is_hidden(&reader, in_guild, &from);

    if (is_message && !hidden && reader.bot && !reader.granted)
        dispatch_visible_message(d, s, in_guild, &reader);
    else
        session_dispatch(s, d->news, hidden ? NEWS_EMPTIED : 0);
}

/* In guilds over SMALL_GUILD members, users do not get presences and joins of others. */
static bool is_crowded(const struct delivery *d, const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;
    enum event event = d->news->event;

    if (event != EVENT_PRESENCE_UPDATE && event != EVENT_GUILD_MEMBER_ADD)
        return false;
    return d->news->to.kind == SUBJECT_GUILD && !seat->session->bot &&
           !about_itself(d, seat->session) && !(v && v->member_count <= SMALL_GUILD);
}

bool delivery_is_read_later(const struct delivery *d)
{
    return d->news->event == EVENT_GUILD_CREATE && d->news->to.kind == SUBJECT_USER &&
           !d->facts->guild.owner_id;
}

bool delivery_is_known(const struct delivery *d, struct seat *seat)
{
    return known_has(&seat->known, d->news->number) && !(d->info->flags & EVENT_FLEETING);
}

void delivery_give(const struct delivery *d, struct seat *seat)
{
    struct session *s = seat->session;

    if (delivery_is_read_later(d))
        return;
    if (!delivery_receives(d, s) || is_crowded(d, seat) || !has_rights(d, seat))
        return;
    d->hub->at_once = d->crowd;
    delivery_dispatch(d, s);
    d->hub->at_once = false;
}
