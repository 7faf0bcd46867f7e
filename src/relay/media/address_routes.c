/* address_routes.c - finds the worker that owns the participant at a network address. */
#include "relay/media/address_routes.h"

#include <pthread.h>

#include "base/map.h"
#include "base/mem.h"

struct address_route {
    unsigned worker;
    int64_t used_ms; /* when it was last set */
};

struct address_routes {
    pthread_mutex_t lock;
    struct map by_address[ADDRESS_KINDS]; /* struct address_route by hash of the address */
};

struct address_routes *address_routes_new(void)
{
    struct address_routes *routes = mem_new(sizeof *routes);

    pthread_mutex_init(&routes->lock, NULL);
    for (int i = 0; i < ADDRESS_KINDS; i++)
        map_init(&routes->by_address[i]);
    return routes;
}

void address_routes_free(struct address_routes *routes)
{
    if (!routes)
        return;
    for (int i = 0; i < ADDRESS_KINDS; i++) {
        size_t at = 0;

        for (struct address_route *route; (route = map_next_value(&routes->by_address[i], &at));)
            mem_free(route);
        map_clear(&routes->by_address[i]);
    }
    pthread_mutex_destroy(&routes->lock);
    mem_free(routes);
}

bool address_route_is_usable_by_worker(struct address_routes *routes, uint64_t key, unsigned worker,
                                       int64_t now_ms)
{
    pthread_mutex_lock(&routes->lock);
    const struct address_route *route = map_find_value(&routes->by_address[ADDRESS_BROWSER], key);
    bool is_free =
        !route || route->worker == worker || now_ms - route->used_ms >= ADDRESS_RESERVED_MS;
    pthread_mutex_unlock(&routes->lock);
    return is_free;
}

void address_route_set(struct address_routes *routes, enum address_kind kind, uint64_t key,
                       unsigned worker, int64_t now_ms)
{
    pthread_mutex_lock(&routes->lock);
    struct address_route *route = map_find_value(&routes->by_address[kind], key);
    if (!route) {
        route = mem_new(sizeof *route);
        map_set_value(&routes->by_address[kind], key, route);
    }
    *route = (struct address_route){ worker, now_ms };
    pthread_mutex_unlock(&routes->lock);
}

void address_route_clear(struct address_routes *routes, enum address_kind kind, uint64_t key,
                         unsigned worker)
{
    pthread_mutex_lock(&routes->lock);
    struct address_route *route = map_find_value(&routes->by_address[kind], key);
    if (route && route->worker == worker) {
        map_remove_value(&routes->by_address[kind], key);
        mem_free(route);
    }
    pthread_mutex_unlock(&routes->lock);
}

int address_route_find(struct address_routes *routes, enum address_kind kind, uint64_t key)
{
    pthread_mutex_lock(&routes->lock);
    const struct address_route *route = map_find_value(&routes->by_address[kind], key);
    int worker = route ? (int)route->worker : -1;
    pthread_mutex_unlock(&routes->lock);
    return worker;
}
