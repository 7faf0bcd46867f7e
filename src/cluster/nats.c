/* nats.c - NATS client: one connection with a thread that reconnects.
 *
 * A thread that publishes a message writes to the socket directly, so that no other thread must
 * wake up. Bytes that the socket does not accept wait in a buffer; the connection's thread sends
 * them. */
#include "cluster/nats.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"

enum {
    CONNECT_MS = 2000, /* time limit for connect and INFO */
    PING_MS = 2000,    /* time without data from the server after which PING is sent */
    /* Time without data from the server after which the connection is closed. */
    SERVER_SILENT_MS = 5000,
    RECONNECT_MIN_MS = 50,
    RECONNECT_MAX_MS = 1000,
    READ_BYTES = 64 * 1024,
    /* Number of unsent bytes above which the connection is closed. */
    UNSENT_MAX_BYTES = 8 * 1024 * 1024,
    /* Number of unsent bytes above which nats_publish_or_drop_message drops messages. */
    DROPPABLE_MAX_BYTES = UNSENT_MAX_BYTES / 2,
};

struct nats {
    struct nats_options options;
    pthread_t thread;
    bool has_thread;
    int wake;              /* eventfd that wakes the connection's thread */
    struct buf in, cipher; /* used by the connection's thread only */
    bool asked;            /* PING was sent, and PONG has not arrived yet */
    int64_t received_at;
    size_t server;                   /* index of the server in options.servers */
    struct tls_context *tls_context; /* NULL if no server uses TLS */

    pthread_mutex_t lock; /* protects all following members */
    int socket;           /* -1 if there is no connection */
    bool connected, ending;
    bool subscribed; /* the subscriptions were sent on this connection */
    bool parts[NATS_PARTS_MAX];
    size_t max_payload;
    /* TLS connection to a tls:// server, after its first INFO; or NULL */
    struct tls_connection *tls;
    bool introduced;       /* whether CONNECT was sent over TLS */
    struct buf plain;      /* output that is not encrypted yet */
    struct buf out;        /* bytes that the socket did not accept */
    _Atomic size_t unsent; /* number of bytes in `out`, readable without the lock */
};

static bool any_server_uses_tls(const struct nats_options *o)
{
    for (size_t i = 0; i < o->servers.count; i++)
        if (o->servers.items[i].tls)
            return true;
    return false;
}

enum err nats_new(const struct nats_options *options, struct nats **ret)
{
    struct nats *n = mem_new(sizeof *n);

    n->options = *options;
    n->socket = -1;
    if (any_server_uses_tls(options) && tls_context_open_client(options->ca, &n->tls_context)) {
        mem_free(n);
        return ERR_INTERNAL;
    }
    n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (n->wake < 0) {
        log_error("nats: cannot create an eventfd: the limit of open files is reached (ulimit -n)");
        abort();
    }
    buf_init(&n->in, NATS_PAYLOAD_MAX + NATS_LINE_MAX + READ_BYTES);
    buf_init(&n->out, UNSENT_MAX_BYTES);
    buf_init(&n->cipher, READ_BYTES);
    buf_init(&n->plain, UNSENT_MAX_BYTES);
    pthread_mutex_init(&n->lock, NULL);
    *ret = n;
    return OK;
}

static void wake_nats_thread(struct nats *n)
{
    uint64_t one = 1;

    if (write(n->wake, &one, sizeof one) < 0) {
        /* A write fails only if the eventfd's counter is full, when the thread is awake already. */
    }
}

static void drain_wake_counter(struct nats *n)
{
    uint64_t count;

    if (read(n->wake, &count, sizeof count) < 0) {
        /* The eventfd had no pending wake-up. */
    }
}

