/* http.c - the head of a request, in one strict pass.
 *
 * Every decision depends only on the bytes before it, so a head that arrives in
 * pieces ends the same way as one that arrives whole. */
#include "net/http.h"

#include "base/mem.h"
#include "net/syntax.h"

/* What is left to read, and what running out of it means: 0 while more bytes may
 * come, a status once a limit is reached.
 *
 * The readers below return 1 when they are through, and otherwise what
 * http_read_head shall return. */
struct cursor {
    const char *at, *end;
    int past;
};

/* A head on its way: what the headers said and the end has to put together. */
struct head {
    struct cursor c;
    struct http_request *r;
    struct str authority; /* from an absolute target */
    bool close, keep_alive, upgrade, websocket, expect;
};

static const struct str method_names[HTTP_METHODS] = {
    [HTTP_GET] = STR_INIT("GET"),         [HTTP_HEAD] = STR_INIT("HEAD"),
    [HTTP_POST] = STR_INIT("POST"),       [HTTP_PUT] = STR_INIT("PUT"),
    [HTTP_PATCH] = STR_INIT("PATCH"),     [HTTP_DELETE] = STR_INIT("DELETE"),
    [HTTP_OPTIONS] = STR_INIT("OPTIONS"),
};

const char *http_method_name(enum http_method m)
{
    return m < HTTP_METHODS ? method_names[m].p : "OTHER";
}

static enum http_method method_of(struct str name)
{
    for (int m = 0; m < HTTP_METHODS; m++)
        if (str_eq(name, method_names[m]))
            return (enum http_method)m;
    return HTTP_OTHER_METHOD;
}

static void limit(struct cursor *c, struct str rest, size_t max, int status)
{
    bool reached = rest.n >= max;

    c->at = rest.p;
    c->end = rest.p + (reached ? max : rest.n);
    c->past = reached ? status : 0;
}

static void skip(struct cursor *c, int kind)
{
    const char *p = c->at;

    while (p < c->end && octet_is(*p, kind))
        p++;
    c->at = p;
}

/* Most bytes of a head are in values: eight at a time as long as none of them is
 * a control (below 0x20) or DEL. */
static void skip_value(struct cursor *c)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t word;

    while (c->end - c->at >= (ptrdiff_t)sizeof word) {
        memcpy(&word, c->at, sizeof word);
        uint64_t del = word ^ 0x7f * ones;
        if (((word - 0x20 * ones) & ~word & tops) | ((del - ones) & ~del & tops))
            break;
        c->at += sizeof word;
    }
    skip(c, OCTET_VALUE);
}

static long read_line_end(struct cursor *c)
{
    if (c->at == c->end)
        return c->past;
    if (*c->at != '\r')
        return -400;
    if (c->at + 1 == c->end)
        return c->past;
    if (c->at[1] != '\n')
        return -400;
    c->at += 2;
    return 1;
}

/* A word of the request line and the one space behind it. */
static long read_word(struct cursor *c, int kind, struct str *ret)
{
    const char *start = c->at;

    skip(c, kind);
    if (c->at == c->end)
        return c->past;
    *ret = str_slice(start, (size_t)(c->at - start));
    if (*c->at != ' ' || ret->n == 0)
        return -400;
    c->at++;
    return 1;
}

static long read_version(struct cursor *c, struct http_request *r)
{
    static const char pattern[] = "HTTP/0.0"; /* 0 stands for any digit */
    const char *start = c->at;

    for (const char *want = pattern; *want; want++, c->at++) {
        if (c->at == c->end)
            return c->past;
        if (*want == '0' ? *c->at < '0' || *c->at > '9' : *c->at != *want)
            return -400;
    }
    if (start[5] != '1' || start[7] > '1')
        return -505;
    r->minor = start[7] - '0';
    return 1;
}

static size_t scheme_length(struct str target)
{
    if (target.n > 7 && str_eq_nocase(str_slice(target.p, 7), STR("http://")))
        return 7;
    return target.n > 8 && str_eq_nocase(str_slice(target.p, 8), STR("https://")) ? 8 : 0;
}

