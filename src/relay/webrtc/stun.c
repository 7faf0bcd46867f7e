/* stun.c - STUN binding requests of ICE and their responses. */
#include "relay/webrtc/stun.h"
#include "relay/media/network_order.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>
#include <zlib.h>

enum {
    BINDING_REQUEST = 0x0001,
    BINDING_SUCCESS = 0x0101,
    USERNAME = 0x0006,
    MESSAGE_INTEGRITY = 0x0008,
    XOR_MAPPED_ADDRESS = 0x0020,
    USE_CANDIDATE = 0x0025,
    FINGERPRINT = 0x8028,
    ATTRIBUTE_HEADER = 4,
    INTEGRITY = 20, /* bytes of HMAC-SHA1 */
    FINGERPRINT_SIZE = 4,
    FAMILY_IPV4 = 1,
    FAMILY_IPV6 = 2,
    MAX_MESSAGE = 1472,
};
#define FINGERPRINT_MASK UINT32_C(0x5354554e)

static const unsigned char cookie[4] = { 0x21, 0x12, 0xa4, 0x42 };

bool stun_is_message(struct str datagram)
{
    return datagram.n >= STUN_HEADER && (datagram.p[0] & 0xc0) == 0 &&
           memcmp(datagram.p + 4, cookie, sizeof cookie) == 0 &&
           network_read_u16(datagram.p + 2) % 4 == 0 &&
           network_read_u16(datagram.p + 2) == datagram.n - STUN_HEADER;
}

/* --- reading -------------------------------------------------------------------------- */

static uint32_t compute_fingerprint(const unsigned char *message, size_t n)
{
    return (uint32_t)crc32(0, message, (uInt)n) ^ FINGERPRINT_MASK;
}

static bool stun_fingerprint_is_valid(struct str datagram, size_t at)
{
    return network_read_u32(datagram.p + at + ATTRIBUTE_HEADER) ==
           compute_fingerprint((const unsigned char *)datagram.p, at);
}

static void parse_stun_user_name(struct str name, struct stun_request *ret)
{
    ret->server_fragment = str_cut(&name, ':');
    ret->client_fragment = name;
}

/* Reads the attribute at an offset. After MESSAGE-INTEGRITY only FINGERPRINT is accepted, because
 * later attributes are not authenticated. Returns false if the message is malformed. */
static bool parse_stun_attribute(struct str datagram, size_t at, size_t size,
                                 struct stun_request *ret)
{
    unsigned type = network_read_u16(datagram.p + at);
    struct str value = str_slice(datagram.p + at + ATTRIBUTE_HEADER, size);

    if (type == FINGERPRINT)
        return size == FINGERPRINT_SIZE && stun_fingerprint_is_valid(datagram, at);
    if (ret->integrity_at)
        return true;
    if (type == USERNAME) {
        parse_stun_user_name(value, ret);
    } else if (type == USE_CANDIDATE) {
        ret->nominates = true;
    } else if (type == MESSAGE_INTEGRITY) {
        if (size != INTEGRITY)
            return false;
        ret->integrity_at = at;
    }
    return true;
}

bool stun_parse_request(struct str datagram, struct stun_request *ret)
{
    *ret = (struct stun_request){ .datagram = datagram };
    if (!stun_is_message(datagram) || datagram.n > MAX_MESSAGE ||
        network_read_u16(datagram.p) != BINDING_REQUEST)
        return false;
    for (size_t at = STUN_HEADER; at < datagram.n;) {
        if (datagram.n - at < ATTRIBUTE_HEADER)
            return false;
        size_t size = network_read_u16(datagram.p + at + 2), padded = (size + 3) & ~(size_t)3;
        if (padded > datagram.n - at - ATTRIBUTE_HEADER ||
            !parse_stun_attribute(datagram, at, size, ret))
            return false;
        at += ATTRIBUTE_HEADER + padded;
    }
    return ret->integrity_at && ret->server_fragment.n && ret->client_fragment.n;
}

/* --- integrity ------------------------------------------------------------------------ */

/* Computes HMAC-SHA1 over the message before MESSAGE-INTEGRITY. The length in the header is set to
 * the end of MESSAGE-INTEGRITY for this. */
static void compute_message_integrity(const unsigned char *message, size_t at, struct str password,
                                      unsigned char out[INTEGRITY])
{
    unsigned char copy[MAX_MESSAGE];

    memcpy(copy, message, at);
    write_u16_in_network_byte_order(copy + 2,
                                    (unsigned)(at + ATTRIBUTE_HEADER + INTEGRITY - STUN_HEADER));
    unsigned char *done = HMAC(EVP_sha1(), password.p, (int)password.n, copy, at, out, NULL);
    assert(done);
    (void)done;
}

bool stun_verify_integrity(const struct stun_request *request, struct str password)
{
    unsigned char computed[INTEGRITY];

    compute_message_integrity((const unsigned char *)request->datagram.p, request->integrity_at,
                              password, computed);
    return sodium_memcmp(computed, request->datagram.p + request->integrity_at + ATTRIBUTE_HEADER,
                         INTEGRITY) == 0;
}

/* --- responses ------------------------------------------------------------------------ */

/* Writes the address XORed with the cookie and the transaction id, because some routers rewrite
 * plain addresses in packets. */
static unsigned char *write_xor_mapped_address(unsigned char *out,
                                               const struct stun_request *request,
                                               const struct stun_address *from)
{
    const char *mask = request->datagram.p + 4; /* cookie, then transaction id */

    out = write_u16_in_network_byte_order(out, XOR_MAPPED_ADDRESS);
    out = write_u16_in_network_byte_order(out, (unsigned)(4 + from->n));
    out = write_u16_in_network_byte_order(out, from->n == 4 ? FAMILY_IPV4 : FAMILY_IPV6);
    out = write_u16_in_network_byte_order(out, from->port ^ 0x2112);
    for (size_t i = 0; i < from->n; i++)
        *out++ = from->bytes[i] ^ (unsigned char)mask[i];
    return out;
}

size_t stun_write_response(const struct stun_request *request, struct str password,
                           const struct stun_address *from, unsigned char out[STUN_MAX_RESPONSE])
{
    unsigned char *at = write_u16_in_network_byte_order(out, BINDING_SUCCESS);
    uint32_t check;

    at += 2; /* the length follows */
    memcpy(at, request->datagram.p + 4, sizeof cookie + STUN_ID);
    at = write_xor_mapped_address(out + STUN_HEADER, request, from);
    size_t integrity_at = (size_t)(at - out);
    at = write_u16_in_network_byte_order(write_u16_in_network_byte_order(at, MESSAGE_INTEGRITY),
                                         INTEGRITY);
    compute_message_integrity(out, integrity_at, password, at);
    at += INTEGRITY;
    size_t fingerprint_at = (size_t)(at - out);
    write_u16_in_network_byte_order(
        out + 2, (unsigned)(fingerprint_at + ATTRIBUTE_HEADER + FINGERPRINT_SIZE - STUN_HEADER));
    check = compute_fingerprint(out, fingerprint_at);
    at = write_u16_in_network_byte_order(write_u16_in_network_byte_order(at, FINGERPRINT),
                                         FINGERPRINT_SIZE);
    at = write_u32_in_network_byte_order(at, check);
    return (size_t)(at - out);
}