/* Sends as many unsent bytes as the socket accepts. The caller holds the lock. */
static void flush_nats_output(struct nats *n)
{
    while (n->out.n && n->socket >= 0) {
        ssize_t sent = send(n->socket, n->out.p, n->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            break; /* the connection's thread handles a socket that is full or closed */
        buf_drop_first_bytes(&n->out, (size_t)sent);
    }
    atomic_store_explicit(&n->unsent, n->out.n, memory_order_relaxed);
}

/* Returns the buffer for commands to the server; encrypt_and_flush_nats_output sends its content.
 * The caller holds the lock. */
static struct buf *get_nats_command_buffer(struct nats *n)
{
    return n->tls ? &n->plain : &n->out;
}

/* Encrypts and sends the commands in the buffer. If the buffer has overflowed, a command is
 * incomplete, so the connection is closed. The caller holds the lock. */
static bool encrypt_and_flush_nats_output(struct nats *n)
{
    if (n->plain.n && !(n->tls && tls_encrypt(n->tls, buf_as_str(&n->plain), &n->out))) {
        shutdown(n->socket, SHUT_RDWR);
        return false;
    }
    buf_reset(&n->plain);
    flush_nats_output(n);
    if (buf_is_full(&n->out)) {
        shutdown(n->socket, SHUT_RDWR);
        return false;
    }
    if (n->out.n)
        wake_nats_thread(n);
    return true;
}

static bool publish_if_unsent_bytes_below(struct nats *n, size_t most, const char *subject,
                                          struct str payload)
{
    size_t size = payload.n;
    bool ok = false;

    pthread_mutex_lock(&n->lock);
    if (n->connected && size <= n->max_payload && n->out.n + size <= most) {
        nats_write_publish_command(get_nats_command_buffer(n), subject, payload);
        ok = encrypt_and_flush_nats_output(n);
    }
    pthread_mutex_unlock(&n->lock);
    return ok;
}

bool nats_publish(struct nats *n, const char *subject, struct str payload)
{
    return publish_if_unsent_bytes_below(n, SIZE_MAX, subject, payload);
}

bool nats_publish_or_drop_message(struct nats *n, const char *subject, struct str payload)
{
    return publish_if_unsent_bytes_below(n, DROPPABLE_MAX_BYTES, subject, payload);
}

size_t nats_count_unsent_bytes(const struct nats *n)
{
    return atomic_load_explicit(&n->unsent, memory_order_relaxed);
}

bool nats_server_accepts_payload_size(struct nats *n, size_t size)
{
    pthread_mutex_lock(&n->lock);
    bool fits = size <= n->max_payload;
    pthread_mutex_unlock(&n->lock);
    return fits;
}

/* The caller holds the lock. */
static void write_part_subscription(struct nats *n, unsigned part)
{
    char subject[128];

    snprintf(subject, sizeof subject, "%s%u", n->options.part_prefix, part);
    nats_write_subscribe_command(get_nats_command_buffer(n), subject, NATS_SUBJECTS_MAX + 1 + part);
}

void nats_set_subscribed_to_part(struct nats *n, unsigned part, bool subscribed)
{
    pthread_mutex_lock(&n->lock);
    bool changed = n->parts[part] != subscribed;
    n->parts[part] = subscribed;
    if (changed && n->subscribed) {
        if (subscribed)
            write_part_subscription(n, part);
        else
            nats_write_unsubscribe_command(get_nats_command_buffer(n),
                                           NATS_SUBJECTS_MAX + 1 + part);
        encrypt_and_flush_nats_output(n);
    }
    pthread_mutex_unlock(&n->lock);
}

/* Sends CONNECT, the subscriptions and PING. The caller holds the lock. */
static void send_connect_and_subscribe(struct nats *n)
{
    const struct nats_options *o = &n->options;
    struct buf *b = get_nats_command_buffer(n);

    nats_write_connect_command(b, &o->servers.items[n->server], o->name);
    for (unsigned i = 0; i < NATS_SUBJECTS_MAX && o->subjects[i]; i++)
        nats_write_subscribe_command(b, o->subjects[i], i + 1);
    for (unsigned part = 0; part < NATS_PARTS_MAX; part++)
        if (n->parts[part])
            write_part_subscription(n, part);
    n->subscribed = true;
    buf_add_lit(b, "PING\r\n");
    encrypt_and_flush_nats_output(n);
}

/* Begins TLS after the server's INFO, which is plain text. Nothing is sent before TLS, so that a
 * server without TLS does not get the password. The caller holds the lock. */
static void begin_tls_handshake(struct nats *n)
{
    n->tls = tls_client_connection_new(n->tls_context, n->options.servers.items[n->server].host,
                                       &n->out);
    if (n->tls)
        flush_nats_output(n);
    else
        shutdown(n->socket, SHUT_RDWR);
}

static void handle_server_info(struct nats *n, struct str info)
{
    pthread_mutex_lock(&n->lock);
    n->max_payload = nats_parse_max_payload(info);
    if (n->options.servers.items[n->server].tls && !n->tls)
        begin_tls_handshake(n);
    else if (!n->connected && !n->tls)
        send_connect_and_subscribe(n);
    pthread_mutex_unlock(&n->lock);
}

static void send_nats_command(struct nats *n, struct str word)
{
    pthread_mutex_lock(&n->lock);
    buf_add_str(get_nats_command_buffer(n), word);
    encrypt_and_flush_nats_output(n);
    pthread_mutex_unlock(&n->lock);
}

/* Called for the PONG that answers the PING after the subscriptions: the server has handled the
 * subscriptions. */
static void on_subscriptions_active(struct nats *n)
{
    pthread_mutex_lock(&n->lock);
    bool first = !n->connected;
    n->connected = true;
    pthread_mutex_unlock(&n->lock);
    n->asked = false;
    if (first) {
        log_info("nats: connected to %s:%s", n->options.servers.items[n->server].host,
                 n->options.servers.items[n->server].port);
        n->options.changed(n->options.arg, true);
    }
}

/* Handles one command of the NATS server. Returns false if the connection must be closed. */
static bool handle_nats_command(struct nats *n, const struct nats_command *w)
{
    switch (w->kind) {
    case NATS_INFO:
        handle_server_info(n, w->body);
        break;
    case NATS_MESSAGE:
        n->options.message(n->options.arg, w->subject, w->body);
        break;
    case NATS_PING:
        send_nats_command(n, STR("PONG\r\n"));
        break;
    case NATS_PONG:
        on_subscriptions_active(n);
        break;
    case NATS_OK:
        break;
    case NATS_ERR:
        log_warn("nats: the server reported an error: %.*s", STR_ARGS(w->body));
        return false;
    }
    return true;
}

static bool parse_received_commands(struct nats *n)
{
    struct nats_command w;
    size_t at = 0;
    long took;

    while ((took = nats_parse_command(str_skip_bytes(buf_as_str(&n->in), at), &w)) > 0) {
        at += (size_t)took;
        if (!handle_nats_command(n, &w))
            return false;
    }
    buf_drop_first_bytes(&n->in, at);
    if (took < 0)
        log_warn("nats: the configured address does not speak the NATS protocol");
    return took == 0;
}

/* Decrypts received bytes. Sends CONNECT when the TLS handshake is complete. */
static bool decrypt_received_nats_bytes(struct nats *n, struct str bytes)
{
    bool eof = false;

    pthread_mutex_lock(&n->lock);
    bool ok = tls_decrypt(n->tls, bytes, &n->in, &n->out, &eof) && !eof;
    if (ok && !n->introduced && tls_handshake_is_done(n->tls)) {
        n->introduced = true;
        send_connect_and_subscribe(n);
    }
    flush_nats_output(n);
    if (!ok && !n->introduced)
        log_warn("nats: TLS handshake with %s failed: %s", n->options.servers.items[n->server].host,
                 tls_describe_handshake_error(n->tls));
    pthread_mutex_unlock(&n->lock);
    return ok;
}

static bool receive_from_nats_socket(struct nats *n, int fd)
{
    struct buf *into = n->tls ? &n->cipher : &n->in;
    char *room = buf_reserve(into, READ_BYTES);
    ssize_t got = room ? recv(fd, room, READ_BYTES, MSG_DONTWAIT) : 0;

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    into->n += (size_t)got;
    n->received_at = clock_monotonic_ns();
    if (n->tls) {
        bool ok = decrypt_received_nats_bytes(n, buf_as_str(&n->cipher));

        buf_reset(&n->cipher);
        if (!ok)
            return false;
    }
    return parse_received_commands(n);
}

static bool nats_is_ending(struct nats *n)
{
    pthread_mutex_lock(&n->lock);
    bool ending = n->ending;
    pthread_mutex_unlock(&n->lock);
    return ending;
}

static bool wait_for_nats_connect(struct nats *n, int fd)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLOUT }, { .fd = n->wake, .events = POLLIN } };
    int error = 0;
    socklen_t size = sizeof error;

    if (poll(fds, 2, CONNECT_MS) <= 0 || nats_is_ending(n) || !fds[0].revents)
        return false;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error;
}

