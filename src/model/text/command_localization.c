/* command_localization.c - localizes commands, and computes their contexts and locales. */
#include "base/buf.h"
#include "json/read.h"
#include "model/application.h"
#include "model/command.h"

enum { CHOICE_MAX_BYTES = 400 }; /* 100 characters of UTF-8 */

static unsigned bit_set_from_numbers(const struct list *numbers)
{
    unsigned bits = 0;

    for (size_t i = 0; i < numbers->count; i++)
        bits |= 1u << ((const int64_t *)numbers->items)[i];
    return bits;
}

/* Returns whether all options are groups without subcommands, so the command cannot be used. */
static bool has_only_empty_option_groups(const struct list *options)
{
    const struct command_option *o = options->items;

    for (size_t i = 0; i < options->count; i++)
        if (o[i].type != OPTION_SUB_COMMAND_GROUP || o[i].options.value.count)
            return false;
    return options->count > 0;
}

unsigned command_get_context_bits(const struct command *k)
{
    if (has_only_empty_option_groups(&k->options.value))
        return 0;
    if (k->guild_id.given == GIVEN)
        return 1u << CONTEXT_GUILD;
    if (k->contexts.given == GIVEN)
        return bit_set_from_numbers(&k->contexts.value);
    if (k->dm_permission.given == GIVEN && !k->dm_permission.value)
        return 1u << CONTEXT_GUILD;
    return 1u << CONTEXT_GUILD | 1u << CONTEXT_BOT_DM;
}

unsigned command_get_integration_type_bits(const struct command *k)
{
    if (k->guild_id.given == GIVEN)
        return 1u << INSTALL_GUILD;
    return bit_set_from_numbers(&k->integration_types.value);
}

#define LETTER_PAIR_INDEX(a, b) (((a) - 'a') * 26 + ((b) - 'a'))

/* Lookup table, indexed by the first two letters of a locale. A value is the position (from 1) of
 * the first locale in type_locale that begins with these letters. The bit WHOLE_LOCALE is set if
 * the two letters alone are a locale. A table is fast enough to look up every localization of every
 * command. */
enum { WHOLE_LOCALE = 0x80 };
static const unsigned char first_locale_by_letters[LETTER_PAIR_INDEX('z', 'z') + 1] = {
    [LETTER_PAIR_INDEX('a', 'r')] = WHOLE_LOCALE | 1,
    [LETTER_PAIR_INDEX('b', 'g')] = WHOLE_LOCALE | 2,
    [LETTER_PAIR_INDEX('c', 's')] = WHOLE_LOCALE | 3,
    [LETTER_PAIR_INDEX('d', 'a')] = WHOLE_LOCALE | 4,
    [LETTER_PAIR_INDEX('d', 'e')] = WHOLE_LOCALE | 5,
    [LETTER_PAIR_INDEX('e', 'l')] = WHOLE_LOCALE | 6,
    [LETTER_PAIR_INDEX('e', 'n')] = 7,
    [LETTER_PAIR_INDEX('e', 's')] = 9,
    [LETTER_PAIR_INDEX('f', 'i')] = WHOLE_LOCALE | 11,
    [LETTER_PAIR_INDEX('f', 'r')] = WHOLE_LOCALE | 12,
    [LETTER_PAIR_INDEX('h', 'e')] = WHOLE_LOCALE | 13,
    [LETTER_PAIR_INDEX('h', 'i')] = WHOLE_LOCALE | 14,
    [LETTER_PAIR_INDEX('h', 'r')] = WHOLE_LOCALE | 15,
    [LETTER_PAIR_INDEX('h', 'u')] = WHOLE_LOCALE | 16,
    [LETTER_PAIR_INDEX('i', 'd')] = WHOLE_LOCALE | 17,
    [LETTER_PAIR_INDEX('i', 't')] = WHOLE_LOCALE | 18,
    [LETTER_PAIR_INDEX('j', 'a')] = WHOLE_LOCALE | 19,
    [LETTER_PAIR_INDEX('k', 'o')] = WHOLE_LOCALE | 20,
    [LETTER_PAIR_INDEX('l', 't')] = WHOLE_LOCALE | 21,
    [LETTER_PAIR_INDEX('n', 'l')] = WHOLE_LOCALE | 22,
    [LETTER_PAIR_INDEX('n', 'o')] = WHOLE_LOCALE | 23,
    [LETTER_PAIR_INDEX('p', 'l')] = WHOLE_LOCALE | 24,
    [LETTER_PAIR_INDEX('p', 't')] = 25,
    [LETTER_PAIR_INDEX('r', 'o')] = WHOLE_LOCALE | 26,
    [LETTER_PAIR_INDEX('r', 'u')] = WHOLE_LOCALE | 27,
    [LETTER_PAIR_INDEX('s', 'v')] = 28,
    [LETTER_PAIR_INDEX('t', 'h')] = WHOLE_LOCALE | 29,
    [LETTER_PAIR_INDEX('t', 'r')] = WHOLE_LOCALE | 30,
    [LETTER_PAIR_INDEX('u', 'k')] = WHOLE_LOCALE | 31,
    [LETTER_PAIR_INDEX('v', 'i')] = WHOLE_LOCALE | 32,
    [LETTER_PAIR_INDEX('z', 'h')] = 33,
};

