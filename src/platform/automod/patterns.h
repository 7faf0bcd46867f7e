/* patterns.h - what a pattern is made of: patterns.c writes it, pattern_find follows it. */
#ifndef PLATFORM_AUTOMOD_PATTERNS_H
#define PLATFORM_AUTOMOD_PATTERNS_H

#include "platform/automod/matching.h"

enum {
    PATTERN_MOST_STATES = 2000,
    PATTERN_MOST_CLASSES = 300,
    PATTERN_DEEPEST = 50, /* groups within groups */
};

/* Which characters a place takes. */
struct char_range {
    uint32_t first, last;
};
struct char_class {
    uint64_t named[2];   /* of ASCII: what the pattern names … */
    uint64_t taken[2];   /* … and what the class takes, with folding and negation */
    uint32_t categories; /* bits of utf8proc's categories, for the other characters */
    struct char_range *ranges;
    uint32_t count, room;
    bool negated, folds;
};

enum pattern_op { OP_CLASS, OP_SPLIT, OP_JUMP, OP_ASSERT, OP_MATCH };
enum pattern_assert { AT_BEGIN, AT_END, AT_LINE_BEGIN, AT_LINE_END, AT_BOUND, AT_NO_BOUND };

/* Jumps are relative, so that a part can be repeated by copying it. */
struct pattern_state {
    enum pattern_op op;
    int32_t x, y; /* SPLIT, JUMP: where to; CLASS: which; ASSERT: what */
};

struct pattern {
    struct pattern_state *states;
    struct char_class *classes;
    uint32_t count, room, class_count;
    uint32_t cost; /* the most states that one character leads to */
};

/* Works out .taken; from then on a class is only asked. */
void class_settle(struct char_class *c);
bool class_takes(const struct char_class *c, uint32_t character);

/* pattern_cost.c: works out .cost. */
uint32_t pattern_cost_of(const struct pattern *p);

#endif
