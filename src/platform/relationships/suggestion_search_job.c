/* suggestion_search_job.c - friend suggestions computed by the server. A daily job for each account
 * with friends or connections suggests users with several mutual friends, and friends on connected
 * platforms. */
#include "platform/relationships/suggestions.h"

#include <stdlib.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "model/fields/rows.h"
#include "platform/relationships/friends.h"

enum {
    LEAST_MUTUAL = 3, /* minimum number of mutual friends */
    MOST_FOUND = 20,
    MAX_FRIENDS_READ = 100, /* maximum number of friends to read per user: of the account and of
                             * each of its friends */
};
static const int64_t DAY_US = INT64_C(24) * 3600 * 1000000;

/* --- friends of friends --------------------------------------------------------------- */

struct mutual_friend_count {
    snowflake id;
    int64_t count;
};

static const char FRIENDS_OF_ONE[] =
    "select target_id from relationships where user_id = $1 and type = 1 "
    "order by target_id limit 100";

static enum err count_friends_of_friend(struct tx *tx, snowflake id, struct map *seen)
{
    struct rows rows;
    enum err e = tx_query(tx, FRIENDS_OF_ONE, BIND(v_id(id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct mutual_friend_count *t = map_find_value(seen, row_id(&rows, 0));

        if (!t) {
            t = arena_alloc(tx_arena(tx), sizeof *t);
            t->id = row_id(&rows, 0);
            map_set_value(seen, t->id, t);
        }
        t->count++;
    }
    return rows_end(&rows);
}

static int compare_offers_best_first(const void *a, const void *b)
{
    const struct suggested_user *one = a, *two = b;

    if (one->score != two->score)
        return one->score > two->score ? -1 : 1;
    return one->user_id < two->user_id ? -1 : one->user_id > two->user_id;
}

/* Returns suggestions of users with enough mutual friends, best first. */
static struct list create_offers_from_friend_counts(struct arena *arena, const struct map *seen)
{
    struct list offers = { 0 };
    const struct mutual_friend_count *t;
    size_t at = 0;

    while ((t = map_next_value(seen, &at))) {
        if (t->count < LEAST_MUTUAL)
            continue;
        *(struct suggested_user *)list_append(arena, &offers, sizeof(struct suggested_user)) =
            (struct suggested_user){
                .user_id = t->id,
                .mutual_friends = opt_int_present(t->count),
                .score = t->count < SCORE_MUTUAL ? t->count : SCORE_MUTUAL,
            };
    }
    if (offers.count)
        qsort(offers.items, offers.count, sizeof(struct suggested_user), compare_offers_best_first);
    return offers;
}

/* Reduces the list to the first MOST_FOUND users who may be suggested. Users after these are not
 * checked. */
static enum err retain_best_allowed_offers(struct tx *tx, snowflake owner, struct list *offers)
{
    struct suggested_user *all = offers->items;
    size_t retained = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < offers->count && retained < MOST_FOUND; i++) {
        bool admissible;

        e = friend_suggestion_check_allowed(tx, owner, all[i].user_id, &admissible);
        if (!e && admissible)
            all[retained++] = all[i];
    }
    offers->count = retained;
    return e;
}

static enum err suggest_mutual_friends(struct call *call, snowflake owner,
                                       const struct list *friends)
{
    struct list offers;
    struct map seen;
    enum err e = OK;

    map_init(&seen);
    for (size_t i = 0; !e && i < friends->count && i < MAX_FRIENDS_READ; i++)
        e = count_friends_of_friend(call->tx, ((const snowflake *)friends->items)[i], &seen);
    offers = create_offers_from_friend_counts(call->arena, &seen);
    map_clear(&seen);
    if (!e)
        e = retain_best_allowed_offers(call->tx, owner, &offers);
    return e ? e : friend_suggestions_replace_of_source(call, owner, STR(SOURCE_MUTUAL), &offers);
}

/* --- friends on connected platforms --------------------------------------------------- */

/* Finds friends on a connected platform. Both users must have enabled friend sync. */
static const char READ_PLATFORM_FRIENDS[] =
    "select c.user_id, c.name from connections mine "
    "join connection_friends f on f.user_id = mine.user_id and f.type = mine.type and "
    "f.id = mine.id join connections c on c.type = f.type and c.id = f.friend_id "
    "where mine.user_id = $1 and mine.type = $2 and mine.friend_sync = 1 and mine.revoked = 0 and "
    "c.friend_sync = 1 and c.revoked = 0 order by c.user_id limit 1000";
/* Selects the types of the user's connections, and of former connections whose suggestions still
 * exist. */
static const char PLATFORMS[] = "select type from connections where user_id = $1 union "
                                "select source from friend_suggestions where user_id = $1 and "
                                "source not in ('contacts', 'reverse', 'mutual')";

static void suggested_user_from_row(const struct rows *r, void *ret)
{
    *(struct suggested_user *)ret = (struct suggested_user){ .user_id = row_id(r, 0),
                                                             .name = row_text(r, 1),
                                                             .score = SCORE_CONNECTION };
}

static enum err suggest_friends_of_one_platform(struct call *call, snowflake owner, struct str type)
{
    struct list offers = { 0 };
    enum err e = tx_read_list(call->tx, READ_PLATFORM_FRIENDS, BIND(v_id(owner), v_text(type)),
                              sizeof(struct suggested_user), suggested_user_from_row, &offers);

