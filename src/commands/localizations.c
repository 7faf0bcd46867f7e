/* localizations.c - checks locales and names, for commands and options. */
#include "commands/form.h"
#include "commands/internal.h"
#include "commands/names.h"

static __attribute__((noinline)) void refuse_locales(struct form *form, const struct place *here,
                                                     struct str field, const struct list *pairs)
{
    const struct pair *p = pairs->items;
    struct place dictionary = place_key(here, field);

    for (size_t i = 0; i < pairs->count; i++) {
        struct place at = place_key(&dictionary, p[i].key);

        if (!locale_bit(p[i].key))
            form_fail(form, &at, FORM_CHOICES, "Value must be a locale.");
    }
}

/* Checks the locales, which are nearly always valid; refuse_locales finds the invalid one. */
void localizations_check(struct form *form, const struct place *here, struct str field,
                         const struct opt_list *dictionary)
{
    if (!locales_are_known(&dictionary->value))
        refuse_locales(form, here, field, &dictionary->value);
}

void name_rule_check(struct form *form, const struct place *at, struct str name)
{
    enum name_fault fault = name_check(name);

    if (fault == NAME_CHARACTERS)
        form_fail(form, at, FORM_REGEX);
    if (fault)
        form_fail(form, at, FORM_BAD_NAME);
}
