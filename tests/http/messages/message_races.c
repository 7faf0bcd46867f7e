/* message_races.c - concurrent messages in one channel. */
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

/* Sends the request by hand, because the test client is for one thread. */
static bool send_message(const struct writer *w)
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

static void *send_all_messages(void *arg)
{
    struct writer *w = arg;

    for (int i = 0; i < EACH; i++)
        w->written += send_message(w);
    return NULL;
}

static void start_threads_that_write_messages(struct writer *writers, struct client *c,
                                              const char *channel)
{
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .channel = channel,
                                      .authorization = c->authorization,
                                      .fd = client_dial(c) };
        expect(pthread_create(&writers[i].thread, NULL, send_all_messages, &writers[i]) == 0);
    }
}

static void wait_for_threads_that_write_messages(struct writer *writers)
{
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        close(writers[i].fd);
        expect(writers[i].written == EACH);
    }
}

static uint64_t count_retries(struct world *w)
{
    struct store_stats stats;

    store_read_stats(guildhall_get_store(w->server), &stats);
    return stats.retries;
}

/* Expects that messages do not conflict. The indexing job may conflict with itself. A thread that
 * is preempted right after it created an id repeats its transaction if a greater id is committed.
 */
static void expect_no_transaction_conflicts(struct world *w, uint64_t before)
{
    enum { PREEMPTED_MAX = 5 };
    struct store_stats stats;

    store_read_stats(guildhall_get_store(w->server), &stats);
    expect(stats.retries <= before + PREEMPTED_MAX ||
           str_is(str_of(stats.retried), "message-indexing"));
}

/* A bot, because messages of users also update one row with their read state. */
static void concurrent_messages_in_one_channel_do_not_conflict(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);
    const char *c = v.channel;
    struct writer writers[WRITERS];

    test_guild_add(&v, bot);
    uint64_t before = count_retries(w);
    start_threads_that_write_messages(writers, bot, c);
    wait_for_threads_that_write_messages(writers);
    expect_no_transaction_conflicts(w, before);

    struct answer a = client_get(ada, "/channels/%s/messages?limit=1", c);
    expect_json(client_get(ada, "/channels/%s", c), "{'last_message_id': '%s'}",
                answer_text(a, "0.id"));
}

static void concurrent_messages_in_one_thread_are_all_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);
    struct answer thread =
        client_post(ada, "{'name': 'talk', 'type': 11}", "/channels/%s/threads", v.channel);
    const char *id = answer_text(thread, "id");
    struct writer writers[WRITERS];

    test_guild_add(&v, bot);
    expect_status(client_post(bot, "{'content': 'here'}", "/channels/%s/messages", id), 200);
    uint64_t before = count_retries(w);
    start_threads_that_write_messages(writers, bot, id);
    wait_for_threads_that_write_messages(writers);
    expect_no_transaction_conflicts(w, before);
    expect_json(client_get(ada, "/channels/%s", id), "{'message_count': %d}", WRITERS * EACH + 1);
}

/* The channel is read while others send messages to it. */
static void channel_can_be_changed_during_concurrent_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    struct writer writers[WRITERS];

    start_threads_that_write_messages(writers, ada, c);
    for (int i = 0; i < 10; i++)
        expect_status(client_patch(ada, "{'topic': 'busy'}", "/channels/%s", c), 200);
    wait_for_threads_that_write_messages(writers);
}

/* A deleted message stays the last one, as clients know it. */
static void last_message_id_stays_when_that_message_is_deleted(struct world *w)
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
    TEST(concurrent_messages_in_one_channel_do_not_conflict),
    TEST(concurrent_messages_in_one_thread_are_all_counted),
    TEST(channel_can_be_changed_during_concurrent_messages),
    TEST(last_message_id_stays_when_that_message_is_deleted),
    { 0 },
};
