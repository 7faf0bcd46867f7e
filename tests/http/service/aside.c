/* aside.c - reads that nobody can bound run on no loop. */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "platform/accounts/accounts.h"
#include "guilds.h"
#include "http/walk.h"

/* --- which routes --------------------------------------------------------------------- */

/* What docs/what-takes-long.md says of them; there may be more. */
static const char *const long_reads[] = {
    "get_application_command_index",
    "get_channel_command_index",
    "get_gif_trends",
    "get_guild_command_index",
    "get_user_command_index",
    "list_private_channels",
    "list_trending_gifs",
    "list_trending_searches",
    "search_gifs",
    "suggest_searches",
};
enum { LONG_READS = sizeof long_reads / sizeof *long_reads };

static size_t found;

static void look_at_row(struct world *w, const struct route *r)
{
    (void)w;
    for (size_t i = 0; i < LONG_READS; i++) {
        if (strcmp(r->name, long_reads[i]) != 0)
            continue;
        found++;
        if (!r->aside && !r->measured)
            fail_test(__FILE__, __LINE__, "%s is not read aside", r->name);
    }
}

static void rows_of_long_reads_say_that_they_run_aside(struct world *w)
{
    found = 0;
    each_route(w, look_at_row);
    expect(found == LONG_READS);
}

/* --- where they run ------------------------------------------------------------------- */

static pthread_t prepared_on, handled_on;
static uint64_t owned_by;

static enum err note_loop(struct call *call)
{
    (void)call;
    prepared_on = pthread_self();
    return OK;
}

static enum err note_thread(struct call *call)
{
    handled_on = pthread_self();
    owned_by = call_owner(call);
    return OK;
}

/* Twelve rows with a millisecond of work for each: what SQLite does of it is nothing. */
static enum err work_between_rows(struct call *call)
{
    static const char ROWS[] = "with recursive n(i) as (select 1 union all select i + 1 from n "
                               "where i < 12) select i from n";
    struct rows rows;
    enum err e = tx_query(call->tx, ROWS, NULL, 0, &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        for (int64_t end = clock_thread() + 1000 * 1000; clock_thread() < end;)
            ;
    note_thread(call);
    return rows_end(&rows);
}

#define READ(path_, handle_, ...)                                                                \
    {                                                                                            \
        .method = GET, .path = path_, .name = "read", .doc = "Says nothing.", .auth = AUTH_USER, \
        .status = 204, .store = ROUTE_STORE_READ, .prepare = note_loop, .handle = handle_,       \
        __VA_ARGS__                                                                              \
    }

static const struct route routes[] = {
    READ("/short", note_thread, .aside = false),
    READ("/long", note_thread, .aside = true),
    READ("/few", note_thread, .measured = true),
    READ("/many", work_between_rows, .measured = true),
    {
        .method = GET,
        .path = "/anybody",
        .name = "read",
        .doc = "Says nothing.",
        .auth = AUTH_OPEN,
        .status = 204,
        .store = ROUTE_STORE_READ,
        .aside = true,
        .handle = note_thread,
    },
    { 0 },
};
static const struct domain reads_domain = { .name = "reads", .doc = "Reads.", .routes = routes };
static const struct domain *const domains[] = { &reads_domain, NULL };

static bool runs_on_its_loop(struct client *c, const char *path)
{
    expect_status(client_get(c, "%s", path), 204);
    return pthread_equal(prepared_on, handled_on);
}

static void long_reads_run_on_no_loop(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 5; i++) {
        expect(!runs_on_its_loop(ada, "/long"));
        /* On PostgreSQL once the loop has a connection: see tests/unit/store_postgres_loop.c. */
        expect(runs_on_its_loop(ada, "/short") || world_config(w)->store);
        expect(runs_on_its_loop(ada, "/few") || world_config(w)->store);
        expect(!runs_on_its_loop(ada, "/many"));
    }
}

/* So that whoever asks for much waits for it alone: see tests/unit/store_lanes.c. */
static void long_reads_wait_in_the_lane_of_who_asks(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_get(ada, "/long"), 204);
    expect(owned_by == id_of(ada->id));
    expect_status(client_get(bob, "/many"), 204);
    expect(owned_by == id_of(bob->id));
    expect_status(client_get(world_stranger(w), "/anybody"), 204);
    expect(owned_by && owned_by != id_of(ada->id) && owned_by != id_of(bob->id));
}

const struct test aside_tests[] = {
    TEST(rows_of_long_reads_say_that_they_run_aside),
    TEST_ON(long_reads_run_on_no_loop, NULL, domains),
    TEST_ON(long_reads_wait_in_the_lane_of_who_asks, NULL, domains),
    { 0 },
};
