/* kept_sets.c - compiled rules that loops and the store's threads share. */
#include <pthread.h>

#include "base/mem.h"
#include "platform/automod/sets.h"

/* Guilds that are written in at the same time; of more, those that were not used for longest
 * are compiled anew when they are needed. */
enum { MOST_KEPT = 256 };

struct kept_set {
    uint64_t server; /* api_number: a process of tests has several */
    snowflake guild_id, version;
    struct automod_set *set; /* NULL: a free place */
    uint64_t used;
};

static struct {
    pthread_mutex_t lock;
    struct kept_set all[MOST_KEPT];
    uint64_t clock;
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
        if (!kept.all[i].set || kept.all[i].used < oldest->used)
            oldest = &kept.all[i];
    return oldest;
}

struct automod_set *automod_kept(uint64_t server, snowflake guild_id, snowflake version)
{
    struct automod_set *found = NULL;

    pthread_mutex_lock(&kept.lock);
    struct kept_set *k = kept_find(server, guild_id);
    if (k && k->version == version) {
        k->used = ++kept.clock;
        found = automod_set_ref(k->set);
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

void automod_keep(uint64_t server, snowflake guild_id, snowflake version, struct automod_set *s)
{
    pthread_mutex_lock(&kept.lock);
    struct kept_set *k = kept_find(server, guild_id);
    struct automod_set *before;

    if (!k)
        k = kept_oldest();
    before = k->set;
    *k = (struct kept_set){ server, guild_id, version, automod_set_ref(s), ++kept.clock };
    pthread_mutex_unlock(&kept.lock);
    automod_set_unref(before);
}
