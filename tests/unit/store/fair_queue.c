/* fair_queue.c - tests the scheduling of long background reads between their owners. */
#include "unit/unit.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "support/silence.h"
#include "support/stores.h"
#include "support/test_work.h"

enum { ASIDES = 2 }; /* background threads of a store */

/* Reads that run one after the other and record their order. */
struct in_turn {
    struct test_work one;
    int *count;
    int location; /* index in the order of execution, from 0 */
};

static enum err record_execution_order(struct work_item *w, struct tx *tx)
{
    struct in_turn *t = container_of(w, struct in_turn, one.work);

    (void)tx;
    t->location = (*t->count)++;
    return OK;
}

/* A read that blocks its thread until it is released. */
struct keeper {
    struct test_work one;
    sem_t *entered, *go;
};

static enum err block_thread(struct work_item *w, struct tx *tx)
{
    struct keeper *k = container_of(w, struct keeper, one.work);

    (void)tx;
    sem_post(k->entered);
    wait_for(k->go);
    return OK;
}

static void submit_background_store_read(struct fixture *f, struct test_work *one,
                                         struct test_work *ones, uint64_t owner,
                                         enum err (*run)(struct work_item *w, struct tx *tx))
{
    *one = *ones;
    one->work.mode = STORE_READ;
    one->work.in_background = true;
    one->work.owner = owner;
    one->work.run = run;
    store_submit_work_item(f->store, &one->work);
}

/* A thread stays blocked, so that the others run in the order of one thread. */
static void background_reads_alternate_between_owners_and_urgent_reads_run_first(void **state)
{
    enum { GREEDY = 40, MODEST = GREEDY, URGENT, ALL };
    struct fixture *f = *state;
    struct keeper keepers[ASIDES];
    struct in_turn reads[ALL];
    sem_t entered, go, finished;
    int count = 0;

    sem_init(&entered, 0, 0);
    sem_init(&go, 0, 0);
    struct test_work *ones = test_works_new(ASIDES + ALL, &finished);
    for (int i = 0; i < ASIDES; i++) {
        keepers[i].entered = &entered;
        keepers[i].go = &go;
        submit_background_store_read(f, &keepers[i].one, &ones[ALL + i], 0, block_thread);
        wait_for(&entered);
    }
    for (int i = 0; i < ALL; i++) {
        reads[i].count = &count;
        ones[i].work.urgent = i == URGENT;
        submit_background_store_read(f, &reads[i].one, &ones[i], i < GREEDY ? 1 : 2,
                                     record_execution_order);
    }
    sem_post(&go);
    for (int i = 0; i < ALL + 1; i++)
        wait_for(&finished);
    sem_post(&go);
    wait_for(&finished);

    assert_int_equal(reads[URGENT].location, 0);
    assert_int_equal(reads[0].location, 1);
    assert_int_equal(reads[MODEST].location, 2);
    for (int i = 1; i < GREEDY; i++)
        assert_int_equal(reads[i].location, i + 2);
    test_works_free(ones, ASIDES + ALL);
    sem_destroy(&entered);
    sem_destroy(&go);
    sem_destroy(&finished);
}

static atomic_bool enough;

/* Runs until the test ends it. */
static enum err read_until_test_ends(struct work_item *w, struct tx *tx)
{
    static const char COUNT[] = "with recursive n (i) as (select cast(1 as bigint) union all "
                                "select i + 1 from n where i < 20000) select count(*) from n";
    struct rows row;
    bool found;
    enum err e = OK;

    (void)w;
    while (!e && !atomic_load(&enough))
        e = tx_one(tx, COUNT, NO_BIND, &row, &found);
    return e;
}

static enum err read_little(struct work_item *w, struct tx *tx)
{
    struct rows row;
    bool found;

    (void)w;
    return tx_one(tx, "select count(*) from migrations", NO_BIND, &row, &found);
}

static bool ends_within_a_minute(sem_t *finished)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    return sem_timedwait(finished, &until) == 0;
}

static void short_reads_are_served_despite_many_long_reads(void **state)
{
    enum { LONG = 5, SHORT = 3 };
    struct fixture *f = *state;
    struct test_work reads[LONG], brief[SHORT];
    sem_t long_done, short_done;

    atomic_store(&enough, false);
    struct test_work *ones = test_works_new(LONG, &long_done),
                     *others = test_works_new(SHORT, &short_done);
    for (int i = 0; i < LONG; i++)
        submit_background_store_read(f, &reads[i], &ones[i], (uint64_t)i + 1, read_until_test_ends);
    for (int i = 0; i < SHORT; i++) {
        submit_background_store_read(f, &brief[i], &others[i], LONG + 1, read_little);
        assert_true(ends_within_a_minute(&short_done));
        assert_int_equal(brief[i].result, OK);
    }
    assert_int_not_equal(sem_trywait(&long_done), 0);
    atomic_store(&enough, true);
    for (int i = 0; i < LONG; i++)
        wait_for(&long_done);
    for (int i = 0; i < LONG; i++)
        assert_int_equal(reads[i].result, OK);
    test_works_free(ones, LONG);
    test_works_free(others, SHORT);
    sem_destroy(&long_done);
    sem_destroy(&short_done);
}

