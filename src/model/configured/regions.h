/* regions.h - voice regions that the operator configures. */
#ifndef MODEL_REGIONS_H
#define MODEL_REGIONS_H

#include "base/arena.h"
#include "model/fields/types.h"

struct region {
    struct str id, name;
    bool optimal, deprecated, custom;
};

extern const struct type type_regions;

/* Sets the regions from the configuration, "main:Main, eu:Europe". Returns false with the reason in
 * *ret_problem. All regions_set functions are called before the loops start. */
bool regions_set(struct str list, const char **ret_problem);
/* Adds regions for guilds with VIP_REGIONS; called after regions_set. The list may be empty. */
bool regions_set_vip(struct str list, const char **ret_problem);
/* Sets regions of client networks, "10.0.0.0/8=eu, 2001:db8::/32=us"; called last. */
bool regions_set_near(struct str list, const char **ret_problem);

/* Returns a list of struct region, in the configured order. The optimal region is that of the
 * client's network, otherwise the first. */
struct list regions_for(struct arena *arena, struct str address, bool vip);
bool region_usable(struct str id, bool vip);
struct str region_optimal(struct str address, bool vip);

/* Sets the voice endpoint: host and path, in which {region} stands for the region's id. NULL: none.
 * The text is not copied. */
void regions_set_endpoint(const char *pattern);
const char *regions_endpoint(void);
struct str region_fill(struct arena *arena, struct str pattern, struct str id);
/* Returns the endpoint of a region; p == NULL: no endpoint is configured. */
struct str region_endpoint(struct arena *arena, struct str id);

#endif
