/* load_sessions.c - many gateway sessions, controlled line by line.
 *
 * Opens the sessions, prints a line of JSON, then runs the commands of standard input, one per
 * line, and prints a line when each is done:
 *
 *   alive          every session sends a heartbeat, as fast as they are acknowledged
 *   beat SECONDS   heartbeats at the interval that the server requested
 *   post COUNT     a POST, then its event at every session; COUNT times
 *   await COUNT    waits for COUNT events that others cause
 *   voice COUNT    each session alternately joins and leaves voice, COUNT times in all
 *   resume COUNT   every session loses its socket and resumes, COUNT times; plain JSON
 *
 * Sessions expect one message for each of these and no others. With --tls the sessions use TLS;
 * POSTs do not. */
#include "load.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http.h"

enum { WAVE = 32, MAX_IN = 1 << 22, READ_BUFFER_BYTES = 16384, WAIT_S = 30, HEARTBEAT_MS = 41250 };

struct session {
    int fd;
    SSL *ssl;      /* NULL: plain */
    struct buf in; /* received and unread bytes */
    char id[64];   /* session id of READY, if it is readable */
};

struct sessions {
    const struct options *options;
    struct session *all;
    size_t count, next_beat;
    struct http poster;
    char **tokens, **positions; /* text after a token in its line, or NULL */
    size_t token_count;
    uint64_t bytes; /* received */
    SSL_CTX *tls;   /* NULL: all are plain */
};

/* --- frames --------------------------------------------------------------------------- */

static void receive(struct sessions *w, struct session *s)
{
    char *at = buf_reserve(&s->in, READ_BUFFER_BYTES);
    ssize_t got = !at      ? 0
                  : s->ssl ? SSL_read(s->ssl, at, READ_BUFFER_BYTES)
                           : recv(s->fd, at, READ_BUFFER_BYTES, 0);

    if (got <= 0)
        die("a session was closed: %s", got ? strerror(errno) : "by the server");
    s->in.n += (size_t)got;
    w->bytes += (uint64_t)got;
}

/* Returns the header size of the frame in the buffer, and its payload size; 0: incomplete. */
static size_t frame_head(struct str in, uint64_t *ret_payload)
{
    const unsigned char *p = (const unsigned char *)in.p;

    if (in.n < 2)
        return 0;
    size_t extra = p[1] == 126 ? 2 : p[1] == 127 ? 8 : 0;
    if (in.n < 2 + extra)
        return 0;
    if ((p[0] & 0x0f) == 8)
        die("a session was closed with %d", in.n > 3 ? p[2] << 8 | p[3] : 0);
    *ret_payload = extra ? 0 : p[1];
    for (size_t i = 0; i < extra; i++)
        *ret_payload = *ret_payload << 8 | p[2 + i];
    return 2 + extra;
}

/* Waits for one message and leaves it in the buffer. */
static struct str message_next(struct sessions *w, struct session *s)
{
    uint64_t payload = 0;
    size_t head;

    while ((head = frame_head(buf_as_str(&s->in), &payload)) == 0 || s->in.n < head + payload)
        receive(w, s);
    return str_slice(s->in.p, head + payload);
}

static void message_drop(struct session *s, size_t used)
{
    s->in.n -= used;
    memmove(s->in.p, s->in.p + used, s->in.n);
    if (!s->in.n)
        buf_clear(&s->in);
}

/* Waits for one message and removes it. */
static void message_wait(struct sessions *w, struct session *s)
{
    message_drop(s, message_next(w, s).n);
}

/* Masked with zeros, because only the server is measured. */
static void frame_send(struct session *s, struct str text)
{
    char head[8] = { (char)0x81 };
    size_t n = 2;

    if (text.n < 126) {
        head[1] = (char)(0x80 | text.n);
    } else {
        head[1] = (char)(0x80 | 126);
        head[2] = (char)(text.n >> 8);
        head[3] = (char)text.n;
        n = 4;
    }
    if (s->ssl) {
        char frame[2048];

        if (n + 4 + text.n > sizeof frame)
            die("a message is too long");
        memcpy(frame, head, n + 4);
        memcpy(frame + n + 4, text.p, text.n);
        if (SSL_write(s->ssl, frame, (int)(n + 4 + text.n)) <= 0)
            die("cannot send");
        return;
    }
    struct iovec parts[] = { { head, n + 4 }, { (void *)(uintptr_t)text.p, text.n } };
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
    if (sendmsg(s->fd, &m, MSG_NOSIGNAL) != (ssize_t)(n + 4 + text.n))
        die("cannot send: %s", strerror(errno));
}

