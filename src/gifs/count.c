/* count.c - counts choices: updates the heat (popularity) of GIFs and terms, and the pairs of both.
 *
 * A job counts the oldest recorded choices and deletes their rows in one transaction, so that each
 * counts exactly once, even after a crash. */
#include "gifs/internal.h"

#include <stdlib.h>

#include "base/clock.h"

enum { AT_ONCE = 200 }; /* choices per transaction, which takes some milliseconds */

/* Pause between two batches: requests have priority over counting. */
static const int64_t PAUSE = SECOND / 20;

struct chosen {
    snowflake user_id;
    int64_t gif, at;
    struct str locale, term;
};

static double day_of(const struct chosen *c)
{
    return gif_day(c->at);
}

/* --- reading choices ------------------------------------------------------------------ */

static const char TAKE[] =
    "delete from gif_choices where n in (select n from gif_choices order by n limit $1) "
    "returning user_id, gif, at, locale, term";

static int by_time(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static enum err count_take(struct call *call, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(call->tx, TAKE, BIND(v_int(AT_ONCE)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows)) {
        struct chosen *c = list_add(call->arena, ret, sizeof *c);

        *c = (struct chosen){ row_id(&rows, 0), row_int(&rows, 1), row_int(&rows, 2),
                              row_text(&rows, 3), row_text(&rows, 4) };
    }
    if (ret->count)
        qsort(ret->items, ret->count, sizeof(struct chosen), by_time);
    return rows_end(&rows);
}

static const char PICK[] = "insert into gif_picks (user_id, gif, at) values ($1, $2, $3) "
                           "on conflict (user_id, gif) do update set at = excluded.at "
                           "where gif_picks.at <= $4";

/* Keeps only one choice per account and GIF within GIFS_PICK_PATIENCE. */
static enum err drop_repeated(struct call *call, struct list *choices)
{
    struct chosen *c = choices->items;
    size_t left = 0;
    enum err e = OK;

    for (size_t i = 0; i < choices->count && !e; i++) {
        int64_t changed = 0;

        e = tx_exec(call->tx, PICK,
                    BIND(v_id(c[i].user_id), v_int(c[i].gif), v_int(c[i].at),
                         v_int(c[i].at - GIFS_PICK_PATIENCE)),
                    &changed);
        if (changed)
            c[left++] = c[i];
    }
    choices->count = left;
    return e;
}

/* --- GIFs ----------------------------------------------------------------------------- */

static const char FIND_GIF[] = "select heat from gif_scores where n = $1";
static const char HEAT_GIF[] = "update gif_scores set heat = $2 where n = $1";

static int by_gif(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;

    return x->gif < y->gif ? -1 : x->gif > y->gif;
}

/* Counts choices of one GIF, which may have been deleted. */
static enum err count_gif(struct call *call, const struct chosen *c, size_t count)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_GIF, BIND(v_int(c->gif)), &row, &found);

    if (e || !found)
        return e;
    double heat = row_real(&row, 0);
    for (size_t i = 0; i < count; i++)
        heat = gif_heat_after(heat, day_of(&c[i]));
    return tx_exec(call->tx, HEAT_GIF, BIND(v_int(c->gif), v_real(heat)), NULL);
}

/* --- terms ---------------------------------------------------------------------------- */

static const char MAKE_TERM[] =
    "insert into gif_terms (n, locale, term, initial, heat) values ($1, $2, $3, $4, 0) "
    "on conflict (locale, term) do nothing";
static const char FIND_TERM[] =
    "select n, heat, third_at from gif_terms where locale = $1 and term = $2";
static const char NOTE_USER[] = "insert into gif_term_users (term, user_id, at) "
                                "values ($1, $2, $3) on conflict (term, user_id) "
                                "do update set at = excluded.at where gif_term_users.at <= $4";
static const char THIRD_USER[] =
    "select at from gif_term_users where term = $1 order by at desc limit 1 offset 2";
static const char HEAT_TERM[] = "update gif_terms set heat = $2, third_at = $3 where n = $1";
static const char CLICK[] =
    "insert into gif_pairs (term, gif, clicks) select cast($1 as bigint), g.n, cast($3 as bigint) "
    "from gifs g where g.n = $2 on conflict (term, gif) do update set "
    "clicks = gif_pairs.clicks + excluded.clicks";

static int by_term(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    int order = str_cmp(x->locale, y->locale);

    if (!order)
        order = str_cmp(x->term, y->term);
    return order ? order : by_gif(a, b);
}

static bool same_term(const struct chosen *a, const struct chosen *b)
{
    return str_eq(a->locale, b->locale) && str_eq(a->term, b->term);
}

