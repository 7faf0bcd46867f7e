/* regions.h - where voice can be hosted, as the operator configured it. */
#ifndef MODEL_REGIONS_H
#define MODEL_REGIONS_H

#include "base/arena.h"
#include "model/types.h"

struct region {
    struct str id, name;
    bool optimal, deprecated, custom;
};

extern const struct type type_regions;

/* Sets the regions from the operator's words, "main:Main, eu:Europe"; the first is
 * the optimal one. False with *ret_problem when they make no sense. Before loops
 * start. */
bool regions_set(struct str list, const char **ret_problem);

struct list regions_list(void); /* struct region */
bool region_exists(struct str id);

/* Where voice of a region is: the operator's host and path, in which {region} stands for
 * the id. NULL: nowhere. It must outlive all else. */
void regions_set_endpoint(const char *pattern);
/* p == NULL: nowhere. */
struct str region_endpoint(struct arena *arena, struct str id);

#endif
