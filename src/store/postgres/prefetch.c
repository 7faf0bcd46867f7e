/* prefetch.c - learns which queries a work item sends after its first one, and sends them together
 * with the first one the next time, in one round trip.
 *
 * Queries are learned per name of the work item, its first query, and which ids its request has. A
 * parameter of a learned query is a constant or one of the ids that the work item has so far
 * (struct work_item.ids): ids of the request, then those of its first query, then related ids. A
 * related id depends on the first of them, such as the guild of a channel; a table stores the last
 * related id that was seen. If the prediction is missing or wrong, the queries that need the id are
 * sent as soon as a query shows it.
 *
 * A query whose rows were often unused is not sent any more. A wrong prefetch is harmless: a work
 * item gets the rows of exactly the query that it sends, and a write discards all rows that were
 * prefetched for it. Loops and workers share what they learn. */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/postgres/pipeline.h"

enum {
    MAX_LEARNED_QUERIES = 16, /* per key */
    MAX_PARAMETERS = 6,       /* per query */
    MAX_TEXT = 8,             /* characters of a constant */
    MAX_NUMBER = 19, /* length of INT64_MAX as text; queries use that number as a constant for "no
                      * limit" */
    BEST_SCORE = 8,
    FIRST_SCORE = -2,
    WORST_SCORE = -4,
    RELATED_BITS = 16,
};

enum source_kind { SOURCE_NULL, SOURCE_CONSTANT, SOURCE_ID, SOURCE_ID_BEFORE, SOURCE_RELATED };

struct parameter_source {
    uint8_t kind;
    uint8_t position; /* index in work->ids */
    char constant[MAX_NUMBER + 1];
};

struct learned_query {
    const char *sql;
    size_t count;
    int score;
    struct parameter_source from[MAX_PARAMETERS];
};

struct learned_queries {
    unsigned count;
    unsigned id_count; /* including related ids */
    struct learned_query queries[MAX_LEARNED_QUERIES];
};

/* An id and the related id that was last seen with it. Both are written without a lock; if they
 * come from two different writes, the only harm is a needless query. */
struct related_id {
    _Atomic uint64_t key, id;
};

void query_prefetcher_init(struct prefetcher *h)
{
    pthread_mutex_init(&h->lock, NULL);
    map_init(&h->by_key);
    h->related = mem_new(sizeof(struct related_id) << RELATED_BITS);
}

void query_prefetcher_clear(struct prefetcher *h)
{
    struct learned_queries *learned;
    size_t at = 0;

    while ((learned = map_next_value(&h->by_key, &at)))
        mem_free(learned);
    map_clear(&h->by_key);
    mem_free(h->related);
    pthread_mutex_destroy(&h->lock);
}

/* Parses an id. Returns 0 for text that is not a number, and for small numbers, which are constants
 * and not ids. */
static uint64_t id_from_text(const char *text)
{
    enum { SHORTEST = 10 };
    struct str s = text ? str_of(text) : (struct str){ 0 };
    snowflake id;

    return s.n >= SHORTEST && snowflake_parse(s, &id) && id < INT64_MAX ? id : 0;
}

/* Sets the work item's key for learned queries, and adds the ids of its first query. */
static void set_prefetch_key_and_ids(struct work_item *w, const char *sql,
                                     const struct postgres_parameters *p, size_t count)
{
    uint64_t given = 0;

    for (unsigned i = 0; i < w->id_count; i++)
        given |= (uint64_t)(w->ids[i] != 0) << i;
    w->prefetch.key = hash_u64(hash_u64(hash_u64((uintptr_t)w->name) ^ (uintptr_t)sql) ^ given);
    for (size_t i = 0; i < count && w->id_count < WORK_ITEM_MAX_IDS; i++)
        w->ids[w->id_count++] = p->binary[i] ? 0 : id_from_text(p->text[i]);
}

/* --- related ids ------------------------------------------------------------------------ */

static struct related_id *find_related_id_slot(const struct prefetcher *h,
                                               const struct work_item *w,
                                               const struct learned_query *q, size_t i,
                                               uint64_t *ret_key)
{
    uint64_t first = 0;

    for (unsigned k = 0; k < w->id_count && !first; k++)
        first = w->ids[k];
    *ret_key = hash_u64(hash_u64((uintptr_t)q->sql + i) ^ first);
    return &h->related[*ret_key >> (64 - RELATED_BITS)];
}

static uint64_t find_related(const struct prefetcher *h, const struct work_item *w,
                             const struct learned_query *q, size_t i)
{
    uint64_t key;
    struct related_id *r = find_related_id_slot(h, w, q, i, &key);

    return atomic_load_explicit(&r->key, memory_order_relaxed) == key
               ? atomic_load_explicit(&r->id, memory_order_relaxed)
               : 0;
}

