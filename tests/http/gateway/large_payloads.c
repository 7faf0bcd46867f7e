/* large_payloads.c - sessions whose first payloads have megabytes arrive complete in every
 * encoding. The test world fails if a loop is blocked. */
#include <string.h>

#include "apps.h"
#include "base/mem.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

enum { DIRECT = 20000, CHANNELS = 50, FEW_CHANNELS = 15, OVERWRITES = 1000 };

/* Connection queries. The test does not decode ETF with more than 100,000 values. */
static const char *const forms[] = {
    "v=10&encoding=json",
    "v=10&encoding=json&compress=zlib-stream",
    "v=10&encoding=json&compress=zstd-stream",
};
static const char *const all_forms[] = {
    "v=10&encoding=json",
    "v=10&encoding=etf",
    "v=10&encoding=json&compress=zlib-stream",
    "v=10&encoding=etf&compress=zlib-stream",
    "v=10&encoding=json&compress=zstd-stream",
    "v=10&encoding=etf&compress=zstd-stream",
};

#define NUMBERS                                                                           \
    "with recursive n (i) as (select cast(%llu as bigint) union all select i + 1 from n " \
    "where i < %llu) "

static void insert_direct_channels(struct world *w, const struct client *a, const struct client *b)
{
    unsigned long long first = 1000, last = first + DIRECT - 1;
    const struct client *both[] = { a, b };

    world_sql(w, "insert into channels (id, type) " NUMBERS "select i, 1 from n", first, last);
    for (size_t i = 0; i < 2; i++)
        world_sql(w,
                  "insert into recipients (channel_id, user_id, since) " NUMBERS
                  "select i, %s, 0 from n",
                  first, last, both[i]->id);
}

static void insert_many_channel_overwrites(struct world *w, const char *guild, unsigned channels)
{
    unsigned long long first = 5000, last = first + channels - 1;

    world_sql(
        w, "insert into channels (id, guild_id, type, name) " NUMBERS "select i, %s, 0, 'x' from n",
        first, last, guild);
    for (unsigned long long id = first; id <= last; id++)
        world_sql(w,
                  "insert into overwrites (channel_id, target_id, type) " NUMBERS
                  "select %llu, i, 1 from n",
                  1ull, (unsigned long long)OVERWRITES, id);
}

/* Returns the next dispatch; heartbeat ACKs are skipped. */
static const struct dom *next_dispatch(struct gateway_conn *g, const char *event)
{
    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m != NULL);
        if (!dom_at(m, "t") || dom_at(m, "t")->kind != JSON_STRING)
            continue;
        conn_count(g, m);
        if (str_is(dom_at(m, "t")->text, event))
            return dom_at(m, "d");
    }
}

/* Expects the first event, and the other one not before it. */
static void expect_event_arrives_before_other(struct gateway_conn *g, const char *event,
                                              const char *other)
{
    for (bool found = false; !found;) {
        const struct dom *m = conn_read(g, 60000);
        const struct dom *name = m ? dom_at(m, "t") : NULL;

        expect(m != NULL);
        if (!name || name->kind != JSON_STRING)
            continue;
        conn_count(g, m);
        expect(!str_eq(name->text, str_of(other)));
        found = str_eq(name->text, str_of(event));
    }
}

static void send_four_heartbeats(struct gateway_conn *g)
{
    for (int i = 0; i < 4; i++)
        conn_send(g, "{'op': 1, 'd': null}");
}

/* Sends heartbeats while READY is built: their ACKs must not get in between. */
static struct gateway_conn *open_session(struct client *c, const char *form, const char *more)
{
    struct gateway_conn *g = conn_open(c, form);

    expect_op(g, 10);
    conn_identify(g, more);
    send_four_heartbeats(g);
    return g;
}

