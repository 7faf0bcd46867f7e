/* check.c - validates command definitions. Reports all problems of a command at once. */
#include "base/utf8.h"
#include "commands/form.h"
#include "commands/internal.h"
#include "commands/names.h"

/* All permission bits that Discord defines are below this bit. */
#define RIGHTS_END (UINT64_C(1) << 54)

static bool is_menu(int64_t type)
{
    return type == COMMAND_USER || type == COMMAND_MESSAGE;
}

static void menu_name_check(struct form *form, const struct place *at, struct str name)
{
    struct str trimmed = utf8_trim(name);

    if (!trimmed.n)
        form_fail(form, at, FORM_BAD_LENGTH, 1LL, 32LL);
    else if (!menu_name_holds(trimmed))
        form_fail(form, at, FORM_BAD_NAME);
}

static bool name_is_fine(const struct command *k, struct str name)
{
    if (!is_menu(k->type))
        return !name_check(name);
    name = utf8_trim(name);
    return name.n && menu_name_holds(name);
}

/* Checks localized names. Discord reports an invalid one at the dictionary, not at its locale. */
static void names_check(struct form *form, const struct place *here, const struct command *k)
{
    const struct pair *p = k->name_localizations.value.items;
    struct place at = place_key(here, STR("name_localizations"));

    if (form_failed_at(form, &at))
        return;
    localizations_check(form, here, at.key, &k->name_localizations);
    for (size_t i = 0; i < k->name_localizations.value.count; i++) {
        if (!name_is_fine(k, p[i].value)) {
            form_fail(form, &at, FORM_BAD_NAME);
            return;
        }
    }
}

static void name_of_command_check(struct form *form, const struct place *here,
                                  const struct command *k)
{
    struct place at = place_key(here, STR("name"));

    if (form_failed_at(form, &at))
        return;
    if (is_menu(k->type))
        menu_name_check(form, &at, k->name);
    else
        name_rule_check(form, &at, k->name);
}

static void description_length_check(struct form *form, const struct place *at, struct str text)
{
    enum { LONGEST = 100 };

    if (!text.n || (text.n > LONGEST && utf8_length(text) > LONGEST))
        form_fail(form, at, FORM_BAD_LENGTH, 1LL, (long long)LONGEST);
}

static void description_check(struct form *form, const struct place *here, const struct command *k)
{
    const struct pair *p = k->description_localizations.value.items;
    struct place at = place_key(here, STR("description"));
    struct place all = place_key(here, STR("description_localizations"));

    if (!form_failed_at(form, &at)) {
        if (is_menu(k->type) && k->description.n)
            form_fail(form, &at, FORM_MENU_DESCRIPTION);
        else if (!is_menu(k->type) && !k->description.p)
            form_fail(form, &at, FORM_REQUIRED);
        else if (!is_menu(k->type))
            description_length_check(form, &at, k->description);
    }
    localizations_check(form, here, all.key, &k->description_localizations);
    for (size_t i = 0; i < k->description_localizations.value.count; i++) {
        struct place one = place_key(&all, p[i].key);

        if (form_failed_at(form, &one))
            continue;
        if (is_menu(k->type) && p[i].value.n)
            form_fail(form, &one, FORM_MENU_DESCRIPTION);
        else if (!is_menu(k->type))
            description_length_check(form, &one, p[i].value);
    }
}

static void options_of_command_check(struct form *form, const struct place *here,
                                     const struct command *k)
{
    struct place at = place_key(here, STR("options"));

    if (k->type == COMMAND_CHAT_INPUT)
        options_check(form, &at, &k->options.value, 0);
    else if (k->options.value.count)
        form_fail(form, &at, FORM_MENU_OPTIONS);
}

static void rights_check(struct form *form, const struct place *here, const struct command *k)
{
    struct place at = place_key(here, STR("default_member_permissions"));

    if (k->default_member_permissions.given == GIVEN &&
        k->default_member_permissions.value >= RIGHTS_END)
        form_fail(form, &at, FORM_NUMBER_MAX, (long long)(RIGHTS_END - 1));
}

/* Returns true if the body is so short that the command cannot exceed the size limit: a value never
 * has more characters than its JSON has bytes. */
static bool is_surely_small(const struct form *form)
{
    return form->text.bytes && form->text.bytes <= COMMAND_MOST_CHARACTERS;
}

void command_check(struct form *form, const struct place *here, const struct command *k)
{
    struct place type = place_key(here, STR("type"));

    if (form_failed_at(form, &type))
        return; /* the other checks depend on the type */
    name_of_command_check(form, here, k);
    names_check(form, here, k);
    description_check(form, here, k);
    options_of_command_check(form, here, k);
    rights_check(form, here, k);
    if (k->type == COMMAND_CHAT_INPUT && !is_surely_small(form) &&
        command_is_too_large(form->arena, k))
        form_fail(form, here, FORM_TOO_LARGE, COMMAND_MOST_CHARACTERS);
}
