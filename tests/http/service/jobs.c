/* jobs.c - scheduled jobs run at their time, once, also after a restart. */
#include "waits.h"
#include "world.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "api/jobs/internal_call.h"
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "platform/accounts/accounts.h"

/* --- a test domain whose jobs write into accounts ------------------------------------- */

static _Atomic int failures_left, starts;

static enum err append_to_bio(struct tx *tx, snowflake id, struct str text)
{
    return tx_exec(tx, "update users set bio = bio || $1 where id = $2",
                   BIND(v_text(text), v_id(id)), NULL);
}

static enum err run_append_job(struct call *call, const struct job *job)
{
    struct user user = { .id = job->key, .username = STR("somebody") };
    enum err e = append_to_bio(call->tx, job->key, job->data);

    if (!e && failures_left > 0) {
        failures_left--;
        return ERR_INTERNAL;
    }
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(job->key), &partial_user_schema,
                    &user);
    return e;
}
static const struct job_kind append_kind = { "append", "Adds to a biography.",
                                             .run = run_append_job };

static const struct job_kind fetch_kind;

static enum err finish_fetch(struct call *call)
{
    const snowflake *key = call_get_stage_data(call, "snowflake");
    snowflake id = *key;
    enum err e = append_to_bio(call->tx, id, STR("fetched "));

    return e ? e : job_cancel(call, &fetch_kind, id);
}

static void run_job_that_sends_a_request(struct api *api, struct loop *loop, const struct job *job)
{
    /* The first run is lost and its lease expires. */
    if (starts++ > 0)
        internal_call_start(api, loop,
                            &(struct internal_call){ .store = ROUTE_STORE_WRITE,
                                                     .run = finish_fetch,
                                                     .type = "snowflake",
                                                     .data = &job->key,
                                                     .size = sizeof job->key });
}
static const struct job_kind fetch_kind = { "fetch", "Takes long.",
                                            .start = run_job_that_sends_a_request,
                                            .lease_ms = 60 * 1000 };

/* A job that runs until the test ends it. */
static struct job held;
static atomic_int holds;

static void run_test_job_without_finishing_it(struct api *api, struct loop *loop,
                                              const struct job *job)
{
    (void)api, (void)loop;
    if (holds == 0)
        held = *job;
    held.data = (struct str){ 0 };
    holds++;
}
static const struct job_kind hold_kind = { "hold", "Goes on.",
                                           .start = run_test_job_without_finishing_it,
                                           .lease_ms = 60 * 1000 };

static const struct job_kind *const kinds[] = { &append_kind, &fetch_kind, &hold_kind, NULL };

struct decode_plan {
    struct str word;
    int64_t seconds;
};

static const struct type type_seconds = { .kind = KIND_INT, .min = 0, .max = 1000 };
static const struct type type_word = { .kind = KIND_STRING, .max = 100 };
static const struct field plan_fields[] = {
    { FIELD(struct decode_plan, word), .type = &type_word },
    { FIELD(struct decode_plan, seconds), .type = &type_seconds },
    { 0 },
};
static const struct schema plan_schema = { "Plan", sizeof(struct decode_plan), plan_fields,
                                           .doc = "When to write what." };
static const struct type plan_type = { .kind = KIND_OBJECT, .schema = &plan_schema };

static enum err schedule_append(struct call *call)
{
    const struct decode_plan *in = call->body;

    return job_schedule(call, &append_kind, call->caller->id, clock_us() + in->seconds * 1000000,
                        in->word);
}

static enum err schedule_fetch(struct call *call)
{
    return job_schedule(call, &fetch_kind, call->caller->id, clock_us(), STR(""));
}

static enum err schedule_hold(struct call *call)
{
    return job_schedule(call, &hold_kind, call->caller->id,
                        clock_us() + holds * 100 * INT64_C(1000000), STR(""));
}

/* Returns 404 if the job is no longer held. */
static enum err renew_hold(struct call *call)
{
    bool ours;
    enum err e = job_renew_lease(call, &held, clock_us() + 50 * INT64_C(1000000), STR(""), &ours);

    return e || ours ? e : ERR_NOT_FOUND;
}

static enum err finish_hold(struct call *call)
{
    return job_finish(call, &held);
}

static enum err schedule_unknown_job(struct call *call)
{
    static const struct job_kind unknown = { .name = "of another version" };

    return job_schedule(call, &unknown, 1, clock_us() - 1, STR(""));
}

static enum err cancel_append(struct call *call)
{
    return job_cancel(call, &append_kind, call->caller->id);
}

static enum err get_bio(struct call *call)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select bio from users where id = $1",
                        BIND(v_id(call->caller->id)), &row, &found);

    return e ? e : call_reply_with_object(call, &(struct decode_plan){ .word = row_text(&row, 0) });
}

