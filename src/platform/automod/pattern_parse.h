/* pattern_parse.h - parser state of a regular expression: pattern_parse.c parses the structure,
 * pattern_classes.c parses character classes. */
#ifndef PLATFORM_AUTOMOD_PATTERN_PARSE_H
#define PLATFORM_AUTOMOD_PATTERN_PARSE_H

#include "platform/automod/patterns.h"

/* State of the parser. After an error the parser continues without effect until the end. */
struct pattern_parse {
    struct pattern *out;
    struct str rest;
    const char *problem;
    int depth;
    bool folds, dot_takes_lines, lines; /* flags i, s and m of the expression */
};

/* Records the first error; ignores later ones. */
void parse_refuse(struct pattern_parse *p, const char *problem);
/* Tests whether the unparsed rest begins with this text. parse_eats also skips the text. */
bool parse_sees(const struct pattern_parse *p, const char *text);
bool parse_eats(struct pattern_parse *p, const char *text);
/* Returns the next character; reports an error at the end of the text. */
uint32_t parse_next(struct pattern_parse *p);
void state_add(struct pattern_parse *p, struct pattern_state s);

/* --- pattern_classes.c ---------------------------------------------------------------- */

/* Returns NULL and records an error if there are too many classes. */
struct char_class *class_add(struct pattern_parse *p);
void class_add_range(struct char_class *c, uint32_t first, uint32_t last);
/* Adds \d, \w, \s or their negations. Returns false for other letters. */
bool class_add_kind(struct pattern_parse *p, struct char_class *c, uint32_t letter);
/* Returns the single character of an escape sequence; c follows the backslash. */
uint32_t parse_escape(struct pattern_parse *p, uint32_t c);
/* Parses a bracket expression after "[". */
void parse_class(struct pattern_parse *p);

#endif
