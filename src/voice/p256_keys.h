/* p256_keys.h - P-256 public keys and ECDSA signatures, for voice keys. */
#ifndef VOICE_P256_KEYS_H
#define VOICE_P256_KEYS_H

#include <stdbool.h>

#include "base/str.h"

enum { P256_KEY_SIZE = 33 };

/* Parses an X9.62 point, compressed (33 bytes) or uncompressed (65 bytes). ret gets the compressed
 * form. Returns false if the bytes are not a point of the curve, or are the point at infinity. */
bool p256_key_parse(struct str bytes, unsigned char ret[P256_KEY_SIZE]);

/* Verifies an ECDSA signature with SHA-256; the signature must be strict DER. */
bool p256_verify_signature(struct str point, struct str signed_bytes, struct str signature);

/* Returns the SignContent of MLS (RFC 9420, 5.1.2): "MLS 1.0 " followed by the label, then the
 * content. A length precedes the label string and the content. */
struct str mls_encode_sign_content(struct arena *a, const char *label, struct str content);

#endif
