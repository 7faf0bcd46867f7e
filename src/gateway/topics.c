/* topics.c - subjects of a loop and the sessions that listen to them. */
#include "base/hash.h"
#include "base/mem.h"
#include "gateway/delivery.h"
#include "gateway/internal.h"

/* Ids do not reach the two highest bits: the kind goes there. */
static uint64_t key_of(enum subject_kind kind, snowflake id)
{
    return hash_u64(id + ((uint64_t)kind << 62));
}

struct topic *topic_find(struct hub *h, enum subject_kind kind, snowflake id)
{
    return map_get(&h->topics, key_of(kind, id));
}

static struct topic *topic_make(struct hub *h, enum subject_kind kind, snowflake id)
{
    struct topic *t = topic_find(h, kind, id);

    if (!t) {
        t = mem_new(sizeof *t);
        t->kind = kind;
        t->id = id;
        map_put(&h->topics, key_of(kind, id), t);
    }
    return t;
}

static void topic_free(struct topic *t)
{
    view_free(t->view);
    mem_free(t->seats);
    mem_free(t);
}

/* Most sessions have a few seats, which a look at each finds soonest. A bot may have
 * thousands: those are found by a map. */
enum { FEW_SEATS = 16 };

struct seat *seat_find(const struct session *s, enum subject_kind kind, snowflake id)
{
    if (s->seat_map.count)
        return map_get(&s->seat_map, key_of(kind, id));
    for (uint32_t i = 0; i < s->seat_count; i++)
        if (s->seats[i]->topic->id == id && s->seats[i]->topic->kind == kind)
            return s->seats[i];
    return NULL;
}

static void map_seat(struct session *s, struct seat *seat)
{
    map_put(&s->seat_map, key_of(seat->topic->kind, seat->topic->id), seat);
}

/* The newest of the session's seats is in its list. */
static void note_seat(struct session *s, struct seat *seat)
{
    if (s->seat_map.count)
        map_seat(s, seat);
    else if (s->seat_count > FEW_SEATS)
        for (uint32_t i = 0; i < s->seat_count; i++)
            map_seat(s, s->seats[i]);
}

static void forget_seat(struct session *s, struct seat *seat)
{
    struct seat *last = s->seats[--s->seat_count];

    s->seats[seat->place] = last;
    last->place = seat->place;
    if (s->seat_map.count)
        map_remove(&s->seat_map, key_of(seat->topic->kind, seat->topic->id));
    if (s->seat_count == 0)
        map_clear(&s->seat_map);
}

static void topic_add(struct seat ***list, uint32_t *count, uint32_t *cap, struct seat *seat)
{
    if (*count == *cap) {
        *cap = *cap ? *cap * 2 : 2;
        *list = mem_resize(*list, *cap * sizeof **list);
    }
    (*list)[(*count)++] = seat;
}

struct seat *seat_take(struct session *s, enum subject_kind kind, snowflake id)
{
    struct seat *seat = seat_find(s, kind, id);

    if (seat)
        return seat;
    seat = mem_new(sizeof *seat);
    seat->session = s;
    seat->topic = topic_make(s->hub, kind, id);
    seat->index = seat->topic->count;
    topic_add(&seat->topic->seats, &seat->topic->count, &seat->topic->cap, seat);
    seat->place = s->seat_count;
    topic_add(&s->seats, &s->seat_count, &s->seat_cap, seat);
    note_seat(s, seat);
    return seat;
}

static void seat_move(struct topic *t, uint32_t from, uint32_t to)
{
    t->seats[to] = t->seats[from];
    t->seats[to]->index = to;
}

/* The last seat fills the hole. Those who have heard the event at hand sit before the others
 * and stay there: their own last one fills a hole among them. */
static void topic_remove(struct topic *t, uint32_t hole)
{
    if (hole < t->told) {
        seat_move(t, --t->told, hole);
        hole = t->told;
    }
    seat_move(t, --t->count, hole);
}

void seat_leave(struct seat *seat)
{
    struct session *s = seat->session;
    struct topic *t = seat->topic;

    topic_remove(t, seat->index);
    forget_seat(s, seat);
    mem_free(seat->roles);
    mem_free(seat);
    if (t->count == 0) {
        map_remove(&s->hub->topics, key_of(t->kind, t->id));
        if (s->hub->delivery->topic == t)
            s->hub->delivery->topic = NULL;
        hub_drop_view(s->hub, t->view);
        t->view = NULL;
        topic_free(t);
    }
}

void seat_set_roles(struct seat *seat, const snowflake *ids, size_t count, int64_t timed_out_until)
{
    mem_free(seat->roles);
    seat->role_count = (uint32_t)count;
    seat->roles =
        seat->role_count ? mem_resize(NULL, seat->role_count * sizeof *seat->roles) : NULL;
    if (seat->role_count)
        memcpy(seat->roles, ids, seat->role_count * sizeof *seat->roles);
    seat->timed_out_until = timed_out_until;
    seat->version = 0;
}

void seat_drop_role(struct seat *seat, snowflake role_id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < seat->role_count; i++)
        if (seat->roles[i] != role_id)
            seat->roles[n++] = seat->roles[i];
    seat->role_count = n;
}

void topics_free(struct hub *h)
{
    size_t at = 0;

    for (struct topic *t; (t = map_next(&h->topics, &at));)
        topic_free(t);
    map_clear(&h->topics);
}
