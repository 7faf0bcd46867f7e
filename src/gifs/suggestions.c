/* suggestions.c - suggests completions of a search text while the user types. */
#include "gifs/internal.h"

#include "base/clock.h"
#include "base/utf8.h"

void add_suggested_gif_search_term(const struct gif_request *w, struct list *terms, struct str term)
{
    const struct str *t = terms->items;

    if (terms->count >= w->limit || !term.n || utf8_length(term) > GIFS_MAX_TERM ||
        str_eq(term, w->q))
        return;
    for (size_t i = 0; i < terms->count; i++)
        if (str_eq(t[i], term))
            return;
    *(struct str *)list_append(w->call->arena, terms, sizeof term) = term;
}

/* Selects search terms with a prefix. A single character is the prefix of many terms, so only the
 * first rows of an index are read. Longer prefixes match few terms, which are sorted; "+" prevents
 * the database from scanning all terms in the order of heat. */
static const char TERMS_FROM[] =
    "select term from gif_terms where locale = $1 and term >= $2 and term < $3 "
    "and third_at > 0 and third_at > $4 order by +heat desc limit $5";
static const char TERMS_WITH_INITIAL[] =
    "select term from gif_terms where locale = $1 and initial = $2 and third_at > 0 "
    "and third_at > $3 order by heat desc limit $4";
static const char TAGS_FROM[] = "select tag from gif_tag_counts where cap = $1 and tag >= $2 "
                                "and tag < $3 order by +gifs desc, tag limit $4";
static const char TAGS_WITH_INITIAL[] = "select tag from gif_tag_counts where cap = $1 "
                                        "and initial = $2 order by gifs desc, tag limit $3";

static enum err add_terms_from_rows(const struct gif_request *w, struct rows *rows,
                                    struct list *terms)
{
    while (rows_next(rows))
        add_suggested_gif_search_term(w, terms, row_text(rows, 0));
    return rows_end(rows);
}

/* Returns a string that is greater than all strings with this prefix. */
static struct str prefix_upper_bound(struct arena *a, struct str prefix)
{
    return STR_CONCAT(a, prefix, STR("\xf4\x8f\xbf\xbf"));
}

/* Returns the row limit: one more than was requested, because one row may be the query itself,
 * which is not suggested. */
static struct value suggestion_row_limit(const struct gif_request *w)
{
    return v_int((int64_t)w->limit + 1);
}

static enum err add_matching_terms(const struct gif_request *w, bool one, struct list *terms)
{
    struct value since = v_int(clock_us() - GIFS_TERM_WINDOW_US);
    struct rows rows;
    enum err e;

    if (one)
        e = tx_query(w->call->tx, TERMS_WITH_INITIAL,
                     BIND(v_text(w->locale), v_text(w->q), since, suggestion_row_limit(w)), &rows);
    else
        e = tx_query(w->call->tx, TERMS_FROM,
                     BIND(v_text(w->locale), v_text(w->q),
                          v_text(prefix_upper_bound(w->call->arena, w->q)), since,
                          suggestion_row_limit(w)),
                     &rows);
    return e ? e : add_terms_from_rows(w, &rows, terms);
}

static enum err add_matching_tags(const struct gif_request *w, bool one, struct list *terms)
{
    struct rows rows;
    enum err e;

    if (one)
        e = tx_query(w->call->tx, TAGS_WITH_INITIAL,
                     BIND(v_int(w->cap), v_text(w->q), suggestion_row_limit(w)), &rows);
    else
        e = tx_query(w->call->tx, TAGS_FROM,
                     BIND(v_int(w->cap), v_text(w->q),
                          v_text(prefix_upper_bound(w->call->arena, w->q)),
                          suggestion_row_limit(w)),
                     &rows);
    return e ? e : add_terms_from_rows(w, &rows, terms);
}

/* --- search terms after which users chose the same GIFs --------------------------------- */

enum { RELATED_GIFS = 8, RELATED_TERMS = 16 };

static const char CHOSEN_AFTER[] =
    "select p.gif from gif_terms t join gif_pairs p on p.term = t.n "
    "where t.locale = $1 and t.term = $2 order by p.clicks desc limit $3";
static const char TERMS_BEFORE[] =
    "select t.term from (select term from gif_pairs where gif = $1 order by clicks desc limit $4) "
    "p join gif_terms t on t.n = p.term where t.locale = $2 and t.third_at > $3";

static enum err add_related_terms(const struct gif_request *w, struct list *terms)
{
    struct list gifs = { 0 };
    struct rows rows;
    enum err e = tx_query(w->call->tx, CHOSEN_AFTER,
                          BIND(v_text(w->locale), v_text(w->q), v_int(RELATED_GIFS)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        *(int64_t *)list_append(w->call->arena, &gifs, sizeof(int64_t)) = row_int(&rows, 0);
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < gifs.count && terms->count < w->limit; i++) {
        e = tx_query(w->call->tx, TERMS_BEFORE,
                     BIND(v_int(((const int64_t *)gifs.items)[i]), v_text(w->locale),
                          v_int(clock_us() - GIFS_TERM_WINDOW_US), v_int(RELATED_TERMS)),
                     &rows);
        if (!e)
            e = add_terms_from_rows(w, &rows, terms);
    }
    return e;
}

enum err read_gif_search_suggestions(const struct gif_request *w, struct list *ret)
{
    bool one = utf8_length(w->q) == 1;
    enum err e;

    *ret = (struct list){ 0 };
    e = add_matching_terms(w, one, ret);
    if (!e && ret->count < w->limit)
        e = add_matching_tags(w, one, ret);
    if (!e && ret->count < w->limit)
        e = add_related_terms(w, ret);
    return e;
}