/* "http://host/path" tells the host, too, and its word counts (RFC 9112 §3.2.2). */
static long split_absolute(struct head *h, struct str *ret_path)
{
    struct str t = h->r->target;
    size_t start = scheme_length(t), end = start;

    while (end < t.n && octet_is(t.p[end], OCTET_HOST))
        end++;
    if (start == 0 || end == start || (end < t.n && t.p[end] != '/' && t.p[end] != '?'))
        return -400;
    h->authority = str_slice(t.p + start, end - start);
    *ret_path = str_from(t, end);
    return 1;
}

static long split_target(struct head *h)
{
    struct http_request *r = h->r;
    struct str path = r->target;
    bool asterisk = r->method == HTTP_OPTIONS && path.n == 1 && path.p[0] == '*';

    if (path.p[0] != '/' && !asterisk) {
        long n = split_absolute(h, &path);
        if (n <= 0)
            return n;
    }

    r->query = path;
    r->path = str_cut(&r->query, '?');
    /* An absolute target may leave "/" unsaid; there is one before its host. */
    if (r->path.n == 0)
        r->path = str_slice(h->authority.p - 1, 1);
    return 1;
}

static long read_request_line(struct head *h)
{
    struct http_request *r = h->r;
    long n = read_word(&h->c, OCTET_TOKEN, &r->method_text);

    if (n <= 0)
        return n;
    r->method = method_of(r->method_text);
    n = read_word(&h->c, OCTET_TARGET, &r->target);
    if (n <= 0)
        return n;
    n = split_target(h);
    if (n <= 0)
        return n;
    n = read_version(&h->c, r);
    if (n <= 0)
        return n;
    return read_line_end(&h->c);
}

/* --- headers that mean something to the framing ------------------------------- */

/* For headers that may come once: a second one leaves open which counts. */
static long take_single(struct str *field, struct str value)
{
    if (field->p)
        return -400;
    *field = value;
    return 1;
}

static long take_host(struct head *h, struct str value)
{
    return syntax_all(value, OCTET_HOST) ? take_single(&h->r->host, value) : -400;
}

static long take_authorization(struct head *h, struct str value)
{
    return take_single(&h->r->authorization, value);
}

static long take_content_type(struct head *h, struct str value)
{
    return take_single(&h->r->content_type, value);
}

static long take_accept_encoding(struct head *h, struct str value)
{
    if (!h->r->accept_encoding.p)
        h->r->accept_encoding = value;
    return 1;
}

static long take_content_length(struct head *h, struct str value)
{
    struct http_request *r = h->r;

    if (r->has_length || r->chunked || !str_to_u64(value, &r->length) || r->length > INT64_MAX)
        return -400;
    r->has_length = true;
    return 1;
}

/* Not plain "chunked": is it a coding we do not know, or an attempt to have it
 * read in two ways? "chunked" may only stand alone and at the end. */
static long refuse_coding(struct str list)
{
    if (!list.n || list.p[list.n - 1] == ',')
        return -400;
    while (list.n) {
        struct str coding = str_trim(str_cut(&list, ','));
        bool chunked = str_eq_nocase(coding, STR("chunked"));

        if (!coding.n || !syntax_all(coding, OCTET_TOKEN) || (chunked && list.n))
            return -400;
        for (size_t i = 0; !chunked && i + 7 <= coding.n; i++)
            if (str_eq_nocase(str_slice(coding.p + i, 7), STR("chunked")))
                return -400;
    }
    return -501;
}

static long take_transfer_encoding(struct head *h, struct str value)
{
    struct http_request *r = h->r;

    if (r->chunked || r->has_length || r->minor == 0)
        return -400;
    if (!str_eq_nocase(value, STR("chunked")))
        return refuse_coding(value);
    r->chunked = true;
    return 1;
}

static long take_connection(struct head *h, struct str value)
{
    while (value.n) {
        struct str option = str_trim(str_cut(&value, ','));

        h->close |= str_eq_nocase(option, STR("close"));
        h->keep_alive |= str_eq_nocase(option, STR("keep-alive"));
        h->upgrade |= str_eq_nocase(option, STR("upgrade"));
    }
    return 1;
}

static long take_upgrade(struct head *h, struct str value)
{
    while (value.n)
        h->websocket |= str_eq_nocase(str_trim(str_cut(&value, ',')), STR("websocket"));
    return 1;
}

