/* media_queue.c - decides which datagram a relay thread handles next. */
#include "relay/media/media_queue.h"

#include "base/mem.h"

void media_queue_init(struct media_queue *q)
{
    *q = (struct media_queue){ 0 };
    links_init(&q->idle_before);
    links_init(&q->waiting);
}

void queue_room_init(struct queue_room *room)
{
    *room = (struct queue_room){ 0 };
    for (int i = 0; i < MEDIA_CLASSES; i++)
        links_init(&room->senders[i]);
}

static struct queue_item *line_take(struct media_queue *q, struct queue_sender *s,
                                    enum media_class class)
{
    struct queue_line *line = &s->lines[class];
    struct queue_item *item = line->first;

    if (!item)
        return NULL;
    line->first = item->next;
    line->count--;
    s->room->count--;
    q->count--;
    link_remove(&line->link);
    if (line->first)
        links_append(&s->room->senders[class], &line->link);
    return item;
}

static bool room_exceeds_share(const struct media_queue *q, const struct queue_room *room)
{
    return q->count >= MEDIA_QUEUE_MAX && room->count * q->rooms >= MEDIA_QUEUE_MAX;
}

/* Adds a room that was idle to the rooms that are served first. */
static void room_activate(struct media_queue *q, struct queue_room *room)
{
    if (room->link.next)
        return;
    room->credit = MEDIA_QUEUE_CREDIT;
    links_append(&q->idle_before, &room->link);
    q->rooms++;
}

struct queue_item *media_queue_add(struct media_queue *q, struct queue_sender *s,
                                   enum media_class class, struct queue_item *item)
{
    struct queue_line *line = &s->lines[class];
    struct queue_item *dropped = NULL;

    if (line->count >= MEDIA_QUEUE_LINE_MAX || room_exceeds_share(q, s->room)) {
        dropped = line_take(q, s, class);
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
        links_append(&s->room->senders[class], &line->link);
    room_activate(q, s->room);
    return dropped;
}

static void room_deactivate(struct media_queue *q, struct queue_room *room)
{
    link_remove(&room->link);
    q->rooms--;
}

/* Returns the room whose turn it is. A room that was idle and has no more datagrams waits for its
 * turn, too; otherwise it would be served first again and again. */
static struct queue_room *queue_next_room(struct media_queue *q)
{
    for (;;) {
        bool idle = !links_are_empty(&q->idle_before);

        if (!idle && links_are_empty(&q->waiting))
            return NULL;
        struct link *first = idle ? q->idle_before.next : q->waiting.next;
        struct queue_room *room = container_of(first, struct queue_room, link);

        if (room->count && room->credit > 0)
            return room;
        if (!idle && room->credit > 0) {
            room_deactivate(q, room);
            continue;
        }
        if (room->credit <= 0)
            room->credit += MEDIA_QUEUE_CREDIT;
        link_remove(&room->link);
        links_append(&q->waiting, &room->link);
    }
}

struct queue_item *media_queue_next(struct media_queue *q, struct queue_sender **ret)
{
    struct queue_room *room = queue_next_room(q);

    q->current = room;
    if (!room)
        return NULL;
    enum media_class class =
        links_are_empty(&room->senders[MEDIA_CLASS_AUDIO]) ? MEDIA_CLASS_VIDEO : MEDIA_CLASS_AUDIO;
    struct queue_line *line = container_of(room->senders[class].next, struct queue_line, link);

    *ret = container_of(line, struct queue_sender, lines[class]);
    return line_take(q, *ret, class);
}

void media_queue_charge(struct media_queue *q, unsigned cost)
{
    if (q->current)
        q->current->credit -= (long)cost;
    q->current = NULL;
}

struct queue_room *media_queue_interrupt(struct media_queue *q)
{
    while (q->current && !links_are_empty(&q->idle_before)) {
        struct queue_room *room = container_of(q->idle_before.next, struct queue_room, link);

        if (room != q->current && room->count && room->credit > 0)
            return q->current;
        link_remove(&room->link);
        links_append(&q->waiting, &room->link);
    }
    return NULL;
}

void media_queue_continue(struct media_queue *q, struct queue_room *room)
{
    q->current = room;
}

struct queue_item *queue_sender_take(struct media_queue *q, struct queue_sender *s)
{
    struct queue_item *item = line_take(q, s, MEDIA_CLASS_AUDIO);

    return item ? item : line_take(q, s, MEDIA_CLASS_VIDEO);
}

void queue_room_remove(struct media_queue *q, struct queue_room *room)
{
    if (room->link.next)
        room_deactivate(q, room);
    if (q->current == room)
        q->current = NULL;
}
