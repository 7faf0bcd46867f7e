/* index.h - which commands an account can use, as the server's index tells it. */
#ifndef TOOLS_INVOKE_INDEX_H
#define TOOLS_INVOKE_INDEX_H

#include "tools/invoke/invoke.h"

/* Names may be in the reader's language; calls want the original. */
struct known_choice {
    struct str name, value; /* value: JSON */
    struct opt_str name_default;
};
struct known_option {
    int64_t type;
    struct str name;
    struct opt_str name_default;
    struct opt_list choices; /* struct known_choice */
    struct opt_list options; /* struct known_option */
};
struct known_command {
    snowflake id, application_id, version;
    int64_t type;
    struct str name;
    struct opt_str name_default;
    struct opt_id guild_id;
    struct opt_list options;
};

/* The command of this name that can be used where we are; one of the types in the set of
 * bits, the lowest first. NULL after having said why there is none. */
const struct known_command *index_find(struct invoke_run *v, struct str name, unsigned types);

struct str original_name(struct str name, struct opt_str name_default);
bool is_named(struct str name, struct opt_str name_default, struct str text);

#endif
