/* roster_members.c - reads the members of a roster and their online status. */
#include <stdlib.h>

#include "base/mem.h"
#include "gateway/member_lists/rosters.h"
#include "gateway/sessions/registry.h"
#include "model/member.h"

enum { LOOKED_AT_ONCE = 1000 }; /* changed members per task */

uint32_t roster_rank(const struct roster *r, const struct ordered_member *m)
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

/* Sorts by higher position first; of equal positions, the older role first. */
static int compare_roles(const void *a, const void *b)
{
    const struct role *x = a, *y = b;

    if (x->position != y->position)
        return x->position > y->position ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static enum err read_ranks(struct load *l, struct tx *tx)
{
    struct roster *r = container_of(l, struct roster, load);

    r->read.found = (struct list){ 0 };
    return l->hub->gateway->options.source->roles(tx, r->guild_id, &r->read.found);
}

static void reset_lists(struct roster *r)
{
    for (struct link *at = r->lists.next; at != &r->lists; at = at->next)
        list_reset(container_of(at, struct shown_list, link));
}

static void ranks_read(struct load *l, enum err e)
{
    struct roster *r = container_of(l, struct roster, load);
    const struct guild_view *v = roster_view(r);
    struct role *roles = r->read.found.items;

    if (!e && r->read.found.count)
        qsort(roles, r->read.found.count, sizeof *roles, compare_roles);
    r->read.failed_roles = e != OK;
    r->rank_count = 0;
    for (size_t i = 0; !e && i < r->read.found.count && r->rank_count < LIST_GROUPS - 2; i++)
        if (roles[i].hoist && roles[i].id != r->guild_id)
            r->ranks[r->rank_count++] = roles[i].id;
    r->owner_id = v ? v->owner_id : 0;
    reset_lists(r);
    roster_continue(r);
}

static void pointer_add(struct ordered_member ***list, size_t *count, size_t *cap,
                        struct ordered_member *m)
{
    if (*count == *cap) {
        *cap = *cap ? *cap * 2 : 64;
        *list = mem_resize(*list, *cap * sizeof **list);
    }
    (*list)[(*count)++] = m;
}

/* Removes the member from the map. It is freed after all lists have removed it. */
static void roster_drop(struct roster *r, struct ordered_member *m)
{
    m->gone = true;
    map_remove(&r->members, m->user_id);
    pointer_add(&r->changed.gone, &r->changed.gone_count, &r->changed.gone_cap, m);
}

static void roster_put(struct roster *r, struct ordered_member *m)
{
    struct ordered_member *before = map_get(&r->members, m->user_id);

    if (before)
        roster_drop(r, before);
    m->rank = roster_rank(r, m);
    m->version = ++r->version;
    map_put(&r->members, m->user_id, m);
    pointer_add(&r->changed.come, &r->changed.come_count, &r->changed.come_cap, m);
}

static bool is_seen(const struct roster *r, snowflake user_id)
{
    return gateway_status(r->hub->gateway, user_id, NULL);
}

static struct str shown_name(const struct member *m)
{
    if (m->nick.given == GIVEN)
        return m->nick.value;
    return m->user->global_name.given == GIVEN ? m->user->global_name.value : m->user->username;
}

static void put_found(struct roster *r)
{
    const struct member *m = r->read.found.items;

    for (size_t i = 0; i < r->read.found.count; i++) {
        struct str name = str_lower(r->load.arena, shown_name(&m[i]));
        bool online = is_seen(r, m[i].user_id);

        if (!online && !r->whole) {
            struct ordered_member *before = map_get(&r->members, m[i].user_id);

            if (before)
                roster_drop(r, before);
            continue;
        }
        struct ordered_member *new =
            ordered_member_new(m[i].user_id, name, m[i].roles.items, m[i].roles.count);
        new->online = online;
        roster_put(r, new);
    }
}

static enum err read_everybody(struct load *l, struct tx *tx)
{
    struct roster *r = container_of(l, struct roster, load);
    struct gateway_search search = { .guild_id = r->guild_id, .limit = 2 * ROSTER_WHOLE };

    r->read.found = (struct list){ 0 };
    return l->hub->gateway->options.source->members(tx, &search, &r->read.found);
}

static void everybody_read(struct load *l, enum err e)
{
    struct roster *r = container_of(l, struct roster, load);

    r->read.failed_members = e != OK;
    if (!e)
        put_found(r);
    roster_continue(r);
}

/* Queues the online members of a large guild that are not in memory; they are read in batches. */
static void note_everybody_seen(struct roster *r)
{
    size_t count;
    snowflake *ids = crowd_ids(&r->hub->gateway->crowds, r->guild_id, &count);

    for (size_t i = 0; i < count; i++)
        if (!map_get(&r->members, ids[i]))
            map_put(&r->todo, ids[i], (void *)(uintptr_t)NOTE_READ);
    mem_free(ids);
}

static void note_everybody_listed(struct roster *r)
{
    size_t at = 0;

    for (const struct ordered_member *m; (m = map_next(&r->members, &at));)
        if (!map_get(&r->todo, m->user_id))
            map_put(&r->todo, m->user_id, (void *)(uintptr_t)NOTE_LOOK);
}

static void roster_read(struct roster *r, enum err (*run)(struct load *l, struct tx *tx),
                        void (*done)(struct load *l, enum err e))
{
    r->load = (struct load){ .aside = true, .run = run, .done = done };
    hub_load_now(r->hub, &r->load);
}

bool roster_gather(struct roster *r)
{
    if (r->wants.wants_ids) {
        r->wants.wants_ids = false;
        subscriptions_move_begin(r);
    }
    if (r->move.moving && subscriptions_move(r)) {
        roster_continue(r);
        return true;
    }
    if (r->wants.wants_roles) {
        r->wants.wants_roles = false;
        roster_read(r, read_ranks, ranks_read);
        return true;
    }
    if (!r->wants.wants_members)
        return false;
    r->wants.wants_members = false;
    r->whole = roster_view(r)->member_count <= ROSTER_WHOLE;
    r->todo_at = 0;
    if (!r->whole)
        note_everybody_seen(r);
    note_everybody_listed(r);
    if (!r->whole)
        return false;
    roster_read(r, read_everybody, everybody_read);
    return true;
}

static enum err read_noted(struct load *l, struct tx *tx)
{
    struct roster *r = container_of(l, struct roster, load);
    struct gateway_search search = { .guild_id = r->guild_id,
                                     .user_ids = { r->read.reading, r->read.reading_count } };

    r->read.found = (struct list){ 0 };
    return l->hub->gateway->options.source->members(tx, &search, &r->read.found);
}

static bool is_found(const struct roster *r, snowflake user_id)
{
    const struct member *m = r->read.found.items;

    for (size_t i = 0; i < r->read.found.count; i++)
        if (m[i].user_id == user_id)
            return true;
    return false;
}

static void noted_read(struct load *l, enum err e)
{
    struct roster *r = container_of(l, struct roster, load);

    for (size_t i = 0; !e && i < r->read.reading_count; i++) {
        struct ordered_member *m = map_get(&r->members, r->read.reading[i]);

        if (m && !is_found(r, m->user_id))
            roster_drop(r, m);
    }
    for (size_t i = 0; e && i < r->read.reading_count; i++)
        map_put(&r->wants.noted, r->read.reading[i], (void *)(uintptr_t)NOTE_READ);
    if (!e)
        put_found(r);
    roster_continue(r);
}

/* Updates a member whose presence has changed; name and roles are the same. */
static void look_again(struct roster *r, struct ordered_member *m)
{
    bool online = is_seen(r, m->user_id);

    if (!online && !r->whole) {
        roster_drop(r, m);
        return;
    }
    if (online == m->online) {
        m->version = ++r->version;
        return;
    }
    struct ordered_member *new = ordered_member_new(m->user_id, m->name, m->roles, m->role_count);
    new->online = online;
    roster_put(r, new);
}

static void look_at_noted(struct roster *r, snowflake user_id, enum roster_note note)
{
    struct ordered_member *m = map_get(&r->members, user_id);

    if (m && note == NOTE_LOOK)
        look_again(r, m);
    else if (m || r->whole || is_seen(r, user_id))
        r->read.reading[r->read.reading_count++] = user_id;
}

bool roster_look(struct roster *r)
{
    size_t looked = 0;

    r->read.reading_count = 0;
    for (;
         r->todo_at < r->todo.cap && looked < LOOKED_AT_ONCE && r->read.reading_count < ROSTER_READ;
         r->todo_at++) {
        const struct map_slot *slot = &r->todo.slots[r->todo_at];

        if (!slot->value)
            continue;
        look_at_noted(r, slot->key, (enum roster_note)(uintptr_t)slot->value);
        looked++;
    }
    if (r->read.reading_count)
        roster_read(r, read_noted, noted_read);
    else if (looked)
        roster_continue(r);
    return looked > 0;
}
