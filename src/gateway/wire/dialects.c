/* dialects.c - reads version, encoding and compression from the query of a gateway URL. */
#include "gateway/wire/dialects.h"

#include "base/mem.h"
#include "gateway/gateway.h"
#include "model/text/old_api_encoding.h"
#include "net/http/http_parser.h"

enum { DIALECTS_MAX = 256, HOST_MAX = 255 };

static struct str get_query_parameter_value(struct str query, const char *name)
{
    while (query.n) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');

        if (str_is(key, name))
            return value;
    }
    return (struct str){ 0 };
}

bool gateway_path_is_spacebar(struct str path)
{
    return str_is(path, GATEWAY_SPACEBAR_PATH) || str_is(path, GATEWAY_SPACEBAR_PATH "/");
}

static void parse_gateway_query(struct wire_format *d, struct str query)
{
    struct str version = get_query_parameter_value(query, "v"),
               encoding = get_query_parameter_value(query, "encoding"),
               compress = get_query_parameter_value(query, "compress");
    uint64_t number;

    d->version = VERSION_DEFAULT;
    d->compression = str_is(compress, "zlib-stream")   ? COMPRESS_ZLIB
                     : str_is(compress, "zstd-stream") ? COMPRESS_ZSTD
                                                       : COMPRESS_NONE;
    d->etf = str_is(encoding, "etf");
    if (encoding.p && !d->etf && !str_is(encoding, "json"))
        d->fault = CLOSE_BAD_PAYLOAD;
    if (version.p) {
        bool known =
            str_to_u64(version, &number) && number >= VERSION_OLDEST && number <= VERSION_NEWEST;

        d->version = known ? (int)number : VERSION_NEWEST;
        if (!known)
            d->fault = CLOSE_BAD_VERSION;
    }
}

static bool wire_format_equals(const struct wire_format *a, const struct wire_format *b,
                               struct str host)
{
    return a->fault == b->fault && a->version == b->version && a->etf == b->etf &&
           a->spacebar == b->spacebar && a->compression == b->compression &&
           str_eq(str_slice(a->host, a->host_n), host);
}

static struct wire_format *find_equal_wire_format(const struct wire_formats *all,
                                                  const struct wire_format *wanted, struct str host)
{
    struct wire_format *d = all->first;

    while (d && !wire_format_equals(d, wanted, host))
        d = d->next;
    return d;
}

static struct wire_format *wire_format_add(struct wire_formats *all,
                                           const struct wire_format *wanted, struct str host)
{
    struct wire_format *d = mem_resize(NULL, sizeof *d + host.n);

    *d = *wanted;
    d->host_n = host.n;
    if (host.n)
        memcpy(d->host, host.p, host.n);
    d->next = all->first;
    all->first = d;
    all->count++;
    return d;
}

/* Returns the parameters of a connection (dialect), from its upgrade request. The list of dialects
 * is bounded: once it is full, a new Host header is treated as empty. A client must never get a
 * Host header that another client sent, because READY contains a URL with that host. */
const struct wire_format *wire_format_of_request(struct wire_formats *all, struct gateway *g,
                                                 const struct http_request *r)
{
    struct wire_format wanted = { .gateway = g, .spacebar = gateway_path_is_spacebar(r->path) };
    struct str host = r->host.n <= HOST_MAX ? r->host : STR("");

    parse_gateway_query(&wanted, r->query);
    pthread_mutex_lock(&all->lock);
    struct wire_format *found = find_equal_wire_format(all, &wanted, host);
    if (!found && all->count >= DIALECTS_MAX) {
        host = STR("");
        found = find_equal_wire_format(all, &wanted, host);
    }
    if (!found)
        found = wire_format_add(all, &wanted, host);
    pthread_mutex_unlock(&all->lock);
    return found;
}

void wire_formats_init(struct wire_formats *all)
{
    *all = (struct wire_formats){ 0 };
    pthread_mutex_init(&all->lock, NULL);
}

void wire_formats_clear(struct wire_formats *all)
{
    for (struct wire_format *d = all->first, *next; d; d = next) {
        next = d->next;
        mem_free(d);
    }
    pthread_mutex_destroy(&all->lock);
}
