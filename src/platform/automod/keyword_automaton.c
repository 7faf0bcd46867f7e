/* keyword_automaton.c - Aho-Corasick automaton for all keywords of a guild's rules.
 *
 * Nodes are numbered breadth-first from the sorted keywords, so the children of a node have
 * consecutive numbers in the order of their bytes. Nodes refer to each other by number, so 100,000
 * keywords need only a few megabytes. */
#include "platform/automod/matching.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { ROOT = 0, NONE = UINT32_MAX };

struct keyword_node {
    uint32_t child; /* number of the first child; the next node's .child ends the range */
    uint32_t fail;  /* failure link: number of the node of the longest proper suffix */
    uint32_t
        next; /* number of the next node along the .fail links at which a keyword ends, or NONE */
    uint32_t entries; /* index in .marks of the first keyword that ends at this node */
    uint32_t count;   /* number of keywords that end at this node */
};

struct keyword_mark {
    uint32_t rule, number;
    uint16_t length;
    bool begins_word, ends_word, allowed;
};

struct keyword_automaton {
    struct keyword_node *nodes; /* array of nodes; the last one is a sentinel */
    unsigned char *labels;      /* labels[n]: byte that leads from the parent to node n */
    struct keyword_mark *marks; /* one mark per keyword, in the order of the sorted keywords */
    uint32_t count, rules;
    uint32_t roots[256]; /* indexed by byte: child of the root, or ROOT if there is none */
    size_t bytes, cost;
    bool *has_allow_list; /* indexed by rule: true if the rule has an allow list */
    bool any_allow_list;
};

bool keyword_parse(struct arena *arena, struct str keyword, struct automod_keyword *ret)
{
    bool open = str_starts_with(keyword, STR("*"));

    if (open)
        keyword = str_skip_bytes(keyword, 1);
    ret->begins_word = !open;
    ret->ends_word = !(keyword.n && keyword.p[keyword.n - 1] == '*');
    if (!ret->ends_word)
        keyword.n--;
    ret->text = text_fold_case(arena, keyword).text;
    return ret->text.n > 0;
}

/* --- building the automaton ---------------------------------------------------------- */

static bool keywords_are_equal(const struct automod_keyword *a, const struct automod_keyword *b)
{
    return a->rule == b->rule && a->allowed == b->allowed && a->begins_word == b->begins_word &&
           a->ends_word == b->ends_word && str_eq(a->text, b->text);
}

