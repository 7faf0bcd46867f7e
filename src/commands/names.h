/* names.h - what commands and options may be called. */
#ifndef COMMANDS_NAMES_H
#define COMMANDS_NAMES_H

#include "base/str.h"

enum name_fault {
    NAME_FINE,
    NAME_CHARACTERS, /* too long, empty, or with characters that no name has */
    NAME_CASE,       /* with letters that have a lower case, which was not used */
};

/* The rule of CHAT_INPUT commands, entry points and options. Any thread. */
enum name_fault name_check(struct str name);

/* The rule of USER and MESSAGE commands, for a name without white space around it. */
bool menu_name_holds(struct str name);

#endif
