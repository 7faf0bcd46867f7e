/* crowds.c - counts the visible online members of each guild, over all loops. */
#include "gateway/views/crowds.h"

#include "base/mem.h"

struct crowd {
    snowflake guild_id;
    struct map people; /* user id -> number of visible sessions, stored in the pointer */
    unsigned watchers; /* number of loops that maintain member lists of the guild */
};

void crowds_init(struct crowds *all)
{
    *all = (struct crowds){ 0 };
    pthread_mutex_init(&all->lock, NULL);
    map_init(&all->guilds);
}

static void crowd_free(struct crowd *c)
{
    map_clear(&c->people);
    mem_free(c);
}

void crowds_clear(struct crowds *all)
{
    size_t at = 0;

    for (struct crowd *c; (c = map_next(&all->guilds, &at));)
        crowd_free(c);
    map_clear(&all->guilds);
    pthread_mutex_destroy(&all->lock);
}

/* --- functions that need the lock ----------------------------------------------------- */

static struct crowd *crowd_make(struct crowds *all, snowflake guild_id)
{
    struct crowd *c = map_get(&all->guilds, guild_id);

    if (!c) {
        c = mem_new(sizeof *c);
        c->guild_id = guild_id;
        map_init(&c->people);
        map_put(&all->guilds, guild_id, c);
    }
    return c;
}

static void crowd_drop_if_empty(struct crowds *all, struct crowd *c)
{
    if (c->people.count || c->watchers)
        return;
    map_remove(&all->guilds, c->guild_id);
    crowd_free(c);
}

static void crowd_set_sessions(struct crowd *c, snowflake user_id, uintptr_t count)
{
    if (count)
        map_put(&c->people, user_id, (void *)count);
    else
        map_remove(&c->people, user_id);
}

static uintptr_t crowd_sessions(const struct crowd *c, snowflake user_id)
{
    return (uintptr_t)map_get(&c->people, user_id);
}

void crowd_enter(struct crowds *all, snowflake guild_id, snowflake user_id)
{
    pthread_mutex_lock(&all->lock);
    struct crowd *c = crowd_make(all, guild_id);

    crowd_set_sessions(c, user_id, crowd_sessions(c, user_id) + 1);
    pthread_mutex_unlock(&all->lock);
}

void crowd_leave(struct crowds *all, snowflake guild_id, snowflake user_id)
{
    pthread_mutex_lock(&all->lock);
    struct crowd *c = map_get(&all->guilds, guild_id);

    if (c && crowd_sessions(c, user_id)) {
        crowd_set_sessions(c, user_id, crowd_sessions(c, user_id) - 1);
        crowd_drop_if_empty(all, c);
    }
    pthread_mutex_unlock(&all->lock);
}

void crowd_watch(struct crowds *all, snowflake guild_id, bool watch)
{
    pthread_mutex_lock(&all->lock);
    struct crowd *c = crowd_make(all, guild_id);

    if (watch && c->watchers++ == 0)
        atomic_fetch_add(&all->watched, 1);
    if (!watch && --c->watchers == 0) {
        atomic_fetch_sub(&all->watched, 1);
        crowd_drop_if_empty(all, c);
    }
    pthread_mutex_unlock(&all->lock);
}

bool crowd_is_watched(struct crowds *all, snowflake guild_id)
{
    if (!atomic_load(&all->watched))
        return false;
    pthread_mutex_lock(&all->lock);
    const struct crowd *c = map_get(&all->guilds, guild_id);
    bool watched = c && c->watchers;
    pthread_mutex_unlock(&all->lock);
    return watched;
}

size_t crowd_count(struct crowds *all, snowflake guild_id)
{
    pthread_mutex_lock(&all->lock);
    const struct crowd *c = map_get(&all->guilds, guild_id);
    size_t count = c ? c->people.count : 0;
    pthread_mutex_unlock(&all->lock);
    return count;
}

snowflake *crowd_ids(struct crowds *all, snowflake guild_id, size_t *ret_count)
{
    snowflake *ids = NULL;
    size_t n = 0;

    pthread_mutex_lock(&all->lock);
    const struct crowd *c = map_get(&all->guilds, guild_id);
    if (c && c->people.count) {
        ids = mem_resize(NULL, c->people.count * sizeof *ids);
        for (size_t i = 0; i < c->people.cap; i++)
            if (c->people.slots[i].value)
                ids[n++] = c->people.slots[i].key;
    }
    pthread_mutex_unlock(&all->lock);
    *ret_count = n;
    return ids;
}
