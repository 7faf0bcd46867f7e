/* matching.h - finding what rules forbid in a text, without the store.
 *
 * Words are looked for all at once by one automaton (words.c), patterns one after the other in
 * time that grows with the text and with nothing else (patterns.c). Both are made once and only
 * read from then on, by any number of threads. */
#ifndef PLATFORM_AUTOMOD_MATCHING_H
#define PLATFORM_AUTOMOD_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* --- fold.c --------------------------------------------------------------------------- */

/* A text as it is compared: without case. */
struct folded_text {
    struct str text, original;
    const uint32_t *offsets; /* of each byte in the original, and of its end; NULL: the same */
};

struct folded_text text_fold(struct arena *arena, struct str text);
/* The part of the original that a part of the folded text came from. */
struct str text_unfold(const struct folded_text *t, size_t start, size_t end);
/* Letters, digits, and the marks that letters carry. */
bool is_of_a_word(uint32_t c);
/* Whether words end at this place of valid text: on one side at least there is none. */
bool text_bounds(struct str text, size_t at);

/* --- words.c -------------------------------------------------------------------------- */

/* What an automaton looks for. */
struct word_entry {
    struct str text;             /* folded, without its stars */
    bool begins_word, ends_word; /* it counts only there */
    bool allowed;                /* no offence: what lies inside it does not count */
    uint32_t rule, number;       /* whose, and which of its words */
};

/* "*cat*" and its like, folded, in the arena. False: nothing is left of it. */
bool word_read(struct arena *arena, struct str keyword, struct word_entry *ret);

struct words;

/* Copies what it needs. rules: how many there are. NULL when there are no entries. */
struct words *words_new(const struct word_entry *entries, size_t count, uint32_t rules);
void words_free(struct words *w);
size_t words_bytes(const struct words *w);
/* The most words that may end at one byte of a text. */
size_t words_cost(const struct words *w);

/* The first offence of a rule; number -1: none. */
struct word_hit {
    int64_t number;
    uint32_t start, end; /* in the folded text */
};

struct words_found {
    struct word_hit *hits; /* of each rule; NULL: there are no words */
    uint32_t **reach;      /* [rule][i]: how far what it allows goes that begins at i or before;
                              NULL: the rule allows nothing */
    size_t steps;          /* of the automaton, for tests: at most two for each byte of the text
                              and each time that it reads it */
};
struct words_found words_find(const struct words *w, struct arena *arena, struct str folded);

/* Whether a part of the original lies inside something that the rule allows. */
bool words_allow(const struct words_found *found, uint32_t rule, const struct folded_text *text,
                 size_t start, size_t end);

/* --- patterns.c ----------------------------------------------------------------------- */

struct pattern;

/* A regular expression without back references and without looking around, so that it can be
 * followed in linear time. NULL: *ret_problem is a sentence. */
struct pattern *pattern_new(struct str text, const char **ret_problem);
void pattern_free(struct pattern *p);
/* The most states that one character of a text may lead to: what a text takes is this, times its
 * characters, times three to five nanoseconds. */
size_t pattern_cost(const struct pattern *p);
/* The first place where it matches, there the longest; what matches nothing at all counts
 * for no match. */
bool pattern_find(const struct pattern *p, struct arena *arena, struct str text, size_t *ret_start,
                  size_t *ret_end);

#endif
