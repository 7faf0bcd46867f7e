/* pattern_parse.c - from the text of a regular expression to states. */
#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "platform/automod/patterns.h"

/* A parse that has failed goes on without effect until its end. */
struct parse {
    struct pattern *out;
    struct str rest;
    const char *problem;
    int depth;
    bool folds, dot_takes_lines, lines; /* the flags i, s and m */
};

static void parse_alternatives(struct parse *p);

static void parse_refuse(struct parse *p, const char *problem)
{
    if (!p->problem)
        p->problem = problem;
    p->rest.n = 0;
}

static bool parse_sees(const struct parse *p, const char *text)
{
    return str_starts(p->rest, str_of(text));
}

static bool parse_eats(struct parse *p, const char *text)
{
    if (!parse_sees(p, text))
        return false;
    p->rest = str_from(p->rest, strlen(text));
    return true;
}

static uint32_t parse_next(struct parse *p)
{
    uint32_t c = 0;
    size_t n = utf8_decode(p->rest, &c);

    if (!n)
        parse_refuse(p, "The pattern ends too early.");
    p->rest = str_from(p->rest, n);
    return c;
}

/* --- states --------------------------------------------------------------------------- */

static void states_reserve(struct parse *p, size_t more)
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

static void state_add(struct parse *p, struct pattern_state s)
{
    states_reserve(p, 1);
    if (!p->problem)
        p->out->states[p->out->count++] = s;
}

/* Before a part that is there already. */
static void state_insert(struct parse *p, uint32_t at, struct pattern_state s)
{
    struct pattern *o = p->out;

    states_reserve(p, 1);
    if (p->problem)
        return;
    memmove(&o->states[at + 1], &o->states[at], (o->count - at) * sizeof s);
    o->states[at] = s;
    o->count++;
}

/* --- classes -------------------------------------------------------------------------- */

static struct char_class *class_add(struct parse *p)
{
    struct pattern *o = p->out;

    if (o->class_count >= PATTERN_MOST_CLASSES) {
        parse_refuse(p, "The pattern is too large.");
        return NULL;
    }
    o->classes = mem_resize(o->classes, (o->class_count + 1) * sizeof *o->classes);
    struct char_class *c = &o->classes[o->class_count++];
    *c = (struct char_class){ .folds = p->folds };
    return c;
}

static void class_add_range(struct char_class *c, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last && i < 128; i++)
        c->named[i / 64] |= UINT64_C(1) << i % 64;
    if (last < 128)
        return;
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 4;
        c->ranges = mem_resize(c->ranges, c->room * sizeof *c->ranges);
    }
    c->ranges[c->count++] = (struct char_range){ first < 128 ? 128 : first, last };
}

static void class_add_categories(struct char_class *c, uint32_t categories)
{
    c->categories |= categories;
    for (uint32_t i = 0; i < 128; i++)
        if (categories >> utf8proc_category((utf8proc_int32_t)i) & 1)
            class_add_range(c, i, i);
}

#define CATEGORY(name) (1u << UTF8PROC_CATEGORY_##name)
#define ALL_CATEGORIES 0x3fffffffu
#define LETTERS        (CATEGORY(LU) | CATEGORY(LL) | CATEGORY(LT) | CATEGORY(LM) | CATEGORY(LO))
#define WORD_CATEGORIES \
    (LETTERS | CATEGORY(MN) | CATEGORY(MC) | CATEGORY(ME) | CATEGORY(ND) | CATEGORY(PC))

static const struct char_range spaces[] = {
    { 9, 13 },          { 32, 32 },         { 0x85, 0x85 },     { 0xa0, 0xa0 },
    { 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x2028, 0x2029 }, { 0x202f, 0x202f },
    { 0x205f, 0x205f }, { 0x3000, 0x3000 },
};

static void class_add_spaces(struct char_class *c, bool others)
{
    uint32_t from = 0;

    for (size_t i = 0; i < COUNT_OF(spaces); i++) {
        if (!others)
            class_add_range(c, spaces[i].first, spaces[i].last);
        else if (spaces[i].first > from)
            class_add_range(c, from, spaces[i].first - 1);
        from = spaces[i].last + 1;
    }
    if (others)
        class_add_range(c, from, 0x10ffff);
}

/* The names of general categories, in the order of utf8proc's numbers from 1 on. */
static const char category_names[] = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo";

static uint32_t categories_named(struct str name)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < sizeof category_names / 2; i++)
        if (name.n && name.n <= 2 && !memcmp(name.p, &category_names[2 * i], name.n))
            found |= 2u << i;
    return found;
}

/* After \p or \P. */
static void class_add_property(struct parse *p, struct char_class *c, bool others)
{
    struct str name = str_slice(p->rest.p, p->rest.n ? 1 : 0);

    if (parse_eats(p, "{"))
        name = str_cut(&p->rest, '}');
    else
        p->rest = str_from(p->rest, name.n);
    uint32_t categories = categories_named(name);
    if (!categories)
        parse_refuse(p, "The pattern asks for a property of characters that is not known.");
    class_add_categories(c, others ? ALL_CATEGORIES & ~categories : categories);
}

