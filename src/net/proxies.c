/* proxies.c - finds the client's address behind trusted proxies. */
#include "net/proxies.h"

#include <string.h>

/* --- trusted networks ----------------------------------------------------------------- */

static bool add_trusted_network(struct trusted_proxy_networks *p, struct str text)
{
    return p->count < MAX_TRUSTED_PROXIES && ip_network_parse(text, &p->list[p->count]) &&
           ++p->count;
}

bool parse_trusted_proxies(struct str list, struct trusted_proxy_networks *ret,
                           const char **ret_problem)
{
    ret->count = 0;
    while (list.n) {
        struct str one = str_trim(str_cut(&list, ','));
        bool ok = str_is(one, "loopback") ? add_trusted_network(ret, STR("127.0.0.0/8")) &&
                                                add_trusted_network(ret, STR("::1"))
                                          : add_trusted_network(ret, one);

        if (!ok) {
            *ret_problem = ret->count == MAX_TRUSTED_PROXIES
                               ? "has more than 64 networks"
                               : "has an entry that is not loopback, an address or a network";
            return false;
        }
    }
    return true;
}

bool is_trusted_proxy(const struct trusted_proxy_networks *p, const struct ip_address *a)
{
    for (size_t i = 0; i < p->count; i++)
        if (ip_network_contains(&p->list[i], a))
            return true;
    return false;
}

/* --- lists of forwarding addresses ---------------------------------------------------- */

/* Returns the offset of the last item of a comma-separated list; if `quotes` is set, items may
 * contain quoted commas. An unclosed quote is ignored, so that a client cannot hide the item that
 * the proxy appends. */
static size_t find_last_list_item(struct str list, bool quotes)
{
    size_t start = 0;
    bool quoted = false;

    for (size_t i = 0; i < list.n; i++) {
        if (quoted && list.p[i] == '\\')
            i++;
        else if (quotes && list.p[i] == '"')
            quoted = !quoted;
        else if (list.p[i] == ',' && !quoted)
            start = i + 1;
    }
    return quoted ? find_last_list_item(list, false) : start;
}

static struct str remove_last_list_item(struct str *list, bool quotes)
{
    size_t start = find_last_list_item(*list, quotes);
    struct str last = str_trim(str_skip_bytes(*list, start));

    *list = str_slice(list->p, start ? start - 1 : 0);
    return last;
}

/* Parses an address in a Forwarded or X-Forwarded-For header: "1.2.3.4", "1.2.3.4:80",
 * "2001:db8::1", "[2001:db8::1]:80". */
static bool parse_hop_address(struct str text, struct ip_address *ret)
{
    if (text.n && text.p[0] == '[') {
        const char *end = memchr(text.p, ']', text.n);

        return end && ip_address_parse(str_slice(text.p + 1, (size_t)(end - text.p) - 1), ret);
    }
    struct str rest = text, host = str_cut(&rest, ':');
    bool port = host.n < text.n && !memchr(rest.p, ':', rest.n);

    return ip_address_parse(port ? host : text, ret);
}

/* Returns the unquoted value of a parameter of one Forwarded element. */
static struct str find_forwarded_parameter(struct str element, struct str name)
{
    while (element.n) {
        struct str value = str_cut(&element, ';'), key = str_trim(str_cut(&value, '='));

        if (!str_eq_nocase(key, name))
            continue;
        value = str_trim(value);
        return value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"'
                   ? str_slice(value.p + 1, value.n - 2)
                   : value;
    }
    return (struct str){ 0 };
}

/* Finds the last header with this name before index *at, and sets *at to its index. */
static bool find_previous_header(const struct http_request *r, struct str name, size_t *at,
                                 struct str *ret)
{
    while (*at) {
        const struct http_header *h = &r->headers[--*at];

        if (str_eq_nocase(h->name, name)) {
            *ret = h->value;
            return true;
        }
    }
    return false;
}

struct hop_list {
    const struct http_request *r;
    struct str name;
    bool forwarded; /* whether the list items are elements of Forwarded headers and not plain
                     * addresses */
    size_t at;      /* index of the last header that was read; headers before it are still unread */
    struct str rest;
};

