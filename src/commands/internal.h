/* internal.h - what the files of commands/ share. */
#ifndef COMMANDS_INTERNAL_H
#define COMMANDS_INTERNAL_H

#include "commands/commands.h"

/* --- rows.c --------------------------------------------------------------------------- */

/* Rows of a target in a guild (struct command_permission), as they were supplied. */
enum err permissions_of(struct tx *tx, snowflake guild_id, snowflake target_id, struct list *ret);

/* What the columns hold that decide without the definition. */
struct command_row {
    snowflake id, application_id, guild_id, version;
    int64_t type;
    struct opt_id default_member_permissions;
    bool nsfw;
    unsigned contexts, integration_types;
    uint64_t locales;
    bool hidden;
    struct str definition, plain;
};

#endif
