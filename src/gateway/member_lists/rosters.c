/* rosters.c - rosters of a loop, and the rounds that update and send their lists. */
#include "gateway/member_lists/rosters.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/news.h"

enum {
    PACE_MS = 1000,     /* minimum time between two rounds */
    REST = 9,           /* pause after a round, in multiples of its duration */
    BYTES_OF_MS = 5000, /* limit of all sent bytes: 5 MB per second */
    FREED_AT_ONCE = 4096,
};

static void roster_piece(struct post *post);
static void roster_pace_ended(struct deadline *d);

const struct guild_view *roster_view(const struct roster *r)
{
    const struct topic *t = topic_find(&r->hub->topics, SUBJECT_GUILD, r->guild_id);

    return t ? t->view : NULL;
}

struct roster *roster_make(struct hub *h, snowflake guild_id)
{
    if (!h->rosters) {
        h->rosters = mem_new(sizeof *h->rosters);
        map_init(&h->rosters->map);
        h->rosters->pace = deadlines_new(h->loop, PACE_MS, true, roster_pace_ended);
    }
    struct roster *r = map_get(&h->rosters->map, guild_id);
    if (r)
        return r;
    r = mem_new(sizeof *r);
    r->hub = h;
    r->guild_id = guild_id;
    r->post.run = roster_piece;
    r->wants.wants_roles = r->wants.wants_members = true;
    links_init(&r->lists);
    map_init(&r->members);
    map_init(&r->wants.noted);
    map_init(&r->todo);
    map_init(&r->move.moved_to);
    map_put(&h->rosters->map, guild_id, r);
    /* From now on changes are recorded in the roster; roster_gather reads the current members. */
    crowd_watch(&h->gateway->crowds, guild_id, true);
    return r;
}

/* Frees up to `most` members. Returns true when the whole roster is freed. */
static bool roster_free_some(struct roster *r, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        struct ordered_member *m = map_next(&r->members, &r->ended);

        if (!m) {
            map_clear(&r->members);
            map_clear(&r->wants.noted);
            map_clear(&r->todo);
            map_clear(&r->move.moved_to);
            for (size_t k = 0; k < r->changed.gone_count; k++)
                mem_free(r->changed.gone[k]);
            mem_free(r->changed.come);
            mem_free(r->changed.gone);
            mem_free(r);
            return true;
        }
        mem_free(m);
    }
    return false;
}

static void roster_forget(struct roster *r)
{
    deadline_drop(&r->pace);
    while (!links_empty(&r->lists))
        list_free(container_of(r->lists.next, struct shown_list, link));
    map_remove(&r->hub->rosters->map, r->guild_id);
    crowd_watch(&r->hub->gateway->crowds, r->guild_id, false);
}

void lists_free(struct hub *h)
{
    struct rosters *all = h->rosters;
    size_t at = 0;

    if (!all)
        return;
    for (struct roster *r; (r = map_next(&all->map, &at)); at = 0) {
        roster_forget(r);
        roster_free_some(r, SIZE_MAX);
    }
    map_clear(&all->map);
    deadlines_free(all->pace);
    mem_free(all);
    h->rosters = NULL;
}

static void roster_post(struct roster *r)
{
    r->hub->list_pieces++;
    loop_post(r->hub->loop, &r->post);
}

static bool has_something_to_do(const struct roster *r)
{
    return r->wants.noted.count || r->wants.wants_roles || r->wants.wants_members ||
           r->wants.wants_ids || r->wants.fresh || r->wants.owes;
}

/* Starts a round. A quick round only sends rows to new subscriptions. */
static void round_begin(struct roster *r, bool quick)
{
    if (r->hub->gateway->draining)
        return;
    r->running = true;
    r->quick = quick;
    r->looking = !quick;
    r->wants.fresh = false;
    r->round++;
    r->began = clock_mono();
    if (!quick) {
        r->wants.owes = false;
        r->todo = r->wants.noted;
        r->todo_at = 0;
        map_init(&r->wants.noted);
    }
    roster_post(r);
}

static void drop_unused_lists(struct roster *r)
{
    for (struct link *at = r->lists.next, *next; at != &r->lists; at = next) {
        struct shown_list *l = container_of(at, struct shown_list, link);

        next = at->next;
        for (struct link *f = l->faces.next, *after; f != &l->faces; f = after) {
            struct list_face *face = container_of(f, struct list_face, link);

            after = f->next;
            if (links_empty(&face->subscriptions))
                face_free(face);
        }
        if (links_empty(&l->faces))
            list_free(l);
    }
}

/* Returns the pause after a round: by its duration, or by the bytes that it sent, whichever is
 * longer. */
static int64_t rest_ms(const struct roster *r)
{
    int64_t by_time = REST * (clock_mono() - r->began) / 1000000;
    int64_t by_bytes = r->told_bytes / BYTES_OF_MS;

    return by_time > by_bytes ? by_time : by_bytes;
}

