/* main.c - tests that ten times as many rows do not cause ten times as much work of the event
 * loop or the writer. One server with one loop gets the same requests with few and with many
 * rows, and records the processor time of the loop and the writer. Background work does not
 * count, because only its caller waits for it. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stall_meter.h"
#include "base/mem.h"
#include "fill_store.h"
#include "gateway_conn.h"

/* PostgreSQL works in its own processes, so only the processing of results is measured. */
enum { ROWS = 2000, ROWS_POSTGRES = 500, GROWTH = 10 };

/* Allowed growth of a request: TIMES times as long plus SLACK. The longest of hundreds of
 * iterations is less precise than the sum of a few. */
enum { TIMES = 3, SLACK_US = 1000, SLACK_TURN_US = 10 * 1000 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOWNESS = 3 }; /* factor for an unoptimised build */
#else
enum { SLOWNESS = 1 };
#endif

/* --- measurement ---------------------------------------------------------------------- */

static struct {
    atomic_llong sum, longest; /* nanoseconds of loop iterations and transactions */
} held;

static void record_duration_of_loop_iteration(const struct stall_record *r)
{
    long long ns = r->longest_ns, longest = held.longest;

    held.sum += ns;
    while (ns > longest && !atomic_compare_exchange_weak(&held.longest, &longest, ns)) {
    }
}

/* Reports every loop iteration, not only long ones. */
static void measure_every_loop_iteration(struct config *config)
{
    config->loops = 1;
    stall_meter_set_test_mode(0, record_duration_of_loop_iteration);
}

/* --- requests ------------------------------------------------------------------------- */

enum measure {
    SUM,     /* the total time of the loop and the writer */
    LONGEST, /* its longest iteration: long work must be split */
};

struct question {
    const char *name;
    enum measure measure;
    size_t who; /* offset of a client in struct group */
    const char *method, *path, *body;
    void (*ask)(struct group *c); /* instead of a request */
};

#define ADA      offsetof(struct group, ada)
#define ROBOT    offsetof(struct group, robot)
#define WANDERER offsetof(struct group, wanderer)

static void start_user_session(struct group *c)
{
    conn_close(conn_session(c->ada, "v=10&encoding=json", ""), 1000);
}

static void start_bot_session(struct group *c)
{
    conn_close(conn_session(c->robot, "v=10&encoding=json", "'intents': 4609"), 1000);
}

static void request_guild_members(struct group *c)
{
    struct gateway_conn *g = conn_session(c->robot, "v=10&encoding=json", "'intents': 3");

    expect_dispatch(g, "GUILD_CREATE", "{}");
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','query':'person77','limit':100}}", c->hall.id);
    expect_dispatch(g, "GUILD_MEMBERS_CHUNK", "{}");
    conn_close(g, 1000);
}

static const struct question questions[] = {
    { "a guild", SUM, ADA, "GET", "/guilds/{guild}?with_counts=true" },
    { "its channels", SUM, ADA, "GET", "/guilds/{guild}/channels" },
    { "its roles", SUM, ADA, "GET", "/guilds/{guild}/roles" },
    { "its open threads", SUM, ADA, "GET", "/guilds/{guild}/threads/active" },
    { "a page of members", SUM, ROBOT, "GET", "/guilds/{guild}/members?limit=100" },
    { "a later page of members", SUM, ROBOT, "GET",
      "/guilds/{guild}/members?limit=100&after=1500" },
    { "a search of members", SUM, ROBOT, "GET", "/guilds/{guild}/members/search?query=person9" },
    { "a member", SUM, ADA, "GET", "/guilds/{guild}/members/{member}" },
    { "a page of bans", SUM, ADA, "GET", "/guilds/{guild}/bans?limit=100" },
    { "the audit log", SUM, ADA, "GET", "/guilds/{guild}/audit-logs?limit=100" },
    { "the audit log of an action", SUM, ADA, "GET", "/guilds/{guild}/audit-logs?action_type=1" },
    { "messages", SUM, ADA, "GET", "/channels/{channel}/messages" },
    { "messages around", SUM, ADA, "GET", "/channels/{channel}/messages?around={message}" },
    { "pins", SUM, ADA, "GET", "/channels/{channel}/messages/pins" },
    { "a page of guilds", SUM, WANDERER, "GET", "/users/@me/guilds?limit=100" },
    { "a profile", SUM, ADA, "GET", "/users/{member}/profile" },
    { "direct channels", LONGEST, ROBOT, "GET", "/users/@me/channels" },
    { "a direct channel", SUM, ROBOT, "POST", "/users/@me/channels",
      "{'recipient_id': '{member}'}" },
    { "a message", SUM, ADA, "POST", "/channels/{channel}/messages", "{'content': 'hi'}" },
    { "a direct message", SUM, ROBOT, "POST", "/channels/{direct}/messages", "{'content': 'hi'}" },
    { "a change of a message", SUM, ADA, "PATCH", "/channels/{channel}/messages/{message}",
      "{'content': 'changed'}" },
    { "a pin", SUM, ADA, "PUT", "/channels/{channel}/messages/pins/{message}" },
    { "typing", SUM, ADA, "POST", "/channels/{channel}/typing" },
    { "an invite", SUM, ADA, "POST", "/channels/{channel}/invites", "{'unique': true}" },
    { "a role for a member", SUM, ADA, "PUT",
      "/guilds/{guild}/members/{member}/roles/{spare_role}" },
    { "a change of a role", SUM, ADA, "PATCH", "/guilds/{guild}/roles/{spare_role}",
      "{'permissions': '1024'}" },
    { "a nickname", SUM, ADA, "PATCH", "/guilds/{guild}/members/{member}", "{'nick': 'seven'}" },
    { "a change of a guild", SUM, ADA, "PATCH", "/guilds/{guild}", "{'name': 'Hall of all'}" },
    { "a change of a channel", SUM, ADA, "PATCH", "/channels/{channel}", "{'topic': 'all'}" },
    { "an overwrite", SUM, ADA, "PUT", "/channels/{channel}/permissions/{guild}",
      "{'type': 0, 'deny': '2048'}" },
    { "a ban", SUM, ADA, "PUT", "/guilds/{guild}/bans/{banned}",
      "{'delete_message_seconds': 604800}" },
    { "a bulk ban", LONGEST, ADA, "POST", "/guilds/{guild}/bulk-ban",
      "{'user_ids': [{spammers}], 'delete_message_seconds': 604800}" },
    { "a member who goes", LONGEST, ADA, "DELETE", "/guilds/{guild}/members/{leaver}" },
    { "a name of a bot", LONGEST, WANDERER, "PATCH", "/users/@me", "{'username': 'wanderer'}" },
    { "a session of a person", SUM, ADA, .ask = start_user_session },
    { "a session of a bot", SUM, ROBOT, .ask = start_bot_session },
    { "members by name", SUM, ROBOT, .ask = request_guild_members },
    { "a role that goes", LONGEST, ADA, "DELETE", "/guilds/{guild}/roles/{spare_role}" },
    { "a channel that goes", LONGEST, ADA, "DELETE", "/channels/{spare_channel}" },
    { "a guild that goes", LONGEST, ADA, "DELETE", "/guilds/{spare_guild}" },
};

