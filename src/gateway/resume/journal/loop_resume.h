/* loop_resume.h - a loop's state for RESUME: retained events, requests, timers.
 *
 * A loop retains events while sessions move to it. After a restart it retains all events, up to 64
 * MiB, for as long as suspended sessions can be resumed. */
#ifndef GATEWAY_RESUME_JOURNAL_LOOP_RESUME_H
#define GATEWAY_RESUME_JOURNAL_LOOP_RESUME_H

#include "base/links.h"
#include "base/map.h"
#include "gateway/resume/journal/retained_events.h"
#include "net/loop.h"

struct gateway_loop;
struct journal_replication;

struct loop_resume_state {
    struct link leaving_transfers; /* transfers of sessions that other loops wait for */
    struct link releases;          /* sessions to release, which other nodes have requested */
    struct link requests;          /* requests for sessions of other nodes */
    struct map requests_by_number;
    struct deadline_list *request_timer;
    struct link arriving; /* transfers of sessions that move to this loop, oldest first */
    struct retained_events
        retained;          /* events since the oldest transfer to this loop was requested */
    bool retains_all;      /* all events since the restart are retained */
    size_t retained_bytes; /* bytes of the events retained since the restart */
    struct deadline_list *retain_timer;
    struct deadline retain_end;
    _Atomic uint64_t *journal_position;      /* this loop's position in the journal file, or NULL */
    struct journal_replication *replication; /* sends the journal to its replica, or NULL */
};

void loop_resume_init(struct gateway_loop *h);
void loop_resume_clear(struct gateway_loop *h);
/* Retains all events from now on, for as long as a session can be resumed. Call it on the loop. */
void retain_events_after_restart(struct gateway_loop *h);
/* Returns whether a session that arrives on this loop may need events that begin now. */
bool loop_retains_events(const struct gateway_loop *h);
/* Called when the delivery of an event begins; retains the event if a session needs it. */
void retain_event_if_a_session_needs_it(struct gateway_loop *h, struct gateway_event *n);

#endif
