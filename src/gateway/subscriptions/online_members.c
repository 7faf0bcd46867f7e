/* online_members.c - counts the visible online members of each guild, over all loops. */
#include "gateway/subscriptions/online_members.h"

#include "base/mem.h"

struct guild_online_members {
    snowflake guild_id;
    /* User id -> number of the user's visible sessions, stored in place of a pointer. */
    struct map users;
    unsigned watchers; /* number of event loops that have member lists of the guild */
};

void online_members_init(struct online_members *all)
{
    *all = (struct online_members){ 0 };
    pthread_mutex_init(&all->lock, NULL);
    map_init(&all->guilds);
}

static void guild_online_members_free(struct guild_online_members *c)
{
    map_clear(&c->users);
    mem_free(c);
}

void online_members_free(struct online_members *all)
{
    size_t at = 0;

    for (struct guild_online_members *c; (c = map_next_value(&all->guilds, &at));)
        guild_online_members_free(c);
    map_clear(&all->guilds);
    pthread_mutex_destroy(&all->lock);
}

/* --- functions that need the lock ----------------------------------------------------- */

static struct guild_online_members *guild_online_members_get_or_create(struct online_members *all,
                                                                       snowflake guild_id)
{
    struct guild_online_members *c = map_find_value(&all->guilds, guild_id);

    if (!c) {
        c = mem_new(sizeof *c);
        c->guild_id = guild_id;
        map_init(&c->users);
        map_set_value(&all->guilds, guild_id, c);
    }
    return c;
}

static void guild_online_members_free_if_empty(struct online_members *all,
                                               struct guild_online_members *c)
{
    if (c->users.count || c->watchers)
        return;
    map_remove_value(&all->guilds, c->guild_id);
    guild_online_members_free(c);
}

static void set_visible_session_count_of_user(struct guild_online_members *c, snowflake user_id,
                                              uintptr_t count)
{
    if (count)
        map_set_value(&c->users, user_id, (void *)count);
    else
        map_remove_value(&c->users, user_id);
}

static uintptr_t visible_session_count(const struct guild_online_members *c, snowflake user_id)
{
    return (uintptr_t)map_find_value(&c->users, user_id);
}

void online_members_add_session(struct online_members *all, snowflake guild_id, snowflake user_id)
{
    pthread_mutex_lock(&all->lock);
    struct guild_online_members *c = guild_online_members_get_or_create(all, guild_id);

    set_visible_session_count_of_user(c, user_id, visible_session_count(c, user_id) + 1);
    pthread_mutex_unlock(&all->lock);
}

void online_members_remove_session(struct online_members *all, snowflake guild_id,
                                   snowflake user_id)
{
    pthread_mutex_lock(&all->lock);
    struct guild_online_members *c = map_find_value(&all->guilds, guild_id);

    if (c && visible_session_count(c, user_id)) {
        set_visible_session_count_of_user(c, user_id, visible_session_count(c, user_id) - 1);
        guild_online_members_free_if_empty(all, c);
    }
    pthread_mutex_unlock(&all->lock);
}

void guild_record_whether_member_lists_exist(struct online_members *all, snowflake guild_id,
                                             bool watch)
{
    pthread_mutex_lock(&all->lock);
    struct guild_online_members *c = guild_online_members_get_or_create(all, guild_id);

    if (watch && c->watchers++ == 0)
        atomic_fetch_add(&all->watched, 1);
    if (!watch && --c->watchers == 0) {
        atomic_fetch_sub(&all->watched, 1);
        guild_online_members_free_if_empty(all, c);
    }
    pthread_mutex_unlock(&all->lock);
}

bool guild_has_member_lists(struct online_members *all, snowflake guild_id)
{
    if (!atomic_load(&all->watched))
        return false;
    pthread_mutex_lock(&all->lock);
    const struct guild_online_members *c = map_find_value(&all->guilds, guild_id);
    bool watched = c && c->watchers;
    pthread_mutex_unlock(&all->lock);
    return watched;
}

size_t online_members_count(struct online_members *all, snowflake guild_id)
{
    pthread_mutex_lock(&all->lock);
    const struct guild_online_members *c = map_find_value(&all->guilds, guild_id);
    size_t count = c ? c->users.count : 0;
    pthread_mutex_unlock(&all->lock);
    return count;
}

snowflake *online_members_copy_ids(struct online_members *all, snowflake guild_id,
                                   size_t *ret_count)
{
    snowflake *ids = NULL;
    size_t n = 0;

    pthread_mutex_lock(&all->lock);
    const struct guild_online_members *c = map_find_value(&all->guilds, guild_id);
    if (c && c->users.count) {
        ids = mem_resize(NULL, c->users.count * sizeof *ids);
        for (size_t i = 0; i < c->users.cap; i++)
            if (c->users.slots[i].value)
                ids[n++] = c->users.slots[i].key;
    }
    pthread_mutex_unlock(&all->lock);
    *ret_count = n;
    return ids;
}