/* --- beginning ------------------------------------------------------------------------ */

static SSL *secure(struct sessions *w, int fd)
{
    SSL *ssl = SSL_new(w->tls);

    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) != 1)
        die("the TLS handshake with the server failed");
    return ssl;
}

static void upgrade(struct sessions *w, struct session *s)
{
    struct http h;
    struct timeval patience = { .tv_sec = WAIT_S };

    http_open(&h, w->options->port);
    buf_printf(&h.out,
               "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
               w->options->path);
    s->fd = h.fd;
    s->ssl = w->tls ? secure(w, h.fd) : NULL;
    if (!s->ssl)
        http_send(&h);
    else if (SSL_write(s->ssl, h.out.p, (int)h.out.n) <= 0)
        die("cannot send");
    buf_clear(&h.out);
    setsockopt(h.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    buf_init(&s->in, MAX_IN);
}

static void await_handshake(struct sessions *w, struct session *s)
{
    const char *end;

    while (!s->in.n || !(end = memmem(s->in.p, s->in.n, "\r\n\r\n", 4)))
        receive(w, s);
    if (memcmp(s->in.p, "HTTP/1.1 101 ", 13) != 0)
        die("the handshake got %.12s", s->in.p);
    size_t head = (size_t)(end + 4 - s->in.p);
    s->in.n -= head;
    memmove(s->in.p, s->in.p + head, s->in.n);
}

static void identify(struct sessions *w, size_t i)
{
    char text[1024];
    const char *token = w->tokens[i % w->token_count];
    int n = snprintf(text, sizeof text,
                     "{\"op\":2,\"d\":{\"token\":\"%s\",\"intents\":641,\"properties\":"
                     "{\"os\":\"linux\",\"browser\":\"load\",\"device\":\"load\"}}}",
                     token);

    frame_send(&w->all[i], str_slice(text, (size_t)n));
}

static void await_ready(struct sessions *w, struct session *s)
{
    static const char name[] = "\"session_id\":\"";
    struct str ready = message_next(w, s);
    const char *at = memmem(ready.p, ready.n, name, sizeof name - 1);

    s->id[0] = '\0';
    if (at)
        sscanf(at + sizeof name - 1, "%63[0-9a-f]", s->id);
    message_drop(s, ready.n);
}

static void greet_wave(struct sessions *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        upgrade(w, &w->all[i]);
    for (size_t i = from; i < to; i++) {
        await_handshake(w, &w->all[i]);
        message_wait(w, &w->all[i]); /* Hello */
    }
}

static void open_wave(struct sessions *w, size_t from, size_t to)
{
    greet_wave(w, from, to);
    for (size_t i = from; i < to; i++)
        identify(w, i);
    for (size_t i = from; i < to; i++)
        await_ready(w, &w->all[i]);
}

/* --- resume --------------------------------------------------------------------------- */

static void send_resume(struct sessions *w, size_t i)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "{\"op\":6,\"d\":{\"token\":\"%s\",\"session_id\":\"%s\",\"seq\":1}}",
                     w->tokens[i % w->token_count], w->all[i].id);

    frame_send(&w->all[i], str_slice(text, (size_t)n));
}

/* Missed events come first, if there are any. */
static void await_resumed(struct sessions *w, struct session *s)
{
    for (bool resumed = false; !resumed;) {
        struct str m = message_next(w, s);

        resumed = memmem(m.p, m.n < 64 ? m.n : 64, "RESUMED", 7);
        if (memmem(m.p, m.n < 64 ? m.n : 64, "\"op\":9", 6))
            die("a session could not be resumed");
        message_drop(s, m.n);
    }
}

/* Drops all sockets at once, as after the loss of a load balancer. */
static uint64_t resume_all(struct sessions *w, uint64_t times)
{
    for (uint64_t n = 0; n < times; n++) {
        for (size_t i = 0; i < w->count; i++) {
            SSL_free(w->all[i].ssl);
            close(w->all[i].fd);
            buf_clear(&w->all[i].in);
        }
        for (size_t from = 0; from < w->count; from += WAVE) {
            size_t to = from + WAVE < w->count ? from + WAVE : w->count;

            greet_wave(w, from, to);
            for (size_t i = from; i < to; i++)
                send_resume(w, i);
            for (size_t i = from; i < to; i++)
                await_resumed(w, &w->all[i]);
        }
    }
    return times * w->count;
}

