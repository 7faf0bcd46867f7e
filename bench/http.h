/* http.h - a minimal HTTP client for load tests.
 *
 * One request at a time on a connection, answers with a Content-Length. Anything
 * else the server might do ends the program with a sentence: a measurement of
 * something unexpected is worth nothing. */
#ifndef BENCH_HTTP_H
#define BENCH_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct http {
    int fd;
    struct buf out; /* the request */
    struct buf in;  /* the response received so far */
    int64_t began;  /* clock_monotonic_ns when the request left */
};

struct answer {
    int status;
    struct str body;
    size_t size; /* bytes of head and body */
};

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);

/* Connects to 127.0.0.1 and waits for the connection. */
void http_open(struct http *h, uint16_t port);
void http_close(struct http *h);

/* Writes the request into h->out. token and body may be NULL. */
void http_request(struct http *h, const char *method, const char *path, const char *token,
                  const char *body);
/* Sends h->out. */
void http_send(struct http *h);
/* Reads the received bytes; returns true if the response is complete. It is valid until
 * http_send. Never waits. */
bool http_receive(struct http *h, struct answer *ret);
/* Waits for the response. */
struct answer http_wait(struct http *h);

#endif
