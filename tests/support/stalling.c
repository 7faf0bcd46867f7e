/* stalling.c - a proxy to PostgreSQL behind a Unix socket that can be paused. */
#include "support/stalling.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 128, READ_MS = 20 };

static char folder[64], behind[108];
static _Atomic bool is_stalled, ends;
static pthread_t thread;
static int listener;

static int socket_at(const char *where, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(address->sun_path, sizeof address->sun_path, "%s/.s.PGSQL.5432", where);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Descriptors 2 i + 1 and 2 i + 2 are a pair; -1: a free slot. */
static void accept_proxied_connection(struct pollfd *fds)
{
    struct sockaddr_un address;
    int client = accept(listener, NULL, NULL), server = socket_at(behind, &address);

    for (int i = 1; i + 1 < MOST && client >= 0; i += 2)
        if (fds[i].fd < 0 && connect(server, (void *)&address, sizeof address) == 0) {
            fds[i] = (struct pollfd){ .fd = client, .events = POLLIN };
            fds[i + 1] = (struct pollfd){ .fd = server, .events = POLLIN };
            return;
        }
    close(client);
    close(server);
}

static bool pass_on(int from, int to)
{
    char bytes[65536];
    ssize_t n = read(from, bytes, sizeof bytes), done = 0;

    while (n > 0 && done < n) {
        ssize_t sent = send(to, bytes + done, (size_t)(n - done), MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        done += sent;
    }
    return n > 0;
}

static void *pass_all(void *arg)
{
    struct pollfd fds[MOST];

    (void)arg;
    for (int i = 0; i < MOST; i++)
        fds[i] = (struct pollfd){ .fd = i ? -1 : listener, .events = POLLIN };
    while (!ends) {
        if (is_stalled || poll(fds, MOST, READ_MS) <= 0) {
            usleep(is_stalled ? READ_MS * 1000 : 0);
            continue;
        }
        for (int i = 1; i < MOST; i++) {
            int other = i % 2 ? i + 1 : i - 1;

            if (fds[i].fd < 0 || !fds[i].revents || pass_on(fds[i].fd, fds[other].fd))
                continue;
            close(fds[i].fd);
            close(fds[other].fd);
            fds[i].fd = fds[other].fd = -1;
        }
        if (fds[0].revents)
            accept_proxied_connection(fds);
    }
    for (int i = 0; i < MOST; i++)
        if (fds[i].fd >= 0)
            close(fds[i].fd);
    return NULL;
}

const char *stalling_start(void)
{
    const char *where = getenv("GUILDHALL_TEST_POSTGRES");
    const char *host = where ? strstr(where, "host=") : NULL;
    struct sockaddr_un address;

    assert(host);
    snprintf(behind, sizeof behind, "%.*s", (int)strcspn(host + 5, " "), host + 5);
    snprintf(folder, sizeof folder, "/tmp/guildhall-stalling.XXXXXX");
    if (!mkdtemp(folder))
        abort();
    listener = socket_at(folder, &address);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 64))
        abort();
    ends = is_stalled = false;
    pthread_create(&thread, NULL, pass_all, NULL);
    return folder;
}

void stalling_set(bool stalled)
{
    is_stalled = stalled;
}

void stalling_end(void)
{
    char path[108];

    ends = true;
    pthread_join(thread, NULL);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", folder);
    unlink(path);
    rmdir(folder);
}
