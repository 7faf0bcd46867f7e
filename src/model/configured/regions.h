/* regions.h - where voice can be hosted, as the operator configured it. */
#ifndef MODEL_REGIONS_H
#define MODEL_REGIONS_H

#include "base/arena.h"
#include "model/fields/types.h"

struct region {
    struct str id, name;
    bool optimal, deprecated, custom;
};

extern const struct type type_regions;

/* Sets the regions from the operator's words, "main:Main, eu:Europe". False with
 * *ret_problem when they make no sense. All of this before loops start. */
bool regions_set(struct str list, const char **ret_problem);
/* More of them, for guilds with VIP_REGIONS alone; after regions_set. May be none. */
bool regions_set_vip(struct str list, const char **ret_problem);
/* Which region is near to which clients, "10.0.0.0/8=eu, 2001:db8::/32=us"; after both. */
bool regions_set_near(struct str list, const char **ret_problem);

/* struct region, in the operator's order. The optimal one is the nearest to the address,
 * else the first. */
struct list regions_for(struct arena *arena, struct str address, bool vip);
bool region_usable(struct str id, bool vip);
/* The optimal one alone. */
struct str region_optimal(struct str address, bool vip);

/* Where voice of a region is: the operator's host and path, in which {region} stands for
 * the id. NULL: nowhere. It must outlive all else. */
void regions_set_endpoint(const char *pattern);
const char *regions_endpoint(void);
/* Such a pattern with the id in its place. */
struct str region_fill(struct arena *arena, struct str pattern, struct str id);
/* p == NULL: nowhere. */
struct str region_endpoint(struct arena *arena, struct str id);

#endif
