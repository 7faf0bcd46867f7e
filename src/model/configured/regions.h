/* regions.h - voice regions that the operator configures. */
#ifndef MODEL_REGIONS_H
#define MODEL_REGIONS_H

#include "base/arena.h"
#include "model/fields/types.h"

struct voice_region {
    struct str id, name;
    bool optimal, deprecated, custom;
};

extern const struct type type_regions;

/* Sets the regions from a text such as "main:Main, eu:Europe". If the text is invalid, returns
 * false with the reason in *ret_problem. All voice_regions_configure functions are called before
 * the event loops start. */
bool voice_regions_configure(struct str list, const char **ret_problem);
/* Adds regions for guilds with the feature VIP_REGIONS. Called after voice_regions_configure. The
 * list may be empty. */
bool voice_regions_configure_vip(struct str list, const char **ret_problem);
/* Sets which region is best for clients of which network, from a text such as "10.0.0.0/8=eu,
 * 2001:db8::/32=us". Called after the other two configure functions. */
bool voice_regions_configure_client_networks(struct str list, const char **ret_problem);

/* Returns a list of struct voice_region, in the configured order. The optimal region is the one
 * that is configured for the client's network; if none is, the first region. */
struct list voice_regions_list_for_client(struct arena *arena, struct str address, bool vip);
bool voice_region_is_usable(struct str id, bool vip);
struct str voice_region_find_optimal(struct str address, bool vip);

/* Sets the voice endpoint: host and path, in which {region} stands for the region's id. NULL means
 * that there is no endpoint. Only the pointer is stored, so the text must stay valid. */
void voice_regions_set_endpoint_pattern(const char *pattern);
const char *voice_regions_get_endpoint_pattern(void);
struct str voice_region_fill_endpoint_pattern(struct arena *arena, struct str pattern,
                                              struct str id);
/* Returns the endpoint of a region; NULL pointer if no endpoint is configured. */
struct str voice_region_get_endpoint(struct arena *arena, struct str id);

#endif