/* Reads the next address, from right to left. Returns false if no valid address follows. */
static bool read_next_hop_address(struct hop_list *h, struct ip_address *ret)
{
    if (h->rest.n == 0 && !find_previous_header(h->r, h->name, &h->at, &h->rest))
        return false;
    struct str item = remove_last_list_item(&h->rest, h->forwarded);

    return parse_hop_address(h->forwarded ? find_forwarded_parameter(item, STR("for")) : item, ret);
}

static struct hop_list make_hop_list_of_request(const struct http_request *r, bool forwarded)
{
    return (struct hop_list){
        r, forwarded ? STR("Forwarded") : STR("X-Forwarded-For"), forwarded, r->header_count, { 0 }
    };
}

void find_forwarded_client_address(const struct trusted_proxy_networks *p,
                                   const struct http_request *r, struct ip_address *client)
{
    bool list = http_find_header(r, STR("X-Forwarded-For")).p;
    bool both = list && http_find_header(r, STR("Forwarded")).p;
    struct hop_list hops = make_hop_list_of_request(r, !list),
                    other = make_hop_list_of_request(r, true);
    struct ip_address hop, forwarded_hop;

    if (both &&
        (!read_next_hop_address(&other, &forwarded_hop) || !read_next_hop_address(&hops, &hop) ||
         memcmp(&forwarded_hop, &hop, sizeof forwarded_hop) != 0))
        return;
    hops = make_hop_list_of_request(r, !list);
    while (read_next_hop_address(&hops, &hop)) {
        *client = hop;
        if (!is_trusted_proxy(p, &hop))
            return;
    }
}

bool forwarded_headers_say_client_used_tls(const struct http_request *r, bool was)
{
    size_t at = r->header_count;
    struct str proto;

    if (find_previous_header(r, STR("X-Forwarded-Proto"), &at, &proto)) {
        proto = remove_last_list_item(&proto, false);
    } else {
        at = r->header_count;
        if (!find_previous_header(r, STR("Forwarded"), &at, &proto))
            return was;
        proto = find_forwarded_parameter(remove_last_list_item(&proto, true), STR("proto"));
    }
    if (str_eq_nocase(proto, STR("https")) || str_eq_nocase(proto, STR("wss")))
        return true;
    return str_eq_nocase(proto, STR("http")) || str_eq_nocase(proto, STR("ws")) ? false : was;
}

/* --- the PROXY protocol --------------------------------------------------------------- */

enum { SIGNATURE_BYTES = 12, FIXED_HEADER_BYTES = 16, FAMILY_IPV4 = 1, FAMILY_IPV6 = 2 };

static bool read_proxy_client_address(const unsigned char *b, size_t length, struct ip_address *ret)
{
    int family = b[13] >> 4;

    *ret = (struct ip_address){ .bytes = { [10] = 0xff, [11] = 0xff } };
    if (family == FAMILY_IPV4 && length >= 12)
        memcpy(ret->bytes + 12, b + FIXED_HEADER_BYTES, 4);
    else if (family == FAMILY_IPV6 && length >= 36)
        memcpy(ret->bytes, b + FIXED_HEADER_BYTES, 16);
    else
        return false;
    return true;
}

long parse_proxy_protocol_header(struct str bytes, struct ip_address *ret, bool *ret_found)
{
    static const unsigned char signature[SIGNATURE_BYTES] = "\r\n\r\n\0\r\nQUIT\n";
    const unsigned char *b = (const unsigned char *)bytes.p;
    size_t same = bytes.n < SIGNATURE_BYTES ? bytes.n : SIGNATURE_BYTES;

    *ret_found = false;
    if (same == 0)
        return 0;
    if (memcmp(b, signature, same) != 0)
        return PROXY_NONE;
    if (bytes.n < FIXED_HEADER_BYTES)
        return 0;
    size_t length = (size_t)b[14] << 8 | b[15];
    int command = b[12] & 15, family = b[13] >> 4;
    if (b[12] >> 4 != 2 || command > 1 || FIXED_HEADER_BYTES + length > PROXY_HEADER_MAX)
        return PROXY_BAD;
    if (bytes.n < FIXED_HEADER_BYTES + length)
        return 0;
    /* Command 0 (LOCAL) means that the proxy itself is the client, as for a health check. */
    *ret_found = command == 1 && read_proxy_client_address(b, length, ret);
    if (command == 1 && (family == FAMILY_IPV4 || family == FAMILY_IPV6) && !*ret_found)
        return PROXY_BAD;
    return (long)(FIXED_HEADER_BYTES + length);
}
