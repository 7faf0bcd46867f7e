/* member_lists.c - builds and updates member lists: the sorted members who can view a channel. */
#include <string.h>

#include "base/mem.h"
#include "gateway/member_lists/member_tables.h"

enum {
    MEMBERS_PER_BUILD_TASK = 1000, /* members added to a member list per task */
    /* A list is built again, not updated, if more members than this are added at once. */
    REBUILD_ABOVE_ADDED = 4096,
};

static struct channel_overwrites *copy_channel_overwrites(const struct channel_overwrites *rule)
{
    size_t size = sizeof *rule + rule->count * sizeof *rule->overwrites;
    struct channel_overwrites *copy = mem_resize(NULL, size);

    memcpy(copy, rule, size);
    return copy;
}

_Static_assert(sizeof((struct channel_overwrites *)0)->list_id == LIST_ID_MAX, "a list id fits");

/* Returns the list id of a channel. The id is cached, because sessions show many channels, and a
 * channel may have a thousand overwrites. */
static const char *get_cached_member_list_id(struct channel_overwrites *rule, bool everybody)
{
    if (!rule->list_id[0] || rule->list_everybody != everybody)
        compute_member_list_id(everybody, rule->overwrites, rule->count, rule->list_id);
    rule->list_everybody = everybody;
    return rule->list_id;
}

struct channel_member_list *member_list_get_or_create(struct member_table *r, snowflake channel_id)
{
    const struct guild_view *v = member_table_get_guild_view(r);
    struct channel_overwrites *rule = map_find_value(&v->channels, channel_id);
    const char *id = get_cached_member_list_id(rule, guild_view_role_permissions(v, r->guild_id) &
                                                         PERMISSION(VIEW_CHANNEL));

    for (struct list_link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct channel_member_list *l = container_of(at, struct channel_member_list, link);

        if (strcmp(l->id, id) == 0)
            return l;
    }
    struct channel_member_list *l = mem_new(sizeof *l);
    memcpy(l->id, rule->list_id, sizeof l->id);
    l->table = r;
    l->rule = copy_channel_overwrites(rule);
    linked_list_init(&l->windows);
    map_init(&l->windows_by_hash);
    linked_list_append(&r->lists, &l->link);
    return l;
}

void member_list_free(struct channel_member_list *l)
{
    while (!linked_list_is_empty(&l->windows))
        member_list_window_free(container_of(l->windows.next, struct member_list_window, link));
    map_clear(&l->windows_by_hash);
    linked_list_remove(&l->link);
    member_order_clear(&l->order);
    mem_free(l->rule);
    mem_free(l);
}

void member_list_remove_all_members(struct channel_member_list *l)
{
    l->order.count = 0;
    l->built = false;
    l->at = 0;
}

static bool member_belongs_to_list(const struct channel_member_list *l, const struct guild_view *v,
                                   const struct ordered_member *m)
{
    struct permission_computation_input who = {
        .guild_id = v->guild_id,
        .user_id = m->user_id,
        .owner = v->owner_id == m->user_id,
        .base = guild_view_role_permissions(v, v->guild_id),
        .roles = m->roles,
        .role_count = m->role_count,
    };

    if (strcmp(l->id, "everyone") == 0)
        return true;
    for (uint32_t i = 0; i < m->role_count; i++)
        who.base |= guild_view_role_permissions(v, m->roles[i]);
    return permissions_in_channel(&who, l->rule->type, l->rule->overwrites, l->rule->count, false) &
           PERMISSION(VIEW_CHANNEL);
}

static struct channel_member_list *find_unbuilt_member_list(const struct member_table *r)
{
    for (struct list_link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct channel_member_list *l = container_of(at, struct channel_member_list, link);

        if (!l->built)
            return l;
    }
    return NULL;
}

/* Builds member lists in several tasks. No member is added to the table or removed from it
 * meanwhile, so the position l->at stays valid between tasks. */
bool build_member_list_batch(struct member_table *r)
{
    struct channel_member_list *l = find_unbuilt_member_list(r);
    struct ordered_member *some[MEMBERS_PER_BUILD_TASK], *m = NULL;
    const struct guild_view *v = member_table_get_guild_view(r);
    size_t count = 0, looked = 0;

    if (!l)
        return false;
    while (looked++ < MEMBERS_PER_BUILD_TASK && (m = map_next_value(&r->members, &l->at))) {
        m->rank = member_table_compute_rank(r, m);
        if (member_belongs_to_list(l, v, m))
            some[count++] = m;
    }
    member_order_insert(&l->order, some, count);
    if (!m) {
        l->built = true;
        l->updated_round = r->round;
    }
    member_table_continue_update_round(r);
    return true;
}

static void apply_changes_to_member_list(struct channel_member_list *l)
{
    struct member_table *r = l->table;
    const struct guild_view *v = member_table_get_guild_view(r);
    struct ordered_member **some =
        mem_new((r->changed.added_count + 1) * sizeof(struct ordered_member *));
    size_t count = 0;

    for (size_t i = 0; i < r->changed.added_count; i++)
        if (!r->changed.added[i]->gone && member_belongs_to_list(l, v, r->changed.added[i]))
            some[count++] = r->changed.added[i];
    member_order_delete_members_marked_gone(&l->order);
    member_order_insert(&l->order, some, count);
    mem_free(some);
}

static struct channel_member_list *find_outdated_member_list(const struct member_table *r)
{
    for (struct list_link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct channel_member_list *l = container_of(at, struct channel_member_list, link);

        if (l->updated_round != r->round)
            return l;
    }
    return NULL;
}

static void clear_member_changes(struct member_table *r)
{
    for (size_t i = 0; i < r->changed.removed_count; i++)
        mem_free(r->changed.removed[i]);
    r->changed.removed_count = r->changed.added_count = 0;
}

bool member_lists_apply_member_changes(struct member_table *r)
{
    struct channel_member_list *l = find_outdated_member_list(r);

    if (l && r->changed.added_count > REBUILD_ABOVE_ADDED) {
        member_list_remove_all_members(l);
        member_table_continue_update_round(r);
        return true;
    }
    if (l && (r->changed.added_count || r->changed.removed_count)) {
        l->updated_round = r->round;
        apply_changes_to_member_list(l);
        member_table_continue_update_round(r);
        return true;
    }
    clear_member_changes(r);
    return false;
}