static int connect_to_nats_address(struct nats *n, const struct addrinfo *a)
{
    int on = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0 ||
        (errno == EINPROGRESS && wait_for_nats_connect(n, fd)))
        return fd;
    close(fd);
    return -1;
}

static int connect_to_nats_server(struct nats *n)
{
    const struct nats_server *s = &n->options.servers.items[n->server];
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int fd = -1;

    if (getaddrinfo(s->host, s->port, &hints, &found) != 0)
        return -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_to_nats_address(n, a);
    freeaddrinfo(found);
    return fd;
}

/* Sends PING if the server was silent for PING_MS. Returns false if the server was silent for
 * SERVER_SILENT_MS. */
static bool check_nats_server_is_alive(struct nats *n)
{
    int64_t silent = (clock_monotonic_ns() - n->received_at) / 1000000;

    if (!n->connected)
        return silent < CONNECT_MS;
    if (silent > PING_MS && !n->asked) {
        n->asked = true;
        send_nats_command(n, STR("PING\r\n"));
    }
    return silent < SERVER_SILENT_MS;
}

static bool nats_connection_poll_once(struct nats *n, int fd)
{
    pthread_mutex_lock(&n->lock);
    short events = (short)(POLLIN | (n->out.n ? POLLOUT : 0));
    pthread_mutex_unlock(&n->lock);
    struct pollfd fds[] = { { .fd = fd, .events = events }, { .fd = n->wake, .events = POLLIN } };

    if (poll(fds, 2, PING_MS / 4) < 0 && errno != EINTR)
        return false;
    if (fds[1].revents)
        drain_wake_counter(n);
    if (nats_is_ending(n))
        return false;
    if (fds[0].revents & POLLOUT) {
        pthread_mutex_lock(&n->lock);
        flush_nats_output(n);
        pthread_mutex_unlock(&n->lock);
    }
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR) && !receive_from_nats_socket(n, fd))
        return false;
    return check_nats_server_is_alive(n);
}