static const struct route routes[] = {
    { .method = POST,
      .path = "/plan",
      .name = "plan_append",
      .doc = "Later.",
      .auth = AUTH_USER,
      .body = &plan_type,
      .status = 204,
      .handle = schedule_append },
    { .method = DELETE,
      .path = "/plan",
      .name = "drop_plan",
      .doc = "Never.",
      .auth = AUTH_USER,
      .status = 204,
      .handle = cancel_append },
    { .method = POST,
      .path = "/fetch",
      .name = "plan_fetch",
      .doc = "Long.",
      .auth = AUTH_USER,
      .status = 204,
      .handle = schedule_fetch },
    { .method = POST,
      .path = "/hold",
      .name = "plan_hold",
      .doc = "Goes on.",
      .auth = AUTH_USER,
      .status = 204,
      .handle = schedule_hold },
    { .method = PATCH,
      .path = "/hold",
      .name = "renew_hold",
      .doc = "Goes on longer.",
      .auth = AUTH_USER,
      .status = 204,
      .handle = renew_hold },
    { .method = DELETE,
      .path = "/hold",
      .name = "finish_hold",
      .doc = "Is done.",
      .auth = AUTH_USER,
      .status = 204,
      .handle = finish_hold },
    { .method = POST,
      .path = "/unknown",
      .name = "plan_unknown",
      .doc = "What?",
      .auth = AUTH_USER,
      .status = 204,
      .handle = schedule_unknown_job },
    { .method = GET,
      .path = "/bio",
      .name = "get_bio",
      .doc = "What was written.",
      .auth = AUTH_USER,
      .reply = &plan_type,
      .handle = get_bio },
    { 0 },
};
static const struct domain plans_domain = {
    .name = "plans", .doc = "Plans.", .routes = routes, .jobs = kinds
};
static const struct domain *const domains[] = { &plans_domain, NULL };

static void expect_count_of_unfinished_runs(int n)
{
    expect_soon(holds == n);
}

/* Waits up to a minute of real time. */
static void expect_bio(struct client *c, const char *text)
{
    struct answer a = client_get(c, "/bio");

    for (int i = 0; i < 6000 && !str_is(str_of(answer_text(a, "word")), text); i++) {
        usleep(10000);
        a = client_get(c, "/bio");
    }
    expect_json(a, "{'word': '%s'}", text);
}

/* Jobs run in order of their due times: when a job of the witness that is due now has run,
 * earlier ones have run, too. */
static void wait_until_earlier_due_jobs_have_run(struct client *witness)
{
    const char *before = answer_text(client_get(witness, "/bio"), "word");
    char after[128];

    snprintf(after, sizeof after, "%s.", before);
    expect_status(client_post(witness, "{'word': '.', 'seconds': 0}", "/plan"), 204);
    expect_bio(witness, after);
}

/* Waits until the failed job is rescheduled. */
static void wait_for_count_of_remaining_failures(struct world *w, int left)
{
    expect_soon(failures_left == left);
    world_settle(w);
}

static void wait_for_job_start_count(int n)
{
    expect_soon(starts == n);
}

/* --- tests ---------------------------------------------------------------------------- */

static void job_runs_at_its_due_time_and_not_before(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_post(ada, "{'word': 'a', 'seconds': 100}", "/plan"), 204);
    world_wait(w, 99);
    wait_until_earlier_due_jobs_have_run(bob);
    expect_bio(ada, "");
    expect_silence(ada);
    world_wait(w, 1);
    expect_bio(ada, "a");
    expect_event(ada, "USER_UPDATE", "{'id': '%s'}", ada->id);
    world_wait(w, 1000);
    wait_until_earlier_due_jobs_have_run(bob);
    expect_bio(ada, "a");
}

static void job_that_is_already_due_runs_without_another_request(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_post(ada, "{'word': 'now', 'seconds': 0}", "/plan"), 204);
    expect_bio(ada, "now");
}

/* An idle timer runs every 250 ms. On a busy machine many rounds take as long; without a wake-up
 * they cannot be shorter many times. */
static void job_that_is_already_due_does_not_wait_for_the_timer(struct world *w)
{
    enum { PEOPLE = 10, EACH = 100, QUICK_ONES = 10, TICK_MS = 250 };
    struct client *people[PEOPLE];
    char words[EACH + 1] = { 0 };
    int quick = 0;

    for (int i = 0; i < PEOPLE; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        people[i] = world_client(w, name);
    }
    for (int i = 0; i < PEOPLE * EACH && quick < QUICK_ONES; i++) {
        int64_t began = clock_monotonic_ns();

        words[i / PEOPLE] = 'x';
        expect_status(client_post(people[i % PEOPLE], "{'word': 'x', 'seconds': 0}", "/plan"), 204);
        expect_bio(people[i % PEOPLE], words);
        quick += clock_monotonic_ns() - began < TICK_MS * INT64_C(1000000) * 3 / 4;
    }
    expect(quick == QUICK_ONES);
}

