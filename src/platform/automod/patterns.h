/* patterns.h - compiled form of a regular expression: pattern_parse.c writes it,
 * regex_pattern_find_match runs it. */
#ifndef PLATFORM_AUTOMOD_PATTERNS_H
#define PLATFORM_AUTOMOD_PATTERNS_H

#include "platform/automod/matching.h"

enum {
    PATTERN_MAX_STATES = 2000,
    PATTERN_MAX_CLASSES = 300,
    PATTERN_MAX_DEPTH = 50, /* depth of nested groups */
};

struct char_range {
    uint32_t first, last;
};
struct char_class {
    uint64_t named[2]; /* bits of the ASCII characters that the pattern lists */
    uint64_t
        accepted[2]; /* bits of the accepted ASCII characters, after case folding and negation */
    uint32_t categories; /* bits of the accepted utf8proc categories of non-ASCII characters */
    struct char_range *ranges;
    uint32_t count, capacity;
    bool negated, ignore_case;
};

enum pattern_op { OP_CLASS, OP_SPLIT, OP_JUMP, OP_ASSERT, OP_MATCH };
enum pattern_assert { AT_BEGIN, AT_END, AT_LINE_BEGIN, AT_LINE_END, AT_BOUND, AT_NO_BOUND };

/* A state of the automaton. Jump targets are relative, so that a sequence of states can be copied
 * to repeat it. */
struct pattern_state {
    enum pattern_op op;
    int32_t x, y; /* SPLIT, JUMP: relative targets; CLASS: class index; ASSERT: pattern_assert */
};

struct regex_pattern {
    struct pattern_state *states;
    struct char_class *classes;
    uint32_t count, capacity, class_count;
    uint32_t cost; /* largest number of states that one character activates */
};

/* Computes c->accepted. Call it when the class is complete. */
void char_class_compute_ascii_set(struct char_class *c);
bool char_class_accepts(const struct char_class *c, uint32_t character);

/* Computes the value for p->cost. */
uint32_t pattern_compute_cost(const struct regex_pattern *p);

#endif
