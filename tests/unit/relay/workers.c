/* workers.c - tests the limit of datagrams that wait for a busy thread of the relay. */
#include "unit/unit.h"

#include <semaphore.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "relay/internal.h"

enum { INBOX_LIMIT = 8192, LIST = 64, PATIENCE_S = 60, SHORT = 8 };

struct held_worker {
    struct loop_message post;
    sem_t is_held, go;
};

static void hold_worker(struct loop_message *p)
{
    struct held_worker *h = container_of(p, struct held_worker, post);

    sem_post(&h->is_held);
    sem_wait(&h->go);
}

/* Delivers datagrams that the relay counts as received and ignores. */
static void deliver_datagrams_to_worker(struct relay_worker *w, size_t count)
{
    struct datagram_list list = { .count = count };

    for (size_t i = 0; i < count; i++) {
        struct media_datagram *d = mem_new(sizeof *d + SHORT);

        d->n = SHORT;
        d->item.next = list.first;
        list.last = list.last ? list.last : &d->item;
        list.first = &d->item;
    }
    relay_worker_add_datagrams(w, &list);
}

static struct relay_stats stats_with_received(const struct relay *r, uint64_t received)
{
    int64_t until = clock_monotonic_ns() + PATIENCE_S * INT64_C(1000000000);
    struct relay_stats s;

    do
        relay_read_stats(r, &s);
    while (s.packets_in < received && clock_monotonic_ns() < until);
    assert_int_equal(s.packets_in, received);
    return s;
}

static void full_inbox_of_a_busy_worker_drops_new_datagrams(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1", .threads = 2, .address = "127.0.0.1" };
    struct held_worker held = { .post.run = hold_worker };
    struct relay *r;

    (void)state;
    assert_int_equal(relay_start(ls, &options, &r), OK);
    struct relay_worker *w = &r->workers[0];
    sem_init(&held.is_held, 0, 0);
    sem_init(&held.go, 0, 0);
    loop_post_message(w->loop, &held.post);
    sem_wait(&held.is_held);
    for (size_t sent = 0; sent < INBOX_LIMIT; sent += LIST)
        deliver_datagrams_to_worker(w, LIST);
    assert_int_equal(stats_with_received(r, 0).dropped, 0);
    deliver_datagrams_to_worker(w, LIST);
    deliver_datagrams_to_worker(w, 1);
    assert_int_equal(stats_with_received(r, LIST + 1).dropped, LIST + 1);
    deliver_datagrams_to_worker(&r->workers[1], LIST); /* another worker is not concerned */
    assert_int_equal(stats_with_received(r, 2 * LIST + 1).dropped, LIST + 1);
    sem_post(&held.go);
    /* The worker handles all that waited, and accepts new datagrams. */
    assert_int_equal(stats_with_received(r, INBOX_LIMIT + 2 * LIST + 1).dropped, LIST + 1);
    deliver_datagrams_to_worker(w, LIST);
    assert_int_equal(stats_with_received(r, INBOX_LIMIT + 3 * LIST + 1).dropped, LIST + 1);
    relay_stop(r);
    loops_stop(ls);
    sem_destroy(&held.is_held);
    sem_destroy(&held.go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_inbox_of_a_busy_worker_drops_new_datagrams),
    };

    log_init(2, LOG_OFF, 0);
    return cmocka_run_group_tests_name("relay/workers", tests, NULL, NULL);
}