/* The engine interrupts this long statement, and the caller does not notice. */
static enum err run_long_count(struct work_item *w, struct tx *tx)
{
    struct test_work *one = container_of(w, struct test_work, work);
    struct rows row;
    bool found;
    enum err e = tx_one(tx,
                        "with recursive n (i) as (select cast(1 as bigint) union all "
                        "select i + 1 from n where i < 600000) select count(*) from n",
                        NO_BIND, &row, &found);

    one->add = e ? 0 : row_int(&row, 0);
    return e;
}

static void interrupted_reads_are_restarted_and_complete(void **state)
{
    enum { COUNT = 4 };
    struct fixture *f = *state;
    struct test_work reads[COUNT];
    sem_t finished;
    struct test_work *ones = test_works_new(COUNT, &finished);

    for (int i = 0; i < COUNT; i++)
        submit_background_store_read(f, &reads[i], &ones[i], 1, run_long_count);
    for (int i = 0; i < COUNT; i++)
        wait_for(&finished);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(reads[i].result, OK);
        assert_int_equal(reads[i].add, 600000);
    }
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

static void store_close_completes_long_reads(void **state)
{
    enum { COUNT = 4 };
    struct fixture *f = *state;
    struct test_work reads[COUNT];
    sem_t finished;
    struct test_work *ones = test_works_new(COUNT, &finished);

    for (int i = 0; i < COUNT; i++)
        submit_background_store_read(f, &reads[i], &ones[i], (uint64_t)i, run_long_count);
    store_close(f->store);
    for (int i = 0; i < COUNT; i++) {
        wait_for(&finished);
        assert_int_equal(reads[i].result, OK);
    }
    no_error(store_open(&f->options, &f->store));
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

/* --- slow network ---------------------------------------------------------------------- */

struct far_read {
    struct test_work one;
    atomic_int times; /* number of times the read was started */
};

static enum err read_in_six_round_trips(struct work_item *w, struct tx *tx)
{
    enum { ROUND_TRIPS = 6 };
    struct far_read *r = container_of(w, struct far_read, one.work);
    struct rows row;
    bool found;
    enum err e = OK;

    atomic_fetch_add(&r->times, 1);
    for (int i = 0; i < ROUND_TRIPS && !e; i++)
        e = tx_one(tx, "select count(*) from migrations", NO_BIND, &row, &found);
    return e;
}

/* The thread that interrupts no reads stays blocked until all reads have started. */
static void run_short_reads_while_long_read_runs(struct fixture *f, struct far_read *reads,
                                                 int count)
{
    struct keeper keeper;
    sem_t entered, go, finished;
    struct test_work *ones = test_works_new((size_t)count + 1, &finished);

    sem_init(&entered, 0, 0);
    sem_init(&go, 0, 0);
    keeper.entered = &entered;
    keeper.go = &go;
    ones[count].work.is_long = true;
    submit_background_store_read(f, &keeper.one, &ones[count], 0, block_thread);
    wait_for(&entered);
    for (int i = 0; i < count; i++)
        submit_background_store_read(f, &reads[i].one, &ones[i], 1, read_in_six_round_trips);
    for (int i = 0; i < count; i++)
        while (!atomic_load(&reads[i].times))
            usleep(1000);
    sem_post(&go);
    for (int i = 0; i < count + 1; i++)
        wait_for(&finished);
    test_works_free(ones, (size_t)count + 1);
    sem_destroy(&entered);
    sem_destroy(&go);
    sem_destroy(&finished);
}

static int count_uninterrupted_reads(struct fixture *f)
{
    enum { READS = 8 };
    struct far_read reads[READS] = { 0 };
    int begun_once = 0;

    run_short_reads_while_long_read_runs(f, reads, READS);
    for (int i = 0; i < READS; i++) {
        assert_int_equal(reads[i].one.result, OK);
        begun_once += atomic_load(&reads[i].times) == 1;
    }
    return begun_once;
}

/* The round trips alone take longer than a read's time share. A busy machine may take even
 * longer, but not every time. */
static void read_is_not_interrupted_because_of_network_latency(void **state)
{
    enum { ROUND_TRIP_MS = 12, TRIES = 20 };
    struct fixture *f = *state;
    int tries = 0;

    if (!f->postgres)
        return;
    struct silence *wire = silence_new(f->postgres);
    silence_stretch(wire, ROUND_TRIP_MS);
    store_close(f->store);
    f->options.postgres = silence_where(wire);
    no_error(store_open(&f->options, &f->store));
    while (!count_uninterrupted_reads(f))
        assert_in_range(++tries, 1, TRIES);
    store_close(f->store);
    f->store = NULL;
    silence_free(wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(background_reads_alternate_between_owners_and_urgent_reads_run_first),
        store_test(short_reads_are_served_despite_many_long_reads),
        store_test(interrupted_reads_are_restarted_and_complete),
        store_test(store_close_completes_long_reads),
        store_test(read_is_not_interrupted_because_of_network_latency),
    };

    log_init(2, LOG_OFF, 0);
    snowflake_set_node(1);
    return run_on_both("store/lanes", tests);
}
