/* callback_races.c - sessions of one bot that answer the same interaction at once. */
#include "asks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 10, ASKS = 20, RACERS = 4 };

static struct ask asks[ASKS];
static _Atomic int won[ASKS], lost[ASKS], strange;

struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    int fd, number;
};

/* The status and the error's code, by hand: what tests use elsewhere is for one thread. */
static void race(int fd, int racer, int i)
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
        strange++;
}

static void *run(void *arg)
{
    struct racer *r = arg;

    pthread_barrier_wait(r->start);
    for (int i = 0; i < ASKS; i++)
        race(r->fd, r->number, i);
    return NULL;
}

static void run_round(struct stage *s)
{
    struct racer racers[RACERS];
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < ASKS; i++) {
        asks[i] = ASK(s);
        won[i] = lost[i] = 0;
    }
    for (int r = 0; r < RACERS; r++) {
        racers[r] = (struct racer){ .start = &start, .fd = client_dial(s->bot), .number = r };
        expect(pthread_create(&racers[r].thread, NULL, run, &racers[r]) == 0);
    }
    for (int r = 0; r < RACERS; r++) {
        pthread_join(racers[r].thread, NULL);
        close(racers[r].fd);
    }
    pthread_barrier_destroy(&start);
}

static void of_many_answers_exactly_one_wins(struct world *w)
{
    struct stage s = world_stage(w);

    strange = 0;
    for (int round = 0; round < ROUNDS; round++) {
        run_round(&s);
        for (int i = 0; i < ASKS; i++) {
            expect(won[i] == 1);
            expect(lost[i] == RACERS - 1);
        }
    }
    expect(strange == 0);
    expect(world_number(w, "select count(*) from messages") == ROUNDS * ASKS);
    expect(world_number(w, "select count(*) from interactions where state = 1") == ROUNDS * ASKS);
}

static void without_limits(struct config *c)
{
    c->rate_limits = false;
}

const struct test callback_races_tests[] = {
    TEST_WITH(of_many_answers_exactly_one_wins, without_limits),
    { 0 },
};
