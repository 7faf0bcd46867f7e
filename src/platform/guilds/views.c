/* views.c - views that are kept, and dropped when their guild changes. */
#include "platform/guilds/views.h"

#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

enum { SHARDS = 16, SLOTS = VIEWS_MOST / SHARDS };

struct shard {
    pthread_mutex_t lock;
    atomic_uint_fast64_t changes; /* of guilds in this shard, so far */
    struct map by_guild;          /* struct kept_view */
    struct kept_view *slots[SLOTS];
    size_t hand; /* the slot that is used next */
};

static struct shard shards[SHARDS];
static pthread_once_t begun = PTHREAD_ONCE_INIT;

static void begin(void)
{
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].lock, NULL);
        map_init(&shards[i].by_guild);
    }
}

static struct shard *shard_of(snowflake guild_id)
{
    pthread_once(&begun, begin);
    return &shards[hash_u64(guild_id) % SHARDS];
}

uint64_t view_moment(snowflake guild_id)
{
    return atomic_load(&shard_of(guild_id)->changes);
}

void view_release(const struct guild_view *v)
{
    struct kept_view *k = (struct kept_view *)v;

    if (k && atomic_fetch_sub(&k->holders, 1) == 1)
        mem_free(k);
}

const struct guild_view *view_peek(snowflake guild_id)
{
    struct shard *s = shard_of(guild_id);

    pthread_mutex_lock(&s->lock);
    struct kept_view *k = map_get(&s->by_guild, guild_id);
    if (k)
        atomic_fetch_add(&k->holders, 1);
    pthread_mutex_unlock(&s->lock);
    return k ? &k->view : NULL;
}

/* With the lock held. */
static void drop(struct shard *s, struct kept_view *k)
{
    if (!k)
        return;
    map_remove(&s->by_guild, k->view.guild_id);
    s->slots[k->slot] = NULL;
    view_release(&k->view);
}

void views_keep(struct kept_view *k, uint64_t moment)
{
    struct shard *s = shard_of(k->view.guild_id);

    pthread_mutex_lock(&s->lock);
    /* Something changed since: it may have been this guild, and after our snapshot. */
    if (atomic_load(&s->changes) == moment) {
        drop(s, map_get(&s->by_guild, k->view.guild_id));
        drop(s, s->slots[s->hand]);
        k->slot = s->hand;
        s->slots[s->hand] = k;
        s->hand = (s->hand + 1) % SLOTS;
        map_put(&s->by_guild, k->view.guild_id, k);
        atomic_fetch_add(&k->holders, 1);
    }
    pthread_mutex_unlock(&s->lock);
}

/* --- changes ------------------------------------------------------------------------------ */

static bool changes_a_view(enum event e)
{
    switch (e) {
    case EVENT_GUILD_UPDATE:
    case EVENT_GUILD_DELETE:
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
    case EVENT_GUILD_ROLE_DELETE:
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
    case EVENT_CHANNEL_DELETE:
    case EVENT_THREAD_CREATE:
    case EVENT_THREAD_UPDATE:
    case EVENT_THREAD_DELETE:
        return true;
    default:
        return false;
    }
}

static void forget_guild(snowflake id)
{
    struct shard *s = shard_of(id);

    pthread_mutex_lock(&s->lock);
    /* First, so that whoever has read the old state does not keep it. */
    atomic_fetch_add(&s->changes, 1);
    drop(s, map_get(&s->by_guild, id));
    pthread_mutex_unlock(&s->lock);
}

void views_note(const struct announcement *list)
{
    for (; list; list = list->next)
        if (list->to.kind == SUBJECT_GUILD && changes_a_view(list->event))
            forget_guild(list->to.id);
}

void views_forget(void)
{
    pthread_once(&begun, begin);
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *s = &shards[i];

        pthread_mutex_lock(&s->lock);
        atomic_fetch_add(&s->changes, 1);
        for (size_t k = 0; k < SLOTS; k++)
            drop(s, s->slots[k]);
        map_clear(&s->by_guild);
        pthread_mutex_unlock(&s->lock);
    }
}

size_t views_count(void)
{
    size_t n = 0;

    pthread_once(&begun, begin);
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&shards[i].lock);
        n += shards[i].by_guild.count;
        pthread_mutex_unlock(&shards[i].lock);
    }
    return n;
}
