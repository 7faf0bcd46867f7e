/* tls.h - TLS 1.2 and newer over memory, so that the loop keeps the sockets. */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/errors.h"
#include "base/str.h"

struct tls_context;
struct tls;

/* From PEM files; logs what is wrong with them. */
enum err tls_context_open(const char *certificate, const char *key, struct tls_context **ret);
/* Makes a self-signed certificate for a host ("localhost" and 127.0.0.1 are always
 * in it), writes cert.pem and key.pem (mode 0600) to the folder unless they are
 * there and still good, and opens them. */
enum err tls_context_self_signed(const char *folder, const char *host, struct tls_context **ret);
/* Other files for connections that begin from now on; when they are no good, logs why, and all
 * stays as it was. From any thread. */
enum err tls_context_reload(struct tls_context *c, const char *certificate, const char *key);
/* When the certificate that is shown ends, in seconds since 1970. From any thread. */
int64_t tls_expires(struct tls_context *c);
void tls_context_free(struct tls_context *c);

/* SHA-256 of a certificate, as hexadecimal digits: of the one that a server shows, or of any
 * (an X509 of OpenSSL). False: there is none. */
enum { TLS_FINGERPRINT_TEXT = 65 };
bool tls_fingerprint(struct tls_context *c, char out[TLS_FINGERPRINT_TEXT]);
bool tls_fingerprint_of(const void *certificate, char out[TLS_FINGERPRINT_TEXT]);

struct tls *tls_new(struct tls_context *c);
void tls_free(struct tls *t);

/* Encrypted bytes in; decrypted bytes are appended to plain, bytes to send to
 * cipher. False: the connection is broken, send what is in cipher and close.
 * *ret_eof: the peer said goodbye. */
bool tls_read(struct tls *t, struct str bytes, struct buf *plain, struct buf *cipher,
              bool *ret_eof);
/* Plain bytes in, bytes to send out. False: broken. */
bool tls_write(struct tls *t, struct str bytes, struct buf *cipher);
/* For clients: whom they trust, a PEM file or NULL for the system's certificates; and a connection
 * to a host, whose certificate has to be for that name or address. What has to be sent first is
 * appended to cipher. */
enum err tls_context_client(const char *ca, struct tls_context **ret);
struct tls *tls_connect(struct tls_context *c, const char *host, struct buf *cipher);
bool tls_is_ready(const struct tls *t); /* the handshake is over */
/* Why a handshake failed, for people. */
const char *tls_why_not(const struct tls *t);

/* Our goodbye. */
void tls_shutdown(struct tls *t, struct buf *cipher);

#endif
