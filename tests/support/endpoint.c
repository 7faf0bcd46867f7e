/* endpoint.c - the interactions endpoint of an app, for tests. */
#include "endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "waits.h"

enum { MOST = 64, MAX_PAYLOAD_FORM_BYTES = 256 * 1024 };

struct request {
    char *head, *body;
    size_t size; /* of the body */
    bool good;
};

struct endpoint {
    struct world *world;
    pthread_t thread;
    pthread_mutex_t lock;
    int fd, stop[2], event_list[2]; /* event_list: one byte for each call of endpoint_answer */
    char url[64];
    unsigned char key[crypto_sign_PUBLICKEYBYTES];
    enum endpoint_manner manner;
    int status, after_ms;
    char type[100], *answer;
    struct request requests[MOST];
    int count;
};

/* --- reading -------------------------------------------------------------------------- */

static const char *header(const char *head, const char *name, char *out, size_t size)
{
    const char *at = strcasestr(head, name);

    *out = '\0';
    if (!at)
        return out;
    at += strlen(name) + 2;
    size_t n = strcspn(at, "\r\n");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), at);
    return out;
}

static bool is_signed(const struct endpoint *e, const char *head, const char *body)
{
    unsigned char signature[crypto_sign_BYTES], text[MAX_PAYLOAD_FORM_BYTES];
    char hex[200], at[40];
    size_t n;

    header(head, "X-Signature-Ed25519", hex, sizeof hex);
    header(head, "X-Signature-Timestamp", at, sizeof at);
    if (sodium_hex2bin(signature, sizeof signature, hex, strlen(hex), NULL, &n, NULL) ||
        n != sizeof signature)
        return false;
    n = (size_t)snprintf((char *)text, sizeof text, "%s%s", at, body);
    return crypto_sign_verify_detached(signature, text, n, e->key) == 0;
}

/* Reads one whole request; returns false if the client disconnected. */
static bool provider_read_request(int fd, struct request *r)
{
    char *bytes = mem_new(MAX_PAYLOAD_FORM_BYTES), length[32], *end = NULL;
    size_t n = 0, want = 0;

    while (!end || n < want) {
        ssize_t got = read(fd, bytes + n, MAX_PAYLOAD_FORM_BYTES - 1 - n);

        if (got <= 0) {
            mem_free(bytes);
            return false;
        }
        n += (size_t)got;
        bytes[n] = '\0';
        if (!end && (end = strstr(bytes, "\r\n\r\n")))
            want = (size_t)(end - bytes) + 4 +
                   strtoul(header(bytes, "Content-Length", length, sizeof length), NULL, 10);
    }
    end[2] = '\0';
    r->head = strdup(bytes);
    r->size = n - (size_t)(end + 4 - bytes);
    r->body = memcpy(malloc(r->size + 1), end + 4, r->size + 1);
    mem_free(bytes);
    return true;
}

/* --- responses ------------------------------------------------------------------------ */

static void reply(int fd, int status, const char *type, const char *more, const char *body)
{
    char *text = NULL;
    int n = asprintf(&text,
                     "HTTP/1.1 %d X\r\nContent-Type: %s\r\n%sContent-Length: %zu\r\nConnection: "
                     "close\r\n\r\n%s",
                     status, type, more, strlen(body), body);

    if (write(fd, text, (size_t)n) != n)
        perror("endpoint");
    free(text);
}

static void answer_ping(const struct endpoint *e, int fd, const struct request *r)
{
    static const char *const json = "application/json", *const pong = "{\"type\":1}";

    if (!r->good && e->manner != ENDPOINT_TRUSTS)
        reply(fd, 401, json, "", "{}");
    else if (e->manner == ENDPOINT_NO_JSON)
        reply(fd, 200, "text/html", "", pong);
    else if (e->manner == ENDPOINT_NO_PONG)
        reply(fd, 200, json, "", "{\"type\":4}");
    else if (e->manner == ENDPOINT_TEAPOT)
        reply(fd, 418, json, "", pong);
    else if (e->manner == ENDPOINT_ELSEWHERE)
        reply(fd, 302, json, "Location: /good\r\n", pong);
    else
        reply(fd, 200, json, "", pong);
}

