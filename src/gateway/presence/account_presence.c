/* account_presence.c - computes an account's presence from its sessions on all nodes. */
#include "gateway/presence/account_presence.h"

#include "base/hash.h"
#include "base/mem.h"
#include "gateway/presence/presence.h"

/* Priority of statuses: the account's status is the first of these that one of its sessions has. */
static const unsigned char status_priority[] = { PRESENCE_DND, PRESENCE_ONLINE, PRESENCE_IDLE };

/* Fields of a session, on this or another node, that determine the presence of its account. */
struct presence_source {
    unsigned char status, kind;
    bool counts;
    uint32_t shard_id, shard_count;
    struct str presence;
};

static struct presence_source presence_of_local_session(const struct session *s,
                                                        const struct presence_session_filter *c)
{
    return (struct presence_source){ .status = s->presence.status,
                                     .kind = s->presence.kind,
                                     .counts = s != c->but && session_is_ready(s) &&
                                               !s->presence.shown_offline,
                                     .shard_id = s->options.shard_id,
                                     .shard_count = s->options.shard_count,
                                     .presence = session_get_activities(s) };
}

static struct presence_source presence_of_remote_session(const struct remote_session *r)
{
    return (struct presence_source){ .status = r->status,
                                     .kind = r->kind,
                                     .counts = !r->shown_offline,
                                     .shard_id = r->shard_id,
                                     .shard_count = r->shard_count,
                                     .presence = r->presence };
}

static bool presence_matches_filter(const struct presence_source *s, unsigned char status,
                                    const struct presence_session_filter *c)
{
    return s->counts && s->status == status && (c->kind == ANY_CLIENT_KIND || s->kind == c->kind) &&
           (!c->shard_count || (s->shard_id == c->shard_id && s->shard_count == c->shard_count));
}

static bool find_session_presence_with_status(const struct gateway_account *a, unsigned char status,
                                              const struct presence_session_filter *c,
                                              struct presence_source *ret)
{
    for (const struct list_link *at = a->sessions.next; at != &a->sessions; at = at->next) {
        *ret = presence_of_local_session(container_of(at, const struct session, of_user), c);
        if (presence_matches_filter(ret, status, c))
            return true;
    }
    for (const struct list_link *at = a->remotes.next; at != &a->remotes; at = at->next) {
        *ret = presence_of_remote_session(container_of(at, const struct remote_session, of_user));
        if (presence_matches_filter(ret, status, c))
            return true;
    }
    return false;
}

/* Returns the presence of that session of the account whose status has the highest priority
 * (status_priority). Returns PRESENCE_INVISIBLE if the account has no session. */
static struct presence_source highest_priority_presence(const struct gateway_account *a,
                                                        const struct presence_session_filter *c)
{
    struct presence_source s;

    for (size_t i = 0; a && i < COUNT_OF(status_priority); i++)
        if (find_session_presence_with_status(a, status_priority[i], c, &s))
            return s;
    return (struct presence_source){ .status = PRESENCE_INVISIBLE };
}

/* a may be NULL. */
static struct account_statuses account_compute_session_statuses(const struct gateway_account *a,
                                                                struct presence_session_filter c)
{
    struct account_statuses all = { .whole = highest_priority_presence(a, &c).status };

    for (c.kind = 0; c.kind < CLIENT_KINDS; c.kind++)
        all.of[c.kind] = highest_priority_presence(a, &c).status;
    return all;
}

struct account_presence account_compute_presence(const struct gateway_account *a,
                                                 struct presence_session_filter c)
{
    struct presence_source s = highest_priority_presence(a, &c);
    struct account_presence l = { .statuses = account_compute_session_statuses(a, c) };

    if (s.presence.p) {
        char *copy = mem_resize(NULL, s.presence.n);

        memcpy(copy, s.presence.p, s.presence.n);
        l.activities = str_slice(copy, s.presence.n);
    }
    return l;
}

uint64_t account_presence_activities_hash(const struct account_presence *l)
{
    return l->activities.n ? hash_str(l->activities) : 0;
}

void account_presence_clear(struct account_presence *l)
{
    mem_free((void *)(uintptr_t)l->activities.p);
}

