/* work.c - tests that transactions run completely or not at all, and that later reads see them.
 * Tests src/store/store.c and src/store/queue.c. */
#include "unit/unit.h"

#include <semaphore.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/loop.h"
#include "support/stores.h"
#include "support/test_work.h"

/* --- atomicity ------------------------------------------------------------------------ */

static void failed_transaction_does_not_affect_others_of_its_batch(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(9, &finished);

    counter_make(f);
    ones[0].answer = ERR_FORBIDDEN;
    ones[4].answer = ERR_UNKNOWN_USER;
    ones[8].answer = ERR_NOT_FOUND;
    run_as_batch(f, ones, 9, &finished);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(ones[i].result, ones[i].answer);
    assert_int_equal(store_number(f->store, "select n from counter"), 6);
    test_works_free(ones, 9);
    sem_destroy(&finished);
}

static enum err insert_ada(struct work_item *w, struct tx *tx)
{
    (void)w;
    return tx_exec(tx, "insert into users (id, username) values ($1, 'ada')",
                   BIND(v_id(snowflake_new())), NULL);
}

static void only_one_of_concurrent_inserts_of_a_name_succeeds(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(8, &finished);
    int won = 0;

    for (size_t i = 0; i < 8; i++)
        ones[i].work.run = insert_ada;
    run_as_batch(f, ones, 8, &finished);
    for (size_t i = 0; i < 8; i++) {
        won += ones[i].result == OK;
        assert_true(ones[i].result == OK || ones[i].result == ERR_STORE_CONFLICT);
    }
    assert_int_equal(won, 1);
    assert_int_equal(store_number(f->store, "select count(*) from users"), 1);
    test_works_free(ones, 8);
    sem_destroy(&finished);
}

static void add_many(struct fixture *f, size_t count)
{
    sem_t finished;
    struct test_work *ones = test_works_new(count, &finished);

    for (size_t i = 0; i < count; i++)
        store_submit_work_item(f->store, &ones[i].work);
    for (size_t i = 0; i < count; i++)
        wait_for(&finished);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ones[i].result, OK);
    test_works_free(ones, count);
    sem_destroy(&finished);
}

/* On PostgreSQL these transactions conflict and are retried. On a busy machine they may run one
 * after the other by chance, so rounds are repeated until some have conflicted. */
static void concurrent_increments_lose_no_update(void **state)
{
    enum { COUNT = 200, MOST_ROUNDS = 100 };
    struct fixture *f = *state;
    struct store_stats stats = { 0 };
    int64_t rounds = 0;

    counter_make(f);
    do {
        add_many(f, COUNT);
        rounds++;
        store_read_stats(f->store, &stats);
    } while (f->postgres && !stats.retries && rounds < MOST_ROUNDS);
    assert_int_equal(store_number(f->store, "select n from counter"), rounds * COUNT);
    if (f->postgres)
        assert_true(stats.retries > 0);
}

/* --- loops ---------------------------------------------------------------------------- */

static struct store *turning; /* the store whose snapshots the loops release */

static void on_loop_iteration_end(struct loop *l, void *arg)
{
    (void)arg;
    store_release_snapshot_of_loop_iteration(turning, l);
}

static struct loops *start_loops(struct fixture *f)
{
    turning = f->store;
    return loops_start(2, on_loop_iteration_end, NULL);
}

struct loop_work {
    struct test_work one;
    struct fixture *f;
    struct loop *expected;
};

static void record_completion_on_loop(struct work_item *w, enum err e)
{
    struct loop_work *lw = container_of(w, struct loop_work, one.work);

    if (loop_get_current() != lw->expected)
        e = ERR_INTERNAL;
    note_done(w, e);
}

static void submit_work_on_loop(struct loop *l, void *arg)
{
    struct loop_work *lw = arg;

    lw->one.work.loop = lw->expected = l;
    lw->one.work.done = record_completion_on_loop;
    store_submit_work_item(lw->f->store, &lw->one.work);
}

