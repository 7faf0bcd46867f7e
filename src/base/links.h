/* links.h - intrusive doubly linked list. */
#ifndef BASE_LINKS_H
#define BASE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *prev, *next;
};

/* The head of a list is a struct link. The head of an empty list points to itself. */
static inline void links_init(struct link *list)
{
    list->prev = list->next = list;
}

static inline bool links_are_empty(const struct link *list)
{
    return list->next == list;
}

static inline void links_append(struct link *list, struct link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}

/* Removes l from its list. Does nothing if l is in no list (zeroed or already removed). */
static inline void link_remove(struct link *l)
{
    if (!l->next)
        return;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = NULL;
}

#endif
