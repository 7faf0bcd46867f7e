/* directory_internal.h - declarations that directory.c and directory_nodes.c share. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H
#define GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H

#include <pthread.h>

#include "base/map.h"
#include "base/serial.h"
#include "gateway/presence/directory.h"

/* Each message begins with its kind, the sender's node identity and the sender's change number. The
 * comment of each kind lists the fields that follow. */
enum session_directory_message_kind {
    DIRECTORY_CHANGE_NUMBER, /* has no other content */
    /* Field: identity of the node that must send its sessions; 0 means all nodes. */
    DIRECTORY_REQUEST_ALL,
    DIRECTORY_PUT,    /* field: record of a new or changed session; increments the change number */
    DIRECTORY_REMOVE, /* field: number of a session that ended; increments the change number */
    /* Full update. Fields: index of this part, number of parts, record count, records. */
    DIRECTORY_ALL,
    DIRECTORY_STARTS, /* field: struct session_starts, the session starts of an account */
    /* Fields: a user id, ids of the user's friends, who get the user's presence. */
    DIRECTORY_FRIENDS,
};

struct session_directory {
    struct gateway *gateway;
    /* protects the next four fields; held while messages to other nodes are sent */
    pthread_mutex_t lock;
    uint64_t change_number; /* number of published changes */
    struct map published;   /* session number -> struct published_session */
    /* time of the last full update that this node sent (clock_monotonic_ns), or 0 */
    int64_t all_sent_at;
    bool all_wanted;            /* all sessions were requested after all_sent_at */
    pthread_mutex_t nodes_lock; /* protects `nodes`; must be acquired before any other lock */
    struct map nodes;           /* node identity -> struct directory_node */
};

/* Requests a full update from a node; identity 0 means from every node. */
void session_directory_request_all_sessions(struct session_directory *d, uint32_t identity);
/* Removes the record of a session that moved away, because its new node publishes it now. */
void session_directory_on_session_resumed(struct session_directory *d, uint64_t number);
/* Publishes all sessions of this node, at most once per 250 ms: when NATS restarts, every node
 * sends requests to every other node, and each reply goes to all nodes. */
void session_directory_send_all_to_nodes(struct session_directory *d);
/* Sends DIRECTORY_CHANGE_NUMBER, by which other nodes notice lost messages. Drops records of
 * sessions that moved away and were not resumed in time. */
void session_directory_run_every_second(struct session_directory *d);
/* Called when a session that moved away was not resumed in time on any node: announces the user's
 * presence to the users who saw the session online. */
void session_directory_on_moved_session_expired(struct session_directory *d, struct str record);
void session_directory_nodes_free(struct session_directory *d);

#endif
