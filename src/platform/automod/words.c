/* words.c - Aho-Corasick automaton for all keywords of a guild's rules.
 *
 * Nodes are numbered breadth-first from the sorted keywords, so the children of a node have
 * consecutive numbers in the order of their bytes. Nodes contain no pointers: 100,000 keywords fit
 * into a few megabytes. */
#include "platform/automod/matching.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { ROOT = 0, NONE = UINT32_MAX };

struct word_node {
    uint32_t child;   /* first child; the range ends at the next node's .child */
    uint32_t fail;    /* failure link: the longest proper suffix that is a node */
    uint32_t next;    /* next node on the .fail chain where a keyword ends, or NONE */
    uint32_t entries; /* index of the first keyword that ends at this node */
    uint32_t count;   /* number of keywords that end at this node */
};

struct word_mark {
    uint32_t rule, number;
    uint16_t length;
    bool begins_word, ends_word, allowed;
};

struct words {
    struct word_node *nodes; /* node array with one sentinel at the end */
    unsigned char *labels;   /* the byte that leads to each node */
    struct word_mark *marks; /* parallel to the sorted keywords */
    uint32_t count, rules;
    uint32_t roots[256]; /* child of the root for each byte, or ROOT */
    size_t bytes, cost;
    bool *lenient; /* per rule: the rule has an allow list */
    bool any_lenient;
};

bool word_read(struct arena *arena, struct str keyword, struct word_entry *ret)
{
    bool open = str_starts(keyword, STR("*"));

    if (open)
        keyword = str_from(keyword, 1);
    ret->begins_word = !open;
    ret->ends_word = !(keyword.n && keyword.p[keyword.n - 1] == '*');
    if (!ret->ends_word)
        keyword.n--;
    ret->text = text_fold(arena, keyword).text;
    return ret->text.n > 0;
}

/* --- construction --------------------------------------------------------------------- */

static bool same_word(const struct word_entry *a, const struct word_entry *b)
{
    return a->rule == b->rule && a->allowed == b->allowed && a->begins_word == b->begins_word &&
           a->ends_word == b->ends_word && str_eq(a->text, b->text);
}

/* Orders equal keywords of a rule next to each other, in list order. */
static int word_compare(const void *a, const void *b)
{
    const struct word_entry *x = a, *y = b;
    int order = str_cmp(x->text, y->text);

    if (!order)
        order = (x->rule > y->rule) - (x->rule < y->rule);
    if (!order)
        order = (x->allowed * 4 + x->begins_word * 2 + x->ends_word) -
                (y->allowed * 4 + y->begins_word * 2 + y->ends_word);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Sorts the keywords and removes duplicates within a rule. */
static size_t words_sort(struct word_entry *entries, size_t count)
{
    size_t kept = 0;

    qsort(entries, count, sizeof *entries, word_compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || !same_word(&entries[i], &entries[kept - 1]))
            entries[kept++] = entries[i];
    return kept;
}

/* The sorted keywords that share the prefix of a node; depth is the length of the prefix. */
struct word_range {
    uint32_t from, to, depth;
};

struct words_making {
    struct words *words;
    struct word_range *ranges; /* indexed by node */
    const struct word_entry *sorted;
    uint32_t room;
};

static uint32_t node_add(struct words_making *m, struct word_range range, unsigned char label)
{
    struct words *w = m->words;

    if (w->count + 1 >= m->room) {
        m->room = m->room ? 2 * m->room : 1024;
        w->nodes = mem_resize(w->nodes, m->room * sizeof *w->nodes);
        w->labels = mem_resize(w->labels, m->room);
        m->ranges = mem_resize(m->ranges, m->room * sizeof *m->ranges);
    }
    w->nodes[w->count] = (struct word_node){ .next = NONE };
    w->labels[w->count] = label;
    m->ranges[w->count] = range;
    return w->count++;
}

/* Keywords that end at a node sort before the longer ones with the same prefix. */
static void node_expand(struct words_making *m, uint32_t node)
{
    struct word_range r = m->ranges[node];
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
        node_add(m, (struct word_range){ from, at, r.depth + 1 }, label);
    }
}

