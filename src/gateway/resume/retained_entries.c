/* retained_entries.c - unread log entries among the events that a loop retains for a session (see
 * retained_entries.h). */
#include "gateway/resume/retained_entries.h"

#include "cluster/log_address.h"
#include "gateway/resume/journal/retained_events.h"
#include "gateway/resume/missed_events.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"

static bool session_needs_entry(const struct session *s, const struct gateway_event *n)
{
    for (size_t i = 0; i < n->to.user_count; i++)
        if (session_subscription_find(&s->subscriptions,
                                      log_address_get_kind_of_key(n->to.user_ids[i]),
                                      log_address_get_id_of_key(n->to.user_ids[i])))
            return true;
    return false;
}

static uint64_t first_retained_event(struct session_transfer *h, const struct session *s)
{
    return retained_events_find_after(&h->to->resume.retained, h->since,
                                      s->resume.delivered_elsewhere);
}

bool session_transfer_find_unread_log_entries(struct session_transfer *h, const struct session *s)
{
    struct gateway_event *n;

    for (uint64_t i = first_retained_event(h, s);
         (n = retained_event_at(&h->to->resume.retained, i)); i++)
        if (event_is_unread_log_entry(n) && session_needs_entry(s, n))
            event_list_add(&h->unread.entries, n);
    h->unread.settled = (int64_t)(h->to->position >> EVENT_NUMBER_BITS);
    return h->unread.entries.count;
}

static void add_event_of_entry(void *arg, struct gateway_event *n)
{
    event_list_add(arg, n);
}

enum err session_transfer_read_unread_log_entries(struct session_transfer *h, struct tx *tx)
{
    struct unread_log_entries_of_session_transfer *u = &h->unread;
    struct session_interest interest;
    enum err e = OK;

    session_interest_init(&interest, h->resumption->authentication.caller.id);
    for (size_t i = 0; i < h->guild_count; i++)
        session_interest_add_guild(&interest, h->guild_setups[i].guild_id);

    event_list_truncate(&u->events, 0); /* the store may run this function again */
    u->complete = true;
    for (size_t i = 0; i < u->entries.count && !e && u->complete; i++)
        e = read_events_of_log_position(h->to->gateway, tx,
                                        unread_entry_position(u->entries.items[i]), u->settled,
                                        &interest, add_event_of_entry, &u->events, &u->complete);
    session_interest_clear(&interest);
    return e;
}

/* Adds an event, unless the source loop has sent it. */
static void add_missed_event(struct session_transfer *h, const struct session *s,
                             struct gateway_event *n)
{
    if (n->number > s->resume.delivered_elsewhere)
        event_list_add(&h->missed, n);
}

/* Both lists are ordered by event numbers. */
bool session_transfer_merge_unread_log_entries(struct session_transfer *h, const struct session *s)
{
    const struct event_list *read = &h->unread.events;
    struct gateway_event *n;
    size_t next = 0;

    for (uint64_t i = first_retained_event(h, s);
         (n = retained_event_at(&h->to->resume.retained, i)); i++) {
        while (next < read->count && read->items[next]->number <= n->number)
            add_missed_event(h, s, read->items[next++]);
        if (!event_is_unread_log_entry(n))
            add_missed_event(h, s, n);
    }
    while (next < read->count)
        add_missed_event(h, s, read->items[next++]);
    h->since = retained_events_end(&h->to->resume.retained);
    session_transfer_clear_unread_log_entries(h);
    return h->unread.complete;
}

void session_transfer_clear_unread_log_entries(struct session_transfer *h)
{
    event_list_clear(&h->unread.entries);
    event_list_clear(&h->unread.events);
}
