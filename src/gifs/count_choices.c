/* count_choices.c - updates the heat (popularity) of GIFs and search terms, and of pairs of both,
 * from the choices that users made. A job counts the oldest recorded choices and deletes their rows
 * in one transaction, so that each is counted exactly once, even after a crash. */
#include "gifs/internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/fields/rows.h"

enum { AT_ONCE = 200 }; /* choices per transaction, which takes some milliseconds */

/* Pause between two transactions in microseconds, so that requests can write in between. */
static const int64_t PAUSE = SECOND / 20;

struct gif_choice_row {
    snowflake user_id;
    int64_t gif, at;
    struct str locale, term;
};

static double day_of_gif_selection(const struct gif_choice_row *c)
{
    return days_since_epoch(c->at);
}

/* --- reading choices ------------------------------------------------------------------ */

static const char DELETE_CHOICES[] =
    "delete from gif_choices where n in (select n from gif_choices order by n limit $1) "
    "returning user_id, gif, at, locale, term";

static int compare_gif_selection_time(const void *a, const void *b)
{
    const struct gif_choice_row *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static void gif_selection_from_row(const struct rows *r, void *ret)
{
    *(struct gif_choice_row *)ret =
        (struct gif_choice_row){ row_id(r, 0), row_int(r, 1), row_int(r, 2), row_text(r, 3),
                                 row_text(r, 4) };
}

static enum err delete_and_return_gif_selections(struct call *call, struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = tx_read_list(call->tx, DELETE_CHOICES, BIND(v_int(AT_ONCE)),
                              sizeof(struct gif_choice_row), gif_selection_from_row, ret);
    if (!e && ret->count)
        qsort(ret->items, ret->count, sizeof(struct gif_choice_row), compare_gif_selection_time);
    return e;
}

static const char UPSERT_PICK[] = "insert into gif_picks (user_id, gif, at) values ($1, $2, $3) "
                                  "on conflict (user_id, gif) do update set at = excluded.at "
                                  "where gif_picks.at <= $4";

/* Removes repeated choices: an account that chose the same GIF several times within
 * GIFS_PICK_WINDOW_US counts once. */
static enum err remove_repeated_gif_selections(struct call *call, struct list *choices)
{
    struct gif_choice_row *c = choices->items;
    size_t left = 0;
    enum err e = OK;

    for (size_t i = 0; i < choices->count && !e; i++) {
        int64_t changed = 0;

        e = tx_exec(call->tx, UPSERT_PICK,
                    BIND(v_id(c[i].user_id), v_int(c[i].gif), v_int(c[i].at),
                         v_int(c[i].at - GIFS_PICK_WINDOW_US)),
                    &changed);
        if (changed)
            c[left++] = c[i];
    }
    choices->count = left;
    return e;
}

/* --- GIFs ----------------------------------------------------------------------------- */

static const char FIND_GIF[] = "select heat from gif_scores where n = $1";
static const char UPDATE_GIF_HEAT[] = "update gif_scores set heat = $2 where n = $1";

static int compare_gif_of_selections(const void *a, const void *b)
{
    const struct gif_choice_row *x = a, *y = b;

    return x->gif < y->gif ? -1 : x->gif > y->gif;
}

/* Counts the choices of one GIF, which may have been deleted. */
static enum err count_selections_and_users_of_gif(struct call *call, const struct gif_choice_row *c,
                                                  size_t count)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_GIF, BIND(v_int(c->gif)), &row, &found);

    if (e || !found)
        return e;
    double heat = row_real(&row, 0);
    for (size_t i = 0; i < count; i++)
        heat = gif_heat_add_selection(heat, day_of_gif_selection(&c[i]));
    return tx_exec(call->tx, UPDATE_GIF_HEAT, BIND(v_int(c->gif), v_real(heat)), NULL);
}

/* --- terms ---------------------------------------------------------------------------- */

static const char MAKE_TERM[] =
    "insert into gif_terms (n, locale, term, initial, heat) values ($1, $2, $3, $4, 0) "
    "on conflict (locale, term) do nothing";
static const char FIND_TERM[] =
    "select n, heat, third_at from gif_terms where locale = $1 and term = $2";
static const char UPSERT_TERM_USER[] =
    "insert into gif_term_users (term, user_id, at) "
    "values ($1, $2, $3) on conflict (term, user_id) "
    "do update set at = excluded.at where gif_term_users.at <= $4";
static const char THIRD_USER[] =
    "select at from gif_term_users where term = $1 order by at desc limit 1 offset 2";
static const char UPDATE_TERM_HEAT[] = "update gif_terms set heat = $2, third_at = $3 where n = $1";
static const char UPSERT_CLICKS[] =
    "insert into gif_pairs (term, gif, clicks) select cast($1 as bigint), g.n, cast($3 as bigint) "
    "from gifs g where g.n = $2 on conflict (term, gif) do update set "
    "clicks = gif_pairs.clicks + excluded.clicks";

static int compare_search_term_of_gif_selections(const void *a, const void *b)
{
    const struct gif_choice_row *x = a, *y = b;
    int order = str_cmp(x->locale, y->locale);

    if (!order)
        order = str_cmp(x->term, y->term);
    return order ? order : compare_gif_of_selections(a, b);
}

