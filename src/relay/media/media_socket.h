/* media_socket.h - the socket of media: datagrams in and out, in batches. */
#ifndef RELAY_MEDIA_SOCKET_H
#define RELAY_MEDIA_SOCKET_H

#include "relay/internal.h"

struct media_socket;

/* Room for one datagram, which media_push sends; it leaves with others, or with the turn. */
unsigned char *media_room(struct media_socket *m);
void media_push(struct media_socket *m, const union media_address *to, size_t n);

/* What is sent next is a part of a picture: many packets may go to one place. */
void media_note_picture(struct media_socket *m);

/* Others only read what this thread counts, so no bus has to be locked for it. */
static inline void media_tally(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* --- media.c: what is done with them ---------------------------------------------------- */

/* What a packet is worked on with. */
struct media_work {
    struct relay *relay;
    struct media_socket *socket;
    struct rtp_plain plain; /* the packet that is passed on */
    unsigned char control[PACKET_MAX];
    unsigned sample; /* 0: what is encrypted for this packet is timed */
};

void media_take(struct media_work *w, struct str datagram, const union media_address *from);

#endif
