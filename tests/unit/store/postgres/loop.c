/* loop.c - tests reads that query PostgreSQL from their event loop. */
#include "unit/unit.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "support/batches.h"
#include "support/postgres.h"
#include "support/test_sql.h"

static uint64_t variants(struct fixture *f)
{
    struct store_stats stats;

    store_read_stats(f->store, &stats);
    return stats.round_trips;
}

static void reads_of_one_iteration_share_a_round_trip(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "together", .questions = 1 };

    batch_ask_on_loop(&b, loops, 1);
    uint64_t before;
    int tries = 0;
    do { /* workers may still connect */
        assert_in_range(++tries, 1, 100);
        before = variants(f);
        batch_ask(&b, loops, READS_PER_ROUND_TRIP);
    } while (!batch_was_on_loop(&b) || variants(f) - before != 1);
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++) {
        assert_int_equal(b.reads[i].runs, 2);
        assert_int_equal(b.reads[i].seen[0], 0);
    }
    loops_stop(loops);
}

/* Another transaction writes between the two queries, which the read must not see. */
static enum err query_while_another_writes(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, counter_questions[0], NO_BIND, &r, &found);

    a->on_loop = loop_get_current();
    if (e)
        return e;
    a->seen[0] = row_int(&r, 0);
    if (!a->runs++)
        test_postgres_do(a->batch->f->postgres, "update counter set n = n + 10");
    e = tx_one(tx, counter_questions[1], NO_BIND, &r, &found);
    if (!e)
        a->seen[1] = row_int(&r, 0);
    return e;
}

static void read_with_two_queries_sees_one_snapshot(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "twice", .run = query_while_another_writes };

    for (int seen = 0; seen < 3; seen += b.reads[0].on_loop) {
        int64_t n = store_number(f->store, "select n from counter");

        batch_ask(&b, loops, 1);
        assert_int_equal(b.reads[0].one.result, OK);
        assert_int_equal(b.reads[0].seen[0], n);
        assert_int_equal(b.reads[0].seen[1], n + 1);
        assert_int_equal(store_number(f->store, "select n from counter"), n + 10);
    }
    loops_stop(loops);
}

/* Earlier reads of this name ended after their first query. */
static void read_with_more_queries_than_predicted_completes(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "more", .questions = 1 };

    batch_ask_on_loop(&b, loops, 1);
    for (int i = 0; i < 4; i++)
        batch_ask(&b, loops, 2);
    b.questions = 4;
    batch_ask(&b, loops, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(b.reads[i].one.result, OK);
        assert_int_equal(b.reads[i].seen[3], 3);
    }
    loops_stop(loops);
}

/* The second query uses the id that the first query returned. */
static enum err query_twice_by_id(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct value id = v_id(a->batch->id);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select n + cast($1 as bigint) from counter", &id, 1, &r, &found);

    a->runs++;
    a->on_loop = loop_get_current();
    if (!e)
        a->seen[0] = row_int(&r, 0);
    if (!e && a->questions > 1)
        e = tx_one(tx, "select n - cast($1 as bigint), $2 from counter",
                   BIND(id, v_text(STR("words"))), &r, &found);
    if (!e && a->questions > 1)
        a->seen[1] = row_int(&r, 0);
    return e;
}

static void expect_seen(const struct batch *b)
{
    for (int i = 0; i < b->count; i++) {
        assert_int_equal(b->reads[i].one.result, OK);
        assert_int_equal(b->reads[i].seen[0], b->id);
        assert_int_equal(b->reads[i].seen[1], b->questions > 1 ? -b->id : 0);
    }
}

static void second_query_is_prefetched_once_it_was_learned(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "later", .questions = 2, .run = query_twice_by_id };
    uint64_t before;

    b.id = 12345678901;
    do {
        b.id++;
        before = variants(f);
        batch_ask(&b, loops, 3);
        expect_seen(&b);
    } while (!batch_was_on_loop(&b) || variants(f) - before != 1);
    b.questions = 1; /* an unused prefetch does no harm */
    for (int i = 0; i < 10; i++, b.id++) {
        batch_ask(&b, loops, 2);
        expect_seen(&b);
    }
    b.questions = 2;
    batch_ask(&b, loops, 2);
    expect_seen(&b);
    loops_stop(loops);
}

static void loop_reads_continue_after_their_connection_ended(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "ended", .questions = 2 };

    for (int i = 0; i < 3; i++) {
        batch_ask_on_loop(&b, loops, 2);
        test_postgres_do(f->postgres,
                         "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                         "where application_name = current_setting('application_name') "
                         "and pid <> pg_backend_pid()");
        batch_ask(&b, loops, READS_PER_ROUND_TRIP);
        for (int j = 0; j < READS_PER_ROUND_TRIP; j++) {
            assert_int_equal(b.reads[j].one.result, OK);
            assert_int_equal(b.reads[j].seen[1], 1);
        }
    }
    loops_stop(loops);
}

