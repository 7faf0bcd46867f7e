/* subscriptions.c - subscriptions of sessions to member lists (op 14 and 37). */
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/serial.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/member_lists/rosters.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"
#include "gateway/wire/protocol.h"

enum {
    PIECE_NS = 2 * 1000 * 1000, /* time limit of a step */
    BETWEEN_LOOKS = 8,          /* subscriptions between two reads of the clock */
};

/* A time-limited step of work on many subscriptions. */
struct list_piece {
    int64_t until;
    unsigned done;
};

static struct list_piece piece_begin(void)
{
    return (struct list_piece){ .until = clock_mono() + PIECE_NS };
}

static bool piece_is_over(struct list_piece *p)
{
    return ++p->done % BETWEEN_LOOKS == 0 && clock_mono() > p->until;
}

static uint64_t ranges_hash(const struct list_range *ranges, uint32_t count)
{
    return hash_str(str_slice((const char *)ranges, count * sizeof *ranges));
}

static bool face_shows(const struct list_face *f, const struct list_subscription *u)
{
    return f->count == u->count && memcmp(f->ranges, u->ranges, u->count * sizeof *u->ranges) == 0;
}

/* Finds a window by a hash of its ranges, because there may be thousands, or creates it. */
static struct list_face *face_make(struct shown_list *l, const struct list_subscription *u)
{
    uint64_t hash = ranges_hash(u->ranges, u->count);
    struct list_face *f = map_get(&l->faces_by_hash, hash);

    if (f && face_shows(f, u))
        return f;
    f = mem_new(sizeof *f);
    f->list = l;
    f->count = u->count;
    memcpy(f->ranges, u->ranges, u->count * sizeof *u->ranges);
    links_init(&f->subscriptions);
    links_append(&l->faces, &f->link);
    map_put(&l->faces_by_hash, hash, f);
    return f;
}

static void face_put(struct list_face *f, struct list_subscription *u)
{
    u->face = f;
    links_append(&f->subscriptions, &u->of_face);
    f->subscription_count++;
    f->fresh_count += u->fresh;
}

static void face_take(struct list_subscription *u)
{
    struct list_face *f = u->face;

    link_remove(&u->of_face);
    u->face = NULL;
    if (!f)
        return;
    f->subscription_count--;
    f->fresh_count -= u->fresh;
}

void face_free(struct list_face *f)
{
    uint64_t hash = ranges_hash(f->ranges, f->count);

    while (!links_empty(&f->subscriptions))
        face_take(container_of(f->subscriptions.next, struct list_subscription, of_face));
    if (map_get(&f->list->faces_by_hash, hash) == f)
        map_remove(&f->list->faces_by_hash, hash);
    link_remove(&f->link);
    mem_free(f);
}

void subscription_set_fresh(struct list_subscription *u, bool fresh)
{
    u->face->fresh_count += (size_t)fresh - (size_t)u->fresh;
    u->fresh = fresh;
}

static void subscription_enter(struct list_subscription *u, struct shown_list *l)
{
    u->fresh = true;
    u->round = 0;
    u->moves = l->roster->move.moves;
    face_put(face_make(l, u), u);
    roster_hurry(l->roster);
}

/* Removes the subscription from its list. The next round frees a list without subscriptions. */
void subscription_leave(struct list_subscription *u)
{
    struct roster *r = u->face ? u->face->list->roster : NULL;

    face_take(u);
    if (r) {
        r->wants.owes = true;
        roster_want(r);
    }
}

void subscription_free(struct list_subscription *u)
{
    struct session *s = u->session;

    subscription_leave(u);
    link_remove(&u->of_session);
    mem_free(u);
    journal_note_errands(s);
}

bool subscription_may_enter(const struct list_subscription *u)
{
    struct seat *seat = seat_find(&u->session->seats, SUBJECT_GUILD, u->guild_id);

    return seat && seat_rights(seat, u->channel_id) & PERMISSION(VIEW_CHANNEL);
}

static void subscription_begin(struct list_subscription *u)
{
    struct roster *r;

    if (!subscription_may_enter(u)) {
        subscription_free(u);
        return;
    }
    r = roster_make(u->session->hub, u->guild_id);
    subscription_enter(u, list_of_channel(r, u->channel_id));
}

/* Calls visit for the first subscription of each window until visit returns false. Returns true
 * if the step's time is over first. New lists and windows are added at the end. */
static bool walk_subscriptions(struct roster *r,
                               bool (*visit)(struct roster *r, struct list_subscription *u))
{
    struct list_piece piece = piece_begin();

    for (struct link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct shown_list *l = container_of(at, struct shown_list, link);

        for (struct link *f = l->faces.next; f != &l->faces; f = f->next) {
            struct list_face *face = container_of(f, struct list_face, link);
            struct link *all = &face->subscriptions;

            while (!links_empty(all) &&
                   visit(r, container_of(all->next, struct list_subscription, of_face)))
                if (piece_is_over(&piece))
                    return true;
        }
    }
    return false;
}

