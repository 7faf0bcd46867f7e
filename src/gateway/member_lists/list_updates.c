/* list_updates.c - sends the rows of a member list as GUILD_MEMBER_LIST_UPDATE.
 *
 * The rows of a window (ranges of rows) are encoded once for all its sessions. New subscriptions
 * get all rows; the other subscriptions get only the ranges that have changed. */
#include <string.h>

#include "base/mem.h"
#include "gateway/member_lists/member_tables.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/gateway_event.h"
#include "gateway/wire/protocol.h"
#include "model/member.h"

/* Number of sessions that get rows of a member list in one task. */
enum { SESSIONS_PER_SEND_TASK = 32 };

enum list_update_kind { LIST_UPDATE_CHANGED_ROWS, LIST_UPDATE_ALL_ROWS, LIST_UPDATE_KINDS };

struct list_update_row {
    uint32_t group;
    snowflake user_id; /* 0 for the group's header row */
};

struct list_update {
    struct member_list_window *window;
    struct member_list_group groups[LIST_GROUPS_MAX];
    size_t group_count;
    int64_t member_count, online_count;
    uint64_t digests[RANGES_PER_SUBSCRIPTION];
    unsigned changed; /* bit set of changed ranges */
    bool wanted[LIST_UPDATE_KINDS], encoded[LIST_UPDATE_KINDS];
    struct gateway_event *events[LIST_UPDATE_KINDS]; /* NULL if the encoding failed */

    /* The following fields describe the payload that is being encoded. */
    enum list_update_kind encoding;
    struct list_update_row rows[RANGES_PER_SUBSCRIPTION][ROWS_PER_RANGE];
    size_t row_count[RANGES_PER_SUBSCRIPTION];
    snowflake ids[RANGES_PER_SUBSCRIPTION * ROWS_PER_RANGE];
    size_t id_count;
    struct list members; /* items: struct member, in the arena of the store read */
    struct str payload;  /* payload of the update, in the arena of the store read */
};

static struct member_list_window *find_window_not_sent_this_round(const struct member_table *r)
{
    for (struct list_link *at = r->lists.next; at != &r->lists; at = at->next) {
        const struct channel_member_list *l = container_of(at, struct channel_member_list, link);

        for (struct list_link *f = l->windows.next; f != &l->windows; f = f->next) {
            struct member_list_window *face = container_of(f, struct member_list_window, link);

            if (face->round != r->round)
                return face;
        }
    }
    return NULL;
}

static void list_update_count_members(struct list_update *p, const struct member_table *r)
{
    const struct channel_member_list *l = p->window->list;
    bool all = str_is(str_of(l->id), "everyone");

    /* A large guild's member table has only online members, so the guild view has the total. */
    p->member_count = all ? member_table_get_guild_view(r)->member_count : (int64_t)l->order.count;
    for (size_t i = 0; i < p->group_count; i++)
        if (p->groups[i].rank <= r->rank_count)
            p->online_count += (int64_t)p->groups[i].count;
}

static void list_update_find_changed_ranges(struct list_update *p, const struct member_table *r)
{
    struct member_list_window *f = p->window;

    for (uint32_t i = 0; i < f->count; i++) {
        p->digests[i] = member_order_hash_rows(&f->list->order, p->groups, p->group_count,
                                               f->ranges[i].first, f->ranges[i].last);
        if (!r->quick && p->digests[i] != f->sent_hashes[i])
            p->changed |= 1U << i;
    }
    p->wanted[LIST_UPDATE_ALL_ROWS] = f->fresh_count > 0;
    p->wanted[LIST_UPDATE_CHANGED_ROWS] = p->changed && f->fresh_count < f->subscription_count;
}

static struct list_update *list_update_new(const struct member_table *r,
                                           struct member_list_window *f)
{
    struct list_update *p = mem_new(sizeof *p);

    p->window = f;
    p->group_count = member_order_list_groups(&f->list->order, p->groups, LIST_GROUPS_MAX);
    list_update_count_members(p, r);
    list_update_find_changed_ranges(p, r);
    return p;
}

void member_list_update_free(struct member_table *r)
{
    if (!r->update)
        return;
    gateway_event_unref(r->update->events[0]);
    gateway_event_unref(r->update->events[1]);
    mem_free(r->update);
    r->update = NULL;
}

static bool list_update_has_range(const struct list_update *p, uint32_t range)
{
    return p->encoding == LIST_UPDATE_ALL_ROWS || p->changed & 1U << range;
}

