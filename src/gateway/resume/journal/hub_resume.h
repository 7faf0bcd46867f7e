/* hub_resume.h - a loop's state for RESUME: retained events, requests, timers.
 *
 * A loop retains events while sessions move to it. After a restart it retains all events for as
 * long as suspended sessions can be resumed, or up to 64 MiB. */
#ifndef GATEWAY_RESUME_JOURNAL_HUB_RESUME_H
#define GATEWAY_RESUME_JOURNAL_HUB_RESUME_H

#include "base/links.h"
#include "base/map.h"
#include "gateway/resume/journal/recent.h"
#include "net/loop.h"

struct hub;
struct replication;

struct hub_resume {
    struct link leaving;  /* struct handover: sessions that other loops wait for */
    struct link releases; /* struct session_release: sessions that other nodes wait for */
    struct link requests; /* struct session_request: sessions requested from other nodes */
    struct map requests_by_number;
    struct deadlines *request_timer;
    struct link arriving; /* struct handover: sessions that move to this loop, oldest first */
    struct recent_events recent; /* events since the oldest transfer to this loop was requested */
    bool recording;              /* all events since the restart are retained */
    size_t recorded;             /* bytes of the events retained since the restart */
    struct deadlines *recording_timer;
    struct deadline recording_end;
    _Atomic uint64_t *journal_position; /* this loop's position in the journal file; or NULL */
    struct replication *replication;    /* sends the journal to its replica; or NULL */
};

void hub_resume_init(struct hub *h);
void hub_resume_clear(struct hub *h);
/* Retains all events from now on, for as long as a session can be resumed. Runs on the loop. */
void hub_record(struct hub *h);
/* Called when an event begins; retains it if a session needs it. */
void hub_resume_event_begun(struct hub *h, struct news *n);

#endif
