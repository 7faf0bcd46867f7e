/* templates.h - how a guild is arranged, kept under a code, to found other guilds after.
 *
 * A template is a guild's settings, roles and channels at one moment (source.c), packed into one
 * column. A guild may have fifty thousand overwrites, so a template is read and packed outside of
 * the transaction that keeps it, and a guild that is founded after one is written in steps
 * (use.c). Begin with routes.c. */
#ifndef PLATFORM_TEMPLATES_TEMPLATES_H
#define PLATFORM_TEMPLATES_TEMPLATES_H

#include "platform/guilds/guilds.h"

extern const struct domain templates_domain;

#endif
