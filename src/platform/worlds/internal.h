/* internal.h - what the files of worlds/ share. */
#ifndef PLATFORM_WORLDS_INTERNAL_H
#define PLATFORM_WORLDS_INTERNAL_H

#include "json/schema.h"
#include "model/application.h"
#include "model/rows.h"
#include "platform/worlds/file/file.h"
#include "platform/worlds/guilds/guilds.h"
#include "platform/worlds/worlds.h"

/* --- tokens.c ------------------------------------------------------------------------- */

enum err world_issue_token(struct importing *im, struct str username, const struct opt_str *chosen,
                           const struct place *up);

#endif
