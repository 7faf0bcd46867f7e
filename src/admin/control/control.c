/* control.c - the control socket: server side and client side. */
#include "admin/control/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum {
    REQUEST_MAX_BYTES = 4096,
    REPLY_MAX_BYTES = 256 * 1024 * 1024,
    CLIENT_TIMEOUT_S = 5, /* server: time limit for receiving a request and for sending the reply */
    REPLY_TIMEOUT_S = 60, /* client: time limit for the reply */
    ACCEPT_PAUSE_MS = 100,
};

/* Name of the socket file. If several servers share the folder, "-NODE" is appended. */
static const char FILE_NAME[] = "control";

struct control {
    char name[32];
    const struct control_socket_command *rows;
    void *arg;
    int folder, listener, stop; /* file descriptors, or -1 */
    bool running;
    pthread_t thread;
};

/* Path and open descriptor of the data folder. */
struct control_folder {
    const char *path;
    int fd;
};

/* Writes the address of the socket. If the path is too long for a socket address, uses the path in
 * /proc/self/fd. */
static void make_socket_address(const struct control_folder *at, const char *name,
                                struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if ((size_t)snprintf(ret->sun_path, sizeof ret->sun_path, "%s/%.31s", at->path, name) >=
        sizeof ret->sun_path)
        snprintf(ret->sun_path, sizeof ret->sun_path, "/proc/self/fd/%d/%.31s", at->fd, name);
}

/* Sets the socket timeouts in seconds; 0 means no timeout. */
static void set_socket_timeouts(int fd, int64_t seconds)
{
    struct timeval patience = { .tv_sec = seconds };

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

static bool send_all_bytes(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t sent = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes = str_skip_bytes(bytes, (size_t)sent);
    }
    return true;
}

static struct str read_request_line(int fd, char *room)
{
    size_t n = 0;

    while (n < REQUEST_MAX_BYTES && !memchr(room, '\n', n)) {
        ssize_t got = recv(fd, room + n, REQUEST_MAX_BYTES - n, 0);

        if (got <= 0)
            break;
        n += (size_t)got;
    }
    struct str rest = str_slice(room, n);
    return str_cut(&rest, '\n');
}

/* Returns the user id of the client, as the kernel reports it. */
static unsigned read_client_uid(int fd)
{
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t size = sizeof peer;

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer.uid;
}

static void serve_control_request(const struct control *c, int fd)
{
    char room[REQUEST_MAX_BYTES];
    struct buf out;

    set_socket_timeouts(fd, CLIENT_TIMEOUT_S);
    buf_init(&out, REPLY_MAX_BYTES);
    struct str rest = read_request_line(fd, room), word = str_cut(&rest, ' ');
    const struct control_socket_command *row = c->rows;
    while (row->word && !str_is(word, row->word))
        row++;
    if (row->word)
        row->write_reply(c->arg, read_client_uid(fd), rest, &out);
    if (buf_is_full(&out))
        log_warn("control: a reply to a command exceeds the size limit and was not sent");
    else
        send_all_bytes(fd, buf_as_str(&out));
    explicit_bzero(room, sizeof room); /* the request may contain a password */
    buf_clear(&out);
}

static void *run_control_thread(void *arg)
{
    const struct control *c = arg;
    struct pollfd both[] = { { .fd = c->listener, .events = POLLIN },
                             { .fd = c->stop, .events = POLLIN } };

    while (poll(both, 2, -1) >= 0 || errno == EINTR) {
        if (both[1].revents)
            break;
        int fd = both[0].revents ? accept4(c->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd < 0) {
            /* No file descriptors are left. The connection stays pending, so wait before the next
             * accept. */
            if (both[0].revents)
                poll(&both[1], 1, ACCEPT_PAUSE_MS);
            continue;
        }
        serve_control_request(c, fd);
        close(fd);
    }
    return NULL;
}

