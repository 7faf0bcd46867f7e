/* search.c - GIF search by words, best first. GIFs with all words of the search come before those
 * with some of them, and GIFs in the caller's language before others. Within these groups, GIFs are
 * sorted by the product of text score, popularity, number of choices after the same search, and
 * weight in the catalogue. */
#include "gifs/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"

enum { MOST_CLICKED = 500 };

/* --- the best n search results -------------------------------------------------------- */

/* The best results so far. They are a heap with the worst one on top, so that most candidates need
 * only one comparison. */
struct best_hits {
    struct gif_search_hit *hits;
    size_t count, max;
};

static int compare_search_hits(const struct gif_search_hit *a, const struct gif_search_hit *b)
{
    if (a->tier != b->tier)
        return a->tier > b->tier ? 1 : -1;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return a->n < b->n ? -1 : a->n > b->n;
}

static int compare_search_hits_for_qsort(const void *a, const void *b)
{
    return compare_search_hits(a, b);
}

static void heap_sift_down(struct best_hits *b, size_t at)
{
    for (;;) {
        size_t worst = at, left = 2 * at + 1;

        for (size_t i = left; i < left + 2 && i < b->count; i++)
            if (compare_search_hits(&b->hits[i], &b->hits[worst]) > 0)
                worst = i;
        if (worst == at)
            return;
        struct gif_search_hit moved = b->hits[at];
        b->hits[at] = b->hits[worst];
        b->hits[worst] = moved;
        at = worst;
    }
}

static void heap_sift_up(struct best_hits *b, size_t at)
{
    while (at && compare_search_hits(&b->hits[at], &b->hits[(at - 1) / 2]) > 0) {
        struct gif_search_hit moved = b->hits[at];

        b->hits[at] = b->hits[(at - 1) / 2];
        b->hits[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

static void add_to_best_hits(struct best_hits *b, const struct gif_search_hit *hit)
{
    if (b->count < b->max) {
        b->hits[b->count++] = *hit;
        heap_sift_up(b, b->count - 1);
    } else if (compare_search_hits(&b->hits[0], hit) > 0) {
        b->hits[0] = *hit;
        heap_sift_down(b, 0);
    }
}

/* --- number of choices that users made after the same search ------------------------- */

static const char FIND_CLICKS[] =
    "select p.gif, p.clicks from gif_terms t join gif_pairs p on p.term = t.n "
    "where t.locale = $1 and t.term = $2 order by p.clicks desc limit $3";

struct click_count {
    int64_t count;
};

static enum err read_gif_clicks_of_search_term(const struct gif_request *w, struct map *ret)
{
    struct rows rows;
    enum err e = tx_query(w->call->tx, FIND_CLICKS,
                          BIND(v_text(w->locale), v_text(w->q), v_int(MOST_CLICKED)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct click_count *c = arena_alloc(w->call->arena, sizeof *c);

        c->count = row_int(&rows, 1);
        map_set_value(ret, row_id(&rows, 0), c);
    }
    return rows_end(&rows);
}

/* --- search --------------------------------------------------------------------------- */

struct gif_search {
    const struct gif_request *request;
    struct list words;
    struct map clicks;
    struct map seen; /* numbers of the GIFs that earlier passes have found */
};

static double compute_hit_score(struct gif_search *s, const struct rows *r)
{
    double score = row_real(r, 1) * row_real(r, 3), heat = row_real(r, 2);
    const struct click_count *c = s->clicks.count ? map_find_value(&s->clicks, row_id(r, 0)) : NULL;

    if (heat > 0)
        score *= 1 + log1p(gif_popularity_from_heat(heat, s->request->today));
    return c ? score * (1 + log1p((double)c->count)) : score;
}

/* Runs one search pass and adds its results, best first. If elsewhere is set, finds only GIFs in
 * languages other than the caller's; otherwise finds none of these. */
static enum err run_gif_search_pass(struct gif_search *s, enum gif_search_word_match match,
                                    bool elsewhere, struct gif_search_hit *hits, size_t *count)
{
    struct best_hits best = { .hits = hits + *count, .max = s->request->limit - *count };
    struct rows rows;
    enum err e = gif_full_text_index_search(s->request, &s->words, match, &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct gif_search_hit hit = { .n = row_int(&rows, 0),
                                      .tier = (int)row_int(&rows, 4),
                                      .pass = match };

        if ((hit.tier == 2) != elsewhere ||
            (s->seen.count && map_find_value(&s->seen, (uint64_t)hit.n)))
            continue;
        hit.score = compute_hit_score(s, &rows);
        add_to_best_hits(&best, &hit);
    }
    e = rows_end(&rows);
    qsort(best.hits, best.count, sizeof *best.hits, compare_search_hits_for_qsort);
    for (size_t i = 0; match == MATCH_ALL && s->words.count > 1 && i < best.count; i++)
        map_set_value(&s->seen, (uint64_t)best.hits[i].n, &best.hits[i]);
    *count += best.count;
    return e;
}

static int compare_gif_id(const void *a, const void *b)
{
    return str_cmp(((const struct gif *)a)->id, ((const struct gif *)b)->id);
}

/* Sorts results with equal scores by id. Only the results that will be returned are sorted this
 * way, because reading the ids of all matches would cost more than the search. */
static void sort_equal_scores_by_id(const struct gif_search_hit *hits, size_t count,
                                    struct gif *gifs, size_t result_count)
{
    for (size_t h = 0, g = 0, first = 0; h < count && g < result_count; h++) {
        if (gifs[g].n == hits[h].n)
            g++;
        bool tied = h + 1 < count && g < result_count && hits[h + 1].pass == hits[h].pass &&
                    hits[h + 1].tier == hits[h].tier && hits[h + 1].score == hits[h].score;
        if (tied)
            continue;
        qsort(&gifs[first], g - first, sizeof *gifs, compare_gif_id);
        first = g;
    }
}

static enum err run_gif_search_passes(struct gif_search *s, bool elsewhere,
                                      struct gif_search_hit *hits, size_t *count)
{
    enum err e = run_gif_search_pass(s, MATCH_ALL, elsewhere, hits, count);

    if (!e && *count < s->request->limit && s->words.count > 1)
        e = run_gif_search_pass(s, MATCH_ANY, elsewhere, hits, count);
    return e;
}

enum err search_gif_catalogue(const struct gif_request *w, struct list *ret)
{
    struct gif_search s = { .request = w,
                            .words = split_into_search_words(w->call->arena, w->q, true) };
    struct gif_search_hit *hits = arena_array(w->call->arena, struct gif_search_hit, w->limit);
    size_t count = 0;

    *ret = (struct list){ 0 };
    if (!s.words.count)
        return OK;
    map_init(&s.clicks);
    map_init(&s.seen);
    enum err e = read_gif_clicks_of_search_term(w, &s.clicks);
    if (!e)
        e = run_gif_search_passes(&s, false, hits, &count);
    if (!e && !count)
        e = run_gif_search_passes(&s, true, hits, &count);
    map_clear(&s.clicks);
    map_clear(&s.seen);
    if (!e)
        e = read_gif_objects(w, hits, count, ret);
    if (!e && ret->count)
        sort_equal_scores_by_id(hits, count, ret->items, ret->count);
    return e;
}
