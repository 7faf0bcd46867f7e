/* framing.c - interprets the request headers that determine the length of the body and whether the
 * connection stays open. */
#include "net/http/framing.h"

#include "base/mem.h"
#include "net/http/syntax.h"

static bool eight_bytes_equal_nocase(const char *any_case, const char *lower)
{
    uint64_t a, b;

    memcpy(&a, any_case, 8);
    memcpy(&b, lower, 8);
    return (a | 0x2020202020202020) == b;
}

/* Compares a header value case-insensitively with a lower-case text of letters, digits and '-'.
 * Setting bit 0x20 maps upper-case letters to these characters, but no other byte that is valid in
 * a header. */
static bool equals_lowercase_word(struct str s, const char *lower, size_t n)
{
    if (s.n != n)
        return false;
    if (n >= 8) {
        for (size_t i = 0; i + 8 < n; i += 8)
            if (!eight_bytes_equal_nocase(s.p + i, lower + i))
                return false;
        return eight_bytes_equal_nocase(s.p + n - 8, lower + n - 8);
    }
    for (size_t i = 0; i < n; i++)
        if ((s.p[i] | ' ') != lower[i])
            return false;
    return true;
}
#define EQUALS_WORD(s, literal) equals_lowercase_word((s), (literal), sizeof(literal) - 1)

/* Stores the value of a header that may occur only once. Rejects a second header with this name as
 * ambiguous. */
static long set_single_header(struct str *field, struct str value)
{
    if (field->p)
        return -400;
    *field = value;
    return 1;
}

static long interpret_host_header(struct request_head_parser *h, struct str value)
{
    return all_octets_in_class(value, OCTET_HOST) ? set_single_header(&h->r->host, value) : -400;
}

static long interpret_authorization_header(struct request_head_parser *h, struct str value)
{
    return set_single_header(&h->r->authorization, value);
}

static long interpret_content_type_header(struct request_head_parser *h, struct str value)
{
    return set_single_header(&h->r->content_type, value);
}

static long interpret_accept_encoding_header(struct request_head_parser *h, struct str value)
{
    if (!h->r->accept_encoding.p)
        h->r->accept_encoding = value;
    return 1;
}

static long interpret_content_length_header(struct request_head_parser *h, struct str value)
{
    struct http_request *r = h->r;

    if (r->has_length || r->chunked || !str_to_u64(value, &r->length) || r->length > INT64_MAX)
        return -400;
    r->has_length = true;
    return 1;
}

/* Returns the status for a Transfer-Encoding that is not exactly "chunked": -501 for an unknown
 * coding, -400 if another server could parse the request differently. "chunked" must be the last
 * coding of the list. */
static long refuse_transfer_coding(struct str list)
{
    if (!list.n || list.p[list.n - 1] == ',')
        return -400;
    while (list.n) {
        struct str coding = str_trim(str_cut(&list, ','));
        bool chunked = EQUALS_WORD(coding, "chunked");

        if (!coding.n || !all_octets_in_class(coding, OCTET_TOKEN) || (chunked && list.n))
            return -400;
        for (size_t i = 0; !chunked && i + 7 <= coding.n; i++)
            if (EQUALS_WORD(str_slice(coding.p + i, 7), "chunked"))
                return -400;
    }
    return -501;
}

static long interpret_transfer_encoding_header(struct request_head_parser *h, struct str value)
{
    struct http_request *r = h->r;

    if (r->chunked || r->has_length || r->minor == 0)
        return -400;
    if (!EQUALS_WORD(value, "chunked"))
        return refuse_transfer_coding(value);
    r->chunked = true;
    return 1;
}

static long interpret_connection_header(struct request_head_parser *h, struct str value)
{
    while (value.n) {
        struct str option = str_trim(str_cut(&value, ','));

        h->close |= EQUALS_WORD(option, "close");
        h->keep_alive |= EQUALS_WORD(option, "keep-alive");
        h->upgrade |= EQUALS_WORD(option, "upgrade");
    }
    return 1;
}

static long interpret_upgrade_header(struct request_head_parser *h, struct str value)
{
    while (value.n)
        h->websocket |= EQUALS_WORD(str_trim(str_cut(&value, ',')), "websocket");
    return 1;
}

static long interpret_expect_header(struct request_head_parser *h, struct str value)
{
    if (!EQUALS_WORD(value, "100-continue"))
        return -417;
    h->expect = true;
    return 1;
}

struct known_header {
    const char *name;
    long (*apply)(struct request_head_parser *h, struct str value);
};

/* Row of a table of known headers. Its index is the length of the header's name, which is different
 * for each of these headers. */
#define KNOWN(name, take) [sizeof(name) - 1] = { name, take }
static const struct known_header known_headers[] = {
    KNOWN("host", interpret_host_header),
    KNOWN("expect", interpret_expect_header),
    KNOWN("upgrade", interpret_upgrade_header),
    KNOWN("connection", interpret_connection_header),
    KNOWN("content-type", interpret_content_type_header),
    KNOWN("authorization", interpret_authorization_header),
    KNOWN("content-length", interpret_content_length_header),
    KNOWN("accept-encoding", interpret_accept_encoding_header),
    KNOWN("transfer-encoding", interpret_transfer_encoding_header),
};
#undef KNOWN

long request_head_interpret_header(struct request_head_parser *h, struct str name, struct str value)
{
    if (name.n >= COUNT_OF(known_headers) || !known_headers[name.n].name)
        return 1;
    const struct known_header *k = &known_headers[name.n];
    return equals_lowercase_word(name, k->name, name.n) ? k->apply(h, value) : 1;
}

long request_head_check_and_complete(struct request_head_parser *h)
{
    struct http_request *r = h->r;
    bool body = r->chunked || r->length > 0;

    if (r->minor == 1 && !r->host.p)
        return -400;
    if (h->authority.p)
        r->host = h->authority;
    r->keep_alive = !h->close && (r->minor == 1 || h->keep_alive);
    r->expect_continue = h->expect && r->minor == 1 && body;
    /* Do not upgrade a request with a body: the body would be parsed as WebSocket frames. */
    r->upgrade_websocket =
        h->upgrade && h->websocket && r->minor == 1 && r->method == HTTP_GET && !body;
    return 1;
}
