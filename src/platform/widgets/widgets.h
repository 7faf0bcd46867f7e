/* widgets.h - public guild widgets: online members, voice channels and an invite, as JSON and as a
 * picture. Owns no table. May include invites/ and lower layers. Invariant: a disabled widget
 * reveals nothing. Start with routes.c. */
#ifndef PLATFORM_WIDGETS_WIDGETS_H
#define PLATFORM_WIDGETS_WIDGETS_H

#include "api/api.h"

extern const struct domain widgets_domain;
extern const struct world_file_fields widgets_world;

#endif
