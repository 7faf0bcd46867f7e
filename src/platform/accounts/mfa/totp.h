/* totp.h - codes that change every 30 seconds (RFC 6238: SHA-1, six digits). */
#ifndef PLATFORM_ACCOUNTS_MFA_TOTP_H
#define PLATFORM_ACCOUNTS_MFA_TOTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { TOTP_SECRET = 20, TOTP_STEP_S = 30, TOTP_DIGITS = 6 };

/* 32 letters and digits of base32, in either case, spaces and dashes between them. */
bool totp_secret_read(struct str text, unsigned char ret[TOTP_SECRET]);
/* The code of a step. */
uint32_t totp_code(const unsigned char secret[TOTP_SECRET], int64_t step);
/* Which step is it of: this second's, one before or after, and later than `used`? The latest
 * such step, or -1. */
int64_t totp_step(const unsigned char secret[TOTP_SECRET], struct str code, int64_t now_s,
                  int64_t used);

#endif
