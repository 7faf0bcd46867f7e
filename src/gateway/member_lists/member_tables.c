/* member_tables.c - member tables of a loop, and the rounds that update and send member lists. */
#include "gateway/member_lists/member_tables.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/gateway_event.h"

enum {
    ROUND_INTERVAL_MS = 1000, /* minimum time between two update rounds, in ms */
    PAUSE_FACTOR = 9, /* pause after an update round, as a multiple of the duration of the round */
    SENT_BYTES_PER_MS = 5000, /* limit of the rate at which rows are sent: 5 MB per second */
    MEMBERS_FREED_PER_TASK = 4096,
};

static void run_member_list_update_round_task(struct loop_message *post);
static void on_member_list_update_round_due(struct deadline *d);

const struct guild_view *member_table_get_guild_view(const struct member_table *r)
{
    const struct topic *t = topic_find(&r->gateway_loop->topics, AUDIENCE_GUILD, r->guild_id);

    return t ? t->view : NULL;
}

struct member_table *member_table_get_or_create(struct gateway_loop *h, snowflake guild_id)
{
    if (!h->member_tables) {
        h->member_tables = mem_new(sizeof *h->member_tables);
        map_init(&h->member_tables->map);
        h->member_tables->pace =
            deadline_list_new(h->loop, ROUND_INTERVAL_MS, true, on_member_list_update_round_due);
    }
    struct member_table *r = map_find_value(&h->member_tables->map, guild_id);
    if (r)
        return r;
    r = mem_new(sizeof *r);
    r->gateway_loop = h;
    r->guild_id = guild_id;
    r->post.run = run_member_list_update_round_task;
    r->pending.wants_roles = r->pending.wants_members = true;
    linked_list_init(&r->lists);
    map_init(&r->members);
    map_init(&r->pending.changed_members);
    map_init(&r->changed_members);
    map_init(&r->move.moved_to);
    map_set_value(&h->member_tables->map, guild_id, r);
    /* Record changed members from now on. member_table_begin_store_reads reads the current members.
     */
    guild_record_whether_member_lists_exist(&h->gateway->online_members, guild_id, true);
    return r;
}

/* Frees up to `most` members. Returns true when the whole member table is freed. */
static bool member_table_free_some_members(struct member_table *r, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        struct ordered_member *m = map_next_value(&r->members, &r->ended);

        if (!m) {
            map_clear(&r->members);
            map_clear(&r->pending.changed_members);
            map_clear(&r->changed_members);
            map_clear(&r->move.moved_to);
            for (size_t k = 0; k < r->changed.removed_count; k++)
                mem_free(r->changed.removed[k]);
            mem_free(r->changed.added);
            mem_free(r->changed.removed);
            mem_free(r);
            return true;
        }
        mem_free(m);
    }
    return false;
}

static void member_table_unregister(struct member_table *r)
{
    deadline_cancel(&r->pace);
    while (!linked_list_is_empty(&r->lists))
        member_list_free(container_of(r->lists.next, struct channel_member_list, link));
    map_remove_value(&r->gateway_loop->member_tables->map, r->guild_id);
    guild_record_whether_member_lists_exist(&r->gateway_loop->gateway->online_members, r->guild_id,
                                            false);
}

void member_lists_free(struct gateway_loop *h)
{
    struct member_tables *all = h->member_tables;
    size_t at = 0;

    if (!all)
        return;
    for (struct member_table *r; (r = map_next_value(&all->map, &at)); at = 0) {
        member_table_unregister(r);
        member_table_free_some_members(r, SIZE_MAX);
    }
    map_clear(&all->map);
    deadline_list_free(all->pace);
    mem_free(all);
    h->member_tables = NULL;
}

static void post_member_list_update_round_task(struct member_table *r)
{
    r->gateway_loop->list_pieces++;
    loop_post_message(r->gateway_loop->loop, &r->post);
}

static bool member_table_has_pending_work(const struct member_table *r)
{
    return r->pending.changed_members.count || r->pending.wants_roles || r->pending.wants_members ||
           r->pending.wants_ids || r->pending.fresh || r->pending.has_outdated_rows;
}

/* Starts an update round of a member table. A quick round sends rows to new subscriptions, and does
 * nothing else. */
