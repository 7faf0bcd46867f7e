/* invite_races.c - many users join and leave by one invite at the same time. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"
#include "test_guild.h"

enum { GUESTS = 16, ROUNDS = 8 };

struct guest {
    pthread_t thread;
    const struct client *client;
    const char *join_line, *leave_line; /* request lines */
    int fd, refused;
    char last[200]; /* the last refused response */
};

/* Sends the request by hand, because the test client is for one thread. */
static void send_request(struct guest *g, const char *line, const char *wanted)
{
    char text[16 * 1024];
    int length = snprintf(text, sizeof text,
                          "%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n"
                          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
                          line, g->client->authorization);
    ssize_t got = send(g->fd, text, (size_t)length, MSG_NOSIGNAL) == length
                      ? recv(g->fd, text, sizeof text - 1, 0)
                      : 0;

    text[got > 0 ? got : 0] = '\0';
    if (strncmp(text + sizeof "HTTP/1.1", wanted, 3) == 0)
        return;
    g->refused++;
    snprintf(g->last, sizeof g->last, "%s: %.100s", line, text);
}

static void *join_and_leave(void *arg)
{
    struct guest *g = arg;

    for (int i = 0; i < ROUNDS; i++) {
        send_request(g, g->join_line, "200");
        send_request(g, g->leave_line, "204");
    }
    return NULL;
}

/* All of them update the same row of the guild's member count and of the invite's uses. */
static void concurrent_joins_and_leaves_are_accepted_and_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer invite =
        client_post(ada, "{'max_uses': 0, 'max_age': 0}", "/channels/%s/invites", v.channel);
    const char *code = answer_text(invite, "code");
    struct guest guests[GUESTS];
    char name[16];

    for (int i = 0; i < GUESTS; i++) {
        snprintf(name, sizeof name, "guest%d", i);
        guests[i] = (struct guest){
            .client = world_client(w, name),
            .join_line = str_printf(world_arena(w), "POST /api/v10/invites/%s", code).p,
            .leave_line = str_printf(world_arena(w), "DELETE /api/v10/users/@me/guilds/%s", v.id).p,
            .fd = client_dial(ada),
        };
    }
    for (int i = 0; i < GUESTS; i++)
        expect(pthread_create(&guests[i].thread, NULL, join_and_leave, &guests[i]) == 0);
    for (int i = 0; i < GUESTS; i++) {
        pthread_join(guests[i].thread, NULL);
        close(guests[i].fd);
    }
    for (int i = 0; i < GUESTS; i++)
        if (guests[i].refused)
            fail_test(__FILE__, __LINE__, "%d times, at last %s", guests[i].refused,
                      guests[i].last);
    expect(world_number(w, "select member_count from guilds where id = %s", v.id) == 1);
    expect(world_number(w, "select uses from invites where code = '%s'", code) == GUESTS * ROUNDS);
}

const struct test invite_races_tests[] = {
    TEST(concurrent_joins_and_leaves_are_accepted_and_counted),
    { 0 },
};
