/* options_check.c - validates the options of a command, each alone and among its siblings. */
#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "commands/form.h"
#include "commands/internal.h"
#include "commands/names.h"
#include "json/read.h"
#include "json/scan.h"

static const int64_t SAFE_INT = 1LL << 53;
enum { LONGEST_VALUE = 100 };

static bool is_parent(int64_t type)
{
    return type == OPTION_SUB_COMMAND || type == OPTION_SUB_COMMAND_GROUP;
}

/* Returns true for option types that support choices and autocomplete. */
static bool is_choosable(int64_t type)
{
    return type == OPTION_STRING || type == OPTION_INTEGER || type == OPTION_NUMBER;
}

/* Returns true for integers; doubles of magnitude 2^53 or more always are. */
static bool is_whole(double d)
{
    return d >= 0x1p53 || d <= -0x1p53 || d == (double)(int64_t)d;
}

static bool is_true(struct opt_bool b)
{
    return b.given == GIVEN && b.value;
}

/* --- choices -------------------------------------------------------------------------- */

/* Fast path: a string without escapes has no more characters than bytes. */
static inline bool text_is_surely_fine(const struct form *form, struct str json)
{
    return json.n && json.p[0] == '"' && json.n <= LONGEST_VALUE &&
           (form->text.plain || !scan_has(json, '\\'));
}

static void text_check(struct form *form, const struct place *at, const struct command_choice *c)
{
    struct str text;

    if (c->value.p[0] != '"') {
        form_fail(form, at, FORM_NOT_STRING, STR_FMT(form_quote(c->value)));
        return;
    }
    text = choice_text(form->arena, c);
    if (text.n > LONGEST_VALUE && utf8_length(text) > LONGEST_VALUE)
        form_fail(form, at, FORM_MAX_LENGTH, (long long)LONGEST_VALUE);
    else if (memchr(text.p, '\0', text.n))
        form_fail(form, at, FORM_REGEX);
}

static void number_check(struct form *form, const struct place *at, const struct command_choice *c,
                         bool whole)
{
    struct json_reader r;
    struct json_number n;

    json_reader_init(&r, c->value, form->arena);
    bool number = json_peek(&r) == JSON_NUMBER && json_take_number(&r, &n) && isfinite(n.d);
    if (!number && !whole)
        form_fail(form, at, FORM_NOT_FLOAT, STR_FMT(form_quote(choice_text(form->arena, c))));
    else if (!number || (whole && !is_whole(n.d)))
        form_fail(form, at, FORM_NOT_INT, STR_FMT(form_quote(choice_text(form->arena, c))));
    else if (n.d < (double)-SAFE_INT || (n.kind == NUMBER_INT && n.i < -SAFE_INT))
        form_fail(form, at, FORM_NUMBER_MIN, (long long)-SAFE_INT);
    else if (n.d > (double)SAFE_INT || (n.kind == NUMBER_INT && n.i > SAFE_INT))
        form_fail(form, at, FORM_NUMBER_MAX, (long long)SAFE_INT);
}

static __attribute__((noinline)) void value_check(struct form *form, const struct place *here,
                                                  int64_t type, const struct command_choice *c)
{
    struct place at = place_key(here, STR("value"));

    if (type == OPTION_STRING)
        text_check(form, &at, c);
    else
        number_check(form, &at, c, type == OPTION_INTEGER);
}

static void choice_check(struct form *form, const struct place *here, int64_t type,
                         const struct command_choice *c)
{
    localizations_check(form, here, STR("name_localizations"), &c->name_localizations);
    if (!c->value.n)
        return; /* missing: already reported */
    if (type != OPTION_STRING || !text_is_surely_fine(form, c->value))
        value_check(form, here, type, c);
}

/* Fast path for valid choices, which nearly all are; choices_check finds the invalid one. */
static bool choices_are_surely_fine(const struct form *form, const struct command_option *o)
{
    const struct command_choice *c = o->choices.value.items;

    if (o->type != OPTION_STRING || is_true(o->autocomplete))
        return false;
    for (size_t i = 0; i < o->choices.value.count; i++)
        if (!text_is_surely_fine(form, c[i].value) ||
            !locales_are_known(&c[i].name_localizations.value))
            return false;
    return true;
}

