/* sdp.c - parses the SDP lines of a browser's SELECT PROTOCOL, and writes the SDP answer. */
#include "relay/webrtc/sdp.h"

#include <stdio.h>

#include "base/mem.h"

enum {
    FIRST_PRIORITY = 2130706431, /* priority of the first ICE host candidate (RFC 8445, 5.1.2.1) */
    MIN_DYNAMIC_TYPE = 35,
    MAX_DYNAMIC_TYPE = 127,
    MAX_EXTENSION_ID = 14,
};

static bool is_valid_ice_credential(struct str s, size_t least)
{
    if (s.n < least || s.n > SDP_MAX_CREDENTIAL)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '+' || c == '/'))
            return false;
    }
    return true;
}

/* Returns whether s is a certificate fingerprint, such as "sha-256 4A:79:…", with a secure hash. */
static bool is_fingerprint(struct str s)
{
    struct str hash = str_cut(&s, ' ');

    if (!str_eq_nocase(hash, STR("sha-256")) && !str_eq_nocase(hash, STR("sha-384")) &&
        !str_eq_nocase(hash, STR("sha-512")))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdefABCDEF:", s.p[i]) || s.p[i] == '\0')
            return false;
    return s.n > 0;
}

static void add_fingerprint(struct str s, struct sdp_offer *offer)
{
    size_t used = strlen(offer->fingerprints);

    if (!is_fingerprint(s) || used + s.n + 2 > sizeof offer->fingerprints)
        return;
    memcpy(offer->fingerprints + used, s.p, s.n);
    memcpy(offer->fingerprints + used + s.n, "\n", 2);
}

/* "111 opus/48000/2" */
static void parse_opus_payload_type(struct str s, struct sdp_offer *offer)
{
    uint64_t type;

    if (str_to_u64(str_cut(&s, ' '), &type) && type >= MIN_DYNAMIC_TYPE &&
        type <= MAX_DYNAMIC_TYPE && str_eq_nocase(str_cut(&s, '/'), STR("opus")))
        offer->opus_type = (int)type;
}

/* Parses an RTP header extension: its id, an optional direction, then its URI, such as
 * "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01". */
static void parse_header_extension(struct str s, struct sdp_offer *offer)
{
    struct str number = str_cut(&s, ' ');
    uint64_t id;

    if (str_to_u64(str_cut(&number, '/'), &id) && id >= 1 && id <= MAX_EXTENSION_ID &&
        str_starts_with(s, STR("http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc")))
        offer->transport_cc_id = (int)id;
}

static void parse_sdp_line(struct str line, struct sdp_offer *offer)
{
    static const struct {
        struct str prefix;
        enum { UFRAG, PASSWORD, FINGERPRINT, CODEC, EXTENSION } kind;
    } rows[] = {
        { STR_INIT("a=ice-ufrag:"), UFRAG },         { STR_INIT("a=ice-pwd:"), PASSWORD },
        { STR_INIT("a=fingerprint:"), FINGERPRINT }, { STR_INIT("a=rtpmap:"), CODEC },
        { STR_INIT("a=extmap:"), EXTENSION },
    };

    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        if (!str_starts_with(line, rows[i].prefix))
            continue;
        struct str value = str_trim(str_skip_bytes(line, rows[i].prefix.n));
        if (rows[i].kind == UFRAG)
            offer->ufrag = value;
        else if (rows[i].kind == PASSWORD)
            offer->password = value;
        else if (rows[i].kind == FINGERPRINT)
            add_fingerprint(value, offer);
        else if (rows[i].kind == CODEC)
            parse_opus_payload_type(value, offer);
        else
            parse_header_extension(value, offer);
    }
}

bool sdp_parse_offer(struct str text, struct sdp_offer *ret)
{
    *ret = (struct sdp_offer){ .opus_type = -1, .transport_cc_id = -1 };
    if (text.n > SDP_MAX)
        return false;
    while (text.n) {
        struct str line = str_cut(&text, '\n');

        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        parse_sdp_line(line, ret);
    }
    return is_valid_ice_credential(ret->ufrag, SDP_MIN_UFRAG) &&
           is_valid_ice_credential(ret->password, SDP_MIN_PASSWORD) && ret->fingerprints[0];
}

void sdp_write_answer(struct buf *out, const char *fingerprint, struct str ufrag,
                      struct str password, const struct sdp_candidate *candidates, unsigned count)
{
    const struct sdp_candidate *first = &candidates[0];

    buf_printf(out, "m=audio %u ICE/SDP\n", first->port);
    buf_printf(out, "a=fingerprint:%s\n", fingerprint);
    buf_printf(out, "c=IN %s %.*s\n",
               memchr(first->address.p, ':', first->address.n) ? "IP6" : "IP4",
               STR_ARGS(first->address));
    buf_printf(out, "a=rtcp:%u\n", first->port);
    buf_printf(out, "a=ice-ufrag:%.*s\n", STR_ARGS(ufrag));
    buf_printf(out, "a=ice-pwd:%.*s\n", STR_ARGS(password));
    buf_printf(out, "a=fingerprint:%s\n", fingerprint);
    for (unsigned i = 0; i < count; i++)
        buf_printf(out, "a=candidate:%u 1 UDP %u %.*s %u typ host\n", i + 1,
                   (unsigned)FIRST_PRIORITY - 256 * i, STR_ARGS(candidates[i].address),
                   candidates[i].port);
}
