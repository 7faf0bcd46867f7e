/* patterns.c - runs a regular expression as a nondeterministic automaton (Thompson).
 *
 * Each character costs at most one step per state of the pattern, so no text can cause exponential
 * time. */
#include "platform/automod/patterns.h"

#include <utf8proc.h>

#include "base/utf8.h"

static bool class_names(const struct char_class *c, uint32_t character)
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

/* Case-insensitive classes also test the upper-case and lower-case form. */
static bool class_decide(const struct char_class *c, uint32_t character)
{
    bool named = class_names(c, character);

    if (!named && c->folds)
        named = class_names(c, (uint32_t)utf8proc_tolower((utf8proc_int32_t)character)) ||
                class_names(c, (uint32_t)utf8proc_toupper((utf8proc_int32_t)character));
    return named != c->negated;
}

void class_settle(struct char_class *c)
{
    for (uint32_t i = 0; i < 128; i++)
        if (class_decide(c, i))
            c->taken[i / 64] |= UINT64_C(1) << i % 64;
}

bool class_takes(const struct char_class *c, uint32_t character)
{
    if (character < 128)
        return c->taken[character / 64] >> character % 64 & 1;
    return class_decide(c, character);
}

/* An active state of the automaton, and the text offset at which its match began. */
struct pattern_way {
    uint32_t state, start;
};
struct pattern_ways {
    struct pattern_way *all;
    uint32_t count;
    uint32_t *seen; /* per state: the round in which the state was last added */
};

/* Memoized result of one class for the current character. */
struct class_answer {
    uint32_t round;
    bool takes;
};

struct pattern_search {
    const struct pattern *pattern;
    struct str text;
    size_t at; /* offset of the next character */
    struct pattern_ways now, next;
    uint32_t *waiting; /* stack of states to expand */
    struct class_answer *answers;
    uint32_t round;
    uint32_t asserted; /* bits of enum pattern_assert that hold at .at */
    bool knows;        /* .asserted is valid for .at */
    bool found;
    size_t start, end;
};

static bool is_word_character(uint32_t c)
{
    return c == '_' || is_of_a_word(c);
}

/* Returns the character before an offset, or 0. */
static uint32_t character_before(struct str text, size_t at)
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

/* Returns the bits of all assertions that hold at an offset. */
static uint32_t asserts_at(struct str text, size_t at)
{
    uint32_t before = character_before(text, at), after = 0;

    utf8_decode(str_from(text, at), &after);
    bool bound = is_word_character(before) != is_word_character(after);
    return (uint32_t)(at == 0) << AT_BEGIN | (uint32_t)(at == text.n) << AT_END |
           (uint32_t)(at == 0 || before == '\n') << AT_LINE_BEGIN |
           (uint32_t)(at == text.n || after == '\n') << AT_LINE_END | (uint32_t)bound << AT_BOUND |
           (uint32_t)!bound << AT_NO_BOUND;
}

static bool assert_holds(struct pattern_search *s, enum pattern_assert what)
{
    if (!s->knows)
        s->asserted = asserts_at(s->text, s->at);
    s->knows = true;
    return s->asserted >> what & 1;
}

/* Adds a state and all states that it reaches without a character. Callers add in order of `start`:
 * if two matches reach the same state, the one that started earlier wins. */
static void ways_add(struct pattern_search *s, struct pattern_ways *ways, uint32_t state,
                     uint32_t start)
{
    const struct pattern_state *states = s->pattern->states;
    uint32_t waiting = 0;

    for (;; state = s->waiting[--waiting]) {
        while (ways->seen[state] != s->round) {
            const struct pattern_state *p = &states[state];

            ways->seen[state] = s->round;
            if (p->op == OP_SPLIT)
                s->waiting[waiting++] = (uint32_t)((int32_t)state + p->y);
            if (p->op == OP_SPLIT || p->op == OP_JUMP)
                state = (uint32_t)((int32_t)state + p->x);
            else if (p->op != OP_ASSERT)
                ways->all[ways->count++] = (struct pattern_way){ state, start };
            else if (assert_holds(s, (enum pattern_assert)p->x))
                state++;
        }
        if (!waiting)
            return;
    }
}

/* Records a match at the current offset: the earliest start wins, then the longest match. */
static void search_note(struct pattern_search *s, uint32_t start)
{
    if (s->at == start || (s->found && start > s->start))
        return;
    s->found = true;
    s->start = start;
    s->end = s->at;
}

static bool search_takes(struct pattern_search *s, int32_t class, uint32_t character)
{
    struct class_answer *a = &s->answers[class];

    if (a->round != s->round)
        *a = (struct class_answer){ s->round, class_takes(&s->pattern->classes[class], character) };
    return a->takes;
}

static void search_step(struct pattern_search *s, uint32_t character, size_t size)
{
    s->at += size;
    s->knows = false;
    s->round++;
    s->next.count = 0;
    for (uint32_t i = 0; i < s->now.count; i++) {
        const struct pattern_way *w = &s->now.all[i];
        const struct pattern_state *p = &s->pattern->states[w->state];

        if (s->found && w->start > s->start)
            break;
        if (p->op == OP_CLASS && search_takes(s, p->x, character))
            ways_add(s, &s->next, w->state + 1, w->start);
    }
    for (uint32_t i = 0; i < s->next.count; i++)
        if (s->pattern->states[s->next.all[i].state].op == OP_MATCH)
            search_note(s, s->next.all[i].start);
    struct pattern_ways swapped = s->now;
    s->now = s->next;
    s->next = swapped;
}

static struct pattern_ways ways_new(struct arena *arena, uint32_t states)
{
    return (struct pattern_ways){ .all = arena_array(arena, struct pattern_way, states + 1),
                                  .seen = arena_array(arena, uint32_t, states + 1) };
}

bool pattern_find(const struct pattern *p, struct arena *arena, struct str text, size_t *ret_start,
                  size_t *ret_end)
{
    struct pattern_search s = { .pattern = p,
                                .text = text,
                                .now = ways_new(arena, p->count),
                                .next = ways_new(arena, p->count),
                                .waiting = arena_array(arena, uint32_t, 2 * p->count + 2),
                                .answers =
                                    arena_array(arena, struct class_answer, p->class_count + 1),
                                .round = 1 };
    uint32_t c;
    size_t size;

    while (s.at < text.n && (size = utf8_decode(str_from(text, s.at), &c))) {
        if (!s.found)
            ways_add(&s, &s.now, 0, (uint32_t)s.at);
        else if (!s.now.count)
            break;
        search_step(&s, c, size);
    }
    if (s.found) {
        *ret_start = s.start;
        *ret_end = s.end;
    }
    return s.found;
}
