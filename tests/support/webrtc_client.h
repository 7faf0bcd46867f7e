/* webrtc_client.h - a client of the voice gateway that sends media by WebRTC, like a browser: ICE,
 * DTLS by OpenSSL's client, SRTP. */
#ifndef TESTS_WEBRTC_CLIENT_H
#define TESTS_WEBRTC_CLIENT_H

#include "voice_client.h"

struct webrtc_client {
    struct voice_client voice; /* socket, gateway; .ssrc: the SSRC that the others see */
    const char *profiles;      /* SRTP profiles that the client offers */
    struct webrtc_tls *tls;
    struct srtp *srtp;
    const char *ufrag, *password; /* of the server */
    uint32_t own_ssrc;            /* SSRC with which the client sends audio */
    unsigned opus;                /* payload type of Opus */
    uint16_t sequence;
    uint32_t timestamp;
};

/* Joins a channel and connects until media can be sent; announces its SSRC. */
struct webrtc_client webrtc_client_call(const struct test_voice *h, struct client *c,
                                        const char *channel);
/* The steps of webrtc_client_call: SELECT PROTOCOL, STUN, DTLS. */
struct webrtc_client webrtc_client_join(const struct test_voice *h, struct client *c,
                                        const char *channel);
void webrtc_client_select(struct webrtc_client *p);
/* Sends a STUN request with a password from any socket; returns whether an answer came. */
bool webrtc_client_check(struct webrtc_client *p, int fd, const char *password, bool nominates);
/* Runs the handshake; returns whether both sides have keys. */
bool webrtc_client_handshake(struct webrtc_client *p);
void webrtc_client_hang_up(struct webrtc_client *p);
/* The fingerprint of the client's certificate, as in SDP. */
const char *webrtc_client_fingerprint(struct webrtc_client *p);

/* Sends RTP with a header extension; an empty frame: with padding alone. */
void webrtc_client_send_rtp(struct webrtc_client *p, uint32_t ssrc, unsigned type,
                            const char *frame);
void webrtc_client_say(struct webrtc_client *p, const char *frame);
void webrtc_client_send_control(struct webrtc_client *p, struct str packet);
struct received_frame webrtc_client_receive(struct webrtc_client *p, int wait_ms);
struct str webrtc_client_receive_control(struct webrtc_client *p, int wait_ms);
#define expect_browser_audio(p, from, frame) \
    expect_browser_audio_at(__FILE__, __LINE__, (p), (from), (frame))
void expect_browser_audio_at(const char *file, int line, struct webrtc_client *p,
                             const struct voice_client *from, const char *frame);
#define expect_browser_deaf(p) expect_browser_deaf_at(__FILE__, __LINE__, (p))
void expect_browser_deaf_at(const char *file, int line, struct webrtc_client *p);

#endif
