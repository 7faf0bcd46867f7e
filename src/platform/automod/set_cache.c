/* set_cache.c - process-wide cache of compiled rule sets, shared by all threads. */
#include <pthread.h>

#include "base/cache.h"
#include "base/hash.h"
#include "base/mem.h"
#include "platform/automod/rule_sets.h"

struct cached_set {
    struct cache_entry entry;
    uint64_t server; /* api_instance_number of the server; a test process runs several servers */
    snowflake guild_id, version;
    struct automod_rule_set *set;
};

static bool cached_rule_set_matches_key(const struct cache_entry *e, const void *key)
{
    const struct cached_set *c = (const struct cached_set *)e, *asked = key;

    return c->server == asked->server && c->guild_id == asked->guild_id &&
           c->version == asked->version;
}

static void cached_rule_set_free(struct cache_entry *e)
{
    automod_rule_set_unref(((struct cached_set *)e)->set);
    mem_free(e);
}

/* Sets that are not used for some time are evicted, for example those of deleted guilds. */
static struct cache_kind compiled = {
    .name = "compiled automod rules",
    .entries = 256,
    .idle_ms = 10 * 60 * 1000,
    .matches = cached_rule_set_matches_key,
    .free = cached_rule_set_free,
};
static struct {
    pthread_mutex_t lock;
    struct cache sets;
} cached_sets = { .lock = PTHREAD_MUTEX_INITIALIZER, .sets.kind = &compiled };

struct automod_rule_set *automod_rule_set_cache_find(uint64_t server, snowflake guild_id,
                                                     snowflake version)
{
    const struct cached_set asked = { .server = server, .guild_id = guild_id, .version = version };

    pthread_mutex_lock(&cached_sets.lock);
    const struct cached_set *c = cache_find(&cached_sets.sets, hash_u64(server) ^ guild_id, &asked);
    struct automod_rule_set *found = c ? automod_rule_set_ref(c->set) : NULL;
    pthread_mutex_unlock(&cached_sets.lock);
    return found;
}

void automod_rule_set_cache_insert(uint64_t server, snowflake guild_id, snowflake version,
                                   struct automod_rule_set *s)
{
    struct cached_set *c = mem_new(sizeof *c);

    *c = (struct cached_set){
        .server = server, .guild_id = guild_id, .version = version, .set = automod_rule_set_ref(s)
    };
    pthread_mutex_lock(&cached_sets.lock);
    cache_insert(&cached_sets.sets, hash_u64(server) ^ guild_id, 0, &c->entry);
    pthread_mutex_unlock(&cached_sets.lock);
}
