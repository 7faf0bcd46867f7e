/* validate_options.c - validates the options of a command. */
#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "commands/form_errors.h"
#include "commands/internal.h"
#include "commands/command_names.h"
#include "json/read.h"
#include "json/scan.h"

static const int64_t SAFE_INT = 1LL << 53;
enum { LONGEST_VALUE = 100 };

static bool is_subcommand_type(int64_t type)
{
    return type == OPTION_SUB_COMMAND || type == OPTION_SUB_COMMAND_GROUP;
}

/* Returns true for option types that support choices and autocomplete. */
static bool type_supports_choices(int64_t type)
{
    return type == OPTION_STRING || type == OPTION_INTEGER || type == OPTION_NUMBER;
}

/* Returns whether the number is an integer. A double of at least 2^53 is always an integer. */
static bool is_integer_value(double d)
{
    return d >= 0x1p53 || d <= -0x1p53 || d == (double)(int64_t)d;
}

static bool is_present_and_true(struct opt_bool b)
{
    return b.given == GIVEN && b.value;
}

/* --- choices -------------------------------------------------------------------------- */

/* Fast check for a short string, without counting: few bytes are few characters. */
static inline bool is_short_unescaped_string(const struct form *form, struct str json)
{
    return json.n && json.p[0] == '"' && json.n <= LONGEST_VALUE &&
           (form->text.plain || !short_str_contains(json, '\\'));
}

static void validate_string_choice(struct form *form, const struct json_path *at,
                                   const struct command_choice *c)
{
    struct str text;

    if (c->value.p[0] != '"') {
        form_add_error(form, at, FORM_NOT_STRING, STR_ARGS(form_shorten_quoted_value(c->value)));
        return;
    }
    text = command_choice_format_value(form->arena, c);
    if (text.n > LONGEST_VALUE && utf8_length(text) > LONGEST_VALUE)
        form_add_error(form, at, FORM_MAX_LENGTH, (long long)LONGEST_VALUE);
    else if (memchr(text.p, '\0', text.n))
        form_add_error(form, at, FORM_REGEX);
}

static void validate_number_choice(struct form *form, const struct json_path *at,
                                   const struct command_choice *c, bool whole)
{
    struct json_reader r;
    struct json_number n;

    json_reader_init(&r, c->value, form->arena);
    bool number = json_peek_kind(&r) == JSON_NUMBER && json_read_number(&r, &n) && isfinite(n.d);
    if (!number && !whole)
        form_add_error(
            form, at, FORM_NOT_FLOAT,
            STR_ARGS(form_shorten_quoted_value(command_choice_format_value(form->arena, c))));
    else if (!number || (whole && !is_integer_value(n.d)))
        form_add_error(
            form, at, FORM_NOT_INT,
            STR_ARGS(form_shorten_quoted_value(command_choice_format_value(form->arena, c))));
    else if (n.d < (double)-SAFE_INT || (n.kind == NUMBER_INT && n.i < -SAFE_INT))
        form_add_error(form, at, FORM_NUMBER_MIN, (long long)-SAFE_INT);
    else if (n.d > (double)SAFE_INT || (n.kind == NUMBER_INT && n.i > SAFE_INT))
        form_add_error(form, at, FORM_NUMBER_MAX, (long long)SAFE_INT);
}

static __attribute__((noinline)) void validate_choice_value(struct form *form,
                                                            const struct json_path *here,
                                                            int64_t type,
                                                            const struct command_choice *c)
{
    struct json_path at = json_path_key(here, STR("value"));

    if (type == OPTION_STRING)
        validate_string_choice(form, &at, c);
    else
        validate_number_choice(form, &at, c, type == OPTION_INTEGER);
}

static void validate_choice(struct form *form, const struct json_path *here, int64_t type,
                            const struct command_choice *c)
{
    validate_localizations(form, here, STR("name_localizations"), &c->name_localizations);
    if (!c->value.n)
        return; /* the field is missing, and the decoder has reported this */
    if (type != OPTION_STRING || !is_short_unescaped_string(form, c->value))
        validate_choice_value(form, here, type, c);
}

/* Returns whether all choices are plain strings, which need no further check. Nearly all choices
 * are; validate_choices checks the others and adds the errors. */
static bool are_choices_plain_strings(const struct form *form, const struct command_option *o)
{
    const struct command_choice *c = o->choices.value.items;

    if (o->type != OPTION_STRING || is_present_and_true(o->autocomplete))
        return false;
    for (size_t i = 0; i < o->choices.value.count; i++)
        if (!is_short_unescaped_string(form, c[i].value) ||
            !are_locales_supported(&c[i].name_localizations.value))
            return false;
    return true;
}

