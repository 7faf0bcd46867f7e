/* loop.c - tests posts, iteration ends and deadlines of event loops. */
#include "unit/unit.h"

#include <semaphore.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/loop.h"

/* --- posts ---------------------------------------------------------------------------- */

enum { POSTERS = 4, POSTS = 5000 };

struct numbered {
    struct loop_message post;
    int poster, number;
};

static struct {
    int next[POSTERS]; /* used only by the loop */
    int total;
    bool disorder, elsewhere;
    sem_t all;
    struct loop *loop;
} posts;

static void check_order_of_loop_messages(struct loop_message *p)
{
    struct numbered *n = container_of(p, struct numbered, post);

    posts.elsewhere |= loop_get_current() != posts.loop;
    posts.disorder |= posts.next[n->poster]++ != n->number;
    mem_free(n);
    if (++posts.total == POSTERS * POSTS)
        sem_post(&posts.all);
}

static void *send_posts(void *arg)
{
    for (int i = 0; i < POSTS; i++) {
        struct numbered *n = mem_new(sizeof *n);

        n->post.run = check_order_of_loop_messages;
        n->poster = (int)(intptr_t)arg;
        n->number = i;
        loop_post_message(posts.loop, &n->post);
    }
    return NULL;
}

static void messages_of_a_thread_to_a_loop_run_once_in_order(void **state)
{
    struct loops *ls = loops_start(2, NULL, NULL);
    pthread_t threads[POSTERS];

    (void)state;
    posts.loop = loops_get_loop_at(ls, 1);
    sem_init(&posts.all, 0, 0);
    for (intptr_t i = 0; i < POSTERS; i++)
        pthread_create(&threads[i], NULL, send_posts, (void *)i);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    sem_wait(&posts.all);
    assert_false(posts.disorder);
    assert_false(posts.elsewhere);
    loops_stop(ls);
    assert_int_equal(posts.total, POSTERS * POSTS);
    sem_destroy(&posts.all);
}

#define SECOND INT64_C(1000000000)
enum { TRAINS = 100 * 1000, LONGEST = 40, LONG_ENOUGH_S = 2, PATIENCE_S = 60 };

static _Atomic int arrived;

static void count_arrived_loop_message(struct loop_message *p)
{
    (void)p;
    arrived++;
}

static void wait_for_loop_messages(int count)
{
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;

    while (arrived < count)
        assert_true(clock_monotonic_ns() < until);
}

/* A post may arrive at the moment when the loop has taken the earlier posts and is about to
 * sleep: the loop must be woken again. */
static void last_of_many_loop_messages_wakes_the_loop(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct loop_message train[LONGEST];
    int64_t end = clock_monotonic_ns() + LONG_ENOUGH_S * SECOND;
    uint32_t random = 1;
    int sent = 0;

    (void)state;
    arrived = 0;
    for (int i = 0; i < TRAINS && clock_monotonic_ns() < end; i++) {
        int length = 2 + i % (LONGEST - 1);

        for (int k = 0; k < length; k++) {
            random = random * 1664525 + 1013904223;
            for (volatile uint32_t pause = random >> 24; pause; pause--)
                ;
            train[k].run = count_arrived_loop_message;
            loop_post_message(loops_get_loop_at(ls, 0), &train[k]);
        }
        sent += length;
        wait_for_loop_messages(sent);
    }
    loops_stop(ls);
}

enum { SLOW_POSTS = 40, SLOW_MS = 1 };

static _Atomic int turns;

static void run_slowly(struct loop_message *p)
{
    int64_t until = clock_monotonic_ns() + SLOW_MS * (SECOND / 1000);

    (void)p;
    while (clock_monotonic_ns() < until)
        ;
    arrived++;
}

static void count_loop_iteration(struct loop *l, void *arg)
{
    (void)l, (void)arg;
    turns++;
}

static void post_loop_messages_with_slow_callbacks(struct loop *l, void *arg)
{
    struct loop_message *all = arg;

    for (int i = 0; i < SLOW_POSTS; i++) {
        all[i].run = run_slowly;
        loop_post_message(l, &all[i]);
    }
    turns = 0;
}

