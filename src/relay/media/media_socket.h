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
    unsigned sample;   /* 0: measure the encryption time of this packet */
    bool padding_only; /* the packet has no payload: a browser measures its bandwidth */
    bool is_stripped;  /* stripped is the current packet */
    struct decrypted_rtp_packet stripped; /* the decrypted packet without header extension */
};

void handle_datagram(struct packet_work *w, struct str datagram, const union media_address *from);

void media_count_dropped(const struct packet_work *w);
/* Whether the participant may send one more packet of audio or video in this second. */
bool media_is_within_limit(struct relay_participant *s, bool audio, int64_t now_ms);
/* Forwards the decrypted packet in w->plain, which p describes. s may be gone afterwards. */
void media_forward_rtp(struct packet_work *w, struct relay_participant *s,
                       const struct rtp_packet *p, size_t datagram_size, int64_t now_ms);
/* Records the quality of an audio packet and writes its position into its header. */
void media_renumber_audio(struct packet_work *w, struct relay_participant *s,
                          const struct rtp_stream_position *a);
/* Forwards the n bytes of decrypted RTCP in w->control. */
void media_forward_rtcp(struct packet_work *w, struct relay_participant *s, size_t n,
                        int64_t now_ms);

/* --- browser_media.c: datagrams of browsers ------------------------------------------- */

/* Handles STUN, and DTLS, RTP and RTCP from the address of a browser. False: another datagram. */
bool handle_browser_datagram(struct packet_work *w, struct str datagram,
                             const union media_address *from);
/* Removes the header extension. */
void rtp_strip_extension(struct decrypted_rtp_packet *p);
/* Encrypts the decrypted packet for a browser; 0: its sequence number was used before. */
size_t encrypt_for_browser(struct packet_work *w, const struct relay_participant *to,
                           unsigned payload_type, unsigned char *out);

#endif