static void store_related_id(const struct prefetcher *h, const struct work_item *w,
                             const struct learned_query *q, size_t i, uint64_t id)
{
    uint64_t key;
    struct related_id *r = find_related_id_slot(h, w, q, i, &key);

    atomic_store_explicit(&r->key, key, memory_order_relaxed);
    atomic_store_explicit(&r->id, id, memory_order_relaxed);
}

static void predict_ids_related_to_work_item(const struct prefetcher *h, struct work_item *w,
                                             const struct learned_queries *learned)
{
    for (unsigned n = 0; n < learned->count; n++) {
        const struct learned_query *q = &learned->queries[n];

        for (size_t i = 0; i < q->count && q->score > WORST_SCORE; i++)
            if (q->from[i].kind == SOURCE_RELATED)
                w->ids[q->from[i].position] = find_related(h, w, q, i);
    }
}

/* --- sending learned queries ------------------------------------------------------------ */

static bool predict_parameters_of_learned_query(const struct work_item *w,
                                                const struct learned_query *q, struct arena *a,
                                                struct postgres_parameters *ret)
{
    for (size_t i = 0; i < q->count; i++) {
        const struct parameter_source *s = &q->from[i];
        uint64_t id = w->ids[s->position];

        if (s->kind >= SOURCE_ID && !id)
            return false;
        ret->length[i] = ret->binary[i] = 0;
        ret->text[i] = s->kind == SOURCE_NULL ? NULL
                       : s->kind == SOURCE_CONSTANT
                           ? str_dup_cstring(a, str_of(s->constant))
                           : postgres_format_int(a, (int64_t)id - (s->kind == SOURCE_ID_BEFORE));
    }
    return true;
}

static bool learned_query_needs_id(const struct learned_query *q, uint64_t positions)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->from[i].kind >= SOURCE_ID && positions >> q->from[i].position & 1)
            return true;
    return false;
}

/* Queues the learned queries of a work item; if `positions` is not 0, only queries that use an id
 * whose bit is set in `positions`. */
static enum err enqueue_learned_queries_of_work_item(struct postgres_conn *c, struct work_item *w,
                                                     uint64_t positions)
{
    struct prefetcher *h = c->prefetcher;
    struct learned_queries copy = { 0 }, *learned;
    enum err e = OK;

    pthread_mutex_lock(&h->lock);
    learned = map_find_value(&h->by_key, w->prefetch.key);
    if (learned)
        copy = *learned;
    pthread_mutex_unlock(&h->lock);
    if (!positions)
        predict_ids_related_to_work_item(h, w, &copy);
    for (unsigned i = 0; i < copy.count && !e; i++) {
        const struct learned_query *q = &copy.queries[i];
        struct postgres_parameters *p;

        if (q->score <= WORST_SCORE || (positions && !learned_query_needs_id(q, positions)))
            continue;
        p = arena_alloc_unzeroed(c->arena, sizeof *p);
        if (predict_parameters_of_learned_query(w, q, c->arena, p))
            e = postgres_enqueue_learned_query(c, w, q->sql, p, q->count, &learned->queries[i]);
    }
    return e;
}

void query_prefetcher_record_result_use(struct prefetcher *h, struct learned_query *q, bool used)
{
    pthread_mutex_lock(&h->lock);
    if (used ? q->score < BEST_SCORE : q->score > WORST_SCORE)
        q->score += used ? 1 : -1;
    pthread_mutex_unlock(&h->lock);
}

/* --- learning --------------------------------------------------------------------------- */

static bool find_id_of_work_item(const struct work_item *w, unsigned count, uint64_t id,
                                 struct parameter_source *ret)
{
    for (unsigned i = 0; i < count; i++)
        if (w->ids[i] == id || w->ids[i] == id + 1) {
            ret->kind = w->ids[i] == id ? SOURCE_ID : SOURCE_ID_BEFORE;
            ret->position = (uint8_t)i;
            return true;
        }
    return false;
}

/* Returns the index in work_item.ids of the related id that parameter i of this query uses. */
static unsigned index_of_related_id(struct learned_queries *learned, const struct learned_query *q,
                                    size_t i)
{
    for (unsigned n = 0; n < learned->count; n++)
        if (learned->queries[n].sql == q->sql && learned->queries[n].from[i].kind == SOURCE_RELATED)
            return learned->queries[n].from[i].position;
    return learned->id_count < WORK_ITEM_MAX_IDS ? learned->id_count++ : WORK_ITEM_MAX_IDS;
}