/* Returns false if this subscription, and so all after it, were already checked. */
static bool subscription_move(struct roster *r, struct list_subscription *u)
{
    struct shown_list *l = map_get(&r->move.moved_to, u->channel_id);
    struct list_face *face = u->face;

    if (u->moves == r->move.moves)
        return false;
    if (!map_get(&roster_view(r)->channels, u->channel_id)) {
        subscription_free(u);
        return true;
    }
    if (!l) {
        l = list_of_channel(r, u->channel_id);
        map_put(&r->move.moved_to, u->channel_id, l);
    }
    face_take(u);
    if (l == face->list) {
        u->moves = r->move.moves;
        face_put(face, u);
    } else {
        subscription_enter(u, l);
    }
    return true;
}

void subscriptions_move_begin(struct roster *r)
{
    r->move.moving = true;
    r->move.moves++;
    map_clear(&r->move.moved_to);
}

bool subscriptions_move(struct roster *r)
{
    r->move.moving = walk_subscriptions(r, subscription_move);
    if (!r->move.moving)
        map_clear(&r->move.moved_to);
    return r->move.moving;
}

static bool subscription_end(struct roster *r, struct list_subscription *u)
{
    (void)r;
    subscription_free(u);
    return true;
}

bool subscriptions_end(struct roster *r)
{
    return walk_subscriptions(r, subscription_end);
}

void lists_leave(struct session *s, bool ends)
{
    s->enters_lists = false;
    for (struct link *at = s->lists.next, *next; at != &s->lists; at = next) {
        struct list_subscription *u = container_of(at, struct list_subscription, of_session);

        next = at->next;
        if (ends)
            subscription_free(u);
        else
            subscription_leave(u);
    }
}

/* A session that moves between loops does not count as online in its guilds (crowds.h), so its
 * presence is checked again. */
static void note_return(struct session *s)
{
    struct gateway *g = s->hub->gateway;

    for (uint32_t i = 0; i < s->seats.count; i++) {
        const struct topic *t = s->seats.items[i]->topic;

        if (t->kind == SUBJECT_GUILD && crowd_is_watched(&g->crowds, t->id))
            lists_hear_presence(g, t->id, s->caller.id);
    }
}

/* Posted task that enters a session into its lists in steps: a session may show a thousand
 * lists, each of a channel with a thousand overwrites. */
struct list_entry {
    struct post post;
    struct hub *hub;
    uint64_t session;
};

/* Returns true if the step's time is over before all lists are entered. */
static bool session_enter_lists(struct session *s)
{
    struct list_piece piece = piece_begin();

    for (struct link *at = s->lists.next, *next; at != &s->lists; at = next) {
        struct list_subscription *u = container_of(at, struct list_subscription, of_session);

        next = at->next;
        if (u->face)
            continue;
        subscription_begin(u);
        if (piece_is_over(&piece))
            return true;
    }
    return false;
}

static void list_entry_post(struct list_entry *e)
{
    e->hub->list_pieces++;
    loop_post(e->hub->loop, &e->post);
}

/* If the session has moved away, its subscriptions are entered on its new loop. */
static void list_entry_run(struct post *post)
{
    struct list_entry *e = container_of(post, struct list_entry, post);
    struct session *s = registry_local(e->hub, e->session);

    loop_part("member_lists");
    e->hub->list_pieces--;
    if (s && session_enter_lists(s)) {
        list_entry_post(e);
        return;
    }
    if (s)
        s->enters_lists = false;
    mem_free(e);
}

static void lists_enter(struct session *s)
{
    if (s->enters_lists)
        return;
    struct list_entry *e = mem_new(sizeof *e);

    s->enters_lists = true;
    *e = (struct list_entry){ { .run = list_entry_run }, s->hub, s->number };
    list_entry_post(e);
}

void lists_return(struct session *s)
{
    note_return(s);
    if (!links_empty(&s->lists))
        lists_enter(s);
}

static bool range_is_right(struct list_range range)
{
    return range.first <= range.last && range.last - range.first < LIST_ROWS;
}

void lists_write(const struct session *s, struct buf *out)
{
    uint64_t count = 0;

    for (const struct link *at = s->lists.next; at != &s->lists; at = at->next)
        count++;
    serial_put(out, count);
    for (const struct link *at = s->lists.next; at != &s->lists; at = at->next) {
        const struct list_subscription *u =
            container_of(at, const struct list_subscription, of_session);

        serial_put(out, u->guild_id);
        serial_put(out, u->channel_id);
        serial_put(out, u->count);
        for (uint32_t i = 0; i < u->count; i++)
            serial_put(out, (uint64_t)u->ranges[i].first << 32 | u->ranges[i].last);
    }
}

