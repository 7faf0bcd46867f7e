/* suggestions.c - stores friend suggestions and emits their events. */
#include "platform/relationships/suggestions.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/settings/settings.h"
#include "platform/accounts/users.h"
#include "platform/relationships/notifications.h"

enum { MOST_LIVE = 100 };
static const int64_t DISMISSED_US = INT64_C(180) * 24 * 3600 * 1000000;

/* --- reading -------------------------------------------------------------------------- */

static const char EXISTS[] =
    "select 1 from friend_suggestions where user_id = $1 and suggested_id = $2 limit 1";
static const char COUNT[] =
    "select count(distinct s.suggested_id) from friend_suggestions s join users u on "
    "u.id = s.suggested_id where s.user_id = $1 and u.disabled = 0 and u.deleting = 0";

enum err friend_suggestion_exists(struct tx *tx, snowflake owner, snowflake suggested, bool *ret)
{
    return tx_exists(tx, EXISTS, BIND(v_id(owner), v_id(suggested)), ret);
}

enum err friend_suggestions_count(struct tx *tx, snowflake owner, int64_t *ret)
{
    return tx_read_int(tx, COUNT, BIND(v_id(owner)), ret);
}

#define REASON_COLUMNS "s.source, s.name, s.contact_name, s.mutual_friends, s.score"
enum { USER_AT = 5 };

/* A suggested user, and the reasons (sources) that were read so far. */
struct collected_suggestion {
    struct friend_suggestion shown;
    snowflake id;
    int64_t score;
};

static void add_suggestion_reason(struct tx *tx, const struct rows *r, const struct user *user,
                                  struct collected_suggestion *g)
{
    struct str source = row_text(r, 0);
    bool reverse = str_is(source, SOURCE_REVERSE);

    if (row_int(r, 4) > g->score)
        g->score = row_int(r, 4);
    if (!row_column_is_null(r, 2)) {
        g->shown.contact_names.given = GIVEN;
        *(struct str *)list_append(tx_arena(tx), &g->shown.contact_names.value,
                                   sizeof(struct str)) = row_text(r, 2);
    }
    if (!row_column_is_null(r, 3))
        g->shown.mutual_friends_count = opt_int_present(row_int(r, 3));
    if (reverse)
        g->shown.from_suggested_user_contacts = opt_bool_present(true);
    if (str_is(source, SOURCE_MUTUAL))
        return;
    struct friend_suggestion_reason *reason =
        list_append(tx_arena(tx), &g->shown.reasons, sizeof *reason);
    struct str platform = reverse ? STR(SOURCE_CONTACTS) : source;
    struct str known = user->global_name.given == GIVEN ? user->global_name.value : user->username;
    *reason = (struct friend_suggestion_reason){
        .type = SUGGESTION_EXTERNAL_FRIEND,
        .platform = platform,
        .platform_type = platform,
        .name = row_column_is_null(r, 1) ? known : row_text(r, 1),
    };
}

/* Collects the reasons of each suggested user; the rows are ordered by suggested user. */
static enum err collect_suggestions_from_rows(struct tx *tx, struct rows *rows, struct list *ret)
{
    *ret = (struct list){ 0 };
    while (rows_next(rows)) {
        struct collected_suggestion *last =
            ret->count ? (struct collected_suggestion *)ret->items + ret->count - 1 : NULL;
        struct user *user = arena_alloc(tx_arena(tx), sizeof *user);

        user_from_row(rows, USER_AT, user);
        if (!last || last->id != user->id) {
            last = list_append(tx_arena(tx), ret, sizeof *last);
            *last = (struct collected_suggestion){ .id = user->id,
                                                   .shown = { .suggested_user = user } };
        }
        add_suggestion_reason(tx, rows, last->shown.suggested_user, last);
    }
    return rows_end(rows);
}

