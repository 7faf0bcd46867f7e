/* list_subscriptions.c - subscriptions of sessions to member lists (op 14 and 37). */
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/serial.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/member_lists/member_tables.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"
#include "gateway/wire/protocol.h"

enum {
    STEP_NS = 2 * 1000 * 1000, /* time limit of one task on the loop, in ns (struct timed_step) */
    /* Number of subscriptions handled between two reads of the clock. */
    SUBSCRIPTIONS_PER_CLOCK_CHECK = 8,
};

/* Time limit of one task on the loop. Changes of many subscriptions are divided into such tasks. */
struct timed_step {
    int64_t until;
    unsigned done;
};

static struct timed_step timed_step_begin(void)
{
    return (struct timed_step){ .until = clock_monotonic_ns() + STEP_NS };
}

static bool timed_step_is_over(struct timed_step *p)
{
    return ++p->done % SUBSCRIPTIONS_PER_CLOCK_CHECK == 0 && clock_monotonic_ns() > p->until;
}

static uint64_t hash_list_ranges(const struct member_list_row_range *ranges, uint32_t count)
{
    return hash_str(str_slice((const char *)ranges, count * sizeof *ranges));
}

static bool window_has_ranges_of_subscription(const struct member_list_window *f,
                                              const struct member_list_subscription *u)
{
    return f->count == u->count && memcmp(f->ranges, u->ranges, u->count * sizeof *u->ranges) == 0;
}

/* Finds or creates a window (a set of row ranges) of a member list. Finds it by a hash of the
 * ranges, because a list may have thousands of windows. */
static struct member_list_window *list_window_get_or_create(
    struct channel_member_list *l, const struct member_list_subscription *u)
{
    uint64_t hash = hash_list_ranges(u->ranges, u->count);
    struct member_list_window *f = map_find_value(&l->windows_by_hash, hash);

    if (f && window_has_ranges_of_subscription(f, u))
        return f;
    f = mem_new(sizeof *f);
    f->list = l;
    f->count = u->count;
    memcpy(f->ranges, u->ranges, u->count * sizeof *u->ranges);
    linked_list_init(&f->subscriptions);
    linked_list_append(&l->windows, &f->link);
    map_set_value(&l->windows_by_hash, hash, f);
    return f;
}

static void list_window_add_subscription(struct member_list_window *f,
                                         struct member_list_subscription *u)
{
    u->window = f;
    linked_list_append(&f->subscriptions, &u->of_window);
    f->subscription_count++;
    f->fresh_count += u->fresh;
}

static void list_window_remove_subscription(struct member_list_subscription *u)
{
    struct member_list_window *f = u->window;

    linked_list_remove(&u->of_window);
    u->window = NULL;
    if (!f)
        return;
    f->subscription_count--;
    f->fresh_count -= u->fresh;
}

void member_list_window_free(struct member_list_window *f)
{
    uint64_t hash = hash_list_ranges(f->ranges, f->count);

    while (!linked_list_is_empty(&f->subscriptions))
        list_window_remove_subscription(
            container_of(f->subscriptions.next, struct member_list_subscription, of_window));
    if (map_find_value(&f->list->windows_by_hash, hash) == f)
        map_remove_value(&f->list->windows_by_hash, hash);
    linked_list_remove(&f->link);
    mem_free(f);
}

void member_list_subscription_set_needs_all_rows(struct member_list_subscription *u, bool fresh)
{
    u->window->fresh_count += (size_t)fresh - (size_t)u->fresh;
    u->fresh = fresh;
}

static void add_subscription_to_member_list(struct member_list_subscription *u,
                                            struct channel_member_list *l)
{
    u->fresh = true;
    u->round = 0;
    u->moves = l->table->move.moves;
    list_window_add_subscription(list_window_get_or_create(l, u), u);
    member_table_start_update_round(l->table);
}

/* Removes the subscription from its member list. If this was the list's last subscription, the next
 * update round frees the list. */
static void remove_subscription_from_its_list(struct member_list_subscription *u)
{
    struct member_table *r = u->window ? u->window->list->table : NULL;

    list_window_remove_subscription(u);
    if (r) {
        r->pending.has_outdated_rows = true;
        member_table_schedule_update_round(r);
    }
}