static __attribute__((noinline)) void validate_choices(struct form *form,
                                                       const struct json_path *here,
                                                       const struct command_option *o)
{
    const struct command_choice *c = o->choices.value.items;
    struct json_path at = json_path_key(here, STR("choices"));

    if (!type_supports_choices(o->type) || is_present_and_true(o->autocomplete)) {
        form_add_error(form, &at, FORM_CHOICES_INVALID);
        return;
    }
    for (size_t i = 0; i < o->choices.value.count; i++) {
        struct json_path one = json_path_index(&at, i);

        validate_choice(form, &one, o->type, &c[i]);
    }
}

/* --- one option ----------------------------------------------------------------------- */

static void validate_integer(struct form *form, const struct json_path *here, struct str field,
                             const struct opt_real *number)
{
    struct json_path at = json_path_key(here, field);

    if (number->given == GIVEN && !is_integer_value(number->value))
        form_add_error(form, &at, "NUMBER_TYPE_COERCE", "Value \"%g\" is not int.", number->value);
}

static bool has_range_fields(const struct command_option *o)
{
    return o->min_value.given | o->max_value.given | o->min_length.given | o->max_length.given;
}

static __attribute__((noinline)) void validate_range(struct form *form,
                                                     const struct json_path *here,
                                                     const struct command_option *o)
{
    struct json_path value = json_path_key(here, STR("min_value"));
    struct json_path length = json_path_key(here, STR("min_length"));
    bool number = o->type == OPTION_INTEGER || o->type == OPTION_NUMBER;

    if (o->type == OPTION_INTEGER) {
        validate_integer(form, here, STR("min_value"), &o->min_value);
        validate_integer(form, here, STR("max_value"), &o->max_value);
    }
    if (number && o->min_value.given == GIVEN && o->max_value.given == GIVEN &&
        o->min_value.value > o->max_value.value)
        form_add_error(form, &value, FORM_RANGE_INVALID);
    if (o->type == OPTION_STRING && o->min_length.given == GIVEN && o->max_length.given == GIVEN &&
        o->min_length.value > o->max_length.value)
        form_add_error(form, &length, FORM_RANGE_INVALID);
}

static bool are_option_names_valid(const struct command_option *o)
{
    const struct list *names = &o->name_localizations.value;
    const struct string_pair *p = names->items;

    if (check_command_name(o->name) || !are_locales_supported(names) ||
        !are_locales_supported(&o->description_localizations.value))
        return false;
    for (size_t i = 0; i < names->count; i++)
        if (check_command_name(p[i].value))
            return false;
    return true;
}

/* Checks the names of an option. For an invalid localized name, Discord reports an option's error
 * at the path of the locale, but a command's error at the path of the dictionary. */
static __attribute__((noinline)) void validate_option_names(struct form *form,
                                                            const struct json_path *here,
                                                            const struct command_option *o)
{
    const struct string_pair *p = o->name_localizations.value.items;
    struct json_path name = json_path_key(here, STR("name"));
    struct json_path names = json_path_key(here, STR("name_localizations"));

    if (!form_has_error_at_path(form, &name))
        validate_command_name(form, &name, o->name);
    validate_localizations(form, here, names.key, &o->name_localizations);
    validate_localizations(form, here, STR("description_localizations"),
                           &o->description_localizations);
    for (size_t i = 0; i < o->name_localizations.value.count; i++) {
        struct json_path one = json_path_key(&names, p[i].key);

        if (!form_has_error_at_path(form, &one))
            validate_command_name(form, &one, p[i].value);
    }
}

/* Checks `required` and `autocomplete`, which some option types do not support. */
static __attribute__((noinline)) void validate_option_flags(struct form *form,
                                                            const struct json_path *here,
                                                            const struct command_option *o)
{
    struct json_path required = json_path_key(here, STR("required"));
    struct json_path autocomplete = json_path_key(here, STR("autocomplete"));

    if (is_subcommand_type(o->type) && is_present_and_true(o->required))
        form_add_error(form, &required, FORM_REQUIRED_INVALID);
    if (!type_supports_choices(o->type) && is_present_and_true(o->autocomplete))
        form_add_error(form, &autocomplete, FORM_AUTOCOMPLETE_INVALID);
}

static __attribute__((noinline)) void validate_inner_options(struct form *form,
                                                             const struct json_path *here,
                                                             const struct command_option *o)
{
    struct json_path options = json_path_key(here, STR("options"));

    validate_command_options(form, &options, &o->options.value, o->type);
}