static void serve(struct endpoint *e, int fd)
{
    struct request r;

    if (!provider_read_request(fd, &r))
        return;
    r.good = is_signed(e, r.head, r.body);
    pthread_mutex_lock(&e->lock);
    bool ping = e->manner != ENDPOINT_PUSH_SERVICE && !strstr(r.body, "\"channel_id\"");
    int after_ms = ping ? 0 : e->after_ms;
    if (e->count < MOST)
        e->requests[e->count++] = r;
    for (char bytes[64]; read(e->event_list[0], bytes, sizeof bytes) > 0;)
        ; /* responses set before the request are not new */
    pthread_mutex_unlock(&e->lock);

    struct pollfd fds[] = { { e->stop[0], POLLIN, 0 }, { e->event_list[0], POLLIN, 0 } };
    if (after_ms && poll(fds, 2, after_ms) && fds[0].revents)
        return;
    pthread_mutex_lock(&e->lock);
    if (ping)
        answer_ping(e, fd, &r);
    else
        reply(fd, e->status, e->type, "", e->answer);
    pthread_mutex_unlock(&e->lock);
}

static void *run(void *arg)
{
    struct endpoint *e = arg;

    for (;;) {
        struct pollfd fds[] = { { e->fd, POLLIN, 0 }, { e->stop[0], POLLIN, 0 } };

        poll(fds, 2, -1);
        if (fds[1].revents)
            return NULL;
        int fd = accept(e->fd, NULL, NULL);
        if (fd < 0)
            continue;
        serve(e, fd);
        close(fd);
    }
}

/* --- start and stop ------------------------------------------------------------------- */

struct endpoint *endpoint_open(struct world *w, const char *verify_key)
{
    struct endpoint *e = mem_new(sizeof *e);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    e->world = w;
    pthread_mutex_init(&e->lock, NULL);
    e->answer = strdup("");
    e->status = 202;
    snprintf(e->type, sizeof e->type, "application/json");
    sodium_hex2bin(e->key, sizeof e->key, verify_key, strlen(verify_key), NULL, NULL, NULL);
    e->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect(bind(e->fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(e->fd, 16) == 0);
    expect(getsockname(e->fd, (struct sockaddr *)&at, &size) == 0);
    snprintf(e->url, sizeof e->url, "http://127.0.0.1:%d/hook", ntohs(at.sin_port));
    expect(pipe(e->stop) == 0 && pipe2(e->event_list, O_NONBLOCK | O_CLOEXEC) == 0);
    expect(pthread_create(&e->thread, NULL, run, e) == 0);
    return e;
}

void endpoint_close(struct endpoint *e)
{
    if (write(e->stop[1], "x", 1) != 1)
        abort();
    pthread_join(e->thread, NULL);
    close(e->fd);
    close(e->stop[0]);
    close(e->stop[1]);
    close(e->event_list[0]);
    close(e->event_list[1]);
    for (int i = 0; i < e->count; i++) {
        free(e->requests[i].head);
        free(e->requests[i].body);
    }
    free(e->answer);
    pthread_mutex_destroy(&e->lock);
    mem_free(e);
}

const char *endpoint_url(const struct endpoint *e)
{
    return e->url;
}

void endpoint_behave(struct endpoint *e, enum endpoint_manner manner)
{
    pthread_mutex_lock(&e->lock);
    e->manner = manner;
    pthread_mutex_unlock(&e->lock);
}

void endpoint_answer(struct endpoint *e, int status, const char *content_type, const char *body,
                     int after_ms)
{
    pthread_mutex_lock(&e->lock);
    free(e->answer);
    e->status = status;
    e->after_ms = after_ms;
    e->answer = strdup(body);
    snprintf(e->type, sizeof e->type, "%s", content_type);
    for (char *p = e->answer; *p; p++)
        if (*p == '\'')
            *p = '"';
    if (write(e->event_list[1], "x", 1) != 1)
        abort();
    pthread_mutex_unlock(&e->lock);
}

/* --- received requests ---------------------------------------------------------------- */

int endpoint_count(struct endpoint *e)
{
    pthread_mutex_lock(&e->lock);
    int count = e->count;
    pthread_mutex_unlock(&e->lock);
    return count;
}

static const struct request *wait_for(struct endpoint *e, int n)
{
    expect_soon(endpoint_count(e) >= n);
    return &e->requests[n - 1];
}

const char *interactions_endpoint_request(struct endpoint *e, int n)
{
    return wait_for(e, n)->body;
}

struct str endpoint_body(struct endpoint *e, int n)
{
    const struct request *r = wait_for(e, n);

    return str_slice(r->body, r->size);
}

const char *endpoint_head(struct endpoint *e, int n)
{
    return wait_for(e, n)->head;
}

bool endpoint_signed(struct endpoint *e, int n)
{
    return wait_for(e, n)->good;
}
