/* directory_internal.h - what the two files of the directory share. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H
#define GATEWAY_PRESENCE_DIRECTORY_INTERNAL_H

#include <pthread.h>

#include "base/map.h"
#include "base/serial.h"
#include "gateway/presence/directory.h"

/* Each message begins with its kind, the identity of the server that sends it, and how many
 * changes that has told of. */
enum directory_kind {
    DIRECTORY_HEAD,    /* only that */
    DIRECTORY_ASK,     /* the identity of who shall tell all; 0: everybody */
    DIRECTORY_PUT,     /* a record; this is one change more */
    DIRECTORY_DROP,    /* the number of a session; the same */
    DIRECTORY_ALL,     /* which piece of all records it is, of how many; their count; records */
    DIRECTORY_STARTS,  /* how an account has begun sessions: struct session_starts */
    DIRECTORY_FRIENDS, /* an account, and ids of friends of it, who are told how it looks now */
};

struct directory {
    struct gateway *gateway;
    pthread_mutex_t lock;    /* of the next four, and while something is sent */
    uint64_t told;           /* changes */
    struct map own;          /* number -> struct own_record */
    int64_t all_sent_at;     /* when all sessions were last sent, by clock_mono; 0: never */
    bool all_wanted;         /* somebody asked for them since */
    pthread_mutex_t hearing; /* of the next one: by one thread at a time; taken before any other */
    struct map peers;        /* identity -> struct directory_peer */
};

/* Asks a server, or with 0 everybody, for all its sessions. */
void directory_ask(struct directory *d, uint32_t identity);
/* Another server tells of a session that left here: what is said of it here ends. */
void directory_taken_up(struct directory *d, uint64_t number);
/* Sends all sessions of this server, at most once per 250 ms: when the broker restarts every server
 * asks every other one, and each answer goes to all of them. */
void directory_send_all(struct directory *d);
/* Sends how far this server is, and forgets those of its sessions that went to others. */
void directory_tend(struct directory *d);
/* A session that went to another server was taken up by none: tells who is here and saw it. */
void directory_lapsed(struct directory *d, struct str record);
void directory_peers_free(struct directory *d);

#endif
