/* pattern_classes.c - parses the character classes of a regular expression. */
#include <utf8proc.h>

#include "base/mem.h"
#include "platform/automod/pattern_parse.h"

struct char_class *pattern_parser_add_char_class(struct pattern_parser *p)
{
    struct regex_pattern *o = p->out;

    if (o->class_count >= PATTERN_MAX_CLASSES) {
        pattern_parser_record_error(p, "The pattern is too large.");
        return NULL;
    }
    o->classes = mem_resize(o->classes, (o->class_count + 1) * sizeof *o->classes);
    struct char_class *c = &o->classes[o->class_count++];
    *c = (struct char_class){ .ignore_case = p->ignore_case };
    return c;
}

void char_class_add_range(struct char_class *c, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last && i < 128; i++)
        c->named[i / 64] |= UINT64_C(1) << i % 64;
    if (last < 128)
        return;
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 4;
        c->ranges = mem_resize(c->ranges, c->capacity * sizeof *c->ranges);
    }
    c->ranges[c->count++] = (struct char_range){ first < 128 ? 128 : first, last };
}

static void class_add_categories(struct char_class *c, uint32_t categories)
{
    c->categories |= categories;
    for (uint32_t i = 0; i < 128; i++)
        if (categories >> utf8proc_category((utf8proc_int32_t)i) & 1)
            char_class_add_range(c, i, i);
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

static void class_add_white_space(struct char_class *c, bool others)
{
    uint32_t from = 0;

    for (size_t i = 0; i < COUNT_OF(spaces); i++) {
        if (!others)
            char_class_add_range(c, spaces[i].first, spaces[i].last);
        else if (spaces[i].first > from)
            char_class_add_range(c, from, spaces[i].first - 1);
        from = spaces[i].last + 1;
    }
    if (others)
        char_class_add_range(c, from, 0x10ffff);
}

/* Two-letter names of the Unicode general categories, in the order of utf8proc's numbers from 1. */
static const char category_names[] = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo";

static uint32_t find_unicode_categories(struct str name)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < sizeof category_names / 2; i++)
        if (name.n && name.n <= 2 && !memcmp(name.p, &category_names[2 * i], name.n))
            found |= 2u << i;
    return found;
}

/* Parses a Unicode property after \p or \P. */
static void parse_unicode_property(struct pattern_parser *p, struct char_class *c, bool others)
{
    struct str name = str_slice(p->rest.p, p->rest.n ? 1 : 0);

    if (pattern_parser_skip_text(p, "{"))
        name = str_cut(&p->rest, '}');
    else
        p->rest = str_skip_bytes(p->rest, name.n);
    uint32_t categories = find_unicode_categories(name);
    if (!categories)
        pattern_parser_record_error(p, "The pattern has an unknown Unicode property after \\p.");
    class_add_categories(c, others ? ALL_CATEGORIES & ~categories : categories);
}

bool char_class_add_escape(struct pattern_parser *p, struct char_class *c, uint32_t letter)
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
        class_add_white_space(c, letter == 'S');
        return true;
    case 'p':
    case 'P':
        parse_unicode_property(p, c, letter == 'P');
        return true;
    default:
        return false;
    }
}

/* --- single characters of a pattern -------------------------------------------------- */

static int hex_digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Parses the digits of \x41, \u0041 and \U00000041, with or without braces. */
static uint32_t parse_hex_escape(struct pattern_parser *p, size_t digits)
{
    struct str number = str_slice(p->rest.p, p->rest.n < digits ? p->rest.n : digits);
    uint32_t c = 0;

    if (pattern_parser_skip_text(p, "{"))
        number = str_cut(&p->rest, '}');
    else
        p->rest = str_skip_bytes(p->rest, number.n);
    for (size_t i = 0; i < number.n && c <= 0x10ffff; i++) {
        int v = hex_digit_value(number.p[i]);

        if (v < 0)
            pattern_parser_record_error(
                p, "The pattern has an escape with invalid hexadecimal digits.");
        c = c * 16 + (uint32_t)(v & 15);
    }
    if (!number.n || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        pattern_parser_record_error(
            p, "The pattern has a hexadecimal escape that is not a Unicode character.");
    return c;
}

uint32_t parse_pattern_escape(struct pattern_parser *p, uint32_t c)
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
        return parse_hex_escape(p, 2);
    case 'u':
        return parse_hex_escape(p, 4);
    case 'U':
        return parse_hex_escape(p, 8);
    default:
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
            pattern_parser_record_error(p, "The pattern has an unknown escape sequence.");
        return c;
    }
}

/* --- bracket expressions ------------------------------------------------------------- */

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

static void parse_posix_class(struct pattern_parser *p, struct char_class *c)
{
    struct str name = str_cut(&p->rest, ':');

    pattern_parser_skip_text(p, "]");
    for (size_t i = 0; i < COUNT_OF(named_classes); i++) {
        if (!str_is(name, named_classes[i].name))
            continue;
        for (size_t k = 0; k < 4; k++)
            if (named_classes[i].ranges[k].last)
                char_class_add_range(c, named_classes[i].ranges[k].first,
                                     named_classes[i].ranges[k].last);
        return;
    }
    pattern_parser_record_error(p, "The pattern has an unknown named character class.");
}

/* Parses one character, escape or class of a bracket expression. Returns the character; if it is a
 * class such as \d, adds the class to c and sets *ret_kind. */
static uint32_t parse_class_item(struct pattern_parser *p, struct char_class *c, bool *ret_kind)
{
    *ret_kind = false;
    if (!pattern_parser_skip_text(p, "\\"))
        return pattern_next_character(p);
    uint32_t letter = pattern_next_character(p);
    *ret_kind = char_class_add_escape(p, c, letter);
    return *ret_kind ? 0 : letter == 'b' ? 8 : parse_pattern_escape(p, letter);
}

static void parse_class_range(struct pattern_parser *p, struct char_class *c)
{
    bool kind;
    uint32_t first = parse_class_item(p, c, &kind), last = first;

    if (kind || p->problem)
        return;
    if (pattern_parser_next_text_is(p, "-") && !pattern_parser_next_text_is(p, "-]")) {
        pattern_parser_skip_text(p, "-");
        last = parse_class_item(p, c, &kind);
        if (kind || last < first) {
            pattern_parser_record_error(p, "The pattern has an invalid character range.");
            return;
        }
    }
    char_class_add_range(c, first, last);
}

void parse_bracket_expression(struct pattern_parser *p)
{
    struct char_class *c = pattern_parser_add_char_class(p);
    bool first = true;

    if (!c)
        return;
    c->negated = pattern_parser_skip_text(p, "^");
    for (; !p->problem && (first || !pattern_parser_next_text_is(p, "]")); first = false) {
        if (!p->rest.n)
            pattern_parser_record_error(
                p, "The pattern has a character class without a closing bracket.");
        else if (pattern_parser_skip_text(p, "[:"))
            parse_posix_class(p, c);
        else if (pattern_parser_next_text_is(p, "[") || pattern_parser_next_text_is(p, "&&") ||
                 pattern_parser_next_text_is(p, "--"))
            pattern_parser_record_error(p, "Character classes cannot be nested or combined.");
        else
            parse_class_range(p, c);
    }
    pattern_parser_skip_text(p, "]");
    pattern_parser_add_state(
        p, (struct pattern_state){ OP_CLASS, (int32_t)p->out->class_count - 1, 0 });
}
