/* wire.c - tests PostgreSQL replies in long TLS records, and missing replies. Tests
 * src/store/postgres/loop_conn.c and src/store/postgres/loop_reads.c. */
#include "unit/unit.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "support/batches.h"
#include "support/silence.h"

/* Reopens the store with connections through this proxy. */
static void reopen_store_through_proxy(struct fixture *f, const struct silence *wire)
{
    store_close(f->store);
    f->options.postgres = silence_where(wire);
    no_error(store_open(&f->options, &f->store));
}

static void leave_wire(struct fixture *f, struct silence *wire)
{
    store_close(f->store);
    f->store = NULL;
    silence_free(wire);
}

/* --- long records --------------------------------------------------------------------- */

enum { LONG_ROWS = 30, LONG_ROW = 1000 };

/* Counts the bytes of all rows: two TLS records, of which the second is longer than libpq's free
 * buffer space. */
static enum err count_long(struct tx *tx, int64_t *ret)
{
    struct rows r;
    enum err e = tx_query(tx, "select repeat('x', 1000) from generate_series(1, 30)", NO_BIND, &r);

    *ret = 0;
    while (!e && rows_next(&r))
        *ret += (int64_t)row_text(&r, 0).n;
    return e ? e : rows_end(&r);
}

static enum err read_long(struct tx *tx, void *arg)
{
    return count_long(tx, arg);
}

static void worker_reads_all_of_a_long_tls_record(void **state)
{
    struct fixture *f = *state;
    struct silence *wire = silence_new_tls(f->postgres);
    struct store_stats stats;

    f->options.workers = 1;
    reopen_store_through_proxy(f, wire);
    for (int i = 0; i < 5; i++) {
        int64_t bytes = 0;

        no_error(store_run_transaction_and_wait(f->store, STORE_READ, NULL, read_long, &bytes));
        assert_int_equal(bytes, LONG_ROWS * LONG_ROW);
    }
    store_read_stats(f->store, &stats);
    assert_int_equal(stats.retries, 0);
    leave_wire(f, wire);
}

static enum err query_long_rows(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);

    a->on_loop = loop_get_current();
    return count_long(tx, &a->seen[0]);
}

/* Returns the duration of five reads in sequence on the loop. */
static int64_t time_of_five(struct batch *b, struct loops *loops)
{
    int64_t began = clock_monotonic_ns();

    for (int i = 0; i < 5; i++) {
        batch_ask_on_loop(b, loops, 1);
        assert_int_equal(b->reads[0].seen[0], LONG_ROWS * LONG_ROW);
    }
    return (clock_monotonic_ns() - began) / 1000000;
}

/* A loop that misses bytes in OpenSSL's buffer polls after 200 ms: five reads take a second. */
static void loop_reads_all_of_a_long_tls_record(void **state)
{
    enum { TRIES = 20, SOON_MS = 900 };
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);
    struct silence *wire = silence_new_tls(f->postgres);
    struct batch b = { .f = f, .name = "long records", .run = query_long_rows };
    int tries = 0;

    reopen_store_through_proxy(f, wire);
    while (time_of_five(&b, loops) > SOON_MS)
        assert_in_range(++tries, 1, TRIES);
    loops_stop(loops);
    leave_wire(f, wire);
}

/* --- silence -------------------------------------------------------------------------- */

/* Detected after eight seconds, or later on a busy machine. */
static void silent_database_is_detected_by_workers(void **state)
{
    struct fixture *f = *state;

    counter_make(f);
    struct silence *wire = silence_new(f->postgres);
    f->options.workers = 2;
    reopen_store_through_proxy(f, wire);
    no_error(store_do(f->store, "update counter set n = n + 1"));

    silence_begin(wire);
    int64_t start = clock_monotonic_ns();
    assert_int_equal(store_do(f->store, "update counter set n = n + 1"), ERR_UNAVAILABLE);
    assert_in_range((clock_monotonic_ns() - start) / 1000000, 0, 30000);
    silence_end(wire);
    no_error(store_do(f->store, "update counter set n = n + 1"));
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    leave_wire(f, wire);
}

/* Asserts that reads of a stalled database fail and that later reads work. */
static void expect_silent_database_is_detected(struct fixture *f, struct silence *wire,
                                               struct loops *loops)
{
    struct batch b = { .f = f, .name = "silence", .questions = 2 };

    reopen_store_through_proxy(f, wire);
    batch_ask_on_loop(&b, loops, 1);
    silence_begin(wire);
    batch_ask(&b, loops, READS_PER_ROUND_TRIP);
    for (int i = 0; i < READS_PER_ROUND_TRIP; i++)
        assert_int_equal(b.reads[i].one.result, ERR_UNAVAILABLE);
    silence_end(wire);
    batch_ask_on_loop(&b, loops, 2);
    loops_stop(loops);
    leave_wire(f, wire);
}

static void silent_database_is_detected_by_loops(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);

    expect_silent_database_is_detected(f, silence_new(f->postgres), loops);
}

static void silent_database_is_detected_by_loops_over_tls(void **state)
{
    struct fixture *f = *state;
    struct loops *loops = batch_serve(f);

    expect_silent_database_is_detected(f, silence_new_tls(f->postgres), loops);
}

/* A fake connection on which an incomplete reply arrives after the deadline. */
static struct {
    int ends[2];
    int64_t until;
} late;

static int late_socket(const PGconn *pg)
{
    (void)pg;
    return late.ends[0];
}

static int late_is_busy(PGconn *pg)
{
    (void)pg;
    return 1;
}

static int late_flush(PGconn *pg)
{
    (void)pg;
    return 0; /* everything was sent */
}

static int late_consume(PGconn *pg)
{
    char byte;

    (void)pg;
    assert_int_equal(read(late.ends[0], &byte, 1), 1);
    while (clock_monotonic_ns() < late.until)
        ;
    return 1;
}

static void partial_reply_after_the_deadline_ends_the_wait(void **state)
{
    enum { PATIENCE_MS = 20 };
    struct postgres_conn *c = mem_new(sizeof *c);
    struct libpq real = pq;

    (void)state;
    assert_int_equal(pipe(late.ends), 0);
    assert_int_equal(write(late.ends[1], "x", 1), 1);
    pq = (struct libpq){ .socket = late_socket,
                         .isBusy = late_is_busy,
                         .consumeInput = late_consume,
                         .flush = late_flush };
    c->answer_timeout_ms = PATIENCE_MS;
    late.until = clock_monotonic_ns() + PATIENCE_MS * 1000000 + 1500000;
    assert_null(postgres_read_next_result(c));
    assert_true(c->lost && c->timed_out);
    pq = real;
    close(late.ends[0]);
    close(late.ends[1]);
    mem_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(worker_reads_all_of_a_long_tls_record),
        store_test(loop_reads_all_of_a_long_tls_record),
        store_test(silent_database_is_detected_by_workers),
        store_test(silent_database_is_detected_by_loops),
        store_test(silent_database_is_detected_by_loops_over_tls),
        cmocka_unit_test(partial_reply_after_the_deadline_ends_the_wait),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_wire", tests);
}