static void round_end(struct roster *r)
{
    r->running = false;
    r->wants.wants_roles |= r->read.failed_roles;
    r->wants.wants_members |= r->read.failed_members;
    r->read.failed_roles = r->read.failed_members = false;
    map_clear(&r->todo);
    lists_tell_drop(r);
    drop_unused_lists(r);
    if (links_empty(&r->lists)) {
        roster_forget(r);
        r->ending = true;
        roster_post(r);
        return;
    }
    if (!r->quick) {
        r->rest_until = clock_steady_ms() + rest_ms(r);
        r->told_bytes = 0;
        deadline_touch(r->hub->rosters->pace, &r->pace);
    }
    if (r->wants.fresh)
        roster_hurry(r);
}

static void roster_pace_ended(struct deadline *d)
{
    struct roster *r = container_of(d, struct roster, pace);

    if (r->running || clock_steady_ms() < r->rest_until)
        deadline_touch(r->hub->rosters->pace, &r->pace);
    else if (has_something_to_do(r))
        round_begin(r, false);
}

static bool is_paced(const struct roster *r)
{
    return r->pace.link.next != NULL;
}

/* If all members have to be read again anyway, a new subscription waits for that round. */
void roster_hurry(struct roster *r)
{
    r->wants.fresh = true;
    if (!r->running && !(is_paced(r) && (r->wants.wants_roles || r->wants.wants_members)))
        round_begin(r, is_paced(r));
}

void roster_want(struct roster *r)
{
    if (!r->running && !is_paced(r) && has_something_to_do(r))
        round_begin(r, false);
}

/* Runs the next task of the round. The duration of a task does not depend on the guild's size. */
static bool round_goes_on(struct roster *r)
{
    if (!roster_view(r))
        return false;
    if (r->looking && (roster_gather(r) || roster_look(r)))
        return true;
    r->looking = false;
    /* After a failed read nothing is sent; the next round reads again. */
    if (r->read.failed_roles || r->read.failed_members)
        return false;
    return lists_build(r) || (!r->quick && lists_settle(r)) || lists_tell(r);
}

void roster_continue(struct roster *r)
{
    roster_post(r);
}

static void roster_piece(struct post *post)
{
    struct roster *r = container_of(post, struct roster, post);

    loop_part("member_lists");
    r->hub->list_pieces--;
    if (r->ending) {
        if (!roster_free_some(r, FREED_AT_ONCE))
            roster_post(r);
        return;
    }
    if (round_goes_on(r))
        return;
    if (!roster_view(r) && subscriptions_end(r)) {
        roster_post(r);
        return;
    }
    round_end(r);
}

void roster_note(struct roster *r, snowflake user_id, enum roster_note note)
{
    enum roster_note before = (enum roster_note)(uintptr_t)map_get(&r->wants.noted, user_id);

    /* In a large guild, offline members that are in no list do not matter. */
    if (!r->whole && !r->wants.wants_members && !map_get(&r->members, user_id) &&
        !gateway_status(r->hub->gateway, user_id, NULL))
        return;
    if (note > before)
        map_put(&r->wants.noted, user_id, (void *)(uintptr_t)note);
    roster_want(r);
}

/* A guild that crosses ROSTER_WHOLE shows other members: read them again. */
static void roster_hear_size(struct roster *r)
{
    const struct guild_view *v = roster_view(r);

    if (v && (v->member_count <= ROSTER_WHOLE) != r->whole)
        r->wants.wants_members = true;
}

void lists_hear(struct hub *h, const struct news *n)
{
    struct roster *r = n->to.kind == SUBJECT_GUILD ? map_get(&h->rosters->map, n->to.id) : NULL;

    if (!r)
        return;
    switch (n->event) {
    case EVENT_GUILD_MEMBER_ADD:
    case EVENT_GUILD_MEMBER_REMOVE:
        roster_hear_size(r);
        roster_note(r, facts_about(&n->facts), NOTE_READ);
        break;
    case EVENT_GUILD_MEMBER_UPDATE:
        roster_note(r, facts_about(&n->facts), NOTE_READ);
        break;
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
    case EVENT_GUILD_ROLE_DELETE:
        r->wants.wants_roles = r->wants.wants_ids = true;
        roster_want(r);
        break;
    case EVENT_GUILD_UPDATE: /* a new owner can view every channel */
        r->wants.wants_roles |= n->facts.guild.owner_id && n->facts.guild.owner_id != r->owner_id;
        roster_want(r);
        break;
    case EVENT_CHANNEL_UPDATE:
    case EVENT_CHANNEL_DELETE:
    case EVENT_GUILD_DELETE:
        r->wants.wants_ids = true;
        roster_want(r);
        break;
    default:
        break;
    }
}

struct presence_note {
    struct post post;
    struct hub *hub;
    snowflake guild_id, user_id;
};

static void presence_note_run(struct post *post)
{
    struct presence_note *n = container_of(post, struct presence_note, post);
    struct roster *r = n->hub->rosters ? map_get(&n->hub->rosters->map, n->guild_id) : NULL;

    if (r)
        roster_note(r, n->user_id, NOTE_LOOK);
    mem_free(n);
}

void lists_hear_presence(struct gateway *g, snowflake guild_id, snowflake user_id)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct presence_note *n = mem_new(sizeof *n);

        *n = (struct presence_note){ { .run = presence_note_run }, g->hubs[i], guild_id, user_id };
        loop_post(g->hubs[i]->loop, &n->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
