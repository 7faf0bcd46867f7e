/* directory_internal.h - declarations that directory.c and directory_nodes.c share. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H
#define GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H

#include <pthread.h>

#include "base/map.h"
#include "base/serial.h"
#include "gateway/presence/directory.h"

/* Each message begins with its kind, the sender's node identity and the sender's change number;
 * then the fields in the comment follow. */
enum session_directory_message_kind {
    DIRECTORY_CHANGE_NUMBER, /* has no other content */
    DIRECTORY_REQUEST_ALL,   /* node that shall send its sessions (identity); 0 means all nodes */
    DIRECTORY_PUT,           /* new or changed session: its record; increments the change number */
    DIRECTORY_REMOVE,        /* ended session: its number; increments the change number */
    DIRECTORY_ALL,           /* part index, number of parts, record count, records */
    DIRECTORY_STARTS,        /* session starts of an account: struct session_starts */
    DIRECTORY_FRIENDS,       /* a user id and the ids of the user's friends, who get the presence */
};

struct session_directory {
    struct gateway *gateway;
    pthread_mutex_t lock;       /* protects the next four fields, and the sending of messages */
    uint64_t change_number;     /* number of published changes */
    struct map published;       /* session number -> struct published_session */
    int64_t all_sent_at;        /* when all sessions were last sent (clock_monotonic_ns), or 0 */
    bool all_wanted;            /* all sessions were requested after all_sent_at */
    pthread_mutex_t nodes_lock; /* protects `nodes`; acquired before any other lock */
    struct map nodes;           /* node identity -> struct directory_node */
};

/* Requests all sessions of a node; identity 0 means of every node. */
void session_directory_request_all_sessions(struct session_directory *d, uint32_t identity);
/* Drops the record of a session that left this node, because another node publishes it now. */
void session_directory_on_session_resumed(struct session_directory *d, uint64_t number);
/* Sends all sessions of this node, at most once per 250 ms: when NATS restarts, every node sends
 * requests to every other node, and each reply goes to all nodes. */
void session_directory_send_all_sessions(struct session_directory *d);
/* Sends the change number, and drops records of sessions that moved away and were not resumed. */
void session_directory_run_every_second(struct session_directory *d);
/* Sends presences to the users who saw the session, because it moved away and was not resumed on
 * any node. */
void session_directory_on_session_lost(struct session_directory *d, struct str record);
void session_directory_nodes_free(struct session_directory *d);

#endif
