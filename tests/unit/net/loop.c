/* loop.c - posts arrive once and in order; deadlines expire when they should. */
#include "unit/unit.h"

#include <semaphore.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/loop.h"

/* --- posts ---------------------------------------------------------------------------- */

enum { POSTERS = 4, POSTS = 5000 };

struct numbered {
    struct post post;
    int poster, number;
};

static struct {
    int next[POSTERS]; /* touched by the loop only */
    int total;
    bool disorder, elsewhere;
    sem_t all;
    struct loop *loop;
} posts;

static void take_post(struct post *p)
{
    struct numbered *n = container_of(p, struct numbered, post);

    posts.elsewhere |= loop_current() != posts.loop;
    posts.disorder |= posts.next[n->poster]++ != n->number;
    mem_free(n);
    if (++posts.total == POSTERS * POSTS)
        sem_post(&posts.all);
}

static void *send_posts(void *arg)
{
    for (int i = 0; i < POSTS; i++) {
        struct numbered *n = mem_new(sizeof *n);

        n->post.run = take_post;
        n->poster = (int)(intptr_t)arg;
        n->number = i;
        loop_post(posts.loop, &n->post);
    }
    return NULL;
}

static void posts_of_a_thread_arrive_once_and_in_order(void **state)
{
    struct loops *ls = loops_start(2, NULL, NULL);
    pthread_t threads[POSTERS];

    (void)state;
    posts.loop = loops_at(ls, 1);
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

static void count_arrival(struct post *p)
{
    (void)p;
    arrived++;
}

static void wait_for_arrivals(int count)
{
    int64_t until = clock_mono() + PATIENCE_S * SECOND;

    while (arrived < count)
        assert_true(clock_mono() < until);
}

/* Any of them may fall into the moment in which the loop has taken those before and is
 * about to sleep: it must be woken again, though nothing else happens. */
static void the_last_of_a_train_of_posts_is_not_left_behind(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct post train[LONGEST];
    int64_t end = clock_mono() + LONG_ENOUGH_S * SECOND;
    uint32_t random = 1;
    int sent = 0;

    (void)state;
    arrived = 0;
    for (int i = 0; i < TRAINS && clock_mono() < end; i++) {
        int length = 2 + i % (LONGEST - 1);

        for (int k = 0; k < length; k++) {
            random = random * 1664525 + 1013904223;
            for (volatile uint32_t pause = random >> 24; pause; pause--)
                ;
            train[k].run = count_arrival;
            loop_post(loops_at(ls, 0), &train[k]);
        }
        sent += length;
        wait_for_arrivals(sent);
    }
    loops_stop(ls);
}

enum { SLOW_POSTS = 40, SLOW_MS = 1 };

static _Atomic int turns;

static void take_slowly(struct post *p)
{
    int64_t until = clock_mono() + SLOW_MS * (SECOND / 1000);

    (void)p;
    while (clock_mono() < until)
        ;
    arrived++;
}

static void count_turn(struct loop *l, void *arg)
{
    (void)l, (void)arg;
    turns++;
}

static void send_slow_posts(struct loop *l, void *arg)
{
    struct post *all = arg;

    for (int i = 0; i < SLOW_POSTS; i++) {
        all[i].run = take_slowly;
        loop_post(l, &all[i]);
    }
    turns = 0;
}

/* Forty milliseconds of posts that arrive together are eight turns of five, at least; what
 * still waits when the loop stops is done all the same. */
static void posts_that_take_long_leave_others_their_turns(void **state)
{
    struct loops *ls = loops_start(1, count_turn, NULL);
    struct post all[SLOW_POSTS];

    (void)state;
    arrived = 0;
    loop_call(loops_at(ls, 0), send_slow_posts, all);
    wait_for_arrivals(SLOW_POSTS);
    assert_true(turns >= SLOW_POSTS * SLOW_MS / 5 - 1);
    arrived = 0;
    loop_call(loops_at(ls, 0), send_slow_posts, all);
    loops_stop(ls);
    assert_int_equal(arrived, SLOW_POSTS);
}

static _Atomic int given_back;

static void give_back(void *where)
{
    *(struct loop **)where = loop_current();
    given_back++;
}

static void dispose_there(struct loop *l, void *arg)
{
    loop_dispose(l, arg, give_back);
}

static void what_is_much_is_given_back_beside_the_loop(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct loop *where = loops_at(ls, 0);

    (void)state;
    given_back = 0;
    loop_call(loops_at(ls, 0), dispose_there, &where);
    loops_stop(ls); /* which waits for it */
    assert_int_equal(given_back, 1);
    assert_null(where);
}

static void see_where(struct loop *l, void *arg)
{
    *(bool *)arg = loop_current() == l;
}

static void a_call_runs_on_its_loop_and_is_waited_for(void **state)
{
    struct loops *ls = loops_start(2, NULL, NULL);

    (void)state;
    assert_null(loop_current());
    assert_int_equal(loops_count(ls), 2);
    for (unsigned i = 0; i < 2; i++) {
        bool there = false;

        loop_call(loops_at(ls, i), see_where, &there);
        assert_true(there);
        assert_int_equal(loop_index(loops_at(ls, i)), i);
    }
    loops_stop(ls);
}

/* --- the end of a turn ---------------------------------------------------------------- */

static struct {
    struct turn_end end;
    char order[8];
    size_t n;
    bool called;
} turn;

static void note(char c)
{
    if (turn.called && turn.n < sizeof turn.order - 1)
        turn.order[turn.n++] = c;
}

static void application_turn_end(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    note('a');
}

static void own_turn_end(struct turn_end *t)
{
    (void)t;
    note('t');
}

static void begin_turn(struct loop *l, void *arg)
{
    (void)arg;
    turn.end.run = own_turn_end;
    loop_add_turn_end(l, &turn.end);
    turn.called = true;
    note('c');
}

static void end_turn(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    turn.called = false;
    loop_drop_turn_end(&turn.end);
}

static void a_turn_ends_with_the_application_then_with_what_gathered(void **state)
{
    struct loops *ls = loops_start(1, application_turn_end, NULL);

    (void)state;
    loop_call(loops_at(ls, 0), begin_turn, NULL);
    loop_call(loops_at(ls, 0), end_turn, NULL);
    loops_stop(ls);
    assert_memory_equal(turn.order, "cat", 3);
}

/* --- deadlines ------------------------------------------------------------------------ */

static struct {
    struct deadlines *real, *movable;
    struct deadline first, second, dropped, moved;
    int64_t began, first_took;
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
        late.first_took = (clock_mono() - late.began) / 1000000;
    sem_post(&late.expired);
}

static void start_deadlines(struct loop *l, void *arg)
{
    (void)arg;
    late.real = deadlines_new(l, 100, false, expired);
    late.movable = deadlines_new(l, 60 * 60 * 1000, true, expired);
    deadline_touch(late.real, &late.second);
    deadline_touch(late.real, &late.dropped);
    deadline_touch(late.real, &late.first);
    deadline_touch(late.real, &late.second); /* again: now behind the first */
    deadline_touch(late.movable, &late.moved);
    deadline_drop(&late.dropped);
    deadline_drop(&late.dropped); /* not running any more: nothing happens */
}

static void free_deadlines(struct loop *l, void *arg)
{
    (void)l;
    (void)arg;
    deadline_touch(late.real, &late.first);
    deadlines_free(late.real);
    deadlines_free(late.movable);
}

static void deadlines_expire_in_order_and_follow_their_clock(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);

    (void)state;
    sem_init(&late.expired, 0, 0);
    late.began = clock_mono(); /* before the loop looks at its clock */
    loop_call(loops_at(ls, 0), start_deadlines, NULL);
    sem_wait(&late.expired);
    sem_wait(&late.expired);
    clock_advance(60LL * 60 * 1000 * 1000);
    sem_wait(&late.expired);
    clock_reset();
    loop_call(loops_at(ls, 0), free_deadlines, NULL);
    loops_stop(ls);
    assert_int_equal(late.n, 3);
    assert_memory_equal(late.order, "12m", 3);
    assert_true(late.first_took >= 100);
    sem_destroy(&late.expired);
}