static void collect_rows_of_range(struct list_update *p, uint32_t range)
{
    const struct member_list_row_range *at = &p->window->ranges[range];
    size_t n = 0;

    for (size_t row = at->first; row <= at->last; row++) {
        struct member_list_row found =
            member_order_row_at(&p->window->list->order, p->groups, p->group_count, row);

        if (!found.group)
            break;
        p->rows[range][n++] = (struct list_update_row){ (uint32_t)(found.group - p->groups),
                                                        found.member ? found.member->user_id : 0 };
        if (found.member)
            p->ids[p->id_count++] = found.member->user_id;
    }
    p->row_count[range] = n;
}

static void write_member_group_json(const struct list_update *p, const struct member_list_group *g,
                                    struct json_writer *j)
{
    const struct member_table *r = p->window->list->table;

    json_begin_object(j);
    json_write_name(j, "id");
    if (g->rank < r->rank_count)
        json_write_id(j, r->ranks[g->rank]);
    else
        json_write_text(j, g->rank == r->rank_count ? STR("online") : STR("offline"));
    json_write_name(j, "count");
    json_write_int(j, (int64_t)g->count);
    json_end_object(j);
}

static const struct member *find_member_in_read_result(const struct list_update *p,
                                                       snowflake user_id)
{
    const struct member *m = p->members.items;

    for (size_t i = 0; i < p->members.count; i++)
        if (m[i].user_id == user_id)
            return &m[i];
    return NULL;
}

static bool include_every_json_field(const void *arg, struct str name)
{
    (void)arg, (void)name;
    return true;
}

static void write_listed_member_json(const struct list_update *p, const struct member *m,
                                     struct json_writer *j)
{
    json_begin_object(j);
    /* User clients read the user id in member lists from "id" of the member, not from "user". */
    json_write_name(j, "id");
    json_write_id(j, m->user_id);
    schema_encode_fields(j, &member_schema, m, include_every_json_field, NULL);
    json_write_name(j, "presence");
    gateway_write_presence_json(p->window->list->table->gateway_loop->gateway, m->user_id, j);
    json_end_object(j);
}

/* Writes a row of a member list. Skips members who have left; the next round removes them. */
static void write_list_row_json(const struct list_update *p, const struct list_update_row *row,
                                struct json_writer *j)
{
    const struct member *m = row->user_id ? find_member_in_read_result(p, row->user_id) : NULL;

    if (row->user_id && !m)
        return;
    json_begin_object(j);
    if (m) {
        json_write_name(j, "member");
        write_listed_member_json(p, m, j);
    } else {
        json_write_name(j, "group");
        write_member_group_json(p, &p->groups[row->group], j);
    }
    json_end_object(j);
}

static void write_range_sync_json(const struct list_update *p, uint32_t range,
                                  struct json_writer *j)
{
    json_begin_object(j);
    json_write_name(j, "op");
    json_write_text(j, STR("SYNC"));
    json_write_name(j, "range");
    json_begin_array(j);
    json_write_int(j, p->window->ranges[range].first);
    json_write_int(j, p->window->ranges[range].last);
    json_end_array(j);
    json_write_name(j, "items");
    json_begin_array(j);
    for (size_t i = 0; i < p->row_count[range]; i++)
        write_list_row_json(p, &p->rows[range][i], j);
    json_end_array(j);
    json_end_object(j);
}

static void write_list_update_json(const struct list_update *p, struct json_writer *j)
{
    const struct channel_member_list *l = p->window->list;

    json_begin_object(j);
    json_write_name(j, "guild_id");
    json_write_id(j, l->table->guild_id);
    json_write_name(j, "id");
    json_write_text(j, str_of(l->id));
    json_write_name(j, "member_count");
    json_write_int(j, p->member_count);
    json_write_name(j, "online_count");
    json_write_int(j, p->online_count);
    json_write_name(j, "groups");
    json_begin_array(j);
    for (size_t i = 0; i < p->group_count; i++)
        write_member_group_json(p, &p->groups[i], j);
    json_end_array(j);
    json_write_name(j, "ops");
    json_begin_array(j);
    for (uint32_t i = 0; i < p->window->count; i++)
        if (list_update_has_range(p, i))
            write_range_sync_json(p, i, j);
    json_end_array(j);
    json_end_object(j);
}

/* Reads the rows on a store thread. The thread may use the member table, which does not change
 * until the update round continues. */
static enum err read_list_update(struct session_store_read *load, struct tx *tx)
{
    struct member_table *r = container_of(load, struct member_table, store_read);
    struct list_update *p = r->update;
    struct gateway_member_search search = { .guild_id = r->guild_id,
                                            .user_ids = { p->ids, p->id_count } };
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = OK;

