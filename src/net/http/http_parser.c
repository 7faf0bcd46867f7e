/* http_parser.c - parses the head of a request in one strict pass.
 *
 * Every decision depends only on the bytes before it, so a head that arrives in pieces gives the
 * same result as a complete one. */
#include "net/http/http_parser.h"

#include "net/http/framing.h"
#include "net/http/syntax.h"

#define EACH_BYTE_01 0x0101010101010101ULL
#define EACH_BYTE_80 0x8080808080808080ULL

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

static enum http_method method_from_name(struct str name)
{
    for (int m = 0; m < HTTP_METHODS; m++)
        if (str_eq(name, method_names[m]))
            return (enum http_method)m;
    return HTTP_OTHER_METHOD;
}

static void init_limited_cursor(struct input_cursor *c, struct str rest, size_t max, int status)
{
    bool reached = rest.n >= max;

    c->at = rest.p;
    c->end = rest.p + (reached ? max : rest.n);
    c->past = reached ? status : 0;
}

/* Returns a nonzero value if any of the eight bytes of `word` is less than b. */
static uint64_t word_contains_byte_below(uint64_t word, unsigned char b)
{
    return (word - b * EACH_BYTE_01) & ~word & EACH_BYTE_80;
}

static uint64_t word_contains_byte(uint64_t word, unsigned char b)
{
    return word_contains_byte_below(word ^ b * EACH_BYTE_01, 1);
}

/* Skips the valid bytes of a header value, eight at a time, because most bytes of a request head
 * are header values. */
static void skip_header_value(struct input_cursor *c)
{
    const char *p = c->at;
    uint64_t word;

    for (; c->end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        if (word_contains_byte_below(word, ' ') | word_contains_byte(word, 0x7f))
            break;
    }
    c->at = skip_octets_of_class(p, c->end, OCTET_VALUE);
}

static void skip_request_target(struct input_cursor *c)
{
    const char *p = c->at;
    uint64_t word;

    for (; c->end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        if (word_contains_byte_below(word, '!') | word_contains_byte(word, '#') |
            word_contains_byte(word, 0x7f) | (word & EACH_BYTE_80))
            break;
    }
    c->at = skip_octets_of_class(p, c->end, OCTET_TARGET);
}

static long read_crlf(struct input_cursor *c)
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

/* Called at the end of a word of the request line; the word began at `start`. Exactly one space
 * must follow the word. */
static long read_request_line_word(struct input_cursor *c, const char *start, struct str *ret)
{
    if (c->at == c->end)
        return c->past;
    *ret = str_slice(start, (size_t)(c->at - start));
    if (*c->at != ' ' || ret->n == 0)
        return -400;
    c->at++;
    return 1;
}

