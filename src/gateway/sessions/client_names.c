/* client_names.c - interned "os|browser|device" strings of clients. */
#include "gateway/sessions/client_names.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

struct client_name {
    struct client_name *next; /* next name with the same hash */
    size_t sessions;
    char text[];
};

void client_name_table_init(struct client_name_table *all)
{
    map_init(&all->map);
}

void client_name_table_clear(struct client_name_table *all)
{
    size_t at = 0;

    for (struct client_name *n; (n = map_next_value(&all->map, &at));)
        while (n) {
            struct client_name *next = n->next;

            mem_free(n);
            n = next;
        }
    map_clear(&all->map);
}

static struct client_name *client_name_find(const struct client_name_table *all, uint64_t hash,
                                            const char *text)
{
    struct client_name *n = map_find_value(&all->map, hash);

    while (n && strcmp(n->text, text) != 0)
        n = n->next;
    return n;
}

const char *client_name_ref(struct client_name_table *all, const char *text)
{
    uint64_t hash = hash_str(str_of(text));
    struct client_name *n = client_name_find(all, hash, text);

    if (!n) {
        size_t size = strlen(text) + 1;

        n = mem_resize(NULL, sizeof *n + size);
        n->next = map_find_value(&all->map, hash);
        n->sessions = 0;
        memcpy(n->text, text, size);
        map_set_value(&all->map, hash, n);
    }
    n->sessions++;
    return n->text;
}

static void client_name_remove(struct client_name_table *all, uint64_t hash, struct client_name *n)
{
    struct client_name *before = map_find_value(&all->map, hash);

    if (before != n) {
        while (before->next != n)
            before = before->next;
        before->next = n->next;
    } else if (n->next) {
        map_set_value(&all->map, hash, n->next);
    } else {
        map_remove_value(&all->map, hash);
    }
    mem_free(n);
}

void client_name_unref(struct client_name_table *all, const char *text)
{
    uint64_t hash = hash_str(str_of(text));
    struct client_name *n = client_name_find(all, hash, text);

    assert(n && n->text == text); /* a name that has a reference is always in the map */
    if (--n->sessions == 0)
        client_name_remove(all, hash, n);
}