bool account_update_announced_presence(struct gateway_account *a,
                                       const struct presence_session_filter *c,
                                       struct account_presence *ret)
{
    struct account_presence now = account_compute_presence(a, *c);
    struct announced_presence *shown =
        account_get_announced_presence(a, c->shard_id, c->shard_count);
    uint64_t hash = account_presence_activities_hash(&now);
    bool changed = memcmp(&shown->statuses, &now.statuses, sizeof now.statuses) != 0 ||
                   shown->activities != hash;

    shown->statuses = now.statuses;
    shown->activities = hash;
    if (changed)
        *ret = now;
    else
        account_presence_clear(&now);
    return changed;
}

static void write_client_status_json(const struct account_statuses *all, struct json_writer *j)
{
    static const char *const names[] = { "desktop", "mobile", "web" };

    json_begin_object(j);
    for (int i = 0; i < CLIENT_KINDS; i++)
        if (all->of[i] != PRESENCE_INVISIBLE) {
            json_write_escaped_key(j, str_of(names[i]));
            json_write_text(j, str_of(presence_status_name(all->of[i])));
        }
    json_end_object(j);
}

static void write_presence_user_json(snowflake user_id, bool referring, struct json_writer *j)
{
    if (referring) {
        json_write_name(j, "user_id");
        json_write_id(j, user_id);
        return;
    }
    json_write_name(j, "user");
    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, user_id);
    json_end_object(j);
}

void write_presence_json(snowflake user_id, bool referring, snowflake guild_id,
                         const struct account_presence *l, struct json_writer *j)
{
    bool seen = l->statuses.whole != PRESENCE_INVISIBLE;
    struct str status = seen ? str_of(presence_status_name(l->statuses.whole)) : STR("offline");

    json_begin_object(j);
    write_presence_user_json(user_id, referring, j);
    if (guild_id) {
        json_write_name(j, "guild_id");
        json_write_id(j, guild_id);
    }
    json_write_name(j, "status");
    json_write_text(j, status);
    json_write_name(j, "activities");
    json_write_raw(j, seen && l->activities.p ? l->activities : STR("[]"));
    json_write_name(j, "client_status");
    write_client_status_json(&l->statuses, j);
    json_end_object(j);
}

const char *gateway_get_account_status(struct gateway *g, snowflake user_id,
                                       struct json_writer *kinds)
{
    pthread_mutex_lock(&g->lock);
    struct account_statuses all = account_compute_session_statuses(
        map_find_value(&g->accounts, user_id),
        (struct presence_session_filter){ .kind = ANY_CLIENT_KIND });
    pthread_mutex_unlock(&g->lock);
    if (kinds)
        write_client_status_json(&all, kinds);
    return all.whole == PRESENCE_INVISIBLE ? NULL : presence_status_name(all.whole);
}

static bool account_is_visibly_online(const struct gateway_account *a)
{
    struct presence_session_filter any = { .kind = ANY_CLIENT_KIND };

    return a && highest_priority_presence(a, &any).status != PRESENCE_INVISIBLE;
}

void gateway_write_presences_json(struct gateway *g, snowflake guild_id, const struct list *ids,
                                  bool referring, struct json_writer *j)
{
    json_begin_array(j);
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < ids->count; i++) {
        snowflake id = ((const snowflake *)ids->items)[i];
        const struct gateway_account *a = map_find_value(&g->accounts, id);

        /* Check this before the presence is computed, because most members are offline. */
        if (!account_is_visibly_online(a))
            continue;
        struct account_presence l = account_compute_presence(
            a, (struct presence_session_filter){ .kind = ANY_CLIENT_KIND });
        write_presence_json(id, referring, guild_id, &l, j);
        account_presence_clear(&l);
    }
    pthread_mutex_unlock(&g->lock);
    json_end_array(j);
}

void gateway_write_presence_json(struct gateway *g, snowflake user_id, struct json_writer *j)
{
    pthread_mutex_lock(&g->lock);
    struct account_presence l =
        account_compute_presence(map_find_value(&g->accounts, user_id),
                                 (struct presence_session_filter){ .kind = ANY_CLIENT_KIND });
    pthread_mutex_unlock(&g->lock);
    write_presence_json(user_id, false, 0, &l, j);
    account_presence_clear(&l);
}

void gateway_filter_online_accounts(struct gateway *g, struct list *ids, size_t max)
{
    snowflake *all = ids->items;
    size_t n = 0;

    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < ids->count && n < max; i++)
        if (account_is_visibly_online(map_find_value(&g->accounts, all[i])))
            all[n++] = all[i];
    pthread_mutex_unlock(&g->lock);
    ids->count = n;
}
