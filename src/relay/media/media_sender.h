/* media_sender.h - sends the datagrams of a worker in batches, through the UDP socket that all
 * workers share. */
#ifndef RELAY_MEDIA_SENDER_H
#define RELAY_MEDIA_SENDER_H

#include "relay/internal.h"

struct media_sender;

struct media_sender *media_sender_new(struct relay_worker *w, int fd);
void media_sender_free(struct media_sender *m); /* accepts NULL */

/* media_sender_next_buffer returns a buffer for one datagram; media_sender_queue_datagram queues
 * this datagram. The queue is sent when it is full, and by media_sender_flush. */
unsigned char *media_sender_next_buffer(struct media_sender *m);
void media_sender_queue_datagram(struct media_sender *m, const union media_address *to, size_t n);
void media_sender_flush(struct media_sender *m);
/* Sends a datagram immediately. Used if no received datagram is being handled. */
void media_sender_send_now(struct media_sender *m, const union media_address *to, const void *bytes,
                           size_t n);

/* Called before a video datagram is queued: several video packets may go to one destination, so the
 * sender tries to bundle them. Returns false if half of the kernel's send buffer is used, because
 * the other half is for audio. */
bool media_sender_begin_video_datagram(struct media_sender *m);

/* Adds to a counter that only one OS thread writes. A relaxed load and store suffice; an atomic
 * addition would be slower. */
static inline void media_counter_add(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

static inline socklen_t media_address_size(const union media_address *a)
{
    return a->any.sa_family == AF_INET6 ? sizeof a->in6 : sizeof a->in;
}

#endif
