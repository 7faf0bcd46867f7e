/* topics.c - audiences of events on a loop and the sessions that subscribe to them. */
#include "gateway/subscriptions/topics.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gateway/subscriptions/online_members.h"
#include "gateway/subscriptions/snapshot_positions.h"
#include "gateway/subscriptions/guild_view.h"

enum { FREE_VIEWS_BUDGET_NS = 2 * 1000 * 1000, CHANNELS_PER_CLOCK_CHECK = 256 };

/* Returns the key of a topic: its id, with the audience kind in the two highest bits, which
 * snowflakes do not use. */
static uint64_t topic_map_key(enum audience_kind kind, snowflake id)
{
    return hash_u64(id + ((uint64_t)kind << 62));
}

struct topic *topic_find(const struct topics *all, enum audience_kind kind, snowflake id)
{
    return map_find_value(&all->map, topic_map_key(kind, id));
}

static struct topic *topic_get_or_create(struct topics *all, enum audience_kind kind, snowflake id)
{
    struct topic *t = topic_find(all, kind, id);

    if (!t) {
        t = mem_new(sizeof *t);
        t->kind = kind;
        t->id = id;
        t->subscriptions = &t->one;
        t->cap = 1;
        map_set_value(&all->map, topic_map_key(kind, id), t);
        if (all->on_topic_change)
            all->on_topic_change(all, t, true);
    }
    return t;
}

static void topic_free(struct topic *t)
{
    guild_view_free(t->view);
    if (t->subscriptions != &t->one)
        mem_free(t->subscriptions);
    mem_free(t);
}

/* Most sessions have a few subscriptions, for which a linear search is fastest. A bot may have
 * thousands, so above LINEAR_SEARCH_MAX subscriptions a map is used. */
enum { LINEAR_SEARCH_MAX = 16 };

struct topic_subscription *session_subscription_find(const struct session_subscriptions *own,
                                                     enum audience_kind kind, snowflake id)
{
    if (own->map)
        return map_find_value(own->map, topic_map_key(kind, id));
    for (uint32_t i = 0; i < own->count; i++)
        if (own->items[i]->topic->id == id && own->items[i]->topic->kind == kind)
            return own->items[i];
    return NULL;
}

static void insert_subscription_into_map(struct session_subscriptions *own,
                                         struct topic_subscription *seat)
{
    map_set_value(own->map, topic_map_key(seat->topic->kind, seat->topic->id), seat);
}

/* Adds a subscription to the session's map; it must be the last one in the session's list. */
static void add_new_subscription_to_map(struct session_subscriptions *own,
                                        struct topic_subscription *seat)
{
    if (own->map) {
        insert_subscription_into_map(own, seat);
    } else if (own->count > LINEAR_SEARCH_MAX) {
        own->map = mem_new(sizeof *own->map);
        for (uint32_t i = 0; i < own->count; i++)
            insert_subscription_into_map(own, own->items[i]);
    }
}

static void free_subscription_map(struct session_subscriptions *own)
{
    if (own->map)
        map_clear(own->map);
    mem_free(own->map);
    own->map = NULL;
}

static void unlink_session_subscription(struct session_subscriptions *own,
                                        struct topic_subscription *seat)
{
    struct topic_subscription *last = own->items[--own->count];

    own->items[seat->session_index] = last;
    last->session_index = seat->session_index;
    if (own->map)
        map_remove_value(own->map, topic_map_key(seat->topic->kind, seat->topic->id));
    if (own->count == 0)
        free_subscription_map(own);
}

static void topic_append_subscription(struct topic *t, struct topic_subscription *seat)
{
    if (t->count == t->cap) {
        bool alone = t->subscriptions == &t->one;

        t->cap *= 2;
        t->subscriptions =
            mem_resize(alone ? NULL : t->subscriptions, t->cap * sizeof *t->subscriptions);
        if (alone)
            t->subscriptions[0] = t->one;
    }
    t->subscriptions[t->count++] = seat;
}

static void append_session_subscription(struct session_subscriptions *own,
                                        struct topic_subscription *seat)
{
    uint32_t n = own->count;

    if (n == 0)
        own->items = mem_resize(own->items, 2 * sizeof *own->items);
    else if (n > 1 && (n & (n - 1)) == 0)
        own->items = mem_resize(own->items, 2 * (size_t)n * sizeof *own->items);
    own->items[own->count++] = seat;
}

static void update_online_members(const struct session_subscriptions *own,
                                  const struct topic_subscription *seat, bool comes)
{
    struct online_members *all = own->topics->online_members;

    if (!all || seat->topic->kind != AUDIENCE_GUILD)
        return;
    if (comes)
        online_members_add_session(all, seat->topic->id, own->user_id);
    else
        online_members_remove_session(all, seat->topic->id, own->user_id);
}

static void call_guild_change_callback(const struct session_subscriptions *own,
                                       const struct topic *t)
{
    if (own->topics->on_guild_change && t->kind == AUDIENCE_GUILD)
        own->topics->on_guild_change(own->session, t->id);
}

void session_set_counts_as_online(struct session_subscriptions *own, bool seen)
{
    if (own->visible == seen)
        return;
    own->visible = seen;
    for (uint32_t i = 0; i < own->count; i++)
        update_online_members(own, own->items[i], seen);
}

