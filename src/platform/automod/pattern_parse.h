/* pattern_parse.h - a pattern that is being read: pattern_parse.c follows its parts,
 * pattern_classes.c reads which characters they take. */
#ifndef PLATFORM_AUTOMOD_PATTERN_PARSE_H
#define PLATFORM_AUTOMOD_PATTERN_PARSE_H

#include "platform/automod/patterns.h"

/* A parse that has failed goes on without effect until its end. */
struct pattern_parse {
    struct pattern *out;
    struct str rest;
    const char *problem;
    int depth;
    bool folds, dot_takes_lines, lines; /* the flags i, s and m */
};

/* Notes what is wrong, unless something was before. */
void parse_refuse(struct pattern_parse *p, const char *problem);
/* Does the rest begin with it? parse_eats goes on behind it then. */
bool parse_sees(const struct pattern_parse *p, const char *text);
bool parse_eats(struct pattern_parse *p, const char *text);
/* One character; the end of the text is refused. */
uint32_t parse_next(struct pattern_parse *p);
void state_add(struct pattern_parse *p, struct pattern_state s);

/* --- pattern_classes.c ---------------------------------------------------------------- */

/* NULL: there are too many, which is noted. */
struct char_class *class_add(struct pattern_parse *p);
void class_add_range(struct char_class *c, uint32_t first, uint32_t last);
/* \d and its like. False: it is none. */
bool class_add_kind(struct pattern_parse *p, struct char_class *c, uint32_t letter);
/* What follows a backslash and stands for one character. */
uint32_t parse_escape(struct pattern_parse *p, uint32_t c);
/* After "[". */
void parse_class(struct pattern_parse *p);

#endif
