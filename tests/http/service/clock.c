/* clock.c - a system clock that is set while the server runs, or is wrong at start. */
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "base/snowflake.h"
#include "guilds.h"
#include "people.h"
#include "waits.h"

#define MINUTES(n) ((n)*INT64_C(60) * 1000 * 1000)

static bool metrics_contain(struct world *w, const char *line)
{
    struct answer a = client_request(world_anonymous(w), "GET", "/metrics", "", STR(""));

    return strstr(a.body.p, line) != NULL;
}

static struct answer get_readiness(struct world *w)
{
    return client_request(world_anonymous(w), "GET", "/readyz", "", STR(""));
}

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
    c->log_level = "warn";
}

static void configure_log_level(struct config *c)
{
    c->log_level = "warn";
}

static void clock_set_back_does_not_prolong_rate_limits(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 40; i++)
        expect_status(client_get(ada, "/users/@me"), 200);
    clock_step_wall_clock(-MINUTES(10));
    world_wait(w, 11);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void clock_set_back_is_logged_and_ids_stay_increasing(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Here");
    const char *channel =
        answer_text(client_post(ada, "{'name': 'here'}", "/guilds/%s/channels", guild), "id");
    struct answer before = client_post(ada, "{'content': 'a'}", "/channels/%s/messages", channel);

    expect_json(get_readiness(w), "{'status': 'ok'}");
    expect(!strstr(get_readiness(w).body.p, "warning"));
    world_log_begin(w);
    clock_step_wall_clock(-MINUTES(10));
    expect_soon(metrics_contain(w, "\nguildhall_clock_steps_total 1\n"));
    struct answer after = client_post(ada, "{'content': 'b'}", "/channels/%s/messages", channel);
    expect(id_of(answer_text(after, "id")) > id_of(answer_text(before, "id")));
    struct answer a = get_readiness(w);
    expect_status(a, 200);
    expect(strstr(answer_text(a, "warning"), "Set the clock"));
    expect(metrics_contain(w, "\nguildhall_clock_behind_seconds 5") ||
           metrics_contain(w, "\nguildhall_clock_behind_seconds 6"));
    const char *log = world_log_end(w);
    expect(strstr(log, "stepped back by 6") || strstr(log, "stepped back by 5"));
    clock_step_wall_clock(MINUTES(10));
    expect_soon(!strstr(get_readiness(w).body.p, "warning"));
}

static void start_with_a_clock_behind_the_database_is_reported(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    (void)ada;
    world_stop(w);
    clock_step_wall_clock(-MINUTES(30));
    world_log_begin(w);
    expect(world_try_start(w));
    const char *log = world_log_end(w);
    expect(strstr(log, "s behind the newest message or account"));
    struct answer a = get_readiness(w);
    expect_status(a, 200);
    expect(strstr(answer_text(a, "warning"), "Set the clock"));
}

/* A small step is not reported, and ids stay increasing. */
static void ids_stay_above_database_ids_after_a_small_clock_step(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_stop(w);
    clock_step_wall_clock(-MINUTES(1) / 2);
    snowflake_set_node(0); /* a new process starts with this state */
    expect(world_try_start(w));
    expect(!strstr(get_readiness(w).body.p, "warning"));
    const char *guild = answer_text(client_post(ada, "{'name': 'Here'}", "/guilds"), "id");
    expect(id_of(guild) > id_of(ada->id));
}

const struct test clock_tests[] = {
    TEST_WITH(clock_set_back_does_not_prolong_rate_limits, configure_enabled_rate_limits),
    TEST_WITH(clock_set_back_is_logged_and_ids_stay_increasing, configure_log_level),
    TEST_WITH(start_with_a_clock_behind_the_database_is_reported, configure_log_level),
    TEST(ids_stay_above_database_ids_after_a_small_clock_step),
    { 0 },
};
