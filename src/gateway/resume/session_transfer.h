/* session_transfer.h - transfer of a session to the event loop of its client's new connection. */
#ifndef GATEWAY_RESUME_SESSION_TRANSFER_H
#define GATEWAY_RESUME_SESSION_TRANSFER_H

#include "gateway/fanout/visible_channels.h"
#include "gateway/identify/authentication.h"
#include "gateway/identify/guilds.h"
#include "gateway/sessions/session.h"

enum resume_refusal_reason {
    RESUME_NO_OBJECTION,
    RESUME_SUPERSEDED, /* refused: a newer connection of the client has resumed the session */
    RESUME_NOT_OWNER,  /* another node owns the session, although this node still has it */
};

/* A RESUME that is being handled. */
struct resume_request {
    struct gateway_authentication authentication;
    uint64_t number;
    char id[SESSION_ID + 1];
    uint64_t seq;
    uint64_t connection_number; /* number of the connection (struct gateway_socket) */
    bool bad_seq;
    enum resume_refusal_reason objection;
};

/* Events with a reference each. */
struct event_list {
    struct gateway_event **items;
    size_t count, cap;
};
void event_list_add(struct event_list *l, struct gateway_event *n);
void event_list_truncate(struct event_list *l, size_t count);
void event_list_clear(struct event_list *l);

/* Retained log entries that the loop has not read and the session needs (retained_entries.h). */
struct unread_log_entries_of_session_transfer {
    struct event_list entries, events; /* the entries; the events that were read for them */
    int64_t settled;                   /* last log position that this node has delivered */
    bool complete;                     /* the log had all entries */
};

struct session_transfer {
    struct loop_message post;
    struct list_link link; /* link in the source loop's list resume.leaving_transfers */
    /* source and target loop; from is NULL if no loop of this process has the session */
    struct gateway_loop *from, *to;
    struct resume_request *resumption;
    /* Number of the event that the source loop must deliver before the session can leave. */
    uint64_t least;
    struct session *session;    /* NULL if the session has ended */
    struct list_link of_target; /* link in the target loop's list resume.arriving */
    /* index of the first retained event whose delivery began after the request for the session */
    uint64_t since;
    /* Reads the permission data for the target loop first, then the changed channels. */
    struct session_store_read store_read;
    struct payload_recipient viewer;
    struct guild_subscription_data *guild_setups;
    size_t guild_count;
    /* For user sessions: the channels that were visible on the source loop, and the channels that
     * became visible or invisible since then. */
    struct visible_channels visible_before, channel_changes;
    /* Missed events before `since`, if the session comes from another process. */
    struct event_list missed;
    size_t missed_at; /* number of `missed` events that were sent */
    struct unread_log_entries_of_session_transfer unread;
    uint64_t recent_at; /* index of the next retained event to send */
};

/* Creates a transfer of the session to the loop of the client's connection. From now on this loop
 * retains the events that it delivers. */
struct session_transfer *session_transfer_new(struct resume_request *r, struct gateway_loop *from);
/* Subscribes h->session on the target loop (or nothing if it is NULL, because the session has
 * ended), then sends its missed events. */
void session_transfer_finish_on_target_loop(struct session_transfer *h);
void session_transfer_begin(struct resume_request *r, struct gateway_loop *from);
/* Creates a session from its serialised form, for session_transfer_finish_on_target_loop. Returns
 * false if the bytes are malformed, or belong to another session. */
bool session_transfer_deserialize(struct session_transfer *h, struct str bytes,
                                  enum session_state state);

/* In resume.c: sends the client the result of RESUME (op 9 if s is NULL) and frees the request. */
void resume_send_result_to_client(struct resume_request *r, struct session *s);
/* session_belongs_to_client returns whether the session matches the RESUME.
 * resume_was_done_by_newer_connection returns whether a newer connection of the client has resumed
 * the session. */
bool session_belongs_to_client(const struct session *s, const struct resume_request *r);
bool resume_was_done_by_newer_connection(const struct session *s, const struct resume_request *r);
void session_close_connection(struct session *s);

/* In session_request.c: requests the session from another node, or reads it from the store. */
void begin_fetching_session_from_other_node(struct resume_request *r);
/* session_release.c: called by release_requested_sessions. */
void continue_pending_session_releases(struct gateway_loop *h);
/* In session_restore.c: reads a session from the store that was suspended before a restart. */
void begin_restoring_suspended_session(struct resume_request *r);

#endif
