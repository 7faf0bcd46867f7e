/* prefetch.c - learns which queries a read sends after its first ones, per name of the read, and
 * prefetches them. Most later queries have the same ids as the first: a route that lists the emoji
 * of a guild reads the guild, then the emoji by the same id. A loop learns which query came later
 * and from which earlier parameter each id came, and the next time sends it together with the first
 * query, in one round trip. A query whose rows were often unused is not sent any more. A wrong
 * prefetch is harmless: a read gets the rows of exactly the query that it sends. Queries that
 * cannot be learned are declared by tx_prefetch: those of work items on workers, and those with
 * values that no earlier query has, such as ?before= of a page. */
#include <string.h>

#include "base/mem.h"
#include "store/postgres/pipeline.h"

enum {
    MOST_QUERIES = 12, /* per name of a read */
    MOST_PLACES = 6,   /* per query */
    SHORT_TEXT = 8,
    BEST_SCORE = 8,
    WORST_SCORE = -4,
};

/* Where a parameter of a learned query comes from: an earlier query, or a constant. */
struct query_source {
    const char *sql; /* NULL: a constant */
    size_t place;
    bool is_null;
    char text[SHORT_TEXT + 1];
};

struct learned_query {
    const char *sql;
    size_t count;
    int score;
    struct query_source from[MOST_PLACES];
};

struct learned_kind {
    unsigned count;
    struct learned_query queries[MOST_QUERIES];
};

static uint64_t kind_key(const struct work *work)
{
    return (uint64_t)(uintptr_t)work->name;
}

void prefetcher_clear(struct prefetcher *h)
{
    struct learned_kind *kind;
    size_t at = 0;

    while ((kind = map_next(&h->by_kind, &at)))
        mem_free(kind);
    map_clear(&h->by_kind);
}

/* Whether the text is an id. Only digits can be sent for a column that may be a number. */
static bool is_id_text(const char *text)
{
    enum { LEAST = 10, MOST = 18 };
    size_t n = strspn(text, "0123456789");

    return n >= LEAST && n <= MOST + 1 && !text[n] && (n <= MOST || text[0] < '9');
}

static const char *text_at(const struct postgres_errand *e, size_t place)
{
    return place < e->count && !e->values->binary[place] ? e->values->text[place] : NULL;
}

static const char *source_text(const struct postgres_conn *c, const struct work *work,
                               const struct query_source *s)
{
    if (!s->sql)
        return s->text;
    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];
        const char *text = e->work == work && e->sql == s->sql ? text_at(e, s->place) : NULL;

        if (text && is_id_text(text))
            return text;
    }
    return NULL;
}

static void guess_one(struct postgres_conn *c, struct work *work, const struct learned_query *q,
                      unsigned number)
{
    struct postgres_values *p = arena_raw(work->arena, sizeof *p);

    for (size_t i = 0; i < q->count; i++) {
        const char *text = q->from[i].is_null ? NULL : source_text(c, work, &q->from[i]);

        if (!text && !q->from[i].is_null)
            return;
        /* Copies the value, because another query may replace this one before its result
         * arrives. */
        p->text[i] = text ? str_dupz(work->arena, str_of(text)) : NULL;
        p->length[i] = p->binary[i] = 0;
    }
    postgres_prefetch_add(c, work, q->sql, p, q->count, number);
}

void prefetcher_guess(struct prefetcher *h, struct postgres_conn *c, struct work *work)
{
    struct learned_kind *kind = map_get(&h->by_kind, kind_key(work));

    for (unsigned i = 0; kind && i < kind->count; i++)
        if (kind->queries[i].score > WORST_SCORE)
            guess_one(c, work, &kind->queries[i], i + 1);
}

static void note_guess(struct learned_kind *kind, const struct postgres_errand *e)
{
    struct learned_query *q = &kind->queries[e->guess - 1];

    if (e->used && q->score < BEST_SCORE)
        q->score++;
    if (!e->used && q->score > WORST_SCORE)
        q->score--;
}

static bool find_source(const struct postgres_conn *c, const struct work *work, const char *text,
                        struct query_source *ret)
{
    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];

        if (e->work != work || e->round != 1 || e->guess)
            continue;
        for (size_t place = 0; place < e->count; place++) {
            const char *there = text_at(e, place);

            if (there && strcmp(there, text) == 0) {
                ret->sql = e->sql;
                ret->place = place;
                return true;
            }
        }
    }
    return false;
}

static bool source_of(const struct postgres_conn *c, const struct postgres_errand *e, size_t place,
                      struct query_source *ret)
{
    const char *text = e->values->text[place];

    if (e->values->binary[place])
        return false;
    ret->is_null = !text;
    if (text && is_id_text(text))
        return find_source(c, e->work, text, ret);
    if (text && strlen(text) > SHORT_TEXT)
        return false;
    if (text)
        strcpy(ret->text, text);
    return true;
}

static bool question_of(const struct postgres_conn *c, const struct postgres_errand *e,
                        struct learned_query *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->sql = e->sql;
    ret->count = e->count;
    if (e->count > MOST_PLACES)
        return false;
    for (size_t i = 0; i < e->count; i++)
        if (!source_of(c, e, i, &ret->from[i]))
            return false;
    return true;
}

static bool same_source(const struct query_source *a, const struct query_source *b)
{
    return a->sql == b->sql && a->place == b->place && a->is_null == b->is_null &&
           strcmp(a->text, b->text) == 0;
}

static bool same_question(const struct learned_query *a, const struct learned_query *b)
{
    if (a->sql != b->sql || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_source(&a->from[i], &b->from[i]))
            return false;
    return true;
}

/* Adds a learned query, or replaces one whose rows were often unused. */
static void kind_add(struct learned_kind *kind, const struct learned_query *q)
{
    struct learned_query *place = NULL;

    for (unsigned i = 0; i < kind->count; i++) {
        struct learned_query *old = &kind->queries[i];

        if (same_question(old, q)) {
            old->score += old->score < 0;
            return;
        }
        if (old->score <= WORST_SCORE)
            place = old;
    }
    if (kind->count < MOST_QUERIES)
        place = &kind->queries[kind->count++];
    if (place)
        *place = *q;
}

static struct learned_kind *kind_of(struct prefetcher *h, const struct work *work)
{
    struct learned_kind *kind = map_get(&h->by_kind, kind_key(work));

    if (!kind) {
        kind = mem_new(sizeof *kind);
        map_put(&h->by_kind, kind_key(work), kind);
    }
    return kind;
}

void prefetcher_learn(struct prefetcher *h, const struct postgres_conn *c, const struct work *work)
{
    struct learned_query q;

    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];

        if (e->work != work)
            continue;
        if (e->guess)
            note_guess(kind_of(h, work), e);
        else if (e->round > 1 && question_of(c, e, &q))
            kind_add(kind_of(h, work), &q);
    }
}
