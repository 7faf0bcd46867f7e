/* encryption.h - encryption of push messages (RFC 8291, RFC 8188) and signatures with which the
 * server identifies itself to push services (VAPID, RFC 8292). Pure functions: no store, no
 * network. */
#ifndef PLATFORM_WEB_PUSH_ENCRYPTION_H
#define PLATFORM_WEB_PUSH_ENCRYPTION_H

#include "base/arena.h"
#include "base/str.h"

enum {
    P256_POINT_BYTES = 65, /* uncompressed */
    P256_SECRET_BYTES = 32,
    PUSH_AUTH_BYTES = 16,
    PUSH_SALT_BYTES = 16,
    PUSH_TEXT_MAX = 3900, /* push services accept 4096 bytes including header and tag */
    ES256_SIGNATURE_BYTES = 64,
};

struct p256_key_pair {
    unsigned char secret[P256_SECRET_BYTES], point[P256_POINT_BYTES];
};

/* Compute a key pair. p256_key_pair_from_seed accepts any 48 bytes; p256_key_pair_from_secret
 * returns false unless the secret is in the range from 1 to the order of the group minus 1. */
bool p256_key_pair_from_seed(const unsigned char seed[48], struct p256_key_pair *ret);
bool p256_key_pair_from_secret(const unsigned char secret[P256_SECRET_BYTES],
                               struct p256_key_pair *ret);
bool p256_key_pair_new(struct p256_key_pair *ret);
/* Returns whether the bytes are an uncompressed point on the curve. */
bool p256_point_is_valid(struct str bytes);

/* The keys that a browser gave to the server with its subscription. */
struct web_push_receiver_keys {
    unsigned char point[P256_POINT_BYTES], auth[PUSH_AUTH_BYTES];
};

/* Encrypts a text as one record of the encoding aes128gcm. `sender` and `salt` must be new for each
 * message. Returns false if the text is too long or the receiver's key is invalid. */
bool web_push_encrypt(struct arena *a, const struct web_push_receiver_keys *to,
                      const struct p256_key_pair *sender, const unsigned char salt[PUSH_SALT_BYTES],
                      struct str text, struct str *ret);

bool es256_sign(const struct p256_key_pair *key, struct str text,
                unsigned char ret[ES256_SIGNATURE_BYTES]);
/* Returns the value of the header Authorization: a token for the push service at `origin`, signed
 * with the server's key. `contact` is a mailto: or https: URL. p is NULL if signing failed. */
struct str vapid_create_authorization_header(struct arena *a, const struct p256_key_pair *key,
                                             struct str origin, struct str contact,
                                             int64_t expires_s);

#endif