#define SECOND_LETTER_BIT(b) (UINT32_C(1) << ((b) - 'a'))
const uint32_t supported_locale_letters[26] = {
    ['a' - 'a'] = SECOND_LETTER_BIT('r'),
    ['b' - 'a'] = SECOND_LETTER_BIT('g'),
    ['c' - 'a'] = SECOND_LETTER_BIT('s'),
    ['d' - 'a'] = SECOND_LETTER_BIT('a') | SECOND_LETTER_BIT('e'),
    ['e' - 'a'] = SECOND_LETTER_BIT('l'),
    ['f' - 'a'] = SECOND_LETTER_BIT('i') | SECOND_LETTER_BIT('r'),
    ['h' - 'a'] = SECOND_LETTER_BIT('e') | SECOND_LETTER_BIT('i') | SECOND_LETTER_BIT('r') |
                  SECOND_LETTER_BIT('u'),
    ['i' - 'a'] = SECOND_LETTER_BIT('d') | SECOND_LETTER_BIT('t'),
    ['j' - 'a'] = SECOND_LETTER_BIT('a'),
    ['k' - 'a'] = SECOND_LETTER_BIT('o'),
    ['l' - 'a'] = SECOND_LETTER_BIT('t'),
    ['n' - 'a'] = SECOND_LETTER_BIT('l') | SECOND_LETTER_BIT('o'),
    ['p' - 'a'] = SECOND_LETTER_BIT('l'),
    ['r' - 'a'] = SECOND_LETTER_BIT('o') | SECOND_LETTER_BIT('u'),
    ['t' - 'a'] = SECOND_LETTER_BIT('h') | SECOND_LETTER_BIT('r'),
    ['u' - 'a'] = SECOND_LETTER_BIT('k'),
    ['v' - 'a'] = SECOND_LETTER_BIT('i'),
};

/* Compares the rest of two locales whose first two letters are equal. Most locales have no more
 * than two letters. */
static inline bool locale_suffixes_match(struct str locale, const char *text)
{
    size_t i = 2;

    while (i < locale.n && text[i] == locale.p[i] && text[i])
        i++;
    return i == locale.n && !text[i];
}

uint64_t locale_get_bit(struct str locale)
{
    const struct enum_choice *c = type_locale.choices;
    unsigned a = locale.n < 2 ? 26 : (unsigned char)locale.p[0] - 'a';
    unsigned b = locale.n < 2 ? 26 : (unsigned char)locale.p[1] - 'a';
    unsigned i = a < 26 && b < 26 ? first_locale_by_letters[a * 26 + b] : 0;

    if (i & WHOLE_LOCALE && locale.n == 2)
        return UINT64_C(1) << ((i & ~WHOLE_LOCALE) - 1);
    if (!i)
        return 0;
    for (i = (i & ~WHOLE_LOCALE) - 1; c[i].text && memcmp(c[i].text, locale.p, 2) == 0; i++)
        if (locale_suffixes_match(locale, c[i].text))
            return UINT64_C(1) << i;
    return 0;
}

/* Returns the locale that replaces this locale if a text is missing, as in Discord. Returns an
 * empty text if no locale replaces it. */
static struct str get_fallback_locale(struct str locale)
{
    if (str_is(locale, "en-US"))
        return STR("en-GB");
    if (str_is(locale, "en-GB"))
        return STR("en-US");
    return str_is(locale, "es-419") ? STR("es-ES") : STR("");
}

uint64_t locale_fallback_bits(struct str locale)
{
    return locale_get_bit(locale) | locale_get_bit(get_fallback_locale(locale));
}

