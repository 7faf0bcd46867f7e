/* media.h - handling of received datagrams: dispatch.c takes them from the socket, media.c forwards
 * RTP, forward_rtcp.c forwards RTCP, browser_media.c handles datagrams of browsers. */
#ifndef RELAY_MEDIA_H
#define RELAY_MEDIA_H

#include "relay/internal.h"

/* --- dispatch.c: requests and queues -------------------------------------------------- */

/* The packet that is being handled, and buffers for it. */
struct media_packet_handler {
    struct relay_worker *worker;
    struct media_sender *sender;
    bool shares_sender; /* another packet_work owns it */
    unsigned sent;      /* times that the packet was sent */
    /* number of participants of the room that did not receive the packet */
    unsigned skipped;
    struct decrypted_rtp_packet plain; /* the decrypted packet */
    uint64_t number;                   /* position of the packet in its stream */
    unsigned char control[PACKET_MAX];
    /* Counts packets; when it is 0, the encryption time of this packet is measured. */
    unsigned sample;
    /* The packet has no payload: browsers send such packets to measure their bandwidth. */
    bool padding_only;
    bool is_stripped;                     /* stripped is the current packet */
    struct decrypted_rtp_packet stripped; /* the decrypted packet without header extension */
};

/* Queues a received media datagram until it is its sender's turn. A full queue frees one datagram.
 */
void media_enqueue_datagram(struct media_packet_handler *w, struct relay_participant *s, bool audio,
                            enum media_kind kind, struct media_datagram *d);

/* Returns the cost of the current packet, in units of sending one datagram. */
unsigned media_packet_cost(const struct media_packet_handler *w);

/* Frees a datagram that was handled or dropped. The datagram is counted as received after all
 * replies to it were sent. */
void media_datagram_count_and_free(struct media_packet_handler *w, struct media_datagram *d);

/* --- media.c: RTP --------------------------------------------------------------------- */

/* Handles an RTP packet of a UDP client from the media queue. */
void handle_client_rtp(struct media_packet_handler *w, struct relay_participant *s,
                       struct str datagram, const union media_address *from);
void media_count_dropped_packet(const struct media_packet_handler *w);
/* Decides whether the encryption time of the next packet is measured: reading the clock takes a
 * tenth of that time, so only some packets are timed. */
void media_decide_if_encryption_is_timed(struct media_packet_handler *w);
bool media_address_is_same(const union media_address *a, const union media_address *b);
/* Returns whether the participant may send one more packet of audio or video in this second. */
bool media_is_within_rate_limit(struct relay_participant *s, bool audio, int64_t now_ms);
void media_rate_window_add(struct media_rate_window *w, size_t bytes);
/* Queues an encrypted packet of n bytes for sending; n is 0 if the packet could not be encrypted. A
 * UDP client with n == 0 has used all nonces: it is disconnected, and false is returned. For a
 * browser, n == 0 means that the sequence number was used before: nothing is sent. */
bool media_send_or_disconnect(struct media_packet_handler *w, struct relay_participant *to,
                              size_t n);
/* Returns the RTP stream of an SSRC, or NULL if no packet with this video SSRC has arrived yet. */
struct rtp_stream *media_find_stream_by_ssrc(struct relay_participant *s, uint32_t ssrc);
/* Returns whether both sides have used the same nonce, or RTP headers would soon repeat. If so, the
 * client must connect again, with another key and other SSRCs. */
bool media_nonce_reuse_requires_reconnect(const struct relay_participant *s);
/* Forwards the decrypted packet in w->plain, which p describes. This call may free s. */
void media_forward_rtp(struct media_packet_handler *w, struct relay_participant *s,
                       const struct rtp_packet *p, size_t datagram_size, int64_t now_ms);
/* Records packet loss and jitter for an audio packet, and writes its new sequence number and
 * timestamp to its header. */
void media_renumber_audio_packet(struct media_packet_handler *w, struct relay_participant *s,
                                 const struct rtp_stream_position *a);
/* Writes the new sequence number and timestamp of a browser's video packet to its header. `at` is
 * the index of the packet's SSRC in the participant's block. */
void media_renumber_video_packet(struct media_packet_handler *w, struct relay_participant *s,
                                 unsigned at, const struct rtp_packet *p);

/* --- forward_rtcp.c ------------------------------------------------------------------- */

/* Handles an RTCP packet of a UDP client from the media queue. */
void handle_client_rtcp(struct media_packet_handler *w, struct relay_participant *s,
                        struct str datagram);
/* Forwards the n bytes of decrypted RTCP in w->control. */
void media_forward_rtcp(struct media_packet_handler *w, struct relay_participant *s, size_t n,
                        int64_t now_ms);

/* --- browser_media.c: datagrams of browsers ------------------------------------------- */

/* Returns whether the datagram is DTLS, RTP or RTCP, as browsers send. */
bool is_browser_datagram(struct str datagram);
/* Handles a datagram of a browser: STUN and DTLS immediately, RTP and RTCP through the media queue.
 * Returns true if d was freed or queued, and false if d is not from a browser. */
bool handle_or_queue_browser_datagram(struct media_packet_handler *w, struct media_datagram *d);
/* Handle queued media of a browser. */
void handle_browser_rtp(struct media_packet_handler *w, struct relay_participant *s,
                        struct str datagram);
void handle_browser_rtcp(struct media_packet_handler *w, struct relay_participant *s,
                         struct str datagram);
/* Encrypts the decrypted packet w->plain for a browser. Returns its length, or 0 if its sequence
 * number was used before. */
size_t encrypt_packet_for_browser(struct media_packet_handler *w,
                                  const struct relay_participant *to, unsigned payload_type,
                                  unsigned char *out);

#endif