static bool learn_constant_query_parameter(const char *text, struct parameter_source *ret)
{
    ret->kind = text ? SOURCE_CONSTANT : SOURCE_NULL;
    if (text && strlen(text) > (text[0] == '9' ? MAX_NUMBER : MAX_TEXT))
        return false;
    strcpy(ret->constant, text ? text : "");
    return true;
}

struct lesson {
    struct learned_query query;
    uint64_t new_ids; /* bit set of the ids that were not predicted; bit n stands for
                       * work_item.ids[n] */
};

static bool learn_source_of_query_parameter(const struct prefetcher *h, struct work_item *w,
                                            struct learned_queries *learned, struct lesson *ret,
                                            size_t i, const char *text)
{
    struct parameter_source *s = &ret->query.from[i];
    uint64_t id = id_from_text(text);

    if (!id)
        return learn_constant_query_parameter(text, s);
    if (find_id_of_work_item(w, learned->id_count, id, s))
        return true;
    unsigned position = index_of_related_id(learned, &ret->query, i);
    if (position == WORK_ITEM_MAX_IDS)
        return false;
    s->kind = SOURCE_RELATED;
    s->position = (uint8_t)position;
    w->ids[position] = id;
    ret->new_ids |= UINT64_C(1) << position;
    store_related_id(h, w, &ret->query, i, id);
    return true;
}

/* Adds a learned query, or replaces one whose rows were often unused. If the query is known but is
 * not prefetched at present, and its parameters could have been predicted, improves its score. */
static void add_learned_query_of_work_item(struct learned_queries *learned, const struct lesson *l)
{
    const struct learned_query *q = &l->query;
    struct learned_query *slot = NULL;

    for (unsigned i = 0; i < learned->count; i++) {
        struct learned_query *old = &learned->queries[i];

        if (old->sql == q->sql && memcmp(old->from, q->from, sizeof q->from) == 0) {
            old->score += !l->new_ids && old->score < 0;
            return;
        }
        if (old->score <= WORST_SCORE)
            slot = old;
    }
    if (learned->count < MAX_LEARNED_QUERIES)
        slot = &learned->queries[learned->count++];
    if (slot)
        *slot = *q;
}

static struct learned_queries *get_or_create_learned_queries(struct prefetcher *h,
                                                             const struct work_item *w)
{
    struct learned_queries *learned = map_find_value(&h->by_key, w->prefetch.key);

    if (!learned) {
        learned = mem_new(sizeof *learned);
        learned->id_count = w->id_count;
        map_set_value(&h->by_key, w->prefetch.key, learned);
    }
    return learned;
}

/* Learns a query. Returns the bit set of those of its ids that are new; bit n stands for
 * work_item.ids[n]. */
static uint64_t learn_query(struct prefetcher *h, struct work_item *w, const char *sql,
                            const struct postgres_parameters *p, size_t count)
{
    struct lesson l = { .query = { .sql = sql, .count = count, .score = FIRST_SCORE } };
    bool good = count <= MAX_PARAMETERS;

    pthread_mutex_lock(&h->lock);
    struct learned_queries *learned = get_or_create_learned_queries(h, w);
    for (size_t i = 0; i < count && good; i++)
        good = !p->binary[i] && learn_source_of_query_parameter(h, w, learned, &l, i, p->text[i]);
    if (good)
        add_learned_query_of_work_item(learned, &l);
    pthread_mutex_unlock(&h->lock);
    return l.new_ids;
}

void query_prefetcher_note_first_query(struct postgres_conn *c, struct work_item *w,
                                       const char *sql, const struct postgres_parameters *p,
                                       size_t count)
{
    if (w->prefetch.key || !w->name || !c->prefetcher)
        return;
    set_prefetch_key_and_ids(w, sql, p, count);
}

enum err query_prefetcher_prefetch_or_learn_query(struct postgres_conn *c, struct work_item *w,
                                                  const char *sql,
                                                  const struct postgres_parameters *p, size_t count)
{
    if (!w->name || !c->prefetcher || w->prefetch.phase == PREFETCH_ENDED)
        return OK;
    if (w->prefetch.phase == PREFETCH_LEARNS) {
        uint64_t new_ids = learn_query(c->prefetcher, w, sql, p, count);

        return new_ids ? enqueue_learned_queries_of_work_item(c, w, new_ids) : OK;
    }
    w->prefetch.phase = PREFETCH_LEARNS;
    query_prefetcher_note_first_query(c, w, sql, p, count);
    return enqueue_learned_queries_of_work_item(c, w, 0);
}