static long read_http_version(struct input_cursor *c, struct http_request *r)
{
    static const char pattern[] = "HTTP/0.0"; /* 0 matches any digit */
    const char *start = c->at;

    if (c->end - c->at >= 8 && memcmp(c->at, "HTTP/1.1", 8) == 0) {
        c->at += 8;
        r->minor = 1;
        return 1;
    }
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

static size_t get_http_scheme_length(struct str target)
{
    if (target.n > 7 && str_eq_nocase(str_slice(target.p, 7), STR("http://")))
        return 7;
    return target.n > 8 && str_eq_nocase(str_slice(target.p, 8), STR("https://")) ? 8 : 0;
}

/* Splits "http://host/path" into host and path. This host overrides the Host header (RFC 9112
 * §3.2.2). */
static long split_absolute_target(struct request_head_parser *h, struct str *ret_path)
{
    struct str t = h->r->target;
    size_t start = get_http_scheme_length(t), end = start;

    while (end < t.n && octet_is_in_class(t.p[end], OCTET_HOST))
        end++;
    if (start == 0 || end == start || (end < t.n && t.p[end] != '/' && t.p[end] != '?'))
        return -400;
    h->authority = str_slice(t.p + start, end - start);
    *ret_path = str_skip_bytes(t, end);
    return 1;
}

static long split_request_target(struct request_head_parser *h)
{
    struct http_request *r = h->r;
    struct str path = r->target;
    bool asterisk = r->method == HTTP_OPTIONS && path.n == 1 && path.p[0] == '*';

    if (path.p[0] != '/' && !asterisk) {
        long n = split_absolute_target(h, &path);
        if (n <= 0)
            return n;
    }

    r->query = path;
    r->path = str_cut(&r->query, '?');
    /* In "http://host" the path "/" is missing: use the second slash of "http://" as the path. */
    if (r->path.n == 0)
        r->path = str_slice(h->authority.p - 1, 1);
    return 1;
}

static long read_request_line(struct request_head_parser *h)
{
    struct http_request *r = h->r;
    const char *start = h->c.at;

    h->c.at = skip_octets_of_class(start, h->c.end, OCTET_TOKEN);
    long n = read_request_line_word(&h->c, start, &r->method_text);
    if (n <= 0)
        return n;
    r->method = method_from_name(r->method_text);

    start = h->c.at;
    skip_request_target(&h->c);
    n = read_request_line_word(&h->c, start, &r->target);
    if (n <= 0)
        return n;
    n = split_request_target(h);
    if (n <= 0)
        return n;
    n = read_http_version(&h->c, r);
    if (n <= 0)
        return n;
    return read_crlf(&h->c);
}

static struct str trim_blanks(const char *start, const char *end)
{
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    while (start < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return str_slice(start, (size_t)(end - start));
}

static long read_header_line(struct request_head_parser *h)
{
    struct input_cursor *c = &h->c;
    const char *start = c->at;

    if (h->r->header_count == HTTP_MAX_HEADERS)
        return -431;
    c->at = skip_octets_of_class(c->at, c->end, OCTET_TOKEN);
    if (c->at == c->end)
        return c->past;
    struct str name = { start, (size_t)(c->at - start) };
    if (*c->at != ':' || name.n == 0)
        return -400;

    start = ++c->at;
    skip_header_value(c);
    struct str value = trim_blanks(start, c->at);
    long n = read_crlf(c);
    if (n <= 0)
        return n;

    h->r->headers[h->r->header_count++] = (struct http_header){ name, value };
    return request_head_interpret_header(h, name, value);
}

static long read_all_header_lines(struct request_head_parser *h)
{
    for (;;) {
        if (h->c.at == h->c.end)
            return h->c.past;
        if (*h->c.at == '\r')
            return read_crlf(&h->c);
        long n = read_header_line(h);
        if (n <= 0)
            return n;
    }
}

/* Clears only the members that the parser does not always set, because clearing headers[] would
 * take too long. */
static void clear_parsed_request(struct http_request *r)
{
    r->has_length = r->chunked = false;
    r->length = 0;
    r->host = r->authorization = r->content_type = r->accept_encoding = (struct str){ 0 };
    r->header_count = 0;
}

long http_parse_head(struct str bytes, struct http_request *ret)
{
    struct request_head_parser h = { .r = ret };
    struct str rest = bytes;

    clear_parsed_request(ret);
    if (bytes.n == 0)
        return 0;
    /* Skip an empty line: some clients send a CRLF after a body (RFC 9112 §2.2). */
    if (rest.p[0] == '\r') {
        init_limited_cursor(&h.c, rest, 2, -400);
        long n = read_crlf(&h.c);
        if (n <= 0)
            return n;
        rest = str_skip_bytes(rest, 2);
    }

    init_limited_cursor(&h.c, rest, HTTP_MAX_LINE + 2, -414);
    long n = read_request_line(&h);
    if (n <= 0)
        return n;
    rest = str_slice(h.c.at, bytes.n - (size_t)(h.c.at - bytes.p));
    init_limited_cursor(&h.c, rest, HTTP_MAX_HEAD, -431);
    n = read_all_header_lines(&h);
    if (n <= 0)
        return n;
    n = request_head_check_and_complete(&h);
    return n <= 0 ? n : h.c.at - bytes.p;
}

struct str http_find_header(const struct http_request *r, struct str name)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (str_eq_nocase(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct str){ 0 };
}
