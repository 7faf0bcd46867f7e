/* world.h - creates accounts that other entries of an imported world file need. */
#ifndef PLATFORM_ACCOUNTS_WORLD_H
#define PLATFORM_ACCOUNTS_WORLD_H

#include "platform/worlds/import_export.h"

/* Inserts an account that counts as verified and has the locale en-US. */
enum err world_file_import_user(struct world_file_importer *im, snowflake id, struct str username,
                                bool bot);

#endif
