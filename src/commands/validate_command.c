/* validate_command.c - validates command definitions. Adds all errors of a command to the form. */
#include "base/utf8.h"
#include "commands/form_errors.h"
#include "commands/internal.h"
#include "commands/command_names.h"

/* Upper limit of permission bits: all bits that Discord defines are below it. */
#define PERMISSIONS_END (UINT64_C(1) << 54)

static bool is_context_menu_type(int64_t type)
{
    return type == COMMAND_USER || type == COMMAND_MESSAGE;
}

static void validate_menu_name(struct form *form, const struct json_path *at, struct str name)
{
    struct str trimmed = utf8_trim(name);

    if (!trimmed.n)
        form_add_error(form, at, FORM_BAD_LENGTH, 1LL, 32LL);
    else if (!is_valid_menu_command_name(trimmed))
        form_add_error(form, at, FORM_BAD_NAME);
}

static bool is_valid_name_for_type(const struct command *k, struct str name)
{
    if (!is_context_menu_type(k->type))
        return !check_command_name(name);
    name = utf8_trim(name);
    return name.n && is_valid_menu_command_name(name);
}

/* Checks localized names. Discord reports an invalid name at the path of the dictionary, not at the
 * path of the locale. */
static void validate_localized_names(struct form *form, const struct json_path *here,
                                     const struct command *k)
{
    const struct string_pair *p = k->name_localizations.value.items;
    struct json_path at = json_path_key(here, STR("name_localizations"));

    if (form_has_error_at_path(form, &at))
        return;
    validate_localizations(form, here, at.key, &k->name_localizations);
    for (size_t i = 0; i < k->name_localizations.value.count; i++) {
        if (!is_valid_name_for_type(k, p[i].value)) {
            form_add_error(form, &at, FORM_BAD_NAME);
            return;
        }
    }
}

static void validate_name(struct form *form, const struct json_path *here, const struct command *k)
{
    struct json_path at = json_path_key(here, STR("name"));

    if (form_has_error_at_path(form, &at))
        return;
    if (is_context_menu_type(k->type))
        validate_menu_name(form, &at, k->name);
    else
        validate_command_name(form, &at, k->name);
}

static void validate_description_length(struct form *form, const struct json_path *at,
                                        struct str text)
{
    enum { LONGEST = 100 };

    if (!text.n || (text.n > LONGEST && utf8_length(text) > LONGEST))
        form_add_error(form, at, FORM_BAD_LENGTH, 1LL, (long long)LONGEST);
}

static void validate_descriptions(struct form *form, const struct json_path *here,
                                  const struct command *k)
{
    const struct string_pair *p = k->description_localizations.value.items;
    struct json_path at = json_path_key(here, STR("description"));
    struct json_path all = json_path_key(here, STR("description_localizations"));

    if (!form_has_error_at_path(form, &at)) {
        if (is_context_menu_type(k->type) && k->description.n)
            form_add_error(form, &at, FORM_MENU_DESCRIPTION);
        else if (!is_context_menu_type(k->type) && !k->description.p)
            form_add_error(form, &at, FORM_REQUIRED);
        else if (!is_context_menu_type(k->type))
            validate_description_length(form, &at, k->description);
    }
    validate_localizations(form, here, all.key, &k->description_localizations);
    for (size_t i = 0; i < k->description_localizations.value.count; i++) {
        struct json_path one = json_path_key(&all, p[i].key);

        if (form_has_error_at_path(form, &one))
            continue;
        if (is_context_menu_type(k->type) && p[i].value.n)
            form_add_error(form, &one, FORM_MENU_DESCRIPTION);
        else if (!is_context_menu_type(k->type))
            validate_description_length(form, &one, p[i].value);
    }
}

static void validate_options_of_command(struct form *form, const struct json_path *here,
                                        const struct command *k)
{
    struct json_path at = json_path_key(here, STR("options"));

    if (k->type == COMMAND_CHAT_INPUT)
        validate_command_options(form, &at, &k->options.value, 0);
    else if (k->options.value.count)
        form_add_error(form, &at, FORM_MENU_OPTIONS);
}

static void validate_default_permissions(struct form *form, const struct json_path *here,
                                         const struct command *k)
{
    struct json_path at = json_path_key(here, STR("default_member_permissions"));

    if (k->default_member_permissions.given == GIVEN &&
        k->default_member_permissions.value >= PERMISSIONS_END)
        form_add_error(form, &at, FORM_NUMBER_MAX, (long long)(PERMISSIONS_END - 1));
}

/* Returns whether the command cannot exceed the size limit, because the body is short: a text never
 * has more characters than bytes in JSON. */
static bool body_is_below_size_limit(const struct form *form)
{
    return form->text.bytes && form->text.bytes <= COMMAND_MAX_CHARACTERS;
}

void validate_command(struct form *form, const struct json_path *here, const struct command *k)
{
    struct json_path type = json_path_key(here, STR("type"));

    if (form_has_error_at_path(form, &type))
        return; /* all other checks need a valid type */
    validate_name(form, here, k);
    validate_localized_names(form, here, k);
    validate_descriptions(form, here, k);
    validate_options_of_command(form, here, k);
    validate_default_permissions(form, here, k);
    if (k->type == COMMAND_CHAT_INPUT && !body_is_below_size_limit(form) &&
        command_is_too_large(form->arena, k))
        form_add_error(form, here, FORM_TOO_LARGE, COMMAND_MAX_CHARACTERS);
}
