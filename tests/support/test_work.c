/* test_work.c - runs many store transactions at a time. */
#include "support/test_work.h"

#include "base/mem.h"

void wait_for(sem_t *s)
{
    while (sem_wait(s) != 0)
        ;
}

void counter_make(struct fixture *f)
{
    no_error(store_do(f->store, "create table counter (id bigint primary key, n bigint not null)"));
    no_error(store_do(f->store, "insert into counter values (1, 0)"));
}

void reopen_with(struct fixture *f, unsigned workers)
{
    store_close(f->store);
    f->options.workers = workers;
    no_error(store_open(&f->options, &f->store));
}

/* --- transactions without a loop ------------------------------------------------------ */

/* Reads, then writes: a lost update would be detected. */
enum err add_to_counter(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select n from counter where id = 1", NO_BIND, &r, &found);

    if (!e)
        e = tx_exec(tx, "update counter set n = $1 where id = 1",
                    BIND(v_int(row_int(&r, 0) + o->add)), NULL);
    return e ? e : o->answer;
}

void note_done(struct work_item *w, enum err e)
{
    struct test_work *o = container_of(w, struct test_work, work);

    o->result = e;
    sem_post(o->finished);
}

struct test_work *test_works_new(size_t count, sem_t *finished)
{
    struct test_work *ones = mem_new(count * sizeof *ones);

    sem_init(finished, 0, 0);
    for (size_t i = 0; i < count; i++)
        ones[i] = (struct test_work){
            .work = { .mode = STORE_WRITE,
                      .run = add_to_counter,
                      .done = note_done,
                      .arena = arena_new() },
            .finished = finished,
            .add = 1,
        };
    return ones;
}

void test_works_free(struct test_work *ones, size_t count)
{
    for (size_t i = 0; i < count; i++)
        arena_free(ones[i].work.arena);
    mem_free(ones);
}

/* A transaction that blocks its thread until it is released. */
struct stopper {
    struct test_work one;
    sem_t entered, go;
};

static enum err stop_here(struct work_item *w, struct tx *tx)
{
    struct stopper *s = container_of(w, struct stopper, one.work);

    (void)tx;
    sem_post(&s->entered);
    wait_for(&s->go);
    return OK;
}

/* Returns when the thread is blocked: later transactions wait together. */
static void start_blocking_work(struct stopper *s, struct store *store, sem_t *finished)
{
    *s = (struct stopper){
        .one = { .work = { .mode = STORE_WRITE,
                           .run = stop_here,
                           .done = note_done,
                           .arena = arena_new() },
                 .finished = finished },
    };
    sem_init(&s->entered, 0, 0);
    sem_init(&s->go, 0, 0);
    store_submit_work_item(store, &s->one.work);
    wait_for(&s->entered);
}

static void stopper_end(struct stopper *s)
{
    sem_destroy(&s->entered);
    sem_destroy(&s->go);
    arena_free(s->one.work.arena);
}

/* Submits while the writer is blocked, so that on SQLite they form one batch. */
void run_as_batch(struct fixture *f, struct test_work *ones, size_t count, sem_t *finished)
{
    struct stopper s;

    start_blocking_work(&s, f->store, finished);
    for (size_t i = 0; i < count; i++)
        store_submit_work_item(f->store, &ones[i].work);
    sem_post(&s.go);
    for (size_t i = 0; i < count + 1; i++)
        wait_for(finished);
    assert_int_equal(s.one.result, OK);
    stopper_end(&s);
}
