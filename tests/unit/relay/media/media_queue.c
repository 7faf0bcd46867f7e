/* media_queue.c - tests the order in which a relay thread handles the datagrams of rooms. */
#include "relay/media/media_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

enum { ROOMS = 4, SENDERS = 3, ITEMS = MEDIA_QUEUE_MAX + 4096 };

struct item {
    struct media_queue_item item;
    int room, sender, number;
};

struct fixture {
    struct media_queue queue;
    struct media_queue_room rooms[ROOMS];
    struct media_queue_sender senders[ROOMS][SENDERS];
    struct item items[ITEMS];
    int count;
};

static struct fixture *fixture_new(void)
{
    struct fixture *f = mem_new(sizeof *f);

    media_queue_init(&f->queue);
    for (int i = 0; i < ROOMS; i++) {
        media_queue_room_init(&f->rooms[i]);
        for (int k = 0; k < SENDERS; k++)
            f->senders[i][k].room = &f->rooms[i];
    }
    return f;
}

static struct item *add(struct fixture *f, int room, int sender, enum media_class class)
{
    struct item *new = &f->items[f->count];

    *new = (struct item){ .room = room, .sender = sender, .number = f->count++ };
    return (struct item *)(void *)media_queue_add(&f->queue, &f->senders[room][sender], class,
                                                  &new->item);
}

/* Removes the next datagram and charges its cost to its room. */
static struct item *take(struct fixture *f, unsigned cost)
{
    struct media_queue_sender *sender;
    struct item *next = (struct item *)(void *)media_queue_pop(&f->queue, &sender);

    if (next)
        assert_ptr_equal(sender, &f->senders[next->room][next->sender]);
    media_queue_charge_room_for_datagram(&f->queue, cost);
    return next;
}

static void datagrams_of_a_sender_stay_in_order(void **state)
{
    struct fixture *f = fixture_new();

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_null(add(f, 0, 0, MEDIA_CLASS_AUDIO));
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(f, 5)->number, i);
    assert_null(take(f, 0));
    assert_true(f->queue.count == 0 && f->queue.rooms == 0);
    mem_free(f);
}

/* A camera with 500 viewers has 200 datagrams waiting; a packet of a small room that arrives then
 * is next, each time. */
static void small_room_never_waits_for_the_video_of_a_large_room(void **state)
{
    struct fixture *f = fixture_new();

    (void)state;
    for (int i = 0; i < 200; i++)
        add(f, 0, 0, MEDIA_CLASS_VIDEO);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(take(f, 502)->room, 0);
        add(f, 1, 0, MEDIA_CLASS_AUDIO);
        assert_int_equal(take(f, 6)->room, 1);
    }
    mem_free(f);
}

static void audio_of_a_room_comes_before_its_video(void **state)
{
    struct fixture *f = fixture_new();

    (void)state;
    for (int i = 0; i < 10; i++)
        add(f, 0, 0, MEDIA_CLASS_VIDEO);
    take(f, 500);
    add(f, 0, 1, MEDIA_CLASS_AUDIO);
    assert_int_equal(take(f, 500)->sender, 1);
    assert_int_equal(take(f, 500)->sender, 0);
    mem_free(f);
}

static void senders_of_a_room_are_forwarded_in_turn(void **state)
{
    struct fixture *f = fixture_new();

    (void)state;
    for (int i = 0; i < 100; i++)
        add(f, 0, 0, MEDIA_CLASS_AUDIO);
    add(f, 0, 1, MEDIA_CLASS_AUDIO);
    add(f, 0, 2, MEDIA_CLASS_AUDIO);
    assert_int_equal(take(f, 1)->sender, 0);
    assert_int_equal(take(f, 1)->sender, 1);
    assert_int_equal(take(f, 1)->sender, 2);
    assert_int_equal(take(f, 1)->sender, 0);
    mem_free(f);
}

/* Rooms that always have datagrams get the same time, whatever one datagram costs. */
static void busy_rooms_get_equal_shares_of_time(void **state)
{
    static const unsigned costs[ROOMS] = { 502, 52, 6, 102 };
    struct fixture *f = fixture_new();
    unsigned long spent[ROOMS] = { 0 };

    (void)state;
    for (int room = 0; room < ROOMS; room++)
        for (int i = 0; i < 2; i++)
            add(f, room, 0, MEDIA_CLASS_VIDEO);
    for (int i = 0; i < 4000; i++) {
        struct media_queue_sender *sender;
        struct item *next = (struct item *)(void *)media_queue_pop(&f->queue, &sender);
        int room = next->room;

        spent[room] += costs[room];
        media_queue_charge_room_for_datagram(&f->queue, costs[room]);
        media_queue_add(&f->queue, sender, MEDIA_CLASS_VIDEO, &next->item);
    }
    for (int room = 1; room < ROOMS; room++)
        assert_in_range(spent[room], spent[0] - 2 * 502, spent[0] + 2 * 502);
    mem_free(f);
}

/* A room that is idle between its datagrams comes first only until its credit is used up. */
static void idle_room_has_priority_only_within_its_share(void **state)
{
    struct fixture *f = fixture_new();
    int taken = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        add(f, 1, 0, MEDIA_CLASS_AUDIO);
    assert_int_equal(take(f, 100)->room, 1); /* its credit is used up */
    do {
        add(f, 0, 0, MEDIA_CLASS_AUDIO);
        taken += 6;
        assert_true(taken <= MEDIA_QUEUE_CREDIT + 2 * 6);
    } while (take(f, 6)->room == 0);
    mem_free(f);
}

