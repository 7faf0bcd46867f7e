/* stalled_database.c - requests while PostgreSQL, behind a Unix socket, does not respond. */
#include "base/clock.h"
#include "guilds.h"
#include "stalling.h"
#include "waits.h"

enum { LONGEST_S = 60 };

static void configure_store_that_stops_answering(struct config *c)
{
    static char where[600];

    if (!c->store)
        return;
    snprintf(where, sizeof where, "%s host=%s", c->store, stalling_start());
    c->store = where;
}

static void stalled_postgres_gives_503_in_bounded_time(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    if (!world_config(w)->store)
        return;
    stalling_set(true);
    int64_t began = clock_monotonic_ns();
    expect_status(client_get(ada, "/users/@me/settings"), 503);
    expect_status(client_post(ada, "{'name': 'Here'}", "/guilds"), 503);
    expect((clock_monotonic_ns() - began) / 1000000000 < LONGEST_S);
    stalling_set(false);
    expect_soon(client_get(ada, "/users/@me/settings").status == 200);
    world_stop(w);
    stalling_end();
}

const struct test stalled_database_tests[] = {
    TEST_WITH(stalled_postgres_gives_503_in_bounded_time, configure_store_that_stops_answering),
    { 0 },
};
