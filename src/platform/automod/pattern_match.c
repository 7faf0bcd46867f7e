/* pattern_match.c - runs a regular expression as a nondeterministic automaton (Thompson).
 *
 * Each character costs at most one step per state of the pattern, so no text can cause exponential
 * time. */
#include "platform/automod/patterns.h"

#include <utf8proc.h>

#include "base/utf8.h"

static bool class_lists_character(const struct char_class *c, uint32_t character)
{
    if (character < 128)
        return c->named[character / 64] >> character % 64 & 1;
    if (c->categories && c->categories >> utf8proc_category((utf8proc_int32_t)character) & 1)
        return true;
    for (uint32_t i = 0; i < c->count; i++)
        if (character >= c->ranges[i].first && character <= c->ranges[i].last)
            return true;
    return false;
}

/* Returns whether a class accepts a character, without the precomputed set of ASCII characters. If
 * the class ignores case, also tests the character's other case. */
static bool class_accepts_character_uncached(const struct char_class *c, uint32_t character)
{
    bool named = class_lists_character(c, character);

    if (!named && c->ignore_case)
        named = class_lists_character(c, (uint32_t)utf8proc_tolower((utf8proc_int32_t)character)) ||
                class_lists_character(c, (uint32_t)utf8proc_toupper((utf8proc_int32_t)character));
    return named != c->negated;
}

void char_class_compute_ascii_set(struct char_class *c)
{
    for (uint32_t i = 0; i < 128; i++)
        if (class_accepts_character_uncached(c, i))
            c->accepted[i / 64] |= UINT64_C(1) << i % 64;
}

bool char_class_accepts(const struct char_class *c, uint32_t character)
{
    if (character < 128)
        return c->accepted[character / 64] >> character % 64 & 1;
    return class_accepts_character_uncached(c, character);
}

/* An active state of the automaton, and the text offset at which its match began. */
struct active_state {
    uint32_t state, start;
};
struct active_states {
    struct active_state *all;
    uint32_t count;
    uint32_t *seen; /* seen[s]: value of .round when state s was last added */
};

/* Cached result: whether a character class accepts the current character in .round. */
struct class_result {
    uint32_t round;
    bool accepts;
};

struct pattern_search {
    const struct regex_pattern *pattern;
    struct str text;
    size_t at; /* offset of the next character */
    struct active_states now, next;
    uint32_t *stack; /* added states whose successors are still to be added */
    struct class_result *class_results;
    uint32_t round;
    uint32_t asserted;         /* bits of the enum pattern_assert values that are true at .at */
    bool asserted_is_computed; /* .asserted is valid for .at */
    bool found;
    size_t start, end;
};

static bool is_regex_word_character(uint32_t c)
{
    return c == '_' || is_letter_digit_or_mark(c);
}

static uint32_t decode_character_before(struct str text, size_t at)
{
    size_t from = at;
    uint32_t c = 0;

    if (!at)
        return 0;
    do
        from--;
    while (from && ((unsigned char)text.p[from] & 0xc0) == 0x80);
    utf8_decode(str_slice(text.p + from, at - from), &c);
    return c;
}

/* Returns the bits of all assertions (enum pattern_assert) that are true at an offset. */
static uint32_t find_true_assertions(struct str text, size_t at)
{
    uint32_t before = decode_character_before(text, at), after = 0;

    utf8_decode(str_skip_bytes(text, at), &after);
    bool bound = is_regex_word_character(before) != is_regex_word_character(after);
    return (uint32_t)(at == 0) << AT_BEGIN | (uint32_t)(at == text.n) << AT_END |
           (uint32_t)(at == 0 || before == '\n') << AT_LINE_BEGIN |
           (uint32_t)(at == text.n || after == '\n') << AT_LINE_END | (uint32_t)bound << AT_BOUND |
           (uint32_t)!bound << AT_NO_BOUND;
}

