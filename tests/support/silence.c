/* silence.c - a proxy thread that can stop forwarding bytes to PostgreSQL. */
#include "support/silence.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

enum { MOST = 32, READ_MS = 10, QUIET_MS = 5, RECORD = 16384, MOST_SAID = 16 * RECORD };

/* The client's and the server's socket of one connection; both -1: free. */
struct api_client {
    int ends[2];
    SSL *tls; /* TLS of the client's side; NULL: plain */
    bool silent;
};

struct silence {
    char *where, folder[90];
    SSL_CTX *tls; /* NULL: no TLS */
    int listener;
    pthread_t thread;
    atomic_bool silent, over;
    atomic_int round_trip_ms;
    atomic_uint turns;
    struct api_client wires[MOST];
};

static int dial_server(const struct silence *s)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(a.sun_path, sizeof a.sun_path, "%s/.s.PGSQL.5432", s->folder);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        abort();
    return fd;
}

static void hang_up(struct api_client *w)
{
    SSL_free(w->tls);
    w->tls = NULL;
    close(w->ends[0]);
    close(w->ends[1]);
    w->ends[0] = w->ends[1] = -1;
}

/* --- TLS ------------------------------------------------------------------------------ */

/* Creates a TLS context with a certificate that no client verifies. */
static SSL_CTX *wire_tls_new(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();

    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 24L * 60 * 60);
    X509_set_pubkey(certificate, key);
    if (!X509_sign(certificate, key, EVP_sha256()) ||
        SSL_CTX_use_certificate(tls, certificate) != 1 || SSL_CTX_use_PrivateKey(tls, key) != 1)
        abort();
    X509_free(certificate);
    EVP_PKEY_free(key);
    return tls;
}

/* Accepts the client's eight-byte TLS request. Returns false if the client disconnected. */
static bool wire_speak_tls(struct api_client *w, SSL_CTX *tls)
{
    char request[8];

    w->tls = SSL_new(tls);
    SSL_set_fd(w->tls, w->ends[0]);
    return recv(w->ends[0], request, sizeof request, MSG_WAITALL) == sizeof request &&
           send(w->ends[0], "S", 1, MSG_NOSIGNAL) == 1 && SSL_accept(w->tls) == 1;
}

static bool wire_unseal(const struct api_client *w)
{
    char bytes[RECORD];

    do {
        int n = SSL_read(w->tls, bytes, sizeof bytes);

        if (n <= 0 || send(w->ends[1], bytes, (size_t)n, MSG_NOSIGNAL) != n)
            return false;
    } while (SSL_pending(w->tls));
    return true;
}

/* Reads from the server until no more bytes arrive. */
static size_t wire_read_server(const struct api_client *w, char *bytes)
{
    struct pollfd more = { .fd = w->ends[1], .events = POLLIN };
    size_t n = 0;
    ssize_t got;

    do {
        got = recv(w->ends[1], bytes + n, MOST_SAID - n, MSG_DONTWAIT);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0 && n < MOST_SAID && poll(&more, 1, QUIET_MS) > 0);
    return n;
}

/* Sends in TLS records of maximum length, so that no later record makes a client read the rest
 * of a long one. */
static bool wire_seal(const struct api_client *w)
{
    static char bytes[MOST_SAID];
    size_t n = wire_read_server(w, bytes), length = n % RECORD ? n % RECORD : RECORD;

    for (size_t at = 0; at < n; at += length, length = RECORD)
        if (SSL_write(w->tls, bytes + at, (int)length) <= 0)
            return false;
    return n;
}

/* --- forwarding ----------------------------------------------------------------------- */

static void accept_one(struct silence *s)
{
    int fd = accept(s->listener, NULL, NULL);

    for (int i = 0; fd >= 0 && i < MOST; i++) {
        if (s->wires[i].ends[0] < 0) {
            s->wires[i] = (struct api_client){ .ends = { fd, dial_server(s) } };
            if (s->tls && !wire_speak_tls(&s->wires[i], s->tls))
                hang_up(&s->wires[i]);
            return;
        }
    }
    abort();
}

