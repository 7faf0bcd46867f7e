/* topics.c - audiences of events on a loop and the sessions that subscribe to them. */
#include "gateway/views/topics.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gateway/views/crowds.h"
#include "gateway/views/known.h"
#include "gateway/views/view.h"

enum { OLD_VIEWS_NS = 2 * 1000 * 1000, CHANNELS_BETWEEN_LOOKS = 256 };

/* Snowflakes do not use the two highest bits; these bits store the audience kind. */
static uint64_t key_of(enum subject_kind kind, snowflake id)
{
    return hash_u64(id + ((uint64_t)kind << 62));
}

struct topic *topic_find(const struct topics *all, enum subject_kind kind, snowflake id)
{
    return map_get(&all->map, key_of(kind, id));
}

static struct topic *topic_make(struct topics *all, enum subject_kind kind, snowflake id)
{
    struct topic *t = topic_find(all, kind, id);

    if (!t) {
        t = mem_new(sizeof *t);
        t->kind = kind;
        t->id = id;
        t->seats = &t->one;
        t->cap = 1;
        map_put(&all->map, key_of(kind, id), t);
    }
    return t;
}

static void topic_free(struct topic *t)
{
    view_free(t->view);
    if (t->seats != &t->one)
        mem_free(t->seats);
    mem_free(t);
}

/* Most sessions have a few subscriptions, for which a linear search is fastest. A bot may have
 * thousands; above FEW_SEATS subscriptions a map is used. */
enum { FEW_SEATS = 16 };

struct seat *seat_find(const struct seats *own, enum subject_kind kind, snowflake id)
{
    if (own->map)
        return map_get(own->map, key_of(kind, id));
    for (uint32_t i = 0; i < own->count; i++)
        if (own->items[i]->topic->id == id && own->items[i]->topic->kind == kind)
            return own->items[i];
    return NULL;
}

static void map_seat(struct seats *own, struct seat *seat)
{
    map_put(own->map, key_of(seat->topic->kind, seat->topic->id), seat);
}

/* Indexes a subscription that was just appended to the session's list. */
static void note_seat(struct seats *own, struct seat *seat)
{
    if (own->map) {
        map_seat(own, seat);
    } else if (own->count > FEW_SEATS) {
        own->map = mem_new(sizeof *own->map);
        for (uint32_t i = 0; i < own->count; i++)
            map_seat(own, own->items[i]);
    }
}

static void seats_drop_map(struct seats *own)
{
    if (own->map)
        map_clear(own->map);
    mem_free(own->map);
    own->map = NULL;
}

static void forget_seat(struct seats *own, struct seat *seat)
{
    struct seat *last = own->items[--own->count];

    own->items[seat->place] = last;
    last->place = seat->place;
    if (own->map)
        map_remove(own->map, key_of(seat->topic->kind, seat->topic->id));
    if (own->count == 0)
        seats_drop_map(own);
}

static void topic_add(struct topic *t, struct seat *seat)
{
    if (t->count == t->cap) {
        bool alone = t->seats == &t->one;

        t->cap *= 2;
        t->seats = mem_resize(alone ? NULL : t->seats, t->cap * sizeof *t->seats);
        if (alone)
            t->seats[0] = t->one;
    }
    t->seats[t->count++] = seat;
}

static void own_add(struct seats *own, struct seat *seat)
{
    uint32_t n = own->count;

    if (n == 0)
        own->items = mem_resize(own->items, 2 * sizeof *own->items);
    else if (n > 1 && (n & (n - 1)) == 0)
        own->items = mem_resize(own->items, 2 * (size_t)n * sizeof *own->items);
    own->items[own->count++] = seat;
}

static void seat_count(const struct seats *own, const struct seat *seat, bool comes)
{
    struct crowds *all = own->topics->crowds;

    if (!all || seat->topic->kind != SUBJECT_GUILD)
        return;
    if (comes)
        crowd_enter(all, seat->topic->id, own->user_id);
    else
        crowd_leave(all, seat->topic->id, own->user_id);
}

static void seat_moved(const struct seats *own, const struct topic *t)
{
    if (own->topics->moved && t->kind == SUBJECT_GUILD)
        own->topics->moved(own->session);
}

void seats_show(struct seats *own, bool seen)
{
    if (own->seen == seen)
        return;
    own->seen = seen;
    for (uint32_t i = 0; i < own->count; i++)
        seat_count(own, own->items[i], seen);
}