static size_t count_overwrites(const struct dom *guild)
{
    const struct dom *channels = dom_at(guild, "channels");
    size_t n = 0;

    for (size_t i = 0; channels && i < channels->count; i++)
        n += dom_at(&channels->items[i], "permission_overwrites")->count;
    return n;
}

static void ready_contains_all_of_many_direct_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    insert_direct_channels(w, ada, bob);
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct gateway_conn *g = open_session(ada, forms[i], i % 2 ? "'capabilities': 1040" : "");
        const struct dom *ready = next_dispatch(g, "READY");

        expect(dom_at(ready, "private_channels")->count == DIRECT);
        conn_kill(g);
    }
}

static void ready_contains_a_guild_with_50000_overwrites(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Large");

    insert_many_channel_overwrites(w, guild,
                                   CHANNELS); /* the maximum number of overwrites in a guild */
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct gateway_conn *g = open_session(ada, forms[i], "");
        const struct dom *ready = next_dispatch(g, "READY");

        expect(count_overwrites(dom_at(ready, "guilds.0")) == CHANNELS * OVERWRITES);
        conn_kill(g);
    }
}

/* The guild is read for each session, not in the write transaction, and precedes all events of
 * the guild. */
static void joining_a_large_guild_sends_guild_create_before_its_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    struct gateway_conn *first = open_session(eve, forms[0], ""),
                        *second = open_session(eve, forms[1], ""),
                        *few = open_session(eve, forms[0], "'intents': 512");
    struct answer invite = client_post(ada, "{}", "/channels/%s/invites", v.channel);

    insert_many_channel_overwrites(w, v.id, CHANNELS);
    next_dispatch(first, "READY");
    next_dispatch(second, "READY");
    next_dispatch(few, "READY");
    expect_status(client_post(eve, "{}", "/invites/%s", answer_text(invite, "code")), 200);
    expect_status(client_post(ada, "{'content': 'hi'}", "/channels/%s/messages", v.channel), 200);
    const struct dom *guild = next_dispatch(first, "GUILD_CREATE");
    expect(count_overwrites(guild) == CHANNELS * OVERWRITES);
    expect(dom_at(guild, "unavailable") == NULL);
    expect(dom_at(guild, "members")->count == 2);
    expect(count_overwrites(next_dispatch(second, "GUILD_CREATE")) == CHANNELS * OVERWRITES);
    next_dispatch(first, "MESSAGE_CREATE");
    next_dispatch(second, "MESSAGE_CREATE");
    expect_event_arrives_before_other(few, "MESSAGE_CREATE", "GUILD_CREATE");
    conn_kill(first);
    conn_kill(second);
    conn_kill(few);
}

/* Events that occur meanwhile follow it: conn_count checks for gaps. */
static void bot_gets_large_guild_create_before_its_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    insert_many_channel_overwrites(w, v.id, FEW_CHANNELS);
    for (size_t i = 0; i < COUNT_OF(all_forms); i++) {
        struct gateway_conn *g = open_session(bot, all_forms[i], "'intents': 513");

        next_dispatch(g, "READY");
        send_four_heartbeats(g);
        for (int n = 0; n < 3; n++)
            expect_status(
                client_post(ada, "{'content': 'early'}", "/channels/%s/messages", v.channel), 200);
        const struct dom *guild = next_dispatch(g, "GUILD_CREATE");
        expect(count_overwrites(guild) == FEW_CHANNELS * OVERWRITES);
        expect_status(client_post(ada, "{'content': 'late'}", "/channels/%s/messages", v.channel),
                      200);
        next_dispatch(g, "MESSAGE_CREATE");
        conn_kill(g);
    }
}

const struct test gateway_large_payloads_tests[] = {
    TEST(ready_contains_all_of_many_direct_channels),
    TEST(ready_contains_a_guild_with_50000_overwrites),
    TEST(joining_a_large_guild_sends_guild_create_before_its_events),
    TEST(bot_gets_large_guild_create_before_its_events),
    { 0 },
};