static int compare_collected_suggestions(const void *a, const void *b)
{
    const struct collected_suggestion *one = a, *two = b;

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

enum err friend_suggestions_read(struct tx *tx, snowflake owner, struct list *ret)
{
    struct list all;
    struct rows rows;
    enum err e = tx_query(tx, LIST, BIND(v_id(owner)), &rows);

    *ret = (struct list){ 0 };
    if (!e)
        e = collect_suggestions_from_rows(tx, &rows, &all);
    if (e || !all.count)
        return e;
    qsort(all.items, all.count, sizeof(struct collected_suggestion), compare_collected_suggestions);
    for (size_t i = 0; i < all.count; i++)
        *(struct friend_suggestion *)list_append(tx_arena(tx), ret,
                                                 sizeof(struct friend_suggestion)) =
            ((struct collected_suggestion *)all.items)[i].shown;
    return OK;
}

/* --- removal -------------------------------------------------------------------------- */

static const char DROP[] =
    "delete from friend_suggestions where user_id = $1 and suggested_id = $2";

static void emit_suggestion_delete(struct call *call, snowflake owner, snowflake suggested)
{
    struct friend_suggestion_delete_event gone = { suggested };

    call_emit_event(call, EVENT_FRIEND_SUGGESTION_DELETE, audience_of_user(owner),
                    &friend_suggestion_delete_schema, &gone);
}

enum err friend_suggestion_delete(struct call *call, snowflake owner, snowflake suggested)
{
    int64_t changed;
    enum err e = tx_exec(call->tx, DROP, BIND(v_id(owner), v_id(suggested)), &changed);

    if (!e && changed)
        emit_suggestion_delete(call, owner, suggested);
    return e;
}

static const char WITHDRAW[] = "delete from friend_suggestions where user_id = $1 and "
                               "suggested_id = $2 and source = $3";

enum err friend_suggestions_delete_of_source(struct call *call, snowflake owner,
                                             snowflake suggested, struct str source)
{
    bool left = false;
    int64_t changed;
    enum err e =
        tx_exec(call->tx, WITHDRAW, BIND(v_id(owner), v_id(suggested), v_text(source)), &changed);

    if (!e)
        e = friend_suggestion_exists(call->tx, owner, suggested, &left);
    if (!e && changed && !left)
        emit_suggestion_delete(call, owner, suggested);
    return e;
}

static const char OWNERS[] = "select user_id from friend_suggestions where suggested_id = $1 and "
                             "source = $2 order by user_id";

enum err friend_suggestion_read_recipients(struct tx *tx, snowflake suggested, struct str source,
                                           struct list *ret)
{
    return tx_read_ids(tx, OWNERS, BIND(v_id(suggested), v_text(source)), ret);
}

enum err friend_suggestions_delete_for_all_recipients(struct call *call, snowflake suggested,
                                                      struct str source)
{
    struct list owners;
    enum err e = friend_suggestion_read_recipients(call->tx, suggested, source, &owners);

    for (size_t i = 0; !e && i < owners.count; i++)
        e = friend_suggestions_delete_of_source(call, ((const snowflake *)owners.items)[i],
                                                suggested, source);
    return e;
}

static const char DISMISS[] =
    "insert into dismissed_suggestions (user_id, suggested_id, until) values ($1, $2, $3) "
    "on conflict (user_id, suggested_id) do update set until = excluded.until";

enum err friend_suggestion_dismiss(struct call *call, snowflake owner, snowflake suggested)
{
    bool found = false;
    enum err e = friend_suggestion_exists(call->tx, owner, suggested, &found);

    if (e || !found)
        return e;
    e = tx_exec(call->tx, DISMISS,
                BIND(v_id(owner), v_id(suggested), v_int(clock_us() + DISMISSED_US)), NULL);
    return e ? e : friend_suggestion_delete(call, owner, suggested);
}

/* --- addition ------------------------------------------------------------------------- */

static const char ADMISSIBLE[] =
    "select 1 from users u where u.id = $2 and u.id <> $1 and u.bot = 0 and u.system = 0 and "
    "u.disabled = 0 and u.deleting = 0 and not exists (select 1 from relationships r where "
    "(r.user_id = $1 and r.target_id = $2) or (r.user_id = $2 and r.target_id = $1)) and "
    "not exists (select 1 from dismissed_suggestions d where d.user_id = $1 and "
    "d.suggested_id = $2 and d.until > $3)";

/* Returns whether a user may be suggested. Users who accept no friend requests are never
 * suggested. */
enum err friend_suggestion_check_allowed(struct tx *tx, snowflake owner, snowflake id, bool *ret)
{
    struct user_settings settings;
    enum err e = tx_exists(tx, ADMISSIBLE, BIND(v_id(owner), v_id(id), v_int(clock_us())), ret);

    if (e || !*ret)
        return e;
    e = user_settings_find(tx, id, &settings);
    *ret = !e && user_settings_friend_sources(&settings);
    return e;
}

/* A user who is suggested before or after the suggestions of a source are replaced. */
struct suggestion_candidate {
    snowflake id;
    int64_t score; /* highest score over all sources; 0 if no source suggests the user */
    bool was_live;
    const struct suggested_user
        *offer; /* suggestion of the source; NULL if only other sources suggest the user */
};

static const char LIVE[] =
    "select suggested_id, max(case when source = $2 then 0 else score end) "
    "from friend_suggestions where user_id = $1 group by suggested_id order by suggested_id";

static void current_suggestion_from_row(const struct rows *r, void *ret)
{
    *(struct suggestion_candidate *)ret = (struct suggestion_candidate){ .id = row_id(r, 0),
                                                                         .score = row_int(r, 1),
                                                                         .was_live = true };
}

static enum err read_current_suggestions(struct tx *tx, snowflake owner, struct str source,
                                         struct list *ret)
{
    return tx_read_list(tx, LIVE, BIND(v_id(owner), v_text(source)),
                        sizeof(struct suggestion_candidate), current_suggestion_from_row, ret);
}

static struct suggestion_candidate *find_suggestion_candidate(const struct list *list, snowflake id)
{
    for (size_t i = 0; i < list->count; i++) {
        struct suggestion_candidate *c = (struct suggestion_candidate *)list->items + i;

        if (c->id == id)
            return c;
    }
    return NULL;
}

static enum err add_offered_candidate(struct tx *tx, snowflake owner,
                                      const struct suggested_user *o, struct list *candidates)
{
    struct suggestion_candidate *c = find_suggestion_candidate(candidates, o->user_id);
    bool admissible;
    enum err e = friend_suggestion_check_allowed(tx, owner, o->user_id, &admissible);

    if (e || !admissible)
        return e;
    if (!c) {
        c = list_append(tx_arena(tx), candidates, sizeof *c);
        *c = (struct suggestion_candidate){ .id = o->user_id };
    }
    c->offer = o;
    if (o->score > c->score)
        c->score = o->score;
    return OK;
}

static int compare_suggestion_candidates(const void *a, const void *b)
{
    const struct suggestion_candidate *one = a, *two = b;

    if (one->score != two->score)
        return one->score > two->score ? -1 : 1;
    return one->id < two->id ? -1 : one->id > two->id;
}

/* Emits a new suggestion. Sends no notification if an HTTP call created it, because the reply
 * contains the suggestion. */
static void emit_suggestion_create(struct call *call, snowflake owner,
                                   const struct friend_suggestion *s)
{
    call_emit_event(call, EVENT_FRIEND_SUGGESTION_CREATE, audience_of_user(owner),
                    &friend_suggestion_schema, s);
    if (!call->exchange)
        emit_notification_center_item(call, NOTIFICATION_SUGGESTION, owner, s->suggested_user);
}

static const char ADD[] =
    "insert into friend_suggestions (user_id, suggested_id, source, name, contact_name, "
    "mutual_friends, score) values ($1, $2, $3, $4, $5, $6, $7)";

static enum err store_and_emit_suggestion(struct call *call, snowflake owner, struct str source,
                                          const struct suggestion_candidate *c)
{
    const struct suggested_user *o = c->offer;
    struct rows rows;
    struct list one;
    enum err e = OK;

    if (o)
        e = tx_exec(call->tx, ADD,
                    BIND(v_id(owner), v_id(c->id), v_text(source),
                         o->name.p ? v_text(o->name) : v_null(),
                         sql_value_of_optional_text(o->contact_name),
                         sql_value_of_optional_int(o->mutual_friends), v_int(o->score)),
                    NULL);
    if (e || c->was_live)
        return e;
    e = tx_query(call->tx, FIND, BIND(v_id(owner), v_id(c->id)), &rows);
    if (!e)
        e = collect_suggestions_from_rows(call->tx, &rows, &one);
    if (!e)
        emit_suggestion_create(call, owner, &((struct collected_suggestion *)one.items)->shown);
    return e;
}

static enum err delete_suggestion_of_candidate(struct call *call, snowflake owner,
                                               const struct suggestion_candidate *c)
{
    enum err e = tx_exec(call->tx, DROP, BIND(v_id(owner), v_id(c->id)), NULL);

    if (!e && c->was_live)
        emit_suggestion_delete(call, owner, c->id);
    return e;
}

static const char DELETE_SOURCE[] =
    "delete from friend_suggestions where user_id = $1 and source = $2";

enum err friend_suggestions_replace_of_source(struct call *call, snowflake owner, struct str source,
                                              const struct list *offers)
{
    struct list all = { 0 };
    enum err e = read_current_suggestions(call->tx, owner, source, &all);

    for (size_t i = 0; !e && i < offers->count; i++)
        e = add_offered_candidate(call->tx, owner, (const struct suggested_user *)offers->items + i,
                                  &all);
    if (!e)
        e = tx_exec(call->tx, DELETE_SOURCE, BIND(v_id(owner), v_text(source)), NULL);
    if (e || !all.count)
        return e;
    qsort(all.items, all.count, sizeof(struct suggestion_candidate), compare_suggestion_candidates);
    for (size_t i = 0; !e && i < all.count; i++) {
        const struct suggestion_candidate *c = (const struct suggestion_candidate *)all.items + i;

        e = i < MOST_LIVE && c->score ? store_and_emit_suggestion(call, owner, source, c)
                                      : delete_suggestion_of_candidate(call, owner, c);
    }
    return e;
}

/* If a user disabled discovery by phone number, deletes the suggestions of this user that were made
 * by phone number. */
enum err friend_suggestions_on_settings_change(struct call *call,
                                               const struct user_settings_change *c)
{
    int64_t lost =
        c->before->friend_discovery_flags.value & ~c->after->friend_discovery_flags.value;

    if (!(lost & FOUND_BY_PHONE))
        return OK;
    enum err e =
        friend_suggestions_delete_for_all_recipients(call, c->user_id, STR(SOURCE_CONTACTS));
    return e ? e
             : friend_suggestions_delete_for_all_recipients(call, c->user_id, STR(SOURCE_REVERSE));
}