void member_list_subscription_free(struct member_list_subscription *u)
{
    struct session *s = u->session;

    remove_subscription_from_its_list(u);
    linked_list_remove(&u->of_session);
    mem_free(u);
    journal_record_session_tasks(s);
}

bool member_list_subscription_can_view_channel(const struct member_list_subscription *u)
{
    struct topic_subscription *seat =
        session_subscription_find(&u->session->subscriptions, AUDIENCE_GUILD, u->guild_id);

    return seat && subscription_permissions(seat, u->channel_id) & PERMISSION(VIEW_CHANNEL);
}

static void add_list_subscription_if_allowed(struct member_list_subscription *u)
{
    struct member_table *r;

    if (!member_list_subscription_can_view_channel(u)) {
        member_list_subscription_free(u);
        return;
    }
    r = member_table_get_or_create(u->session->gateway_loop, u->guild_id);
    add_subscription_to_member_list(u, member_list_get_or_create(r, u->channel_id));
}

/* Calls visit() for the first subscription of each window, repeatedly until visit() returns false.
 * Before visit() returns true, it moves the subscription to the end of a list, or frees it. The
 * result is true if the time limit ended before all windows were visited. New lists and windows are
 * added at the end. */
static bool visit_list_subscriptions(struct member_table *r,
                                     bool (*visit)(struct member_table *r,
                                                   struct member_list_subscription *u))
{
    struct timed_step piece = timed_step_begin();

    for (struct list_link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct channel_member_list *l = container_of(at, struct channel_member_list, link);

        for (struct list_link *f = l->windows.next; f != &l->windows; f = f->next) {
            struct member_list_window *face = container_of(f, struct member_list_window, link);
            struct list_link *all = &face->subscriptions;

            while (!linked_list_is_empty(all) &&
                   visit(r, container_of(all->next, struct member_list_subscription, of_window)))
                if (timed_step_is_over(&piece))
                    return true;
        }
    }
    return false;
}

/* Moves a subscription to the current member list of its channel. Returns false if the subscription
 * was already moved to it: then all subscriptions after it were moved, too. */
static bool move_list_subscription(struct member_table *r, struct member_list_subscription *u)
{
    struct channel_member_list *l = map_find_value(&r->move.moved_to, u->channel_id);
    struct member_list_window *face = u->window;

    if (u->moves == r->move.moves)
        return false;
    if (!map_find_value(&member_table_get_guild_view(r)->channels, u->channel_id)) {
        member_list_subscription_free(u);
        return true;
    }
    if (!l) {
        l = member_list_get_or_create(r, u->channel_id);
        map_set_value(&r->move.moved_to, u->channel_id, l);
    }
    list_window_remove_subscription(u);
    if (l == face->list) {
        u->moves = r->move.moves;
        list_window_add_subscription(face, u);
    } else {
        add_subscription_to_member_list(u, l);
    }
    return true;
}

void member_list_subscription_moves_begin(struct member_table *r)
{
    r->move.moving = true;
    r->move.moves++;
    map_clear(&r->move.moved_to);
}

bool move_member_list_subscription_batch(struct member_table *r)
{
    r->move.moving = visit_list_subscriptions(r, move_list_subscription);
    if (!r->move.moving)
        map_clear(&r->move.moved_to);
    return r->move.moving;
}

static bool end_list_subscription(struct member_table *r, struct member_list_subscription *u)
{
    (void)r;
    member_list_subscription_free(u);
    return true;
}

bool end_member_list_subscription_batch(struct member_table *r)
{
    return visit_list_subscriptions(r, end_list_subscription);
}

void member_lists_remove_session(struct session *s, bool ends)
{
    s->enters_lists = false;
    for (struct list_link *at = s->lists.next, *next; at != &s->lists; at = next) {
        struct member_list_subscription *u =
            container_of(at, struct member_list_subscription, of_session);

        next = at->next;
        if (ends)
            member_list_subscription_free(u);
        else
            remove_subscription_from_its_list(u);
    }
}

/* Updates the online status of the session's user in the member lists of its guilds: while a
 * session moves between loops, it does not count as online (online_members.h). */
