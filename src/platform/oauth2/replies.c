/* replies.c - error replies, code digests and redirect URLs of OAuth2. */
#include "platform/oauth2/internal.h"

enum err oauth2_reply_error(struct call *call, int status, const char *error,
                            const char *description)
{
    call_set_status(call, status);
    if (status == 401)
        call_add_header(call, "WWW-Authenticate", STR("Basic realm=\"guildhall\""));
    return call_reply_with_object_of_type(
        call, &oauth2_error, &(struct oauth2_error){ str_of(error), str_of(description) });
}

struct str authorization_code_compute_digest(const struct call *call, struct str code)
{
    unsigned char *digest = arena_alloc(call->arena, OAUTH2_DIGEST_BYTES);

    auth_derive_key(api_get_options(call->api)->auth, "oauth2-code", 0, code, digest,
                    OAUTH2_DIGEST_BYTES);
    return str_slice((const char *)digest, OAUTH2_DIGEST_BYTES);
}

struct str url_add_query_parameter(struct arena *a, struct str url, const char *name,
                                   struct str value)
{
    struct str sep = memchr(url.p, '?', url.n) ? STR("&") : STR("?");

    return STR_CONCAT(a, url, sep, str_of(name), STR("="), str_percent_encode(a, value));
}
