/* size.c - counts the characters of a command for its size limit: all names, descriptions and
 * values; for localized texts the longest translation. */
#include "base/utf8.h"
#include "commands/internal.h"
#include "json/read.h"

struct str choice_text(struct arena *arena, const struct command_choice *c)
{
    struct str text = c->value;
    struct json_reader r;

    if (!text.n || text.p[0] != '"')
        return text;
    if (!memchr(text.p, '\\', text.n))
        return str_slice(text.p + 1, text.n - 2);
    json_reader_init(&r, text, arena);
    json_take_string(&r, &text);
    return text;
}

/* How sizes are counted. Quick mode counts bytes, which are never fewer than characters; most
 * commands need no exact count. */
struct measure {
    bool exact;
    struct arena *arena;
};

static size_t text_size(const struct measure *m, struct str text)
{
    return m->exact ? utf8_length(text) : text.n;
}

static size_t value_size(const struct measure *m, const struct command_choice *c)
{
    return m->exact ? utf8_length(choice_text(m->arena, c)) : c->value.n;
}

static size_t size_longest(const struct measure *m, struct str text,
                           const struct opt_list *dictionary)
{
    const struct pair *p = dictionary->value.items;
    size_t most = text_size(m, text);

    for (size_t i = 0; i < dictionary->value.count; i++) {
        size_t n = text_size(m, p[i].value);

        if (n > most)
            most = n;
    }
    return most;
}

static size_t choices_size(const struct measure *m, const struct list *choices)
{
    const struct command_choice *c = choices->items;
    size_t sum = 0;

    for (size_t i = 0; i < choices->count; i++)
        sum += size_longest(m, c[i].name, &c[i].name_localizations) + value_size(m, &c[i]);
    return sum;
}

static size_t options_size(const struct measure *m, const struct list *options)
{
    const struct command_option *o = options->items;
    size_t sum = 0;

    for (size_t i = 0; i < options->count; i++)
        sum += size_longest(m, o[i].name, &o[i].name_localizations) +
               size_longest(m, o[i].description, &o[i].description_localizations) +
               choices_size(m, &o[i].choices.value) + options_size(m, &o[i].options.value);
    return sum;
}

static size_t command_size(const struct measure *m, const struct command *k)
{
    return size_longest(m, k->name, &k->name_localizations) +
           size_longest(m, k->description, &k->description_localizations) +
           options_size(m, &k->options.value);
}

bool command_is_too_large(struct arena *arena, const struct command *k)
{
    struct measure quick = { false, arena }, exact = { true, arena };

    return command_size(&quick, k) > COMMAND_MOST_CHARACTERS &&
           command_size(&exact, k) > COMMAND_MOST_CHARACTERS;
}
