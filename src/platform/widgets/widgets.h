/* widgets.h - what a guild shows on other people's pages: who is there, where one can talk, and an
 * invite; as JSON and as a picture. */
#ifndef PLATFORM_WIDGETS_WIDGETS_H
#define PLATFORM_WIDGETS_WIDGETS_H

#include "api/api.h"

extern const struct domain widgets_domain;
extern const struct world_parts widgets_world;

#endif