/* Checks one option. Builds error paths only when a check may fail, because few options have
 * errors. */
static void validate_option(struct form *form, const struct json_path *here,
                            const struct command_option *o)
{
    if (form_has_errors(form) || !are_option_names_valid(o))
        validate_option_names(form, here, o);
    if (is_present_and_true(o->autocomplete) ||
        (is_subcommand_type(o->type) && is_present_and_true(o->required)))
        validate_option_flags(form, here, o);
    if (o->choices.value.count && !are_choices_plain_strings(form, o))
        validate_choices(form, here, o);
    if (has_range_fields(o))
        validate_range(form, here, o);
    if (is_subcommand_type(o->type))
        validate_inner_options(form, here, o);
}

/* --- siblings ------------------------------------------------------------------------- */

/* Returns whether the option may be in this list. Groups contain sub-commands; sub-commands contain
 * values. A command contains either sub-commands and groups or values: the first option decides. */
static bool option_type_fits_list(const struct command_option *o, size_t index, int64_t inside)
{
    if (inside == OPTION_SUB_COMMAND_GROUP)
        return o[index].type == OPTION_SUB_COMMAND;
    if (inside == OPTION_SUB_COMMAND)
        return !is_subcommand_type(o[index].type);
    return is_subcommand_type(o[index].type) == is_subcommand_type(o[0].type);
}

/* Returns whether the option was not a JSON object, which the decoder has already reported. */
static bool is_undecoded_option(const struct command_option *o)
{
    return !o->type && !o->name.p && !o->description.p;
}

static __attribute__((noinline)) bool option_type_has_error(const struct form *form,
                                                            const struct json_path *at,
                                                            const struct command_option *o)
{
    struct json_path type = json_path_key(at, STR("type"));

    return form_has_error_at_path(form, &type) ||
           (is_undecoded_option(o) && form_has_error_at_path(form, at));
}

static bool is_known_option_type(int64_t type)
{
    return type >= OPTION_SUB_COMMAND && type <= OPTION_ATTACHMENT;
}

/* Option fields that apply only to some option types. */
static const struct {
    const char *field;
    int64_t types[2];
} type_specific_fields[] = {
    { "min_value", { OPTION_INTEGER, OPTION_NUMBER } },
    { "max_value", { OPTION_INTEGER, OPTION_NUMBER } },
    { "min_length", { OPTION_STRING } },
    { "max_length", { OPTION_STRING } },
    { "channel_types", { OPTION_CHANNEL } },
    { "file_types", { OPTION_ATTACHMENT } },
};

void remove_errors_in_inapplicable_option_fields(struct form *form, const struct json_path *here,
                                                 const struct list *options)
{
    const struct command_option *o = options->items;

    for (size_t i = 0; form_has_errors(form) && i < options->count; i++) {
        struct json_path at = json_path_index(here, i), inner = json_path_key(&at, STR("options"));

        for (size_t n = 0; n < COUNT_OF(type_specific_fields) && is_known_option_type(o[i].type);
             n++) {
            struct json_path field = json_path_key(&at, str_of(type_specific_fields[n].field));

            if (o[i].type != type_specific_fields[n].types[0] &&
                o[i].type != type_specific_fields[n].types[1])
                form_remove_errors_at_path(form, &field);
        }
        remove_errors_in_inapplicable_option_fields(form, &inner, &o[i].options.value);
    }
}

void validate_command_options(struct form *form, const struct json_path *here,
                              const struct list *options, int64_t inside)
{
    const struct command_option *o = options->items;
    const uint64_t *name_hashes = hash_option_names(form->arena, options);
    struct json_path at = json_path_index(here, 0);
    bool optional = false, mixed = false;

    for (size_t i = 0; i < options->count; i++) {
        at.index = i;
        if (form_has_errors(form) && option_type_has_error(form, &at, &o[i]))
            continue;
        if (!is_known_option_type(o[i].type)) {
            form_add_error(form, &at, FORM_OPTION_TYPE);
            continue;
        }
        validate_option(form, &at, &o[i]);
        if (name_hashes)
            check_duplicate_option_name(form, &at, o, i, name_hashes);
        if (!mixed && (mixed = !option_type_fits_list(o, i, inside)))
            form_add_error(form, &at, FORM_MIXED_OPTIONS); /* only the first one is reported */
        if (optional && is_present_and_true(o[i].required) && !is_subcommand_type(o[i].type))
            form_add_error(form, &at, FORM_MISPLACED_REQUIRED);
        optional |= !is_present_and_true(o[i].required);
    }
}
