/* patterns.c - following a regular expression through a text, all its ways at once.
 *
 * A character costs at most as much as the pattern has states, whatever the text (Thompson's
 * construction): nobody can write a text that takes long. */
#include "platform/automod/patterns.h"

#include <utf8proc.h>

#include "base/utf8.h"

static bool class_holds(const struct char_class *c, uint32_t character)
{
    if (character < 128)
        return c->ascii[character / 64] >> character % 64 & 1;
    if (c->categories && c->categories >> utf8proc_category((utf8proc_int32_t)character) & 1)
        return true;
    for (uint32_t i = 0; i < c->count; i++)
        if (character >= c->ranges[i].first && character <= c->ranges[i].last)
            return true;
    return false;
}

bool class_takes(const struct char_class *c, uint32_t character)
{
    bool holds = class_holds(c, character);

    if (!holds && c->folds)
        holds = class_holds(c, (uint32_t)utf8proc_tolower((utf8proc_int32_t)character)) ||
                class_holds(c, (uint32_t)utf8proc_toupper((utf8proc_int32_t)character));
    return holds != c->negated;
}

/* A way through the pattern: where it is, and where in the text it began. */
struct pattern_way {
    uint32_t state, start;
};
struct pattern_ways {
    struct pattern_way *all;
    uint32_t count;
    uint32_t *seen; /* of each state: the round in which it was last added, and one */
};

struct pattern_search {
    const struct pattern *pattern;
    struct str text;
    size_t at; /* where the next character begins */
    struct pattern_ways now, next;
    uint32_t *waiting; /* states that are still to be looked at */
    uint32_t round;
    bool found;
    size_t start, end;
};

static bool is_word_character(uint32_t c)
{
    return c == '_' || is_of_a_word(c);
}

/* The character before a place, or 0. */
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

static bool assert_holds(const struct pattern_search *s, enum pattern_assert what)
{
    uint32_t before = character_before(s->text, s->at), after = 0;

    utf8_decode(str_from(s->text, s->at), &after);
    switch (what) {
    case AT_BEGIN:
        return s->at == 0;
    case AT_END:
        return s->at == s->text.n;
    case AT_LINE_BEGIN:
        return s->at == 0 || before == '\n';
    case AT_LINE_END:
        return s->at == s->text.n || after == '\n';
    default:
        return (is_word_character(before) != is_word_character(after)) == (what == AT_BOUND);
    }
}

/* Ways are added in the order of where they began: of two at the same state the first stays. */
static void ways_add(struct pattern_search *s, struct pattern_ways *ways, uint32_t state,
                     uint32_t start)
{
    uint32_t waiting = 0;

    s->waiting[waiting++] = state;
    while (waiting) {
        state = s->waiting[--waiting];
        const struct pattern_state *p = &s->pattern->states[state];

        if (ways->seen[state] == s->round)
            continue;
        ways->seen[state] = s->round;
        if (p->op == OP_SPLIT) {
            s->waiting[waiting++] = (uint32_t)((int32_t)state + p->y);
            s->waiting[waiting++] = (uint32_t)((int32_t)state + p->x);
        } else if (p->op == OP_JUMP) {
            s->waiting[waiting++] = (uint32_t)((int32_t)state + p->x);
        } else if (p->op != OP_ASSERT) {
            ways->all[ways->count++] = (struct pattern_way){ state, start };
        } else if (assert_holds(s, (enum pattern_assert)p->x)) {
            s->waiting[waiting++] = state + 1;
        }
    }
}

/* What began earlier wins, then what is longer. */
static void search_note(struct pattern_search *s, uint32_t start)
{
    if (s->at == start || (s->found && start > s->start))
        return;
    s->found = true;
    s->start = start;
    s->end = s->at;
}

static void search_step(struct pattern_search *s, uint32_t character, size_t size)
{
    s->at += size;
    s->round++;
    s->next.count = 0;
    for (uint32_t i = 0; i < s->now.count; i++) {
        const struct pattern_way *w = &s->now.all[i];
        const struct pattern_state *p = &s->pattern->states[w->state];

        if (s->found && w->start > s->start)
            break;
        if (p->op == OP_CLASS && class_takes(&s->pattern->classes[p->x], character))
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
