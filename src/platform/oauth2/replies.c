/* replies.c - answers that only OAuth2 has. */
#include "platform/oauth2/internal.h"

enum err oauth2_fail(struct call *call, int status, const char *error, const char *description)
{
    call_set_status(call, status);
    if (status == 401)
        call_add_header(call, "WWW-Authenticate", STR("Basic realm=\"guildhall\""));
    return call_reply_as(call, &oauth2_error,
                         &(struct oauth2_error){ str_of(error), str_of(description) });
}

struct str code_digest(const struct call *call, struct str code)
{
    unsigned char *digest = arena_alloc(call->arena, OAUTH2_DIGEST_BYTES);

    auth_derive(api_options(call->api)->auth, "oauth2-code", 0, code, digest, OAUTH2_DIGEST_BYTES);
    return str_slice((const char *)digest, OAUTH2_DIGEST_BYTES);
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static struct str escape(struct arena *a, struct str s)
{
    static const char hex[] = "0123456789ABCDEF";
    char *out = arena_alloc(a, 3 * s.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (is_unreserved(s.p[i])) {
            out[n++] = s.p[i];
            continue;
        }
        out[n++] = '%';
        out[n++] = hex[c >> 4];
        out[n++] = hex[c & 15];
    }
    return str_slice(out, n);
}

struct str url_with(struct arena *a, struct str url, const char *name, struct str value)
{
    struct str sep = memchr(url.p, '?', url.n) ? STR("&") : STR("?");

    return STR_CONCAT(a, url, sep, str_of(name), STR("="), escape(a, value));
}
