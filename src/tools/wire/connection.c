/* connection.c - a TCP connection to a server, with or without TLS. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/address.h"
#include "net/tls.h"
#include "tools/wire/internal.h"

enum { RECEIVE_BYTES = 65536, SEND_TIMEOUT_MS = 30 * 1000, HANDSHAKE_SECONDS = 30 };

struct client_connection {
    int fd;
    SSL_CTX *context; /* TLS context; NULL if the connection has no TLS */
    SSL *ssl;
};

/* --- certificates ---------------------------------------------------------------------- */

/* Returns true if the server's certificate has the fingerprint that the control socket returned. */
static bool fingerprint_matches(const SSL *ssl, const char *pin)
{
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    char actual[TLS_FINGERPRINT_TEXT] = "";
    bool fits = certificate && tls_format_certificate_fingerprint(certificate, actual) &&
                strcasecmp(actual, pin) == 0;

    X509_free(certificate);
    return fits;
}

static bool require_trusted_certificate(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *p = SSL_get0_param(ssl);

    SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    return X509_VERIFY_PARAM_set1_ip_asc(p, host) == 1 ||
           X509_VERIFY_PARAM_set1_host(p, host, 0) == 1;
}

static bool start_tls(struct client_connection *l, const struct api_client *w)
{
    l->context = SSL_CTX_new(TLS_client_method());
    if (!l->context || SSL_CTX_set_min_proto_version(l->context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(l->context) != 1)
        return false;
    l->ssl = SSL_new(l->context);
    if (!l->ssl || (!w->fingerprint && !require_trusted_certificate(l->ssl, w->host)))
        return false;
    SSL_set_tlsext_host_name(l->ssl, w->host);
    const struct timeval timeout = { .tv_sec = HANDSHAKE_SECONDS };
    setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    bool ok = SSL_set_fd(l->ssl, l->fd) == 1 && SSL_connect(l->ssl) == 1 &&
              (!w->fingerprint || fingerprint_matches(l->ssl, w->fingerprint));
    ERR_clear_error();
    /* Make the socket non-blocking. Readable data may be a TLS record without application data, and
     * reading it must not block. */
    return ok && fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK) == 0;
}

/* --- connecting ------------------------------------------------------------------------ */

/* The addresses are checked after the DNS lookup, because a public name may have private
 * addresses. */
static int connect_tcp(struct api_client *w)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    int fd = -1;

    w->address_is_private = false;
    if (getaddrinfo(w->host, w->port, &hints, &list) != 0)
        return -1;
    for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        if (w->public_only && !ip_address_is_public(a->ai_addr)) {
            w->address_is_private = true;
            continue;
        }
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

struct client_connection *api_connection_open(struct api_client *w)
{
    struct client_connection *l = mem_new(sizeof *l);
    const char *problem = NULL;

    l->fd = connect_tcp(w);
    if (l->fd < 0)
        problem = w->address_is_private ? "a private address is refused:" : "no server responds at";
    else if (w->secure && !start_tls(l, w))
        problem = "the server has no trusted certificate at";
    if (!problem)
        return l;
    if (!w->quiet)
        fprintf(stderr, "guildhall: %s %s:%s\n", problem, w->host, w->port);
    api_connection_free(l);
    return NULL;
}

void api_connection_free(struct client_connection *l)
{
    if (!l)
        return;
    SSL_free(l->ssl);
    SSL_CTX_free(l->context);
    if (l->fd >= 0)
        close(l->fd);
    mem_free(l);
}

/* --- sending and receiving ------------------------------------------------------------- */

static bool wait_for_socket(const struct client_connection *l, short events, int64_t wait_ms)
{
    struct pollfd p = { .fd = l->fd, .events = events };

    return poll(&p, 1, wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms) > 0;
}

/* Sends some bytes. Returns their number, 0 if the caller must try again, or -1 if the connection
 * is closed. */
static ssize_t send_some_bytes(const struct client_connection *l, struct str bytes)
{
    size_t sent = 0;

    if (!l->ssl)
        return send(l->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    ERR_clear_error();
    int result = SSL_write_ex(l->ssl, bytes.p, bytes.n, &sent);
    int e = result == 1 ? SSL_ERROR_NONE : SSL_get_error(l->ssl, result);
    if (e == SSL_ERROR_WANT_WRITE || e == SSL_ERROR_WANT_READ)
        return wait_for_socket(l, e == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, SEND_TIMEOUT_MS)
                   ? 0
                   : -1;
    return e == SSL_ERROR_NONE ? (ssize_t)sent : -1;
}

bool api_connection_send_all(struct client_connection *l, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send_some_bytes(l, bytes);

        if (n < 0)
            return false;
        bytes = str_skip_bytes(bytes, (size_t)n);
    }
    return true;
}

static int receive_tls_bytes(const struct client_connection *l, struct buf *in, char *room)
{
    size_t got = 0;

    ERR_clear_error();
    int result = SSL_read_ex(l->ssl, room, RECEIVE_BYTES, &got);
    in->n += got;
    return result == 1 ? 1 : SSL_get_error(l->ssl, result) == SSL_ERROR_WANT_READ ? 0 : -1;
}

int api_connection_receive(struct client_connection *l, struct buf *in, int64_t wait_ms)
{
    char *room = buf_reserve(in, RECEIVE_BYTES);

    if (!room)
        return -1;
    if (!(l->ssl && SSL_pending(l->ssl)) && !wait_for_socket(l, POLLIN, wait_ms))
        return 0;
    if (l->ssl)
        return receive_tls_bytes(l, in, room);
    ssize_t n = recv(l->fd, room, RECEIVE_BYTES, 0);
    if (n <= 0)
        return -1;
    in->n += (size_t)n;
    return 1;
}
