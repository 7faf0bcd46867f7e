/* prefetch.c - learns which queries a read sends after its first ones, by name of the read.
 * Most later queries have the same ids as the first: a route that lists the emoji of a guild reads
 * the guild, then the emoji by the same id. A loop learns which query came later and from which
 * earlier parameter each id came, and the next time sends it with the first query, in one round
 * trip. A query whose rows were often unused is not sent any more. A wrong prefetch is harmless: a
 * read gets the rows of exactly the query that it sends. Queries that cannot be learned are
 * declared by tx_prefetch: those of work items on workers, and those with values that no earlier
 * query has, such as ?before= of a page. */
#include <string.h>

#include "base/mem.h"
#include "store/postgres/pipeline.h"

enum {
    MAX_LEARNED_QUERIES = 12, /* maximum per name of a read */
    MAX_PARAMETERS = 6,       /* per query */
    SHORT_TEXT = 8,
    BEST_SCORE = 8,
    WORST_SCORE = -4,
};

/* Source of a parameter of a learned query: an earlier query, or a constant. */
struct parameter_source {
    const char *sql; /* SQL of the earlier query; NULL for a constant */
    size_t position;
    bool is_null;
    char text[SHORT_TEXT + 1];
};

struct learned_query {
    const char *sql;
    size_t count;
    int score;
    struct parameter_source from[MAX_PARAMETERS];
};

struct learned_queries {
    unsigned count;
    struct learned_query queries[MAX_LEARNED_QUERIES];
};

static uint64_t work_name_key(const struct work_item *work)
{
    return (uint64_t)(uintptr_t)work->name;
}

void prefetcher_clear(struct prefetcher *h)
{
    struct learned_queries *kind;
    size_t at = 0;

    while ((kind = map_next(&h->by_work_name, &at)))
        mem_free(kind);
    map_clear(&h->by_work_name);
}

/* Returns whether the text is an id. Only digits can be sent for a column that may be a number. */
static bool text_is_id(const char *text)
{
    enum { LEAST = 10, MOST = 18 };
    size_t n = strspn(text, "0123456789");

    return n >= LEAST && n <= MOST + 1 && !text[n] && (n <= MOST || text[0] < '9');
}

static const char *parameter_text(const struct queued_statement *e, size_t position)
{
    return position < e->count && !e->values->binary[position] ? e->values->text[position] : NULL;
}

static const char *find_source_value(const struct postgres_conn *c, const struct work_item *work,
                                     const struct parameter_source *s)
{
    if (!s->sql)
        return s->text;
    for (unsigned i = 0; i < c->queued_count; i++) {
        const struct queued_statement *e = &c->queued[i];
        const char *text =
            e->work == work && e->sql == s->sql ? parameter_text(e, s->position) : NULL;

        if (text && text_is_id(text))
            return text;
    }
    return NULL;
}

static void queue_learned_query(struct postgres_conn *c, struct work_item *work,
                                const struct learned_query *q, unsigned number)
{
    struct postgres_parameters *p = arena_alloc_raw(work->arena, sizeof *p);

    for (size_t i = 0; i < q->count; i++) {
        const char *text = q->from[i].is_null ? NULL : find_source_value(c, work, &q->from[i]);

        if (!text && !q->from[i].is_null)
            return;
        /* Copy the value, because the earlier query may be replaced before this result arrives. */
        p->text[i] = text ? str_dup_cstring(work->arena, str_of(text)) : NULL;
        p->length[i] = p->binary[i] = 0;
    }
    postgres_queue_learned_query(c, work, q->sql, p, q->count, number);
}

void prefetcher_queue_learned_queries(struct prefetcher *h, struct postgres_conn *c,
                                      struct work_item *work)
{
    struct learned_queries *kind = map_get(&h->by_work_name, work_name_key(work));

    for (unsigned i = 0; kind && i < kind->count; i++)
        if (kind->queries[i].score > WORST_SCORE)
            queue_learned_query(c, work, &kind->queries[i], i + 1);
}

static void update_score(struct learned_queries *kind, const struct queued_statement *e)
{
    struct learned_query *q = &kind->queries[e->guess - 1];

    if (e->used && q->score < BEST_SCORE)
        q->score++;
    if (!e->used && q->score > WORST_SCORE)
        q->score--;
}

static bool find_source_parameter(const struct postgres_conn *c, const struct work_item *work,
                                  const char *text, struct parameter_source *ret)
{
    for (unsigned i = 0; i < c->queued_count; i++) {
        const struct queued_statement *e = &c->queued[i];

        if (e->work != work || e->round != 1 || e->guess)
            continue;
        for (size_t position = 0; position < e->count; position++) {
            const char *there = parameter_text(e, position);

            if (there && strcmp(there, text) == 0) {
                ret->sql = e->sql;
                ret->position = position;
                return true;
            }
        }
    }
    return false;
}

static bool learn_parameter_source(const struct postgres_conn *c, const struct queued_statement *e,
                                   size_t position, struct parameter_source *ret)
{
    const char *text = e->values->text[position];

    if (e->values->binary[position])
        return false;
    ret->is_null = !text;
    if (text && text_is_id(text))
        return find_source_parameter(c, e->work, text, ret);
    if (text && strlen(text) > SHORT_TEXT)
        return false;
    if (text)
        strcpy(ret->text, text);
    return true;
}

static bool learn_query(const struct postgres_conn *c, const struct queued_statement *e,
                        struct learned_query *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->sql = e->sql;
    ret->count = e->count;
    if (e->count > MAX_PARAMETERS)
        return false;
    for (size_t i = 0; i < e->count; i++)
        if (!learn_parameter_source(c, e, i, &ret->from[i]))
            return false;
    return true;
}

static bool same_parameter_source(const struct parameter_source *a,
                                  const struct parameter_source *b)
{
    return a->sql == b->sql && a->position == b->position && a->is_null == b->is_null &&
           strcmp(a->text, b->text) == 0;
}

static bool same_learned_query(const struct learned_query *a, const struct learned_query *b)
{
    if (a->sql != b->sql || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_parameter_source(&a->from[i], &b->from[i]))
            return false;
    return true;
}

/* Adds a learned query, or replaces one whose rows were often unused. */
static void add_learned_query(struct learned_queries *kind, const struct learned_query *q)
{
    struct learned_query *position = NULL;

    for (unsigned i = 0; i < kind->count; i++) {
        struct learned_query *old = &kind->queries[i];

        if (same_learned_query(old, q)) {
            old->score += old->score < 0;
            return;
        }
        if (old->score <= WORST_SCORE)
            position = old;
    }
    if (kind->count < MAX_LEARNED_QUERIES)
        position = &kind->queries[kind->count++];
    if (position)
        *position = *q;
}

static struct learned_queries *learned_queries_of(struct prefetcher *h,
                                                  const struct work_item *work)
{
    struct learned_queries *kind = map_get(&h->by_work_name, work_name_key(work));

    if (!kind) {
        kind = mem_new(sizeof *kind);
        map_put(&h->by_work_name, work_name_key(work), kind);
    }
    return kind;
}

void prefetcher_learn_from_read(struct prefetcher *h, const struct postgres_conn *c,
                                const struct work_item *work)
{
    struct learned_query q;

    for (unsigned i = 0; i < c->queued_count; i++) {
        const struct queued_statement *e = &c->queued[i];

        if (e->work != work)
            continue;
        if (e->guess)
            update_score(learned_queries_of(h, work), e);
        else if (e->round > 1 && learn_query(c, e, &q))
            add_learned_query(learned_queries_of(h, work), &q);
    }
}