static long take_expect(struct head *h, struct str value)
{
    if (!str_eq_nocase(value, STR("100-continue")))
        return -417;
    h->expect = true;
    return 1;
}

struct known_header {
    const char *name;
    long (*take)(struct head *h, struct str value);
};

/* By length, which no two of them share. */
#define KNOWN(name, take) [sizeof(name) - 1] = { name, take }
static const struct known_header known_headers[] = {
    KNOWN("host", take_host),
    KNOWN("expect", take_expect),
    KNOWN("upgrade", take_upgrade),
    KNOWN("connection", take_connection),
    KNOWN("content-type", take_content_type),
    KNOWN("authorization", take_authorization),
    KNOWN("content-length", take_content_length),
    KNOWN("accept-encoding", take_accept_encoding),
    KNOWN("transfer-encoding", take_transfer_encoding),
};
#undef KNOWN

static const struct known_header *find_known(struct str name)
{
    if (name.n >= COUNT_OF(known_headers) || !known_headers[name.n].name)
        return NULL;
    const struct known_header *k = &known_headers[name.n];
    /* Only a letter turns into a letter of the table, and '-' stays what it is. */
    for (size_t i = 0; i < name.n; i++)
        if ((name.p[i] | 0x20) != k->name[i])
            return NULL;
    return k;
}

/* --- the header lines ---------------------------------------------------------- */

static long read_header(struct head *h)
{
    struct cursor *c = &h->c;
    const char *start = c->at;

    if (h->r->header_count == HTTP_MAX_HEADERS)
        return -431;
    skip(c, OCTET_TOKEN);
    if (c->at == c->end)
        return c->past;
    struct str name = { start, (size_t)(c->at - start) };
    if (*c->at != ':' || name.n == 0)
        return -400;

    start = ++c->at;
    skip_value(c);
    struct str value = str_trim(str_slice(start, (size_t)(c->at - start)));
    long n = read_line_end(c);
    if (n <= 0)
        return n;

    h->r->headers[h->r->header_count++] = (struct http_header){ name, value };
    const struct known_header *k = find_known(name);
    return k ? k->take(h, value) : 1;
}

static long read_headers(struct head *h)
{
    for (;;) {
        if (h->c.at == h->c.end)
            return h->c.past;
        if (*h->c.at == '\r')
            return read_line_end(&h->c);
        long n = read_header(h);
        if (n <= 0)
            return n;
    }
}

static long finish(struct head *h)
{
    struct http_request *r = h->r;
    bool body = r->chunked || r->length > 0;

    if (r->minor == 1 && !r->host.p)
        return -400;
    if (h->authority.p)
        r->host = h->authority;
    r->keep_alive = !h->close && (r->minor == 1 || h->keep_alive);
    r->expect_continue = h->expect && r->minor == 1 && body;
    /* A body would be mistaken for frames. */
    r->upgrade_websocket =
        h->upgrade && h->websocket && r->minor == 1 && r->method == HTTP_GET && !body;
    return 1;
}

/* One by one: clearing all of headers[] would cost more than reading a head. */
static void clear(struct http_request *r)
{
    r->has_length = r->chunked = false;
    r->length = 0;
    r->host = r->authorization = r->content_type = r->accept_encoding = (struct str){ 0 };
    r->header_count = 0;
}

long http_read_head(struct str bytes, struct http_request *ret)
{
    struct head h = { .r = ret };
    struct str rest = bytes;

    clear(ret);
    /* Some clients end a body with a line too many (RFC 9112 §2.2). */
    if (rest.n && rest.p[0] == '\r') {
        limit(&h.c, rest, 2, -400);
        long n = read_line_end(&h.c);
        if (n <= 0)
            return n;
        rest = str_from(rest, 2);
    }

    limit(&h.c, rest, HTTP_MAX_LINE + 2, -414);
    long n = read_request_line(&h);
    if (n <= 0)
        return n;
    rest = str_slice(h.c.at, bytes.n - (size_t)(h.c.at - bytes.p));
    limit(&h.c, rest, HTTP_MAX_HEAD, -431);
    n = read_headers(&h);
    if (n <= 0)
        return n;
    n = finish(&h);
    return n <= 0 ? n : h.c.at - bytes.p;
}

struct str http_header(const struct http_request *r, struct str name)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (str_eq_nocase(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct str){ 0 };
}
