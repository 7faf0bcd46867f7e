/* suggestions.c - stores friend suggestions and emits their events. */
#include "platform/relationships/suggestions.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/settings.h"
#include "platform/accounts/users.h"
#include "platform/relationships/notices.h"

enum { MOST_LIVE = 100 };
static const int64_t DISMISSED_US = INT64_C(180) * 24 * 3600 * 1000000;

/* --- reading -------------------------------------------------------------------------- */

static const char EXISTS[] =
    "select 1 from friend_suggestions where user_id = $1 and suggested_id = $2 limit 1";
static const char COUNT[] =
    "select count(distinct s.suggested_id) from friend_suggestions s join users u on "
    "u.id = s.suggested_id where s.user_id = $1 and u.disabled = 0 and u.deleting = 0";

enum err suggestion_exists(struct tx *tx, snowflake owner, snowflake suggested, bool *ret)
{
    struct rows row;

    return tx_one(tx, EXISTS, BIND(v_id(owner), v_id(suggested)), &row, ret);
}

enum err suggestions_count(struct tx *tx, snowflake owner, int64_t *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT, BIND(v_id(owner)), &row, &found);

    if (!e)
        *ret = row_int(&row, 0);
    return e;
}

#define REASON_COLUMNS "s.source, s.name, s.contact_name, s.mutual_friends, s.score"
enum { USER_AT = 5 };

/* A suggestion with its reasons so far. */
struct gathered {
    struct friend_suggestion shown;
    snowflake id;
    int64_t score;
};

static void add_reason(struct tx *tx, const struct rows *r, const struct user *user,
                       struct gathered *g)
{
    struct str source = row_text(r, 0);
    bool reverse = str_is(source, SOURCE_REVERSE);

    if (row_int(r, 4) > g->score)
        g->score = row_int(r, 4);
    if (!row_null(r, 2)) {
        g->shown.contact_names.given = GIVEN;
        *(struct str *)list_add(tx_arena(tx), &g->shown.contact_names.value, sizeof(struct str)) =
            row_text(r, 2);
    }
    if (!row_null(r, 3))
        g->shown.mutual_friends_count = given_int(row_int(r, 3));
    if (reverse)
        g->shown.from_suggested_user_contacts = given_bool(true);
    if (str_is(source, SOURCE_MUTUAL))
        return;
    struct suggestion_reason *reason = list_add(tx_arena(tx), &g->shown.reasons, sizeof *reason);
    struct str platform = reverse ? STR(SOURCE_CONTACTS) : source;
    struct str known = user->global_name.given == GIVEN ? user->global_name.value : user->username;
    *reason = (struct suggestion_reason){
        .type = SUGGESTION_EXTERNAL_FRIEND,
        .platform = platform,
        .platform_type = platform,
        .name = row_null(r, 1) ? known : row_text(r, 1),
    };
}

/* Collects the reasons per suggested account; the rows are ordered by account. */
static enum err suggestion_gather(struct tx *tx, struct rows *rows, struct list *ret)
{
    *ret = (struct list){ 0 };
    while (rows_next(rows)) {
        struct gathered *last = ret->count ? (struct gathered *)ret->items + ret->count - 1 : NULL;
        struct user *user = arena_alloc(tx_arena(tx), sizeof *user);

        user_read(rows, USER_AT, user);
        if (!last || last->id != user->id) {
            last = list_add(tx_arena(tx), ret, sizeof *last);
            *last = (struct gathered){ .id = user->id, .shown = { .suggested_user = user } };
        }
        add_reason(tx, rows, last->shown.suggested_user, last);
    }
    return rows_end(rows);
}

static int compare_gathered(const void *a, const void *b)
{
    const struct gathered *one = a, *two = b;

    if (one->score != two->score)
        return one->score > two->score ? -1 : 1;
    return one->id < two->id ? -1 : one->id > two->id;
}

static const char LIST[] = "select " REASON_COLUMNS ", " USER_COLUMNS
                           " from friend_suggestions s join users u on u.id = s.suggested_id "
                           "where s.user_id = $1 and u.disabled = 0 and u.deleting = 0 "
                           "order by s.suggested_id, s.score desc, s.source";
static const char FIND[] = "select " REASON_COLUMNS ", " USER_COLUMNS
                           " from friend_suggestions s join users u on u.id = s.suggested_id "
                           "where s.user_id = $1 and s.suggested_id = $2 "
                           "order by s.score desc, s.source";

enum err suggestions_of(struct tx *tx, snowflake owner, struct list *ret)
{
    struct list all;
    struct rows rows;
    enum err e = tx_query(tx, LIST, BIND(v_id(owner)), &rows);