/* Posts of 40 ms together take at least eight iterations of 5 ms; posts that still wait when the
 * loop stops are run too. */
static void slow_loop_messages_are_spread_over_iterations(void **state)
{
    struct loops *ls = loops_start(1, count_loop_iteration, NULL);
    struct loop_message all[SLOW_POSTS];

    (void)state;
    arrived = 0;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), post_loop_messages_with_slow_callbacks,
                               all);
    wait_for_loop_messages(SLOW_POSTS);
    assert_true(turns >= SLOW_POSTS * SLOW_MS / 5 - 1);
    arrived = 0;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), post_loop_messages_with_slow_callbacks,
                               all);
    loops_stop(ls);
    assert_int_equal(arrived, SLOW_POSTS);
}

static _Atomic int given_back;

static void record_which_loop_frees(void *where)
{
    *(struct loop **)where = loop_get_current();
    given_back++;
}

static void free_pointer_on_thread_pool_and_signal(struct loop *l, void *arg)
{
    loop_free_block_on_thread_pool(l, arg, record_which_loop_frees);
}

static void memory_can_be_freed_on_the_thread_pool(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct loop *where = loops_get_loop_at(ls, 0);

    (void)state;
    given_back = 0;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), free_pointer_on_thread_pool_and_signal,
                               &where);
    loops_stop(ls); /* waits for the background thread */
    assert_int_equal(given_back, 1);
    assert_null(where);
}

static void expect_current_loop_is_argument(struct loop *l, void *arg)
{
    *(bool *)arg = loop_get_current() == l;
}

static void loop_call_runs_on_its_loop_and_waits(void **state)
{
    struct loops *ls = loops_start(2, NULL, NULL);

    (void)state;
    assert_null(loop_get_current());
    assert_int_equal(loops_get_count(ls), 2);
    for (unsigned i = 0; i < 2; i++) {
        bool there = false;

        loop_run_function_and_wait(loops_get_loop_at(ls, i), expect_current_loop_is_argument,
                                   &there);
        assert_true(there);
        assert_int_equal(loop_get_index(loops_get_loop_at(ls, i)), i);
    }
    loops_stop(ls);
}

/* --- the end of an iteration ---------------------------------------------------------- */

static struct {
    struct loop_iteration_callback end;
    char order[8];
    size_t n;
    bool called;
} turn;

static void record_loop_callback(char c)
{
    if (turn.called && turn.n < sizeof turn.order - 1)
        turn.order[turn.n++] = c;
}

static void record_application_iteration_end(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    record_loop_callback('a');
}

static void record_callback_iteration_end(struct loop_iteration_callback *t)
{
    (void)t;
    record_loop_callback('t');
}

static void add_iteration_callback(struct loop *l, void *arg)
{
    (void)arg;
    turn.end.run = record_callback_iteration_end;
    loop_add_iteration_callback(l, &turn.end);
    turn.called = true;
    record_loop_callback('c');
}

static void remove_iteration_callback(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    turn.called = false;
    loop_remove_iteration_callback(&turn.end);
}

static void iteration_end_runs_the_application_before_registered_callbacks(void **state)
{
    struct loops *ls = loops_start(1, record_application_iteration_end, NULL);

    (void)state;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), add_iteration_callback, NULL);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), remove_iteration_callback, NULL);
    loops_stop(ls);
    assert_memory_equal(turn.order, "cat", 3);
}

/* --- deadlines ------------------------------------------------------------------------ */

static struct {
    struct deadline_list *real, *movable;
    struct deadline first, second, dropped, moved;
    int64_t first_at, first_expired; /* in milliseconds of the monotonic clock */
    char order[8];
    size_t n;
    sem_t expired;
} late;

static void expired(struct deadline *d)
{
    late.order[late.n++] = d == &late.first    ? '1'
                           : d == &late.second ? '2'
                           : d == &late.moved  ? 'm'
                                               : 'x';
    if (d == &late.first)
        late.first_expired = clock_monotonic_ns() / 1000000;
    sem_post(&late.expired);
}

