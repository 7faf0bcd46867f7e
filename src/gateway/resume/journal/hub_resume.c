/* hub_resume.c - a loop's state for RESUME: retained events, requests, timers. */
#include "gateway/resume/journal/hub_resume.h"

#include "base/mem.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/upcalls.h"

enum {
    MAX_RECORDED = 64 * 1024 * 1024,
    REQUEST_MS = 250, /* interval between two store reads of a request */
};

/* Stops retaining all events. A client that resumes a suspended session later has to identify
 * again. */
static void stop_recording(struct hub *h)
{
    h->resume.recording = false;
    deadline_drop(&h->resume.recording_end);
    if (links_empty(&h->resume.arriving))
        recent_trim(&h->resume.recent, recent_end(&h->resume.recent));
}

static void recording_expired(struct deadline *d)
{
    stop_recording(container_of(d, struct hub, resume.recording_end));
}

void hub_record(struct hub *h)
{
    h->resume.recording = true;
    deadline_touch(h->resume.recording_timer, &h->resume.recording_end);
}

void hub_resume_event_begun(struct hub *h, struct news *n)
{
    struct hub_resume *r = &h->resume;

    if (!r->recording && links_empty(&r->arriving))
        return;
    recent_add(&r->recent, n);
    r->recorded += r->recording ? news_payload(n).n : 0;
    if (r->recording && r->recorded > MAX_RECORDED)
        stop_recording(h);
}

void hub_resume_init(struct hub *h)
{
    struct hub_resume *r = &h->resume;

    links_init(&r->leaving);
    links_init(&r->releases);
    links_init(&r->requests);
    links_init(&r->arriving);
    map_init(&r->requests_by_number);
    r->request_timer = deadlines_new(h->loop, REQUEST_MS, false, gateway_upcalls.request_again);
    r->recording_timer = deadlines_new(h->loop, AWAY_MS, true, recording_expired);
    r->journal_position = journal_hub_position(h->gateway->journal, loop_index(h->loop));
    if (r->journal_position)
        atomic_store(r->journal_position, h->position);
    r->replication = replication_new(h);
}

void hub_resume_clear(struct hub *h)
{
    struct hub_resume *r = &h->resume;

    replication_free(r->replication);
    recent_clear(&r->recent);
    map_clear(&r->requests_by_number);
    deadlines_free(r->recording_timer);
    deadlines_free(r->request_timer);
}
