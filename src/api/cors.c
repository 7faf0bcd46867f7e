/* cors.c - CORS: lets web pages of other origins call the API.
 *
 * A browser sends a preflight request before most calls, and hides responses without CORS headers
 * from its page, even error responses. A preflight has no credential and is answered before
 * routing, so it is cheap; browsers cache the response for a day. */
#include "api/internal.h"

enum { LONGEST_ASKED = 1024 };

/* Names of response headers that a page may read in addition to those that CORS always allows. */
#define EXPOSED                                                                              \
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Reset-After, " \
    "X-RateLimit-Bucket, X-RateLimit-Global, X-RateLimit-Scope, Retry-After, Date, Via, "    \
    "X-Guildhall-Cause"

static const char USUAL_HEADERS[] =
    "Authorization, Content-Type, X-Audit-Log-Reason, X-Super-Properties";

/* Appends the headers for one origin. Pages of a named origin may send requests with credentials,
 * as Spacebar's clients do; this is safe, because the server ignores cookies and other credentials
 * of the browser. */
static void append_headers_for_origin(struct buf *out, struct str origin)
{
    buf_printf(
        out,
        "Access-Control-Allow-Origin: %.*s\r\nAccess-Control-Expose-Headers: " EXPOSED "\r\n%s",
        STR_ARGS(origin), str_is(origin, "*") ? "" : "Access-Control-Allow-Credentials: true\r\n");
}

void cors_init(struct api *api)
{
    struct str origins = str_of(api->options.cors_origin);

    buf_init(&api->cors, CALL_MAX_HEADERS);
    if (origins.n)
        append_headers_for_origin(&api->cors, str_trim(str_cut(&origins, ',')));
}

/* Appends the CORS headers of a response. CORS allows one origin per response: the origin of the
 * request if it is allowed, otherwise the first allowed origin. */
void cors_append_headers(const struct api *api, const struct http_request *r, struct buf *out)
{
    struct str origins = str_of(api->options.cors_origin);

    if (origins.n && memchr(origins.p, ',', origins.n)) {
        struct str from = http_find_header(r, STR("Origin"));

        buf_add_lit(out, "Vary: Origin\r\n");
        while (from.n && origins.n)
            if (str_eq(str_trim(str_cut(&origins, ',')), from)) {
                append_headers_for_origin(out, from);
                return;
            }
    }
    buf_add_str(out, buf_as_str(&api->cors));
}

bool cors_is_preflight(const struct api *api, const struct http_request *r)
{
    return r->method == HTTP_OPTIONS && api->cors.n &&
           http_find_header(r, STR("Access-Control-Request-Method")).p;
}

/* Returns true if the text contains only header names and commas, because it is copied into a
 * response header. */
static bool is_valid_header_list(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], lower = (char)(c | 32);
        bool fits = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                    c == ',' || c == ' ';

        if (!fits)
            return false;
    }
    return s.n > 0 && s.n <= LONGEST_ASKED;
}

void cors_add_preflight_headers(struct call *call)
{
    struct str requested =
        http_find_header(call->exchange->request, STR("Access-Control-Request-Headers"));

    call_add_header(call, "Access-Control-Allow-Methods", STR("GET, POST, PUT, PATCH, DELETE"));
    call_add_header(call, "Access-Control-Allow-Headers",
                    is_valid_header_list(requested) ? requested : STR(USUAL_HEADERS));
    call_add_header(call, "Access-Control-Max-Age", STR("86400"));
}