/* A read of the batch has an invalid query: that read fails, and the others complete. */
static enum err query_invalid_sql(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct rows r;
    bool found;

    if (a != &a->batch->reads[1])
        return ask_some(w, tx);
    a->on_loop = loop_get_current();
    return tx_one(tx, "select cast($1 as bigint)", BIND(v_text(STR("no number"))), &r, &found);
}

static void failed_loop_read_does_not_fail_others_of_its_batch(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "nonsense", .questions = 1, .run = query_invalid_sql };

    batch_ask_on_loop(&b, loops, 1);
    batch_ask(&b, loops, 3);
    assert_int_equal(b.reads[0].one.result, OK);
    assert_int_equal(b.reads[1].one.result, ERR_INTERNAL);
    assert_false(b.reads[1].on_loop);
    assert_int_equal(b.reads[2].one.result, OK);
    loops_stop(loops);
}

/* The connection of a loop is shared: a query that broke one is not sent on the next. */
static void queries_that_failed_are_no_longer_sent_from_loops(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch few = { .f = f, .name = "fine", .questions = 1 },
                 b = { .f = f, .name = "failing", .questions = 1, .run = query_invalid_sql };

    batch_ask_on_loop(&b, loops, 1);
    batch_ask(&b, loops, 2);
    assert_int_equal(b.reads[1].one.result, ERR_INTERNAL);
    batch_ask_on_loop(&few, loops, 1);
    batch_ask(&b, loops, 1);
    assert_int_equal(b.reads[0].one.result, OK);
    assert_false(b.reads[0].on_loop);
    loops_stop(loops);
}

/* Slow only on a loop's connection. */
static enum err query_slowly(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct rows r;
    bool found;

    if (a != &a->batch->reads[1] || !loop_get_current())
        return ask_some(w, tx);
    return tx_one(tx, "select 1 from (select pg_sleep(6)) x", NO_BIND, &r, &found);
}

static void slow_loop_read_does_not_block_others(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "slow", .questions = 1, .run = query_slowly };

    batch_ask_on_loop(&b, loops, 1);
    batch_ask(&b, loops, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(b.reads[i].one.result, OK);
        assert_false(b.reads[i].on_loop);
    }
    loops_stop(loops);
}

/* The read declares itself long only when it runs. */
static enum err expect_long(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    enum err e = tx_require_background_thread(tx);

    a->runs++;
    a->on_loop = loop_get_current();
    return e ? e : ask_some(w, tx);
}

static void reads_declared_long_do_not_run_on_a_loop(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch few = { .f = f, .name = "few", .questions = 1 },
                 b = { .f = f, .name = "long", .questions = 1, .run = expect_long };

    batch_ask_on_loop(&few, loops, 1);
    batch_ask(&b, loops, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(b.reads[i].one.result, OK);
        assert_false(b.reads[i].on_loop);
    }
    loops_stop(loops);
}

/* Takes milliseconds of processor time after the result arrived. */
static enum err query_and_compute(struct work_item *w, struct tx *tx)
{
    enum err e = ask_some(w, tx);
    struct timespec began, now;

    if (e)
        return e;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec < 4000000);
    return OK;
}

/* Each of the reads alone would be short enough. */
static void cpu_heavy_reads_do_not_share_a_loop_iteration(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch few = { .f = f, .name = "few", .questions = 1 },
                 b = { .f = f, .name = "heavy", .questions = 1, .run = query_and_compute };
    int on_loop = 0;

    batch_ask_on_loop(&few, loops, 1);
    batch_ask(&b, loops, READS_PER_ROUND_TRIP);
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++) {
        assert_int_equal(b.reads[i].one.result, OK);
        on_loop += b.reads[i].on_loop;
    }
    assert_in_range(on_loop, 0, 2);
    loops_stop(loops);
}

/* Takes 0.5 ms of processor time per row; the number of rows is `questions`. */
static enum err work_between_rows(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct rows r;
    enum err e =
        tx_query(tx, "select generate_series(1, cast($1 as int))", BIND(v_int(a->questions)), &r);

    a->runs++;
    a->on_loop = loop_get_current();
    if (e)
        return e;
    a->seen[0] = 0;
    while (rows_next(&r)) {
        for (int64_t end = clock_thread_cpu_ns() + 500000; clock_thread_cpu_ns() < end;)
            ;
        a->seen[0] += row_int(&r, 0);
    }
    return rows_end(&r);
}

