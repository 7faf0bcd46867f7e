/* hub.h - a loop's share of the gateway: its sockets, sessions, subjects and the events that come.
 *
 *   gateway   one a process: options, who has which session (registry.h)
 *   hub       one a loop: its sockets, sessions, subjects and the events that come
 *   peer      a socket and how it is spoken to
 *   session   who is told, and what was already; outlives its sockets
 *   topic     a subject and the sessions that listen to it (views/topics.h)
 *   seat      a session's place in a topic */
#ifndef GATEWAY_SESSIONS_HUB_H
#define GATEWAY_SESSIONS_HUB_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/links.h"
#include "base/map.h"
#include "gateway/sessions/batch.h"
#include "gateway/resume/journal/recent.h"
#include "gateway/views/topics.h"
#include "gateway/wire/frames.h"
#include "net/loop.h"
#include "store/store.h"

struct replication;
struct delay_line;
struct delivery;
struct gateway;

/* Written by one loop alone, in a cache line of its own: loops that shared a counter would wait
 * for each other at every session that is told something. */
struct loop_count {
    _Atomic uint64_t n;
    char rest_of_line[64 - sizeof(uint64_t)];
};

struct packer;
struct rosters;

/* A look at the store. While one runs that waits for a quiet moment, events wait in
 * line: what it reads and what follows fit together. */
struct load {
    struct work work;
    struct link link;
    struct hub *hub;
    struct arena *arena;
    bool quiet;
    bool writes;      /* in a write transaction */
    bool own_rows;    /* one whose rows nobody else's writes depend on: see STORE_APPEND */
    bool aside;       /* a read that may take long */
    uint64_t owner;   /* whose it is, where many wait aside; 0: nobody's */
    uint64_t after;   /* number of the last event in line when it was asked for */
    uint64_t since;   /* number of the last event published before it began */
    int64_t told;     /* of what position the last event is that was told then */
    int64_t passed;   /* the last position that the log's line had passed; of a watched one */
    struct list seen; /* positions from that one on that it saw (int64_t); of a quiet one */
    enum err (*run)(struct load *l, struct tx *tx);
    void (*committed)(struct load *l); /* of one that writes, on a thread of the store; or NULL */
    void (*done)(struct load *l, enum err e); /* frees what it is part of */
};

struct hub {
    struct gateway *gateway;
    struct loop *loop;
    struct link peers, sessions;
    struct link greetings; /* struct greeting */
    struct topics topics;
    struct deadlines *hellos, *strangers, *overdue, *dead, *invalidated, *away, *fading, *windows;
    struct packer *packer;
    struct arena *arena;                   /* of the message at hand */
    struct buf out;                        /* scratch for what is sent */
    struct event_frame frames[NEWS_FORMS]; /* of what is sent in this turn */
    bool framed;                           /* there are such */
    bool at_once;  /* what is sent now leaves now: it is for many (fanout/dispatch.c) */
    struct buf in; /* scratch for what is read */

    struct known_positions *looked; /* what the look has seen that is being taken over; or NULL */
    bool looked_ahead;              /* that is more than was told */
    struct parcel *queue, **queue_end;  /* with events in line: none of them is begun to its end */
    struct delay_line *delays;          /* events that do not stand in line yet; NULL: none ever */
    struct parcel *at_hand;             /* has the event that is begun and not finished */
    bool telling;                       /* there is such an event */
    struct delivery *delivery;          /* that event, on its way: fanout/; NULL before the first */
    uint64_t begun, position;           /* numbers of the last event that was begun, and finished */
    _Atomic uint64_t *journal_position; /* where the second of these is noted; or NULL */
    struct replication *replication;    /* sends the journal to its replica; NULL: there is none */
    struct link waiting;                /* struct load that wait for a quiet moment */
    unsigned running;                   /* loads that events wait for */
    unsigned loads;                     /* all that run */
    bool pumping;

    /* Events have a share of each turn; the rest of them is posted. */
    struct post pump_post;
    bool pump_posted;
    bool spent;         /* this turn's share is */
    bool held_up;       /* a turn ended with events in line since the last loads began */
    uint32_t ticks;     /* since the clock was looked at */
    int64_t turn_began; /* nanoseconds; 0: nothing was measured in this turn yet */
    int64_t second;     /* clock_s of this turn; 0: nobody has asked yet */

    struct link guests;  /* struct handover: sessions to be given away */
    struct link wanted;  /* struct session_give: the same, to other servers */
    struct link fetches; /* struct session_fetch: asked for at other servers */
    struct map fetches_by_number;
    struct deadlines *fetching;
    struct link expected; /* struct handover: sessions on their way here, as they were asked for */
    struct recent_events recent; /* events since the first of them was */
    bool recording;              /* or all of them: sessions of the process before may come back */
    size_t recorded;             /* bytes of these */
    struct deadlines *recordings;
    struct deadline recording_end;
    struct link runnable;    /* sessions whose first errand may go on */
    struct link unpublished; /* sessions that are different now, for presence/directory.h */
    struct post errands_post;
    bool errands_posted;
    struct rosters *rosters; /* member lists: lists/; NULL before the first */
    unsigned list_pieces;    /* of work on them that were posted */
    struct turn_end turn_end;
    struct loop_count *delivered; /* the gateway's, of this loop */
};

struct hub *hub_new(struct gateway *g, struct loop *loop);
void hub_free(struct hub *h);
void hub_load(struct hub *h, struct load *l); /* when it is quiet */
/* The same, and not before the event of this number, which comes to every loop, was told. */
void hub_load_after(struct hub *h, struct load *l, uint64_t number);
void hub_load_now(struct hub *h, struct load *l); /* before the next event, or beside them */
void hub_pump(struct hub *h);
void hub_receive(struct post *post);            /* struct parcel */
void hub_take(struct hub *h, struct parcel *p); /* at the end of the line */
void hub_turn_end(struct turn_end *t);
/* From now on, for as long as a session may be away; on its loop. */
void hub_record(struct hub *h);

/* What is done between two looks at the clock: about as many sessions are told something. */
enum { HUB_TICKS = 64 };
bool hub_look_at_clock(struct hub *h);

static inline void hub_count_delivered(struct hub *h)
{
    uint64_t before = atomic_load_explicit(&h->delivered->n, memory_order_relaxed);

    atomic_store_explicit(&h->delivered->n, before + 1, memory_order_relaxed);
}

/* clock_s, read once a turn. */
static inline int64_t hub_second(struct hub *h)
{
    if (!h->second)
        h->second = clock_s();
    return h->second;
}

/* Whether events have had their share of this turn, after so much more of it. */
static inline bool hub_is_spent(struct hub *h, uint32_t ticks)
{
    h->ticks += ticks;
    return h->ticks >= HUB_TICKS && hub_look_at_clock(h);
}

#endif
