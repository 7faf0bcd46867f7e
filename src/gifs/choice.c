/* choice.c - what a choice changes: how hot a GIF is, and a term, and both together.
 *
 * Who chose what is kept only as long as it is needed to count everybody once. */
#include "gifs/internal.h"

#include <stdatomic.h>
#include <utf8proc.h>

#include "base/clock.h"
#include "base/utf8.h"

#define MINUTE (INT64_C(60) * 1000000)

static const int64_t PICK_PATIENCE = 10 * MINUTE;

/* --- forgetting ---------------------------------------------------------------------------- */

static const char FORGET_PICKS[] = "delete from gif_picks where at <= $1";
static const char FORGET_USERS[] = "delete from gif_term_users where at <= $1";

/* With the first choice of a minute; which process does it does not matter. */
static enum err forget_the_old(struct call *call)
{
    static _Atomic int64_t last;
    int64_t now = clock_us(), minute = now / MINUTE;

    if (atomic_exchange_explicit(&last, minute, memory_order_relaxed) == minute)
        return OK;
    enum err e = tx_exec(call->tx, FORGET_PICKS, BIND(v_int(now - PICK_PATIENCE)), NULL);
    if (!e)
        e = tx_exec(call->tx, FORGET_USERS, BIND(v_int(now - GIFS_TERM_PATIENCE)), NULL);
    return e;
}

/* --- the GIF ----------------------------------------------------------------------------- */

static const char FIND_GIF[] =
    "select g.n, s.heat from gifs g join gif_scores s on s.n = g.n where g.id = $1";
static const char PICK[] = "insert into gif_picks (user_id, gif, at) values ($1, $2, $3) "
                           "on conflict (user_id, gif) do update set at = excluded.at "
                           "where gif_picks.at <= $4";
static const char HEAT_GIF[] = "update gif_scores set heat = $2 where n = $1";

/* Once in ten minutes for each account and GIF. */
static enum err pick(struct call *call, int64_t gif, bool *ret_counts)
{
    int64_t now = clock_us(), changed;
    enum err e = tx_exec(
        call->tx, PICK,
        BIND(v_id(call->caller->id), v_int(gif), v_int(now), v_int(now - PICK_PATIENCE)), &changed);

    *ret_counts = !e && changed > 0;
    return e;
}

/* --- the term ------------------------------------------------------------------------------ */

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
static const char CLICK[] = "insert into gif_pairs (term, gif, clicks) values ($1, $2, 1) "
                            "on conflict (term, gif) do update set clicks = gif_pairs.clicks + 1";

static bool has_letter(struct str term)
{
    uint32_t c;
    size_t size;

    for (; term.n && (size = utf8_decode(term, &c)); term = str_from(term, size)) {
        utf8proc_category_t kind = utf8proc_category((utf8proc_int32_t)c);

        if (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO)
            return true;
    }
    return false;
}

/* Are these words among the others, side by side? */
static bool has_words(const struct list *words, const struct list *wanted)
{
    const struct str *w = words->items, *v = wanted->items;

    for (size_t at = 0; wanted->count && at + wanted->count <= words->count; at++) {
        size_t same = 0;

        while (same < wanted->count && str_eq(w[at + same], v[same]))
            same++;
        if (same == wanted->count)
            return true;
    }
    return false;
}

/* Accents do not hide a word. */
static bool is_blocked(struct arena *a, struct str term)
{
    struct list words = gif_words(a, term, false);

    for (struct str rest = gif_config()->blocked_words; rest.n;) {
        struct str blocked = gif_normal(a, str_cut(&rest, ','));
        struct list wanted = gif_words(a, blocked, true);

        if (str_eq(blocked, term) || has_words(&words, &wanted))
            return true;
    }
    return false;
}

static bool term_counts(struct arena *a, struct str term)
{
    size_t n = utf8_length(term);

    return n >= 2 && n <= GIFS_MAX_TERM && has_letter(term) && !is_blocked(a, term);
}

/* A term is shown once three accounts have used it within a week. To the hour is exact
 * enough: who uses it all the time writes nothing new. */
static enum err find_third(struct call *call, int64_t term, int64_t *third_at)
{
    int64_t now = clock_us(), changed;
    struct rows row;
    bool found = false;
    enum err e = tx_exec(
        call->tx, NOTE_USER,
        BIND(v_int(term), v_id(call->caller->id), v_int(now), v_int(now - 60 * MINUTE)), &changed);

    if (e || !changed)
        return e;
    e = tx_one(call->tx, THIRD_USER, BIND(v_int(term)), &row, &found);
    *third_at = !e && found ? row_int(&row, 0) : 0;
    return e;
}

static enum err find_term(struct call *call, struct str term, struct str locale, struct rows *ret)
{
    bool found;
    enum err e = tx_one(call->tx, FIND_TERM, BIND(v_text(locale), v_text(term)), ret, &found);

    if (e || found)
        return e;
    e = tx_exec(
        call->tx, MAKE_TERM,
        BIND(v_id(snowflake_new()), v_text(locale), v_text(term), v_text(gif_initial(term))), NULL);
    if (!e)
        e = tx_one(call->tx, FIND_TERM, BIND(v_text(locale), v_text(term)), ret, &found);
    return e ? e : found ? OK : ERR_STORE_RETRY;
}

static enum err count_term(struct call *call, struct str term, struct str locale, int64_t gif)
{
    struct rows row;
    enum err e = find_term(call, term, locale, &row);

    if (e)
        return e;
    int64_t n = row_int(&row, 0), third_at = row_int(&row, 2);
    double heat = gif_heat_after(row_real(&row, 1), gif_today());
    e = find_third(call, n, &third_at);
    if (!e)
        e = tx_exec(call->tx, HEAT_TERM, BIND(v_int(n), v_real(heat), v_int(third_at)), NULL);
    if (!e)
        e = tx_exec(call->tx, CLICK, BIND(v_int(n), v_int(gif)), NULL);
    return e;
}

enum err gif_choose(struct call *call, struct str id, struct str q, struct str locale)
{
    struct str term = gif_normal(call->arena, q);
    bool found, counts;
    struct rows row;
    enum err e = tx_one(call->tx, FIND_GIF, BIND(v_text(id)), &row, &found);

    if (e || !found)
        return e;
    int64_t gif = row_int(&row, 0);
    double heat = gif_heat_after(row_real(&row, 1), gif_today());
    e = pick(call, gif, &counts);
    if (e || !counts)
        return e;
    e = tx_exec(call->tx, HEAT_GIF, BIND(v_int(gif), v_real(heat)), NULL);
    if (!e && term_counts(call->arena, term))
        e = count_term(call, term, locale, gif);
    return e ? e : forget_the_old(call);
}