static void queue_presence_check_in_member_lists(struct session *s)
{
    struct gateway *g = s->gateway_loop->gateway;

    for (uint32_t i = 0; i < s->subscriptions.count; i++) {
        const struct topic *t = s->subscriptions.items[i]->topic;

        if (t->kind == AUDIENCE_GUILD && guild_has_member_lists(&g->online_members, t->id))
            member_lists_on_presence_change(g, t->id, s->caller.id);
    }
}

/* Posted task that adds a session to its member lists in steps: a session may show a thousand
 * member lists, each of a channel with a thousand overwrites. */
struct enter_lists_post {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    uint64_t session;
};

/* Adds the session to some of its member lists. Returns true if the time limit ended before the
 * session was added to all of them. */
static bool add_session_to_some_lists(struct session *s)
{
    struct timed_step piece = timed_step_begin();

    for (struct list_link *at = s->lists.next, *next; at != &s->lists; at = next) {
        struct member_list_subscription *u =
            container_of(at, struct member_list_subscription, of_session);

        next = at->next;
        if (u->window)
            continue;
        add_list_subscription_if_allowed(u);
        if (timed_step_is_over(&piece))
            return true;
    }
    return false;
}

static void post_adding_session_to_lists(struct enter_lists_post *e)
{
    e->gateway_loop->list_pieces++;
    loop_post_message(e->gateway_loop->loop, &e->post);
}

/* If the session has moved to another loop since this message was posted, that loop adds the
 * session to its member lists. */
static void on_adding_session_to_lists_posted(struct loop_message *post)
{
    struct enter_lists_post *e = container_of(post, struct enter_lists_post, post);
    struct session *s = registry_find_session_on_loop(e->gateway_loop, e->session);

    loop_set_measured_activity("member_lists");
    e->gateway_loop->list_pieces--;
    if (s && add_session_to_some_lists(s)) {
        post_adding_session_to_lists(e);
        return;
    }
    if (s)
        s->enters_lists = false;
    mem_free(e);
}

static void begin_adding_session_to_lists(struct session *s)
{
    if (s->enters_lists)
        return;
    struct enter_lists_post *e = mem_new(sizeof *e);

    s->enters_lists = true;
    *e = (struct enter_lists_post){ { .run = on_adding_session_to_lists_posted },
                                    s->gateway_loop,
                                    s->number };
    post_adding_session_to_lists(e);
}

void member_lists_on_session_moved_to_loop(struct session *s)
{
    queue_presence_check_in_member_lists(s);
    if (!linked_list_is_empty(&s->lists))
        begin_adding_session_to_lists(s);
}

static bool member_list_row_range_is_valid(struct member_list_row_range range)
{
    return range.first <= range.last && range.last - range.first < ROWS_PER_RANGE;
}

void serialize_member_list_subscriptions(const struct session *s, struct buf *out)
{
    uint64_t count = 0;

    for (const struct list_link *at = s->lists.next; at != &s->lists; at = at->next)
        count++;
    serialize_u64(out, count);
    for (const struct list_link *at = s->lists.next; at != &s->lists; at = at->next) {
        const struct member_list_subscription *u =
            container_of(at, const struct member_list_subscription, of_session);

        serialize_u64(out, u->guild_id);
        serialize_u64(out, u->channel_id);
        serialize_u64(out, u->count);
        for (uint32_t i = 0; i < u->count; i++)
            serialize_u64(out, (uint64_t)u->ranges[i].first << 32 | u->ranges[i].last);
    }
}

static void deserialize_list_subscription(struct serialized_data_reader *r, struct session *s)
{
    struct member_list_subscription *u = mem_new(sizeof *u);

    u->session = s;
    linked_list_append(&s->lists, &u->of_session);
    u->guild_id = deserialize_u64(r);
    u->channel_id = deserialize_u64(r);
    uint64_t count = deserialize_u64(r);
    r->bad |= count < 1 || count > RANGES_PER_SUBSCRIPTION;
    for (uint64_t i = 0; i < count && !r->bad; i++) {
        uint64_t range = deserialize_u64(r);

        u->ranges[u->count] =
            (struct member_list_row_range){ (uint32_t)(range >> 32), (uint32_t)range };
        r->bad |= !member_list_row_range_is_valid(u->ranges[u->count++]);
    }
}

void deserialize_member_list_subscriptions(struct serialized_data_reader *r, struct session *s)
{
    for (size_t count = deserialize_element_count(r, 32); count && !r->bad; count--)
        deserialize_list_subscription(r, s);
}

