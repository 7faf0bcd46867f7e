/* loop_resume.c - what an event loop stores for RESUME: retained events, requests, timers. */
#include "gateway/resume/journal/loop_resume.h"

#include "base/mem.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/upcalls.h"

enum {
    RETAINED_EVENTS_MAX_BYTES = 64 * 1024 * 1024,
    /* Time between two store reads of a session request (session_request.c), in ms. */
    REQUEST_INTERVAL_MS = 250,
};

/* Stops retaining all events, because the limit of bytes or time is reached. A client that resumes
 * a suspended session after this must identify again. */
static void stop_retaining_events(struct gateway_loop *h)
{
    h->resume.retains_all = false;
    deadline_cancel(&h->resume.retain_end);
    if (linked_list_is_empty(&h->resume.arriving))
        retained_events_drop_before(&h->resume.retained, retained_events_end(&h->resume.retained));
}

static void on_event_retention_expired(struct deadline *d)
{
    stop_retaining_events(container_of(d, struct gateway_loop, resume.retain_end));
}

void retain_events_after_restart(struct gateway_loop *h)
{
    h->resume.retains_all = true;
    deadline_restart(h->resume.retain_timer, &h->resume.retain_end);
}

/* Returns whether a session that arrives on this loop may need events whose delivery begins now. */
static bool loop_retains_events(const struct gateway_loop *h)
{
    return h->resume.retains_all || !linked_list_is_empty(&h->resume.arriving);
}

void retain_event_if_a_session_needs_it(struct gateway_loop *h, struct gateway_event *n)
{
    struct loop_resume_state *r = &h->resume;

    if (!loop_retains_events(h))
        return;
    retained_events_add(&r->retained, n);
    r->retained_bytes += r->retains_all ? sizeof *n + gateway_event_get_payload(n).n : 0;
    if (r->retains_all && r->retained_bytes > RETAINED_EVENTS_MAX_BYTES)
        stop_retaining_events(h);
}

void loop_resume_init(struct gateway_loop *h)
{
    struct loop_resume_state *r = &h->resume;

    linked_list_init(&r->leaving_transfers);
    linked_list_init(&r->releases);
    linked_list_init(&r->requests);
    linked_list_init(&r->arriving);
    map_init(&r->requests_by_number);
    r->request_timer = deadline_list_new(h->loop, REQUEST_INTERVAL_MS, false,
                                         gateway_upcalls.resume_request_retry);
    r->retain_timer =
        deadline_list_new(h->loop, SESSION_EXPIRY_MS, true, on_event_retention_expired);
    r->journal_position = journal_loop_position(h->gateway->journal, loop_get_index(h->loop));
    if (r->journal_position)
        atomic_store(r->journal_position, h->position);
    r->replication = journal_replication_new(h);
}

void loop_resume_clear(struct gateway_loop *h)
{
    struct loop_resume_state *r = &h->resume;

    journal_replication_free(r->replication);
    retained_events_clear(&r->retained);
    map_clear(&r->requests_by_number);
    deadline_list_free(r->retain_timer);
    deadline_list_free(r->request_timer);
}
