/* pattern_parse.c - parses a regular expression into NFA states. */
#include "platform/automod/pattern_parse.h"

#include "base/mem.h"
#include "base/utf8.h"

static void parse_alternatives(struct pattern_parser *p);

void pattern_parser_record_error(struct pattern_parser *p, const char *problem)
{
    if (!p->problem)
        p->problem = problem;
    p->rest.n = 0;
}

bool pattern_parser_next_text_is(const struct pattern_parser *p, const char *text)
{
    return str_starts_with(p->rest, str_of(text));
}

bool pattern_parser_skip_text(struct pattern_parser *p, const char *text)
{
    if (!pattern_parser_next_text_is(p, text))
        return false;
    p->rest = str_skip_bytes(p->rest, strlen(text));
    return true;
}

uint32_t pattern_next_character(struct pattern_parser *p)
{
    uint32_t c = 0;
    size_t n = utf8_decode(p->rest, &c);

    if (!n)
        pattern_parser_record_error(p, "The pattern ends in the middle of an expression.");
    p->rest = str_skip_bytes(p->rest, n);
    return c;
}

static void reserve_states(struct pattern_parser *p, size_t more)
{
    struct regex_pattern *o = p->out;

    if (o->count + more > PATTERN_MAX_STATES) {
        pattern_parser_record_error(p, "The pattern is too large.");
        return;
    }
    if (o->count + more > o->capacity) {
        o->capacity = (uint32_t)(2 * (o->count + more));
        o->states = mem_resize(o->states, o->capacity * sizeof *o->states);
    }
}

void pattern_parser_add_state(struct pattern_parser *p, struct pattern_state s)
{
    reserve_states(p, 1);
    if (!p->problem)
        p->out->states[p->out->count++] = s;
}

/* Inserts a state at index `at`, before states that were already written. */
static void insert_state(struct pattern_parser *p, uint32_t at, struct pattern_state s)
{
    struct regex_pattern *o = p->out;

    reserve_states(p, 1);
    if (p->problem)
        return;
    memmove(&o->states[at + 1], &o->states[at], (o->count - at) * sizeof s);
    o->states[at] = s;
    o->count++;
}