static bool open_control_listener(struct control *c, const char *path)
{
    struct sockaddr_un at;

    make_socket_address(&(struct control_folder){ path, c->folder }, c->name, &at);
    unlinkat(c->folder, c->name, 0); /* remove the socket file that a killed server has left */
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* Set the file mode before listen, because clients can connect as soon as the socket
     * listens. */
    return c->listener >= 0 && bind(c->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
           fchmodat(c->folder, c->name, 0600, 0) == 0 && listen(c->listener, 8) == 0;
}

enum err control_socket_open(const char *folder, int node,
                             const struct control_socket_command *rows, void *arg,
                             struct control **ret)
{
    struct control *c = mem_new(sizeof *c);

    *c = (struct control){ .rows = rows, .arg = arg, .listener = -1 };
    if (node < 0)
        snprintf(c->name, sizeof c->name, "%s", FILE_NAME);
    else
        snprintf(c->name, sizeof c->name, "%s-%d", FILE_NAME, node);
    c->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    c->stop = eventfd(0, EFD_CLOEXEC);
    if (c->folder < 0 || c->stop < 0 || !open_control_listener(c, folder)) {
        log_warn("control: cannot create the socket for operator commands in '%s': %s", folder,
                 strerror(errno));
        control_socket_close(c);
        return ERR_UNAVAILABLE;
    }
    c->running = pthread_create(&c->thread, NULL, run_control_thread, c) == 0;
    *ret = c;
    return OK;
}

static void close_descriptor_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void control_socket_close(struct control *c)
{
    if (!c)
        return;
    if (c->running) {
        eventfd_write(c->stop, 1);
        pthread_join(c->thread, NULL);
        unlinkat(c->folder, c->name, 0);
    }
    close_descriptor_if_open(c->listener);
    close_descriptor_if_open(c->stop);
    close_descriptor_if_open(c->folder);
    mem_free(c);
}

/* Maps the errno of a failed request to an API error. */
static enum err error_from_errno(void)
{
    if (errno == EACCES || errno == EPERM)
        return ERR_FORBIDDEN;
    return errno == EAGAIN || errno == EWOULDBLOCK ? ERR_OVERLOADED : ERR_UNAVAILABLE;
}

static enum err connect_to_control_socket(const struct control_folder *location, const char *name,
                                          int64_t seconds, int *ret)
{
    struct sockaddr_un at;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return ERR_UNAVAILABLE;
    set_socket_timeouts(fd, seconds);
    make_socket_address(location, name, &at);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        enum err e = error_from_errno();

        close(fd);
        return e;
    }
    *ret = fd;
    return OK;
}

static enum err send_request_to_socket(const struct control_folder *location, const char *name,
                                       int64_t seconds, const char *question, struct buf *out)
{
    ssize_t got = -1;
    int fd;
    enum err e = connect_to_control_socket(location, name, seconds, &fd);

    if (e)
        return e;
    if (send_all_bytes(fd, str_of(question)) && send_all_bytes(fd, STR("\n"))) {
        char *at;

        while ((at = buf_reserve(out, 65536)) && (got = recv(fd, at, 65536, 0)) > 0)
            out->n += (size_t)got;
    }
    e = got == 0 ? OK : error_from_errno();
    close(fd);
    return e;
}

static bool is_control_socket(const struct dirent *d)
{
    return strncmp(d->d_name, FILE_NAME, sizeof FILE_NAME - 1) == 0;
}

static enum err send_request_to_servers(const char *folder, const char *question, int64_t seconds,
                                        bool all, struct buf *out)
{
    DIR *dir = opendir(folder);
    enum err e = dir ? ERR_UNAVAILABLE : error_from_errno();

    for (const struct dirent *d; dir && (d = readdir(dir));) {
        /* After a timeout, do not send the request to another server, because the first server may
         * still run the command. */
        if (!is_control_socket(d) || (!all && (!e || e == ERR_OVERLOADED)))
            continue;
        struct control_folder location = { folder, dirfd(dir) };
        enum err one = send_request_to_socket(&location, d->d_name, seconds, question, out);
        /* Ignore socket files of servers that have stopped. */
        if (!one || (e && one != ERR_UNAVAILABLE))
            e = one;
    }
    if (dir)
        closedir(dir);
    return e;
}

enum err control_socket_send_request(const char *folder, const char *question, struct buf *out)
{
    return send_request_to_servers(folder, question, REPLY_TIMEOUT_S, false, out);
}

enum err control_socket_send_request_to_all_servers(const char *folder, const char *question,
                                                    struct buf *out)
{
    return send_request_to_servers(folder, question, REPLY_TIMEOUT_S, true, out);
}

enum err control_socket_send_request_with_timeout(const char *folder, const char *question,
                                                  int64_t seconds, struct buf *out)
{
    return send_request_to_servers(folder, question, seconds, false, out);
}
