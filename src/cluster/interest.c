/* interest.c - the guilds and users that have sessions on this node (see interest.h). */
#include "cluster/interest.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

struct interest_part {
    unsigned keys; /* number of keys of this part */
    bool subscribed;
    /* Time since which the part has no keys, in ms; 0 if it has keys or the time is not set yet. */
    int64_t unused_since;
};

struct interest {
    interest_subscribe subscribe;
    void *arg;
    pthread_mutex_t lock;
    /* hash of a key -> number of times that the key was added and not removed */
    struct map counts;
    struct interest_part parts[LOG_PARTS];
};

struct interest *interest_set_new(interest_subscribe subscribe, void *arg)
{
    struct interest *i = mem_new(sizeof *i);

    i->subscribe = subscribe;
    i->arg = arg;
    map_init(&i->counts);
    pthread_mutex_init(&i->lock, NULL);
    return i;
}

void interest_set_free(struct interest *i)
{
    if (!i)
        return;
    map_clear(&i->counts);
    pthread_mutex_destroy(&i->lock);
    mem_free(i);
}

/* Returns how often the key is in use. The hash identifies the key, because different keys have
 * different hashes (hash_u64). */
static uintptr_t get_count_of_interest_key(const struct interest *i, uint64_t key)
{
    return (uintptr_t)map_find_value(&i->counts, hash_u64(key));
}

static void set_count_of_interest_key(struct interest *i, uint64_t key, uintptr_t count)
{
    if (count)
        map_set_value(&i->counts, hash_u64(key), (void *)count);
    else
        map_remove_value(&i->counts, hash_u64(key));
}

void interest_set_add_guild_or_user(struct interest *i, uint64_t key)
{
    struct interest_part *p = &i->parts[log_address_get_nats_part_of_key(key)];

    pthread_mutex_lock(&i->lock);
    uintptr_t count = get_count_of_interest_key(i, key);
    set_count_of_interest_key(i, key, count + 1);
    p->keys += !count;
    p->unused_since = 0;
    if (!p->subscribed) {
        p->subscribed = true;
        i->subscribe(i->arg, log_address_get_nats_part_of_key(key), true);
    }
    pthread_mutex_unlock(&i->lock);
}

void interest_set_remove_guild_or_user(struct interest *i, uint64_t key)
{
    pthread_mutex_lock(&i->lock);
    uintptr_t count = get_count_of_interest_key(i, key);
    if (count) {
        set_count_of_interest_key(i, key, count - 1);
        i->parts[log_address_get_nats_part_of_key(key)].keys -= count == 1;
    }
    pthread_mutex_unlock(&i->lock);
}

bool interest_set_matches_log_address(struct interest *i, const struct log_entry_address *a)
{
    bool found = false;

    pthread_mutex_lock(&i->lock);
    for (unsigned k = 0; k < a->count && !found; k++)
        found = get_count_of_interest_key(i, a->keys[k]);
    pthread_mutex_unlock(&i->lock);
    return found;
}

void interest_set_copy_nats_parts(struct interest *i, unsigned char ret[LOG_PARTS / 8])
{
    memset(ret, 0, LOG_PARTS / 8);
    pthread_mutex_lock(&i->lock);
    for (unsigned part = 0; part < LOG_PARTS; part++)
        if (i->parts[part].keys)
            ret[part / 8] |= (unsigned char)(1 << part % 8);
    pthread_mutex_unlock(&i->lock);
}

static void end_subscription_if_unused(struct interest *i, unsigned part, int64_t now_ms)
{
    struct interest_part *p = &i->parts[part];

    if (!p->subscribed || p->keys)
        return;
    if (!p->unused_since) {
        p->unused_since = now_ms;
    } else if (now_ms - p->unused_since >= INTEREST_KEEP_MS) {
        p->subscribed = false;
        p->unused_since = 0;
        i->subscribe(i->arg, part, false);
    }
}

void interest_set_end_unused_subscriptions(struct interest *i, int64_t now_ms)
{
    pthread_mutex_lock(&i->lock);
    for (unsigned part = 0; part < LOG_PARTS; part++)
        end_subscription_if_unused(i, part, now_ms);
    pthread_mutex_unlock(&i->lock);
}