static struct answer send_request(struct client *c, const char *method, const char *path,
                                  const char *body)
{
    if (strcmp(method, "GET") == 0)
        return client_get(c, "%s", path);
    if (strcmp(method, "DELETE") == 0)
        return client_delete(c, "%s", path);
    if (strcmp(method, "PATCH") == 0)
        return client_patch(c, body, "%s", path);
    if (strcmp(method, "PUT") == 0)
        return client_put(c, body, "%s", path);
    return client_post(c, body, "%s", path);
}

static void send_request_and_measure_time(struct group *c, const struct question *q)
{
    if (q->ask) {
        q->ask(c);
        return;
    }
    struct client *who = *(struct client **)((char *)c + q->who);
    const char *body = q->body ? group_text(c, q->body) : NULL;
    struct answer a = send_request(who, q->method, group_text(c, q->path), body);

    if (a.status < 200 || a.status > 299)
        fail_test(__FILE__, __LINE__, "%s: %s got status %d: %.*s", q->name, a.call, a.status,
                  STR_ARGS(a.body));
}

/* --- results -------------------------------------------------------------------------- */

/* The iteration that sent the reply has ended when the loop answers the next request. */
static void wait_for_iteration_end(struct group *c)
{
    expect_status(client_get(c->ada, "/gateway"), 200);
    expect_status(client_get(c->ada, "/gateway"), 200);
}

static bool has_jobs(struct group *c)
{
    return world_number(c->world, "select count(*) from jobs where kind like '%%-leftovers' or "
                                  "kind in ('account-spread', 'message-purge')") > 0;
}

static long long measure_once(struct group *c, const struct question *q)
{
    held.sum = held.longest = 0;
    send_request_and_measure_time(c, q);
    wait_for_iteration_end(c);
    for (int i = 0; q->measure != SUM && has_jobs(c) && i < 10000; i++) {
        world_wait(c->world, 1);
        usleep(2000);
    }
    return q->measure == SUM ? held.sum : held.longest;
}

/* Returns the shortest of the rounds in microseconds: other load lengthens some rounds, row
 * scans lengthen all. */
static long long measure(struct group *c, const struct question *q)
{
    long long least = LLONG_MAX;

    for (c->round = 0; c->round < GROUP_ROUNDS; c->round++) {
        long long ns = measure_once(c, q);

        least = ns < least ? ns : least;
    }
    return least / 1000;
}

static bool is_too_much(const struct question *q, long long small, long long large)
{
    return large > TIMES * small + SLOWNESS * (q->measure == SUM ? SLACK_US : SLACK_TURN_US);
}

static void loop_and_writer_time_grow_less_than_the_number_of_rows(struct world *w)
{
    int rows = world_config(w)->store ? ROWS_POSTGRES : ROWS, grown = 0;
    long long small[COUNT_OF(questions)];
    struct group c = group_new(w);

    group_grow(&c, rows);
    for (size_t i = 0; i < COUNT_OF(questions); i++)
        small[i] = measure(&c, &questions[i]);
    group_grow(&c, GROWTH * rows);
    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        long long large = measure(&c, &questions[i]);
        bool much = is_too_much(&questions[i], small[i], large);

        printf("%-28s %7lld us, with ten times the rows %7lld us%s\n", questions[i].name, small[i],
               large, much ? ": too much" : "");
        grown += much;
    }
    expect(grown == 0);
}

static const struct test tests[] = {
    TEST_WITH(loop_and_writer_time_grow_less_than_the_number_of_rows, measure_every_loop_iteration),
    { 0 },
};

int main(int argc, char **argv)
{
    const struct suite suites[] = { { "growth", tests }, { 0 } };

    return run_tests(argc, argv, suites);
}
