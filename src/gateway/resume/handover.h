/* handover.h - transfer of a session to the event loop of its client's new connection. */
#ifndef GATEWAY_RESUME_HANDOVER_H
#define GATEWAY_RESUME_HANDOVER_H

#include "gateway/fanout/seen_channels.h"
#include "gateway/identify/greeting.h"
#include "gateway/identify/guilds.h"
#include "gateway/sessions/session.h"

enum resume_verdict {
    RESUME_OPEN,
    RESUME_SUPERSEDED, /* a newer connection of the client has the session */
    RESUME_NOT_OWNER,  /* another node owns the session, though this node has it */
};

/* A RESUME in progress. */
struct resumption {
    struct greeting greeting;
    uint64_t number;
    char id[SESSION_ID + 1];
    uint64_t seq;
    uint64_t turn; /* number of the connection (struct peer) */
    bool bad_seq;
    enum resume_verdict verdict;
};

struct handover {
    struct post post;
    struct link link;      /* in the list of the source loop */
    struct hub *from, *to; /* from == NULL: the session is not on a loop of this process */
    struct resumption *resumption;
    uint64_t least;          /* the source loop must have processed the event with this number */
    struct session *session; /* NULL: the session has ended */
    struct link awaited;     /* in the list of the target loop */
    uint64_t since;   /* index of the first event that the target loop began after the request */
    struct load load; /* reads permissions for the target loop, then channels */
    struct gateway_viewer viewer;
    struct guild_facts *facts;
    size_t guild_count;
    /* User sessions: visible channels on the source loop; changes since then. */
    struct seen_channels seen, changes;
    struct news **missed; /* events before `since`, for a session of another process; or NULL */
    size_t missed_count, missed_cap;
    size_t missed_at;   /* number of `missed` events that were sent */
    uint64_t recent_at; /* index of the next retained event to send */
};

/* Creates a transfer. From now on the connection's loop retains the events that it begins. */
struct handover *handover_new(struct resumption *r, struct hub *from);
/* Subscribes handover->session, which is set or NULL, on the target loop and sends its missed
 * events. */
void handover_arrive(struct handover *h);
/* Requests the session from the loop that has it. */
void handover_begin(struct resumption *r, struct hub *from);
/* Creates the session from bytes (session_bytes.h) for handover_arrive, in state ARRIVING or
 * RECOVERED. Returns false if the bytes are malformed, or of another session. */
bool handover_unpack(struct handover *h, struct str bytes, enum session_state state);

/* resume.c: sends the client the result of RESUME and frees the request; s == NULL: op 9. */
void resume_answer(struct resumption *r, struct session *s);
/* Return whether the session belongs to the client, and whether a newer connection of the client
 * has the session. */
bool resume_is_theirs(const struct session *s, const struct resumption *r);
bool resume_is_superseded(const struct session *s, const struct resumption *r);
/* Closes the session's connection, if it has one. */
void session_take_from_peer(struct session *s);

/* request.c: gets the session from another node or from the store. */
void request_begin(struct resumption *r);
/* release.c: part of handovers_continue. */
void releases_continue(struct hub *h);
/* restore.c: reads the session if it was suspended before the restart of this server. */
void restore_begin(struct resumption *r);

#endif
