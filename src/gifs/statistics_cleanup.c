/* statistics_cleanup.c - deletes old GIF statistics in small steps: choices, users of terms, unused
 * terms. */
#include "gifs/internal.h"

#include "base/clock.h"

enum { AT_ONCE = 500 }; /* maximum rows per SQL statement, which takes a few milliseconds */

/* Days after which a search term that was used once is deleted. Each doubling of the number of uses
 * adds a day. */
static const double TERM_DAYS = 60;

static const char PICKS[] = "delete from gif_picks where (user_id, gif) in "
                            "(select user_id, gif from gif_picks where at <= $1 limit $2)";
static const char USERS[] = "delete from gif_term_users where (term, user_id) in "
                            "(select term, user_id from gif_term_users where at <= $1 limit $2)";
/* Selects old pairs of search term and GIF. "cross join" makes SQLite start with the table
 * gif_terms. */
static const char PAIRS[] =
    "delete from gif_pairs where (term, gif) in (select p.term, p.gif from gif_terms t "
    "cross join gif_pairs p where p.term = t.n and t.heat < $1 limit $2)";
static const char TERMS[] =
    "delete from gif_terms where n in (select t.n from gif_terms t where t.heat < $1 and "
    "not exists (select 1 from gif_pairs p where p.term = t.n) limit $2)";

static enum err delete_some_old_statistics_rows(struct call *call, struct sql sql,
                                                struct value before, bool *more)
{
    int64_t gone = 0;
    enum err e = tx_exec(call->tx, sql, BIND(before, v_int(AT_ONCE)), &gone);

    *more |= gone == AT_ONCE;
    return e;
}

enum err delete_old_gif_statistics(struct call *call, bool *more)
{
    int64_t now = clock_us();
    struct value cold = v_real(days_since_epoch(now) - TERM_DAYS);
    enum err e =
        delete_some_old_statistics_rows(call, SQL(PICKS), v_int(now - GIFS_PICK_WINDOW_US), more);

    if (!e)
        e = delete_some_old_statistics_rows(call, SQL(USERS), v_int(now - GIFS_TERM_WINDOW_US),
                                            more);
    if (!e)
        e = delete_some_old_statistics_rows(call, SQL(PAIRS), cold, more);
    return e ? e : delete_some_old_statistics_rows(call, SQL(TERMS), cold, more);
}
