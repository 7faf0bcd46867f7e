/* sdp.h - parses the SDP lines that a browser sends in SELECT PROTOCOL, and writes the SDP answer.
 *
 * A browser sends some lines of its offer without media sections; libraries send a whole SDP.
 * Unknown lines are ignored. */
#ifndef RELAY_SDP_H
#define RELAY_SDP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    SDP_MAX = 64 * 1024,
    SDP_FINGERPRINT_TEXT = 800, /* size of all fingerprints together */
    SDP_MIN_UFRAG = 4,
    SDP_MIN_PASSWORD = 22,
    SDP_MAX_CREDENTIAL = 256,
};

/* The parts of an SDP offer that the relay uses. The strings point into the offer, except
 * `fingerprints`. */
struct sdp_offer {
    struct str ufrag, password;              /* of the browser */
    char fingerprints[SDP_FINGERPRINT_TEXT]; /* "sha-256 4A:…", one per line */
    /* RTP payload type of Opus; -1 if the offer has none */
    int opus_type;
    /* Id of the RTP header extension with transport-wide numbers; -1 if the offer has none. */
    int transport_cc_id;
};

/* Parses an SDP offer. Returns false without a valid ice-ufrag, ice-pwd and fingerprint. */
bool sdp_parse_offer(struct str text, struct sdp_offer *ret);

/* An address at which browsers reach the media port. */
struct sdp_candidate {
    struct str address; /* IPv4 or IPv6 as text */
    unsigned port;
};
/* Writes the SDP answer for SESSION_DESCRIPTION, with at least one candidate. */
void sdp_write_answer(struct buf *out, const char *fingerprint, struct str ufrag,
                      struct str password, const struct sdp_candidate *candidates, unsigned count);

#endif