    *ret = (struct list){ 0 };
    if (!e)
        e = suggestion_gather(tx, &rows, &all);
    if (e || !all.count)
        return e;
    qsort(all.items, all.count, sizeof(struct gathered), compare_gathered);
    for (size_t i = 0; i < all.count; i++)
        *(struct friend_suggestion *)list_add(tx_arena(tx), ret, sizeof(struct friend_suggestion)) =
            ((struct gathered *)all.items)[i].shown;
    return OK;
}

/* --- removal -------------------------------------------------------------------------- */

static const char DROP[] =
    "delete from friend_suggestions where user_id = $1 and suggested_id = $2";

static void tell_gone(struct call *call, snowflake owner, snowflake suggested)
{
    struct suggestion_gone gone = { suggested };

    call_emit(call, EVENT_FRIEND_SUGGESTION_DELETE, to_user(owner), &suggestion_gone_schema, &gone);
}

enum err suggestion_drop(struct call *call, snowflake owner, snowflake suggested)
{
    int64_t changed;
    enum err e = tx_exec(call->tx, DROP, BIND(v_id(owner), v_id(suggested)), &changed);

    if (!e && changed)
        tell_gone(call, owner, suggested);
    return e;
}

static const char WITHDRAW[] = "delete from friend_suggestions where user_id = $1 and "
                               "suggested_id = $2 and source = $3";

enum err suggestion_withdraw(struct call *call, snowflake owner, snowflake suggested,
                             struct str source)
{
    bool left = false;
    int64_t changed;
    enum err e =
        tx_exec(call->tx, WITHDRAW, BIND(v_id(owner), v_id(suggested), v_text(source)), &changed);

    if (!e)
        e = suggestion_exists(call->tx, owner, suggested, &left);
    if (!e && changed && !left)
        tell_gone(call, owner, suggested);
    return e;
}

static const char OWNERS[] = "select user_id from friend_suggestions where suggested_id = $1 and "
                             "source = $2 order by user_id";

enum err suggestion_owners(struct tx *tx, snowflake suggested, struct str source, struct list *ret)
{
    return tx_ids(tx, OWNERS, BIND(v_id(suggested), v_text(source)), ret);
}

enum err suggestion_withdraw_all(struct call *call, snowflake suggested, struct str source)
{
    struct list owners;
    enum err e = suggestion_owners(call->tx, suggested, source, &owners);

    for (size_t i = 0; !e && i < owners.count; i++)
        e = suggestion_withdraw(call, ((const snowflake *)owners.items)[i], suggested, source);
    return e;
}

static const char DISMISS[] =
    "insert into dismissed_suggestions (user_id, suggested_id, until) values ($1, $2, $3) "
    "on conflict (user_id, suggested_id) do update set until = excluded.until";

enum err suggestion_dismiss(struct call *call, snowflake owner, snowflake suggested)
{
    bool found = false;
    enum err e = suggestion_exists(call->tx, owner, suggested, &found);

    if (e || !found)
        return e;
    e = tx_exec(call->tx, DISMISS,
                BIND(v_id(owner), v_id(suggested), v_int(clock_us() + DISMISSED_US)), NULL);
    return e ? e : suggestion_drop(call, owner, suggested);
}

/* --- addition ------------------------------------------------------------------------- */

static const char ADMISSIBLE[] =
    "select 1 from users u where u.id = $2 and u.id <> $1 and u.bot = 0 and u.system = 0 and "
    "u.disabled = 0 and u.deleting = 0 and not exists (select 1 from relationships r where "
    "(r.user_id = $1 and r.target_id = $2) or (r.user_id = $2 and r.target_id = $1)) and "
    "not exists (select 1 from dismissed_suggestions d where d.user_id = $1 and "
    "d.suggested_id = $2 and d.until > $3)";

/* Accounts that accept no friend requests are never suggested. */
enum err suggestion_admissible(struct tx *tx, snowflake owner, snowflake id, bool *ret)
{
    struct user_settings settings;
    struct rows row;
    enum err e = tx_one(tx, ADMISSIBLE, BIND(v_id(owner), v_id(id), v_int(clock_us())), &row, ret);

    if (e || !*ret)
        return e;
    e = settings_find(tx, id, &settings);
    *ret = !e && settings_friend_sources(&settings);
    return e;
}

/* An account that was suggested before a change, is suggested after it, or both. */
struct candidate {
    snowflake id;
    int64_t score; /* best score of the reasons; 0: no reason left */
    bool was_live;
    const struct suggestion_offer *offer; /* NULL: only other sources suggest the account */
};

static const char LIVE[] =
    "select suggested_id, max(case when source = $2 then 0 else score end) "
    "from friend_suggestions where user_id = $1 group by suggested_id order by suggested_id";

