/* races.c - commands that change during an invocation, and concurrent invocations. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test_commands.h"
#include "pool.h"

/* --- a command that changes after it was read ----------------------------------------- */

#define PART(head) "--x\r\nContent-Disposition: form-data; " head "\r\n\r\n"

/* Sends an invocation of /roll with a file without waiting for the response. */
static int send_roll_with_file(struct test_commands *s, const char *command)
{
    int fd = client_dial(s->bob);
    const char *body = TEXT(
        s->world,
        PART(
            "name='payload_json'") "{'type': 2, 'application_id': '%s', 'channel_id': '%s', "
                                   "'guild_id': '%s', 'data': {'id': '%s', 'version': '%s', 'name': 'roll', 'options': "
                                   "[{'name': 'o', 'type': 11, 'value': '0'}], 'attachments': [{'id': '0', 'filename': "
                                   "'a.txt'}]}}\r\n" PART(
                                       "name='files[0]'; filename='a.txt'") "hello\r\n--x--\r\n",
        s->application, s->test_guild.channel, s->test_guild.id, command, command);
    const char *all = TEXT(s->world,
                           "POST /api/v10/interactions HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n"
                           "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: "
                           "%zu\r\n\r\n%s",
                           s->bob->authorization, strlen(body), body);
    size_t n = strlen(all);

    /* Single quotes become double quotes, as in bodies of tests. */
    char *bytes = strdup(all);
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '\'')
            bytes[i] = '"';
    expect(send(fd, bytes, n, 0) == (ssize_t)n);
    free(bytes);
    return fd;
}

static const char *read_response(struct test_commands *s, int fd)
{
    char text[4096];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return TEXT(s->world, "%s", text);
}

static void command_changed_during_its_invocation_is_outdated(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *file = "'options': [{'name': 'o', 'description': 'O', 'type': 11}]";
    const char *same = make_global_command(&s, "%s", file),
               *changed = make_global_command(&s, "%s", file),
               *gone = make_global_command(&s, "%s", file);

    pool_hold();
    int one = send_roll_with_file(&s, same), two = send_roll_with_file(&s, changed),
        three = send_roll_with_file(&s, gone);
    pool_await(w, 3);
    world_sql(w, "update commands set version = version + 1 where id = %s", changed);
    world_sql(w, "delete from commands where id = %s", gone);
    pool_release();

    expect(strstr(read_response(&s, one), "HTTP/1.1 204"));
    const int others[] = { two, three };
    for (int i = 0; i < 2; i++) {
        const char *answer = read_response(&s, others[i]);

        expect(strstr(answer, "HTTP/1.1 400"));
        expect(strstr(answer, "INTERACTION_APPLICATION_COMMAND_INVALID_VERSION"));
    }
    expect(interactions_received(&s) == 1);
    expect(world_number(w, "select count(*) from interactions") == 1);
    expect(world_number(w, "select count(*) from interaction_files") == 1);
}

/* --- concurrent invocations ----------------------------------------------------------- */

enum { ROUNDS = 10, RACERS = 4 };

static _Atomic int accepted;

struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    const char *request;
    int fd;
};

static void *run_racer(void *arg)
{
    struct racer *r = arg;
    char text[4096];

    pthread_barrier_wait(r->start);
    if (send(r->fd, r->request, strlen(r->request), 0) > 0 &&
        recv(r->fd, text, sizeof text, 0) > 12 && memcmp(text, "HTTP/1.1 204", 12) == 0)
        accepted++;
    return NULL;
}

static void run_race(struct test_commands *s, const char *request)
{
    struct racer racers[RACERS];
    pthread_barrier_t start;

    accepted = 0;
    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){ .start = &start, .request = request };
        racers[i].fd = client_dial(s->bob);
        expect(pthread_create(&racers[i].thread, NULL, run_racer, &racers[i]) == 0);
    }
    for (int i = 0; i < RACERS; i++) {
        pthread_join(racers[i].thread, NULL);
        close(racers[i].fd);
    }
    pthread_barrier_destroy(&start);
}

static void app_receives_concurrent_invocations_with_one_nonce_once(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = make_global_command(&s, "%s", "");

    for (int i = 0; i < ROUNDS; i++) {
        const char *body =
            TEXT(w,
                 "{\"type\":2,\"application_id\":\"%s\",\"channel_id\":\"%s\",\"guild_id\":\"%s\","
                 "\"nonce\":\"n%d\",\"data\":{\"id\":\"%s\",\"version\":\"%s\",\"name\":\"roll\"}}",
                 s.application, s.test_guild.channel, s.test_guild.id, i, id, id);

        run_race(&s, TEXT(w,
                          "POST /api/v10/interactions HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          s.bob->authorization, strlen(body), body));
        expect(accepted == RACERS);
        expect(interactions_received(&s) == (size_t)i + 1);
    }
    expect(world_number(w, "select count(*) from interactions") == ROUNDS);
}

const struct test interactions_races_tests[] = {
    TEST(command_changed_during_its_invocation_is_outdated),
    TEST(app_receives_concurrent_invocations_with_one_nonce_once),
    { 0 },
};