static void jobs_with_the_same_key_replace_each_other(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_post(ada, "{'word': 'first', 'seconds': 10}", "/plan"), 204);
    expect_status(client_post(ada, "{'word': 'second', 'seconds': 20}", "/plan"), 204);
    expect_status(client_post(bob, "{'word': 'bob', 'seconds': 10}", "/plan"), 204);
    world_wait(w, 10);
    expect_bio(bob, "bob");
    expect_bio(ada, "");
    world_wait(w, 10);
    expect_bio(ada, "second");
}

static void job_can_be_canceled(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_post(ada, "{'word': 'a', 'seconds': 10}", "/plan"), 204);
    expect_status(client_delete(ada, "/plan"), 204);
    expect_status(client_delete(ada, "/plan"), 204);
    world_wait(w, 20);
    wait_until_earlier_due_jobs_have_run(bob);
    expect_bio(ada, "");
}

static void job_survives_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_post(ada, "{'word': 'a', 'seconds': 50}", "/plan"), 204);
    world_restart(w);
    wait_until_earlier_due_jobs_have_run(bob);
    expect_bio(ada, "");
    world_stop(w);
    world_wait(w, 60);
    expect(world_try_start(w));
    expect_bio(ada, "a");
}

static void failed_job_is_rolled_back_and_retried(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    failures_left = 2;
    expect_status(client_post(ada, "{'word': 'a', 'seconds': 0}", "/plan"), 204);
    wait_for_count_of_remaining_failures(w, 1);
    expect_bio(ada, "");
    world_wait(w, 5);
    wait_for_count_of_remaining_failures(w, 0);
    expect_bio(ada, "");
    expect_silence(ada);
    world_wait(w, 5);
    expect_bio(ada, "a");
}

static void job_whose_lease_expires_is_started_again(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    starts = 0;
    expect_status(client_post(ada, NULL, "/fetch"), 204);
    wait_for_job_start_count(1);
    world_wait(w, 59);
    wait_until_earlier_due_jobs_have_run(bob);
    expect(starts == 1);
    world_wait(w, 1);
    expect_bio(ada, "fetched ");
    world_wait(w, 100);
    wait_until_earlier_due_jobs_have_run(bob);
    expect(starts == 2);
}

/* A job scheduled again while it runs is neither postponed nor finished with the running one. */
static void job_scheduled_again_while_running_runs_again(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    holds = 0;
    expect_status(client_post(ada, NULL, "/hold"), 204);
    expect_count_of_unfinished_runs(1);
    expect_status(client_patch(ada, NULL, "/hold"), 204);
    expect_status(client_post(ada, NULL, "/hold"), 204); /* in 100 seconds */
    expect_status(client_patch(ada, NULL, "/hold"), 404);
    expect_status(client_delete(ada, "/hold"), 204);
    world_wait(w, 100);
    expect_count_of_unfinished_runs(2);
    expect_status(client_patch(ada, NULL, "/hold"), 404);
}

static void finished_job_is_not_started_again(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    holds = 0;
    expect_status(client_post(ada, NULL, "/hold"), 204);
    expect_count_of_unfinished_runs(1);
    expect_status(client_delete(ada, "/hold"), 204);
    expect_status(client_patch(ada, NULL, "/hold"), 404);
    expect_status(client_post(ada, "{'word': 'later', 'seconds': 1000}", "/plan"), 204);
    world_wait(w, 1000);
    expect_bio(ada, "later");
    expect(holds == 1);
}

static void job_of_an_unknown_kind_does_not_block_others(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_post(ada, NULL, "/unknown"), 204);
    expect_status(client_post(ada, "{'word': 'a', 'seconds': 0}", "/plan"), 204);
    expect_bio(ada, "a");
}

static void more_jobs_than_one_batch_all_run(struct world *w)
{
    enum { MANY = 150 };
    struct client *people[MANY];

    for (int i = 0; i < MANY; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        people[i] = world_client(w, name);
        expect_status(client_post(people[i], "{'word': 'x', 'seconds': 5}", "/plan"), 204);
    }
    world_wait(w, 5);
    for (int i = 0; i < MANY; i++)
        expect_bio(people[i], "x");
}

#define TEST_HERE(function) TEST_ON(function, NULL, domains)

const struct test jobs_tests[] = {
    TEST_HERE(job_runs_at_its_due_time_and_not_before),
    TEST_HERE(job_that_is_already_due_runs_without_another_request),
    TEST_HERE(job_that_is_already_due_does_not_wait_for_the_timer),
    TEST_HERE(jobs_with_the_same_key_replace_each_other),
    TEST_HERE(job_can_be_canceled),
    TEST_HERE(job_survives_a_restart),
    TEST_HERE(failed_job_is_rolled_back_and_retried),
    TEST_HERE(job_whose_lease_expires_is_started_again),
    TEST_HERE(job_scheduled_again_while_running_runs_again),
    TEST_HERE(finished_job_is_not_started_again),
    TEST_HERE(job_of_an_unknown_kind_does_not_block_others),
    TEST_HERE(more_jobs_than_one_batch_all_run),
    { 0 },
};
