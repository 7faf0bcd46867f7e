/* store_lanes.c - who asks for many long reads makes nobody else wait for all of them. */
#include "unit.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "support/silence.h"
#include "support/stores.h"
#include "support/test_work.h"

enum { ASIDES = 2 }; /* threads of a store for long reads */

/* Reads that run one after the other, and note in which order. */
struct in_turn {
    struct test_work one;
    int *count;
    int place; /* the first to run has 0 */
};

static enum err note_place(struct work *w, struct tx *tx)
{
    struct in_turn *t = container_of(w, struct in_turn, one.work);

    (void)tx;
    t->place = (*t->count)++;
    return OK;
}

/* One that keeps its thread until it may go. */
struct keeper {
    struct test_work one;
    sem_t *entered, *go;
};

static enum err keep_thread(struct work *w, struct tx *tx)
{
    struct keeper *k = container_of(w, struct keeper, one.work);

    (void)tx;
    sem_post(k->entered);
    wait_for(k->go);
    return OK;
}

static void submit_aside(struct fixture *f, struct test_work *one, struct test_work *ones,
                         uint64_t owner, enum err (*run)(struct work *w, struct tx *tx))
{
    *one = *ones;
    one->work.mode = STORE_READ;
    one->work.aside = true;
    one->work.owner = owner;
    one->work.run = run;
    store_submit(f->store, &one->work);
}

/* Of the threads one is kept to the end, so that the others' order is that of one thread. */
static void owners_take_turns_and_urgent_ones_come_first(void **state)
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
        submit_aside(f, &keepers[i].one, &ones[ALL + i], 0, keep_thread);
        wait_for(&entered);
    }
    for (int i = 0; i < ALL; i++) {
        reads[i].count = &count;
        ones[i].work.urgent = i == URGENT;
        submit_aside(f, &reads[i].one, &ones[i], i < GREEDY ? 1 : 2, note_place);
    }
    sem_post(&go);
    for (int i = 0; i < ALL + 1; i++)
        wait_for(&finished);
    sem_post(&go);
    wait_for(&finished);

    assert_int_equal(reads[URGENT].place, 0);
    assert_int_equal(reads[0].place, 1);
    assert_int_equal(reads[MODEST].place, 2);
    for (int i = 1; i < GREEDY; i++)
        assert_int_equal(reads[i].place, i + 2);
    test_works_free(ones, ASIDES + ALL);
    sem_destroy(&entered);
    sem_destroy(&go);
    sem_destroy(&finished);
}

static atomic_bool enough;

/* Takes as long as the test wants it to. */
static enum err read_on_and_on(struct work *w, struct tx *tx)
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

static enum err read_little(struct work *w, struct tx *tx)
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

/* More than there are threads, each of another owner. */
static void however_many_take_long_short_ones_are_served(void **state)
{
    enum { LONG = 5, SHORT = 3 };
    struct fixture *f = *state;
    struct test_work reads[LONG], brief[SHORT];
    sem_t long_done, short_done;

    atomic_store(&enough, false);
    struct test_work *ones = test_works_new(LONG, &long_done),
                     *others = test_works_new(SHORT, &short_done);
    for (int i = 0; i < LONG; i++)
        submit_aside(f, &reads[i], &ones[i], (uint64_t)i + 1, read_on_and_on);
    for (int i = 0; i < SHORT; i++) {
        submit_aside(f, &brief[i], &others[i], LONG + 1, read_little);
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

/* A statement that takes long by itself: it is ended by the engine, and nobody hears of that. */
static enum err count_far(struct work *w, struct tx *tx)
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

static void what_is_broken_off_is_read_whole_in_the_end(void **state)
{
    enum { COUNT = 4 };
    struct fixture *f = *state;
    struct test_work reads[COUNT];
    sem_t finished;
    struct test_work *ones = test_works_new(COUNT, &finished);

    for (int i = 0; i < COUNT; i++)
        submit_aside(f, &reads[i], &ones[i], 1, count_far);
    for (int i = 0; i < COUNT; i++)
        wait_for(&finished);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(reads[i].result, OK);
        assert_int_equal(reads[i].add, 600000);
    }
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

static void closing_finishes_long_reads_too(void **state)
{
    enum { COUNT = 4 };
    struct fixture *f = *state;
    struct test_work reads[COUNT];
    sem_t finished;
    struct test_work *ones = test_works_new(COUNT, &finished);

    for (int i = 0; i < COUNT; i++)
        submit_aside(f, &reads[i], &ones[i], (uint64_t)i, count_far);
    store_close(f->store);
    for (int i = 0; i < COUNT; i++) {
        wait_for(&finished);
        assert_int_equal(reads[i].result, OK);
    }
    no_error(store_open(&f->options, &f->store));
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

/* --- far away -------------------------------------------------------------------------- */

struct far_read {
    struct test_work one;
    atomic_int times; /* that it was begun */
};

static enum err read_in_ways(struct work *w, struct tx *tx)
{
    enum { WAYS = 6 };
    struct far_read *r = container_of(w, struct far_read, one.work);
    struct rows row;
    bool found;
    enum err e = OK;

    atomic_fetch_add(&r->times, 1);
    for (int i = 0; i < WAYS && !e; i++)
        e = tx_one(tx, "select count(*) from migrations", NO_BIND, &row, &found);
    return e;
}

/* The thread that breaks nothing off is kept, until all are begun that were not broken off. */
static void read_beside_a_long_one(struct fixture *f, struct far_read *reads, int count)
{
    struct keeper keeper;
    sem_t entered, go, finished;
    struct test_work *ones = test_works_new((size_t)count + 1, &finished);

    sem_init(&entered, 0, 0);
    sem_init(&go, 0, 0);
    keeper.entered = &entered;
    keeper.go = &go;
    ones[count].work.is_long = true;
    submit_aside(f, &keeper.one, &ones[count], 0, keep_thread);
    wait_for(&entered);
    for (int i = 0; i < count; i++)
        submit_aside(f, &reads[i].one, &ones[i], 1, read_in_ways);
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

static int read_far_away(struct fixture *f)
{
    enum { READS = 8 };
    struct far_read reads[READS] = { 0 };
    int begun_once = 0;

    read_beside_a_long_one(f, reads, READS);
    for (int i = 0; i < READS; i++) {
        assert_int_equal(reads[i].one.result, OK);
        begun_once += atomic_load(&reads[i].times) == 1;
    }
    return begun_once;
}

/* The ways alone take longer than a share. A busy machine may take longer still, but not each
 * time. */
static void a_read_is_not_broken_off_because_the_database_is_far_away(void **state)
{
    enum { WAY_MS = 12, TRIES = 20 };
    struct fixture *f = *state;
    int tries = 0;

    if (!f->postgres)
        return;
    struct silence *wire = silence_new(f->postgres);
    silence_stretch(wire, WAY_MS);
    store_close(f->store);
    f->options.postgres = silence_where(wire);
    no_error(store_open(&f->options, &f->store));
    while (!read_far_away(f))
        assert_in_range(++tries, 1, TRIES);
    store_close(f->store);
    f->store = NULL;
    silence_free(wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(owners_take_turns_and_urgent_ones_come_first),
        store_test(however_many_take_long_short_ones_are_served),
        store_test(what_is_broken_off_is_read_whole_in_the_end),
        store_test(closing_finishes_long_reads_too),
        store_test(a_read_is_not_broken_off_because_the_database_is_far_away),
    };

    log_init(2, LOG_OFF, 0);
    snowflake_init(1);
    return run_on_both("store/lanes", tests);
}
