/* systemd.c - systemd: socket activation (LISTEN_FDS) and state notification (NOTIFY_SOCKET). */
#include "server/systemd.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"

enum { FIRST_SOCKET = 3 }; /* first file descriptor that systemd passes */

static uint64_t number_from_environment(const char *variable)
{
    const char *text = getenv(variable);
    uint64_t number;

    return text && str_to_u64(str_of(text), &number) ? number : 0;
}

bool systemd_listening_socket(int *ret)
{
    /* listening socket from systemd, for a later server of this process */
    static int inherited_socket;
    uint64_t count = number_from_environment("LISTEN_PID") == (uint64_t)getpid()
                         ? number_from_environment("LISTEN_FDS")
                         : 0;

    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    *ret = 0;
    if (count == 0 && !inherited_socket)
        return true;
    if (count > 1) {
        log_error(
            "systemd passed %llu sockets, but exactly one is allowed: use one ListenStream in "
            "the socket unit",
            (unsigned long long)count);
        return false;
    }
    inherited_socket = FIRST_SOCKET;
    fcntl(inherited_socket, F_SETFD, FD_CLOEXEC);
    *ret = fcntl(inherited_socket, F_DUPFD_CLOEXEC, inherited_socket);
    return *ret >= 0;
}

void systemd_notify_state(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t n = path ? strlen(path) : 0;

    if (n < 2 || n >= sizeof to.sun_path || !strchr("/@", path[0]))
        return;
    memcpy(to.sun_path, path, n);
    if (to.sun_path[0] == '@')
        /* NOTIFY_SOCKET is in the abstract namespace, whose addresses begin with a NUL byte */
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
        log_warn("cannot send the state %s to systemd (NOTIFY_SOCKET)", state);
    close(fd);
}
