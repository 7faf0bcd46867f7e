/* media_queue.h - decides which datagram a relay thread handles next.
 *
 * Forwarding one datagram to a room costs as much time as the room has receivers, so rooms share
 * the time of a thread by deficit round robin (as in FQ-CoDel, RFC 8290): a room is served until
 * its credit is used up, and gets new credit when its turn comes again. A room that was idle is
 * served before the rooms that wait for their turn, so the sound of a small room never waits for
 * the video of a large one. In a room, audio comes before video, and senders take turns.
 *
 * Each sender has one queue for audio and one for video (struct media_datagram_fifo), which lose
 * their oldest datagram if they are full. If the queue of the thread is full, only rooms with more
 * than their share of it lose datagrams. */
#ifndef RELAY_MEDIA_QUEUE_H
#define RELAY_MEDIA_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/links.h"

enum media_class { MEDIA_CLASS_AUDIO, MEDIA_CLASS_VIDEO, MEDIA_CLASSES };

enum {
    /* Credit that a room gets per turn. Forwarding a datagram to one receiver costs 1. */
    MEDIA_QUEUE_CREDIT = 64,
    /* Maximum length of a sender's queue: enough for a second of audio at its rate limit, or for a
     * key frame of 300 KB. */
    MEDIA_QUEUE_LINE_MAX = 256,
    MEDIA_QUEUE_MAX = 8192, /* datagrams of all rooms */
};

struct media_queue_item {
    struct media_queue_item *next;
};

struct media_datagram_fifo {
    struct list_link link; /* in queue_room.senders, if not empty */
    struct media_queue_item *first, *last;
    unsigned count;
};

/* A sender of media in a room. Zeroed memory with .room set is a sender with empty queues. */
struct media_queue_sender {
    struct media_queue_room *room;
    struct media_datagram_fifo lines[MEDIA_CLASSES];
};

struct media_queue_room {
    struct list_link link; /* in media_queue.idle_before or .waiting */
    struct list_link senders[MEDIA_CLASSES];
    long credit;
    size_t count;
};

struct media_queue {
    /* rooms that were idle and still have credit: they are served first */
    struct list_link idle_before;
    struct list_link waiting; /* other rooms with datagrams or debts */
    struct media_queue_room *current;
    size_t count, rooms;
};

void media_queue_init(struct media_queue *q);
void media_queue_room_init(struct media_queue_room *room);

/* Adds a datagram. If the queue is full, returns the datagram that was dropped, which may be the
 * added datagram; otherwise NULL. */
struct media_queue_item *media_queue_add(struct media_queue *q, struct media_queue_sender *s,
                                         enum media_class class, struct media_queue_item *item);
/* Removes and returns the next datagram, or NULL if the queue is empty. The caller must call
 * media_queue_charge_room_for_datagram after it has handled the datagram. */
struct media_queue_item *media_queue_pop(struct media_queue *q, struct media_queue_sender **ret);
/* Subtracts the latest popped datagram's cost from the credit of its room, if it still exists. */
void media_queue_charge_room_for_datagram(struct media_queue *q, unsigned cost);
/* Called while the latest popped datagram is being handled. If a room that was idle has a datagram
 * now, returns the room of the popped datagram: the caller may handle the idle rooms first. The
 * returned room must not be removed before it is passed to media_queue_resume_interrupted_room.
 * Otherwise returns NULL. */
struct media_queue_room *media_queue_interrupt_for_idle_rooms(struct media_queue *q);
void media_queue_resume_interrupted_room(struct media_queue *q, struct media_queue_room *room);

/* Removes and returns a queued datagram of a sender that is being removed, or NULL. */
struct media_queue_item *media_queue_remove_from_sender(struct media_queue *q,
                                                        struct media_queue_sender *s);
/* Removes a room without datagrams. */
void media_queue_remove_room(struct media_queue *q, struct media_queue_room *room);

#endif
