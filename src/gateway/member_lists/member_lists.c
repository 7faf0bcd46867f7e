/* member_lists.c - builds and updates member lists: the sorted viewers of a channel. */
#include <string.h>

#include "base/mem.h"
#include "gateway/member_lists/rosters.h"

enum {
    BUILT_AT_ONCE = 1000, /* members per task that are added to a list */
    COME_AT_ONCE = 4096,  /* with more new members than this a list is rebuilt */
};

static struct place_rule *rule_copy(const struct place_rule *rule)
{
    size_t size = sizeof *rule + rule->count * sizeof *rule->overwrites;
    struct place_rule *copy = mem_resize(NULL, size);

    memcpy(copy, rule, size);
    return copy;
}

_Static_assert(sizeof((struct place_rule *)0)->list_id == LIST_ID_MAX, "it has its room");

/* The list id is cached: sessions show many channels, and a channel may have a thousand
 * overwrites. */
static const char *list_id_of(struct place_rule *rule, bool everybody)
{
    if (!rule->list_id[0] || rule->list_everybody != everybody)
        list_id_write(everybody, rule->overwrites, rule->count, rule->list_id);
    rule->list_everybody = everybody;
    return rule->list_id;
}

struct shown_list *list_of_channel(struct roster *r, snowflake channel_id)
{
    const struct guild_view *v = roster_view(r);
    struct place_rule *rule = map_get(&v->channels, channel_id);
    const char *id = list_id_of(rule, view_role(v, r->guild_id) & PERMISSION(VIEW_CHANNEL));

    for (struct link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct shown_list *l = container_of(at, struct shown_list, link);

        if (strcmp(l->id, id) == 0)
            return l;
    }
    struct shown_list *l = mem_new(sizeof *l);
    memcpy(l->id, rule->list_id, sizeof l->id);
    l->roster = r;
    l->rule = rule_copy(rule);
    links_init(&l->faces);
    map_init(&l->faces_by_hash);
    links_append(&r->lists, &l->link);
    return l;
}

void list_free(struct shown_list *l)
{
    while (!links_empty(&l->faces))
        face_free(container_of(l->faces.next, struct list_face, link));
    map_clear(&l->faces_by_hash);
    link_remove(&l->link);
    order_clear(&l->order);
    mem_free(l->rule);
    mem_free(l);
}

void list_reset(struct shown_list *l)
{
    l->order.count = 0;
    l->built = false;
    l->at = 0;
}

static bool list_shows(const struct shown_list *l, const struct guild_view *v,
                       const struct ordered_member *m)
{
    struct rights_of who = {
        .guild_id = v->guild_id,
        .user_id = m->user_id,
        .owner = v->owner_id == m->user_id,
        .base = view_role(v, v->guild_id),
        .roles = m->roles,
        .role_count = m->role_count,
    };

    if (strcmp(l->id, "everyone") == 0)
        return true;
    for (uint32_t i = 0; i < m->role_count; i++)
        who.base |= view_role(v, m->roles[i]);
    return rights_in_channel(&who, l->rule->type, l->rule->overwrites, l->rule->count, false) &
           PERMISSION(VIEW_CHANNEL);
}

static struct shown_list *list_unbuilt(const struct roster *r)
{
    for (struct link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct shown_list *l = container_of(at, struct shown_list, link);

        if (!l->built)
            return l;
    }
    return NULL;
}

/* No member is added or removed while lists are built, so l->at stays valid between tasks. */
bool lists_build(struct roster *r)
{
    struct shown_list *l = list_unbuilt(r);
    struct ordered_member *some[BUILT_AT_ONCE], *m = NULL;
    const struct guild_view *v = roster_view(r);
    size_t count = 0, looked = 0;

    if (!l)
        return false;
    while (looked++ < BUILT_AT_ONCE && (m = map_next(&r->members, &l->at))) {
        m->rank = roster_rank(r, m);
        if (list_shows(l, v, m))
            some[count++] = m;
    }
    order_merge(&l->order, some, count);
    if (!m) {
        l->built = true;
        l->settled = r->round;
    }
    roster_continue(r);
    return true;
}

static void list_settle(struct shown_list *l)
{
    struct roster *r = l->roster;
    const struct guild_view *v = roster_view(r);
    struct ordered_member **some =
        mem_new((r->changed.come_count + 1) * sizeof(struct ordered_member *));
    size_t count = 0;

    for (size_t i = 0; i < r->changed.come_count; i++)
        if (!r->changed.come[i]->gone && list_shows(l, v, r->changed.come[i]))
            some[count++] = r->changed.come[i];
    order_sweep(&l->order);
    order_merge(&l->order, some, count);
    mem_free(some);
}

static struct shown_list *list_unsettled(const struct roster *r)
{
    for (struct link *at = r->lists.next; at != &r->lists; at = at->next) {
        struct shown_list *l = container_of(at, struct shown_list, link);

        if (l->settled != r->round)
            return l;
    }
    return NULL;
}

static void forget_changes(struct roster *r)
{
    for (size_t i = 0; i < r->changed.gone_count; i++)
        mem_free(r->changed.gone[i]);
    r->changed.gone_count = r->changed.come_count = 0;
}

bool lists_settle(struct roster *r)
{
    struct shown_list *l = list_unsettled(r);

    if (l && r->changed.come_count > COME_AT_ONCE) {
        list_reset(l);
        roster_continue(r);
        return true;
    }
    if (l && (r->changed.come_count || r->changed.gone_count)) {
        l->settled = r->round;
        list_settle(l);
        roster_continue(r);
        return true;
    }
    forget_changes(r);
    return false;
}
