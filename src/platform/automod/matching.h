/* matching.h - finds keywords and regular expressions of rules in a text, without the store.
 *
 * One Aho-Corasick automaton finds all keywords in one pass (keyword_automaton.c). Patterns run one
 * after the other, each in time linear in the text (pattern_match.c). Both structures are immutable
 * after construction, so any number of threads may use them. */
#ifndef PLATFORM_AUTOMOD_MATCHING_H
#define PLATFORM_AUTOMOD_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* --- case_folding.c ------------------------------------------------------------------- */

/* A text in lower case, with the offsets of the original text. */
struct folded_text {
    struct str text, original;
    const uint32_t *offsets; /* offset in .original of each byte and of the end; NULL if equal */
};

struct folded_text text_fold_case(struct arena *arena, struct str text);
/* Returns the part of the original text from which this range of the lower-case text was made. */
struct str original_text_of_folded_range(const struct folded_text *t, size_t start, size_t end);
/* True for the characters of a word: letters, digits and combining marks. */
bool is_letter_digit_or_mark(uint32_t c);
/* Returns true if at most one of the characters before and after the offset `at` is a word
 * character. */
bool is_word_boundary(struct str text, size_t at);

/* --- keyword_automaton.c -------------------------------------------------------------- */

struct automod_keyword {
    struct str text; /* the keyword in lower case, without leading and trailing " " */
    bool begins_word,
        ends_word; /* a match must begin (begins_word) or end (ends_word) at a word boundary */
    bool allowed;  /* on the rule's allow list: text inside a match violates no rule */
    uint32_t rule, number; /* index of the rule in the set, and of the keyword in the rule */
};

/* Parses a keyword such as "*cat*" and converts it to lower case. Returns false if the keyword
 * contains no text. */
bool keyword_parse(struct arena *arena, struct str keyword, struct automod_keyword *ret);

struct keyword_automaton;

/* Builds an automaton from copies of the entries. rules is the number of rules. Returns NULL if
 * there are no entries. */
struct keyword_automaton *keyword_automaton_new(const struct automod_keyword *entries, size_t count,
                                                uint32_t rules);
void keyword_automaton_free(struct keyword_automaton *w);
size_t keyword_automaton_memory_bytes(const struct keyword_automaton *w);
/* Returns the maximum number of keywords that can end at the same byte of a text. */
size_t keyword_automaton_get_cost(const struct keyword_automaton *w);

/* The first keyword of a rule that a text contains. number is its index in the rule's list; -1 if
 * the text contains none. */
struct keyword_hit {
    int64_t number;
    uint32_t start, end; /* offsets in the lower-case text */
};

struct keyword_matches {
    struct keyword_hit *hits; /* first hit of each rule; NULL if the automaton has no keywords */
    uint32_t **allowed_end; /* [rule][i]: end of the longest allowed range that starts at or before
                               byte i; NULL if there is no allow list */
    size_t steps; /* number of automaton steps, for tests; at most two per byte and pass */
};
struct keyword_matches keyword_automaton_match(const struct keyword_automaton *w,
                                               struct arena *arena, struct str folded);

/* Returns true if this range of the original text lies inside a match of the rule's allow list. */
bool keyword_allow_list_covers(const struct keyword_matches *found, uint32_t rule,
                               const struct folded_text *text, size_t start, size_t end);

/* --- pattern_match.c ------------------------------------------------------------------ */

struct regex_pattern;

/* Compiles a regular expression. Back references and lookaround are errors, so that matching takes
 * linear time. Returns NULL on error, with an error sentence in *ret_problem. */
struct regex_pattern *regex_pattern_compile(struct str text, const char **ret_problem);
void regex_pattern_free(struct regex_pattern *p);
/* Returns the maximum number of states that one character can activate. Matching takes about cost ×
 * characters × 3 to 5 ns. */
size_t pattern_cost(const struct regex_pattern *p);
/* Finds the leftmost match of a pattern in a text and, among several at that offset, the longest.
 * Empty matches are ignored. */
bool regex_pattern_find_match(const struct regex_pattern *p, struct arena *arena, struct str text,
                              size_t *ret_start, size_t *ret_end);

#endif
