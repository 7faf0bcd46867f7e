/* totp.h - time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds). */
#ifndef PLATFORM_ACCOUNTS_MFA_TOTP_H
#define PLATFORM_ACCOUNTS_MFA_TOTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { TOTP_SECRET = 20, TOTP_STEP_S = 30, TOTP_DIGITS = 6 };

/* Parses a secret of 32 base32 characters, in either case; spaces and dashes are ignored. */
bool totp_secret_parse(struct str text, unsigned char ret[TOTP_SECRET]);
/* Returns the TOTP code of a time step (Unix time divided by 30 seconds). */
uint32_t totp_code_of_step(const unsigned char secret[TOTP_SECRET], int64_t step);
/* Compares a code with those of the previous, current and next time step. Returns the latest
 * matching step after `used` (the step of the last accepted code), or -1 if there is none. */
int64_t totp_find_matching_step(const unsigned char secret[TOTP_SECRET], struct str code,
                                int64_t now_s, int64_t used);

#endif
