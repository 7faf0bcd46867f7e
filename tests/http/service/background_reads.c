/* background_reads.c - reads without a time bound run outside the event loops. */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "platform/accounts/accounts.h"
#include "guilds.h"
#include "http/walk.h"

/* --- routes --------------------------------------------------------------------------- */

/* Routes listed in docs/what-takes-long.md; there may be more. */
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

static void check_long_read_route_runs_in_background(struct world *w, const struct route *r)
{
    (void)w;
    for (size_t i = 0; i < LONG_READS; i++) {
        if (strcmp(r->name, long_reads[i]) != 0)
            continue;
        found++;
        if (!r->background && !r->measured)
            fail_test(__FILE__, __LINE__, "%s is not read aside", r->name);
    }
}

static void long_read_routes_are_marked_as_background_reads(struct world *w)
{
    found = 0;
    each_route(w, check_long_read_route_runs_in_background);
    expect(found == LONG_READS);
}

/* --- threads -------------------------------------------------------------------------- */

static pthread_t prepared_on, handled_on;
static uint64_t owned_by;

static enum err record_loop(struct call *call)
{
    (void)call;
    prepared_on = pthread_self();
    return OK;
}

static enum err record_thread(struct call *call)
{
    handled_on = pthread_self();
    owned_by = call_scheduling_key(call);
    return OK;
}

/* Twelve rows with a millisecond of work for each; SQLite's share is negligible. */
static enum err work_between_rows(struct call *call)
{
    static const char ROWS[] = "with recursive n(i) as (select 1 union all select i + 1 from n "
                               "where i < 12) select i from n";
    struct rows rows;
    enum err e = tx_query(call->tx, ROWS, NULL, 0, &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        for (int64_t end = clock_thread_cpu_ns() + 1000 * 1000; clock_thread_cpu_ns() < end;)
            ;
    record_thread(call);
    return rows_end(&rows);
}

#define READ(path_, handle_, ...)                                                                \
    {                                                                                            \
        .method = GET, .path = path_, .name = "read", .doc = "Says nothing.", .auth = AUTH_USER, \
        .status = 204, .store = ROUTE_STORE_READ, .prepare = record_loop, .handle = handle_,     \
        __VA_ARGS__                                                                              \
    }

static const struct route routes[] = {
    READ("/short", record_thread, .background = false),
    READ("/long", record_thread, .background = true),
    READ("/few", record_thread, .measured = true),
    READ("/many", work_between_rows, .measured = true),
    {
        .method = GET,
        .path = "/anybody",
        .name = "read",
        .doc = "Says nothing.",
        .auth = AUTH_OPEN,
        .status = 204,
        .store = ROUTE_STORE_READ,
        .background = true,
        .handle = record_thread,
    },
    { 0 },
};
static const struct domain reads_domain = { .name = "reads", .doc = "Reads.", .routes = routes };
static const struct domain *const domains[] = { &reads_domain, NULL };

static bool handler_runs_on_loop(struct client *c, const char *path)
{
    expect_status(client_get(c, "%s", path), 204);
    return pthread_equal(prepared_on, handled_on);
}

static void reads_declared_long_run_in_background_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 5; i++) {
        expect(!handler_runs_on_loop(ada, "/long"));
        /* On PostgreSQL only once the loop has a connection: see
         * tests/unit/store/postgres/loop.c. */
        expect(handler_runs_on_loop(ada, "/short") || world_config(w)->store);
        expect(handler_runs_on_loop(ada, "/few") || world_config(w)->store);
        expect(!handler_runs_on_loop(ada, "/many"));
    }
}

/* A caller with many reads waits only for its own queue: see tests/unit/store/fair_queue.c. */
static void long_reads_are_queued_per_caller(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_get(ada, "/long"), 204);
    expect(owned_by == id_of(ada->id));
    expect_status(client_get(bob, "/many"), 204);
    expect(owned_by == id_of(bob->id));
    expect_status(client_get(world_anonymous(w), "/anybody"), 204);
    expect(owned_by && owned_by != id_of(ada->id) && owned_by != id_of(bob->id));
}

const struct test background_reads_tests[] = {
    TEST(long_read_routes_are_marked_as_background_reads),
    TEST_ON(reads_declared_long_run_in_background_threads, NULL, domains),
    TEST_ON(long_reads_are_queued_per_caller, NULL, domains),
    { 0 },
};
