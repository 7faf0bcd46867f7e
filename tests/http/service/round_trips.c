/* round_trips.c - number of database round trips of frequent requests. */
#include "apps.h"
#include "guilds.h"
#include "store/store.h"
#include "test_app.h"

enum { TRIES = 24 };

static uint64_t count_round_trips(struct world *w)
{
    struct store_stats stats;

    store_read_stats(guildhall_get_store(world_server(w)), &stats);
    return stats.round_trips;
}

/* Foreign keys of nearly all tables lead to these. */
static enum err write_nothing_to_all_tables(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = tx_exec(tx, "delete from users where id = 0", NO_BIND, NULL);

    e = e ? e : tx_exec(tx, "delete from guilds where id = 0", NO_BIND, NULL);
    return e ? e : tx_exec(tx, "delete from channels where id = 0", NO_BIND, NULL);
}

static void make_cached_rows_stale(struct world *w)
{
    struct store *store = guildhall_get_store(world_server(w));

    expect(!store_run_transaction_and_wait(store, STORE_WRITE, NULL, write_nothing_to_all_tables,
                                           NULL));
}

/* Returns the minimum of several tries: connections prepare their statements first, and jobs run
 * in between. SQLite has no round trips. */
static uint64_t least_round_trips(struct client *c, const char *path)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        make_cached_rows_stale(c->world);
        uint64_t before = count_round_trips(c->world);

        expect_status(client_get(c, "%s", path), 200);
        uint64_t took = count_round_trips(c->world) - before;
        least = took < least ? took : least;
    }
    return least;
}

static void expect_count_of_database_round_trips(struct client *c, uint64_t most, const char *path)
{
    uint64_t took = least_round_trips(c, path);

    if (took > most)
        fail_test(__FILE__, __LINE__, "GET %s went %llu times to the database, not %llu", path,
                  (unsigned long long)took, (unsigned long long)most);
}

static void frequent_reads_take_one_database_round_trip(struct world *w)
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
    const char *invite =
        answer_text(client_post(s.ada, "{}", "/channels/%s/invites", channel), "code");
    expect_count_of_database_round_trips(bob, 1, TEXT(w, "/guilds/%s", s.guild));
    expect_count_of_database_round_trips(bob, 1, TEXT(w, "/channels/%s", channel));
    expect_count_of_database_round_trips(bob, 1, TEXT(w, "/channels/%s/messages", channel));
    expect_count_of_database_round_trips(bob, 1,
                                         TEXT(w, "/channels/%s/messages?after=1&limit=2", channel));
    expect_count_of_database_round_trips(
        bob, 1, TEXT(w, "/channels/%s/messages?around=%s", channel, channel));
    expect_count_of_database_round_trips(bob, 1, TEXT(w, "/channels/%s/pins", channel));
    expect_count_of_database_round_trips(bob, 1, TEXT(w, "/guilds/%s/roles", s.guild));
    expect_count_of_database_round_trips(bob, 1, TEXT(w, "/invites/%s", invite));
    expect_count_of_database_round_trips(bob, 1, "/users/@me/relationships");
    expect_count_of_database_round_trips(bob, 1,
                                         TEXT(w, "/guilds/%s/application-command-index", s.guild));
    expect_count_of_database_round_trips(bob, 1, "/users/@me/application-command-index");
}

/* The first round trip has all reads, the second one all writes and the commit. */
static void sending_a_message_takes_two_database_round_trips(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *channel =
        answer_text(client_post(s.ada, "{'name': 'talk'}", "/guilds/%s/channels", s.guild), "id");
    const char *thread = answer_text(
        client_post(s.ada, "{'name': 'aside', 'type': 11}", "/channels/%s/threads", channel), "id");
    /* The author may have to join the thread. */
    const struct {
        const char *channel;
        uint64_t most;
    } targets[] = { { channel, 2 }, { thread, 3 } };

    for (size_t p = 0; p < sizeof targets / sizeof *targets; p++) {
        uint64_t least = UINT64_MAX;

        for (int i = 0; i < TRIES; i++) {
            uint64_t before = count_round_trips(w);

            expect_status(client_post(s.ada, "{'content': 'Good day'}", "/channels/%s/messages",
                                      targets[p].channel),
                          200);
            uint64_t took = count_round_trips(w) - before;
            least = took < least ? took : least;
        }
        expect(least <= targets[p].most);
    }
}

/* An index that is not cached is read with its commands and their uses. */
static void changed_command_index_takes_two_database_round_trips(struct world *w)
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
        uint64_t before = count_round_trips(w);
        struct answer a = client_get(s.ada, "%s", path);
        uint64_t took = count_round_trips(w) - before;

        expect_json(a, "{'application_commands': [{'description': 'd%d'}]}", i);
        least = took < least ? took : least;
    }
    expect(least <= 2);
}

const struct test round_trips_tests[] = {
    TEST(frequent_reads_take_one_database_round_trip),
    TEST(sending_a_message_takes_two_database_round_trips),
    TEST(changed_command_index_takes_two_database_round_trips),
    { 0 },
};
