/* localizations.c - checks the locales and names of localized commands and options. */
#include "commands/form_errors.h"
#include "commands/internal.h"
#include "commands/command_names.h"

static __attribute__((noinline)) void report_invalid_locales(struct form *form,
                                                             const struct json_path *here,
                                                             struct str field,
                                                             const struct list *pairs)
{
    const struct string_pair *p = pairs->items;
    struct json_path dictionary = json_path_key(here, field);

    for (size_t i = 0; i < pairs->count; i++) {
        struct json_path at = json_path_key(&dictionary, p[i].key);

        if (!locale_get_bit(p[i].key))
            form_add_error(form, &at, FORM_CHOICES, "Value must be a locale.");
    }
}

/* Checks the locales quickly, because nearly all are valid. For an invalid locale,
 * report_invalid_locales adds the errors. */
void validate_localizations(struct form *form, const struct json_path *here, struct str field,
                            const struct opt_list *dictionary)
{
    if (!are_locales_supported(&dictionary->value))
        report_invalid_locales(form, here, field, &dictionary->value);
}

void validate_command_name(struct form *form, const struct json_path *at, struct str name)
{
    enum command_name_error fault = check_command_name(name);

    if (fault == NAME_CHARACTERS)
        form_add_error(form, at, FORM_REGEX);
    if (fault)
        form_add_error(form, at, FORM_BAD_NAME);
}
