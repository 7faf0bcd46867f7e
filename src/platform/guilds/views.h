/* views.h - between making views and keeping them. */
#ifndef PLATFORM_GUILDS_VIEWS_H
#define PLATFORM_GUILDS_VIEWS_H

#include <stdatomic.h>

#include "platform/guilds/view.h"

struct kept_view {
    struct guild_view view; /* first: a holder has only its address */
    atomic_uint holders;
    size_t slot; /* of its shard, while it is kept */
};

/* Keeps a view for others, unless its guild has changed since the moment. */
void views_keep(struct kept_view *k, uint64_t moment);

#endif