static __attribute__((noinline)) void choices_check(struct form *form, const struct place *here,
                                                    const struct command_option *o)
{
    const struct command_choice *c = o->choices.value.items;
    struct place at = place_key(here, STR("choices"));

    if (!is_choosable(o->type) || is_true(o->autocomplete)) {
        form_fail(form, &at, FORM_CHOICES_INVALID);
        return;
    }
    for (size_t i = 0; i < o->choices.value.count; i++) {
        struct place one = place_index(&at, i);

        choice_check(form, &one, o->type, &c[i]);
    }
}

/* --- one option ----------------------------------------------------------------------- */

static void whole_check(struct form *form, const struct place *here, struct str field,
                        const struct opt_real *number)
{
    struct place at = place_key(here, field);

    if (number->given == GIVEN && !is_whole(number->value))
        form_fail(form, &at, "NUMBER_TYPE_COERCE", "Value \"%g\" is not int.", number->value);
}

static bool has_range(const struct command_option *o)
{
    return o->min_value.given | o->max_value.given | o->min_length.given | o->max_length.given;
}

static __attribute__((noinline)) void range_check(struct form *form, const struct place *here,
                                                  const struct command_option *o)
{
    struct place value = place_key(here, STR("min_value"));
    struct place length = place_key(here, STR("min_length"));
    bool number = o->type == OPTION_INTEGER || o->type == OPTION_NUMBER;

    if (o->type == OPTION_INTEGER) {
        whole_check(form, here, STR("min_value"), &o->min_value);
        whole_check(form, here, STR("max_value"), &o->max_value);
    }
    if (number && o->min_value.given == GIVEN && o->max_value.given == GIVEN &&
        o->min_value.value > o->max_value.value)
        form_fail(form, &value, FORM_RANGE_INVALID);
    if (o->type == OPTION_STRING && o->min_length.given == GIVEN && o->max_length.given == GIVEN &&
        o->min_length.value > o->max_length.value)
        form_fail(form, &length, FORM_RANGE_INVALID);
}

static bool words_are_fine(const struct command_option *o)
{
    const struct list *names = &o->name_localizations.value;
    const struct pair *p = names->items;

    if (name_check(o->name) || !locales_are_known(names) ||
        !locales_are_known(&o->description_localizations.value))
        return false;
    for (size_t i = 0; i < names->count; i++)
        if (name_check(p[i].value))
            return false;
    return true;
}

/* Checks the names of an option. Discord reports an invalid localized option name at its locale,
 * unlike that of a command. */
static __attribute__((noinline)) void words_check(struct form *form, const struct place *here,
                                                  const struct command_option *o)
{
    const struct pair *p = o->name_localizations.value.items;
    struct place name = place_key(here, STR("name"));
    struct place names = place_key(here, STR("name_localizations"));

    if (!form_failed_at(form, &name))
        name_rule_check(form, &name, o->name);
    localizations_check(form, here, names.key, &o->name_localizations);
    localizations_check(form, here, STR("description_localizations"),
                        &o->description_localizations);
    for (size_t i = 0; i < o->name_localizations.value.count; i++) {
        struct place one = place_key(&names, p[i].key);

        if (!form_failed_at(form, &one))
            name_rule_check(form, &one, p[i].value);
    }
}

/* Checks `required` and `autocomplete`, which some option types do not support. */
static __attribute__((noinline)) void flags_check(struct form *form, const struct place *here,
                                                  const struct command_option *o)
{
    struct place required = place_key(here, STR("required"));
    struct place autocomplete = place_key(here, STR("autocomplete"));

    if (is_parent(o->type) && is_true(o->required))
        form_fail(form, &required, FORM_REQUIRED_INVALID);
    if (!is_choosable(o->type) && is_true(o->autocomplete))
        form_fail(form, &autocomplete, FORM_AUTOCOMPLETE_INVALID);
}

