/* hub.h - a loop's share of the gateway: its sockets, sessions, subjects and the events that come.
 */
#ifndef GATEWAY_HUB_H
#define GATEWAY_HUB_H

#include "base/links.h"
#include "base/map.h"
#include "gateway/gateway.h"
#include "gateway/news.h"
#include "gateway/pack.h"
#include "gateway/recent.h"

struct session;
struct guild_view;

/* A look at the store. While one runs that waits for a quiet moment, events wait in
 * line: what it reads and what follows fit together. */
struct load {
    struct work work;
    struct link link;
    struct hub *hub;
    struct arena *arena;
    bool quiet;
    bool writes;    /* in a write transaction */
    bool aside;     /* a read that may take long */
    uint64_t after; /* number of the last event in line when it was asked for */
    uint64_t since; /* number of the last event published before it began */
    enum err (*run)(struct load *l, struct tx *tx);
    void (*done)(struct load *l, enum err e); /* frees what it is part of */
};

struct hub {
    struct gateway *gateway;
    struct loop *loop;
    struct link peers, sessions;
    struct link greetings; /* struct greeting */
    struct map topics;
    struct deadlines *strangers, *overdue, *dead, *invalidated, *away, *fading, *windows;
    struct packer *packer;
    struct arena *arena; /* of the message at hand */
    struct buf out;      /* scratch for what is sent */
    struct buf in;       /* scratch for what is read */

    struct parcel *queue, **queue_end; /* events in line */
    struct delivery *delivery;         /* the event at hand */
    uint64_t begun, position;          /* numbers of the last event that was begun, and finished */
    struct link waiting;               /* struct load that wait for a quiet moment */
    unsigned running;                  /* loads that events wait for */
    unsigned loads;                    /* all that run */
    bool pumping;

    /* Events have a share of each turn; the rest of them is posted. */
    struct post pump_post;
    bool pump_posted;
    bool spent;         /* this turn's share is */
    bool held_up;       /* a turn ended with events in line since the last loads began */
    uint32_t ticks;     /* since the clock was looked at */
    int64_t turn_began; /* nanoseconds; 0: nothing was measured in this turn yet */

    struct link guests;   /* struct handover: sessions to be given away */
    struct link expected; /* struct handover: sessions on their way here, as they were asked for */
    struct recent_events recent; /* events since the first of them was */
    struct link runnable;        /* sessions whose first errand may go on */
    struct post errands_post;
    bool errands_posted;
    struct turn_end turn_end;
    struct guild_view *old_views; /* of guilds that nobody here is in any more */
    struct post old_views_post;
    bool old_views_posted;
    bool closing;
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
/* Frees the view of a guild, in steps: a bot that goes may leave thousands. Accepts NULL. */
void hub_drop_view(struct hub *h, struct guild_view *v);
void hub_receive(struct post *post); /* struct parcel */
void hub_turn_end(struct turn_end *t);

/* What is done between two looks at the clock: about as many sessions are told something. */
enum { HUB_TICKS = 64 };
bool hub_look_at_clock(struct hub *h);

/* Whether events have had their share of this turn, after so much more of it. */
static inline bool hub_is_spent(struct hub *h, uint32_t ticks)
{
    h->ticks += ticks;
    return h->ticks >= HUB_TICKS && hub_look_at_clock(h);
}

/* Gives one event to those who may see it, and keeps views and seats right. Takes the
 * reference; the event is h->delivery until it is finished. */
void dispatch_begin(struct hub *h, struct news *n);
/* True: it is finished. False: when the turn's share is spent, or a look at the store has to
 * end first. */
bool dispatch_continue(struct hub *h);
void dispatch_drop(struct hub *h); /* what is at hand, if anything */
/* One event to one session that came late. */
void dispatch_to(struct session *s, struct news *n);

/* Handovers that wait for this hub to get further. */
void handovers_continue(struct hub *h);

#endif