static void subscription_get(struct serial_reader *r, struct session *s)
{
    struct list_subscription *u = mem_new(sizeof *u);

    u->session = s;
    links_append(&s->lists, &u->of_session);
    u->guild_id = serial_get(r);
    u->channel_id = serial_get(r);
    uint64_t count = serial_get(r);
    r->bad |= count < 1 || count > LIST_RANGES;
    for (uint64_t i = 0; i < count && !r->bad; i++) {
        uint64_t range = serial_get(r);

        u->ranges[u->count] = (struct list_range){ (uint32_t)(range >> 32), (uint32_t)range };
        r->bad |= !range_is_right(u->ranges[u->count++]);
    }
}

void lists_get(struct serial_reader *r, struct session *s)
{
    for (size_t count = serial_get_count(r, 32); count && !r->bad; count--)
        subscription_get(r, s);
}

/* Finds the session's subscription to a channel. *ret_oldest and *ret_count are the oldest
 * subscription and the number of subscriptions of its guild. */
static struct list_subscription *subscription_find(const struct session *s, snowflake guild_id,
                                                   snowflake channel_id,
                                                   struct list_subscription **ret_oldest,
                                                   size_t *ret_count)
{
    struct list_subscription *found = NULL;

    *ret_oldest = NULL;
    *ret_count = 0;
    for (struct link *at = s->lists.next; at != &s->lists; at = at->next) {
        struct list_subscription *u = container_of(at, struct list_subscription, of_session);

        if (u->guild_id != guild_id)
            continue;
        if (!*ret_oldest)
            *ret_oldest = u;
        ++*ret_count;
        if (u->channel_id == channel_id)
            found = u;
    }
    return found;
}

/* Beyond LIST_CHANNELS per guild the oldest subscription is dropped. */
static void session_subscribe(struct session *s, snowflake guild_id, snowflake channel_id,
                              const struct list_range *ranges, size_t count)
{
    struct list_subscription *oldest;
    size_t all;
    struct list_subscription *u = subscription_find(s, guild_id, channel_id, &oldest, &all);

    if (u)
        subscription_free(u);
    else if (count && all == LIST_CHANNELS)
        subscription_free(oldest);
    if (!count)
        return;
    u = mem_new(sizeof *u);
    u->session = s;
    u->guild_id = guild_id;
    u->channel_id = channel_id;
    u->count = (uint32_t)count;
    memcpy(u->ranges, ranges, count * sizeof *ranges);
    links_append(&s->lists, &u->of_session);
    journal_note_errands(s);
    lists_enter(s);
}

/* Returns false if a range is invalid or longer than LIST_ROWS. */
static bool ranges_read(const struct list *in, struct list_range *ret)
{
    const struct list *pairs = in->items;

    for (size_t i = 0; i < in->count; i++) {
        const int64_t *pair = pairs[i].items;

        ret[i] = (struct list_range){ (uint32_t)pair[0], (uint32_t)pair[1] };
        if (!range_is_right(ret[i]))
            return false;
    }
    return true;
}

/* Returns false if the request is malformed. */
static bool subscription_carry_out(struct session *s, snowflake guild_id,
                                   const struct guild_subscription *in)
{
    const struct shown_channel *c = in->channels.items;
    const snowflake *threads = in->thread_member_lists.items;

    for (size_t i = 0; i < in->channels.count; i++) {
        struct list_range ranges[LIST_RANGES];
        snowflake id;

        if (!snowflake_parse(c[i].id, &id) || !ranges_read(&c[i].ranges, ranges))
            return false;
        session_subscribe(s, guild_id, id, ranges, c[i].ranges.count);
    }
    if (in->threads.given == GIVEN && in->threads.value)
        thread_sync_begin(s, guild_id, NULL, 0);
    for (size_t i = 0; i < in->thread_member_lists.count; i++)
        thread_people_begin(s, guild_id, threads[i]);
    return true;
}

void handle_guild_subscription(struct peer *p, int op, struct str raw, const void *d)
{
    const struct guild_subscription *in = d;

    (void)op, (void)raw;
    if (!subscription_carry_out(p->session, in->guild_id, in))
        peer_close(p, CLOSE_BAD_PAYLOAD, "malformed payload");
}

void handle_guild_subscriptions(struct peer *p, int op, struct str raw, const void *d)
{
    const struct guild_subscriptions *in = d;
    const struct subscribed_guild *g = in->subscriptions.items;
    snowflake id;

    (void)op, (void)raw;
    for (size_t i = 0; i < in->subscriptions.count; i++)
        if (!snowflake_parse(g[i].id, &id) ||
            !subscription_carry_out(p->session, id, &g[i].subscription)) {
            peer_close(p, CLOSE_BAD_PAYLOAD, "malformed payload");
            return;
        }
}
