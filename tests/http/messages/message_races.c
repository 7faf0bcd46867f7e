/* message_races.c - many who write to one channel at the same time. */
#include "channels.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/guildhall.h"
#include "internal.h"
#include "test_guild.h"

enum { WRITERS = 8, EACH = 15 };

struct writer {
    pthread_t thread;
    const char *channel, *authorization;
    int fd, written;
};

/* By hand: what tests use elsewhere is for one thread. */
static bool write_message(const struct writer *w)
{
    static const char body[] = "{\"content\":\"all at once\"}";
    char text[8192];
    int length = snprintf(text, sizeof text,
                          "POST /api/v10/channels/%s/messages HTTP/1.1\r\nHost: x\r\n"
                          "Authorization: %s\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          w->channel, w->authorization, sizeof body - 1, body);

    if (send(w->fd, text, (size_t)length, MSG_NOSIGNAL) != length)
        return false;
    ssize_t got = recv(w->fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return strncmp(text, "HTTP/1.1 200", 12) == 0;
}

static void *write_all(void *arg)
{
    struct writer *w = arg;

    for (int i = 0; i < EACH; i++)
        w->written += write_message(w);
    return NULL;
}

static void writers_start(struct writer *writers, struct client *c, const char *channel)
{
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .channel = channel,
                                      .authorization = c->authorization,
                                      .fd = client_dial(c) };
        expect(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]) == 0);
    }
}

static void writers_end(struct writer *writers)
{
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        close(writers[i].fd);
        expect(writers[i].written == EACH);
    }
}

static uint64_t retries(struct world *w)
{
    struct store_stats stats;

    store_stats(guildhall_store(w->server), &stats);
    return stats.retries;
}

/* The job that indexes messages is asked for beside them and may meet the one that runs: no
 * message waits for that. */
static void expect_nothing_met(struct world *w, uint64_t before)
{
    struct store_stats stats;

    store_stats(guildhall_store(w->server), &stats);
    expect(stats.retries == before || str_is(str_of(stats.retried), "message-indexing"));
}

/* A bot: of people it is also kept how far they have read, in one row, and nobody writes eight
 * messages at a time. */
static void messages_of_one_channel_do_not_meet(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);
    const char *c = v.channel;
    struct writer writers[WRITERS];

    test_guild_add(&v, bot);
    uint64_t before = retries(w);
    writers_start(writers, bot, c);
    writers_end(writers);
    expect_nothing_met(w, before);

    struct answer a = client_get(ada, "/channels/%s/messages?limit=1", c);
    expect_json(client_get(ada, "/channels/%s", c), "{'last_message_id': '%s'}",
                answer_text(a, "0.id"));
}

static void messages_of_one_thread_are_all_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);
    struct answer thread =
        client_post(ada, "{'name': 'talk', 'type': 11}", "/channels/%s/threads", v.channel);
    const char *id = answer_text(thread, "id");
    struct writer writers[WRITERS];

    test_guild_add(&v, bot);
    expect_status(client_post(bot, "{'content': 'here'}", "/channels/%s/messages", id), 200);
    uint64_t before = retries(w);
    writers_start(writers, bot, id);
    writers_end(writers);
    expect_nothing_met(w, before);
    expect_json(client_get(ada, "/channels/%s", id), "{'message_count': %d}", WRITERS * EACH + 1);
}

/* What it shows of the channel is read while others write to it. */
static void a_busy_channel_can_be_changed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    struct writer writers[WRITERS];

    writers_start(writers, ada, c);
    for (int i = 0; i < 10; i++)
        expect_status(client_patch(ada, "{'topic': 'busy'}", "/channels/%s", c), 200);
    writers_end(writers);
}

/* What was deleted stays the last one, as clients remember it. */
static void the_last_message_does_not_go_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    const char *id = NULL;

    for (int i = 0; i < 6; i++)
        id = answer_text(client_post(ada, "{'content': 'x'}", "/channels/%s/messages", c), "id");
    expect_status(client_delete(ada, "/channels/%s/messages/%s", c, id), 204);
    expect_json(client_get(ada, "/channels/%s", c), "{'last_message_id': '%s'}", id);
    struct answer all = client_get(ada, "/guilds/%s/channels", g);
    expect(strcmp(answer_text(all, "4.last_message_id"), id) == 0);
}

const struct test message_races_tests[] = {
    TEST(messages_of_one_channel_do_not_meet),
    TEST(messages_of_one_thread_are_all_counted),
    TEST(a_busy_channel_can_be_changed),
    TEST(the_last_message_does_not_go_back),
    { 0 },
};
