/* cors.c - CORS: lets web pages of other origins call the API.
 *
 * A browser sends a preflight request before most calls, and hides responses without CORS headers
 * from its page, even error responses. A preflight has no credential and is answered before
 * routing, so it is cheap; browsers cache the response for a day. */
#include "api/internal.h"

enum { LONGEST_ASKED = 1024 };

/* Response headers that a page may read in addition to the CORS-safelisted ones. */
#define EXPOSED                                                                              \
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Reset-After, " \
    "X-RateLimit-Bucket, X-RateLimit-Global, X-RateLimit-Scope, Retry-After, Date, Via, "    \
    "X-Guildhall-Cause"

static const char USUAL_HEADERS[] =
    "Authorization, Content-Type, X-Audit-Log-Reason, X-Super-Properties";

void cors_init(struct api *api)
{
    buf_init(&api->cors, CALL_MAX_HEADERS);
    if (api->options.cors_origin)
        buf_printf(&api->cors,
                   "Access-Control-Allow-Origin: %s\r\nAccess-Control-Expose-Headers: " EXPOSED
                   "\r\n",
                   api->options.cors_origin);
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
