/* similar_usernames.c - finds the username that an operator probably meant. */
#include "base/options.h"
#include "platform/accounts/operator.h"

/* On larger servers only the names next to the mistyped one in alphabetical order are compared. */
enum { CANDIDATES_PER_SIDE = 500 };

static const char SELECT_NAMES_BEFORE[] =
    "select username from users where username <= $1 order by username desc limit $2";
static const char SELECT_NAMES_AFTER[] =
    "select username from users where username > $1 order by username limit $2";

static enum err add_candidates(struct rows *r, struct arena *arena, struct option_row *names,
                               size_t *count)
{
    while (rows_next(r))
        names[(*count)++].name = str_dup_cstring(arena, row_text(r, 0));
    return rows_end(r);
}

enum err find_similar_username(struct tx *tx, struct arena *arena, struct str name,
                               const char **ret)
{
    struct option_row *names = arena_array(arena, struct option_row, 2 * CANDIDATES_PER_SIDE + 1);
    const struct option_row *lists[] = { names, NULL };
    size_t count = 0;
    struct rows r;
    enum err e =
        tx_query(tx, SELECT_NAMES_BEFORE, BIND(v_text(name), v_int(CANDIDATES_PER_SIDE)), &r);

    if (!e)
        e = add_candidates(&r, arena, names, &count);
    if (!e)
        e = tx_query(tx, SELECT_NAMES_AFTER, BIND(v_text(name), v_int(CANDIDATES_PER_SIDE)), &r);
    if (!e)
        e = add_candidates(&r, arena, names, &count);
    if (!e)
        *ret = option_find_most_similar(lists, name);
    return e;
}
