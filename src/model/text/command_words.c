/* command_words.c - localizes commands, and computes their contexts and locales. */
#include "base/buf.h"
#include "json/read.h"
#include "model/application.h"
#include "model/command.h"

enum { CHOICE_MOST_BYTES = 400 }; /* 100 characters in UTF-8 */

/* --- contexts ------------------------------------------------------------------------- */

static unsigned bits_of(const struct list *numbers)
{
    unsigned bits = 0;

    for (size_t i = 0; i < numbers->count; i++)
        bits |= 1u << ((const int64_t *)numbers->items)[i];
    return bits;
}

/* Returns true if all options are empty groups, so that the command cannot be used. */
static bool has_only_empty_groups(const struct list *options)
{
    const struct command_option *o = options->items;

    for (size_t i = 0; i < options->count; i++)
        if (o[i].type != OPTION_SUB_COMMAND_GROUP || o[i].options.value.count)
            return false;
    return options->count > 0;
}

unsigned command_contexts(const struct command *k)
{
    if (has_only_empty_groups(&k->options.value))
        return 0;
    if (k->guild_id.given == GIVEN)
        return 1u << CONTEXT_GUILD;
    if (k->contexts.given == GIVEN)
        return bits_of(&k->contexts.value);
    if (k->dm_permission.given == GIVEN && !k->dm_permission.value)
        return 1u << CONTEXT_GUILD;
    return 1u << CONTEXT_GUILD | 1u << CONTEXT_BOT_DM;
}

unsigned command_integration_types(const struct command *k)
{
    if (k->guild_id.given == GIVEN)
        return 1u << INSTALL_GUILD;
    return bits_of(&k->integration_types.value);
}

/* --- locales -------------------------------------------------------------------------- */

#define LETTERS(a, b) (((a) - 'a') * 26 + ((b) - 'a'))

/* Index by two letters: the position, from 1, of the first locale in type_locale that begins with
 * them; ALONE if the two letters are a whole locale. Fast, because locales are looked up for every
 * dictionary of every command. */
enum { ALONE = 0x80 };
static const unsigned char first_of_letters[LETTERS('z', 'z') + 1] = {
    [LETTERS('a', 'r')] = ALONE | 1,  [LETTERS('b', 'g')] = ALONE | 2,
    [LETTERS('c', 's')] = ALONE | 3,  [LETTERS('d', 'a')] = ALONE | 4,
    [LETTERS('d', 'e')] = ALONE | 5,  [LETTERS('e', 'l')] = ALONE | 6,
    [LETTERS('e', 'n')] = 7,          [LETTERS('e', 's')] = 9,
    [LETTERS('f', 'i')] = ALONE | 11, [LETTERS('f', 'r')] = ALONE | 12,
    [LETTERS('h', 'e')] = ALONE | 13, [LETTERS('h', 'i')] = ALONE | 14,
    [LETTERS('h', 'r')] = ALONE | 15, [LETTERS('h', 'u')] = ALONE | 16,
    [LETTERS('i', 'd')] = ALONE | 17, [LETTERS('i', 't')] = ALONE | 18,
    [LETTERS('j', 'a')] = ALONE | 19, [LETTERS('k', 'o')] = ALONE | 20,
    [LETTERS('l', 't')] = ALONE | 21, [LETTERS('n', 'l')] = ALONE | 22,
    [LETTERS('n', 'o')] = ALONE | 23, [LETTERS('p', 'l')] = ALONE | 24,
    [LETTERS('p', 't')] = 25,         [LETTERS('r', 'o')] = ALONE | 26,
    [LETTERS('r', 'u')] = ALONE | 27, [LETTERS('s', 'v')] = 28,
    [LETTERS('t', 'h')] = ALONE | 29, [LETTERS('t', 'r')] = ALONE | 30,
    [LETTERS('u', 'k')] = ALONE | 31, [LETTERS('v', 'i')] = ALONE | 32,
    [LETTERS('z', 'h')] = 33,
};

#define SECOND(b) (UINT32_C(1) << ((b) - 'a'))
const uint32_t locale_letters[26] = {
    ['a' - 'a'] = SECOND('r'),
    ['b' - 'a'] = SECOND('g'),
    ['c' - 'a'] = SECOND('s'),
    ['d' - 'a'] = SECOND('a') | SECOND('e'),
    ['e' - 'a'] = SECOND('l'),
    ['f' - 'a'] = SECOND('i') | SECOND('r'),
    ['h' - 'a'] = SECOND('e') | SECOND('i') | SECOND('r') | SECOND('u'),
    ['i' - 'a'] = SECOND('d') | SECOND('t'),
    ['j' - 'a'] = SECOND('a'),
    ['k' - 'a'] = SECOND('o'),
    ['l' - 'a'] = SECOND('t'),
    ['n' - 'a'] = SECOND('l') | SECOND('o'),
    ['p' - 'a'] = SECOND('l'),
    ['r' - 'a'] = SECOND('o') | SECOND('u'),
    ['t' - 'a'] = SECOND('h') | SECOND('r'),
    ['u' - 'a'] = SECOND('k'),
    ['v' - 'a'] = SECOND('i'),
};

/* Compares the text after the first two letters, which are equal; most locales have only these. */
static inline bool is_text(struct str locale, const char *text)
{
    size_t i = 2;

    while (i < locale.n && text[i] == locale.p[i] && text[i])
        i++;
    return i == locale.n && !text[i];
}

