/* commit_order.c - tests that commits are announced in their order, and that unused log positions
 * are reported as aborted. */
#include "unit/unit.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "store/postgres/libpq.h"
#include "support/postgres.h"
#include "support/stores.h"
#include "support/test_work.h"

/* Replaces the libpq functions: delays the first commit after its result, as if the thread lost
 * the processor. */
static struct {
    struct libpq real;
    atomic_bool first; /* delay the next commit */
    sem_t answered, go;
} held;

static _Thread_local bool holds_next;

static int send_and_detect_commit(PGconn *c, const char *sql)
{
    if (strcmp(sql, "commit") == 0 && atomic_exchange(&held.first, false))
        holds_next = true;
    return held.real.sendQuery(c, sql);
}

static PGresult *get_and_hold(PGconn *c)
{
    PGresult *result = held.real.getResult(c);

    if (!result && holds_next) {
        holds_next = false;
        sem_post(&held.answered);
        wait_for(&held.go);
    }
    return result;
}

/* Must run before threads call libpq. */
static void replace_libpq_functions(void)
{
    if (!load_libpq())
        return;
    held.real = pq;
    pq.sendQuery = send_and_detect_commit;
    pq.getResult = get_and_hold;
    sem_init(&held.answered, 0, 0);
    sem_init(&held.go, 0, 0);
}

static void delay_first_postgres_commit(void)
{
    atomic_store(&held.first, true);
}

static struct {
    struct work_item *works[8];
    atomic_uint count;
} announced;

static void record_committed_work_item(struct work_item *w)
{
    announced.works[announced.count] = w;
    atomic_fetch_add(&announced.count, 1);
}

static void commit_is_announced_after_commits_it_depends_on(void **state)
{
    struct fixture *f = *state;
    sem_t finished;

    counter_make(f);
    reopen_with(f, 2);
    struct test_work *ones = test_works_new(3, &finished);
    for (int i = 0; i < 3; i++)
        ones[i].work.committed = record_committed_work_item;
    announced.count = 0;
    delay_first_postgres_commit();
    store_submit_work_item(f->store, &ones[0].work);
    wait_for(&held.answered);

    /* The other worker has passed the announcement when it answers the read. */
    store_submit_work_item(f->store, &ones[1].work);
    store_submit_work_item(f->store, &ones[2].work);
    int64_t n = store_number(f->store, "select n from counter");
    unsigned early = announced.count;
    sem_post(&held.go);
    for (int i = 0; i < 3; i++)
        wait_for(&finished);
    assert_int_equal(n, 3);
    assert_int_equal(early, 0);
    assert_int_equal(announced.count, 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(announced.works[i], &ones[i].work);
    test_works_free(ones, 3);
    sem_destroy(&finished);
}

static void failed_commit_does_not_delay_later_announcements(void **state)
{
    struct fixture *f = *state;
    sem_t finished;

    counter_make(f);
    test_postgres_do(f->postgres,
                     "create function refuse() returns trigger language plpgsql as $$ begin "
                     "if new.n = 1 then raise 'no' using errcode = '53100'; end if; "
                     "return null; end $$;"
                     "create constraint trigger refuse after update on counter "
                     "deferrable initially deferred for each row execute function refuse()");
    reopen_with(f, 2);
    struct test_work *ones = test_works_new(2, &finished);
    ones[1].add = 2;
    for (int i = 0; i < 2; i++)
        ones[i].work.committed = record_committed_work_item;
    announced.count = 0;
    delay_first_postgres_commit();
    store_submit_work_item(f->store, &ones[0].work);
    wait_for(&held.answered);
    store_submit_work_item(f->store, &ones[1].work);
    int64_t n = store_number(f->store, "select n from counter");
    unsigned early = announced.count;
    sem_post(&held.go);
    wait_for(&finished);
    wait_for(&finished);
    assert_int_equal(n, 2);
    assert_int_equal(early, 0);
    assert_int_equal(ones[0].result, ERR_STORAGE_FULL);
    assert_int_equal(ones[1].result, OK);
    assert_int_equal(announced.count, 1);
    assert_ptr_equal(announced.works[0], &ones[1].work);
    test_works_free(ones, 2);
    sem_destroy(&finished);
}

/* --- aborted positions ---------------------------------------------------------------- */

static enum err log_something(struct tx *tx, void *arg)
{
    (void)arg;
    tx_set_event_log_row(tx, STR("something"), STR(""));
    return tx_exec(tx, "update counter set n = n + 1", NO_BIND, NULL);
}

static struct {
    int64_t positions[4];
    _Atomic unsigned count;
} voided;

static void record_aborted_position(void *arg, int64_t position)
{
    (void)arg;
    voided.positions[voided.count++] = position;
}

/* The log row or the commit fails: other nodes would wait for the position. */
static void position_of_a_failed_transaction_is_reported_as_aborted(void **state)
{
    struct fixture *f = *state;
    const char *refusals[] = {
        "create trigger refuse before insert on log for each row when (new.body is not null) "
        "execute function refuse_row()",
        "drop trigger refuse on log; create constraint trigger refuse after update on counter "
        "deferrable initially deferred for each row execute function refuse_row()",
    };

    counter_make(f);
    test_postgres_do(f->postgres, "create function refuse_row() returns trigger language plpgsql "
                                  "as $$ begin raise 'no' using errcode = '53100'; end $$");
    store_close(f->store);
    f->options.shared = true;
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    voided.count = 0;
    store_set_aborted_log_position_callback(f->store, record_aborted_position, NULL);
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, log_something, NULL));
    for (unsigned i = 0; i < 2; i++) {
        test_postgres_do(f->postgres, refusals[i]);
        assert_int_equal(
            store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, log_something, NULL),
            ERR_STORAGE_FULL);
        assert_int_equal(voided.count, i + 1);
        assert_int_equal(voided.positions[i],
                         store_number(f->store, "select last_value from log_position"));
    }
    /* A transaction that fails before it has a position leaves no gap. */
    test_postgres_do(f->postgres, "drop trigger refuse on counter; create trigger refuse before "
                                  "update on counter for each row execute function refuse_row()");
    assert_int_equal(
        store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, log_something, NULL),
        ERR_STORAGE_FULL);
    assert_int_equal(voided.count, 2);
    assert_int_equal(store_number(f->store, "select count(*) from log where body is null"), 2);
    assert_int_equal(store_number(f->store, "select count(*) from log"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(commit_is_announced_after_commits_it_depends_on),
        store_test(failed_commit_does_not_delay_later_announcements),
        store_test(position_of_a_failed_transaction_is_reported_as_aborted),
    };

    replace_libpq_functions();
    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_line", tests);
}
