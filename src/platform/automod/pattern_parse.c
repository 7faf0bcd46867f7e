/* pattern_parse.c - parses a regular expression into NFA states. */
#include "platform/automod/pattern_parse.h"

#include "base/mem.h"
#include "base/utf8.h"

static void parse_alternatives(struct pattern_parse *p);

void parse_refuse(struct pattern_parse *p, const char *problem)
{
    if (!p->problem)
        p->problem = problem;
    p->rest.n = 0;
}

bool parse_sees(const struct pattern_parse *p, const char *text)
{
    return str_starts(p->rest, str_of(text));
}

bool parse_eats(struct pattern_parse *p, const char *text)
{
    if (!parse_sees(p, text))
        return false;
    p->rest = str_from(p->rest, strlen(text));
    return true;
}

uint32_t parse_next(struct pattern_parse *p)
{
    uint32_t c = 0;
    size_t n = utf8_decode(p->rest, &c);

    if (!n)
        parse_refuse(p, "The pattern ends in the middle of an expression.");
    p->rest = str_from(p->rest, n);
    return c;
}

/* --- states --------------------------------------------------------------------------- */

static void states_reserve(struct pattern_parse *p, size_t more)
{
    struct pattern *o = p->out;

    if (o->count + more > PATTERN_MOST_STATES) {
        parse_refuse(p, "The pattern is too large.");
        return;
    }
    if (o->count + more > o->room) {
        o->room = (uint32_t)(2 * (o->count + more));
        o->states = mem_resize(o->states, o->room * sizeof *o->states);
    }
}

void state_add(struct pattern_parse *p, struct pattern_state s)
{
    states_reserve(p, 1);
    if (!p->problem)
        p->out->states[p->out->count++] = s;
}

/* Inserts a state before a part that was already written. */
static void state_insert(struct pattern_parse *p, uint32_t at, struct pattern_state s)
{
    struct pattern *o = p->out;

    states_reserve(p, 1);
    if (p->problem)
        return;
    memmove(&o->states[at + 1], &o->states[at], (o->count - at) * sizeof s);
    o->states[at] = s;
    o->count++;
}

/* --- parts ---------------------------------------------------------------------------- */

