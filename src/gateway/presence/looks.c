/* looks.c - computes the presence of an account from all its sessions, on this node and others. */
#include "gateway/presence/looks.h"

#include "base/hash.h"
#include "base/mem.h"
#include "gateway/presence/presence.h"

/* Priority of statuses: an account has the first of these that one of its sessions has. */
static const unsigned char order[] = { PRESENCE_DND, PRESENCE_ONLINE, PRESENCE_IDLE };

/* The fields of a local or remote session that its account's presence depends on. */
struct looked_session {
    unsigned char status, kind;
    bool counts;
    uint32_t shard_id, shard_count;
    struct str presence;
};

static struct looked_session looked_here(const struct session *s, const struct among *c)
{
    return (struct looked_session){ .status = s->presence.status,
                                    .kind = s->presence.kind,
                                    .counts =
                                        s != c->but && session_is_ready(s) && !s->presence.faded,
                                    .shard_id = s->options.shard_id,
                                    .shard_count = s->options.shard_count,
                                    .presence = session_activities(s) };
}

static struct looked_session looked_there(const struct remote_session *r)
{
    return (struct looked_session){ .status = r->status,
                                    .kind = r->kind,
                                    .counts = !r->faded,
                                    .shard_id = r->shard_id,
                                    .shard_count = r->shard_count,
                                    .presence = r->presence };
}

static bool presence_counts(const struct looked_session *s, unsigned char status,
                            const struct among *c)
{
    return s->counts && s->status == status && (c->kind == ANY_KIND || s->kind == c->kind) &&
           (!c->shard_count || (s->shard_id == c->shard_id && s->shard_count == c->shard_count));
}

static bool find_with_status(const struct account *a, unsigned char status, const struct among *c,
                             struct looked_session *ret)
{
    for (const struct link *at = a->sessions.next; at != &a->sessions; at = at->next) {
        *ret = looked_here(container_of(at, const struct session, of_user), c);
        if (presence_counts(ret, status, c))
            return true;
    }
    for (const struct link *at = a->remotes.next; at != &a->remotes; at = at->next) {
        *ret = looked_there(container_of(at, const struct remote_session, of_user));
        if (presence_counts(ret, status, c))
            return true;
    }
    return false;
}

/* Returns the session with the highest priority; status PRESENCE_INVISIBLE if there is none. */
static struct looked_session presence_foremost(const struct account *a, const struct among *c)
{
    struct looked_session s;

    for (size_t i = 0; a && i < COUNT_OF(order); i++)
        if (find_with_status(a, order[i], c, &s))
            return s;
    return (struct looked_session){ .status = PRESENCE_INVISIBLE };
}

struct statuses account_statuses(const struct account *a, struct among c)
{
    struct statuses all = { .whole = presence_foremost(a, &c).status };

    for (c.kind = 0; c.kind < CLIENT_KINDS; c.kind++)
        all.of[c.kind] = presence_foremost(a, &c).status;
    return all;
}

struct presence_look account_look(const struct account *a, struct among c)
{
    struct looked_session s = presence_foremost(a, &c);
    struct presence_look l = { .statuses = account_statuses(a, c) };

    if (s.presence.p) {
        char *copy = mem_resize(NULL, s.presence.n);

        memcpy(copy, s.presence.p, s.presence.n);
        l.activities = str_slice(copy, s.presence.n);
    }
    return l;
}

uint64_t look_activities(const struct presence_look *l)
{
    return l->activities.n ? hash_str(l->activities) : 0;
}

void look_clear(struct presence_look *l)
{
    mem_free((void *)(uintptr_t)l->activities.p);
}

bool look_show(struct account *a, const struct among *c, struct presence_look *ret)
{
    struct presence_look now = account_look(a, *c);
    struct shown_presence *shown = account_shown(a, c->shard_id, c->shard_count);
    uint64_t hash = look_activities(&now);
    bool changed = memcmp(&shown->statuses, &now.statuses, sizeof now.statuses) != 0 ||
                   shown->activities != hash;

    shown->statuses = now.statuses;
    shown->activities = hash;
    if (changed)
        *ret = now;
    else
        look_clear(&now);
    return changed;
}

static void write_kinds(const struct statuses *all, struct json *j)
{
    static const char *const names[] = { "desktop", "mobile", "web" };

    json_object(j);
    for (int i = 0; i < CLIENT_KINDS; i++)
        if (all->of[i] != PRESENCE_INVISIBLE) {
            json_key_text(j, str_of(names[i]));
            json_text(j, str_of(presence_word(all->of[i])));
        }
    json_object_end(j);
}

static void write_whose(snowflake user_id, bool referring, struct json *j)
{
    if (referring) {
        json_name(j, "user_id");
        json_id(j, user_id);
        return;
    }
    json_name(j, "user");
    json_object(j);
    json_name(j, "id");
    json_id(j, user_id);
    json_object_end(j);
}

void presence_write(snowflake user_id, bool referring, snowflake guild_id,
                    const struct presence_look *l, struct json *j)
{
    bool seen = l->statuses.whole != PRESENCE_INVISIBLE;
    struct str status = seen ? str_of(presence_word(l->statuses.whole)) : STR("offline");

    json_object(j);
    write_whose(user_id, referring, j);
    if (guild_id) {
        json_name(j, "guild_id");
        json_id(j, guild_id);
    }
    json_name(j, "status");
    json_text(j, status);
    json_name(j, "activities");
    json_raw(j, seen && l->activities.p ? l->activities : STR("[]"));
    json_name(j, "client_status");
    write_kinds(&l->statuses, j);
    json_object_end(j);
}

const char *gateway_status(struct gateway *g, snowflake user_id, struct json *kinds)
{
    pthread_mutex_lock(&g->lock);
    struct statuses all =
        account_statuses(map_get(&g->accounts, user_id), (struct among){ .kind = ANY_KIND });
    pthread_mutex_unlock(&g->lock);
    if (kinds)
        write_kinds(&all, kinds);
    return all.whole == PRESENCE_INVISIBLE ? NULL : presence_word(all.whole);
}

static bool account_is_seen(const struct account *a)
{
    return presence_foremost(a, &(struct among){ .kind = ANY_KIND }).status != PRESENCE_INVISIBLE;
}

void gateway_presences(struct gateway *g, snowflake guild_id, const struct list *ids,
                       bool referring, struct json *j)
{
    json_array(j);
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < ids->count; i++) {
        snowflake id = ((const snowflake *)ids->items)[i];
        const struct account *a = map_get(&g->accounts, id);

        if (!account_is_seen(a)) /* checked first, because most members are offline */
            continue;
        struct presence_look l = account_look(a, (struct among){ .kind = ANY_KIND });
        presence_write(id, referring, guild_id, &l, j);
        look_clear(&l);
    }
    pthread_mutex_unlock(&g->lock);
    json_array_end(j);
}

void gateway_presence(struct gateway *g, snowflake user_id, struct json *j)
{
    pthread_mutex_lock(&g->lock);
    struct presence_look l =
        account_look(map_get(&g->accounts, user_id), (struct among){ .kind = ANY_KIND });
    pthread_mutex_unlock(&g->lock);
    presence_write(user_id, false, 0, &l, j);
    look_clear(&l);
}

void gateway_keep_seen(struct gateway *g, struct list *ids, size_t max)
{
    snowflake *all = ids->items;
    size_t n = 0;

    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < ids->count && n < max; i++)
        if (account_is_seen(map_get(&g->accounts, all[i])))
            all[n++] = all[i];
    pthread_mutex_unlock(&g->lock);
    ids->count = n;
}