uint64_t locale_bit(struct str locale)
{
    const struct choice *c = type_locale.choices;
    unsigned a = locale.n < 2 ? 26 : (unsigned char)locale.p[0] - 'a';
    unsigned b = locale.n < 2 ? 26 : (unsigned char)locale.p[1] - 'a';
    unsigned i = a < 26 && b < 26 ? first_of_letters[a * 26 + b] : 0;

    if (i & ALONE && locale.n == 2)
        return UINT64_C(1) << ((i & ~ALONE) - 1);
    if (!i)
        return 0;
    for (i = (i & ~ALONE) - 1; c[i].text && memcmp(c[i].text, locale.p, 2) == 0; i++)
        if (is_text(locale, c[i].text))
            return UINT64_C(1) << i;
    return 0;
}

/* Returns the fallback locale, as in Discord; empty: none. */
static struct str sister_of(struct str locale)
{
    if (str_is(locale, "en-US"))
        return STR("en-GB");
    if (str_is(locale, "en-GB"))
        return STR("en-US");
    return str_is(locale, "es-419") ? STR("es-ES") : STR("");
}

uint64_t locale_reach(struct str locale)
{
    return locale_bit(locale) | locale_bit(sister_of(locale));
}

static bool command_words_find(const struct list *pairs, struct str locale, struct str *ret)
{
    const struct pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count && locale.n; i++) {
        if (str_eq(p[i].key, locale)) {
            *ret = p[i].value;
            return true;
        }
    }
    return false;
}

bool localization_find(const struct opt_list *dictionary, struct str locale, struct str *ret)
{
    if (dictionary->given != GIVEN)
        return false;
    return command_words_find(&dictionary->value, locale, ret) ||
           command_words_find(&dictionary->value, sister_of(locale), ret);
}

static uint64_t dictionary_locales(const struct opt_list *dictionary)
{
    const struct pair *p = dictionary->value.items;
    uint64_t set = 0;

    for (size_t i = 0; i < dictionary->value.count; i++)
        set |= locale_bit(p[i].key);
    return set;
}

static uint64_t options_locales(const struct list *options)
{
    const struct command_option *o = options->items;
    uint64_t set = 0;

    for (size_t i = 0; i < options->count; i++) {
        const struct command_choice *c = o[i].choices.value.items;

        set |= dictionary_locales(&o[i].name_localizations) |
               dictionary_locales(&o[i].description_localizations) |
               options_locales(&o[i].options.value);
        for (size_t n = 0; n < o[i].choices.value.count; n++)
            set |= dictionary_locales(&c[n].name_localizations);
    }
    return set;
}

uint64_t command_locales(const struct command *k)
{
    return dictionary_locales(&k->name_localizations) |
           dictionary_locales(&k->description_localizations) | options_locales(&k->options.value);
}

/* --- localizing ----------------------------------------------------------------------- */

/* Applies a translation. A translation equal to the original is ignored. */
static void put_words(struct str *words, struct opt_list *dictionary, struct opt_str *localized,
                      struct opt_str *original, struct str locale, enum command_form form)
{
    struct str found;
    bool hit = localization_find(dictionary, locale, &found) && !str_eq(found, *words);

    dictionary->given = ABSENT;
    if (!hit)
        return;
    if (form == COMMAND_LISTED) {
        *localized = given_str(found);
    } else {
        *original = given_str(*words);
        *words = found;
    }
}

void choice_localize(struct command_choice *c, struct str locale, enum command_form form)
{
    put_words(&c->name, &c->name_localizations, &c->name_localized, &c->name_default, locale, form);
}

static void options_localize(const struct list *options, struct str locale, enum command_form form);

static void option_localize(struct command_option *o, struct str locale, enum command_form form)
{
    struct command_choice *c = o->choices.value.items;

    put_words(&o->name, &o->name_localizations, &o->name_localized, &o->name_default, locale, form);
    put_words(&o->description, &o->description_localizations, &o->description_localized,
              &o->description_default, locale, form);
    for (size_t i = 0; i < o->choices.value.count; i++)
        choice_localize(&c[i], locale, form);
    options_localize(&o->options.value, locale, form);
}

static void options_localize(const struct list *options, struct str locale, enum command_form form)
{
    for (size_t i = 0; i < options->count; i++)
        option_localize((struct command_option *)options->items + i, locale, form);
}

void command_localize(struct command *k, struct str locale, enum command_form form)
{
    put_words(&k->name, &k->name_localizations, &k->name_localized, &k->name_default, locale, form);
    put_words(&k->description, &k->description_localizations, &k->description_localized,
              &k->description_default, locale, form);
    options_localize(&k->options.value, locale, form);
}

/* --- choices -------------------------------------------------------------------------- */

bool choice_is_text(const struct command_choice *c, struct str text)
{
    struct buf b;
    struct json j = json_to(&b);

    if (text.n > CHOICE_MOST_BYTES)
        return false;
    buf_init(&b, 8 * CHOICE_MOST_BYTES);
    json_text(&j, text);
    bool same = str_eq(c->value, buf_str(&b));
    buf_clear(&b);
    return same;
}

bool choice_is_number(const struct command_choice *c, double number)
{
    struct json_reader r;
    struct json_number n;

    json_reader_init(&r, c->value, NULL);
    return json_peek(&r) == JSON_NUMBER && json_take_number(&r, &n) && n.d == number;
}