static bool find_text_of_locale(const struct list *pairs, struct str locale, struct str *ret)
{
    const struct string_pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count && locale.n; i++) {
        if (str_eq(p[i].key, locale)) {
            *ret = p[i].value;
            return true;
        }
    }
    return false;
}

bool localizations_find_text(const struct opt_list *dictionary, struct str locale, struct str *ret)
{
    if (dictionary->given != GIVEN)
        return false;
    return find_text_of_locale(&dictionary->value, locale, ret) ||
           find_text_of_locale(&dictionary->value, get_fallback_locale(locale), ret);
}

static uint64_t locale_bits_of_dictionary(const struct opt_list *dictionary)
{
    const struct string_pair *p = dictionary->value.items;
    uint64_t set = 0;

    for (size_t i = 0; i < dictionary->value.count; i++)
        set |= locale_get_bit(p[i].key);
    return set;
}

static uint64_t locale_bits_of_options(const struct list *options)
{
    const struct command_option *o = options->items;
    uint64_t set = 0;

    for (size_t i = 0; i < options->count; i++) {
        const struct command_choice *c = o[i].choices.value.items;

        set |= locale_bits_of_dictionary(&o[i].name_localizations) |
               locale_bits_of_dictionary(&o[i].description_localizations) |
               locale_bits_of_options(&o[i].options.value);
        for (size_t n = 0; n < o[i].choices.value.count; n++)
            set |= locale_bits_of_dictionary(&c[n].name_localizations);
    }
    return set;
}

uint64_t command_locale_bits(const struct command *k)
{
    return locale_bits_of_dictionary(&k->name_localizations) |
           locale_bits_of_dictionary(&k->description_localizations) |
           locale_bits_of_options(&k->options.value);
}

/* Replaces a text by its translation, unless they are equal. */
static void localize_text(struct str *words, struct opt_list *dictionary, struct opt_str *localized,
                          struct opt_str *original, struct str locale,
                          enum command_localization_placement form)
{
    struct str found;
    bool hit = localizations_find_text(dictionary, locale, &found) && !str_eq(found, *words);

    dictionary->given = ABSENT;
    if (!hit)
        return;
    if (form == COMMAND_FORM_LIST) {
        *localized = opt_str_or_null(found);
    } else {
        *original = opt_str_or_null(*words);
        *words = found;
    }
}

void command_choice_localize(struct command_choice *c, struct str locale,
                             enum command_localization_placement form)
{
    localize_text(&c->name, &c->name_localizations, &c->name_localized, &c->name_default, locale,
                  form);
}

static void localize_command_options(const struct list *options, struct str locale,
                                     enum command_localization_placement form);

static void localize_command_option(struct command_option *o, struct str locale,
                                    enum command_localization_placement form)
{
    struct command_choice *c = o->choices.value.items;

    localize_text(&o->name, &o->name_localizations, &o->name_localized, &o->name_default, locale,
                  form);
    localize_text(&o->description, &o->description_localizations, &o->description_localized,
                  &o->description_default, locale, form);
    for (size_t i = 0; i < o->choices.value.count; i++)
        command_choice_localize(&c[i], locale, form);
    localize_command_options(&o->options.value, locale, form);
}

static void localize_command_options(const struct list *options, struct str locale,
                                     enum command_localization_placement form)
{
    for (size_t i = 0; i < options->count; i++)
        localize_command_option((struct command_option *)options->items + i, locale, form);
}

void command_localize(struct command *k, struct str locale,
                      enum command_localization_placement form)
{
    localize_text(&k->name, &k->name_localizations, &k->name_localized, &k->name_default, locale,
                  form);
    localize_text(&k->description, &k->description_localizations, &k->description_localized,
                  &k->description_default, locale, form);
    localize_command_options(&k->options.value, locale, form);
}

bool command_choice_equals_text(const struct command_choice *c, struct str text)
{
    struct buf b;
    struct json_writer j = json_writer_to_buf(&b);

    if (text.n > CHOICE_MAX_BYTES)
        return false;
    buf_init(&b, 8 * CHOICE_MAX_BYTES);
    json_write_text(&j, text);
    bool same = str_eq(c->value, buf_as_str(&b));
    buf_clear(&b);
    return same;
}

bool command_choice_equals_number(const struct command_choice *c, double number)
{
    struct json_reader r;
    struct json_number n;

    json_reader_init(&r, c->value, NULL);
    return json_peek_kind(&r) == JSON_NUMBER && json_read_number(&r, &n) && n.d == number;
}
