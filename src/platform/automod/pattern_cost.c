/* pattern_cost.c - computes an upper bound of a pattern's matching cost per character.
 *
 * A character activates only the states behind the classes that accept it. A long list of words is
 * cheap, because its words share few letters. A repeated dot costs its repetition count. */
#include <string.h>

#include "base/mem.h"
#include "platform/automod/patterns.h"

enum { BEYOND_ASCII = 128 }; /* stands for all non-ASCII characters */

struct cost_count {
    const struct pattern *pattern;
    uint32_t *waiting, *seen; /* seen: per state, the round in which the state was counted */
    uint32_t round, count;
};

/* Counts the states reachable without a character, as if every assertion held (an upper bound). */
static void cost_follow(struct cost_count *c, uint32_t state)
{
    uint32_t waiting = 0;

    c->waiting[waiting++] = state;
    while (waiting) {
        state = c->waiting[--waiting];
        const struct pattern_state *p = &c->pattern->states[state];

        if (c->seen[state] == c->round)
            continue;
        c->seen[state] = c->round;
        c->count++;
        if (p->op == OP_SPLIT)
            c->waiting[waiting++] = (uint32_t)((int32_t)state + p->y);
        if (p->op == OP_SPLIT || p->op == OP_JUMP)
            c->waiting[waiting++] = (uint32_t)((int32_t)state + p->x);
        if (p->op == OP_ASSERT)
            c->waiting[waiting++] = state + 1;
    }
}

/* True if the class accepts one of the non-ASCII characters whose other case is i, k or s. */
static bool class_folds_beyond(const struct char_class *c)
{
    return c->folds && (class_takes(c, 0x130) || class_takes(c, 0x131) || class_takes(c, 0x17f) ||
                        class_takes(c, 0x212a));
}

static bool class_may_take(const struct char_class *c, uint32_t character)
{
    if (character < BEYOND_ASCII)
        return class_takes(c, character);
    return c->categories || c->count || c->negated || class_folds_beyond(c);
}

/* Returns true if every class treats this character like the previous one. */
static bool is_like_the_last(const struct pattern *p, uint32_t character)
{
    for (uint32_t i = 0; i < p->class_count; i++)
        if (!character || class_may_take(&p->classes[i], character) !=
                              class_may_take(&p->classes[i], character - 1))
            return false;
    return true;
}

static uint32_t cost_of_character(struct cost_count *c, uint32_t character)
{
    const struct pattern *p = c->pattern;

    c->round++;
    c->count = 0;
    cost_follow(c, 0); /* a match may begin at every character */
    for (uint32_t i = 0; i < p->count; i++)
        if (p->states[i].op == OP_CLASS && class_may_take(&p->classes[p->states[i].x], character))
            cost_follow(c, i + 1);
    return c->count;
}

uint32_t pattern_cost_of(const struct pattern *p)
{
    struct cost_count c = { .pattern = p,
                            .waiting = mem_new((2 * p->count + 2) * sizeof *c.waiting),
                            .seen = mem_new(p->count * sizeof *c.seen) };
    uint32_t most = 0;

    for (uint32_t character = 0; character <= BEYOND_ASCII; character++) {
        uint32_t cost = is_like_the_last(p, character) ? 0 : cost_of_character(&c, character);

        most = cost > most ? cost : most;
    }
    mem_free(c.waiting);
    mem_free(c.seen);
    return most;
}
