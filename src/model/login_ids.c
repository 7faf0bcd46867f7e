/* login_ids.c - public ids of a login session, derived from its token's session id. */
#include "model/login_ids.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdbool.h>

static bool uuid_has_dash_before_byte(unsigned byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

/* Formats the UUID. snprintf is not used, because it is slower than the digest, and this runs for
 * every session. */
static void format_login_uuid(const unsigned char digest[], char ret[LOGIN_ID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *at = ret;

    for (unsigned i = 0; i < 16; i++) {
        unsigned byte = digest[i];

        if (i == 6 || i == 8) /* version and variant, RFC 9562 §4 */
            byte = (byte & 0x0f) | (i == 6 ? 0x40u : 0xa0u);
        if (uuid_has_dash_before_byte(i))
            *at++ = '-';
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 0x0f];
    }
    *at = '\0';
}

void login_session_write_public_ids(const unsigned char session[8], char *id, char *hash)
{
    unsigned char digest[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(digest, session, 8);
    if (id)
        format_login_uuid(digest, id);
    if (hash) /* ten times as fast as sodium_bin2base64 */
        EVP_EncodeBlock((unsigned char *)hash, digest, sizeof digest);
}