static bool gif_selections_have_same_search_term(const struct gif_choice_row *a,
                                                 const struct gif_choice_row *b)
{
    return str_eq(a->locale, b->locale) && str_eq(a->term, b->term);
}

static enum err read_or_insert_search_term(struct call *call, const struct gif_choice_row *c,
                                           struct rows *ret)
{
    struct value locale = v_text(c->locale), term = v_text(c->term);
    bool found;
    enum err e = tx_one(call->tx, FIND_TERM, BIND(locale, term), ret, &found);

    if (e || found)
        return e;
    e = tx_exec(call->tx, MAKE_TERM,
                BIND(v_id(snowflake_new()), locale, term, v_text(utf8_first_character(c->term))),
                NULL);
    if (!e)
        e = tx_one(call->tx, FIND_TERM, BIND(locale, term), ret, &found);
    return e ? e : found ? OK : ERR_STORE_RETRY;
}

/* Records who used a search term. A term is suggested once three accounts have used it within a
 * week. The time of an account's last use is updated at most once per hour, so that frequent users
 * cause few writes. */
static enum err record_users_of_search_term(struct call *call, int64_t term,
                                            const struct gif_choice_row *c, size_t count,
                                            int64_t *third_at)
{
    int64_t changed, new_users = 0;
    enum err e = OK;

    for (size_t i = 0; i < count && !e; i++) {
        e = tx_exec(call->tx, UPSERT_TERM_USER,
                    BIND(v_int(term), v_id(c[i].user_id), v_int(c[i].at), v_int(c[i].at - HOUR)),
                    &changed);
        new_users += changed;
    }
    if (e || !new_users)
        return e;
    return tx_read_int(call->tx, THIRD_USER, BIND(v_int(term)), third_at);
}

static enum err count_selections_of_gifs_for_term(struct call *call, int64_t term,
                                                  const struct gif_choice_row *c, size_t count)
{
    enum err e = OK;

    for (size_t i = 0, n; i < count && !e; i += n) {
        n = 1;
        while (i + n < count && c[i + n].gif == c[i].gif)
            n++;
        e = tx_exec(call->tx, UPSERT_CLICKS, BIND(v_int(term), v_int(c[i].gif), v_int((int64_t)n)),
                    NULL);
    }
    return e;
}

static enum err count_gif_selections_of_search_term(struct call *call,
                                                    const struct gif_choice_row *c, size_t count)
{
    struct rows row;

    if (!c->term.n)
        return OK;
    enum err e = read_or_insert_search_term(call, c, &row);
    if (e)
        return e;
    int64_t n = row_int(&row, 0), third_at = row_int(&row, 2);
    double heat = row_real(&row, 1);
    for (size_t i = 0; i < count; i++)
        heat = gif_heat_add_selection(heat, day_of_gif_selection(&c[i]));
    e = record_users_of_search_term(call, n, c, count, &third_at);
    if (!e)
        e = tx_exec(call->tx, UPDATE_TERM_HEAT, BIND(v_int(n), v_real(heat), v_int(third_at)),
                    NULL);
    return e ? e : count_selections_of_gifs_for_term(call, n, c, count);
}

/* --- job ------------------------------------------------------------------------------ */

static bool gif_selections_have_same_gif(const struct gif_choice_row *a,
                                         const struct gif_choice_row *b)
{
    return a->gif == b->gif;
}

/* Sorts the choices and calls `count` for each group of equal choices. */
static enum err sort_and_count_equal_gif_selections(
    struct call *call, struct list *choices, int (*order)(const void *, const void *),
    bool (*same)(const struct gif_choice_row *, const struct gif_choice_row *),
    enum err (*count)(struct call *, const struct gif_choice_row *, size_t))
{
    struct gif_choice_row *c = choices->items;
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

/* Counts choices and schedules the next run. If more choices are left, it runs after PAUSE. If
 * there were choices, it runs after GIFS_COUNT_INTERVAL_US. Otherwise it runs after an hour, for
 * the cleanup and for choices that a stopped process has left. */
static enum err run_gif_selection_count_job(struct call *call, const struct job *job)
{
    struct list choices;
    bool more = false;
    enum err e = delete_and_return_gif_selections(call, &choices);
    size_t taken = choices.count;

    if (!e)
        e = remove_repeated_gif_selections(call, &choices);
    if (!e)
        e = sort_and_count_equal_gif_selections(call, &choices, compare_gif_of_selections,
                                                gif_selections_have_same_gif,
                                                count_selections_and_users_of_gif);
    if (!e)
        e = sort_and_count_equal_gif_selections(
            call, &choices, compare_search_term_of_gif_selections,
            gif_selections_have_same_search_term, count_gif_selections_of_search_term);
    if (!e && taken < AT_ONCE)
        e = delete_old_gif_statistics(call, &more);
    if (e)
        return e;
    int64_t wait = taken == AT_ONCE || more ? PAUSE : taken ? GIFS_COUNT_INTERVAL_US : HOUR;
    return job_schedule(call, &gif_count_job, job->key, clock_us() + wait, STR(""));
}

const struct job_kind gif_count_job = {
    .name = "gif-choices",
    .doc = "Counts chosen GIFs and deletes old statistics.",
    .run = run_gif_selection_count_job,
};
