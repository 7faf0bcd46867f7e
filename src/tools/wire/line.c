/* line.c - a TCP connection to a server, with or without TLS. */
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
#include "net/tls.h"
#include "tools/wire/internal.h"

enum { PIECE = 65536, SENDING_MS = 30 * 1000, HANDSHAKE_SECONDS = 30 };

struct wire_line {
    int fd;
    SSL_CTX *context; /* NULL: no TLS */
    SSL *ssl;
};

/* --- certificates ---------------------------------------------------------------------- */

/* Returns true if the certificate has the fingerprint that the control socket returned. */
static bool pin_fits(const SSL *ssl, const char *pin)
{
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    char shown[TLS_FINGERPRINT_TEXT] = "";
    bool fits =
        certificate && tls_fingerprint_of(certificate, shown) && strcasecmp(shown, pin) == 0;

    X509_free(certificate);
    return fits;
}

static bool expect_name(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *p = SSL_get0_param(ssl);

    SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    return X509_VERIFY_PARAM_set1_ip_asc(p, host) == 1 ||
           X509_VERIFY_PARAM_set1_host(p, host, 0) == 1;
}

static bool line_secure(struct wire_line *l, const struct wire *w)
{
    l->context = SSL_CTX_new(TLS_client_method());
    if (!l->context || SSL_CTX_set_min_proto_version(l->context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(l->context) != 1)
        return false;
    l->ssl = SSL_new(l->context);
    if (!l->ssl || (!w->pin && !expect_name(l->ssl, w->host)))
        return false;
    SSL_set_tlsext_host_name(l->ssl, w->host);
    const struct timeval patience = { .tv_sec = HANDSHAKE_SECONDS };
    setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    bool ok = SSL_set_fd(l->ssl, l->fd) == 1 && SSL_connect(l->ssl) == 1 &&
              (!w->pin || pin_fits(l->ssl, w->pin));
    ERR_clear_error();
    /* The socket is non-blocking, because readable data may be a TLS record without application
     * data, on which a read must not block. */
    return ok && fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK) == 0;
}

/* --- connecting ------------------------------------------------------------------------ */

static int line_dial(const struct wire *w)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
    int fd = -1;

    if (getaddrinfo(w->host, w->port, &hints, &list) != 0)
        return -1;
    for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

struct wire_line *line_open(const struct wire *w)
{
    struct wire_line *l = mem_new(sizeof *l);
    const char *problem = NULL;

    l->fd = line_dial(w);
    if (l->fd < 0)
        problem = "no server responds at";
    else if (w->secure && !line_secure(l, w))
        problem = "the server has no trusted certificate at";
    if (!problem)
        return l;
    if (!w->hushed)
        fprintf(stderr, "guildhall: %s %s:%s\n", problem, w->host, w->port);
    line_close(l);
    return NULL;
}

void line_close(struct wire_line *l)
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

static bool line_wait(const struct wire_line *l, short events, int64_t wait_ms)
{
    struct pollfd p = { .fd = l->fd, .events = events };

    return poll(&p, 1, wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms) > 0;
}

/* Returns the number of bytes sent; 0: retry; -1: the connection is closed. */
static ssize_t line_send_piece(const struct wire_line *l, struct str bytes)
{
    size_t sent = 0;

    if (!l->ssl)
        return send(l->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    ERR_clear_error();
    int result = SSL_write_ex(l->ssl, bytes.p, bytes.n, &sent);
    int e = result == 1 ? SSL_ERROR_NONE : SSL_get_error(l->ssl, result);
    if (e == SSL_ERROR_WANT_WRITE || e == SSL_ERROR_WANT_READ)
        return line_wait(l, e == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, SENDING_MS) ? 0 : -1;
    return e == SSL_ERROR_NONE ? (ssize_t)sent : -1;
}

bool line_send_all(struct wire_line *l, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = line_send_piece(l, bytes);

        if (n < 0)
            return false;
        bytes = str_from(bytes, (size_t)n);
    }
    return true;
}

static int line_take_secure(const struct wire_line *l, struct buf *in, char *room)
{
    size_t got = 0;

    ERR_clear_error();
    int result = SSL_read_ex(l->ssl, room, PIECE, &got);
    in->n += got;
    return result == 1 ? 1 : SSL_get_error(l->ssl, result) == SSL_ERROR_WANT_READ ? 0 : -1;
}

int line_receive(struct wire_line *l, struct buf *in, int64_t wait_ms)
{
    char *room = buf_room(in, PIECE);

    if (!room)
        return -1;
    if (!(l->ssl && SSL_pending(l->ssl)) && !line_wait(l, POLLIN, wait_ms))
        return 0;
    if (l->ssl)
        return line_take_secure(l, in, room);
    ssize_t n = recv(l->fd, room, PIECE, 0);
    if (n <= 0)
        return -1;
    in->n += (size_t)n;
    return 1;
}
