/* command_size.c - counts the characters of a command for its size limit: all names, descriptions
 * and values. For a localized text, the longest translation is counted. */
#include "base/utf8.h"
#include "commands/internal.h"
#include "json/read.h"

struct str command_choice_format_value(struct arena *arena, const struct command_choice *c)
{
    struct str text = c->value;
    struct json_reader r;

    if (!text.n || text.p[0] != '"')
        return text;
    if (!memchr(text.p, '\\', text.n))
        return str_slice(text.p + 1, text.n - 2);
    json_reader_init(&r, text, arena);
    json_read_string(&r, &text);
    return text;
}

/* Counts characters, or bytes in quick mode. A text never has more characters than bytes, so most
 * commands need no exact count. */
struct size_counter {
    bool exact;
    struct arena *arena;
};

static size_t count_characters_of_text(const struct size_counter *m, struct str text)
{
    return m->exact ? utf8_length(text) : text.n;
}

static size_t count_characters_of_choice_value(const struct size_counter *m,
                                               const struct command_choice *c)
{
    return m->exact ? utf8_length(command_choice_format_value(m->arena, c)) : c->value.n;
}

static size_t count_characters_of_longest_translation(const struct size_counter *m, struct str text,
                                                      const struct opt_list *dictionary)
{
    const struct string_pair *p = dictionary->value.items;
    size_t most = count_characters_of_text(m, text);

    for (size_t i = 0; i < dictionary->value.count; i++) {
        size_t n = count_characters_of_text(m, p[i].value);

        if (n > most)
            most = n;
    }
    return most;
}

static size_t count_characters_of_choices(const struct size_counter *m, const struct list *choices)
{
    const struct command_choice *c = choices->items;
    size_t sum = 0;

    for (size_t i = 0; i < choices->count; i++)
        sum += count_characters_of_longest_translation(m, c[i].name, &c[i].name_localizations) +
               count_characters_of_choice_value(m, &c[i]);
    return sum;
}

static size_t count_characters_of_options(const struct size_counter *m, const struct list *options)
{
    const struct command_option *o = options->items;
    size_t sum = 0;

    for (size_t i = 0; i < options->count; i++)
        sum += count_characters_of_longest_translation(m, o[i].name, &o[i].name_localizations) +
               count_characters_of_longest_translation(m, o[i].description,
                                                       &o[i].description_localizations) +
               count_characters_of_choices(m, &o[i].choices.value) +
               count_characters_of_options(m, &o[i].options.value);
    return sum;
}

static size_t count_characters_of_command(const struct size_counter *m, const struct command *k)
{
    return count_characters_of_longest_translation(m, k->name, &k->name_localizations) +
           count_characters_of_longest_translation(m, k->description,
                                                   &k->description_localizations) +
           count_characters_of_options(m, &k->options.value);
}

bool command_is_too_large(struct arena *arena, const struct command *k)
{
    struct size_counter quick = { false, arena }, exact = { true, arena };

    return count_characters_of_command(&quick, k) > COMMAND_MAX_CHARACTERS &&
           count_characters_of_command(&exact, k) > COMMAND_MAX_CHARACTERS;
}