static void start_deadlines_on_loop(struct loop *l, void *arg)
{
    (void)arg;
    late.real = deadline_list_new(l, 100, false, expired);
    late.movable = deadline_list_new(l, 60 * 60 * 1000, true, expired);
    deadline_restart(late.real, &late.second);
    deadline_restart(late.real, &late.dropped);
    deadline_restart(late.real, &late.first);
    deadline_restart(late.real, &late.second); /* again: now after the first */
    late.first_at = late.first.at;
    deadline_restart(late.movable, &late.moved);
    deadline_cancel(&late.dropped);
    deadline_cancel(&late.dropped); /* already dropped: no effect */
}

static void free_deadlines_on_loop(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    deadline_restart(late.real, &late.first);
    deadline_list_free(late.real);
    deadline_list_free(late.movable);
}

enum { CLOCK_RESOLUTION_MS = 5 }; /* libuv may use the coarse clock of the kernel */

static void deadlines_expire_in_order_and_follow_their_clock(void **state)
{
    int64_t loop_began = clock_monotonic_ns() / 1000000 - CLOCK_RESOLUTION_MS;
    struct loops *ls = loops_start(1, NULL, NULL);

    (void)state;
    sem_init(&late.expired, 0, 0);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), start_deadlines_on_loop, NULL);
    sem_wait(&late.expired);
    sem_wait(&late.expired);
    clock_advance_wall_and_monotonic(60LL * 60 * 1000 * 1000);
    sem_wait(&late.expired);
    clock_restore_real_time();
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), free_deadlines_on_loop, NULL);
    loops_stop(ls);
    assert_int_equal(late.n, 3);
    assert_memory_equal(late.order, "12m", 3);
    /* The loop may have read its clock long before the deadline was started. */
    assert_true(late.first_at >= loop_began + 100);
    assert_true(late.first_expired >= late.first_at);
    sem_destroy(&late.expired);
}

static struct {
    struct deadline_list *list;
    struct deadline all[SLOW_POSTS];
} group;

static void on_deadline_expired_slowly(struct deadline *d)
{
    (void)d;
    run_slowly(NULL);
}

static void start_many_deadlines(struct loop *l, void *arg)
{
    (void)arg;
    group.list = deadline_list_new(l, 10, false, on_deadline_expired_slowly);
    for (int i = 0; i < SLOW_POSTS; i++)
        deadline_restart(group.list, &group.all[i]);
    turns = 0;
}

static void free_many_deadlines(struct loop *l, void *arg)
{
    (void)l, (void)arg;
    deadline_list_free(group.list);
}

/* When a proxy disappears, thousands of sockets reach their deadline at the same time. */
static void simultaneous_deadlines_are_spread_over_several_iterations(void **state)
{
    struct loops *ls = loops_start(1, count_loop_iteration, NULL);

    (void)state;
    arrived = 0;
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), start_many_deadlines, NULL);
    wait_for_loop_messages(SLOW_POSTS);
    assert_true(turns >= SLOW_POSTS * SLOW_MS / 6 - 1);
    loop_run_function_and_wait(loops_get_loop_at(ls, 0), free_many_deadlines, NULL);
    loops_stop(ls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_thread_to_a_loop_run_once_in_order),
        cmocka_unit_test(last_of_many_loop_messages_wakes_the_loop),
        cmocka_unit_test(slow_loop_messages_are_spread_over_iterations),
        cmocka_unit_test(memory_can_be_freed_on_the_thread_pool),
        cmocka_unit_test(loop_call_runs_on_its_loop_and_waits),
        cmocka_unit_test(iteration_end_runs_the_application_before_registered_callbacks),
        cmocka_unit_test(deadlines_expire_in_order_and_follow_their_clock),
        cmocka_unit_test(simultaneous_deadlines_are_spread_over_several_iterations),
    };
    return cmocka_run_group_tests_name("net/loop", tests, NULL, NULL);
}
