/* totp.c - time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds). */
#include "platform/accounts/mfa/totp.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { SKEW_STEPS = 1, BASE32_BITS = 5 };

static int decode_base32_digit(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

bool totp_secret_parse(struct str text, unsigned char ret[TOTP_SECRET])
{
    uint32_t bits = 0;
    int held = 0;
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        int value = decode_base32_digit(text.p[i]);

        if (text.p[i] == ' ' || text.p[i] == '-')
            continue;
        if (value < 0 || (n == TOTP_SECRET && held == 0))
            return false;
        bits = bits << BASE32_BITS | (uint32_t)value;
        held += BASE32_BITS;
        if (held >= 8) {
            held -= 8;
            ret[n++] = (unsigned char)(bits >> held);
        }
    }
    return n == TOTP_SECRET && held == 0;
}

uint32_t totp_code_of_step(const unsigned char secret[TOTP_SECRET], int64_t step)
{
    unsigned char counter[8], mac[EVP_MAX_MD_SIZE];
    unsigned size = 0;

    for (int i = 0; i < 8; i++)
        counter[i] = (unsigned char)((uint64_t)step >> (56 - 8 * i));
    HMAC(EVP_sha1(), secret, TOTP_SECRET, counter, sizeof counter, mac, &size);
    const unsigned char *at = mac + (mac[size - 1] & 15);
    uint32_t number = (uint32_t)(at[0] & 127) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
                      (uint32_t)at[3];
    return number % 1000000;
}

int64_t totp_find_matching_step(const unsigned char secret[TOTP_SECRET], struct str code,
                                int64_t now_s, int64_t used)
{
    int64_t now = now_s / TOTP_STEP_S, found = -1;
    uint64_t given;

    if (code.n != TOTP_DIGITS || !str_to_u64(code, &given))
        return -1;
    for (int64_t step = now - SKEW_STEPS; step <= now + SKEW_STEPS; step++)
        if (step > used && totp_code_of_step(secret, step) == given)
            found = step;
    return found;
}