static struct {
    struct deadlines *list;
    struct deadline all[SLOW_POSTS];
} crowd;

static void expire_slowly(struct deadline *d)
{
    (void)d;
    take_slowly(NULL);
}

static void start_crowd(struct loop *l, void *arg)
{
    (void)arg;
    crowd.list = deadlines_new(l, 10, false, expire_slowly);
    for (int i = 0; i < SLOW_POSTS; i++)
        deadline_touch(crowd.list, &crowd.all[i]);
    turns = 0;
}

static void free_crowd(struct loop *l, void *arg)
{
    (void)l, (void)arg;
    deadlines_free(crowd.list);
}

/* A proxy that goes away takes thousands of sockets along, which are all given up at once. */
static void deadlines_that_are_due_together_leave_others_their_turns(void **state)
{
    struct loops *ls = loops_start(1, count_turn, NULL);

    (void)state;
    arrived = 0;
    loop_call(loops_at(ls, 0), start_crowd, NULL);
    wait_for_arrivals(SLOW_POSTS);
    assert_true(turns >= SLOW_POSTS * SLOW_MS / 6 - 1);
    loop_call(loops_at(ls, 0), free_crowd, NULL);
    loops_stop(ls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posts_of_a_thread_arrive_once_and_in_order),
        cmocka_unit_test(the_last_of_a_train_of_posts_is_not_left_behind),
        cmocka_unit_test(posts_that_take_long_leave_others_their_turns),
        cmocka_unit_test(what_is_much_is_given_back_beside_the_loop),
        cmocka_unit_test(a_call_runs_on_its_loop_and_is_waited_for),
        cmocka_unit_test(a_turn_ends_with_the_application_then_with_what_gathered),
        cmocka_unit_test(deadlines_expire_in_order_and_follow_their_clock),
        cmocka_unit_test(deadlines_that_are_due_together_leave_others_their_turns),
    };
    return cmocka_run_group_tests_name("net/loop", tests, NULL, NULL);
}
