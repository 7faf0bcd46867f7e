/* form_errors.h - error codes and messages of invalid command definitions and permissions. */
#ifndef COMMANDS_FORM_ERRORS_H
#define COMMANDS_FORM_ERRORS_H

#include "json/form.h"

#define FORM_BAD_NAME "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"
#define FORM_DUPLICATE_COMMAND \
    "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"
#define FORM_TOO_LARGE "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (%d)"
#define FORM_TOO_MANY_BYTES \
    "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (%d bytes in all languages)"
#define FORM_ALL_TOO_LARGE \
    "APPLICATION_COMMAND_TOO_LARGE", "All commands here together exceed maximum size (%d bytes)"
#define FORM_MENU_DESCRIPTION                               \
    "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID", \
        "Context menu commands cannot have description"
#define FORM_MENU_OPTIONS \
    "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_INVALID", "Context menu commands cannot have options"
#define FORM_INSTALL_TYPE                           \
    "APPLICATION_COMMAND_INTEGRATION_TYPE_INVALID", \
        "Installation context is not supported by the application"

#define FORM_OPTION_TYPE  \
    "UNION_TYPE_CHOICES", \
        "Value of field \"type\" must be one of (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)."
#define FORM_MISPLACED_REQUIRED                     \
    "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", \
        "Required options must be placed before non-required options"
#define FORM_MIXED_OPTIONS                                                                        \
    "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types " \
                                                "are mutually exclusive to all other types"
#define FORM_OPTION_NAME_TAKEN \
    "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option name %.*s is already used in these options"
#define FORM_REQUIRED_INVALID \
    "APPLICATION_COMMAND_REQUIRED_INVALID", "Required cannot be configured for this type of option"
#define FORM_AUTOCOMPLETE_INVALID               \
    "APPLICATION_COMMAND_AUTOCOMPLETE_INVALID", \
        "Autocomplete cannot be configured for this type of option"
#define FORM_CHOICES_INVALID \
    "APPLICATION_COMMAND_OPTIONS_CHOICES_INVALID", "Choices cannot be configured for this option"
#define FORM_RANGE_INVALID \
    "APPLICATION_COMMAND_OPTIONS_RANGE_INVALID", "Minimum must not exceed maximum"

#define FORM_ROW_TWICE \
    "APPLICATION_COMMAND_PERMISSIONS_DUPLICATE", "An entity can have one permission only"
#define FORM_ROW_TARGET \
    "APPLICATION_COMMAND_PERMISSIONS_TARGET_INVALID", "Unknown role, user or channel of this guild"
#define FORM_ROW_LIMIT \
    "APPLICATION_COMMAND_PERMISSIONS_LIMIT", "At most 10 permissions can be added at once"

#endif
