/* dtls.h - the DTLS handshake of a browser, which yields the keys of SRTP (RFC 5764).
 *
 * The browser is the DTLS client. It proves its identity by a certificate whose fingerprint it sent
 * over the voice gateway. After the handshake the keys are taken and struct dtls is freed: nothing
 * else is sent over DTLS. These functions work on datagrams in memory, without sockets; only one OS
 * thread at a time may use a struct dtls. A handshake costs about 0.3 ms of signatures, so it does
 * not run on an OS thread that forwards media. */
#ifndef RELAY_DTLS_H
#define RELAY_DTLS_H

#include "base/str.h"
#include "relay/webrtc/srtp.h"

enum {
    DTLS_MTU = 1200, /* maximum size in bytes of a datagram that the relay sends */
    DTLS_MAX_DATAGRAM = 1472,
    DTLS_FINGERPRINT = 128,      /* "sha-256 4A:79:…" with its end */
    DTLS_TIMEOUT_MS = 10 * 1000, /* for a whole handshake */
};

/* Returns whether a datagram has the form of a DTLS record. */
bool dtls_is_record(struct str datagram);

/* Certificate and settings that all DTLS handshakes of this process share, on all OS threads. */
struct dtls_identity;
/* Creates the certificate and settings. Returns NULL if OpenSSL cannot create a certificate. */
struct dtls_identity *dtls_identity_new(void);
void dtls_identity_free(struct dtls_identity *identity); /* accepts NULL */
/* As in SDP: "sha-256 4A:79:…". */
const char *dtls_identity_fingerprint(const struct dtls_identity *identity);

enum dtls_state {
    DTLS_RUNNING,
    DTLS_DONE,
    DTLS_FAILED, /* protocol error, unexpected certificate, or no common SRTP profile */
};

struct dtls;
/* Creates the state of a handshake. `fingerprints` has the fingerprints of the browser's SDP offer,
 * one per line: sha-256, sha-384 or sha-512. */
struct dtls *dtls_new(struct dtls_identity *identity, struct str fingerprints);
void dtls_free(struct dtls *d); /* erases the keys; accepts NULL */

/* Handles one datagram of the browser. */
enum dtls_state dtls_receive_datagram(struct dtls *d, struct str datagram);
/* Returns the time in ms until dtls_retransmit must be called, or -1 if no timer is running. */
int dtls_timeout_ms(struct dtls *d);
enum dtls_state dtls_retransmit(struct dtls *d);
/* Copies the next datagram to send into out and removes it from the queue. Returns its length, or 0
 * if there is none. */
size_t dtls_pop_outgoing_datagram(struct dtls *d, unsigned char out[DTLS_MAX_DATAGRAM]);

/* Creates an SRTP session with the keys of the handshake, which must be in the state DTLS_DONE. */
struct srtp *dtls_create_srtp_session(const struct dtls *d);

#endif
