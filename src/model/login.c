/* login.c - the name of a login, the same for all that is done with its token. */
#include "model/login.h"

#include <sodium.h>
#include <stdio.h>

void login_id(const unsigned char session[8], char ret[LOGIN_ID_SIZE])
{
    unsigned char d[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(d, session, 8);
    snprintf(ret, LOGIN_ID_SIZE,
             "%02x%02x%02x%02x-%02x%02x-4%01x%02x-a%01x%02x-%02x%02x%02x%02x%02x%02x", d[0], d[1],
             d[2], d[3], d[4], d[5], d[6] & 15, d[7], d[8] & 15, d[9], d[10], d[11], d[12], d[13],
             d[14], d[15]);
}

void login_hash(const unsigned char session[8], char ret[LOGIN_HASH_SIZE])
{
    unsigned char digest[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(digest, session, 8);
    sodium_bin2base64(ret, LOGIN_HASH_SIZE, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL);
}