static uint32_t node_child(const struct words *w, uint32_t node, unsigned char label)
{
    uint32_t from = w->nodes[node].child, to = w->nodes[node + 1].child;

    if (node == ROOT)
        return w->roots[label] ? w->roots[label] : NONE;
    for (; from < to; from++)
        if (w->labels[from] == label)
            return from;
    return NONE;
}

static uint32_t node_step(const struct words *w, uint32_t node, unsigned char label, size_t *steps)
{
    for (;; node = w->nodes[node].fail) {
        uint32_t child = node_child(w, node, label);

        ++*steps;
        if (child != NONE)
            return child;
        if (node == ROOT)
            return ROOT;
    }
}

static void words_link(struct words *w)
{
    size_t steps = 0;

    for (uint32_t c = w->nodes[ROOT].child; c < w->nodes[ROOT + 1].child; c++)
        w->roots[w->labels[c]] = c;
    for (uint32_t node = ROOT; node < w->count; node++)
        for (uint32_t c = w->nodes[node].child; c < w->nodes[node + 1].child; c++) {
            uint32_t fail =
                node == ROOT ? ROOT : node_step(w, w->nodes[node].fail, w->labels[c], &steps);

            w->nodes[c].fail = fail;
            w->nodes[c].next = w->nodes[fail].count ? fail : w->nodes[fail].next;
        }
}

/* A failure link points to a lower node number, so the count of its target is already computed. */
static size_t most_that_end(const struct words *w)
{
    uint32_t *ends = mem_new(w->count * sizeof *ends), most = 0;

    for (uint32_t node = ROOT; node < w->count; node++) {
        const struct word_node *n = &w->nodes[node];

        ends[node] = n->count + (n->next == NONE ? 0 : ends[n->next]);
        most = ends[node] > most ? ends[node] : most;
    }
    mem_free(ends);
    return most;
}

static void words_mark(struct words *w, const struct word_entry *sorted, size_t count)
{
    w->marks = mem_new(count * sizeof *w->marks);
    w->lenient = mem_new(w->rules + 1);
    for (size_t i = 0; i < count; i++) {
        const struct word_entry *e = &sorted[i];

        w->marks[i] = (struct word_mark){ e->rule,        e->number,    (uint16_t)e->text.n,
                                          e->begins_word, e->ends_word, e->allowed };
        w->lenient[e->rule] = w->lenient[e->rule] || e->allowed;
        w->any_lenient = w->any_lenient || e->allowed;
    }
}

struct words *words_new(const struct word_entry *entries, size_t count, uint32_t rules)
{
    if (!count)
        return NULL;
    struct words *w = mem_new(sizeof *w);
    struct word_entry *sorted = mem_resize(NULL, count * sizeof *sorted);
    struct words_making making = { .words = w, .sorted = sorted };

    memcpy(sorted, entries, count * sizeof *sorted);
    count = words_sort(sorted, count);
    w->rules = rules;
    node_add(&making, (struct word_range){ 0, (uint32_t)count, 0 }, 0);
    for (uint32_t node = ROOT; node < w->count; node++)
        node_expand(&making, node);
    w->nodes[w->count] = (struct word_node){ .child = w->count };
    words_mark(w, sorted, count);
    words_link(w);
    w->cost = most_that_end(w);
    w->bytes = sizeof *w + w->count * (sizeof *w->nodes + 1) + count * sizeof *w->marks + rules;
    mem_free(making.ranges);
    mem_free(sorted);
    return w;
}

void words_free(struct words *w)
{
    if (!w)
        return;
    mem_free(w->nodes);
    mem_free(w->labels);
    mem_free(w->marks);
    mem_free(w->lenient);
    mem_free(w);
}

size_t words_bytes(const struct words *w)
{
    return w ? w->bytes : 0;
}

size_t words_cost(const struct words *w)
{
    return w ? w->cost : 0;
}

/* --- matching ------------------------------------------------------------------------- */

