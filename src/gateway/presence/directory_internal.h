/* directory_internal.h - declarations that directory.c and directory_peers.c share. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H
#define GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H

#include <pthread.h>

#include "base/map.h"
#include "base/serial.h"
#include "gateway/presence/directory.h"

/* Each message begins with its kind, the sender's identity and the sender's change number. */
enum directory_kind {
    DIRECTORY_HEAD,    /* nothing else */
    DIRECTORY_ASK,     /* requests all sessions of the node with this identity; 0: of all nodes */
    DIRECTORY_PUT,     /* a record; increments the change number */
    DIRECTORY_DROP,    /* a session number; increments the change number */
    DIRECTORY_ALL,     /* piece index, number of pieces, record count, records */
    DIRECTORY_STARTS,  /* session starts of an account: struct session_starts */
    DIRECTORY_FRIENDS, /* an account and its friends' ids, who get its presence */
};

struct directory {
    struct gateway *gateway;
    pthread_mutex_t lock;    /* protects the next four, and sending */
    uint64_t told;           /* changes published */
    struct map own;          /* number -> struct own_record */
    int64_t all_sent_at;     /* when all sessions were last sent (clock_mono); 0: never */
    bool all_wanted;         /* requested since then */
    pthread_mutex_t hearing; /* protects peers; taken before any other lock */
    struct map peers;        /* identity -> struct directory_peer */
};

/* Requests all sessions of a node, or with 0 of every node. */
void directory_ask(struct directory *d, uint32_t identity);
/* Another node publishes a session that left here: drops its record. */
void directory_taken_up(struct directory *d, uint64_t number);
/* Sends all sessions of this node, at most once per 250 ms: when NATS restarts, every node asks
 * every other one, and each answer goes to all of them. */
void directory_send_all(struct directory *d);
/* Sends the change number, and drops records of sessions that moved away and were not resumed. */
void directory_tend(struct directory *d);
/* A session that moved away was not resumed anywhere: sends presences to those who saw it. */
void directory_lapsed(struct directory *d, struct str record);
void directory_peers_free(struct directory *d);

#endif