static void member_list_update_round_begin(struct member_table *r, bool quick)
{
    if (r->gateway_loop->gateway->draining)
        return;
    r->running = true;
    r->quick = quick;
    r->reading_members = !quick;
    r->pending.fresh = false;
    r->round++;
    r->began = clock_monotonic_ns();
    if (!quick) {
        r->pending.has_outdated_rows = false;
        r->changed_members = r->pending.changed_members;
        r->changed_at = 0;
        map_init(&r->pending.changed_members);
    }
    post_member_list_update_round_task(r);
}

static void free_unused_member_lists(struct member_table *r)
{
    for (struct list_link *at = r->lists.next, *next; at != &r->lists; at = next) {
        struct channel_member_list *l = container_of(at, struct channel_member_list, link);

        next = at->next;
        for (struct list_link *f = l->windows.next, *after; f != &l->windows; f = after) {
            struct member_list_window *face = container_of(f, struct member_list_window, link);

            after = f->next;
            if (linked_list_is_empty(&face->subscriptions))
                member_list_window_free(face);
        }
        if (linked_list_is_empty(&l->windows))
            member_list_free(l);
    }
}

/* Returns the pause after an update round, in ms. It depends on the duration of the round and on
 * the bytes sent; the longer of the two pauses is used. */
static int64_t pause_after_member_list_update_round_ms(const struct member_table *r)
{
    int64_t by_time = PAUSE_FACTOR * (clock_monotonic_ns() - r->began) / 1000000;
    int64_t by_bytes = r->sent_bytes / SENT_BYTES_PER_MS;

    return by_time > by_bytes ? by_time : by_bytes;
}

static void member_list_update_round_end(struct member_table *r)
{
    r->running = false;
    r->pending.wants_roles |= r->read.failed_roles;
    r->pending.wants_members |= r->read.failed_members;
    r->read.failed_roles = r->read.failed_members = false;
    map_clear(&r->changed_members);
    member_list_update_free(r);
    free_unused_member_lists(r);
    if (linked_list_is_empty(&r->lists)) {
        member_table_unregister(r);
        r->ending = true;
        post_member_list_update_round_task(r);
        return;
    }
    if (!r->quick) {
        r->pause_until = clock_steady_ms() + pause_after_member_list_update_round_ms(r);
        r->sent_bytes = 0;
        deadline_restart(r->gateway_loop->member_tables->pace, &r->pace);
    }
    if (r->pending.fresh)
        member_table_start_update_round(r);
}

static void on_member_list_update_round_due(struct deadline *d)
{
    struct member_table *r = container_of(d, struct member_table, pace);

    if (r->running || clock_steady_ms() < r->pause_until)
        deadline_restart(r->gateway_loop->member_tables->pace, &r->pace);
    else if (member_table_has_pending_work(r))
        member_list_update_round_begin(r, false);
}

static bool member_list_update_timer_is_running(const struct member_table *r)
{
    return r->pace.link.next != NULL;
}

/* Starts a quick update round, which sends a new subscription its rows. If the next update round
 * must read all members, the subscription waits for that round instead. */
void member_table_start_update_round(struct member_table *r)
{
    r->pending.fresh = true;
    if (!r->running && !(member_list_update_timer_is_running(r) &&
                         (r->pending.wants_roles || r->pending.wants_members)))
        member_list_update_round_begin(r, member_list_update_timer_is_running(r));
}

void member_table_schedule_update_round(struct member_table *r)
{
    if (!r->running && !member_list_update_timer_is_running(r) && member_table_has_pending_work(r))
        member_list_update_round_begin(r, false);
}

/* Runs the next task of the update round. Tasks in large guilds do not take longer. */
static bool run_next_task_of_update_round(struct member_table *r)
{
    if (!member_table_get_guild_view(r))
        return false;
    if (r->reading_members &&
        (member_table_begin_store_reads(r) || member_table_read_changed_members(r)))
        return true;
    r->reading_members = false;
    /* If a store read failed, do not send rows; the next update round repeats the read. */
    if (r->read.failed_roles || r->read.failed_members)
        return false;
    return build_member_list_batch(r) || (!r->quick && member_lists_apply_member_changes(r)) ||
           send_member_list_update_batch(r);
}

