/* body_budget.c - memory limit for request bodies. */
#include "net/http/body_budget.h"

#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    SHARES = 3,           /* limit per address or account: total / 3 */
    ANONYMOUS_SHARES = 5, /* limit for all unauthenticated clients: total / 5 */
};

struct body_budget {
    pthread_mutex_t lock;
    unsigned refs;
    size_t total, used, anonymous;
    struct map held; /* reserved bytes by owner key, stored as pointers */
};

struct body_budget *body_budget_new(size_t total)
{
    struct body_budget *b = mem_new(sizeof *b);

    pthread_mutex_init(&b->lock, NULL);
    b->refs = 1;
    b->total = total ? total : SIZE_MAX;
    map_init(&b->held);
    return b;
}

struct body_budget *body_budget_ref(struct body_budget *b)
{
    pthread_mutex_lock(&b->lock);
    b->refs++;
    pthread_mutex_unlock(&b->lock);
    return b;
}

void body_budget_unref(struct body_budget *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    bool last = --b->refs == 0;
    pthread_mutex_unlock(&b->lock);
    if (!last)
        return;
    map_clear(&b->held);
    pthread_mutex_destroy(&b->lock);
    mem_free(b);
}

size_t body_budget_share(const struct body_budget *b)
{
    return b->total == SIZE_MAX ? SIZE_MAX : b->total / SHARES;
}

size_t body_budget_used(struct body_budget *b)
{
    pthread_mutex_lock(&b->lock);
    size_t used = b->used;
    pthread_mutex_unlock(&b->lock);
    return used;
}

/* --- limits per owner ----------------------------------------------------------------- */

/* Returns a map key for an account id, salted so that it does not collide with address keys. */
static uint64_t account_key(uint64_t account)
{
    return hash_u64(account ^ 0x6163636f756e7473);
}

static bool body_budget_fits(const struct body_budget *b, uint64_t key, size_t n)
{
    return (uintptr_t)map_get(&b->held, key) + n <= body_budget_share(b);
}

static void add_held(struct body_budget *b, uint64_t key, size_t n)
{
    map_put(&b->held, key, (void *)((uintptr_t)map_get(&b->held, key) + n));
}

static void drop_held(struct body_budget *b, uint64_t key, size_t n)
{
    uintptr_t held = (uintptr_t)map_get(&b->held, key);

    if (held > n)
        map_put(&b->held, key, (void *)(held - n));
    else
        map_remove(&b->held, key);
}

bool body_budget_take(struct body_budget *b, const struct body_owner *who, size_t n)
{
    uint64_t account = account_key(who->account);

    pthread_mutex_lock(&b->lock);
    bool ok = n <= b->total - b->used && body_budget_fits(b, who->address, n) &&
              (who->account ? body_budget_fits(b, account, n)
                            : b->anonymous + n <= b->total / ANONYMOUS_SHARES);
    if (ok) {
        b->used += n;
        add_held(b, who->address, n);
        if (who->account)
            add_held(b, account, n);
        else
            b->anonymous += n;
    }
    pthread_mutex_unlock(&b->lock);
    return ok;
}

void body_budget_give(struct body_budget *b, const struct body_owner *who, size_t n)
{
    pthread_mutex_lock(&b->lock);
    b->used -= n;
    drop_held(b, who->address, n);
    if (who->account)
        drop_held(b, account_key(who->account), n);
    else
        b->anonymous -= n;
    pthread_mutex_unlock(&b->lock);
}
