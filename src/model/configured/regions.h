/* regions.h - the voice regions that the operator configures. */
#ifndef MODEL_REGIONS_H
#define MODEL_REGIONS_H

#include "base/arena.h"
#include "model/fields/types.h"

struct region {
    struct str id, name;
    bool optimal, deprecated, custom;
};

extern const struct type type_regions;

/* Sets the regions from the configuration, "main:Main, eu:Europe". False: *ret_problem has the
 * reason. All regions_set functions are called before the loops start. */
bool regions_set(struct str list, const char **ret_problem);
/* Regions only for guilds with the feature VIP_REGIONS; called after regions_set. May be empty. */
bool regions_set_vip(struct str list, const char **ret_problem);
/* The regions of client networks, "10.0.0.0/8=eu, 2001:db8::/32=us"; called after both. */
bool regions_set_near(struct str list, const char **ret_problem);

/* List of struct region, in the configured order. Optimal: that of the client's network, else the
 * first. */
struct list regions_for(struct arena *arena, struct str address, bool vip);
bool region_usable(struct str id, bool vip);
/* The id of the optimal region. */
struct str region_optimal(struct str address, bool vip);

/* The voice endpoint: host and path, in which {region} is replaced with the id. NULL: none. Not
 * copied. */
void regions_set_endpoint(const char *pattern);
const char *regions_endpoint(void);
/* Replaces {region} in a pattern with the id. */
struct str region_fill(struct arena *arena, struct str pattern, struct str id);
/* p == NULL: no endpoint is configured. */
struct str region_endpoint(struct arena *arena, struct str id);

#endif