static void parse_single_character(struct pattern_parser *p, uint32_t character)
{
    struct char_class *c = pattern_parser_add_char_class(p);

    if (!c)
        return;
    char_class_add_range(c, character, character);
    pattern_parser_add_state(
        p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

static void parse_dot(struct pattern_parser *p)
{
    struct char_class *c = pattern_parser_add_char_class(p);

    if (!c)
        return;
    c->negated = true;
    if (!p->dot_matches_newline)
        char_class_add_range(c, '\n', '\n');
    pattern_parser_add_state(
        p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

static void add_assertion(struct pattern_parser *p, enum pattern_assert what)
{
    pattern_parser_add_state(p, (struct pattern_state){ OP_ASSERT, (int32_t)what, 0 });
}

static void parse_backslash_escape(struct pattern_parser *p)
{
    uint32_t letter = pattern_next_character(p);
    struct char_class *c;

    switch (letter) {
    case 'b':
        add_assertion(p, AT_BOUND);
        return;
    case 'B':
        add_assertion(p, AT_NO_BOUND);
        return;
    case 'A':
        add_assertion(p, AT_BEGIN);
        return;
    case 'z':
        add_assertion(p, AT_END);
        return;
    default:
        break;
    }
    if (!strchr("dDwWsSpP", (int)(letter < 128 ? letter : '!'))) {
        parse_single_character(p, parse_pattern_escape(p, letter));
        return;
    }
    c = pattern_parser_add_char_class(p);
    if (!c)
        return;
    char_class_add_escape(p, c, letter);
    pattern_parser_add_state(
        p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

/* Parses flags such as (?i) or (?s-i:…). Returns true if a group follows. */
static bool parse_inline_flags(struct pattern_parser *p)
{
    bool on = true;

    while (p->rest.n && !p->problem) {
        uint32_t c = pattern_next_character(p);

        if (c == ')' || c == ':')
            return c == ':';
        if (c == '-')
            on = false;
        else if (c == 'i')
            p->ignore_case = on;
        else if (c == 's')
            p->dot_matches_newline = on;
        else if (c == 'm')
            p->multiline = on;
        else if (c != 'u')
            pattern_parser_record_error(p, "The pattern has an unknown flag.");
    }
    pattern_parser_record_error(p, "The pattern has a group without a closing parenthesis.");
    return false;
}

/* Parses a group after "(". Flags inside a group end with the group. */
static void parse_parenthesized_group(struct pattern_parser *p)
{
    bool folds = p->ignore_case, dot = p->dot_matches_newline, lines = p->multiline;

    if (++p->depth > PATTERN_MAX_DEPTH)
        pattern_parser_record_error(p, "The pattern has too many nested groups.");
    if (pattern_parser_next_text_is(p, "?=") || pattern_parser_next_text_is(p, "?!") ||
        pattern_parser_next_text_is(p, "?<=") || pattern_parser_next_text_is(p, "?<!"))
        pattern_parser_record_error(p, "Patterns cannot use lookahead or lookbehind.");
    else if (pattern_parser_skip_text(p, "?P<") || pattern_parser_skip_text(p, "?<"))
        str_cut(&p->rest, '>');
    else if (pattern_parser_skip_text(p, "?") && !parse_inline_flags(p)) {
        p->depth--;
        return;
    }
    parse_alternatives(p);
    if (!pattern_parser_skip_text(p, ")"))
        pattern_parser_record_error(p, "The pattern has a group without a closing parenthesis.");
    p->ignore_case = folds;
    p->dot_matches_newline = dot;
    p->multiline = lines;
    p->depth--;
}

static void parse_atom(struct pattern_parser *p)
{
    if (pattern_parser_skip_text(p, "("))
        parse_parenthesized_group(p);
    else if (pattern_parser_skip_text(p, "["))
        parse_bracket_expression(p);
    else if (pattern_parser_skip_text(p, "."))
        parse_dot(p);
    else if (pattern_parser_skip_text(p, "^"))
        add_assertion(p, p->multiline ? AT_LINE_BEGIN : AT_BEGIN);
    else if (pattern_parser_skip_text(p, "$"))
        add_assertion(p, p->multiline ? AT_LINE_END : AT_END);
    else if (pattern_parser_skip_text(p, "\\"))
        parse_backslash_escape(p);
    else if (pattern_parser_next_text_is(p, "*") || pattern_parser_next_text_is(p, "+") ||
             pattern_parser_next_text_is(p, "?") || pattern_parser_next_text_is(p, "{"))
        pattern_parser_record_error(
            p, "The pattern has a repetition operator without anything to repeat.");
    else
        parse_single_character(p, pattern_next_character(p));
}

enum { UNBOUNDED = -1 };

static int64_t parse_repeat_number(struct pattern_parser *p)
{
    int64_t n = 0;

    if (!p->rest.n || p->rest.p[0] < '0' || p->rest.p[0] > '9')
        return UNBOUNDED;
    for (; p->rest.n && p->rest.p[0] >= '0' && p->rest.p[0] <= '9';
         p->rest = str_skip_bytes(p->rest, 1))
        n = n > PATTERN_MAX_STATES ? n : n * 10 + (p->rest.p[0] - '0');
    return n;
}

static bool parse_repeat_counts(struct pattern_parser *p, int64_t *ret_least, int64_t *ret_most)
{
    if (pattern_parser_skip_text(p, "*"))
        *ret_least = 0, *ret_most = UNBOUNDED;
    else if (pattern_parser_skip_text(p, "+"))
        *ret_least = 1, *ret_most = UNBOUNDED;
    else if (pattern_parser_skip_text(p, "?"))
        *ret_least = 0, *ret_most = 1;
    else if (pattern_parser_skip_text(p, "{")) {
        *ret_least = *ret_most = parse_repeat_number(p);
        if (*ret_least < 0)
            pattern_parser_record_error(p, "The pattern has an invalid repetition count.");
        if (pattern_parser_skip_text(p, ","))
            *ret_most = parse_repeat_number(p);
        if (!pattern_parser_skip_text(p, "}") || (*ret_most >= 0 && *ret_most < *ret_least))
            pattern_parser_record_error(p, "The pattern has an invalid repetition count.");
    } else
        return false;
    pattern_parser_skip_text(
        p, "?"); /* ignores a lazy quantifier, because the longest match is reported */
    return true;
}

static void append_states(struct pattern_parser *p, const struct pattern_state *part,
                          uint32_t count)
{
    reserve_states(p, count);
    if (p->problem || !count)
        return;
    memcpy(&p->out->states[p->out->count], part, count * sizeof *part);
    p->out->count += count;
}

/* Repeats the states from index `from` to the end between `least` and `most` times, by copying
 * them. */
static void repeat_states(struct pattern_parser *p, uint32_t from, int64_t least, int64_t most)
{
    uint32_t count = p->out->count - from;
    struct pattern_state *part = mem_resize(NULL, (count + 1) * sizeof *part);

    if (count)
        memcpy(part, &p->out->states[from], count * sizeof *part);
    p->out->count = from;
    for (int64_t i = 0; i < least && !p->problem; i++)
        append_states(p, part, count);
    if (most == UNBOUNDED) {
        pattern_parser_add_state(p, (struct pattern_state){ OP_SPLIT, 1, (int32_t)count + 2 });
        append_states(p, part, count);
        pattern_parser_add_state(p, (struct pattern_state){ OP_JUMP, -(int32_t)count - 1, 0 });
    }
    for (int64_t i = least; i < most && !p->problem; i++) {
        pattern_parser_add_state(p, (struct pattern_state){ OP_SPLIT, 1, (int32_t)count + 1 });
        append_states(p, part, count);
    }
    mem_free(part);
}

static void parse_sequence(struct pattern_parser *p)
{
    while (p->rest.n && !p->problem && !pattern_parser_next_text_is(p, "|") &&
           !pattern_parser_next_text_is(p, ")")) {
        uint32_t from = p->out->count;
        int64_t least, most;

        parse_atom(p);
        while (!p->problem && parse_repeat_counts(p, &least, &most))
            repeat_states(p, from, least, most);
    }
}

static void parse_alternatives(struct pattern_parser *p)
{
    uint32_t from = p->out->count;

    parse_sequence(p);
    if (p->problem || !pattern_parser_skip_text(p, "|"))
        return;
    uint32_t count = p->out->count - from;
    insert_state(p, from, (struct pattern_state){ OP_SPLIT, 1, (int32_t)count + 2 });
    uint32_t jump = p->out->count;
    pattern_parser_add_state(p, (struct pattern_state){ OP_JUMP, 0, 0 });
    parse_alternatives(p);
    if (!p->problem)
        p->out->states[jump].x = (int32_t)(p->out->count - jump);
}

struct regex_pattern *regex_pattern_compile(struct str text, const char **ret_problem)
{
    struct pattern_parser p = { .out = mem_new(sizeof *p.out), .rest = text };

    parse_alternatives(&p);
    if (p.rest.n)
        pattern_parser_record_error(&p, "The pattern has a closing parenthesis without a group.");
    pattern_parser_add_state(&p, (struct pattern_state){ .op = OP_MATCH });
    if (!p.problem) {
        for (uint32_t i = 0; i < p.out->class_count; i++)
            char_class_compute_ascii_set(&p.out->classes[i]);
        p.out->cost = pattern_compute_cost(p.out);
        return p.out;
    }
    *ret_problem = p.problem;
    regex_pattern_free(p.out);
    return NULL;
}

void regex_pattern_free(struct regex_pattern *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->class_count; i++)
        mem_free(p->classes[i].ranges);
    mem_free(p->classes);
    mem_free(p->states);
    mem_free(p);
}

size_t pattern_cost(const struct regex_pattern *p)
{
    return p->cost;
}