/* Finds the session's subscription to the member list of a channel. Sets *ret_oldest and *ret_count
 * to the session's oldest subscription and number of subscriptions in the guild. */
static struct member_list_subscription *list_subscription_find(
    const struct session *s, snowflake guild_id, snowflake channel_id,
    struct member_list_subscription **ret_oldest, size_t *ret_count)
{
    struct member_list_subscription *found = NULL;

    *ret_oldest = NULL;
    *ret_count = 0;
    for (struct list_link *at = s->lists.next; at != &s->lists; at = at->next) {
        struct member_list_subscription *u =
            container_of(at, struct member_list_subscription, of_session);

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

/* Subscribes the session to the member list of a channel. If the session has more than
 * LIST_CHANNELS_PER_GUILD subscriptions in the guild, its oldest one is dropped. */
static void subscribe_to_channel_list(struct session *s, snowflake guild_id, snowflake channel_id,
                                      const struct member_list_row_range *ranges, size_t count)
{
    struct member_list_subscription *oldest;
    size_t all;
    struct member_list_subscription *u =
        list_subscription_find(s, guild_id, channel_id, &oldest, &all);

    if (u)
        member_list_subscription_free(u);
    else if (count && all == LIST_CHANNELS_PER_GUILD)
        member_list_subscription_free(oldest);
    if (!count)
        return;
    u = mem_new(sizeof *u);
    u->session = s;
    u->guild_id = guild_id;
    u->channel_id = channel_id;
    u->count = (uint32_t)count;
    memcpy(u->ranges, ranges, count * sizeof *ranges);
    linked_list_append(&s->lists, &u->of_session);
    journal_record_session_tasks(s);
    begin_adding_session_to_lists(s);
}

/* Parses row ranges. Returns false if a range is invalid or longer than ROWS_PER_RANGE. */
static bool parse_list_ranges(const struct list *in, struct member_list_row_range *ret)
{
    const struct list *pairs = in->items;

    for (size_t i = 0; i < in->count; i++) {
        const int64_t *pair = pairs[i].items;

        ret[i] = (struct member_list_row_range){ (uint32_t)pair[0], (uint32_t)pair[1] };
        if (!member_list_row_range_is_valid(ret[i]))
            return false;
    }
    return true;
}

/* Applies op 14 or 37 for one guild. Returns false if the request is malformed. */
static bool apply_guild_subscription_request(struct session *s, snowflake guild_id,
                                             const struct guild_subscription *in)
{
    const struct requested_member_list_channel *c = in->channels.items;
    const snowflake *threads = in->thread_member_lists.items;

    for (size_t i = 0; i < in->channels.count; i++) {
        struct member_list_row_range ranges[RANGES_PER_SUBSCRIPTION];
        snowflake id;

        if (!snowflake_parse(c[i].id, &id) || !parse_list_ranges(&c[i].ranges, ranges))
            return false;
        subscribe_to_channel_list(s, guild_id, id, ranges, c[i].ranges.count);
    }
    if (in->threads.given == GIVEN && in->threads.value)
        begin_sending_thread_list_sync(s, guild_id, NULL, 0);
    for (size_t i = 0; i < in->thread_member_lists.count; i++)
        begin_sending_thread_member_list_update(s, guild_id, threads[i]);
    return true;
}

void handle_guild_subscription_opcode(struct gateway_socket *p, int op, struct str raw,
                                      const void *d)
{
    const struct guild_subscription *in = d;

    (void)op, (void)raw;
    if (!apply_guild_subscription_request(p->session, in->guild_id, in))
        gateway_socket_close(p, CLOSE_BAD_PAYLOAD, "malformed payload");
}

void handle_guild_subscriptions_opcode(struct gateway_socket *p, int op, struct str raw,
                                       const void *d)
{
    const struct guild_subscriptions *in = d;
    const struct subscribed_guild *g = in->subscriptions.items;
    snowflake id;

    (void)op, (void)raw;
    for (size_t i = 0; i < in->subscriptions.count; i++)
        if (!snowflake_parse(g[i].id, &id) ||
            !apply_guild_subscription_request(p->session, id, &g[i].subscription)) {
            gateway_socket_close(p, CLOSE_BAD_PAYLOAD, "malformed payload");
            return;
        }
}
