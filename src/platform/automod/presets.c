/* presets.c - keyword lists of the AutoMod presets, read from the configured file. */
#include "platform/automod/presets.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "platform/automod/automod.h"

enum { MOST_WORDS = 5000, LONGEST_WORD = 60, PRESETS = 3 };

static const char *const names[PRESETS] = { "[profanity]", "[sexual]", "[slurs]" };
static struct arena *arena; /* memory of the keywords; never freed */
static struct list lists[PRESETS];

const struct list *automod_preset_keywords(int64_t preset)
{
    static const struct list none;

    return preset >= 1 && preset <= PRESETS ? &lists[preset - 1] : &none;
}

/* Parses a line of the file: list name, keyword, comment or empty line. Returns NULL, or an error
 * sentence. */
static const char *parse_presets_line(struct str line, struct list **now)
{
    if (!line.n || line.p[0] == '#')
        return NULL;
    for (int i = 0; i < PRESETS; i++)
        if (str_is(line, names[i])) {
            *now = &lists[i];
            return NULL;
        }
    if (!*now)
        return "automod-words: a word comes before the first [profanity], [sexual] or [slurs]";
    if (!utf8_is_valid(line) || utf8_length(line) > LONGEST_WORD)
        return "automod-words: the file has a word that is not UTF-8 or longer than 60 characters";
    if ((*now)->count >= MOST_WORDS)
        return "automod-words: a list in the file has more than 5000 words";
    *(struct str *)list_append(arena, *now, sizeof line) = str_dup(arena, line);
    return NULL;
}

bool automod_presets_read_file(const char *path, const char **ret_problem)
{
    struct list *now = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *f;

    memset(lists, 0, sizeof lists);
    arena_free(arena);
    arena = NULL;
    if (!path || !*path)
        return true;
    f = fopen(path, "re");
    *ret_problem = f ? NULL : "automod-words: the file cannot be read";
    arena = arena_new();
    while (f && !*ret_problem && (n = getline(&line, &room, f)) >= 0) {
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            n--;
        *ret_problem = parse_presets_line(str_trim(str_slice(line, (size_t)n)), &now);
    }
    if (f)
        fclose(f);
    free(line); /* allocated by getline */
    return !*ret_problem;
}
