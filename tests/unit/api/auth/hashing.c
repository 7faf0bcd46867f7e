/* hashing.c - tests the bounded queue of the password hashing threads. */
#include "unit/unit.h"

#include <semaphore.h>
#include <stdatomic.h>

#include "api/auth/hashing.h"
#include "base/mem.h"

struct note {
    struct password_hash_task task;
    unsigned location; /* number of the task in the order in which tasks ran, from 1 */
};

static sem_t begun, go_on;
static atomic_uint ran;

static void record_order_of_hashing_task(struct password_hash_task *t)
{
    container_of(t, struct note, task)->location = ++ran;
}

static void hold(struct password_hash_task *t)
{
    sem_post(&begun);
    sem_wait(&go_on);
    record_order_of_hashing_task(t);
}

static int set_up(void **state)
{
    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&go_on, 0, 0);
    ran = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sem_destroy(&begun);
    sem_destroy(&go_on);
    return 0;
}

static void full_hashing_queue_refuses_new_tasks(void **state)
{
    struct password_hasher *h = password_hasher_new(1, 2);
    struct note running = { { .run = hold } }, notes[3] = { 0 };
    struct password_hasher_stats stats;

    (void)state;
    assert_true(password_hasher_submit(h, &running.task));
    sem_wait(&begun);
    for (int i = 0; i < 3; i++) {
        notes[i].task.run = record_order_of_hashing_task;
        /* The running task does not count towards the queue's bound. */
        assert_int_equal(password_hasher_submit(h, &notes[i].task), i < 2);
    }
    password_hasher_read_stats(h, &stats);
    assert_int_equal(stats.waiting, 2);
    assert_int_equal(stats.refused, 1);
    sem_post(&go_on);
    password_hasher_free(h);
    assert_int_equal(running.location, 1);
    assert_int_equal(notes[0].location, 2);
    assert_int_equal(notes[1].location, 3);
    assert_int_equal(notes[2].location, 0);
}

static void hashing_threads_run_tasks_in_parallel(void **state)
{
    struct password_hasher *h = password_hasher_new(2, 2);
    struct note one = { { .run = hold } }, two = { { .run = hold } };

    (void)state;
    assert_true(password_hasher_submit(h, &one.task));
    assert_true(password_hasher_submit(h, &two.task));
    sem_wait(&begun);
    sem_wait(&begun);
    sem_post(&go_on);
    sem_post(&go_on);
    password_hasher_free(h);
    assert_int_equal(one.location + two.location, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(full_hashing_queue_refuses_new_tasks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hashing_threads_run_tasks_in_parallel, set_up, tear_down),
    };

    password_hasher_free(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