void member_table_continue_update_round(struct member_table *r)
{
    post_member_list_update_round_task(r);
}

static void run_member_list_update_round_task(struct loop_message *post)
{
    struct member_table *r = container_of(post, struct member_table, post);

    loop_set_measured_activity("member_lists");
    r->gateway_loop->list_pieces--;
    if (r->ending) {
        if (!member_table_free_some_members(r, MEMBERS_FREED_PER_TASK))
            post_member_list_update_round_task(r);
        return;
    }
    if (run_next_task_of_update_round(r))
        return;
    if (!member_table_get_guild_view(r) && end_member_list_subscription_batch(r)) {
        post_member_list_update_round_task(r);
        return;
    }
    member_list_update_round_end(r);
}

static void member_table_record_change(struct member_table *r, snowflake user_id,
                                       enum member_table_change note)
{
    enum member_table_change before =
        (enum member_table_change)(uintptr_t)map_find_value(&r->pending.changed_members, user_id);

    /* In a large guild, a member who is offline and in no member list can be ignored. */
    if (!r->has_offline && !r->pending.wants_members && !map_find_value(&r->members, user_id) &&
        !gateway_get_account_status(r->gateway_loop->gateway, user_id, NULL))
        return;
    if (note > before)
        map_set_value(&r->pending.changed_members, user_id, (void *)(uintptr_t)note);
    member_table_schedule_update_round(r);
}

/* Reads all members again if the guild's size has crossed OFFLINE_MEMBERS_MAX, because its member
 * lists then show a different set of members. */
static void reread_members_if_size_limit_crossed(struct member_table *r)
{
    const struct guild_view *v = member_table_get_guild_view(r);

    if (v && (v->member_count <= OFFLINE_MEMBERS_MAX) != r->has_offline)
        r->pending.wants_members = true;
}

void member_lists_on_event(struct gateway_loop *h, const struct gateway_event *n)
{
    struct member_table *r =
        n->to.kind == AUDIENCE_GUILD ? map_find_value(&h->member_tables->map, n->to.id) : NULL;

    if (!r)
        return;
    switch (n->type) {
    case EVENT_GUILD_MEMBER_ADD:
    case EVENT_GUILD_MEMBER_REMOVE:
        reread_members_if_size_limit_crossed(r);
        member_table_record_change(r, event_routing_get_user_id(&n->routing), MEMBER_ROW_CHANGED);
        break;
    case EVENT_GUILD_MEMBER_UPDATE:
        member_table_record_change(r, event_routing_get_user_id(&n->routing), MEMBER_ROW_CHANGED);
        break;
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
    case EVENT_GUILD_ROLE_DELETE:
        r->pending.wants_roles = r->pending.wants_ids = true;
        member_table_schedule_update_round(r);
        break;
    case EVENT_GUILD_UPDATE: /* a new owner can view every channel of the guild */
        r->pending.wants_roles |=
            n->routing.guild.owner_id && n->routing.guild.owner_id != r->owner_id;
        member_table_schedule_update_round(r);
        break;
    case EVENT_CHANNEL_UPDATE:
    case EVENT_CHANNEL_DELETE:
    case EVENT_GUILD_DELETE:
        r->pending.wants_ids = true;
        member_table_schedule_update_round(r);
        break;
    default:
        break;
    }
}

struct presence_post {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    snowflake guild_id, user_id;
};

static void on_presence_posted(struct loop_message *post)
{
    struct presence_post *n = container_of(post, struct presence_post, post);
    struct member_table *r = n->gateway_loop->member_tables
                                 ? map_find_value(&n->gateway_loop->member_tables->map, n->guild_id)
                                 : NULL;

    if (r)
        member_table_record_change(r, n->user_id, MEMBER_PRESENCE_CHANGED);
    mem_free(n);
}

void member_lists_on_presence_change(struct gateway *g, snowflake guild_id, snowflake user_id)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->gateway_loop_count; i++) {
        struct presence_post *n = mem_new(sizeof *n);

        *n = (struct presence_post){
            { .run = on_presence_posted }, g->gateway_loops[i], guild_id, user_id
        };
        loop_post_message(g->gateway_loops[i]->loop, &n->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
