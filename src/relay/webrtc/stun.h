/* stun.h - STUN binding requests of ICE (RFC 8489, RFC 8445) and their responses.
 *
 * The relay is an ICE-lite agent: it sends no requests, and it answers only requests whose
 * MESSAGE-INTEGRITY was made with the password of a participant. These functions work on bytes,
 * without sockets. */
#ifndef RELAY_STUN_H
#define RELAY_STUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
    STUN_HEADER = 20,
    STUN_ID = 12,
    STUN_MAX_RESPONSE = 76, /* with an IPv6 address */
};

/* Returns whether a datagram is STUN. The first byte is not sufficient, because other datagrams on
 * the port can begin with the same byte. */
bool stun_is_message(struct str datagram);

/* A binding request. The strings point into the datagram. */
struct stun_request {
    struct str datagram;
    /* First half of USERNAME: the relay's ice-ufrag, which identifies a participant. */
    struct str server_fragment;
    struct str client_fragment;
    size_t integrity_at; /* offset of MESSAGE-INTEGRITY */
    bool nominates;      /* USE-CANDIDATE */
};

/* Parses a binding request. Returns false if the datagram is malformed, is another message, or
 * lacks the attribute USERNAME or MESSAGE-INTEGRITY. */
bool stun_parse_request(struct str datagram, struct stun_request *ret);
/* Returns whether MESSAGE-INTEGRITY was made with this password (the relay's ice-pwd). */
bool stun_verify_integrity(const struct stun_request *request, struct str password);

/* Source address of a request, which the response contains. */
struct stun_address {
    unsigned char bytes[16];
    size_t n; /* 4 or 16 */
    unsigned port;
};
/* Writes the success response to a request. Returns the length of the response. */
size_t stun_write_response(const struct stun_request *request, struct str password,
                           const struct stun_address *from, unsigned char out[STUN_MAX_RESPONSE]);

#endif