/* --- voice ---------------------------------------------------------------------------- */

/* Joins or leaves voice; tokens of such sessions are followed by a guild and a channel. */
static void send_voice_state(struct sessions *w, size_t i, bool join)
{
    const char *location = w->positions[i % w->token_count];
    char text[256], guild[32], channel[32];

    if (!location || sscanf(location, "%31s %31s", guild, channel) != 2)
        die("a token has no guild and channel");
    int n =
        snprintf(text, sizeof text, "{\"op\":4,\"d\":{\"guild_id\":\"%s\",\"channel_id\":%s%s%s}}",
                 guild, join ? "\"" : "", join ? channel : "null", join ? "\"" : "");

    frame_send(&w->all[i], str_slice(text, (size_t)n));
}

/* Removes whole messages; returns the number of voice states among them. */
static unsigned take_states(struct session *s)
{
    uint64_t payload = 0;
    unsigned states = 0;
    size_t head;

    while ((head = frame_head(buf_as_str(&s->in), &payload)) && s->in.n >= head + payload) {
        size_t used = head + payload;

        states += memmem(s->in.p, used, "\"VOICE_STATE_UPDATE\"", 20) != NULL;
        s->in.n -= used;
        memmove(s->in.p, s->in.p + used, s->in.n);
    }
    return states;
}

/* Every session alternately joins and leaves, each time after the last event. */
static uint64_t turn_voice(struct sessions *w, uint64_t times)
{
    struct pollfd *fds = mem_new(w->count * sizeof *fds);
    uint64_t *done = mem_new(w->count * sizeof *done), all = 0;

    for (size_t i = 0; i < w->count; i++) {
        fds[i] = (struct pollfd){ .fd = w->all[i].fd, .events = POLLIN };
        send_voice_state(w, i, true);
    }
    while (all < times * w->count) {
        if (poll(fds, w->count, WAIT_S * 1000) <= 0)
            die("a voice state update is missing");
        for (size_t i = 0; i < w->count; i++) {
            if (!fds[i].revents)
                continue;
            receive(w, &w->all[i]);
            for (unsigned n = take_states(&w->all[i]); n; n--) {
                all++;
                if (++done[i] < times)
                    send_voice_state(w, i, done[i] % 2 == 0);
            }
        }
    }
    mem_free(fds);
    mem_free(done);
    return all;
}

/* Waits until every session has received this many events of others. */
static uint64_t receive_all(struct sessions *w, uint64_t times)
{
    for (uint64_t n = 0; n < times; n++)
        for (size_t i = w->count; i--;)
            message_wait(w, &w->all[i]);
    return times * w->count;
}

/* --- commands ------------------------------------------------------------------------- */

static void beat(struct sessions *w, size_t i)
{
    frame_send(&w->all[i], STR("{\"op\":1,\"d\":1}"));
    message_wait(w, &w->all[i]);
}

static uint64_t beat_all(struct sessions *w)
{
    for (size_t i = 0; i < w->count; i++)
        beat(w, i);
    return w->count;
}

static uint64_t beat_paced(struct sessions *w, double seconds)
{
    int64_t began = clock_monotonic_ns(), end = began + (int64_t)(seconds * 1e9);
    int64_t step = HEARTBEAT_MS * 1000000LL / (int64_t)w->count;
    uint64_t beats = 0;

    for (int64_t at = began; at < end; at += step, beats++) {
        int64_t wait = at - clock_monotonic_ns();
        struct timespec pause = { wait / 1000000000, wait % 1000000000 };

        if (wait > 0)
            nanosleep(&pause, NULL);
        beat(w, w->next_beat);
        w->next_beat = (w->next_beat + 1) % w->count;
    }
    return beats;
}

static uint64_t post(struct sessions *w, uint64_t times)
{
    for (uint64_t n = 0; n < times; n++) {
        http_send(&w->poster);
        struct answer a = http_wait(&w->poster);
        if (a.status >= 300)
            die("the POST got status %d: %.*s", a.status, STR_ARGS(a.body));
        /* The last session first: a reader that waits at every socket would make the server wake
         * it ten thousand times, unlike remote clients. */
        for (size_t i = w->count; i--;)
            message_wait(w, &w->all[i]);
    }
    return times * w->count;
}

