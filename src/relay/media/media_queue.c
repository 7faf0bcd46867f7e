/* media_queue.c - decides which datagram a relay thread handles next. */
#include "relay/media/media_queue.h"

#include "base/mem.h"

void media_queue_init(struct media_queue *q)
{
    *q = (struct media_queue){ 0 };
    linked_list_init(&q->idle_before);
    linked_list_init(&q->waiting);
}

void media_queue_room_init(struct media_queue_room *room)
{
    *room = (struct media_queue_room){ 0 };
    for (int i = 0; i < MEDIA_CLASSES; i++)
        linked_list_init(&room->senders[i]);
}

static struct media_queue_item *remove_first_of_sender_queue(struct media_queue *q,
                                                             struct media_queue_sender *s,
                                                             enum media_class class)
{
    struct media_datagram_fifo *line = &s->lines[class];
    struct media_queue_item *item = line->first;

    if (!item)
        return NULL;
    line->first = item->next;
    line->count--;
    s->room->count--;
    q->count--;
    linked_list_remove(&line->link);
    if (line->first)
        linked_list_append(&s->room->senders[class], &line->link);
    return item;
}

static bool room_exceeds_share_of_queue(const struct media_queue *q,
                                        const struct media_queue_room *room)
{
    return q->count >= MEDIA_QUEUE_MAX && room->count * q->rooms >= MEDIA_QUEUE_MAX;
}

/* Adds a room that was idle to the list of rooms that are served before all others. */
static void add_idle_room_to_queue(struct media_queue *q, struct media_queue_room *room)
{
    if (room->link.next)
        return;
    room->credit = MEDIA_QUEUE_CREDIT;
    linked_list_append(&q->idle_before, &room->link);
    q->rooms++;
}

struct media_queue_item *media_queue_add(struct media_queue *q, struct media_queue_sender *s,
                                         enum media_class class, struct media_queue_item *item)
{
    struct media_datagram_fifo *line = &s->lines[class];
    struct media_queue_item *dropped = NULL;

    if (line->count >= MEDIA_QUEUE_LINE_MAX || room_exceeds_share_of_queue(q, s->room)) {
        dropped = remove_first_of_sender_queue(q, s, class);
        if (!dropped)
            return item;
    }
    item->next = NULL;
    if (line->first)
        line->last->next = item;
    else
        line->first = item;
    line->last = item;
    line->count++;
    s->room->count++;
    q->count++;
    if (!line->link.next)
        linked_list_append(&s->room->senders[class], &line->link);
    add_idle_room_to_queue(q, s->room);
    return dropped;
}

static void remove_room_from_rotation(struct media_queue *q, struct media_queue_room *room)
{
    linked_list_remove(&room->link);
    q->rooms--;
}

/* Returns the room that is served next. A room that was idle and has used up its credit waits for
 * its turn like the other rooms. Otherwise the same room would always be served first. */
static struct media_queue_room *choose_next_room_of_media_queue(struct media_queue *q)
{
    for (;;) {
        bool idle = !linked_list_is_empty(&q->idle_before);

        if (!idle && linked_list_is_empty(&q->waiting))
            return NULL;
        struct list_link *first = idle ? q->idle_before.next : q->waiting.next;
        struct media_queue_room *room = container_of(first, struct media_queue_room, link);

        if (room->count && room->credit > 0)
            return room;
        if (!idle && room->credit > 0) {
            remove_room_from_rotation(q, room);
            continue;
        }
        if (room->credit <= 0)
            room->credit += MEDIA_QUEUE_CREDIT;
        linked_list_remove(&room->link);
        linked_list_append(&q->waiting, &room->link);
    }
}

struct media_queue_item *media_queue_pop(struct media_queue *q, struct media_queue_sender **ret)
{
    struct media_queue_room *room = choose_next_room_of_media_queue(q);

    q->current = room;
    if (!room)
        return NULL;
    enum media_class class = linked_list_is_empty(&room->senders[MEDIA_CLASS_AUDIO])
                                 ? MEDIA_CLASS_VIDEO
                                 : MEDIA_CLASS_AUDIO;
    struct media_datagram_fifo *line =
        container_of(room->senders[class].next, struct media_datagram_fifo, link);

    *ret = container_of(line, struct media_queue_sender, lines[class]);
    return remove_first_of_sender_queue(q, *ret, class);
}

void media_queue_charge_room_for_datagram(struct media_queue *q, unsigned cost)
{
    if (q->current)
        q->current->credit -= (long)cost;
    q->current = NULL;
}

struct media_queue_room *media_queue_interrupt_for_idle_rooms(struct media_queue *q)
{
    while (q->current && !linked_list_is_empty(&q->idle_before)) {
        struct media_queue_room *room =
            container_of(q->idle_before.next, struct media_queue_room, link);

        if (room != q->current && room->count && room->credit > 0)
            return q->current;
        linked_list_remove(&room->link);
        linked_list_append(&q->waiting, &room->link);
    }
    return NULL;
}

void media_queue_resume_interrupted_room(struct media_queue *q, struct media_queue_room *room)
{
    q->current = room;
}

struct media_queue_item *media_queue_remove_from_sender(struct media_queue *q,
                                                        struct media_queue_sender *s)
{
    struct media_queue_item *item = remove_first_of_sender_queue(q, s, MEDIA_CLASS_AUDIO);

    return item ? item : remove_first_of_sender_queue(q, s, MEDIA_CLASS_VIDEO);
}

void media_queue_remove_room(struct media_queue *q, struct media_queue_room *room)
{
    if (room->link.next)
        remove_room_from_rotation(q, room);
    if (q->current == room)
        q->current = NULL;
}
