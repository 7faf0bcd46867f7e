/* names.h - checks the names of commands and options. */
#ifndef COMMANDS_NAMES_H
#define COMMANDS_NAMES_H

#include "base/str.h"

enum name_fault {
    NAME_FINE,
    NAME_CHARACTERS, /* too long, empty, or invalid characters */
    NAME_CASE,       /* contains upper-case letters */
};

/* Checks the name of a CHAT_INPUT command, entry point or option. Thread-safe. */
enum name_fault name_check(struct str name);

/* Returns true if the name of a USER or MESSAGE command is valid. The name must be trimmed. */
bool menu_name_holds(struct str name);

#endif