    p->members = (struct list){ 0 };
    if (p->id_count)
        e = load->gateway_loop->gateway->options.source->members(tx, &search, &p->members);
    if (e)
        return e;
    buf_init(&out, MAX_PAYLOAD);
    write_list_update_json(p, &j);
    p->payload = buf_move_to_arena(&out, tx_arena(tx));
    buf_clear(&out);
    return OK;
}

static void on_list_update_read(struct session_store_read *load, enum err e)
{
    struct member_table *r = container_of(load, struct member_table, store_read);
    struct list_update *p = r->update;

    p->encoded[p->encoding] = true;
    if (!e)
        p->events[p->encoding] = gateway_event_new(EVENT_GUILD_MEMBER_LIST_UPDATE,
                                                   audience_of_guild(r->guild_id), p->payload);
    member_table_continue_update_round(r);
}

static void begin_list_update_read(struct member_table *r, enum list_update_kind kind)
{
    struct list_update *p = r->update;

    p->encoding = kind;
    p->id_count = 0;
    for (uint32_t i = 0; i < p->window->count; i++)
        if (list_update_has_range(p, i))
            collect_rows_of_range(p, i);
    r->store_read = (struct session_store_read){ .in_background = true,
                                                 .run = read_list_update,
                                                 .done = on_list_update_read };
    begin_unordered_session_store_read(r->gateway_loop, &r->store_read);
}

/* Sends the rows to a session. If the session is disconnected or has unsent events, it is marked to
 * get all rows later, because the current rows will be outdated by then. */
static void send_list_update_to_session(struct member_table *r, struct member_list_subscription *u)
{
    enum list_update_kind kind = u->fresh ? LIST_UPDATE_ALL_ROWS : LIST_UPDATE_CHANGED_ROWS;
    struct gateway_event *n = r->update->events[kind];

    if (!r->update->wanted[kind])
        return;
    if (!member_list_subscription_can_view_channel(u)) {
        member_list_subscription_free(u);
        return;
    }
    member_list_subscription_set_needs_all_rows(u, !n || !u->session->socket ||
                                                       session_has_unsent_data(u->session));
    if (u->fresh) {
        r->pending.has_outdated_rows = true;
        return;
    }
    r->sent_bytes += (int64_t)gateway_event_get_payload(n).n;
    session_deliver_event(u->session, n, 0);
}

/* Sends rows to some subscriptions of a window and moves them to the end of the window's list,
 * behind new subscriptions. Returns false when all subscriptions are handled. */
static bool send_update_to_some_subscriptions(struct member_table *r)
{
    struct member_list_window *f = r->update->window;

    for (int i = 0; i < SESSIONS_PER_SEND_TASK && !linked_list_is_empty(&f->subscriptions); i++) {
        struct member_list_subscription *u =
            container_of(f->subscriptions.next, struct member_list_subscription, of_window);

        if (u->round == r->round)
            return false;
        u->round = r->round;
        linked_list_remove(&u->of_window);
        linked_list_append(&f->subscriptions, &u->of_window);
        send_list_update_to_session(r, u);
    }
    return !linked_list_is_empty(&f->subscriptions);
}

/* Ends the update round of a window. A quick round sends rows only to new subscriptions, so the
 * stored hashes still describe the rows that the other subscriptions got. New subscriptions may
 * therefore get unchanged rows again in the next round. */
static void list_window_finish_round(struct member_table *r)
{
    struct list_update *p = r->update;

    p->window->round = r->round;
    if (!r->quick || !p->window->sent_hashes[0])
        memcpy(p->window->sent_hashes, p->digests, sizeof p->window->sent_hashes);
    member_list_update_free(r);
}

bool send_member_list_update_batch(struct member_table *r)
{
    if (!r->update) {
        struct member_list_window *f = find_window_not_sent_this_round(r);

        if (!f)
            return false;
        r->update = list_update_new(r, f);
    }
    struct list_update *p = r->update;
    for (enum list_update_kind k = 0; k < LIST_UPDATE_KINDS; k++)
        if (p->wanted[k] && !p->encoded[k]) {
            begin_list_update_read(r, k);
            return true;
        }
    bool nobody = !p->wanted[LIST_UPDATE_ALL_ROWS] && !p->wanted[LIST_UPDATE_CHANGED_ROWS];
    if (nobody || !send_update_to_some_subscriptions(r))
        list_window_finish_round(r);
    member_table_continue_update_round(r);
    return true;
}