/* Sorts by text; equal keywords of a rule are adjacent, in the order of the rule's list. */
static int compare_keywords(const void *a, const void *b)
{
    const struct automod_keyword *x = a, *y = b;
    int order = str_cmp(x->text, y->text);

    if (!order)
        order = (x->rule > y->rule) - (x->rule < y->rule);
    if (!order)
        order = (x->allowed * 4 + x->begins_word * 2 + x->ends_word) -
                (y->allowed * 4 + y->begins_word * 2 + y->ends_word);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Sorts the keywords and removes duplicates within a rule. */
static size_t sort_keywords(struct automod_keyword *entries, size_t count)
{
    size_t retained = 0;

    qsort(entries, count, sizeof *entries, compare_keywords);
    for (size_t i = 0; i < count; i++)
        if (!retained || !keywords_are_equal(&entries[i], &entries[retained - 1]))
            entries[retained++] = entries[i];
    return retained;
}

/* The sorted keywords that share the prefix of a node. depth is the length of the prefix in
 * bytes. */
struct keyword_range {
    uint32_t from, to, depth;
};

struct automaton_builder {
    struct keyword_automaton *words;
    struct keyword_range *ranges; /* indexed by node */
    const struct automod_keyword *sorted;
    uint32_t capacity;
};

static uint32_t add_automaton_node(struct automaton_builder *m, struct keyword_range range,
                                   unsigned char label)
{
    struct keyword_automaton *w = m->words;

    if (w->count + 1 >= m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 1024;
        w->nodes = mem_resize(w->nodes, m->capacity * sizeof *w->nodes);
        w->labels = mem_resize(w->labels, m->capacity);
        m->ranges = mem_resize(m->ranges, m->capacity * sizeof *m->ranges);
    }
    w->nodes[w->count] = (struct keyword_node){ .next = NONE };
    w->labels[w->count] = label;
    m->ranges[w->count] = range;
    return w->count++;
}

/* Adds the children of a node. In sorted order, the keywords that end at the node come before
 * longer keywords with its prefix. */
static void add_child_nodes(struct automaton_builder *m, uint32_t node)
{
    struct keyword_range r = m->ranges[node];
    uint32_t at = r.from;

    while (at < r.to && m->sorted[at].text.n == r.depth)
        at++;
    m->words->nodes[node].entries = r.from;
    m->words->nodes[node].count = at - r.from;
    m->words->nodes[node].child = m->words->count;
    while (at < r.to) {
        unsigned char label = (unsigned char)m->sorted[at].text.p[r.depth];
        uint32_t from = at;

        while (at < r.to && (unsigned char)m->sorted[at].text.p[r.depth] == label)
            at++;
        add_automaton_node(m, (struct keyword_range){ from, at, r.depth + 1 }, label);
    }
}

static uint32_t find_child_node(const struct keyword_automaton *w, uint32_t node,
                                unsigned char label)
{
    uint32_t from = w->nodes[node].child, to = w->nodes[node + 1].child;

    if (node == ROOT)
        return w->roots[label] ? w->roots[label] : NONE;
    for (; from < to; from++)
        if (w->labels[from] == label)
            return from;
    return NONE;
}

static uint32_t advance_node_by_byte(const struct keyword_automaton *w, uint32_t node,
                                     unsigned char label, size_t *steps)
{
    for (;; node = w->nodes[node].fail) {
        uint32_t child = find_child_node(w, node, label);

        ++*steps;
        if (child != NONE)
            return child;
        if (node == ROOT)
            return ROOT;
    }
}

static void compute_failure_links(struct keyword_automaton *w)
{
    size_t steps = 0;

    for (uint32_t c = w->nodes[ROOT].child; c < w->nodes[ROOT + 1].child; c++)
        w->roots[w->labels[c]] = c;
    for (uint32_t node = ROOT; node < w->count; node++)
        for (uint32_t c = w->nodes[node].child; c < w->nodes[node + 1].child; c++) {
            uint32_t fail =
                node == ROOT ? ROOT
                             : advance_node_by_byte(w, w->nodes[node].fail, w->labels[c], &steps);

            w->nodes[c].fail = fail;
            w->nodes[c].next = w->nodes[fail].count ? fail : w->nodes[fail].next;
        }
}

/* A failure link always leads to a node with a lower number, so the count of that node is already
 * computed. */
static size_t max_keywords_ending_at_node(const struct keyword_automaton *w)
{
    uint32_t *ends = mem_new(w->count * sizeof *ends), most = 0;

    for (uint32_t node = ROOT; node < w->count; node++) {
        const struct keyword_node *n = &w->nodes[node];

        ends[node] = n->count + (n->next == NONE ? 0 : ends[n->next]);
        most = ends[node] > most ? ends[node] : most;
    }
    mem_free(ends);
    return most;
}

static void fill_keyword_marks(struct keyword_automaton *w, const struct automod_keyword *sorted,
                               size_t count)
{
    w->marks = mem_new(count * sizeof *w->marks);
    w->has_allow_list = mem_new(w->rules + 1);
    for (size_t i = 0; i < count; i++) {
        const struct automod_keyword *e = &sorted[i];

        w->marks[i] = (struct keyword_mark){ e->rule,        e->number,    (uint16_t)e->text.n,
                                             e->begins_word, e->ends_word, e->allowed };
        w->has_allow_list[e->rule] = w->has_allow_list[e->rule] || e->allowed;
        w->any_allow_list = w->any_allow_list || e->allowed;
    }
}

struct keyword_automaton *keyword_automaton_new(const struct automod_keyword *entries, size_t count,
                                                uint32_t rules)
{
    if (!count)
        return NULL;
    struct keyword_automaton *w = mem_new(sizeof *w);
    struct automod_keyword *sorted = mem_resize(NULL, count * sizeof *sorted);
    struct automaton_builder making = { .words = w, .sorted = sorted };

    memcpy(sorted, entries, count * sizeof *sorted);
    count = sort_keywords(sorted, count);
    w->rules = rules;
    add_automaton_node(&making, (struct keyword_range){ 0, (uint32_t)count, 0 }, 0);
    for (uint32_t node = ROOT; node < w->count; node++)
        add_child_nodes(&making, node);
    w->nodes[w->count] = (struct keyword_node){ .child = w->count };
    fill_keyword_marks(w, sorted, count);
    compute_failure_links(w);
    w->cost = max_keywords_ending_at_node(w);
    w->bytes = sizeof *w + w->count * (sizeof *w->nodes + 1) + count * sizeof *w->marks + rules;
    mem_free(making.ranges);
    mem_free(sorted);
    return w;
}

void keyword_automaton_free(struct keyword_automaton *w)
{
    if (!w)
        return;
    mem_free(w->nodes);
    mem_free(w->labels);
    mem_free(w->marks);
    mem_free(w->has_allow_list);
    mem_free(w);
}

size_t keyword_automaton_memory_bytes(const struct keyword_automaton *w)
{
    return w ? w->bytes : 0;
}

size_t keyword_automaton_get_cost(const struct keyword_automaton *w)
{
    return w ? w->cost : 0;
}

/* --- matching a text ----------------------------------------------------------------- */

/* State of one pass over a text. If a rule has an allow list, a first pass finds the ranges that
 * the allow list covers. */
struct text_scan {
    const struct keyword_automaton *words;
    struct str text;
    const bool *bounds; /* indexed by offset in the text: true at a word boundary */
    uint32_t **allowed_end;
    struct keyword_hit *hits; /* first hit of each rule; NULL in the first pass, which finds the
                                 ranges of allow lists */
};

static const bool *find_word_boundaries(struct arena *arena, struct str text)
{
    bool *bounds = arena_alloc_unzeroed(arena, text.n + 1);

    for (size_t i = 0; i <= text.n; i++)
        bounds[i] = is_word_boundary(text, i);
    return bounds;
}

static bool keyword_is_at_word_boundaries(const struct text_scan *r, const struct keyword_mark *m,
                                          size_t end)
{
    return (!m->begins_word || r->bounds[end - m->length]) && (!m->ends_word || r->bounds[end]);
}

static void record_allowed_range(struct text_scan *r, const struct keyword_mark *m, size_t end)
{
    uint32_t *scope = &r->allowed_end[m->rule][end - m->length];

    if (*scope < end && keyword_is_at_word_boundaries(r, m, end))
        *scope = (uint32_t)end;
}

static void record_keyword_offence(struct text_scan *r, const struct keyword_mark *m, size_t end)
{
    size_t start = end - m->length;
    bool excused = r->words->has_allow_list[m->rule] && r->allowed_end[m->rule][start] >= end;

    if (r->hits[m->rule].number < 0 && !excused && keyword_is_at_word_boundaries(r, m, end))
        r->hits[m->rule] = (struct keyword_hit){ m->number, (uint32_t)start, (uint32_t)end };
}

static void record_keywords_of_node(struct text_scan *r, uint32_t node, size_t end)
{
    const struct keyword_automaton *w = r->words;

    for (; node != NONE; node = w->nodes[node].next)
        for (uint32_t i = 0; i < w->nodes[node].count; i++) {
            const struct keyword_mark *m = &w->marks[w->nodes[node].entries + i];

            if (m->allowed && !r->hits)
                record_allowed_range(r, m, end);
            else if (!m->allowed && r->hits)
                record_keyword_offence(r, m, end);
        }
}

static size_t scan_text_for_keywords(struct text_scan *r)
{
    uint32_t node = ROOT;
    size_t steps = 0;

    for (size_t i = 0; i < r->text.n; i++) {
        node = advance_node_by_byte(r->words, node, (unsigned char)r->text.p[i], &steps);
        if (node != ROOT)
            record_keywords_of_node(r, node, i + 1);
    }
    return steps;
}

static size_t scan_text_for_allowed_ranges(struct text_scan *r, struct arena *arena)
{
    const struct keyword_automaton *w = r->words;

    r->allowed_end = arena_array(arena, uint32_t *, w->rules + 1);
    for (uint32_t rule = 0; rule < w->rules; rule++)
        if (w->has_allow_list[rule])
            r->allowed_end[rule] = arena_array(arena, uint32_t, r->text.n + 1);
    size_t steps = scan_text_for_keywords(r);
    for (uint32_t rule = 0; rule < w->rules; rule++)
        for (size_t i = 1; w->has_allow_list[rule] && i < r->text.n; i++)
            if (r->allowed_end[rule][i] < r->allowed_end[rule][i - 1])
                r->allowed_end[rule][i] = r->allowed_end[rule][i - 1];
    return steps;
}

struct keyword_matches keyword_automaton_match(const struct keyword_automaton *w,
                                               struct arena *arena, struct str folded)
{
    struct keyword_matches found = { 0 };

    if (!w)
        return found;
    struct text_scan r = { .words = w,
                           .text = folded,
                           .bounds = find_word_boundaries(arena, folded) };
    found.hits = arena_array(arena, struct keyword_hit, w->rules + 1);
    for (uint32_t i = 0; i < w->rules; i++)
        found.hits[i].number = -1;
    if (w->any_allow_list)
        found.steps = scan_text_for_allowed_ranges(&r, arena);
    found.allowed_end = r.allowed_end;
    r.hits = found.hits;
    found.steps += scan_text_for_keywords(&r);
    return found;
}

static size_t to_folded_text_offset(const struct folded_text *t, size_t at)
{
    size_t i = 0;

    if (!t->offsets)
        return at;
    while (i < t->text.n && t->offsets[i] < at)
        i++;
    return i;
}

bool keyword_allow_list_covers(const struct keyword_matches *found, uint32_t rule,
                               const struct folded_text *text, size_t start, size_t end)
{
    return found->allowed_end && found->allowed_end[rule] &&
           found->allowed_end[rule][to_folded_text_offset(text, start)] >=
               to_folded_text_offset(text, end);
}
