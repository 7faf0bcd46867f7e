/* load_hold.c - many open connections: idle ones, and listeners. */
#include "load.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http.h"

/* Opens the connections one after the other, with one response each. */
static struct http *open_all(const struct options *o)
{
    struct http *all = mem_new(o->connections * sizeof *all);

    if (!o->path)
        die("this mode needs --path");
    for (size_t i = 0; i < o->connections; i++) {
        http_open(&all[i], o->port);
        http_request(&all[i], "GET", o->path, o->token, NULL);
        http_send(&all[i]);
        struct answer a = http_wait(&all[i]);
        if (a.status >= 400)
            die("'%s' returned status %d", o->path, a.status);
        buf_clear(&all[i].out);
        buf_clear(&all[i].in);
    }
    return all;
}

static void close_all(struct http *all, const struct options *o)
{
    for (size_t i = 0; i < o->connections; i++)
        http_close(&all[i]);
    mem_free(all);
}

void load_idle(const struct options *o)
{
    struct http *all = open_all(o);
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

    printf("{\"connections\":%llu}\n", (unsigned long long)o->connections);
    fflush(stdout);
    poll(&in, 1, (int)(o->seconds * 1000));
    close_all(all, o);
}

static void message_wait(struct http *h, uint64_t size)
{
    char bytes[16384];

    for (uint64_t left = size; left;) {
        ssize_t got = recv(h->fd, bytes, left < sizeof bytes ? left : sizeof bytes, 0);
        if (got <= 0)
            die("a listener was closed");
        left -= (uint64_t)got;
    }
}

void load_fanout(const struct options *o)
{
    struct http *all = open_all(o), poster;
    int64_t began = clock_monotonic_ns(), deadline = began + (int64_t)(o->seconds * 1e9);
    uint64_t posts = 0;

    if (!o->message)
        die("fanout needs --message");
    http_open(&poster, o->port);
    http_request(&poster, "POST", o->path, o->token, NULL);
    while (clock_monotonic_ns() < deadline && (!o->count || posts < o->count)) {
        http_send(&poster);
        http_wait(&poster);
        for (size_t i = 0; i < o->connections; i++)
            message_wait(&all[i], o->message);
        posts++;
    }
    printf("{\"posts\":%llu,\"events\":%llu,\"seconds\":%.6f}\n", (unsigned long long)posts,
           (unsigned long long)(posts * o->connections),
           (double)(clock_monotonic_ns() - began) / 1e9);
    http_close(&poster);
    close_all(all, o);
}
