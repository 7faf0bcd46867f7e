/* command_names.h - checks the names of commands and options. */
#ifndef COMMANDS_COMMAND_NAMES_H
#define COMMANDS_COMMAND_NAMES_H

#include "base/str.h"

enum command_name_error {
    NAME_FINE,
    NAME_CHARACTERS, /* too long, empty, or invalid characters */
    NAME_CASE,       /* contains upper-case letters */
};

/* Checks the name of a CHAT_INPUT command, entry point or option. Thread-safe. */
enum command_name_error check_command_name(struct str name);

/* Returns true if a trimmed name is valid for a USER or MESSAGE command. */
bool is_valid_menu_command_name(struct str name);

#endif
