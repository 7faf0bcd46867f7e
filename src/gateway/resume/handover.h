/* handover.h - a session on its way to the loop where its client is now. */
#ifndef GATEWAY_RESUME_HANDOVER_H
#define GATEWAY_RESUME_HANDOVER_H

#include "gateway/fanout/seen_channels.h"
#include "gateway/identify/greeting.h"
#include "gateway/identify/guilds.h"
#include "gateway/sessions/session.h"

/* A client that wants its session back. */
struct resumption {
    struct greeting greeting;
    uint64_t number;
    char id[SESSION_ID + 1];
    uint64_t seq;
    uint64_t turn; /* of the socket that asks, among all */
    bool bad_seq, late;
};

struct handover {
    struct post post;
    struct link link;      /* in the giver's list */
    struct hub *from, *to; /* from NULL: not from a loop of this process */
    struct resumption *resumption;
    uint64_t least;          /* events that must have been looked at */
    struct session *session; /* NULL: it is not there any more */
    struct link awaited;     /* in the receiver's list */
    uint64_t since;          /* the first event that the receiver began after it asked */
    struct load load;        /* rights, as the new home sees them; then channels */
    struct gateway_viewer viewer;
    struct guild_facts *facts;
    size_t guild_count;
    struct seen_channels seen, changes; /* of a person: at the giver, and what is other here */
    struct news **missed; /* what came before since, for one from another server; or NULL */
    size_t missed_count, missed_cap;
    size_t missed_at;   /* how far it was told of these, … */
    uint64_t recent_at; /* … and of what the receiver began meanwhile */
    bool recovered;     /* its server was killed: see recovery.h */
};

/* Notes from now on what the loop of the socket sees. */
struct handover *handover_new(struct resumption *r, struct hub *from);
/* The session is there, or is not: gives it seats and tells it what it missed. */
void handover_arrive(struct handover *h);
void handover_end(struct handover *h, struct session *s);

/* Closes the socket that it has now, if any. */
void session_take_from_peer(struct session *s);
/* Makes the session from bytes, for handover_arrive; false: they are not of this session. */
bool handover_unpack(struct handover *h, struct str bytes);

/* restore.c: looks whether it was put away; answers the client. */
void wake_begin(struct resumption *r);

#endif