static __attribute__((noinline)) void inner_options_check(struct form *form,
                                                          const struct place *here,
                                                          const struct command_option *o)
{
    struct place options = place_key(here, STR("options"));

    options_check(form, &options, &o->options.value, o->type);
}

/* Checks one option. Builds error paths only for checks that may fail, because most options need
 * none. */
static void option_check(struct form *form, const struct place *here,
                         const struct command_option *o)
{
    if (form_failed(form) || !words_are_fine(o))
        words_check(form, here, o);
    if (is_true(o->autocomplete) || (is_parent(o->type) && is_true(o->required)))
        flags_check(form, here, o);
    if (o->choices.value.count && !choices_are_surely_fine(form, o))
        choices_check(form, here, o);
    if (has_range(o))
        range_check(form, here, o);
    if (is_parent(o->type))
        inner_options_check(form, here, o);
}

/* --- siblings ------------------------------------------------------------------------- */

/* Returns true if the option may be in this list: groups contain sub-commands, sub-commands contain
 * values, and a command contains either, depending on its first option. */
static bool has_place(const struct command_option *o, size_t index, int64_t inside)
{
    if (inside == OPTION_SUB_COMMAND_GROUP)
        return o[index].type == OPTION_SUB_COMMAND;
    if (inside == OPTION_SUB_COMMAND)
        return !is_parent(o[index].type);
    return is_parent(o[index].type) == is_parent(o[0].type);
}

/* Returns true if the item was not a JSON object, which is already reported. */
static bool is_nothing(const struct command_option *o)
{
    return !o->type && !o->name.p && !o->description.p;
}

static __attribute__((noinline)) bool type_has_failed(const struct form *form,
                                                      const struct place *at,
                                                      const struct command_option *o)
{
    struct place type = place_key(at, STR("type"));

    return form_failed_at(form, &type) || (is_nothing(o) && form_failed_at(form, at));
}

static bool type_is_known(int64_t type)
{
    return type >= OPTION_SUB_COMMAND && type <= OPTION_ATTACHMENT;
}

/* Fields that apply to some option types only. */
static const struct {
    const char *field;
    int64_t types[2];
} particular[] = {
    { "min_value", { OPTION_INTEGER, OPTION_NUMBER } },
    { "max_value", { OPTION_INTEGER, OPTION_NUMBER } },
    { "min_length", { OPTION_STRING } },
    { "max_length", { OPTION_STRING } },
    { "channel_types", { OPTION_CHANNEL } },
    { "file_types", { OPTION_ATTACHMENT } },
};

void options_forget_foreign(struct form *form, const struct place *here, const struct list *options)
{
    const struct command_option *o = options->items;

    for (size_t i = 0; form_failed(form) && i < options->count; i++) {
        struct place at = place_index(here, i), inner = place_key(&at, STR("options"));

        for (size_t n = 0; n < COUNT_OF(particular) && type_is_known(o[i].type); n++) {
            struct place field = place_key(&at, str_of(particular[n].field));

            if (o[i].type != particular[n].types[0] && o[i].type != particular[n].types[1])
                form_forget(form, &field);
        }
        options_forget_foreign(form, &inner, &o[i].options.value);
    }
}

void options_check(struct form *form, const struct place *here, const struct list *options,
                   int64_t inside)
{
    const struct command_option *o = options->items;
    const uint64_t *words = option_words(form->arena, options);
    struct place at = place_index(here, 0);
    bool optional = false, mixed = false;

    for (size_t i = 0; i < options->count; i++) {
        at.index = i;
        if (form_failed(form) && type_has_failed(form, &at, &o[i]))
            continue;
        if (!type_is_known(o[i].type)) {
            form_fail(form, &at, FORM_OPTION_TYPE);
            continue;
        }
        option_check(form, &at, &o[i]);
        if (words)
            option_name_check(form, &at, o, i, words);
        if (!mixed && (mixed = !has_place(o, i, inside)))
            form_fail(form, &at, FORM_MIXED_OPTIONS); /* report the first one only */
        if (optional && is_true(o[i].required) && !is_parent(o[i].type))
            form_fail(form, &at, FORM_MISPLACED_REQUIRED);
        optional |= !is_true(o[i].required);
    }
}
