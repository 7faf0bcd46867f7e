/* kept_sets.c - compiled rules that loops and the store's threads share. */
#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"
#include "platform/automod/sets.h"

/* Guilds that are written in at the same time; of more, those that were not used for longest
 * are compiled anew when they are needed, and so are those that nobody writes in for a while: the
 * guild may be gone. */
enum { MOST_KEPT = 256, IDLE_MS = 10 * 60 * 1000 };

struct kept_set {
    uint64_t server; /* api_number: a process of tests has several */
    snowflake guild_id, version;
    struct automod_set *set; /* NULL: a free place */
    int64_t used_at;
};

static struct {
    pthread_mutex_t lock;
    struct kept_set all[MOST_KEPT];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct kept_set *kept_find(uint64_t server, snowflake guild_id)
{
    for (size_t i = 0; i < MOST_KEPT; i++)
        if (kept.all[i].set && kept.all[i].guild_id == guild_id && kept.all[i].server == server)
            return &kept.all[i];
    return NULL;
}

static struct kept_set *kept_oldest(void)
{
    struct kept_set *oldest = &kept.all[0];

    for (size_t i = 1; i < MOST_KEPT && oldest->set; i++)
        if (!kept.all[i].set || kept.all[i].used_at < oldest->used_at)
            oldest = &kept.all[i];
    return oldest;
}

struct automod_set *automod_kept(uint64_t server, snowflake guild_id, snowflake version)
{
    struct automod_set *found = NULL;

    pthread_mutex_lock(&kept.lock);
    struct kept_set *k = kept_find(server, guild_id);
    if (k && k->version == version) {
        k->used_at = clock_mono();
        found = automod_set_ref(k->set);
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

/* Frees the places of those that were not used for long, and hands out what was there. */
static size_t kept_leave(int64_t now, struct automod_set *left[MOST_KEPT])
{
    size_t count = 0;

    for (size_t i = 0; i < MOST_KEPT; i++)
        if (kept.all[i].set && now - kept.all[i].used_at > (int64_t)IDLE_MS * 1000000) {
            left[count++] = kept.all[i].set;
            kept.all[i] = (struct kept_set){ 0 };
        }
    return count;
}

void automod_keep(uint64_t server, snowflake guild_id, snowflake version, struct automod_set *s)
{
    struct automod_set *left[MOST_KEPT], *before;
    int64_t now = clock_mono();

    pthread_mutex_lock(&kept.lock);
    size_t count = kept_leave(now, left);
    struct kept_set *k = kept_find(server, guild_id);
    if (!k)
        k = kept_oldest();
    before = k->set;
    *k = (struct kept_set){ server, guild_id, version, automod_set_ref(s), now };
    pthread_mutex_unlock(&kept.lock);
    automod_set_unref(before);
    while (count)
        automod_set_unref(left[--count]);
}
