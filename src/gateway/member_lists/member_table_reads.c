/* member_table_reads.c - reads the members of a member table and their online status. */
#include <stdlib.h>

#include "base/mem.h"
#include "gateway/member_lists/member_tables.h"
#include "gateway/sessions/registry.h"
#include "model/member.h"

enum { CHANGES_PER_TASK = 1000 }; /* changed members per task */

uint32_t member_table_compute_rank(const struct member_table *r, const struct ordered_member *m)
{
    uint32_t best = r->rank_count;

    if (!m->online)
        return r->rank_count + 1;
    for (uint32_t i = 0; i < m->role_count; i++)
        for (uint32_t k = 0; k < best; k++)
            if (r->ranks[k] == m->roles[i])
                best = k;
    return best;
}

/* Compares roles for sorting: higher positions first; at equal positions the older role first. */
static int compare_role_positions(const void *a, const void *b)
{
    const struct role *x = a, *y = b;

    if (x->position != y->position)
        return x->position > y->position ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static enum err read_hoisted_roles(struct session_store_read *l, struct tx *tx)
{
    struct member_table *r = container_of(l, struct member_table, store_read);

    r->read.found = (struct list){ 0 };
    return l->gateway_loop->gateway->options.source->roles(tx, r->guild_id, &r->read.found);
}

static void reset_all_member_lists(struct member_table *r)
{
    for (struct list_link *at = r->lists.next; at != &r->lists; at = at->next)
        member_list_remove_all_members(container_of(at, struct channel_member_list, link));
}

static void on_hoisted_roles_read(struct session_store_read *l, enum err e)
{
    struct member_table *r = container_of(l, struct member_table, store_read);
    const struct guild_view *v = member_table_get_guild_view(r);
    struct role *roles = r->read.found.items;

    if (!e && r->read.found.count)
        qsort(roles, r->read.found.count, sizeof *roles, compare_role_positions);
    r->read.failed_roles = e != OK;
    r->rank_count = 0;
    for (size_t i = 0; !e && i < r->read.found.count && r->rank_count < LIST_GROUPS_MAX - 2; i++)
        if (roles[i].hoist && roles[i].id != r->guild_id)
            r->ranks[r->rank_count++] = roles[i].id;
    r->owner_id = v ? v->owner_id : 0;
    reset_all_member_lists(r);
    member_table_continue_update_round(r);
}

static void append_ordered_member_pointer(struct ordered_member ***list, size_t *count, size_t *cap,
                                          struct ordered_member *m)
{
    if (*count == *cap) {
        *cap = *cap ? *cap * 2 : 64;
        *list = mem_resize(*list, *cap * sizeof **list);
    }
    (*list)[(*count)++] = m;
}

/* Removes the member from the member table. It is freed after all lists have removed it. */
static void member_table_remove(struct member_table *r, struct ordered_member *m)
{
    m->gone = true;
    map_remove_value(&r->members, m->user_id);
    append_ordered_member_pointer(&r->changed.removed, &r->changed.removed_count,
                                  &r->changed.removed_cap, m);
}

static void member_table_add(struct member_table *r, struct ordered_member *m)
{
    struct ordered_member *before = map_find_value(&r->members, m->user_id);

    if (before)
        member_table_remove(r, before);
    m->rank = member_table_compute_rank(r, m);
    m->version = ++r->version;
    map_set_value(&r->members, m->user_id, m);
    append_ordered_member_pointer(&r->changed.added, &r->changed.added_count, &r->changed.added_cap,
                                  m);
}

static bool user_is_visibly_online(const struct member_table *r, snowflake user_id)
{
    return gateway_get_account_status(r->gateway_loop->gateway, user_id, NULL);
}

static struct str member_display_name(const struct member *m)
{
    if (m->nick.given == GIVEN)
        return m->nick.value;
    return m->user->global_name.given == GIVEN ? m->user->global_name.value : m->user->username;
}

static void add_members_from_read_result(struct member_table *r)
{
    const struct member *m = r->read.found.items;

    for (size_t i = 0; i < r->read.found.count; i++) {
        struct str name = str_lower(r->store_read.arena, member_display_name(&m[i]));
        bool online = user_is_visibly_online(r, m[i].user_id);

        if (!online && !r->has_offline) {
            struct ordered_member *before = map_find_value(&r->members, m[i].user_id);

            if (before)
                member_table_remove(r, before);
            continue;
        }
        struct ordered_member *new =
            ordered_member_new(m[i].user_id, name, m[i].roles.items, m[i].roles.count);
        new->online = online;
        member_table_add(r, new);
    }
}

static enum err read_all_members(struct session_store_read *l, struct tx *tx)
{
    struct member_table *r = container_of(l, struct member_table, store_read);
    struct gateway_member_search search = { .guild_id = r->guild_id,
                                            .limit = 2 * OFFLINE_MEMBERS_MAX };

    r->read.found = (struct list){ 0 };
    return l->gateway_loop->gateway->options.source->members(tx, &search, &r->read.found);
}

static void on_all_members_read(struct session_store_read *l, enum err e)
{
    struct member_table *r = container_of(l, struct member_table, store_read);

    r->read.failed_members = e != OK;
    if (!e)
        add_members_from_read_result(r);
    member_table_continue_update_round(r);
}

/* Queues those online members of a large guild that the member table does not have, so that they
 * are read in batches. */
static void queue_online_members(struct member_table *r)
{
    size_t count;
    snowflake *ids =
        online_members_copy_ids(&r->gateway_loop->gateway->online_members, r->guild_id, &count);

    for (size_t i = 0; i < count; i++)
        if (!map_find_value(&r->members, ids[i]))
            map_set_value(&r->changed_members, ids[i], (void *)(uintptr_t)MEMBER_ROW_CHANGED);
    mem_free(ids);
}

static void queue_presence_checks_of_members(struct member_table *r)
{
    size_t at = 0;

    for (const struct ordered_member *m; (m = map_next_value(&r->members, &at));)
        if (!map_find_value(&r->changed_members, m->user_id))
            map_set_value(&r->changed_members, m->user_id,
                          (void *)(uintptr_t)MEMBER_PRESENCE_CHANGED);
}

static void member_table_begin_read(struct member_table *r,
                                    enum err (*run)(struct session_store_read *l, struct tx *tx),
                                    void (*done)(struct session_store_read *l, enum err e))
{
    r->store_read = (struct session_store_read){ .in_background = true, .run = run, .done = done };
    begin_unordered_session_store_read(r->gateway_loop, &r->store_read);
}

bool member_table_begin_store_reads(struct member_table *r)
{
    if (r->pending.wants_ids) {
        r->pending.wants_ids = false;
        member_list_subscription_moves_begin(r);
    }
    if (r->move.moving && move_member_list_subscription_batch(r)) {
        member_table_continue_update_round(r);
        return true;
    }
    if (r->pending.wants_roles) {
        r->pending.wants_roles = false;
        member_table_begin_read(r, read_hoisted_roles, on_hoisted_roles_read);
        return true;
    }
    if (!r->pending.wants_members)
        return false;
    r->pending.wants_members = false;
    r->has_offline = member_table_get_guild_view(r)->member_count <= OFFLINE_MEMBERS_MAX;
    r->changed_at = 0;
    if (!r->has_offline)
        queue_online_members(r);
    queue_presence_checks_of_members(r);
    if (!r->has_offline)
        return false;
    member_table_begin_read(r, read_all_members, on_all_members_read);
    return true;
}

static enum err read_changed_members(struct session_store_read *l, struct tx *tx)
{
    struct member_table *r = container_of(l, struct member_table, store_read);
    struct gateway_member_search search = {
        .guild_id = r->guild_id, .user_ids = { r->read.reading, r->read.reading_count }
    };

    r->read.found = (struct list){ 0 };
    return l->gateway_loop->gateway->options.source->members(tx, &search, &r->read.found);
}

static bool member_is_in_read_result(const struct member_table *r, snowflake user_id)
{
    const struct member *m = r->read.found.items;

    for (size_t i = 0; i < r->read.found.count; i++)
        if (m[i].user_id == user_id)
            return true;
    return false;
}

static void on_changed_members_read(struct session_store_read *l, enum err e)
{
    struct member_table *r = container_of(l, struct member_table, store_read);

    for (size_t i = 0; !e && i < r->read.reading_count; i++) {
        struct ordered_member *m = map_find_value(&r->members, r->read.reading[i]);

        if (m && !member_is_in_read_result(r, m->user_id))
            member_table_remove(r, m);
    }
    for (size_t i = 0; e && i < r->read.reading_count; i++)
        map_set_value(&r->pending.changed_members, r->read.reading[i],
                      (void *)(uintptr_t)MEMBER_ROW_CHANGED);
    if (!e)
        add_members_from_read_result(r);
    member_table_continue_update_round(r);
}

/* Updates the online status of a member whose name and roles are unchanged. */
static void update_member_presence(struct member_table *r, struct ordered_member *m)
{
    bool online = user_is_visibly_online(r, m->user_id);

    if (!online && !r->has_offline) {
        member_table_remove(r, m);
        return;
    }
    if (online == m->online) {
        m->version = ++r->version;
        return;
    }
    struct ordered_member *new = ordered_member_new(m->user_id, m->name, m->roles, m->role_count);
    new->online = online;
    member_table_add(r, new);
}

static void apply_or_queue_member_change(struct member_table *r, snowflake user_id,
                                         enum member_table_change note)
{
    struct ordered_member *m = map_find_value(&r->members, user_id);

    if (m && note == MEMBER_PRESENCE_CHANGED)
        update_member_presence(r, m);
    else if (m || r->has_offline || user_is_visibly_online(r, user_id))
        r->read.reading[r->read.reading_count++] = user_id;
}

bool member_table_read_changed_members(struct member_table *r)
{
    size_t looked = 0;

    r->read.reading_count = 0;
    for (; r->changed_at < r->changed_members.cap && looked < CHANGES_PER_TASK &&
           r->read.reading_count < MEMBERS_PER_READ;
         r->changed_at++) {
        const struct map_slot *slot = &r->changed_members.slots[r->changed_at];

        if (!slot->value)
            continue;
        apply_or_queue_member_change(r, slot->key,
                                     (enum member_table_change)(uintptr_t)slot->value);
        looked++;
    }
    if (r->read.reading_count)
        member_table_begin_read(r, read_changed_members, on_changed_members_read);
    else if (looked)
        member_table_continue_update_round(r);
    return looked > 0;
}