static void completion_callback_runs_on_the_submitting_loop(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = start_loops(f);
    sem_t finished;

    counter_make(f);
    for (unsigned i = 0; i < 8; i++) {
        struct test_work *one = test_works_new(1, &finished);
        struct loop_work lw = { .one = *one, .f = f };

        lw.one.work.mode = STORE_WRITE;
        loop_run_function_and_wait(loops_get_loop_at(loops, i % 2), submit_work_on_loop, &lw);
        wait_for(&finished);
        assert_int_equal(lw.one.result, OK);
        test_works_free(one, 1);
    }
    loops_stop(loops);
    assert_int_equal(store_number(f->store, "select n from counter"), 8);
    sem_destroy(&finished);
}

/* Within one loop iteration: read, another thread commits, read again. */
struct turn {
    struct fixture *f;
    int64_t before, after;
    enum err result;
    struct work_item work;
    int64_t *location;
    atomic_int reads;
};

static enum err read_counter(struct work_item *w, struct tx *tx)
{
    struct turn *t = container_of(w, struct turn, work);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select n from counter where id = 1", NO_BIND, &r, &found);

    if (!e)
        *t->location = row_int(&r, 0);
    return e;
}

static void record_result_of_loop_read(struct work_item *w, enum err e)
{
    struct turn *t = container_of(w, struct turn, work);

    if (e)
        t->result = e;
    atomic_fetch_add(&t->reads, 1);
}

static void run_read_write_and_read_on_loop(struct loop *l, void *arg)
{
    struct turn *t = arg;

    t->work = (struct work_item){
        .mode = STORE_READ,
        .loop = l,
        .run = read_counter,
        .done = record_result_of_loop_read,
        .arena = arena_new(),
    };
    t->location = &t->before;
    store_submit_work_item(t->f->store, &t->work);
    /* Called from no loop: the writer commits and wakes this thread within the iteration. */
    t->result = store_do(t->f->store, "update counter set n = n + 5 where id = 1");
    t->location = &t->after;
    store_submit_work_item(t->f->store, &t->work);
    arena_free(t->work.arena);
}

static void read_on_a_loop_sees_earlier_commits_of_the_same_iteration(void **state)
{
    struct fixture *f = *state;

    if (f->postgres)
        return; /* on PostgreSQL a read never completes within the iteration */

    struct loops *loops = start_loops(f);
    struct turn t = { .f = f };

    counter_make(f);
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), run_read_write_and_read_on_loop, &t);
    loops_stop(loops);
    assert_int_equal(t.result, OK);
    assert_int_equal(t.reads, 2);
    assert_int_equal(t.before, 0);
    assert_int_equal(t.after, 5);
}

/* Both loops write, and read after the completion; each must see at least its own write. */
struct chain {
    struct work_item work;
    struct fixture *f;
    sem_t *finished;
    int64_t written, seen;
    int left;
    bool stale;
    enum err failed;
};

static void chain_write(struct chain *c);

static enum err chain_run(struct work_item *w, struct tx *tx)
{
    struct chain *c = container_of(w, struct chain, work);
    struct rows r;
    bool found;
    enum err e = w->mode == STORE_WRITE
                     ? tx_one(tx, "update counter set n = n + 1 where id = 1 returning n", NO_BIND,
                              &r, &found)
                     : tx_one(tx, "select n from counter where id = 1", NO_BIND, &r, &found);

    if (!e)
        *(w->mode == STORE_WRITE ? &c->written : &c->seen) = row_int(&r, 0);
    return e;
}

static void chain_done(struct work_item *w, enum err e)
{
    struct chain *c = container_of(w, struct chain, work);

    if (e)
        c->failed = e;
    if (w->mode == STORE_WRITE && !e) {
        w->mode = STORE_READ;
        store_submit_work_item(c->f->store, w);
        return;
    }
    c->stale |= c->seen < c->written;
    if (--c->left > 0 && !e)
        chain_write(c);
    else
        sem_post(c->finished);
}

