/* media.h - handling of received datagrams: media.c for UDP clients, browser_media.c for browsers.
 */
#ifndef RELAY_MEDIA_H
#define RELAY_MEDIA_H

#include "relay/internal.h"

/* --- media.c: handling of a datagram -------------------------------------------------- */

/* State for the packet that is being handled. */
struct packet_work {
    struct relay_worker *worker;
    struct media_sender *sender;
    bool shares_sender;                /* another packet_work owns it */
    unsigned sent;                     /* times that the packet was sent */
    struct decrypted_rtp_packet plain; /* the decrypted packet */
    unsigned char control[PACKET_MAX];
    unsigned sample;   /* 0: measure the encryption time of this packet */
    bool padding_only; /* the packet has no payload: a browser measures its bandwidth */
    bool is_stripped;  /* stripped is the current packet */
    struct decrypted_rtp_packet stripped; /* the decrypted packet without header extension */
};

/* Queues received media until the turn of its sender; frees the datagram that is dropped. */
void media_enqueue(struct packet_work *w, struct relay_participant *s, bool audio,
                   enum media_kind kind, struct media_datagram *d);

/* Frees a datagram that was handled or dropped. It is counted as received when all replies to it
 * are sent. */
void media_datagram_done(struct packet_work *w, struct media_datagram *d);
void media_count_dropped(const struct packet_work *w);
/* Whether the participant may send one more packet of audio or video in this second. */
bool media_is_within_limit(struct relay_participant *s, bool audio, int64_t now_ms);
/* Forwards the decrypted packet in w->plain, which p describes. s may be gone afterwards. */
void media_forward_rtp(struct packet_work *w, struct relay_participant *s,
                       const struct rtp_packet *p, size_t datagram_size, int64_t now_ms);
/* Records the quality of an audio packet and writes its position into its header. */
void media_renumber_audio(struct packet_work *w, struct relay_participant *s,
                          const struct rtp_stream_position *a);
/* Writes the position of a browser's video packet into its header. at: position in the block. */
void media_renumber_video(struct packet_work *w, struct relay_participant *s, unsigned at,
                          const struct rtp_packet *p);
/* Forwards the n bytes of decrypted RTCP in w->control. */
void media_forward_rtcp(struct packet_work *w, struct relay_participant *s, size_t n,
                        int64_t now_ms);

/* --- browser_media.c: datagrams of browsers ------------------------------------------- */

/* Whether the datagram is one that a browser sends from its address: DTLS, RTP or RTCP. */
bool is_browser_datagram(struct str datagram);
/* Handles STUN, and DTLS from the address of a browser, and queues RTP and RTCP. False: another
 * datagram. True: d is freed or queued. */
bool dispatch_browser_datagram(struct packet_work *w, struct media_datagram *d);
/* Handle queued media of a browser. */
void handle_browser_rtp(struct packet_work *w, struct relay_participant *s, struct str datagram);
void handle_browser_rtcp(struct packet_work *w, struct relay_participant *s, struct str datagram);
/* Removes the header extension. */
void rtp_strip_extension(struct decrypted_rtp_packet *p);
/* Encrypts the decrypted packet for a browser; 0: its sequence number was used before. */
size_t encrypt_for_browser(struct packet_work *w, const struct relay_participant *to,
                           unsigned payload_type, unsigned char *out);

#endif
