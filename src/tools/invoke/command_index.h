/* command_index.h - finds a command in the server's command indexes. */
#ifndef TOOLS_INVOKE_COMMAND_INDEX_H
#define TOOLS_INVOKE_COMMAND_INDEX_H

#include "tools/invoke/invoke.h"

/* A choice of an option. `name` may be localized, but requests need the original name. */
struct choice_from_command_index {
    struct str name, value; /* value: JSON */
    struct opt_str name_default;
};
struct option_from_command_index {
    int64_t type;
    struct str name;
    struct opt_str name_default;
    struct opt_list choices; /* struct choice_from_command_index */
    struct opt_list options; /* struct option_from_command_index */
};
struct command_from_command_index {
    snowflake id, application_id, version;
    int64_t type;
    struct str name;
    struct opt_str name_default;
    struct opt_id guild_id;
    struct opt_list options;
};

/* Finds the usable command with this name. `types` is a bit set of command types; the lowest type
 * is preferred. Prints an error and returns NULL if there is none. */
const struct command_from_command_index *find_command_in_command_index(
    struct invoke_command_state *v, struct str name, unsigned types);

struct str choose_original_name(struct str name, struct opt_str name_default);
bool text_is_original_or_localized_name(struct str name, struct opt_str name_default,
                                        struct str text);

#endif