static void full_queue_of_a_sender_drops_its_oldest_datagram(void **state)
{
    struct fixture *f = fixture_new();

    (void)state;
    for (int i = 0; i < MEDIA_QUEUE_LINE_MAX; i++)
        assert_null(add(f, 0, 0, MEDIA_CLASS_VIDEO));
    assert_int_equal(add(f, 0, 0, MEDIA_CLASS_VIDEO)->number, 0);
    assert_null(add(f, 0, 0, MEDIA_CLASS_AUDIO));
    assert_null(add(f, 0, 1, MEDIA_CLASS_VIDEO));
    assert_int_equal(f->queue.count, MEDIA_QUEUE_LINE_MAX + 2);
    mem_free(f);
}

/* If the whole queue is full, a room with few datagrams loses none. */
static void full_queue_drops_media_of_rooms_above_their_share(void **state)
{
    struct fixture *f = fixture_new();
    struct media_queue_sender *many = mem_new(100 * sizeof *many), *sender;
    int added = 0;

    (void)state;
    for (int i = 0; f->queue.count < MEDIA_QUEUE_MAX; i++) {
        many[i].room = &f->rooms[0];
        for (int k = 0; k < MEDIA_QUEUE_LINE_MAX && f->queue.count < MEDIA_QUEUE_MAX; k++)
            media_queue_add(&f->queue, &many[i], MEDIA_CLASS_VIDEO, &f->items[added++].item);
    }
    f->count = added;
    assert_non_null(add(f, 0, 0, MEDIA_CLASS_VIDEO)); /* the new one: its line is empty */
    assert_null(add(f, 1, 0, MEDIA_CLASS_AUDIO));
    assert_null(add(f, 1, 0, MEDIA_CLASS_AUDIO));
    for (int i = 0; i < 2; i++) { /* the room that came first has used up its credit after one */
        media_queue_pop(&f->queue, &sender);
        media_queue_charge_room_for_datagram(&f->queue, 502);
        assert_ptr_equal(sender->room, &f->rooms[i]);
    }
    mem_free(many);
    mem_free(f);
}

static void room_may_end_while_its_datagram_is_handled(void **state)
{
    struct fixture *f = fixture_new();
    struct media_queue_sender *sender;

    (void)state;
    add(f, 0, 0, MEDIA_CLASS_AUDIO);
    add(f, 0, 0, MEDIA_CLASS_AUDIO);
    add(f, 0, 0, MEDIA_CLASS_VIDEO);
    assert_non_null(media_queue_pop(&f->queue, &sender));
    assert_non_null(media_queue_remove_from_sender(&f->queue, sender));
    assert_non_null(media_queue_remove_from_sender(&f->queue, sender));
    assert_null(media_queue_remove_from_sender(&f->queue, sender));
    media_queue_remove_room(&f->queue, &f->rooms[0]);
    media_queue_charge_room_for_datagram(&f->queue, 100);
    assert_int_equal(f->rooms[0].credit, MEDIA_QUEUE_CREDIT);
    assert_null(take(f, 0));
    mem_free(f);
}

/* While a datagram is forwarded to a large room, only datagrams of rooms that were idle are handled
 * in between, and none of the same room. */
static void idle_room_interrupts_forwarding_of_a_large_room(void **state)
{
    struct fixture *f = fixture_new();
    struct media_queue_sender *sender;

    (void)state;
    for (int i = 0; i < 3; i++) {
        add(f, 0, 0, MEDIA_CLASS_VIDEO);
        add(f, 1, 0, MEDIA_CLASS_VIDEO);
    }
    assert_int_equal(take(f, 500)->room, 0);
    assert_int_equal(take(f, 500)->room, 1); /* both wait now */
    assert_non_null(media_queue_pop(&f->queue, &sender));
    struct media_queue_room *current = sender->room;
    assert_null(media_queue_interrupt_for_idle_rooms(&f->queue));
    add(f, 2, 0, MEDIA_CLASS_AUDIO);
    assert_ptr_equal(media_queue_interrupt_for_idle_rooms(&f->queue), current);
    assert_int_equal(take(f, 6)->room, 2);
    media_queue_resume_interrupted_room(&f->queue, current);
    assert_null(media_queue_interrupt_for_idle_rooms(&f->queue));
    long credit = current->credit;
    media_queue_charge_room_for_datagram(&f->queue, 502);
    assert_int_equal(current->credit, credit - 502);
    mem_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_of_a_sender_stay_in_order),
        cmocka_unit_test(small_room_never_waits_for_the_video_of_a_large_room),
        cmocka_unit_test(audio_of_a_room_comes_before_its_video),
        cmocka_unit_test(senders_of_a_room_are_forwarded_in_turn),
        cmocka_unit_test(busy_rooms_get_equal_shares_of_time),
        cmocka_unit_test(idle_room_has_priority_only_within_its_share),
        cmocka_unit_test(full_queue_of_a_sender_drops_its_oldest_datagram),
        cmocka_unit_test(full_queue_drops_media_of_rooms_above_their_share),
        cmocka_unit_test(idle_room_interrupts_forwarding_of_a_large_room),
        cmocka_unit_test(room_may_end_while_its_datagram_is_handled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
