/* silence.c - a wire that can fall silent: one thread that passes bytes on. */
#include "support/silence.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

enum { MOST = 32, LOOK_MS = 10 };

/* Ends of one connection; both -1: free. */
struct wire {
    int ends[2];
    bool silent;
};

struct silence {
    char *where, folder[90];
    int listener;
    pthread_t thread;
    atomic_bool silent, over;
    atomic_int way_ms;
    atomic_uint turns;
    struct wire wires[MOST];
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

static void accept_one(struct silence *s)
{
    int fd = accept(s->listener, NULL, NULL);

    for (int i = 0; fd >= 0 && i < MOST; i++) {
        if (s->wires[i].ends[0] < 0) {
            s->wires[i] = (struct wire){ { fd, dial_server(s) }, false };
            return;
        }
    }
    abort();
}

static void hang_up(struct wire *w)
{
    close(w->ends[0]);
    close(w->ends[1]);
    w->ends[0] = w->ends[1] = -1;
}

/* From one end to the other; false when it ended. */
static bool pass_on(const struct wire *w, int from, int way_ms)
{
    char bytes[65536];
    ssize_t n = recv(w->ends[from], bytes, sizeof bytes, MSG_DONTWAIT);

    if (n > 0 && from == 0 && way_ms)
        usleep((useconds_t)way_ms * 1000);
    return n > 0 && send(w->ends[!from], bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

static void turn(struct silence *s)
{
    struct pollfd polls[2 * MOST + 1] = { { .fd = s->silent ? -1 : s->listener,
                                            .events = POLLIN } };

    for (int i = 0; i < 2 * MOST; i++) {
        struct wire *w = &s->wires[i / 2];

        w->silent = w->silent || (s->silent && w->ends[0] >= 0);
        polls[i + 1] = (struct pollfd){ .fd = w->silent ? -1 : w->ends[i % 2], .events = POLLIN };
    }
    poll(polls, 2 * MOST + 1, LOOK_MS);
    for (int i = 0; i < 2 * MOST; i++)
        if (polls[i + 1].revents && s->wires[i / 2].ends[0] >= 0 &&
            !pass_on(&s->wires[i / 2], i % 2, s->way_ms))
            hang_up(&s->wires[i / 2]);
    if (polls[0].revents)
        accept_one(s);
}

static void *pass_all(void *arg)
{
    struct silence *s = arg;

    for (; !s->over; s->turns++)
        turn(s);
    return NULL;
}

static void open_listener(struct silence *s, const char *rest)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(s->listener, (struct sockaddr *)&a, n) != 0 || listen(s->listener, MOST) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&a, &n) != 0)
        abort();
    size_t room = strlen(rest) + 64;
    s->where = mem_new(room);
    snprintf(s->where, room, "host=127.0.0.1 port=%d sslmode=disable%s", ntohs(a.sin_port), rest);
}

struct silence *silence_new(const char *where)
{
    struct silence *s = mem_new(sizeof *s);
    const char *rest = strchr(where, ' ');

    if (!rest || sscanf(where, "host=%89s", s->folder) != 1)
        abort();
    for (int i = 0; i < MOST; i++)
        s->wires[i].ends[0] = s->wires[i].ends[1] = -1;
    open_listener(s, rest);
    if (pthread_create(&s->thread, NULL, pass_all, s) != 0)
        abort();
    return s;
}

const char *silence_where(const struct silence *s)
{
    return s->where;
}

void silence_begin(struct silence *s)
{
    s->silent = true;
    for (unsigned before = s->turns; s->turns - before < 2;)
        usleep(1000); /* until the thread has looked */
}

void silence_stretch(struct silence *s, int ms)
{
    s->way_ms = ms;
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
    mem_free(s->where);
    mem_free(s);
}