static void obey(struct sessions *w)
{
    char line[64];

    while (fgets(line, sizeof line, stdin)) {
        const char *number = strchr(line, ' ');
        double amount = number ? strtod(number, NULL) : 0;
        uint64_t before = w->bytes, done;

        if (strncmp(line, "alive", 5) == 0)
            done = beat_all(w);
        else if (strncmp(line, "beat", 4) == 0)
            done = beat_paced(w, amount < WAIT_S ? amount : WAIT_S);
        else if (strncmp(line, "post", 4) == 0 && amount <= 100000)
            done = post(w, (uint64_t)amount);
        else if (strncmp(line, "voice", 5) == 0 && amount <= 100000)
            done = turn_voice(w, (uint64_t)amount);
        else if (strncmp(line, "resume", 6) == 0 && amount <= 100)
            done = resume_all(w, (uint64_t)amount);
        else if (strncmp(line, "await", 5) == 0 && amount <= 100000)
            done = receive_all(w, (uint64_t)amount);
        else
            die("unknown command '%s'", line);
        printf("{\"messages\":%llu,\"bytes\":%llu}\n", (unsigned long long)done,
               (unsigned long long)(w->bytes - before));
        fflush(stdout);
    }
}

/* Closes with a close frame, so that the server does not retain the sessions. */
static void close_all(struct sessions *w)
{
    static const char goodbye[] = "\x88\x82\0\0\0\0\x03\xe8";
    char rest[256];

    for (size_t i = 0; i < w->count; i++) {
        if (w->all[i].ssl)
            SSL_write(w->all[i].ssl, goodbye, sizeof goodbye - 1);
        else
            send(w->all[i].fd, goodbye, sizeof goodbye - 1, MSG_NOSIGNAL);
        shutdown(w->all[i].fd, SHUT_WR);
    }
    for (size_t i = 0; i < w->count; i++) {
        while (recv(w->all[i].fd, rest, sizeof rest, 0) > 0)
            ;
        SSL_free(w->all[i].ssl);
        close(w->all[i].fd);
        buf_clear(&w->all[i].in);
    }
    SSL_CTX_free(w->tls);
    mem_free(w->all);
    http_close(&w->poster);
}

/* --- the main loop -------------------------------------------------------------------- */

static void read_tokens(struct sessions *w)
{
    FILE *f = fopen(w->options->tokens_file, "r");
    char line[512];

    while (f && fgets(line, sizeof line, f)) {
        w->tokens = mem_resize(w->tokens, (w->token_count + 1) * sizeof *w->tokens);
        w->positions = mem_resize(w->positions, (w->token_count + 1) * sizeof *w->positions);
        line[strcspn(line, "\n")] = '\0';
        char *space = strchr(line, ' ');
        w->positions[w->token_count] = space ? strdup(space + 1) : NULL;
        if (space)
            *space = '\0';
        w->tokens[w->token_count++] = strdup(line);
    }
    if (!w->token_count)
        die("no tokens in '%s'", w->options->tokens_file);
    fclose(f);
}

void load_sessions(const struct options *o)
{
    struct sessions w = { .options = o, .count = o->connections };

    if (!o->path || !o->tokens_file || !o->post || !o->token)
        die("sessions needs --path, --tokens, --post and --token");
    read_tokens(&w);
    w.tls = o->tls ? SSL_CTX_new(TLS_client_method()) : NULL;
    if (w.tls)
        SSL_CTX_set_mode(w.tls, SSL_MODE_RELEASE_BUFFERS);
    w.all = mem_new(w.count * sizeof *w.all);
    for (size_t i = 0; i < w.count; i += WAVE)
        open_wave(&w, i, i + WAVE < w.count ? i + WAVE : w.count);
    printf("{\"sessions\":%zu,\"bytes\":%llu}\n", w.count, (unsigned long long)w.bytes);
    fflush(stdout);
    http_open(&w.poster, o->port);
    http_request(&w.poster, "POST", o->post, o->token,
                 "{\"content\":\"Who is coming to the workshop tonight?\"}");
    obey(&w);
    close_all(&w);
}
