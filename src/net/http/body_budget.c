/* body_budget.c - memory limit for request bodies. */
#include "net/http/body_budget.h"

#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    OWNER_LIMIT_DIVISOR = 3,     /* limit per address and per account: the total limit divided by
                                  * this */
    ANONYMOUS_LIMIT_DIVISOR = 5, /* limit for all unauthenticated clients together: the total limit
                                  * divided by this */
};

struct body_budget {
    pthread_mutex_t lock;
    unsigned refs;
    size_t total, used, anonymous;
    struct map reserved; /* reserved bytes by address or account key; the map's values are numbers
                          * cast to pointers */
};

struct body_budget *body_budget_new(size_t total)
{
    struct body_budget *b = mem_new(sizeof *b);

    pthread_mutex_init(&b->lock, NULL);
    b->refs = 1;
    b->total = total ? total : SIZE_MAX;
    map_init(&b->reserved);
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
    map_clear(&b->reserved);
    pthread_mutex_destroy(&b->lock);
    mem_free(b);
}

size_t body_budget_limit_per_owner(const struct body_budget *b)
{
    return b->total == SIZE_MAX ? SIZE_MAX : b->total / OWNER_LIMIT_DIVISOR;
}

size_t body_budget_get_reserved_bytes(struct body_budget *b)
{
    pthread_mutex_lock(&b->lock);
    size_t used = b->used;
    pthread_mutex_unlock(&b->lock);
    return used;
}

/* Returns the map key of an account id. A salt prevents collisions with the keys of addresses. */
static uint64_t account_map_key(uint64_t account)
{
    return hash_u64(account ^ 0x6163636f756e7473);
}

static bool bytes_fit_owner_limit(const struct body_budget *b, uint64_t key, size_t n)
{
    return (uintptr_t)map_find_value(&b->reserved, key) + n <= body_budget_limit_per_owner(b);
}

static void add_reserved_bytes(struct body_budget *b, uint64_t key, size_t n)
{
    map_set_value(&b->reserved, key, (void *)((uintptr_t)map_find_value(&b->reserved, key) + n));
}

static void subtract_reserved_bytes(struct body_budget *b, uint64_t key, size_t n)
{
    uintptr_t reserved = (uintptr_t)map_find_value(&b->reserved, key);

    if (reserved > n)
        map_set_value(&b->reserved, key, (void *)(reserved - n));
    else
        map_remove_value(&b->reserved, key);
}

bool body_budget_reserve(struct body_budget *b, const struct body_budget_owner *owner, size_t n)
{
    uint64_t account = account_map_key(owner->account);

    pthread_mutex_lock(&b->lock);
    bool ok = n <= b->total - b->used && bytes_fit_owner_limit(b, owner->address, n) &&
              (owner->account ? bytes_fit_owner_limit(b, account, n)
                              : b->anonymous + n <= b->total / ANONYMOUS_LIMIT_DIVISOR);
    if (ok) {
        b->used += n;
        add_reserved_bytes(b, owner->address, n);
        if (owner->account)
            add_reserved_bytes(b, account, n);
        else
            b->anonymous += n;
    }
    pthread_mutex_unlock(&b->lock);
    return ok;
}

void body_budget_release(struct body_budget *b, const struct body_budget_owner *owner, size_t n)
{
    pthread_mutex_lock(&b->lock);
    b->used -= n;
    subtract_reserved_bytes(b, owner->address, n);
    if (owner->account)
        subtract_reserved_bytes(b, account_map_key(owner->account), n);
    else
        b->anonymous -= n;
    pthread_mutex_unlock(&b->lock);
}