static void chain_write(struct chain *c)
{
    arena_reset(c->work.arena);
    c->work.mode = STORE_WRITE;
    store_submit_work_item(c->f->store, &c->work);
}

static void chain_start(struct loop *l, void *arg)
{
    struct chain *c = arg;

    c->work.loop = l;
    c->work.run = chain_run;
    c->work.done = chain_done;
    chain_write(c);
}

static void read_after_a_completed_write_sees_it(void **state)
{
    enum { CHAINS = 6, ROUNDS = 60 };
    struct fixture *f = *state;
    struct loops *loops = start_loops(f);
    struct chain chains[CHAINS] = { 0 };
    sem_t finished;

    sem_init(&finished, 0, 0);
    counter_make(f);
    for (unsigned i = 0; i < CHAINS; i++) {
        chains[i] = (struct chain){ .f = f, .finished = &finished, .left = ROUNDS };
        chains[i].work.arena = arena_new();
        loop_run_function_and_wait(loops_get_loop_at(loops, i % 2), chain_start, &chains[i]);
    }
    for (unsigned i = 0; i < CHAINS; i++)
        wait_for(&finished);
    loops_stop(loops);
    for (unsigned i = 0; i < CHAINS; i++) {
        assert_int_equal(chains[i].failed, OK);
        assert_false(chains[i].stale);
        arena_free(chains[i].work.arena);
    }
    assert_int_equal(store_number(f->store, "select n from counter"), CHAINS * ROUNDS);
    sem_destroy(&finished);
}

/* --- reads that take long ------------------------------------------------------------- */

/* A read that lasts until its gate opens. */
struct long_read {
    struct loop_work lw;
    sem_t *gate;
};

static enum err read_behind_gate(struct work_item *w, struct tx *tx)
{
    struct long_read *r = container_of(w, struct long_read, lw.one.work);
    struct rows rows;
    bool found;
    enum err e = tx_one(tx, "select n from counter where id = 1", NO_BIND, &rows, &found);

    wait_for(r->gate);
    return e;
}

static enum err read_and_go(struct work_item *w, struct tx *tx)
{
    struct rows rows;
    bool found;

    (void)w;
    return tx_one(tx, "select n from counter where id = 1", NO_BIND, &rows, &found);
}

static void background_reads_block_neither_loop_nor_writer(void **state)
{
    enum { LONG = 5 }; /* more than the background threads */
    struct fixture *f = *state;
    struct loops *loops = start_loops(f);
    struct long_read reads[LONG];
    sem_t gate, long_done, near_done;

    counter_make(f);
    sem_init(&gate, 0, 0);
    struct test_work *ones = test_works_new(LONG, &long_done);
    struct test_work *near = test_works_new(1, &near_done);
    for (int i = 0; i < LONG; i++) {
        reads[i] = (struct long_read){ .lw = { .one = ones[i], .f = f }, .gate = &gate };
        reads[i].lw.one.work.mode = STORE_READ;
        reads[i].lw.one.work.in_background = true;
        reads[i].lw.one.work.run = read_behind_gate;
        loop_run_function_and_wait(loops_get_loop_at(loops, 0), submit_work_on_loop, &reads[i].lw);
    }
    struct loop_work short_read = { .one = *near, .f = f };
    short_read.one.work.mode = STORE_READ;
    short_read.one.work.run = read_and_go;
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), submit_work_on_loop, &short_read);
    wait_for(&near_done);
    assert_int_equal(short_read.one.result, OK);
    no_error(store_do(f->store, "update counter set n = n + 1 where id = 1"));

    for (int i = 0; i < LONG; i++)
        sem_post(&gate);
    for (int i = 0; i < LONG; i++)
        wait_for(&long_done);
    for (int i = 0; i < LONG; i++)
        assert_int_equal(reads[i].lw.one.result, OK);
    loops_stop(loops);
    test_works_free(ones, LONG);
    test_works_free(near, 1);
    sem_destroy(&gate);
    sem_destroy(&long_done);
    sem_destroy(&near_done);
}

