/* option_names.c - finds misspelled options and suggests the most similar name. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/str.h"

enum { MAX_NAME_LENGTH = 64 };

static size_t smaller_of_two_sizes(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the Levenshtein distance of two names; SIZE_MAX if one is longer than any option name. */
static size_t levenshtein_distance(struct str a, struct str b)
{
    size_t row[MAX_NAME_LENGTH + 1];

    if (a.n > MAX_NAME_LENGTH || b.n > MAX_NAME_LENGTH)
        return SIZE_MAX;
    for (size_t k = 0; k <= b.n; k++)
        row[k] = k;
    for (size_t i = 1; i <= a.n; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t k = 1; k <= b.n; k++) {
            size_t changed = corner + (a.p[i - 1] != b.p[k - 1]);

            corner = row[k];
            row[k] = smaller_of_two_sizes(changed, 1 + smaller_of_two_sizes(row[k], row[k - 1]));
        }
    }
    return row[b.n];
}

const char *option_find_most_similar(const struct option_row *const *lists, struct str name)
{
    /* Allow more wrong letters in longer names: for a name of six letters, accept up to three. */
    size_t best = name.n / 3 + 2;
    const char *found = NULL;

    for (; *lists; lists++) {
        for (const struct option_row *row = *lists; row->name; row++) {
            size_t distance = levenshtein_distance(name, str_of(row->name));

            if (distance < best) {
                best = distance;
                found = row->name;
            }
        }
    }
    return found;
}

/* Converts the part of an environment variable after the prefix to an option name: "TLS_KEY" to
 * "tls-key". */
static struct str option_name_from_environment(struct arena *arena, struct str variable)
{
    char *name = str_dup_cstring(arena, variable);

    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
    return str_slice(name, variable.n);
}

static bool is_known_option_name(const struct option_row *const *lists, struct str name)
{
    for (; *lists; lists++)
        for (const struct option_row *row = *lists; row->name; row++)
            if (str_is(name, row->name))
                return true;
    return false;
}

/* Returns true if the name equals one of the patterns. A pattern that ends with a star matches
 * every name that starts with the text before the star. */
static bool name_matches_any_pattern(const char *const *patterns, struct str name)
{
    for (; patterns && *patterns; patterns++) {
        struct str pattern = str_of(*patterns);

        if (pattern.p[pattern.n - 1] == '*'
                ? str_starts_with(name, str_slice(pattern.p, pattern.n - 1))
                : str_eq(name, pattern))
            return true;
    }
    return false;
}

static const char *format_unknown_variable_error(const struct option_row *const *lists,
                                                 const char *prefix, struct arena *arena,
                                                 struct str variable, struct str name)
{
    const char *nearest = option_find_most_similar(lists, name);
    char meant[128];

    if (!nearest)
        return str_printf(arena, "the environment variable %s%.*s is not an option", prefix,
                          STR_ARGS(variable))
            .p;
    option_format_variable_name(prefix, nearest, meant, sizeof meant);
    return str_printf(arena, "the environment variable %s%.*s is not an option; did you mean %s?",
                      prefix, STR_ARGS(variable), meant)
        .p;
}

bool options_check_environment_spelling(const struct option_row *const *lists,
                                        const char *const *others, const char *prefix,
                                        struct arena *arena, const char **ret_problem)
{
    struct str begins = str_of(prefix);

    for (char **entry = environ; *entry; entry++) {
        struct str variable = str_of(*entry);

        if (!str_starts_with(variable, begins))
            continue;
        variable = str_skip_bytes(variable, begins.n);
        variable = str_cut(&variable, '=');
        struct str name = option_name_from_environment(arena, variable);
        if (is_known_option_name(lists, name) || name_matches_any_pattern(others, variable))
            continue;
        *ret_problem = format_unknown_variable_error(lists, prefix, arena, variable, name);
        return false;
    }
    return true;
}
