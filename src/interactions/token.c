/* token.c - the token with which an app answers an interaction: base64url of "interaction:<id>:<43
 * characters>". The characters are derived from the id and the server's key, so the token is not
 * stored, and the database alone is not enough to answer an interaction. */
#include "interactions/internal.h"

#include <sodium.h>
#include <string.h>

#include "base/base64url.h"
#include "json/number.h"

enum { SECRET = 32, SECRET_TEXT = 43, MOST = 12 + SNOWFLAKE_TEXT_SIZE + 1 + SECRET_TEXT };

static size_t write_plain_token(const struct call *call, snowflake id, char out[MOST])
{
    const struct str word = STR("interaction:");
    unsigned char secret[SECRET];
    size_t n = word.n;

    memcpy(out, word.p, n);
    n += format_decimal_digits(id, out + n);
    out[n++] = ':';
    auth_derive_key(api_get_options(call->api)->auth, "interaction", id, STR(""), secret,
                    sizeof secret);
    n += base64url_encode(secret, sizeof secret, out + n);
    sodium_memzero(secret, sizeof secret);
    return n;
}

struct str make_interaction_token(const struct call *call, snowflake id)
{
    char plain[MOST];
    size_t n = write_plain_token(call, id, plain);

    return str_base64url_encode(call->arena, plain, n);
}

snowflake interaction_id_from_token(const struct call *call, struct str token)
{
    char plain[MOST], good[MOST];
    size_t n;
    snowflake id;

    if (!str_base64url_decode(token, plain, MOST, &n))
        return 0;
    struct str rest = str_slice(plain, n);
    if (!str_is(str_cut(&rest, ':'), "interaction") || !snowflake_parse(str_cut(&rest, ':'), &id))
        return 0;
    size_t want = write_plain_token(call, id, good);
    return n == want && sodium_memcmp(plain, good, n) == 0 ? id : 0;
}