struct seat *seat_take(struct seats *own, enum subject_kind kind, snowflake id)
{
    struct seat *seat = seat_find(own, kind, id);

    if (seat)
        return seat;
    seat = mem_new(kind == SUBJECT_GUILD ? sizeof *seat : SEAT_ELSEWHERE);
    seat->session = own->session;
    seat->user_id = own->user_id;
    seat->topic = topic_make(own->topics, kind, id);
    seat->index = seat->topic->count;
    topic_add(seat->topic, seat);
    seat->place = own->count;
    own_add(own, seat);
    note_seat(own, seat);
    if (own->seen)
        seat_count(own, seat, true);
    seat_moved(own, seat->topic);
    return seat;
}

static void seat_move(struct topic *t, uint32_t from, uint32_t to)
{
    t->seats[to] = t->seats[from];
    t->seats[to]->index = to;
}

/* Moves the last subscription into the free slot. Subscriptions that already got the current
 * event stay in front of the others: a free slot among them is filled with the last of them
 * first. If all got the event, that subscription was the last of all and must not be moved back. */
static void topic_remove(struct topic *t, uint32_t hole)
{
    if (hole < t->told) {
        seat_move(t, --t->told, hole);
        hole = t->told;
    }
    if (hole != --t->count)
        seat_move(t, t->count, hole);
}

static void free_views_soon(struct topics *all)
{
    if (all->posted || !all->old)
        return;
    all->posted = true;
    loop_post(all->loop, &all->post);
}

static void free_old_views(struct post *post)
{
    struct topics *all = container_of(post, struct topics, post);
    int64_t began = clock_mono();

    loop_part("old_views");
    all->posted = false;
    while (all->old && clock_mono() - began < OLD_VIEWS_NS) {
        struct guild_view *next = all->old->next;

        if (view_free_some(all->old, CHANNELS_BETWEEN_LOOKS))
            all->old = next;
    }
    free_views_soon(all);
}

/* Frees the view in steps, because the end of a bot's session may leave thousands of views. */
static void drop_view(struct topics *all, struct guild_view *v)
{
    if (!v || all->closing) {
        view_free(v);
        return;
    }
    v->next = all->old;
    all->old = v;
    free_views_soon(all);
}

static void topic_end(struct topics *all, struct topic *t)
{
    map_remove(&all->map, key_of(t->kind, t->id));
    if (all->at_hand && *all->at_hand == t)
        *all->at_hand = NULL;
    drop_view(all, t->view);
    t->view = NULL;
    topic_free(t);
}

void seat_leave(struct seats *own, struct seat *seat)
{
    struct topic *t = seat->topic;

    if (own->seen)
        seat_count(own, seat, false);
    seat_moved(own, t);
    topic_remove(t, seat->index);
    forget_seat(own, seat);
    if (t->kind == SUBJECT_GUILD)
        mem_free(seat->roles);
    known_unref(seat->known);
    mem_free(seat);
    if (t->count == 0)
        topic_end(own->topics, t);
}

void seats_clear(struct seats *own)
{
    while (own->count)
        seat_leave(own, own->items[own->count - 1]);
    mem_free(own->items);
    own->items = NULL;
}

void seat_know(struct seat *seat, struct known_positions *known)
{
    known_unref(seat->known);
    seat->known = known_ref(known);
}

void seat_set_roles(struct seat *seat, const snowflake *ids, size_t count, int64_t restrained_until)
{
    mem_free(seat->roles);
    seat->role_count = (uint32_t)count;
    seat->roles =
        seat->role_count ? mem_resize(NULL, seat->role_count * sizeof *seat->roles) : NULL;
    if (seat->role_count)
        memcpy(seat->roles, ids, seat->role_count * sizeof *seat->roles);
    seat->restrained_until = restrained_until;
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

void topics_init(struct topics *all, struct loop *loop)
{
    *all = (struct topics){ .loop = loop, .post.run = free_old_views };
    map_init(&all->map);
}

void topics_close(struct topics *all)
{
    all->closing = true;
}

void topics_clear(struct topics *all)
{
    size_t at = 0;

    for (struct topic *t; (t = map_next(&all->map, &at));)
        topic_free(t);
    map_clear(&all->map);
    for (struct guild_view *v = all->old, *next; v; v = next) {
        next = v->next;
        view_free(v);
    }
}