static void measured_reads_stay_on_the_loop_while_their_time_lasts(void **state)
{
    enum { FEW = 2, MANY = 40 };
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = {
        .f = f, .name = "measured", .questions = FEW, .measured = true, .run = work_between_rows
    };

    batch_ask_on_loop(&b, loops, 1);
    assert_int_equal(b.reads[0].seen[0], FEW * (FEW + 1) / 2);
    b.questions = MANY;
    batch_ask(&b, loops, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(b.reads[i].one.result, OK);
        assert_int_equal(b.reads[i].seen[0], MANY * (MANY + 1) / 2);
        assert_false(b.reads[i].on_loop);
    }
    loops_stop(loops);
}

enum { STATEMENTS = 600 };
static char many_sql[STATEMENTS][40];

static enum err query_one_of_many(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, test_sql(many_sql[a->batch->id]), NO_BIND, &r, &found);

    a->on_loop = loop_get_current();
    if (!e)
        a->seen[0] = row_int(&r, 0);
    return e;
}

static enum err count_prepared(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select count(*) from pg_prepared_statements", NO_BIND, &r, &found);

    a->on_loop = loop_get_current();
    if (!e)
        a->seen[0] = row_int(&r, 0);
    return e;
}

static void loop_connection_evicts_old_prepared_statements(void **state)
{
    enum { TRIES = 200, MOST_STATEMENTS = 512 };
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch few = { .f = f, .name = "few", .questions = 1 },
                 b = { .f = f, .name = "many", .run = query_one_of_many },
                 count = { .f = f, .name = "count", .run = count_prepared };

    batch_ask_on_loop(&few, loops, 1);
    for (int i = 0; i < STATEMENTS; i++)
        snprintf(many_sql[i], sizeof many_sql[i], "select n + %d from counter", i);
    for (int i = 0; i < 2 * STATEMENTS; i++) {
        int tries = 0;

        b.id = i % STATEMENTS;
        do {
            assert_in_range(++tries, 1, TRIES);
            batch_ask(&b, loops, 2);
            assert_int_equal(b.reads[1].seen[0], b.id);
        } while (!batch_was_on_loop(&b));
    }
    batch_ask_on_loop(&count, loops, 1);
    assert_in_range(count.reads[0].seen[0], 1, MOST_STATEMENTS);
    loops_stop(loops);
}

static void store_close_completes_loop_reads(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "closing", .questions = 3 };

    batch_ask_on_loop(&b, loops, 1);
    sem_init(&b.finished, 0, 0);
    b.count = READS_PER_ROUND_TRIP;
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++) {
        b.reads[i].one.result = ERR_INTERNAL;
        b.reads[i].batch = &b;
        b.reads[i].questions = b.questions;
        b.reads[i].one.work = b.reads[0].one.work;
        b.reads[i].one.finished = &b.finished;
    }
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++)
        b.reads[i].one.work.arena = arena_new();
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), batch_submit, &b);
    store_close(f->store);
    f->store = NULL;
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++)
        wait_for(&b.finished);
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++) {
        assert_int_equal(b.reads[i].one.result, OK);
        assert_int_equal(b.reads[i].seen[2], 2);
        arena_free(b.reads[i].one.work.arena);
    }
    sem_destroy(&b.finished);
    loops_stop(loops);
}

/* The first read of a loop runs on a worker and makes the loop connect; this thread gets no
 * notification of that. */
static void store_close_is_safe_while_a_loop_connects(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct batch b = { .f = f, .name = "early", .questions = 1 };

    for (int i = 0; i < 10; i++) {
        batch_ask(&b, loops, 1);
        assert_int_equal(b.reads[0].one.result, OK);
        usleep(i % 2 ? 100000 : 0);
        store_close(f->store);
        f->store = NULL;
        no_error(store_open(&f->options, &f->store));
    }
    loops_stop(loops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(reads_of_one_iteration_share_a_round_trip),
        store_test(read_with_two_queries_sees_one_snapshot),
        store_test(read_with_more_queries_than_predicted_completes),
        store_test(second_query_is_prefetched_once_it_was_learned),
        store_test(loop_reads_continue_after_their_connection_ended),
        store_test(failed_loop_read_does_not_fail_others_of_its_batch),
        store_test(queries_that_failed_are_no_longer_sent_from_loops),
        store_test(slow_loop_read_does_not_block_others),
        store_test(reads_declared_long_do_not_run_on_a_loop),
        store_test(cpu_heavy_reads_do_not_share_a_loop_iteration),
        store_test(measured_reads_stay_on_the_loop_while_their_time_lasts),
        store_test(loop_connection_evicts_old_prepared_statements),
        store_test(store_close_completes_loop_reads),
        store_test(store_close_is_safe_while_a_loop_connects),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_loop", tests);
}