/* A read that does not declare how long it takes. */
struct counting_read {
    struct loop_work lw;
    int64_t most, counted;
    bool says_so;        /* declares a long read after its first query */
    struct arena *other; /* in use when the read may be interrupted */
    bool ended_on_loop;
};

static enum err count_up(struct work_item *w, struct tx *tx)
{
    struct counting_read *r = container_of(w, struct counting_read, lw.one.work);
    struct arena *before = tx_replace_arena(tx, r->other);
    struct rows rows;
    bool found;
    enum err e = tx_one(tx,
                        "with recursive n (i) as (select cast(1 as bigint) union all "
                        "select i + 1 from n where i < $1) select count(*) from n",
                        BIND(v_int(r->most)), &rows, &found);

    if (e)
        return e; /* the wrong arena was used */
    tx_replace_arena(tx, before);
    if (r->says_so && (e = tx_require_background_thread(tx)))
        return e;
    r->counted = row_int(&rows, 0);
    r->ended_on_loop = loop_get_current() != NULL;
    return OK;
}

static struct counting_read count_on_loop(struct fixture *f, struct loops *loops, int64_t most,
                                          bool says_so)
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);
    struct counting_read r = { .lw = { .one = *one, .f = f }, .most = most, .says_so = says_so };

    r.other = arena_new();
    r.lw.one.work.mode = STORE_READ;
    r.lw.one.work.run = count_up;
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), submit_work_on_loop, &r.lw);
    wait_for(&finished);
    assert_int_equal(r.lw.one.result, OK);
    assert_int_equal(r.counted, most);
    assert_ptr_equal(r.lw.one.work.arena, one->work.arena);
    arena_free(r.other);
    test_works_free(one, 1);
    sem_destroy(&finished);
    return r;
}

static void long_read_continues_in_the_background(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = start_loops(f);

    struct counting_read long_one = count_on_loop(f, loops, 300000, false);
    struct counting_read expected = count_on_loop(f, loops, 10, true);
    struct counting_read short_one = count_on_loop(f, loops, 10, false);
    loops_stop(loops);
    assert_false(long_one.ended_on_loop);
    assert_false(expected.ended_on_loop);
    assert_int_equal(short_one.ended_on_loop, strcmp(store_engine_name(f->store), "sqlite") == 0);
}

static void store_close_completes_submitted_work(void **state)
{
    enum { COUNT = 50 };
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(COUNT, &finished);

    counter_make(f);
    for (size_t i = 0; i < COUNT; i++)
        store_submit_work_item(f->store, &ones[i].work);
    store_close(f->store);
    for (size_t i = 0; i < COUNT; i++) {
        wait_for(&finished);
        assert_int_equal(ones[i].result, OK);
    }
    no_error(store_open(&f->options, &f->store));
    assert_int_equal(store_number(f->store, "select n from counter"), COUNT);
    test_works_free(ones, COUNT);
    sem_destroy(&finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(failed_transaction_does_not_affect_others_of_its_batch),
        store_test(only_one_of_concurrent_inserts_of_a_name_succeeds),
        store_test(concurrent_increments_lose_no_update),
        store_test(completion_callback_runs_on_the_submitting_loop),
        store_test(read_on_a_loop_sees_earlier_commits_of_the_same_iteration),
        store_test(read_after_a_completed_write_sees_it),
        store_test(background_reads_block_neither_loop_nor_writer),
        store_test(long_read_continues_in_the_background),
        store_test(store_close_completes_submitted_work),
    };

    log_init(2, LOG_OFF, 0);
    snowflake_set_node(1);
    return run_on_both("store/work", tests);
}
