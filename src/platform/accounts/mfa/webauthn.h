/* webauthn.h - parses and verifies what a security key or passkey sends (W3C Web Authentication,
 * level 2), without the store; webauthn_credentials.c has the rules and the rows. Supported keys
 * are ES256 (P-256 with SHA-256), EdDSA (Ed25519), and RS256 (RSA with SHA-256), which Windows uses
 * with many TPMs. Attestation (a statement about the key's maker) is ignored: the server accepts
 * keys of every maker. */
#ifndef PLATFORM_ACCOUNTS_MFA_WEBAUTHN_H
#define PLATFORM_ACCOUNTS_MFA_WEBAUTHN_H

#include "base/str.h"

enum webauthn_algorithm { WEBAUTHN_ES256 = -7, WEBAUTHN_EDDSA = -8, WEBAUTHN_RS256 = -257 };
enum { WEBAUTHN_MAX_CREDENTIAL_ID = 1023 };

/* The parts of a PublicKeyCredential, decoded from base64. Parts that are missing are empty. */
struct webauthn_response {
    struct str credential_id, client_data;
    struct str attestation;                   /* when a credential is created */
    struct str authenticator_data, signature; /* when it is used */
};
/* Parses a credential as JSON, with base64 or base64url, with or without padding. */
bool webauthn_response_parse(struct arena *a, struct str json, struct webauthn_response *ret);

/* clientDataJSON, which the browser writes and the key signs. */
struct webauthn_client_data {
    struct str type, origin;
    unsigned char challenge[64];
    size_t challenge_length;
};
bool webauthn_client_data_parse(struct arena *a, struct str json, struct webauthn_client_data *ret);

/* Returns the host of an origin ("https://chat.example:8443" → "chat.example") in lower case, or an
 * empty text if it is not an origin. */
struct str webauthn_host_of_origin(struct arena *a, struct str origin);

/* The authenticator data of a response. credential_id and public_key are present only if the
 * response registers a new key; in a log-in they are empty. */
struct webauthn_authenticator_data {
    struct str rp_id_hash; /* 32 bytes */
    bool user_present;
    int64_t sign_count; /* signature counter; 0 if the key has no counter */
    struct str credential_id, public_key;
};
bool webauthn_authenticator_data_parse(struct str bytes, struct webauthn_authenticator_data *ret);
/* Parses an attestation object, which contains the authenticator data of a new credential. */
bool webauthn_attestation_parse(struct str bytes, struct webauthn_authenticator_data *ret);

/* Returns true if the COSE key is one that webauthn_verify_signature supports. */
bool webauthn_key_is_supported(struct str public_key);
/* Verifies the key's signature over the authenticator data and the SHA-256 digest of the client
 * data. */
bool webauthn_verify_signature(struct arena *a, struct str public_key,
                               const struct webauthn_response *r);

#endif