/* Runs a connection until it is closed. Returns whether the connection was ever established. */
static bool nats_connection_run(struct nats *n, int fd)
{
    buf_reset(&n->in);
    n->asked = false;
    n->received_at = clock_monotonic_ns();
    pthread_mutex_lock(&n->lock);
    n->socket = fd;
    buf_reset(&n->out);
    atomic_store(&n->unsent, 0);
    pthread_mutex_unlock(&n->lock);
    while (nats_connection_poll_once(n, fd))
        ;
    pthread_mutex_lock(&n->lock);
    bool was = n->connected;
    n->connected = n->introduced = n->subscribed = false;
    n->socket = -1;
    tls_connection_free(n->tls);
    n->tls = NULL;
    buf_reset(&n->plain);
    pthread_mutex_unlock(&n->lock);
    close(fd);
    drain_wake_counter(n); /* otherwise pause_before_nats_reconnect would return at once */
    return was;
}

static void pause_before_nats_reconnect(struct nats *n, int milliseconds)
{
    struct pollfd wake = { .fd = n->wake, .events = POLLIN };

    if (!nats_is_ending(n))
        poll(&wake, 1, milliseconds);
}

static void *run_nats_thread(void *arg)
{
    struct nats *n = arg;
    int wait = RECONNECT_MIN_MS;

    while (!nats_is_ending(n)) {
        int fd = connect_to_nats_server(n);

        if (fd >= 0 && nats_connection_run(n, fd)) {
            wait = RECONNECT_MIN_MS;
            n->options.changed(n->options.arg, false);
            if (!nats_is_ending(n))
                log_warn(
                    "nats: connection lost; events of other nodes are read from the log until it is back");
        }
        pause_before_nats_reconnect(n, wait);
        wait = wait * 2 < RECONNECT_MAX_MS ? wait * 2 : RECONNECT_MAX_MS;
        n->server = (n->server + 1) % n->options.servers.count;
    }
    return NULL;
}

void nats_start(struct nats *n)
{
    if (pthread_create(&n->thread, NULL, run_nats_thread, n) != 0) {
        log_error("nats: cannot start the thread for the connection to NATS");
        abort();
    }
    n->has_thread = true;
}

void nats_free(struct nats *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    n->ending = true;
    pthread_mutex_unlock(&n->lock);
    wake_nats_thread(n);
    if (n->has_thread)
        pthread_join(n->thread, NULL);
    close(n->wake);
    buf_clear(&n->in);
    buf_clear(&n->cipher);
    buf_clear(&n->plain);
    buf_clear(&n->out);
    tls_context_free(n->tls_context);
    pthread_mutex_destroy(&n->lock);
    mem_free(n);
}