/* \d and its like. False: it is none. */
static bool class_add_kind(struct parse *p, struct char_class *c, uint32_t letter)
{
    switch (letter) {
    case 'd':
        class_add_categories(c, CATEGORY(ND));
        return true;
    case 'D':
        class_add_categories(c, ALL_CATEGORIES & ~CATEGORY(ND));
        return true;
    case 'w':
        class_add_categories(c, WORD_CATEGORIES);
        return true;
    case 'W':
        class_add_categories(c, ALL_CATEGORIES & ~WORD_CATEGORIES);
        return true;
    case 's':
    case 'S':
        class_add_spaces(c, letter == 'S');
        return true;
    case 'p':
    case 'P':
        class_add_property(p, c, letter == 'P');
        return true;
    default:
        return false;
    }
}

/* --- single characters ---------------------------------------------------------------- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* \x41, \u0041, \U00000041, and all three with braces. */
static uint32_t parse_hex(struct parse *p, size_t digits)
{
    struct str number = str_slice(p->rest.p, p->rest.n < digits ? p->rest.n : digits);
    uint32_t c = 0;

    if (parse_eats(p, "{"))
        number = str_cut(&p->rest, '}');
    else
        p->rest = str_from(p->rest, number.n);
    for (size_t i = 0; i < number.n && c <= 0x10ffff; i++) {
        int v = hex_value(number.p[i]);

        if (v < 0)
            parse_refuse(p, "The pattern has a number that is none.");
        c = c * 16 + (uint32_t)(v & 15);
    }
    if (!number.n || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        parse_refuse(p, "The pattern has a number that is no character.");
    return c;
}

/* What follows a backslash and stands for one character. */
static uint32_t parse_escape(struct parse *p, uint32_t c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'f':
        return '\f';
    case 'v':
        return '\v';
    case 'a':
        return 7;
    case 'x':
        return parse_hex(p, 2);
    case 'u':
        return parse_hex(p, 4);
    case 'U':
        return parse_hex(p, 8);
    default:
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
            parse_refuse(p, "The pattern has an escape that is not known.");
        return c;
    }
}

/* --- [ … ] ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct char_range ranges[4];
} named_classes[] = {
    { "alnum", { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } } },
    { "alpha", { { 'A', 'Z' }, { 'a', 'z' } } },
    { "ascii", { { 0, 127 } } },
    { "blank", { { '\t', '\t' }, { ' ', ' ' } } },
    { "cntrl", { { 0, 31 }, { 127, 127 } } },
    { "digit", { { '0', '9' } } },
    { "graph", { { '!', '~' } } },
    { "lower", { { 'a', 'z' } } },
    { "print", { { ' ', '~' } } },
    { "punct", { { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' } } },
    { "space", { { '\t', '\r' }, { ' ', ' ' } } },
    { "upper", { { 'A', 'Z' } } },
    { "word", { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' }, { '_', '_' } } },
    { "xdigit", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } } },
};

static void parse_named_class(struct parse *p, struct char_class *c)
{
    struct str name = str_cut(&p->rest, ':');

    parse_eats(p, "]");
    for (size_t i = 0; i < COUNT_OF(named_classes); i++) {
        if (!str_is(name, named_classes[i].name))
            continue;
        for (size_t k = 0; k < 4; k++)
            if (named_classes[i].ranges[k].last)
                class_add_range(c, named_classes[i].ranges[k].first,
                                named_classes[i].ranges[k].last);
        return;
    }
    parse_refuse(p, "The pattern has a class of characters that is not known.");
}

/* One character of a class, or a kind of them: then *ret_kind. */
static uint32_t parse_class_item(struct parse *p, struct char_class *c, bool *ret_kind)
{
    *ret_kind = false;
    if (!parse_eats(p, "\\"))
        return parse_next(p);
    uint32_t letter = parse_next(p);
    *ret_kind = class_add_kind(p, c, letter);
    return *ret_kind ? 0 : letter == 'b' ? 8 : parse_escape(p, letter);
}

static void parse_class_part(struct parse *p, struct char_class *c)
{
    bool kind;
    uint32_t first = parse_class_item(p, c, &kind), last = first;

    if (kind || p->problem)
        return;
    if (parse_sees(p, "-") && !parse_sees(p, "-]")) {
        parse_eats(p, "-");
        last = parse_class_item(p, c, &kind);
        if (kind || last < first) {
            parse_refuse(p, "The pattern has a range of characters that is none.");
            return;
        }
    }
    class_add_range(c, first, last);
}

