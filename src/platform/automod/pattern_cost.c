/* pattern_cost.c - computes an upper bound of a pattern's matching cost per character.
 *
 * A character activates only the states that follow a class that accepts the character. A list of
 * many words is cheap, because only a few states of the list accept the same letter. A repeated dot
 * is expensive: .{100} costs 100, because each of its 100 states accepts every character. */
#include <string.h>

#include "base/mem.h"
#include "platform/automod/patterns.h"

enum { ANY_NON_ASCII = 128 }; /* number that represents all non-ASCII characters */

struct cost_count {
    const struct regex_pattern *pattern;
    uint32_t *stack,
        *counted_round; /* counted_round[s]: number of the round that last counted state s */
    uint32_t round, count;
};

/* Counts a state and the states that the automaton reaches from it without reading a character.
 * Treats every assertion as true, so the result is an upper bound. */
static void count_reachable_states(struct cost_count *c, uint32_t state)
{
    uint32_t waiting = 0;

    c->stack[waiting++] = state;
    while (waiting) {
        state = c->stack[--waiting];
        const struct pattern_state *p = &c->pattern->states[state];

        if (c->counted_round[state] == c->round)
            continue;
        c->counted_round[state] = c->round;
        c->count++;
        if (p->op == OP_SPLIT)
            c->stack[waiting++] = (uint32_t)((int32_t)state + p->y);
        if (p->op == OP_SPLIT || p->op == OP_JUMP)
            c->stack[waiting++] = (uint32_t)((int32_t)state + p->x);
        if (p->op == OP_ASSERT)
            c->stack[waiting++] = state + 1;
    }
}

/* True if the class ignores case and accepts a non-ASCII character whose other case is the ASCII
 * letter i, k or s. */
static bool class_accepts_non_ascii_case(const struct char_class *c)
{
    return c->ignore_case && (char_class_accepts(c, 0x130) || char_class_accepts(c, 0x131) ||
                              char_class_accepts(c, 0x17f) || char_class_accepts(c, 0x212a));
}

static bool class_may_accept_character(const struct char_class *c, uint32_t character)
{
    if (character < ANY_NON_ASCII)
        return char_class_accepts(c, character);
    return c->categories || c->count || c->negated || class_accepts_non_ascii_case(c);
}

/* Returns true if every class accepts both this character and the previous one, or neither. */
static bool classes_treat_like_previous_character(const struct regex_pattern *p, uint32_t character)
{
    for (uint32_t i = 0; i < p->class_count; i++)
        if (!character || class_may_accept_character(&p->classes[i], character) !=
                              class_may_accept_character(&p->classes[i], character - 1))
            return false;
    return true;
}

static uint32_t count_states_of_character(struct cost_count *c, uint32_t character)
{
    const struct regex_pattern *p = c->pattern;

    c->round++;
    c->count = 0;
    count_reachable_states(c, 0); /* state 0, because a match may begin at every character */
    for (uint32_t i = 0; i < p->count; i++)
        if (p->states[i].op == OP_CLASS &&
            class_may_accept_character(&p->classes[p->states[i].x], character))
            count_reachable_states(c, i + 1);
    return c->count;
}

uint32_t pattern_compute_cost(const struct regex_pattern *p)
{
    struct cost_count c = { .pattern = p,
                            .stack = mem_new((2 * p->count + 2) * sizeof *c.stack),
                            .counted_round = mem_new(p->count * sizeof *c.counted_round) };
    uint32_t most = 0;

    for (uint32_t character = 0; character <= ANY_NON_ASCII; character++) {
        uint32_t cost = classes_treat_like_previous_character(p, character)
                            ? 0
                            : count_states_of_character(&c, character);

        most = cost > most ? cost : most;
    }
    mem_free(c.stack);
    mem_free(c.counted_round);
    return most;
}
