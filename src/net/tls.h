/* tls.h - TLS 1.2 and newer on memory buffers; the event loop does the socket I/O. */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/errors.h"
#include "base/str.h"

struct tls_context;
struct tls_connection;

/* Reads certificate and key from PEM files; logs errors. */
enum err tls_context_open(const char *certificate, const char *key, struct tls_context **ret);
/* Opens cert.pem and key.pem in the folder. If they are missing, expire within 7 days or do not
 * match the host, creates a self-signed certificate for host, localhost and 127.0.0.1 (mode 0600).
 */
enum err tls_context_open_self_signed(const char *folder, const char *host,
                                      struct tls_context **ret);
/* Opens cert.pem and key.pem in the folder, for the names (a list that ends with NULL) and the
 * host. If they are missing, expire within 7 days or lack a name, first creates a certificate
 * authority that signs them, and stores its certificate in ca.pem. The authority's key is never
 * stored, so that nobody can issue another certificate that clients trust because of ca.pem. */
enum err tls_context_open_issued_by_own_authority(const char *folder, const char *host,
                                                  const char *const *names,
                                                  struct tls_context **ret);
/* Uses other certificate files for new connections. If the files are invalid, logs it and changes
 * nothing. May be called from any thread. */
enum err tls_context_reload(struct tls_context *c, const char *certificate, const char *key);
/* Returns the expiry of the current certificate, in seconds since 1970. Thread-safe. */
int64_t tls_certificate_expiry(struct tls_context *c);
void tls_context_free(struct tls_context *c);

/* Both functions write a SHA-256 fingerprint in hexadecimal: of the current certificate of the
 * server, or of an OpenSSL X509. They return false if there is no certificate. */
enum { TLS_FINGERPRINT_TEXT = 65 };
bool tls_format_server_fingerprint(struct tls_context *c, char out[TLS_FINGERPRINT_TEXT]);
bool tls_format_certificate_fingerprint(const void *certificate, char out[TLS_FINGERPRINT_TEXT]);

struct tls_connection *tls_server_connection_new(struct tls_context *c);
void tls_connection_free(struct tls_connection *t);

/* Decrypts bytes: appends decrypted input to plain, and TLS output for the peer to cipher. If it
 * returns false, the connection is broken: send `cipher` to the peer and close the connection.
 * *ret_eof is set to true if the peer sent close_notify. */
bool tls_decrypt(struct tls_connection *t, struct str bytes, struct buf *plain, struct buf *cipher,
                 bool *ret_eof);
/* Encrypts bytes and appends them to cipher. Returns false if the connection is broken. */
bool tls_encrypt(struct tls_connection *t, struct str bytes, struct buf *cipher);
/* Creates a TLS client context: ca is a PEM file of trusted certificates, or NULL for the
 * certificates of the system. tls_client_connection_new requires a certificate for host (name or
 * address) and appends the first handshake message to cipher. */
enum err tls_context_open_client(const char *ca, struct tls_context **ret);
struct tls_connection *tls_client_connection_new(struct tls_context *c, const char *host,
                                                 struct buf *cipher);
bool tls_handshake_is_done(const struct tls_connection *t);
/* Describes why a handshake failed, for log lines and error messages. */
const char *tls_describe_handshake_error(const struct tls_connection *t);

void tls_append_close_notify(struct tls_connection *t, struct buf *cipher);

#endif
