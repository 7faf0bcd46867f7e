/* pattern_parse.h - parser state of a regular expression: pattern_parse.c parses the structure,
 * pattern_classes.c parses character classes. */
#ifndef PLATFORM_AUTOMOD_PATTERN_PARSE_H
#define PLATFORM_AUTOMOD_PATTERN_PARSE_H

#include "platform/automod/patterns.h"

/* State of the parser. After an error, functions add no more states. */
struct pattern_parser {
    struct regex_pattern *out;
    struct str rest;
    const char *problem;
    int depth;
    bool ignore_case, dot_matches_newline, multiline; /* flags i, s and m of the expression */
};

/* Records an error, unless an earlier one is already recorded. */
void pattern_parser_record_error(struct pattern_parser *p, const char *problem);
/* True if the unparsed text begins with `text`. pattern_parser_skip_text also skips it in this
 * case. */
bool pattern_parser_next_text_is(const struct pattern_parser *p, const char *text);
bool pattern_parser_skip_text(struct pattern_parser *p, const char *text);
/* Returns the next character; reports an error at the end of the text. */
uint32_t pattern_next_character(struct pattern_parser *p);
void pattern_parser_add_state(struct pattern_parser *p, struct pattern_state s);

/* --- pattern_classes.c ---------------------------------------------------------------- */

/* Adds an empty class. Returns NULL and records an error if the pattern has too many classes. */
struct char_class *pattern_parser_add_char_class(struct pattern_parser *p);
void char_class_add_range(struct char_class *c, uint32_t first, uint32_t last);
/* Adds the characters of \d, \w, \s or their negations to a class. Returns false for other
 * letters. */
bool char_class_add_escape(struct pattern_parser *p, struct char_class *c, uint32_t letter);
/* Returns the character of an escape sequence. c is the character after the backslash. */
uint32_t parse_pattern_escape(struct pattern_parser *p, uint32_t c);
/* Parses the rest of a bracket expression, such as [a-z], after the "[". */
void parse_bracket_expression(struct pattern_parser *p);

#endif
