/* hub.h - a loop's share of the gateway: its sockets, sessions, subjects and the events that come.
 */
#ifndef GATEWAY_HUB_H
#define GATEWAY_HUB_H

#include "base/list.h"
#include "base/map.h"
#include "gateway/gateway.h"
#include "gateway/news.h"
#include "gateway/pack.h"

struct session;

/* A look at the store. While one runs that waits for a quiet moment, events wait in
 * line: what it reads and what follows fit together. */
struct load {
    struct work work;
    struct link link;
    struct hub *hub;
    struct arena *arena;
    bool quiet;
    bool writes; /* in a write transaction */
    bool aside;  /* a read that may take long */
    enum err (*run)(struct load *l, struct tx *tx);
    void (*done)(struct load *l, enum err e); /* frees what it is part of */
};

struct hub {
    struct gateway *gateway;
    struct loop *loop;
    struct link peers, sessions;
    struct link greetings; /* struct greeting */
    struct map topics;
    struct deadlines *strangers, *overdue, *dead, *doomed, *away, *fading, *windows;
    struct packer *packer;
    struct arena *arena;   /* of the message at hand */
    struct arena *scratch; /* of the event at hand */
    struct buf out;        /* scratch for what is sent */
    struct buf in;         /* scratch for what is read */

    struct parcel *queue, **queue_end; /* events in line */
    uint64_t position;                 /* number of the last event that was looked at */
    struct link waiting;               /* struct load that wait for a quiet moment */
    unsigned running;                  /* loads that events wait for */
    unsigned loads;                    /* all that run */
    bool pumping;

    struct link guests; /* struct handover: sessions to be given away */
    unsigned expected;  /* sessions on their way here: news is logged for them */
    struct news **log;
    size_t log_count, log_cap;
    struct link errands; /* what is done bit by bit, when nothing else is to do */
    struct post errands_post;
    bool errands_posted;
    struct turn_end turn_end;
};

/* An event on its way to a loop. */
struct parcel {
    struct post post;
    struct hub *hub;
    struct parcel *next;
    struct news *news;
};

struct hub *hub_new(struct gateway *g, struct loop *loop);
void hub_free(struct hub *h);
void hub_load(struct hub *h, struct load *l);     /* when it is quiet */
void hub_load_now(struct hub *h, struct load *l); /* before the next event, or beside them */
void hub_pump(struct hub *h);
void hub_receive(struct post *post); /* struct parcel */
void hub_log_clear(struct hub *h);

/* Gives one event to those who may see it, and keeps views and seats right. */
void dispatch(struct hub *h, struct news *n);
/* One event to one session that came late. */
void dispatch_to(struct session *s, struct news *n);

/* Handovers that wait for this hub to get further. */
void handovers_continue(struct hub *h);

#endif
