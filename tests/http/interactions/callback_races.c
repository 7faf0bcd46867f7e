/* callback_races.c - concurrent responses to the same interaction. */
#include "test_interaction.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 10, ASKS = 20, RACERS = 4 };

static struct test_interaction asks[ASKS];
static _Atomic int won[ASKS], lost[ASKS], unexpected;

struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    int fd, number;
};

/* Sends the request by hand, because the test client is for one thread. */
static void send_interaction_callback_in_thread(int fd, int racer, int i)
{
    char body[100], head[600], answer[8192];
    int n = snprintf(body, sizeof body, "{\"type\":4,\"data\":{\"content\":\"racer %d\"}}", racer);
    int length = snprintf(head, sizeof head,
                          "POST /api/v10/interactions/%s/%s/callback HTTP/1.1\r\nHost: x\r\n"
                          "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                          asks[i].id, asks[i].token, n, body);

    if (send(fd, head, (size_t)length, 0) != length)
        return;
    ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
    answer[got > 0 ? got : 0] = '\0';
    if (strncmp(answer, "HTTP/1.1 204", 12) == 0)
        won[i]++;
    else if (strncmp(answer, "HTTP/1.1 400", 12) == 0 && strstr(answer, "40060"))
        lost[i]++;
    else
        unexpected++;
}

static void *run_racer(void *arg)
{
    struct racer *r = arg;

    pthread_barrier_wait(r->start);
    for (int i = 0; i < ASKS; i++)
        send_interaction_callback_in_thread(r->fd, r->number, i);
    return NULL;
}

static void send_interaction_callbacks_concurrently(struct test_bot *s)
{
    struct racer racers[RACERS];
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < ASKS; i++) {
        asks[i] = INTERACTION(s);
        won[i] = lost[i] = 0;
    }
    for (int r = 0; r < RACERS; r++) {
        racers[r] = (struct racer){ .start = &start, .fd = client_dial(s->bot), .number = r };
        expect(pthread_create(&racers[r].thread, NULL, run_racer, &racers[r]) == 0);
    }
    for (int r = 0; r < RACERS; r++) {
        pthread_join(racers[r].thread, NULL);
        close(racers[r].fd);
    }
    pthread_barrier_destroy(&start);
}

static void exactly_one_of_many_concurrent_responses_wins(struct world *w)
{
    struct test_bot s = world_test_bot(w);

    unexpected = 0;
    for (int round = 0; round < ROUNDS; round++) {
        send_interaction_callbacks_concurrently(&s);
        for (int i = 0; i < ASKS; i++) {
            expect(won[i] == 1);
            expect(lost[i] == RACERS - 1);
        }
    }
    expect(unexpected == 0);
    expect(world_number(w, "select count(*) from messages") == ROUNDS * ASKS);
    expect(world_number(w, "select count(*) from interactions where state = 1") == ROUNDS * ASKS);
}

/* --- many writers --------------------------------------------------------------------- */

enum { WRITERS = 16, FOLLOW_UPS = 4, WRITTEN = ASKS * WRITERS / 4 };

static struct test_interaction own_asks[WRITTEN];

static bool request_succeeds(int fd, const char *path, const char *body, const char *status)
{
    char bytes[1024], answer[8192];
    int n = snprintf(bytes, sizeof bytes,
                     "POST /api/v10%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     path, strlen(body), body);

    if (send(fd, bytes, (size_t)n, 0) != n)
        return false;
    ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
    answer[got > 0 ? got : 0] = '\0';
    if (strncmp(answer, status, strlen(status)) == 0)
        return true;
    printf("%s: %s\n", path, answer);
    return false;
}

/* Each writer responds to interactions of its own and follows up, all in one channel. */
static void *write_responses(void *arg)
{
    struct racer *r = arg;

    pthread_barrier_wait(r->start);
    for (int i = r->number; i < WRITTEN; i += WRITERS) {
        const struct test_interaction *a = &own_asks[i];
        char path[400];

        snprintf(path, sizeof path, "/interactions/%s/%s/callback", a->id, a->token);
        unexpected += !request_succeeds(r->fd, path, "{\"type\":4,\"data\":{\"content\":\"a\"}}",
                                        "HTTP/1.1 204");
        snprintf(path, sizeof path, "/webhooks/%s/%s", a->application, a->token);
        for (int k = 0; k < FOLLOW_UPS; k++)
            unexpected += !request_succeeds(r->fd, path, "{\"content\":\"b\"}", "HTTP/1.1 200");
    }
    return NULL;
}

static void sixteen_concurrent_responders_are_all_accepted(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct racer racers[WRITERS];
    pthread_barrier_t start;

    unexpected = 0;
    for (int i = 0; i < WRITTEN; i++)
        own_asks[i] = INTERACTION(&s);
    pthread_barrier_init(&start, NULL, WRITERS);
    for (int r = 0; r < WRITERS; r++) {
        racers[r] = (struct racer){ .start = &start, .fd = client_dial(s.bot), .number = r };
        expect(pthread_create(&racers[r].thread, NULL, write_responses, &racers[r]) == 0);
    }
    for (int r = 0; r < WRITERS; r++) {
        pthread_join(racers[r].thread, NULL);
        close(racers[r].fd);
    }
    pthread_barrier_destroy(&start);
    expect(unexpected == 0);
    expect(world_number(w, "select count(*) from messages") == WRITTEN * (1 + FOLLOW_UPS));
}

static void configure_disabled_rate_limits(struct config *c)
{
    c->rate_limits = false;
}

const struct test callback_races_tests[] = {
    TEST_WITH(exactly_one_of_many_concurrent_responses_wins, configure_disabled_rate_limits),
    TEST_WITH(sixteen_concurrent_responders_are_all_accepted, configure_disabled_rate_limits),
    { 0 },
};