static bool assertion_holds(struct pattern_search *s, enum pattern_assert what)
{
    if (!s->asserted_is_computed)
        s->asserted = find_true_assertions(s->text, s->at);
    s->asserted_is_computed = true;
    return s->asserted >> what & 1;
}

/* Adds a state and all states that the automaton reaches from it without reading a character. A
 * state that is already active is not added again, so callers add the states with the lowest
 * `start` first: the earliest match remains. */
static void add_active_states(struct pattern_search *s, struct active_states *variants,
                              uint32_t state, uint32_t start)
{
    const struct pattern_state *states = s->pattern->states;
    uint32_t waiting = 0;

    for (;; state = s->stack[--waiting]) {
        while (variants->seen[state] != s->round) {
            const struct pattern_state *p = &states[state];

            variants->seen[state] = s->round;
            if (p->op == OP_SPLIT)
                s->stack[waiting++] = (uint32_t)((int32_t)state + p->y);
            if (p->op == OP_SPLIT || p->op == OP_JUMP)
                state = (uint32_t)((int32_t)state + p->x);
            else if (p->op != OP_ASSERT)
                variants->all[variants->count++] = (struct active_state){ state, start };
            else if (assertion_holds(s, (enum pattern_assert)p->x))
                state++;
        }
        if (!waiting)
            return;
    }
}

/* Records a match that ends at the current offset. A match with an earlier start replaces one with
 * a later start; for the same start, the longer match is recorded. */
static void record_match(struct pattern_search *s, uint32_t start)
{
    if (s->at == start || (s->found && start > s->start))
        return;
    s->found = true;
    s->start = start;
    s->end = s->at;
}

static bool class_accepts_character_cached(struct pattern_search *s, int32_t class,
                                           uint32_t character)
{
    struct class_result *a = &s->class_results[class];

    if (a->round != s->round)
        *a = (struct class_result){ s->round,
                                    char_class_accepts(&s->pattern->classes[class], character) };
    return a->accepts;
}

static void advance_search_by_character(struct pattern_search *s, uint32_t character, size_t size)
{
    s->at += size;
    s->asserted_is_computed = false;
    s->round++;
    s->next.count = 0;
    for (uint32_t i = 0; i < s->now.count; i++) {
        const struct active_state *w = &s->now.all[i];
        const struct pattern_state *p = &s->pattern->states[w->state];

        if (s->found && w->start > s->start)
            break;
        if (p->op == OP_CLASS && class_accepts_character_cached(s, p->x, character))
            add_active_states(s, &s->next, w->state + 1, w->start);
    }
    for (uint32_t i = 0; i < s->next.count; i++)
        if (s->pattern->states[s->next.all[i].state].op == OP_MATCH)
            record_match(s, s->next.all[i].start);
    struct active_states swapped = s->now;
    s->now = s->next;
    s->next = swapped;
}

static struct active_states active_states_new(struct arena *arena, uint32_t states)
{
    return (struct active_states){ .all = arena_array(arena, struct active_state, states + 1),
                                   .seen = arena_array(arena, uint32_t, states + 1) };
}

bool regex_pattern_find_match(const struct regex_pattern *p, struct arena *arena, struct str text,
                              size_t *ret_start, size_t *ret_end)
{
    struct pattern_search s = { .pattern = p,
                                .text = text,
                                .now = active_states_new(arena, p->count),
                                .next = active_states_new(arena, p->count),
                                .stack = arena_array(arena, uint32_t, 2 * p->count + 2),
                                .class_results =
                                    arena_array(arena, struct class_result, p->class_count + 1),
                                .round = 1 };
    uint32_t c;
    size_t size;

    while (s.at < text.n && (size = utf8_decode(str_skip_bytes(text, s.at), &c))) {
        if (!s.found)
            add_active_states(&s, &s.now, 0, (uint32_t)s.at);
        else if (!s.now.count)
            break;
        advance_search_by_character(&s, c, size);
    }
    if (s.found) {
        *ret_start = s.start;
        *ret_end = s.end;
    }
    return s.found;
}