static enum err find_term(struct call *call, const struct chosen *c, struct rows *ret)
{
    struct value locale = v_text(c->locale), term = v_text(c->term);
    bool found;
    enum err e = tx_one(call->tx, FIND_TERM, BIND(locale, term), ret, &found);

    if (e || found)
        return e;
    e = tx_exec(call->tx, MAKE_TERM,
                BIND(v_id(snowflake_new()), locale, term, v_text(words_initial(c->term))), NULL);
    if (!e)
        e = tx_one(call->tx, FIND_TERM, BIND(locale, term), ret, &found);
    return e ? e : found ? OK : ERR_STORE_RETRY;
}

/* Records the users of a term: it is shown once three accounts have used it within a week. Times
 * are updated at most once per hour, so that frequent users cause no writes. */
static enum err find_third(struct call *call, int64_t term, const struct chosen *c, size_t count,
                           int64_t *third_at)
{
    int64_t changed, news = 0;
    struct rows row;
    bool found = false;
    enum err e = OK;

    for (size_t i = 0; i < count && !e; i++) {
        e = tx_exec(call->tx, NOTE_USER,
                    BIND(v_int(term), v_id(c[i].user_id), v_int(c[i].at), v_int(c[i].at - HOUR)),
                    &changed);
        news += changed;
    }
    if (e || !news)
        return e;
    e = tx_one(call->tx, THIRD_USER, BIND(v_int(term)), &row, &found);
    *third_at = !e && found ? row_int(&row, 0) : 0;
    return e;
}

static enum err count_pairs(struct call *call, int64_t term, const struct chosen *c, size_t count)
{
    enum err e = OK;

    for (size_t i = 0, n; i < count && !e; i += n) {
        n = 1;
        while (i + n < count && c[i + n].gif == c[i].gif)
            n++;
        e = tx_exec(call->tx, CLICK, BIND(v_int(term), v_int(c[i].gif), v_int((int64_t)n)), NULL);
    }
    return e;
}

/* Counts choices of one term. */
static enum err count_term(struct call *call, const struct chosen *c, size_t count)
{
    struct rows row;

    if (!c->term.n)
        return OK;
    enum err e = find_term(call, c, &row);
    if (e)
        return e;
    int64_t n = row_int(&row, 0), third_at = row_int(&row, 2);
    double heat = row_real(&row, 1);
    for (size_t i = 0; i < count; i++)
        heat = gif_heat_after(heat, day_of(&c[i]));
    e = find_third(call, n, c, count, &third_at);
    if (!e)
        e = tx_exec(call->tx, HEAT_TERM, BIND(v_int(n), v_real(heat), v_int(third_at)), NULL);
    return e ? e : count_pairs(call, n, c, count);
}

/* --- job ------------------------------------------------------------------------------ */

static bool same_gif(const struct chosen *a, const struct chosen *b)
{
    return a->gif == b->gif;
}

/* Calls `count` for each group of equal choices. */
static enum err count_by(struct call *call, struct list *choices,
                         int (*order)(const void *, const void *),
                         bool (*same)(const struct chosen *, const struct chosen *),
                         enum err (*count)(struct call *, const struct chosen *, size_t))
{
    struct chosen *c = choices->items;
    enum err e = OK;

    if (choices->count)
        qsort(c, choices->count, sizeof *c, order);
    for (size_t i = 0, n; i < choices->count && !e; i += n) {
        n = 1;
        while (i + n < choices->count && same(&c[i], &c[i + n]))
            n++;
        e = count(call, &c[i], n);
    }
    return e;
}

/* Counts choices and schedules the next run: after PAUSE if much is left, after GIFS_COUNT_EVERY if
 * there were choices, else after an hour, for cleanup and for rows of a process that ended. */
static enum err run_count(struct call *call, const struct job *job)
{
    struct list choices;
    bool more = false;
    enum err e = count_take(call, &choices);
    size_t taken = choices.count;

    if (!e)
        e = drop_repeated(call, &choices);
    if (!e)
        e = count_by(call, &choices, by_gif, same_gif, count_gif);
    if (!e)
        e = count_by(call, &choices, by_term, same_term, count_term);
    if (!e && taken < AT_ONCE)
        e = gif_forget_some(call, &more);
    if (e)
        return e;
    int64_t wait = taken == AT_ONCE || more ? PAUSE : taken ? GIFS_COUNT_EVERY : HOUR;
    return job_schedule(call, &gif_count_kind, job->key, clock_us() + wait, STR(""));
}

const struct job_kind gif_count_kind = {
    .name = "gif-choices",
    .doc = "Counts chosen GIFs and deletes old statistics.",
    .run = run_count,
};
