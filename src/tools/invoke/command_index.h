/* command_index.h - finds a command in the server's command indexes. */
#ifndef TOOLS_INVOKE_COMMAND_INDEX_H
#define TOOLS_INVOKE_COMMAND_INDEX_H

#include "tools/invoke/invoke.h"

/* A choice of an option. `name` may be localized, but requests need the original name. */
struct indexed_choice {
    struct str name, value; /* value: JSON */
    struct opt_str name_default;
};
struct indexed_option {
    int64_t type;
    struct str name;
    struct opt_str name_default;
    struct opt_list choices; /* struct indexed_choice */
    struct opt_list options; /* struct indexed_option */
};
struct indexed_command {
    snowflake id, application_id, version;
    int64_t type;
    struct str name;
    struct opt_str name_default;
    struct opt_id guild_id;
    struct opt_list options;
};

/* Finds the usable command with this name. `types` is a bit set of command types; the lowest type
 * is preferred. Prints an error and returns NULL if there is none. */
const struct indexed_command *find_indexed_command(struct invoke_command_state *v, struct str name,
                                                   unsigned types);

struct str choose_unlocalized_name(struct str name, struct opt_str name_default);
bool matches_localized_name(struct str name, struct opt_str name_default, struct str text);

#endif
