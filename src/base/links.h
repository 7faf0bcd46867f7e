/* links.h - intrusive doubly linked list. */
#ifndef BASE_LINKS_H
#define BASE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct list_link {
    struct list_link *prev, *next;
};

/* The head of a list is a struct list_link. The head of an empty list points to itself. */
static inline void linked_list_init(struct list_link *list)
{
    list->prev = list->next = list;
}

static inline bool linked_list_is_empty(const struct list_link *list)
{
    return list->next == list;
}

static inline void linked_list_append(struct list_link *list, struct list_link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}

/* Removes l from its list. Does nothing if l is in no list (zeroed or already removed). */
static inline void linked_list_remove(struct list_link *l)
{
    if (!l->next)
        return;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = NULL;
}

#endif
