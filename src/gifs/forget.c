/* forget.c - what is no longer needed goes, a little at a time: who chose what, and who
 * used which term. */
#include "gifs/internal.h"

#include "base/clock.h"

enum { AT_ONCE = 500 }; /* a few milliseconds of writing */

static const char PICKS[] = "delete from gif_picks where (user_id, gif) in "
                            "(select user_id, gif from gif_picks where at <= $1 limit $2)";
static const char USERS[] = "delete from gif_term_users where (term, user_id) in "
                            "(select term, user_id from gif_term_users where at <= $1 limit $2)";
static enum err forget(struct call *call, const char *sql, struct value before, bool *more)
{
    int64_t gone = 0;
    enum err e = tx_exec(call->tx, sql, BIND(before, v_int(AT_ONCE)), &gone);

    *more |= gone == AT_ONCE;
    return e;
}

enum err gif_forget_some(struct call *call, bool *more)
{
    int64_t now = clock_us();
    enum err e = forget(call, PICKS, v_int(now - GIFS_PICK_PATIENCE), more);

    return e ? e : forget(call, USERS, v_int(now - GIFS_TERM_PATIENCE), more);
}