/* Forwards bytes in one direction; returns false at the end of the connection. */
static bool pass_on(const struct api_client *w, int from, int round_trip_ms)
{
    char bytes[65536];

    if (w->tls)
        return from == 0 ? wire_unseal(w) : wire_seal(w);
    ssize_t n = recv(w->ends[from], bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0 && from == 0 && round_trip_ms)
        usleep((useconds_t)round_trip_ms * 1000);
    return n > 0 && send(w->ends[!from], bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

static void forward_bytes_between_sockets(struct silence *s)
{
    struct pollfd polls[2 * MOST + 1] = { { .fd = s->silent ? -1 : s->listener,
                                            .events = POLLIN } };

    for (int i = 0; i < 2 * MOST; i++) {
        struct api_client *w = &s->wires[i / 2];

        w->silent = w->silent || (s->silent && w->ends[0] >= 0);
        polls[i + 1] = (struct pollfd){ .fd = w->silent ? -1 : w->ends[i % 2], .events = POLLIN };
    }
    poll(polls, 2 * MOST + 1, READ_MS);
    for (int i = 0; i < 2 * MOST; i++)
        if (polls[i + 1].revents && s->wires[i / 2].ends[0] >= 0 &&
            !pass_on(&s->wires[i / 2], i % 2, s->round_trip_ms))
            hang_up(&s->wires[i / 2]);
    if (polls[0].revents)
        accept_one(s);
}

static void *pass_all(void *arg)
{
    struct silence *s = arg;
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE); /* a disconnected client is detected by the write error */
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    for (; !s->over; s->turns++)
        forward_bytes_between_sockets(s);
    return NULL;
}

static void open_listener_of_silent_proxy(struct silence *s, const char *rest)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(s->listener, (struct sockaddr *)&a, n) != 0 || listen(s->listener, MOST) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&a, &n) != 0)
        abort();
    size_t room = strlen(rest) + 96;
    s->where = mem_new(room);
    snprintf(s->where, room, "host=127.0.0.1 port=%d gssencmode=disable sslmode=%s%s",
             ntohs(a.sin_port), s->tls ? "require" : "disable", rest);
}

static struct silence *silence_start(const char *where, SSL_CTX *tls)
{
    struct silence *s = mem_new(sizeof *s);
    const char *rest = strchr(where, ' ');

    s->tls = tls;
    if (!rest || sscanf(where, "host=%89s", s->folder) != 1)
        abort();
    for (int i = 0; i < MOST; i++)
        s->wires[i].ends[0] = s->wires[i].ends[1] = -1;
    open_listener_of_silent_proxy(s, rest);
    if (pthread_create(&s->thread, NULL, pass_all, s) != 0)
        abort();
    return s;
}

struct silence *silence_new(const char *where)
{
    return silence_start(where, NULL);
}

struct silence *silence_new_tls(const char *where)
{
    return silence_start(where, wire_tls_new());
}

const char *silence_where(const struct silence *s)
{
    return s->where;
}

void silence_begin(struct silence *s)
{
    s->silent = true;
    for (unsigned before = s->turns; s->turns - before < 2;)
        usleep(1000); /* until the thread has seen the change */
}

void silence_stretch(struct silence *s, int ms)
{
    s->round_trip_ms = ms;
}

void silence_end(struct silence *s)
{
    s->silent = false;
}

void silence_free(struct silence *s)
{
    s->over = true;
    pthread_join(s->thread, NULL);
    for (int i = 0; i < MOST; i++)
        if (s->wires[i].ends[0] >= 0)
            hang_up(&s->wires[i]);
    close(s->listener);
    SSL_CTX_free(s->tls);
    mem_free(s->where);
    mem_free(s);
}
