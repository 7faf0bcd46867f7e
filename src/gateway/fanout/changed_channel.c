/* changed_channel.c - a CHANNEL_UPDATE that changes overwrites: which sessions gain or lose the
 * channel. */
#include <string.h>

#include "base/mem.h"
#include "gateway/fanout/sight.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/news.h"

struct changed_channel {
    struct news *news[2];      /* CHANNEL_DELETE, CHANNEL_CREATE */
    struct place_rule *before; /* former overwrites; NULL: the view did not have the channel */
};

static bool has_other_overwrites(const struct place_rule *p, const struct facts *f)
{
    return p->count != f->count || (p->count && memcmp(p->overwrites, facts_overwrites(f),
                                                       p->count * sizeof *p->overwrites) != 0);
}

struct changed_channel *changed_channel_begin(const struct delivery *d)
{
    if (d->news->event != EVENT_CHANNEL_UPDATE)
        return NULL;
    const struct place_rule *old = map_get(&d->topic->view->channels, d->facts->channel.id);
    if (old && !has_other_overwrites(old, d->facts))
        return NULL;
    struct changed_channel *c = mem_new(sizeof *c);
    if (old) {
        size_t size = sizeof *old + old->count * sizeof *old->overwrites;

        c->before = mem_resize(NULL, size);
        memcpy(c->before, old, size);
    }
    return c;
}

bool changed_channel_tell(struct changed_channel *c, const struct delivery *d, struct seat *seat)
{
    if (!delivery_receives(d, seat->session))
        return false;
    struct rights_of who = sight_rights(seat);
    const struct place_rule *now = map_get(&seat->topic->view->channels, d->facts->channel.id);
    bool shown = now && sight_shows(&who, now);

    if ((c->before && sight_shows(&who, c->before)) == shown)
        return false;
    if (shown && c->before && sight_may_have_threads(now->type))
        thread_sync_begin(seat->session, d->topic->id, &now->id, 1);
    if (seat->session->bot)
        return false; /* bots get the CHANNEL_UPDATE itself */
    if (!c->news[shown])
        c->news[shown] = news_new(shown ? EVENT_CHANNEL_CREATE : EVENT_CHANNEL_DELETE, d->news->to,
                                  news_payload(d->news));
    session_dispatch(seat->session, c->news[shown], 0);
    return true;
}

void changed_channel_free(struct changed_channel *c)
{
    if (!c)
        return;
    news_unref(c->news[0]);
    news_unref(c->news[1]);
    mem_free(c->before);
    mem_free(c);
}
