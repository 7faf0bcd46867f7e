/* trending.c - trending GIFs, categories and search terms. */
#include "gifs/internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"

/* --- GIFs ----------------------------------------------------------------------------- */

static const char HOT_IN_LOCALE[] =
    "select n, heat from gif_scores where locale = $1 and heat > 0 and rating <= $2 "
    "order by heat desc, n desc limit $3";
static const char HOT_IN_LANGUAGE[] =
    "select n, heat from gif_scores where language = $1 and heat > 0 and rating <= $2 "
    "order by heat desc, n desc limit $3";
static const char GOOD_IN_LOCALE[] =
    "select n, weight from gif_scores where locale = $1 and rating <= $2 "
    "order by weight desc, n desc limit $3";
static const char GOOD_IN_LANGUAGE[] =
    "select n, weight from gif_scores where language = $1 and rating <= $2 "
    "order by weight desc, n desc limit $3";
static const char GOOD_ANYWHERE[] = "select n, weight from gif_scores where rating <= $1 "
                                    "order by weight desc, n desc limit $2";

/* GIFs that several queries have found, each GIF once. */
struct trending_list {
    const struct gif_request *request;
    struct gif_search_hit *hits;
    size_t count, max;
    struct map seen;
};

static int compare_trending_gif_scores(const void *a, const void *b)
{
    const struct gif_search_hit *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

static enum err add_trending_gifs_from_rows(struct trending_list *g, struct list *found,
                                            struct rows *rows)
{
    while (rows_next(rows)) {
        struct gif_search_hit *hit = list_append(g->request->call->arena, found, sizeof *hit);

        hit->n = row_int(rows, 0);
        hit->score = row_real(rows, 1);
    }
    return rows_end(rows);
}

static enum err read_trending_gifs_of_locale(struct trending_list *g, struct sql sql,
                                             struct str where, struct list *found)
{
    struct rows rows;
    enum err e =
        tx_query(g->request->call->tx, sql,
                 BIND(v_text(where), v_int(g->request->cap), v_int((int64_t)g->max)), &rows);

    return e ? e : add_trending_gifs_from_rows(g, found, &rows);
}

static void append_best_trending_gifs(struct trending_list *g, struct list *found)
{
    struct gif_search_hit *hits = found->items;

    qsort(hits, found->count, sizeof *hits, compare_trending_gif_scores);
    for (size_t i = 0; i < found->count && g->count < g->max; i++) {
        if (map_find_value(&g->seen, (uint64_t)hits[i].n))
            continue;
        g->hits[g->count] = hits[i];
        map_set_value(&g->seen, (uint64_t)hits[i].n, &g->hits[g->count++]);
    }
}

/* Adds the best GIFs of the locale `where`. If `too` is not empty, also those of the locale
 * `too`. */
static enum err collect_trending_gifs(struct trending_list *g, struct sql sql, struct str where,
                                      struct str too)
{
    struct list found = { 0 };

    if (g->count == g->max)
        return OK;
    enum err e = read_trending_gifs_of_locale(g, sql, where, &found);
    if (!e && too.n)
        e = read_trending_gifs_of_locale(g, sql, too, &found);
    if (!e && found.count)
        append_best_trending_gifs(g, &found);
    return e;
}

static enum err collect_best_gifs_of_any_locale(struct trending_list *g)
{
    struct list found = { 0 };
    struct rows rows;
    enum err e = tx_query(g->request->call->tx, GOOD_ANYWHERE,
                          BIND(v_int(g->request->cap), v_int((int64_t)g->max)), &rows);

    if (!e)
        e = add_trending_gifs_from_rows(g, &found, &rows);
    if (!e && found.count)
        append_best_trending_gifs(g, &found);
    return e;
}

enum err read_trending_gifs(const struct gif_request *w, size_t limit, struct list *ret)
{
    struct trending_list g = { .request = w, .max = limit };

    g.hits = arena_array(w->call->arena, struct gif_search_hit, limit);
    map_init(&g.seen);
    enum err e = collect_trending_gifs(&g, SQL(HOT_IN_LOCALE), w->locale, STR("*"));
    if (!e)
        e = collect_trending_gifs(&g, SQL(GOOD_IN_LOCALE), w->locale, STR("*"));
    if (!e)
        e = collect_trending_gifs(&g, SQL(HOT_IN_LANGUAGE), w->language, STR(""));
    if (!e)
        e = collect_trending_gifs(&g, SQL(GOOD_IN_LANGUAGE), w->language, STR(""));
    if (!e && !g.count)
        e = collect_best_gifs_of_any_locale(&g);
    map_clear(&g.seen);
    return e ? e : read_gif_objects(w, g.hits, g.count, ret);
}

/* --- categories ----------------------------------------------------------------------- */

/* Maximum number of GIFs that are read to compute the categories. GIFs that are rarely chosen
 * hardly affect them. */
enum { HOTTEST = 300 };

static const char HOT_TAGS[] =
    "select t.tag, h.n, h.heat from (select n, heat from gif_scores where heat > 0 "
    "and rating <= $1 and (locale = '*' or language = $2) order by heat desc limit $3) h "
    "join gif_tags t on t.gif = h.n join gif_tag_counts c on c.cap = cast($1 as bigint) "
    "and c.tag = t.tag and c.gifs >= $4";
static const char LARGEST_TAGS[] = "select tag, best from gif_tag_counts "
                                   "where cap = $1 and gifs >= $2 order by gifs desc, tag limit $3";
static const char ONE_TAG[] = "select best from gif_tag_counts where cap = $1 and tag = $2";

struct category_score {
    struct str name;
    double score, best_heat;
    int64_t best;
};

static int compare_category_score(const void *a, const void *b)
{
    const struct category_score *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return str_cmp(x->name, y->name);
}

static struct category_score *find_gif_category(struct list *list, struct str name)
{
    struct category_score *c = list->items;

    for (size_t i = 0; i < list->count; i++)
        if (str_eq(c[i].name, name))
            return &c[i];
    return NULL;
}

static enum err read_trending_gif_categories(const struct gif_request *w, struct list *ret)
{
    struct list list = { 0 };
    struct map index_by_tag; /* index of a tag plus one, by hash of the tag */
    struct rows rows;
    enum err e = tx_query(
        w->call->tx, HOT_TAGS,
        BIND(v_int(w->cap), v_text(w->language), v_int(HOTTEST), v_int(GIFS_CATEGORY_MIN)), &rows);

    if (e)
        return e;
    map_init(&index_by_tag);
    while (rows_next(&rows)) {
        struct str tag = row_text(&rows, 0);
        double heat = row_real(&rows, 2);
        size_t index = (size_t)(uintptr_t)map_find_value(&index_by_tag, hash_str(tag));
        struct category_score *c = (struct category_score *)list.items + (index ? index - 1 : 0);

        if (!index) {
            c = list_append(w->call->arena, &list, sizeof *c);
            c->name = tag;
            map_set_value(&index_by_tag, hash_str(tag), (void *)(uintptr_t)list.count);
        }
        c->score += gif_popularity_from_heat(heat, w->today);
        if (heat > c->best_heat) {
            c->best_heat = heat;
            c->best = row_int(&rows, 1);
        }
    }
    map_clear(&index_by_tag);
    if (list.count)
        qsort(list.items, list.count, sizeof(struct category_score), compare_category_score);
    if (list.count > GIFS_CATEGORIES)
        list.count = GIFS_CATEGORIES;
    *ret = list;
    return rows_end(&rows);
}

static void add_gif_category(const struct gif_request *w, struct list *list, struct str name,
                             int64_t best)
{
    if (list->count >= GIFS_CATEGORIES || find_gif_category(list, name))
        return;
    struct category_score *c = list_append(w->call->arena, list, sizeof *c);
    c->name = name;
    c->best = best;
}

/* Adds the categories that the operator has configured and that have a GIF. */
static enum err add_configured_gif_categories(const struct gif_request *w, struct list *list)
{
    struct str names = gif_get_config()->categories;
    struct rows row;
    enum err e = OK;
    bool found;

    while (names.n && !e) {
        struct str name = normalize_search_text(w->call->arena, str_cut(&names, ','));

        e = tx_one(w->call->tx, ONE_TAG, BIND(v_int(w->cap), v_text(name)), &row, &found);
        if (!e && found)
            add_gif_category(w, list, name, row_int(&row, 0));
    }
    return e;
}

static enum err add_largest_gif_categories(const struct gif_request *w, struct list *list)
{
    struct rows rows;
    enum err e =
        tx_query(w->call->tx, LARGEST_TAGS,
                 BIND(v_int(w->cap), v_int(GIFS_CATEGORY_MIN), v_int(GIFS_CATEGORIES)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        add_gif_category(w, list, row_text(&rows, 0), row_int(&rows, 1));
    return rows_end(&rows);
}

static enum err collect_gif_categories(const struct gif_request *w, struct list *ret)
{
    enum err e = read_trending_gif_categories(w, ret);

    if (!e && ret->count < GIFS_CATEGORIES)
        e = gif_get_config()->categories.n ? add_configured_gif_categories(w, ret)
                                           : add_largest_gif_categories(w, ret);
    return e;
}

enum err read_gif_categories(const struct gif_request *w, struct list *ret)
{
    struct gif_search_hit hits[GIFS_CATEGORIES];
    struct list found, gifs;
    enum err e = collect_gif_categories(w, &found);
    const struct category_score *c = found.items;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < found.count; i++)
        hits[i] = (struct gif_search_hit){ .n = c[i].best };
    if (!e)
        e = read_gif_objects(w, hits, found.count, &gifs);
    for (size_t i = 0; !e && i < found.count; i++) {
        const struct gif *g = gifs.items;
        size_t j = 0;

        while (j < gifs.count && g[j].n != c[i].best)
            j++;
        if (j == gifs.count)
            continue;
        struct gif_category *out = list_append(w->call->arena, ret, sizeof *out);
        *out = (struct gif_category){ c[i].name, g[j].src };
    }
    return e;
}

/* --- terms ---------------------------------------------------------------------------- */

static const char HOT_TERMS[] = "select term from gif_terms where locale = $1 and third_at > 0 "
                                "and third_at > $2 order by heat desc limit $3";

enum err read_trending_gif_search_terms(const struct gif_request *w, struct list *ret)
{
    struct list padding;
    struct rows rows;
    enum err e = tx_query(
        w->call->tx, HOT_TERMS,
        BIND(v_text(w->locale), v_int(clock_us() - GIFS_TERM_WINDOW_US), v_int((int64_t)w->limit)),
        &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        add_suggested_gif_search_term(w, ret, row_text(&rows, 0));
    e = rows_end(&rows);
    if (!e && ret->count < w->limit) {
        e = collect_gif_categories(w, &padding);
        for (size_t i = 0; !e && i < padding.count; i++)
            add_suggested_gif_search_term(w, ret,
                                          ((const struct category_score *)padding.items)[i].name);
    }
    return e;
}