static enum err add_live(struct tx *tx, snowflake owner, struct str source, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, LIVE, BIND(v_id(owner), v_text(source)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct candidate *c = list_add(tx_arena(tx), ret, sizeof *c);

        *c = (struct candidate){ .id = row_id(&rows, 0),
                                 .score = row_int(&rows, 1),
                                 .was_live = true };
    }
    return rows_end(&rows);
}

static struct candidate *find_candidate(const struct list *list, snowflake id)
{
    for (size_t i = 0; i < list->count; i++) {
        struct candidate *c = (struct candidate *)list->items + i;

        if (c->id == id)
            return c;
    }
    return NULL;
}

static enum err add_offer(struct tx *tx, snowflake owner, const struct suggestion_offer *o,
                          struct list *candidates)
{
    struct candidate *c = find_candidate(candidates, o->user_id);
    bool admissible;
    enum err e = suggestion_admissible(tx, owner, o->user_id, &admissible);

    if (e || !admissible)
        return e;
    if (!c) {
        c = list_add(tx_arena(tx), candidates, sizeof *c);
        *c = (struct candidate){ .id = o->user_id };
    }
    c->offer = o;
    if (o->score > c->score)
        c->score = o->score;
    return OK;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *one = a, *two = b;

    if (one->score != two->score)
        return one->score > two->score ? -1 : 1;
    return one->id < two->id ? -1 : one->id > two->id;
}

/* Emits a new suggestion; without a notification in HTTP calls, whose reply has the result. */
static void tell_new(struct call *call, snowflake owner, const struct friend_suggestion *s)
{
    call_emit(call, EVENT_FRIEND_SUGGESTION_CREATE, to_user(owner), &friend_suggestion_schema, s);
    if (!call->exchange)
        notice_show(call, NOTICE_SUGGESTION, owner, s->suggested_user);
}

static const char ADD[] =
    "insert into friend_suggestions (user_id, suggested_id, source, name, contact_name, "
    "mutual_friends, score) values ($1, $2, $3, $4, $5, $6, $7)";

static enum err suggestion_keep(struct call *call, snowflake owner, struct str source,
                                const struct candidate *c)
{
    const struct suggestion_offer *o = c->offer;
    struct rows rows;
    struct list one;
    enum err e = OK;

    if (o)
        e = tx_exec(call->tx, ADD,
                    BIND(v_id(owner), v_id(c->id), v_text(source),
                         o->name.p ? v_text(o->name) : v_null(), v_opt_text(o->contact_name),
                         v_opt_int(o->mutual_friends), v_int(o->score)),
                    NULL);
    if (e || c->was_live)
        return e;
    e = tx_query(call->tx, FIND, BIND(v_id(owner), v_id(c->id)), &rows);
    if (!e)
        e = suggestion_gather(call->tx, &rows, &one);
    if (!e)
        tell_new(call, owner, &((struct gathered *)one.items)->shown);
    return e;
}

static enum err let_go(struct call *call, snowflake owner, const struct candidate *c)
{
    enum err e = tx_exec(call->tx, DROP, BIND(v_id(owner), v_id(c->id)), NULL);

    if (!e && c->was_live)
        tell_gone(call, owner, c->id);
    return e;
}

static const char FORGET_SOURCE[] =
    "delete from friend_suggestions where user_id = $1 and source = $2";

enum err suggestions_replace(struct call *call, snowflake owner, struct str source,
                             const struct list *offers)
{
    struct list all = { 0 };
    enum err e = add_live(call->tx, owner, source, &all);

    for (size_t i = 0; !e && i < offers->count; i++)
        e = add_offer(call->tx, owner, (const struct suggestion_offer *)offers->items + i, &all);
    if (!e)
        e = tx_exec(call->tx, FORGET_SOURCE, BIND(v_id(owner), v_text(source)), NULL);
    if (e || !all.count)
        return e;
    qsort(all.items, all.count, sizeof(struct candidate), compare_candidates);
    for (size_t i = 0; !e && i < all.count; i++) {
        const struct candidate *c = (const struct candidate *)all.items + i;

        e = i < MOST_LIVE && c->score ? suggestion_keep(call, owner, source, c)
                                      : let_go(call, owner, c);
    }
    return e;
}

/* Deletes suggestions by phone number of an account that disables discovery by phone number. */
enum err suggestions_hide(struct call *call, const struct settings_change *c)
{
    int64_t lost =
        c->before->friend_discovery_flags.value & ~c->after->friend_discovery_flags.value;

    if (!(lost & FOUND_BY_PHONE))
        return OK;
    enum err e = suggestion_withdraw_all(call, c->user_id, STR(SOURCE_CONTACTS));
    return e ? e : suggestion_withdraw_all(call, c->user_id, STR(SOURCE_REVERSE));
}
