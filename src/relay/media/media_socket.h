/* media_socket.h - the UDP socket for media: datagrams are received and sent in batches. */
#ifndef RELAY_MEDIA_SOCKET_H
#define RELAY_MEDIA_SOCKET_H

#include "relay/internal.h"

struct media_socket;

/* media_socket_next_buffer returns a buffer for one datagram, media_socket_queue queues it. The
 * queue is sent when it is full and after each received batch. */
unsigned char *media_socket_next_buffer(struct media_socket *m);
void media_socket_queue(struct media_socket *m, const union media_address *to, size_t n);

/* Call it before a video datagram: several packets may go to one destination, so bundles are
 * tried. */
void media_socket_expect_video(struct media_socket *m);

/* Adds to a counter that only this thread writes, so a relaxed load and store replace a locked
 * add. */
static inline void media_counter_add(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* --- media.c: handling of a datagram -------------------------------------------------- */

/* State for the packet that is being handled. */
struct packet_work {
    struct relay *relay;
    struct media_socket *socket;
    struct decrypted_rtp_packet plain; /* the decrypted packet */
    unsigned char control[PACKET_MAX];
    unsigned sample; /* 0: measure the encryption time of this packet */
};

void handle_datagram(struct packet_work *w, struct str datagram, const union media_address *from);

#endif
