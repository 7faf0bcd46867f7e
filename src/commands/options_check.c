/* options_check.c - are options what the interface allows, each and among its siblings? */
#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "commands/form.h"
#include "commands/internal.h"
#include "json/read.h"
#include "json/scan.h"

static const int64_t SAFE_INT = 1LL << 53;
enum { LONGEST_VALUE = 100 };

static bool is_parent(int64_t type)
{
    return type == OPTION_SUB_COMMAND || type == OPTION_SUB_COMMAND_GROUP;
}

/* Can have choices, or ask the app for them. */
static bool is_choosable(int64_t type)
{
    return type == OPTION_STRING || type == OPTION_INTEGER || type == OPTION_NUMBER;
}

/* Beyond 2^53 there are no others. */
static bool is_whole(double d)
{
    return d >= 0x1p53 || d <= -0x1p53 || d == (double)(int64_t)d;
}

static bool is_true(struct opt_bool b)
{
    return b.given == GIVEN && b.value;
}

/* --- choices -------------------------------------------------------------------------- */

/* Only an escape can make more or other characters of the bytes of a text. */
static bool text_is_surely_fine(struct str json)
{
    return json.p[0] == '"' && json.n <= LONGEST_VALUE && !scan_has(json, '\\');
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
        return; /* missing, which was said already */
    if (type != OPTION_STRING || !text_is_surely_fine(c->value))
        value_check(form, here, type, c);
}

static void choices_check(struct form *form, const struct place *here,
                          const struct command_option *o)
{
    const struct command_choice *c = o->choices.value.items;
    struct place at = place_key(here, STR("choices"));

    if (!o->choices.value.count)
        return;
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

static void range_check(struct form *form, const struct place *here, const struct command_option *o)
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

/* Unlike a command's, an option's bad name is told at its own language. */
static void words_check(struct form *form, const struct place *here, const struct command_option *o)
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

static void option_check(struct form *form, const struct place *here,
                         const struct command_option *o)
{
    struct place required = place_key(here, STR("required"));
    struct place autocomplete = place_key(here, STR("autocomplete"));
    struct place options = place_key(here, STR("options"));

    words_check(form, here, o);
    if (is_parent(o->type) && is_true(o->required))
        form_fail(form, &required, FORM_REQUIRED_INVALID);
    if (!is_choosable(o->type) && is_true(o->autocomplete))
        form_fail(form, &autocomplete, FORM_AUTOCOMPLETE_INVALID);
    choices_check(form, here, o);
    range_check(form, here, o);
    if (is_parent(o->type))
        options_check(form, &options, &o->options.value, o->type);
}

/* --- siblings ------------------------------------------------------------------------- */

/* Do two options look the same to a reader of some language? A name in one language is
 * never another's original either. */
static bool same_words(const struct command_option *a, const struct command_option *b)
{
    const struct pair *p = a->name_localizations.value.items;
    const struct pair *q = b->name_localizations.value.items;

    for (size_t i = 0; i < a->name_localizations.value.count; i++) {
        if (scan_eq(p[i].value, b->name))
            return true;
        for (size_t n = 0; n < b->name_localizations.value.count; n++)
            if (scan_eq(p[i].value, q[n].value) && scan_eq(p[i].key, q[n].key))
                return true;
    }
    for (size_t n = 0; n < b->name_localizations.value.count; n++)
        if (scan_eq(q[n].value, a->name))
            return true;
    return false;
}

static uint64_t word_bit(struct str word)
{
    uint64_t hash = 0;

    if (word.n >= 8)
        hash = scan_load(word.p) * 31 + scan_load(word.p + word.n - 8);
    else
        for (size_t i = 0; i < word.n; i++)
            hash = hash << 8 | (unsigned char)word.p[i];
    return UINT64_C(1) << (hash * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* A bit for each thing an option is called: two options that share no bit share no name, and
 * most pairs need no closer look. */
static uint64_t word_bits(const struct command_option *o)
{
    const struct pair *p = o->name_localizations.value.items;
    uint64_t bits = word_bit(o->name);

    for (size_t i = 0; i < o->name_localizations.value.count; i++)
        bits |= word_bit(p[i].value);
    return bits;
}

/* bits: of all options up to this one. */
static void names_differ_check(struct form *form, const struct place *here,
                               const struct command_option *o, size_t index, const uint64_t *bits)
{
    for (size_t i = 0; i < index; i++) {
        if (bits[i] & bits[index] && o[i].name.n &&
            (scan_eq(o[i].name, o[index].name) || same_words(&o[i], &o[index]))) {
            form_fail(form, here, FORM_OPTION_NAME_TAKEN, STR_FMT(form_quote(o[index].name)));
            return;
        }
    }
}

/* Which options may stand in this list: groups hold sub-commands, sub-commands hold what
 * is entered, a command holds either kind, as its first option says. */
static bool has_place(const struct command_option *o, size_t index, int64_t inside)
{
    if (inside == OPTION_SUB_COMMAND_GROUP)
        return o[index].type == OPTION_SUB_COMMAND;
    if (inside == OPTION_SUB_COMMAND)
        return !is_parent(o[index].type);
    return is_parent(o[index].type) == is_parent(o[0].type);
}

/* It was no object at all, which was said already. */
static bool is_nothing(const struct command_option *o)
{
    return !o->type && !o->name.p && !o->description.p;
}

static bool type_is_known(int64_t type)
{
    return type >= OPTION_SUB_COMMAND && type <= OPTION_ATTACHMENT;
}

/* Fields that say something about some types of options alone. */
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
    uint64_t *bits = arena_raw(form->arena, options->count * sizeof *bits);
    bool optional = false, mixed = false;

    for (size_t i = 0; i < options->count; i++)
        bits[i] = word_bits(&o[i]);
    for (size_t i = 0; i < options->count; i++) {
        struct place at = place_index(here, i), type = place_key(&at, STR("type"));

        if (form_failed_at(form, &type) || (is_nothing(&o[i]) && form_failed_at(form, &at)))
            continue;
        if (!type_is_known(o[i].type)) {
            form_fail(form, &at, FORM_OPTION_TYPE);
            continue;
        }
        option_check(form, &at, &o[i]);
        names_differ_check(form, &at, o, i, bits);
        if (!mixed && (mixed = !has_place(o, i, inside)))
            form_fail(form, &at, FORM_MIXED_OPTIONS); /* the first that differs */
        if (optional && is_true(o[i].required) && !is_parent(o[i].type))
            form_fail(form, &at, FORM_MISPLACED_REQUIRED);
        optional |= !is_true(o[i].required);
    }
}
