/* webrtc.h - the transport of a participant that uses WebRTC: ICE, DTLS and SRTP.
 *
 * A browser proves its address by STUN requests with the password of its session description. Then
 * it starts a DTLS handshake, which runs on the thread pool and yields the keys of SRTP. Only the
 * OS thread of the participant's worker uses a struct webrtc_transport. */
#ifndef RELAY_WEBRTC_H
#define RELAY_WEBRTC_H

#include "relay/internal.h"
#include "relay/webrtc/srtp.h"
#include "relay/webrtc/transport_feedback.h"

enum {
    ICE_UFRAG_SIZE = 8,
    ICE_PASSWORD_SIZE = 24,
    /* Time without STUN requests after which no more media is sent (RFC 7675). */
    WEBRTC_CONSENT_MS = 30 * 1000,
    WEBRTC_HANDSHAKE_CHECK_MS = 200, /* interval of checks for lost DTLS datagrams */
    WEBRTC_HANDSHAKES_MAX = 3,       /* handshakes of one session description */
    /* Maximum number of DTLS datagrams that wait for the thread pool. */
    WEBRTC_HANDSHAKE_DATAGRAMS = 32,
};

struct webrtc_transport {
    struct relay_participant *participant;
    char ufrag[ICE_UFRAG_SIZE], password[ICE_PASSWORD_SIZE];
    struct dtls_identity *identity;
    struct str fingerprints; /* fingerprints (hashes) of the browser's certificate, one per line */
    struct handshake *handshake;
    unsigned handshakes;
    struct srtp *srtp;       /* NULL until the handshake is finished */
    int64_t checked_ms;      /* time of the last valid STUN request from the browser */
    struct deadline consent; /* time limit for the next valid STUN request */
    /* Id of the header extension that numbers the browser's packets; -1 if none. */
    int transport_cc_id;
    /* feedback to the browser; NULL until a packet with a transport-wide number arrives */
    struct transport_feedback *feedback;
};

/* Creates a transport with random ICE credentials. Returns NULL without a DTLS certificate. */
struct webrtc_transport *webrtc_transport_new(struct relay_participant *s, struct str fingerprints);
void webrtc_transport_free(struct webrtc_transport *t); /* accepts NULL */
struct relay_participant *find_participant_by_ufrag(const struct relay_participants *all,
                                                    struct str ufrag);
/* Returns the index of the worker that assigned an ICE user name fragment (not empty). */
unsigned webrtc_get_worker_of_ufrag(const struct relay *r, struct str ufrag);
static inline struct str webrtc_ice_password(const struct webrtc_transport *t)
{
    return str_slice(t->password, ICE_PASSWORD_SIZE);
}
const char *webrtc_encryption_mode_name(const struct webrtc_transport *t);
/* Writes the SDP of SESSION DESCRIPTION. */
void webrtc_write_sdp_answer(const struct webrtc_transport *t, struct buf *out);

/* Handles a DTLS record that came from the participant's address. */
void webrtc_receive_dtls(struct webrtc_transport *t, struct str datagram);
/* Called by deadlines of struct relay_participants. */
void on_ice_consent_expired(struct deadline *d);
void on_webrtc_handshake_check_due(struct deadline *d);

/* Stores an SSRC that the browser uses; 0 is ignored. `at` is the corresponding index in the
 * participant's block of SSRCs. */
void webrtc_store_announced_ssrc(struct relay_participant *s, unsigned at, uint32_t ssrc);
/* Returns the index in the participant's block of SSRCs that corresponds to an announced SSRC, or
 * -1 if the browser has not announced it. */
int webrtc_find_announced_ssrc(const struct relay_participant *s, uint32_t ssrc);

#endif