struct topic_subscription *session_subscription_add(struct session_subscriptions *own,
                                                    enum audience_kind kind, snowflake id)
{
    struct topic_subscription *seat = session_subscription_find(own, kind, id);

    if (seat)
        return seat;
    seat = mem_new(kind == AUDIENCE_GUILD ? sizeof *seat : SUBSCRIPTION_BYTES_OUTSIDE_GUILDS);
    seat->session = own->session;
    seat->user_id = own->user_id;
    seat->topic = topic_get_or_create(own->topics, kind, id);
    seat->index = seat->topic->count;
    topic_append_subscription(seat->topic, seat);
    seat->session_index = own->count;
    append_session_subscription(own, seat);
    add_new_subscription_to_map(own, seat);
    if (own->visible)
        update_online_members(own, seat, true);
    call_guild_change_callback(own, seat->topic);
    return seat;
}

static void move_topic_subscription(struct topic *t, uint32_t from, uint32_t to)
{
    t->subscriptions[to] = t->subscriptions[from];
    t->subscriptions[to]->index = to;
}

/* Removes a subscription from the array. The first delivered_count subscriptions have already got
 * the current event, and must stay in front of the others. A gap among these is filled with the
 * last subscription that got the event; the gap that this leaves is filled with the last
 * subscription of the array. */
static void topic_remove_subscription(struct topic *t, uint32_t gap)
{
    if (gap < t->delivered_count) {
        move_topic_subscription(t, --t->delivered_count, gap);
        gap = t->delivered_count;
    }
    if (gap != --t->count)
        move_topic_subscription(t, t->count, gap);
}

static void post_freeing_of_old_guild_views(struct topics *all)
{
    if (all->posted || !all->old)
        return;
    all->posted = true;
    loop_post_message(all->loop, &all->post);
}

static void free_some_old_guild_views(struct loop_message *post)
{
    struct topics *all = container_of(post, struct topics, post);
    int64_t began = clock_monotonic_ns();

    loop_set_measured_activity("old_views");
    all->posted = false;
    while (all->old && clock_monotonic_ns() - began < FREE_VIEWS_BUDGET_NS) {
        struct guild_view *next = all->old->next;

        if (guild_view_free_channel_batch(all->old, CHANNELS_PER_CLOCK_CHECK))
            all->old = next;
    }
    post_freeing_of_old_guild_views(all);
}

/* Adds an unused view to the list of views that are freed in steps, because the end of a bot's
 * session may leave thousands of them. */
static void free_guild_view_later(struct topics *all, struct guild_view *v)
{
    if (!v || all->closing) {
        guild_view_free(v);
        return;
    }
    v->next = all->old;
    all->old = v;
    post_freeing_of_old_guild_views(all);
}

static void topic_remove_from_loop(struct topics *all, struct topic *t)
{
    if (all->on_topic_change)
        all->on_topic_change(all, t, false);
    map_remove_value(&all->map, topic_map_key(t->kind, t->id));
    if (all->delivering && *all->delivering == t)
        *all->delivering = NULL;
    free_guild_view_later(all, t->view);
    t->view = NULL;
    topic_free(t);
}

void session_subscription_remove(struct session_subscriptions *own, struct topic_subscription *seat)
{
    struct topic *t = seat->topic;

    if (own->visible)
        update_online_members(own, seat, false);
    call_guild_change_callback(own, t);
    topic_remove_subscription(t, seat->index);
    unlink_session_subscription(own, seat);
    if (t->kind == AUDIENCE_GUILD)
        mem_free(seat->roles);
    snapshot_log_positions_unref(seat->snapshot_positions);
    mem_free(seat);
    if (t->count == 0)
        topic_remove_from_loop(own->topics, t);
}

void session_subscriptions_clear(struct session_subscriptions *own)
{
    while (own->count)
        session_subscription_remove(own, own->items[own->count - 1]);
    mem_free(own->items);
    own->items = NULL;
}

void subscription_set_snapshot_positions(struct topic_subscription *seat,
                                         struct snapshot_positions *known)
{
    snapshot_log_positions_unref(seat->snapshot_positions);
    seat->snapshot_positions = snapshot_log_positions_ref(known);
}

void subscription_set_roles(struct topic_subscription *seat, const snowflake *ids, size_t count,
                            int64_t restrained_until)
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

void subscription_remove_role(struct topic_subscription *seat, snowflake role_id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < seat->role_count; i++)
        if (seat->roles[i] != role_id)
            seat->roles[n++] = seat->roles[i];
    seat->role_count = n;
}

void topics_init(struct topics *all, struct loop *loop)
{
    *all = (struct topics){ .loop = loop, .post.run = free_some_old_guild_views };
    map_init(&all->map);
}

void topics_set_loop_is_stopping(struct topics *all)
{
    all->closing = true;
}

void topics_clear(struct topics *all)
{
    size_t at = 0;

    for (struct topic *t; (t = map_next_value(&all->map, &at));)
        topic_free(t);
    map_clear(&all->map);
    for (struct guild_view *v = all->old, *next; v; v = next) {
        next = v->next;
        guild_view_free(v);
    }
}