static void parse_single(struct pattern_parse *p, uint32_t character)
{
    struct char_class *c = class_add(p);

    if (!c)
        return;
    class_add_range(c, character, character);
    state_add(p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

static void parse_dot(struct pattern_parse *p)
{
    struct char_class *c = class_add(p);

    if (!c)
        return;
    c->negated = true;
    if (!p->dot_takes_lines)
        class_add_range(c, '\n', '\n');
    state_add(p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

static void parse_assert(struct pattern_parse *p, enum pattern_assert what)
{
    state_add(p, (struct pattern_state){ OP_ASSERT, (int32_t)what, 0 });
}

static void parse_backslash(struct pattern_parse *p)
{
    uint32_t letter = parse_next(p);
    struct char_class *c;

    switch (letter) {
    case 'b':
        parse_assert(p, AT_BOUND);
        return;
    case 'B':
        parse_assert(p, AT_NO_BOUND);
        return;
    case 'A':
        parse_assert(p, AT_BEGIN);
        return;
    case 'z':
        parse_assert(p, AT_END);
        return;
    default:
        break;
    }
    if (!strchr("dDwWsSpP", (int)(letter < 128 ? letter : '!'))) {
        parse_single(p, parse_escape(p, letter));
        return;
    }
    c = class_add(p);
    if (!c)
        return;
    class_add_kind(p, c, letter);
    state_add(p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

/* Parses flags such as (?i) or (?s-i:…). Returns true if a group follows. */
static bool parse_flags(struct pattern_parse *p)
{
    bool on = true;

    while (p->rest.n && !p->problem) {
        uint32_t c = parse_next(p);

        if (c == ')' || c == ':')
            return c == ':';
        if (c == '-')
            on = false;
        else if (c == 'i')
            p->folds = on;
        else if (c == 's')
            p->dot_takes_lines = on;
        else if (c == 'm')
            p->lines = on;
        else if (c != 'u')
            parse_refuse(p, "The pattern has an unknown flag.");
    }
    parse_refuse(p, "The pattern has a group without a closing parenthesis.");
    return false;
}

/* Parses a group after "(". Flags inside a group end with the group. */
static void parse_group(struct pattern_parse *p)
{
    bool folds = p->folds, dot = p->dot_takes_lines, lines = p->lines;

    if (++p->depth > PATTERN_DEEPEST)
        parse_refuse(p, "The pattern has too many nested groups.");
    if (parse_sees(p, "?=") || parse_sees(p, "?!") || parse_sees(p, "?<=") || parse_sees(p, "?<!"))
        parse_refuse(p, "Patterns cannot use lookahead or lookbehind.");
    else if (parse_eats(p, "?P<") || parse_eats(p, "?<"))
        str_cut(&p->rest, '>');
    else if (parse_eats(p, "?") && !parse_flags(p)) {
        p->depth--;
        return;
    }
    parse_alternatives(p);
    if (!parse_eats(p, ")"))
        parse_refuse(p, "The pattern has a group without a closing parenthesis.");
    p->folds = folds;
    p->dot_takes_lines = dot;
    p->lines = lines;
    p->depth--;
}

static void parse_part(struct pattern_parse *p)
{
    if (parse_eats(p, "("))
        parse_group(p);
    else if (parse_eats(p, "["))
        parse_class(p);
    else if (parse_eats(p, "."))
        parse_dot(p);
    else if (parse_eats(p, "^"))
        parse_assert(p, p->lines ? AT_LINE_BEGIN : AT_BEGIN);
    else if (parse_eats(p, "$"))
        parse_assert(p, p->lines ? AT_LINE_END : AT_END);
    else if (parse_eats(p, "\\"))
        parse_backslash(p);
    else if (parse_sees(p, "*") || parse_sees(p, "+") || parse_sees(p, "?") || parse_sees(p, "{"))
        parse_refuse(p, "The pattern has a repetition operator without anything to repeat.");
    else
        parse_single(p, parse_next(p));
}

/* --- repetition ----------------------------------------------------------------------- */

enum { UNBOUNDED = -1 };

static int64_t parse_number(struct pattern_parse *p)
{
    int64_t n = 0;

    if (!p->rest.n || p->rest.p[0] < '0' || p->rest.p[0] > '9')
        return UNBOUNDED;
    for (; p->rest.n && p->rest.p[0] >= '0' && p->rest.p[0] <= '9'; p->rest = str_from(p->rest, 1))
        n = n > PATTERN_MOST_STATES ? n : n * 10 + (p->rest.p[0] - '0');
    return n;
}

static bool parse_counts(struct pattern_parse *p, int64_t *ret_least, int64_t *ret_most)
{
    if (parse_eats(p, "*"))
        *ret_least = 0, *ret_most = UNBOUNDED;
    else if (parse_eats(p, "+"))
        *ret_least = 1, *ret_most = UNBOUNDED;
    else if (parse_eats(p, "?"))
        *ret_least = 0, *ret_most = 1;
    else if (parse_eats(p, "{")) {
        *ret_least = *ret_most = parse_number(p);
        if (*ret_least < 0)
            parse_refuse(p, "The pattern has an invalid repetition count.");
        if (parse_eats(p, ","))
            *ret_most = parse_number(p);
        if (!parse_eats(p, "}") || (*ret_most >= 0 && *ret_most < *ret_least))
            parse_refuse(p, "The pattern has an invalid repetition count.");
    } else
        return false;
    parse_eats(p, "?"); /* greedy or lazy: the longest match is reported in both cases */
    return true;
}

static void part_append(struct pattern_parse *p, const struct pattern_state *part, uint32_t count)
{
    states_reserve(p, count);
    if (p->problem || !count)
        return;
    memcpy(&p->out->states[p->out->count], part, count * sizeof *part);
    p->out->count += count;
}

/* Repeats the states from index `from` to the end, which were written once, between least and most
 * times. */
static void part_repeat(struct pattern_parse *p, uint32_t from, int64_t least, int64_t most)
{
    uint32_t count = p->out->count - from;
    struct pattern_state *part = mem_resize(NULL, (count + 1) * sizeof *part);

    if (count)
        memcpy(part, &p->out->states[from], count * sizeof *part);
    p->out->count = from;
    for (int64_t i = 0; i < least && !p->problem; i++)
        part_append(p, part, count);
    if (most == UNBOUNDED) {
        state_add(p, (struct pattern_state){ OP_SPLIT, 1, (int32_t)count + 2 });
        part_append(p, part, count);
        state_add(p, (struct pattern_state){ OP_JUMP, -(int32_t)count - 1, 0 });
    }
    for (int64_t i = least; i < most && !p->problem; i++) {
        state_add(p, (struct pattern_state){ OP_SPLIT, 1, (int32_t)count + 1 });
        part_append(p, part, count);
    }
    mem_free(part);
}

static void parse_sequence(struct pattern_parse *p)
{
    while (p->rest.n && !p->problem && !parse_sees(p, "|") && !parse_sees(p, ")")) {
        uint32_t from = p->out->count;
        int64_t least, most;

        parse_part(p);
        while (!p->problem && parse_counts(p, &least, &most))
            part_repeat(p, from, least, most);
    }
}

static void parse_alternatives(struct pattern_parse *p)
{
    uint32_t from = p->out->count;

    parse_sequence(p);
    if (p->problem || !parse_eats(p, "|"))
        return;
    uint32_t count = p->out->count - from;
    state_insert(p, from, (struct pattern_state){ OP_SPLIT, 1, (int32_t)count + 2 });
    uint32_t jump = p->out->count;
    state_add(p, (struct pattern_state){ OP_JUMP, 0, 0 });
    parse_alternatives(p);
    if (!p->problem)
        p->out->states[jump].x = (int32_t)(p->out->count - jump);
}

struct pattern *pattern_new(struct str text, const char **ret_problem)
{
    struct pattern_parse p = { .out = mem_new(sizeof *p.out), .rest = text };

    parse_alternatives(&p);
    if (p.rest.n)
        parse_refuse(&p, "The pattern has a closing parenthesis without a group.");
    state_add(&p, (struct pattern_state){ .op = OP_MATCH });
    if (!p.problem) {
        for (uint32_t i = 0; i < p.out->class_count; i++)
            class_settle(&p.out->classes[i]);
        p.out->cost = pattern_cost_of(p.out);
        return p.out;
    }
    *ret_problem = p.problem;
    pattern_free(p.out);
    return NULL;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->class_count; i++)
        mem_free(p->classes[i].ranges);
    mem_free(p->classes);
    mem_free(p->states);
    mem_free(p);
}

size_t pattern_cost(const struct pattern *p)
{
    return p->cost;
}