/* One pass over a text. If a rule has an allow list, a first pass finds the allowed ranges. */
struct words_reading {
    const struct words *words;
    struct str text;
    const bool *bounds; /* per offset: true at a word boundary */
    uint32_t **reach;
    struct word_hit *hits; /* NULL: this pass finds allowed ranges */
};

static const bool *bounds_of(struct arena *arena, struct str text)
{
    bool *bounds = arena_raw(arena, text.n + 1);

    for (size_t i = 0; i <= text.n; i++)
        bounds[i] = text_bounds(text, i);
    return bounds;
}

static bool mark_holds(const struct words_reading *r, const struct word_mark *m, size_t end)
{
    return (!m->begins_word || r->bounds[end - m->length]) && (!m->ends_word || r->bounds[end]);
}

static void note_allowed(struct words_reading *r, const struct word_mark *m, size_t end)
{
    uint32_t *reach = &r->reach[m->rule][end - m->length];

    if (*reach < end && mark_holds(r, m, end))
        *reach = (uint32_t)end;
}

static void note_offence(struct words_reading *r, const struct word_mark *m, size_t end)
{
    size_t start = end - m->length;
    bool excused = r->words->lenient[m->rule] && r->reach[m->rule][start] >= end;

    if (r->hits[m->rule].number < 0 && !excused && mark_holds(r, m, end))
        r->hits[m->rule] = (struct word_hit){ m->number, (uint32_t)start, (uint32_t)end };
}

static void note_node(struct words_reading *r, uint32_t node, size_t end)
{
    const struct words *w = r->words;

    for (; node != NONE; node = w->nodes[node].next)
        for (uint32_t i = 0; i < w->nodes[node].count; i++) {
            const struct word_mark *m = &w->marks[w->nodes[node].entries + i];

            if (m->allowed && !r->hits)
                note_allowed(r, m, end);
            else if (!m->allowed && r->hits)
                note_offence(r, m, end);
        }
}

static size_t words_read(struct words_reading *r)
{
    uint32_t node = ROOT;
    size_t steps = 0;

    for (size_t i = 0; i < r->text.n; i++) {
        node = node_step(r->words, node, (unsigned char)r->text.p[i], &steps);
        if (node != ROOT)
            note_node(r, node, i + 1);
    }
    return steps;
}

static size_t read_allowed(struct words_reading *r, struct arena *arena)
{
    const struct words *w = r->words;

    r->reach = arena_array(arena, uint32_t *, w->rules + 1);
    for (uint32_t rule = 0; rule < w->rules; rule++)
        if (w->lenient[rule])
            r->reach[rule] = arena_array(arena, uint32_t, r->text.n + 1);
    size_t steps = words_read(r);
    for (uint32_t rule = 0; rule < w->rules; rule++)
        for (size_t i = 1; w->lenient[rule] && i < r->text.n; i++)
            if (r->reach[rule][i] < r->reach[rule][i - 1])
                r->reach[rule][i] = r->reach[rule][i - 1];
    return steps;
}

struct words_found words_find(const struct words *w, struct arena *arena, struct str folded)
{
    struct words_found found = { 0 };

    if (!w)
        return found;
    struct words_reading r = { .words = w, .text = folded, .bounds = bounds_of(arena, folded) };
    found.hits = arena_array(arena, struct word_hit, w->rules + 1);
    for (uint32_t i = 0; i < w->rules; i++)
        found.hits[i].number = -1;
    if (w->any_lenient)
        found.steps = read_allowed(&r, arena);
    found.reach = r.reach;
    r.hits = found.hits;
    found.steps += words_read(&r);
    return found;
}

/* Converts an offset of the original to an offset of the folded text. */
static size_t folded_at(const struct folded_text *t, size_t at)
{
    size_t i = 0;

    if (!t->offsets)
        return at;
    while (i < t->text.n && t->offsets[i] < at)
        i++;
    return i;
}

bool words_allow(const struct words_found *found, uint32_t rule, const struct folded_text *text,
                 size_t start, size_t end)
{
    return found->reach && found->reach[rule] &&
           found->reach[rule][folded_at(text, start)] >= folded_at(text, end);
}