static void parse_class(struct parse *p)
{
    struct char_class *c = class_add(p);
    bool first = true;

    if (!c)
        return;
    c->negated = parse_eats(p, "^");
    for (; !p->problem && (first || !parse_sees(p, "]")); first = false) {
        if (!p->rest.n)
            parse_refuse(p, "The pattern has a class of characters without its end.");
        else if (parse_eats(p, "[:"))
            parse_named_class(p, c);
        else if (parse_sees(p, "[") || parse_sees(p, "&&") || parse_sees(p, "--"))
            parse_refuse(p, "Classes of characters cannot be combined.");
        else
            parse_class_part(p, c);
    }
    parse_eats(p, "]");
    state_add(p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

/* --- parts ---------------------------------------------------------------------------- */

static void parse_single(struct parse *p, uint32_t character)
{
    struct char_class *c = class_add(p);

    if (!c)
        return;
    class_add_range(c, character, character);
    state_add(p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

static void parse_dot(struct parse *p)
{
    struct char_class *c = class_add(p);

    if (!c)
        return;
    c->negated = true;
    if (!p->dot_takes_lines)
        class_add_range(c, '\n', '\n');
    state_add(p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}

static void parse_assert(struct parse *p, enum pattern_assert what)
{
    state_add(p, (struct pattern_state){ OP_ASSERT, (int32_t)what, 0 });
}

static void parse_backslash(struct parse *p)
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

/* (?i), (?s-i:…). True: a group follows. */
static bool parse_flags(struct parse *p)
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
            parse_refuse(p, "The pattern has a flag that is not known.");
    }
    parse_refuse(p, "The pattern has a group without its end.");
    return false;
}

/* After "(": flags change what follows in the group around them. */
static void parse_group(struct parse *p)
{
    bool folds = p->folds, dot = p->dot_takes_lines, lines = p->lines;

    if (++p->depth > PATTERN_DEEPEST)
        parse_refuse(p, "The pattern has too many groups within groups.");
    if (parse_sees(p, "?=") || parse_sees(p, "?!") || parse_sees(p, "?<=") || parse_sees(p, "?<!"))
        parse_refuse(p, "Patterns cannot look around.");
    else if (parse_eats(p, "?P<") || parse_eats(p, "?<"))
        str_cut(&p->rest, '>');
    else if (parse_eats(p, "?") && !parse_flags(p)) {
        p->depth--;
        return;
    }
    parse_alternatives(p);
    if (!parse_eats(p, ")"))
        parse_refuse(p, "The pattern has a group without its end.");
    p->folds = folds;
    p->dot_takes_lines = dot;
    p->lines = lines;
    p->depth--;
}

static void parse_part(struct parse *p)
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
        parse_refuse(p, "The pattern repeats nothing.");
    else
        parse_single(p, parse_next(p));
}

/* --- repetition ----------------------------------------------------------------------- */

enum { UNBOUNDED = -1 };

static int64_t parse_number(struct parse *p)
{
    int64_t n = 0;

    if (!p->rest.n || p->rest.p[0] < '0' || p->rest.p[0] > '9')
        return UNBOUNDED;
    for (; p->rest.n && p->rest.p[0] >= '0' && p->rest.p[0] <= '9'; p->rest = str_from(p->rest, 1))
        n = n > PATTERN_MOST_STATES ? n : n * 10 + (p->rest.p[0] - '0');
    return n;
}

static bool parse_counts(struct parse *p, int64_t *ret_least, int64_t *ret_most)
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
            parse_refuse(p, "The pattern repeats something a number of times that is none.");
        if (parse_eats(p, ","))
            *ret_most = parse_number(p);
        if (!parse_eats(p, "}") || (*ret_most >= 0 && *ret_most < *ret_least))
            parse_refuse(p, "The pattern repeats something a number of times that is none.");
    } else
        return false;
    parse_eats(p, "?"); /* whether much or little is taken: the longest is found anyway */
    return true;
}

static void part_append(struct parse *p, const struct pattern_state *part, uint32_t count)
{
    states_reserve(p, count);
    if (p->problem)
        return;
    memcpy(&p->out->states[p->out->count], part, count * sizeof *part);
    p->out->count += count;
}

/* Of what begins at `from` and was written once: so often as asked for. */
static void part_repeat(struct parse *p, uint32_t from, int64_t least, int64_t most)
{
    uint32_t count = p->out->count - from;
    struct pattern_state *part = mem_resize(NULL, (count + 1) * sizeof *part);

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

static void parse_sequence(struct parse *p)
{
    while (p->rest.n && !p->problem && !parse_sees(p, "|") && !parse_sees(p, ")")) {
        uint32_t from = p->out->count;
        int64_t least, most;

        parse_part(p);
        while (!p->problem && parse_counts(p, &least, &most))
            part_repeat(p, from, least, most);
    }
}

static void parse_alternatives(struct parse *p)
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
    struct parse p = { .out = mem_new(sizeof *p.out), .rest = text };

    parse_alternatives(&p);
    if (p.rest.n)
        parse_refuse(&p, "The pattern has the end of a group that never began.");
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