    return e ? e : friend_suggestions_replace_of_source(call, owner, type, &offers);
}

static enum err read_connected_platforms(struct tx *tx, snowflake owner, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, PLATFORMS, BIND(v_id(owner)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct str *)list_append(tx_arena(tx), ret, sizeof(struct str)) = row_text(&rows, 0);
    return rows_end(&rows);
}

static enum err suggest_friends_of_platforms(struct call *call, snowflake owner,
                                             const struct list *platforms)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < platforms->count; i++)
        e = suggest_friends_of_one_platform(call, owner, ((const struct str *)platforms->items)[i]);
    return e;
}

enum err friend_suggestions_search_now(struct call *call, snowflake owner)
{
    struct list platforms;
    enum err e = read_connected_platforms(call->tx, owner, &platforms);

    return e ? e : suggest_friends_of_platforms(call, owner, &platforms);
}

/* --- the daily job -------------------------------------------------------------------- */

/* Searches for suggestions for one account. The job does not schedule itself again if the account
 * has neither friends nor connections. */
static enum err run_suggestion_search_job(struct call *call, const struct job *job)
{
    struct list friends, platforms;
    enum err e = friend_ids_read(call->tx, job->key, &friends);

    if (!e)
        e = suggest_mutual_friends(call, job->key, &friends);
    if (!e)
        e = read_connected_platforms(call->tx, job->key, &platforms);
    if (!e)
        e = suggest_friends_of_platforms(call, job->key, &platforms);
    if (e || !(friends.count || platforms.count))
        return e;
    return friend_suggestions_schedule_search(call, job->key);
}

static const struct job_kind suggestion_search_job = {
    .name = "friend_suggestions",
    .doc = "Finds friend suggestions for an account, once a day.",
    .run = run_suggestion_search_job,
};
const struct job_kind *const suggestion_jobs[] = { &suggestion_search_job, NULL };

/* Schedules the daily search of an account. The time of day is derived from the account's id, which
 * spreads the jobs over the day. */
enum err friend_suggestions_schedule_search(struct call *call, snowflake owner)
{
    int64_t now = clock_us(), phase = (int64_t)(hash_u64(owner) % (uint64_t)DAY_US);
    int64_t due = now / DAY_US * DAY_US + phase;

    if (due <= now)
        due += DAY_US;
    return job_schedule(call, &suggestion_search_job, owner, due, STR(""));
}
