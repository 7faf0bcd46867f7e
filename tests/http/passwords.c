/* passwords.c - what it costs to check passwords, and who may guess. */
#include "world.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "rooms.h"
#include "venues.h"

/* --- the line before the threads ------------------------------------------------------ */

enum { LINE = 6 };

/* One thread, and a hash takes it some tenths of a second. */
static void slow_and_few(struct config *config)
{
    config->password_memory_mib = 64;
    config->password_passes = 8;
    config->password_threads = 1;
    config->password_queue = LINE;
}

static int start_login(struct world *w)
{
    static const char login[] = "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                "Content-Type: application/json\r\nContent-Length: 33\r\n\r\n"
                                "{\"login\":\"nobody\",\"password\":\"x\"}";
    int fd = client_dial(world_stranger(w));

    expect(send(fd, login, sizeof login - 1, 0) == sizeof login - 1);
    return fd;
}

/* The status of the answer, its text in text. */
static int finish_login(int fd, char text[2048])
{
    size_t n = 0;
    ssize_t got;

    while (n < 2047 && (got = recv(fd, text + n, 2047 - n, 0)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fd);
    expect(n > 12);
    return atoi(text + 9);
}

static uint64_t requests(struct world *w)
{
    struct server_stats stats;

    server_stats(api_server(guildhall_api(world_server(w))), &stats);
    return stats.requests;
}

static void await_requests(struct world *w, uint64_t count)
{
    while (requests(w) < count)
        usleep(1000);
}

static void who_finds_the_line_full_is_told_to_come_back(struct world *w)
{
    int fds[3 * LINE], refused = 0, checked = 0;
    char text[2048];

    for (int i = 0; i < 3 * LINE; i++)
        fds[i] = start_login(w);
    for (int i = 0; i < 3 * LINE; i++) {
        int status = finish_login(fds[i], text);

        if (status == 503) {
            expect(strstr(text, "Retry-After: 5\r\n") && strstr(text, "\"code\":40016"));
            refused++;
        } else {
            expect(status == 400 && strstr(text, "INVALID_LOGIN"));
            checked++;
        }
    }
    expect(refused >= 1 && checked >= LINE);
}

static void files_do_not_wait_for_passwords(struct world *w)
{
    static const struct upload hello[] = { { "files[0]", "hello.txt", STR_INIT("hello") }, { 0 } };
    struct client *ada = world_client(w, "ada");
    struct venue v = world_venue(w, ada);
    uint64_t before = requests(w);
    int fds[LINE];
    char text[2048];

    for (int i = 0; i < LINE; i++)
        fds[i] = start_login(w);
    await_requests(w, before + LINE);
    expect_status(client_upload(ada, "POST", "{}", hello, "/channels/%s/messages", v.channel), 200);
    expect(poll(&(struct pollfd){ .fd = fds[LINE - 1], .events = POLLIN }, 1, 0) == 0);
    for (int i = 0; i < LINE; i++)
        expect(finish_login(fds[i], text) == 400);
}

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nothing_is_hashed_for_clients_that_have_gone(struct world *w)
{
    struct linger at_once = { .l_onoff = 1 };
    char text[2048];
    double before = processor_time();
    int gone[LINE - 1];

    expect(finish_login(start_login(w), text) == 400);
    double one = processor_time() - before;

    before = processor_time();
    int first = start_login(w);
    for (int i = 0; i < LINE - 1; i++)
        gone[i] = start_login(w);
    await_requests(w, 1 + LINE);
    for (int i = 0; i < LINE - 1; i++) {
        setsockopt(gone[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(gone[i]);
    }
    expect(finish_login(first, text) == 400);
    expect(finish_login(start_login(w), text) == 400);
    expect(processor_time() - before < 4 * one);
}

const struct test passwords_tests[] = {
    TEST_WITH(who_finds_the_line_full_is_told_to_come_back, slow_and_few),
    TEST_WITH(files_do_not_wait_for_passwords, slow_and_few),
    TEST_WITH(nothing_is_hashed_for_clients_that_have_gone, slow_and_few),
    { 0 },
};
