/* mailbox.c - an SMTP server for tests. */
#include "mailbox.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "waits.h"

enum { MOST_MAILS = 32, LONGEST = 8192 };

static struct {
    pthread_t thread;
    int fd, stop[2];
    char url[64];
    _Atomic int manner, tries, count;
    char mails[MOST_MAILS][LONGEST];
} box;

/* --- one client ----------------------------------------------------------------------- */

static bool send_smtp_line(int fd, const char *line)
{
    return send(fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line);
}

/* Returns false if the client disconnected or the test is over. */
static bool wait_for_bytes(int fd)
{
    struct pollfd fds[] = { { fd, POLLIN, 0 }, { box.stop[0], POLLIN, 0 } };

    return poll(fds, 2, -1) > 0 && !fds[1].revents;
}

static bool read_line(int fd, char *line, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && wait_for_bytes(fd) && recv(fd, line + n, 1, 0) == 1)
        if (line[n++] == '\n') {
            line[n] = '\0';
            return true;
        }
    return false;
}

static bool receive_mail_text(int fd, const char *to)
{
    char line[1100], *mail = box.mails[box.count % MOST_MAILS];
    size_t n = (size_t)snprintf(mail, LONGEST, "to: %s\n", to);

    if (!send_smtp_line(fd, "354 go on\r\n"))
        return false;
    while (read_line(fd, line, sizeof line)) {
        if (strcmp(line, ".\r\n") == 0) {
            while (box.manner == MAILBOX_SILENT)
                if (poll(&(struct pollfd){ box.stop[0], POLLIN, 0 }, 1, 5) > 0)
                    return false;
            box.count++;
            return send_smtp_line(fd, "250 taken\r\n");
        }
        n += (size_t)snprintf(mail + n, LONGEST - n, "%s", line);
    }
    return false;
}

static bool answer_receiver(int fd, const char *line, char *to, size_t size)
{
    box.tries++;
    snprintf(to, size, "%.*s", (int)strcspn(line + 9, ">"), line + 9);
    return send_smtp_line(fd, box.manner == MAILBOX_BUSY      ? "451 later\r\n"
                              : box.manner == MAILBOX_REFUSES ? "550 nobody here\r\n"
                                                              : "250 fine\r\n");
}

static void serve_mail(int fd)
{
    char line[1100], to[300] = "";
    bool ok = send_smtp_line(fd, "220 test\r\n");

    while (ok && read_line(fd, line, sizeof line)) {
        if (strncasecmp(line, "RCPT TO:<", 9) == 0)
            ok = answer_receiver(fd, line, to, sizeof to);
        else if (strncasecmp(line, "DATA", 4) == 0)
            ok = receive_mail_text(fd, to);
        else
            ok = send_smtp_line(fd,
                                strncasecmp(line, "QUIT", 4) == 0 ? "221 bye\r\n" : "250 fine\r\n");
    }
    close(fd);
}

static void *mailbox_run(void *arg)
{
    (void)arg;
    while (wait_for_bytes(box.fd)) {
        int fd = accept(box.fd, NULL, NULL);

        if (fd >= 0)
            serve_mail(fd);
    }
    return NULL;
}

/* --- for tests ------------------------------------------------------------------------ */

void with_mail(struct config *config)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    memset(&box, 0, sizeof box);
    box.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect(bind(box.fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(box.fd, 8) == 0);
    expect(getsockname(box.fd, (struct sockaddr *)&at, &size) == 0 && pipe(box.stop) == 0);
    snprintf(box.url, sizeof box.url, "smtp://127.0.0.1:%d", ntohs(at.sin_port));
    expect(pthread_create(&box.thread, NULL, mailbox_run, NULL) == 0);
    config->smtp_url = box.url;
    config->smtp_from = "Guildhall <no-reply@chat.example>";
    config->public_url = "http://chat.example";
    config->registration = "open";
}

void mailbox_close(void)
{
    expect(write(box.stop[1], "x", 1) == 1);
    pthread_join(box.thread, NULL);
    close(box.fd);
    close(box.stop[0]);
    close(box.stop[1]);
}

void mailbox_behave(enum mailbox_manner manner)
{
    box.manner = (int)manner;
}

int mailbox_tries(void)
{
    return box.tries;
}

int mailbox_count(void)
{
    return box.count;
}

const char *mailbox_mail(int n)
{
    expect_soon(box.count >= n);
    return box.mails[n - 1];
}

const char *mailbox_token(struct world *w, int n, const char *page)
{
    char before[100];

    snprintf(before, sizeof before, "http://chat.example/%s#token=", page);
    const char *at = strstr(mailbox_mail(n), before);
    expect(at);
    at += strlen(before);
    return str_dup_cstring(world_arena(w), str_slice(at, strcspn(at, "\r\n")));
}
