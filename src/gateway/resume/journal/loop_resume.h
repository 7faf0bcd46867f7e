/* loop_resume.h - what an event loop stores for RESUME: retained events, requests, timers.
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
struct journal_replication_of_loop;

struct loop_resume_state {
    /* Items: struct session_transfer, of sessions of this loop that must move to other loops. */
    struct list_link leaving_transfers;
    /* Items: struct session_release, of sessions of this loop that other nodes have requested. */
    struct list_link releases;
    struct list_link requests; /* requests for sessions of other nodes */
    struct map requests_by_number;
    struct deadline_list *request_timer;
    /* Items: struct session_transfer, of sessions that move to this loop, oldest first. */
    struct list_link arriving;
    struct retained_events
        retained;     /* events delivered since the oldest transfer to this loop was requested */
    bool retains_all; /* after a restart: all events since the process started are retained */
    size_t retained_bytes; /* size of the events that are retained because of a restart */
    struct deadline_list *retain_timer;
    struct deadline retain_end;
    /* Address of this loop's event position in the mapped journal file, or NULL. */
    _Atomic uint64_t *journal_position;
    /* Sends the journal records of this loop's sessions to the replica; NULL without a replica. */
    struct journal_replication_of_loop *replication;
};

void loop_resume_init(struct gateway_loop *h);
void loop_resume_clear(struct gateway_loop *h);
/* Retains all events for as long as a session can be resumed. Must be called on the loop. */
void retain_events_after_restart(struct gateway_loop *h);
/* Called when the delivery of an event begins; retains the event if a session needs it. */
void retain_event_if_a_session_needs_it(struct gateway_loop *h, struct gateway_event *n);

#endif
