/* changed_channel.c - determines which sessions gain or lose a channel when CHANNEL_UPDATE changes
 * its overwrites. */
#include <string.h>

#include "base/mem.h"
#include "gateway/fanout/channel_visibility.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/gateway_event.h"

struct changed_channel {
    struct gateway_event *events[2]; /* CHANNEL_DELETE, CHANNEL_CREATE */
    /* Overwrites of the channel before the event; NULL if the guild view did not have the channel.
     */
    struct channel_overwrites *before;
};

static bool channel_overwrites_changed(const struct channel_overwrites *p,
                                       const struct event_routing *f)
{
    return p->count != f->count ||
           (p->count && memcmp(p->overwrites, event_routing_get_overwrites(f),
                               p->count * sizeof *p->overwrites) != 0);
}

struct changed_channel *channel_viewer_change_new(const struct event_delivery *d)
{
    if (d->event->type != EVENT_CHANNEL_UPDATE)
        return NULL;
    const struct channel_overwrites *old =
        map_find_value(&d->topic->view->channels, d->routing->channel.id);
    if (old && !channel_overwrites_changed(old, d->routing))
        return NULL;
    struct changed_channel *c = mem_new(sizeof *c);
    if (old) {
        size_t size = sizeof *old + old->count * sizeof *old->overwrites;

        c->before = mem_resize(NULL, size);
        memcpy(c->before, old, size);
    }
    return c;
}

bool channel_viewer_change_send_to_subscriber(struct changed_channel *c,
                                              const struct event_delivery *d,
                                              struct topic_subscription *seat)
{
    if (!session_receives_event(d, seat->session))
        return false;
    struct permission_computation_input who = subscription_get_permissions_ignoring_timeout(seat);
    const struct channel_overwrites *now =
        map_find_value(&seat->topic->view->channels, d->routing->channel.id);
    bool shown = now && member_can_view_channel(&who, now);

    if ((c->before && member_can_view_channel(&who, c->before)) == shown)
        return false;
    if (shown && c->before && channel_type_has_threads(now->type))
        begin_sending_thread_list_sync(seat->session, d->topic->id, &now->id, 1);
    if (seat->session->bot)
        return false; /* bots get the CHANNEL_UPDATE event itself */
    if (!c->events[shown])
        c->events[shown] = gateway_event_new(shown ? EVENT_CHANNEL_CREATE : EVENT_CHANNEL_DELETE,
                                             d->event->to, gateway_event_get_payload(d->event));
    session_deliver_event(seat->session, c->events[shown], 0);
    return true;
}

void channel_viewer_change_free(struct changed_channel *c)
{
    if (!c)
        return;
    gateway_event_unref(c->events[0]);
    gateway_event_unref(c->events[1]);
    mem_free(c->before);
    mem_free(c);
}
