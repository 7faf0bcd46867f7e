/* round_trips.c - how often a call goes to the database and back, where that is a way to go. */
#include "apps.h"
#include "guilds.h"
#include "store/store.h"
#include "test_app.h"

enum { TRIES = 24 };

static uint64_t ways(struct world *w)
{
    struct store_stats stats;

    store_stats(guildhall_store(world_server(w)), &stats);
    return stats.round_trips;
}

/* The least of some tries: each connection prepares its statements at first, and jobs ask something
 * now and then. SQLite has no way to go. */
static uint64_t least_ways(struct client *c, const char *path)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t before = ways(c->world);

        expect_status(client_get(c, "%s", path), 200);
        uint64_t took = ways(c->world) - before;
        least = took < least ? took : least;
    }
    return least;
}

static void expect_ways(struct client *c, uint64_t most, const char *path)
{
    uint64_t took = least_ways(c, path);

    if (took > most)
        fail_test(__FILE__, __LINE__, "GET %s went %llu times to the database, not %llu", path,
                  (unsigned long long)took, (unsigned long long)most);
}

static void frequent_reads_go_to_the_database_once(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0), *eve = test_app_member(&s, "eve", 0);
    struct client *all[] = { s.ada, bob, eve };

    make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    make_command(s.bot, s.local, "{'name': 'pong', 'description': 'd'}");
    put_role_on(s.guild, bob, make_role(s.ada, s.guild, "{'name': 'Writers'}"));
    const char *channel =
        answer_text(client_post(s.ada, "{'name': 'talk'}", "/guilds/%s/channels", s.guild), "id");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect_status(
            client_post(all[i], "{'content': 'Good morning'}", "/channels/%s/messages", channel),
            200);
    befriend(s.ada, bob);
    expect_ways(bob, 1, TEXT(w, "/guilds/%s", s.guild));
    expect_ways(bob, 1, TEXT(w, "/channels/%s", channel));
    expect_ways(bob, 1, TEXT(w, "/channels/%s/messages", channel));
    expect_ways(bob, 1, TEXT(w, "/channels/%s/messages?after=1&limit=2", channel));
    expect_ways(bob, 1, TEXT(w, "/channels/%s/messages?around=%s", channel, channel));
    expect_ways(bob, 1, "/users/@me/relationships");
    expect_ways(bob, 1, TEXT(w, "/guilds/%s/application-command-index", s.guild));
    expect_ways(bob, 1, "/users/@me/application-command-index");
}

/* What has to be known is asked for at once, what is written goes with the commit. */
static void a_message_takes_two_ways(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *channel =
        answer_text(client_post(s.ada, "{'name': 'talk'}", "/guilds/%s/channels", s.guild), "id");
    const char *thread = answer_text(
        client_post(s.ada, "{'name': 'aside', 'type': 11}", "/channels/%s/threads", channel), "id");
    /* Who writes in a thread may have to join it. */
    const struct {
        const char *channel;
        uint64_t most;
    } places[] = { { channel, 2 }, { thread, 3 } };

    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        uint64_t least = UINT64_MAX;

        for (int i = 0; i < TRIES; i++) {
            uint64_t before = ways(w);

            expect_status(client_post(s.ada, "{'content': 'Good day'}", "/channels/%s/messages",
                                      places[p].channel),
                          200);
            uint64_t took = ways(w) - before;
            least = took < least ? took : least;
        }
        expect(least <= places[p].most);
    }
}

/* An index that was not put together just before is read with its commands, and their uses. */
static void an_index_that_has_changed_takes_two_ways(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *ping = make_command(s.bot, s.global, "{'name': 'ping', 'description': 'd'}");
    const char *path = TEXT(w, "/guilds/%s/application-command-index", s.guild);
    uint64_t least = UINT64_MAX;

    use_command(&s, ping);
    for (int i = 0; i < TRIES; i++) {
        expect_status(
            client_patch(s.bot, TEXT(w, "{'description': 'd%d'}", i), "%s/%s", s.global, ping),
            200);
        uint64_t before = ways(w);
        struct answer a = client_get(s.ada, "%s", path);
        uint64_t took = ways(w) - before;

        expect_json(a, "{'application_commands': [{'description': 'd%d'}]}", i);
        least = took < least ? took : least;
    }
    expect(least <= 2);
}

const struct test round_trips_tests[] = {
    TEST(frequent_reads_go_to_the_database_once),
    TEST(a_message_takes_two_ways),
    TEST(an_index_that_has_changed_takes_two_ways),
    { 0 },
};
