/* routes.c - routes of guild insights, with one element per day (UTC). Worst case: the route
 * text-channels reads the guild's channels and, for at most MOST_CHANNELS of them, the newest
 * MOST_COUNTED messages each, in the background. If a channel has more messages, its older days are
 * not completely counted; the reply then omits these days for all channels, so that each day in the
 * reply is exact. */
#include "platform/insights/insights.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "model/permissions/permissions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

#define DAY_US INT64_C(86400000000)
enum { MOST_DAYS = 120, DEFAULT_DAYS = 28, MOST_CHANNELS = 50, MOST_COUNTED = 20000 };
enum { INTERVAL_DAILY = 1, MOST_INTERVAL = 3 };

/* --- query ---------------------------------------------------------------------------- */

struct insights_query {
    struct opt_int start, end;
    int64_t interval;
};
static const struct type type_interval = { .kind = KIND_INT, .min = 0, .max = MOST_INTERVAL };
static const struct field query_fields[] = {
    { FIELD(struct insights_query, start), .type = &type_time, .flags = OPTIONAL,
      .doc = "Default: 28 days ago" },
    { FIELD(struct insights_query, end), .type = &type_time, .flags = OPTIONAL,
      .doc = "Default: now" },
    { FIELD(struct insights_query, interval), .type = &type_interval, .flags = OPTIONAL,
      .fallback = INTERVAL_DAILY, .doc = "1 (daily); other intervals have no data" },
    { 0 },
};
static const struct schema query_schema = { .name = "InsightsQuery",
                                            .size = sizeof(struct insights_query),
                                            .fields = query_fields,
                                            .doc = "Which days; at most the last 120." };

/* Range of days, as day numbers since 1970-01-01. The range is empty if first > last. */
struct day_range {
    int64_t first, last, today;
};

static struct day_range day_range_of_request(const struct call *call)
{
    const struct insights_query *q = call->query;
    int64_t today = clock_us() / DAY_US;
    int64_t last = q->end.given == GIVEN ? q->end.value / DAY_US : today;
    int64_t first = q->start.given == GIVEN ? q->start.value / DAY_US : last - DEFAULT_DAYS + 1;

    if (last > today)
        last = today;
    if (first <= today - MOST_DAYS)
        first = today - MOST_DAYS + 1;
    if (q->interval != INTERVAL_DAILY)
        first = last + 1;
    return (struct day_range){ first, last, today };
}

/* --- members, joins and leaves -------------------------------------------------------- */

struct guild_day {
    int64_t day_pt, total_membership, joins, leavers;
    struct str days_in_guild;
};
static const struct field membership_fields[] = {
    { FIELD(struct guild_day, day_pt), .type = &type_time },
    { FIELD(struct guild_day, total_membership), .type = &type_count },
    { 0 },
};
static const struct field joins_fields[] = {
    { FIELD(struct guild_day, day_pt), .type = &type_time },
    { FIELD(struct guild_day, joins), .type = &type_count },
    { 0 },
};
static const struct field leavers_fields[] = {
    { FIELD(struct guild_day, day_pt), .type = &type_time },
    { FIELD(struct guild_day, days_in_guild), .type = &type_text, .doc = "Always \"all\"" },
    { FIELD(struct guild_day, leavers), .type = &type_count },
    { 0 },
};
#define DAY_TYPES(list_type, name_, fields_, doc_)                                      \
    static const struct schema list_type##_schema = {                                   \
        .name = name_, .size = sizeof(struct guild_day), .fields = fields_, .doc = doc_ \
    };                                                                                  \
    static const struct type list_type##_item = { .kind = KIND_OBJECT,                  \
                                                  .schema = &list_type##_schema };      \
    static const struct type list_type = { .kind = KIND_ARRAY, .of = &list_type##_item };
DAY_TYPES(membership_list, "InsightsMembership", membership_fields, "Members at the end of a day.")
DAY_TYPES(joins_list, "InsightsJoins", joins_fields, "Members who joined on a day.")
DAY_TYPES(leavers_list, "InsightsLeavers", leavers_fields, "Members who left on a day.")

static const char READ_DAYS[] =
    "select day, joins, leaves from guild_days where guild_id = $1 and day >= $2 order by day desc";
static const char MEMBER_COUNT[] = "select member_count from guilds where id = $1";

/* Adds an element per day of the range. Starts with today's number of members, and computes the
 * number of each earlier day from that of the day after it. */
static void fill_guild_days(struct call *call, const struct day_range *range, int64_t members,
                            struct rows *rows, struct list *ret)
{
    bool has_row = rows_next(rows);

    for (int64_t day = range->today; day >= range->first; day--) {
        bool counted = has_row && row_int(rows, 0) == day;
        int64_t joins = counted ? row_int(rows, 1) : 0, leaves = counted ? row_int(rows, 2) : 0;

        if (day <= range->last) {
            struct guild_day *d = list_append(call->arena, ret, sizeof *d);

            *d = (struct guild_day){ day * DAY_US, members, joins, leaves, STR("all") };
        }
        members -= joins - leaves;
        if (counted)
            has_row = rows_next(rows);
    }
}

/* GET /guilds/{guild.id}/analytics/growth-activation/…, newest day first */
static enum err list_guild_days(struct call *call)
{
    struct day_range range = day_range_of_request(call);
    snowflake guild_id = call->target.guild->id;
    struct list out = { 0 };
    struct rows row, rows;
    enum err e = tx_one_or(call->tx, MEMBER_COUNT, BIND(v_id(guild_id)), ERR_UNKNOWN_GUILD, &row);

    if (e)
        return e;
    int64_t members = row_int(&row, 0);
    e = tx_query(call->tx, READ_DAYS, BIND(v_id(guild_id), v_int(range.first)), &rows);
    if (e)
        return e;
    fill_guild_days(call, &range, members, &rows, &out);
    e = rows_end(&rows);
    return e ? e : call_reply_with_object(call, &out);
}

/* --- messages per channel ------------------------------------------------------------- */

struct channel_day {
    int64_t day_pt;
    snowflake channel_id;
    struct str channel_name;
    int64_t participators, communicators, messages_sent;
};
static const struct field channel_day_fields[] = {
    { FIELD(struct channel_day, day_pt), .type = &type_time },
    { FIELD(struct channel_day, channel_id), .type = &type_id },
    { FIELD(struct channel_day, channel_name), .type = &type_text },
    { FIELD(struct channel_day, participators), .type = &type_count,
      .doc = "Users who wrote in the channel; visits are not recorded" },
    { FIELD(struct channel_day, communicators), .type = &type_count,
      .doc = "Users who wrote in the channel" },
    { FIELD(struct channel_day, messages_sent), .type = &type_count },
    { 0 },
};
static const struct schema channel_day_schema = { .name = "InsightsChannel",
                                                  .size = sizeof(struct channel_day),
                                                  .fields = channel_day_fields,
                                                  .doc = "Messages of a channel on a day." };
static const struct type channel_day_type = { .kind = KIND_OBJECT, .schema = &channel_day_schema };
static const struct type channel_day_list = { .kind = KIND_ARRAY, .of = &channel_day_type };

static int compare_channels_latest_first(const void *one, const void *two)
{
    const struct channel *a = one, *b = two;

    return (a->last_message_id.value < b->last_message_id.value) -
           (a->last_message_id.value > b->last_message_id.value);
}

/* Removes the channels that the caller cannot view, and sorts the others by last message. */
static void select_active_channels(const struct call *call, struct list *channels)
{
    struct channel *c = channels->items;
    size_t count = 0;

    for (size_t i = 0; i < channels->count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;

        if (permissions_in_channel(&call->target.member_access->input, c[i].type, o->items,
                                   o->count, false) &
            PERMISSION(VIEW_CHANNEL))
            c[count++] = c[i];
    }
    channels->count = count;
    if (count)
        qsort(c, count, sizeof *c, compare_channels_latest_first);
    if (channels->count > MOST_CHANNELS)
        channels->count = MOST_CHANNELS;
}

/* Counts messages per day. The epoch of snowflakes is day 16436 since 1970-01-01. */
static const char COUNT_MESSAGES[] =
    "select day, count(*), count(distinct author_id) from (select (id >> 22) / 86400000 + 16436 as "
    "day, author_id from messages where channel_id = $1 and id >= $2 order by id desc limit $3) x "
    "group by day";

static enum err count_messages_of_channel(struct call *call, const struct channel *c,
                                          const struct day_range *range, int64_t *complete_from,
                                          struct list *out)
{
    int64_t total = 0, oldest = INT64_MAX;
    struct rows rows;
    enum err e = tx_query(call->tx, COUNT_MESSAGES,
                          BIND(v_id(c->id), v_id(snowflake_from_ms(range->first * (DAY_US / 1000))),
                               v_int(MOST_COUNTED)),
                          &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        int64_t day = row_int(&rows, 0), authors = row_int(&rows, 2);

        total += row_int(&rows, 1);
        oldest = day < oldest ? day : oldest;
        if (day > range->last)
            continue;
        struct channel_day *d = list_append(call->arena, out, sizeof *d);
        *d = (struct channel_day){ day * DAY_US, c->id,   c->name.value,
                                   authors,      authors, row_int(&rows, 1) };
    }
    if (total >= MOST_COUNTED && oldest + 1 > *complete_from)
        *complete_from = oldest + 1;
    return rows_end(&rows);
}

static void remove_incomplete_days(struct list *days, int64_t complete_from)
{
    struct channel_day *d = days->items;
    size_t count = 0;

    for (size_t i = 0; i < days->count; i++)
        if (d[i].day_pt >= complete_from * DAY_US)
            d[count++] = d[i];
    days->count = count;
}

/* GET /guilds/{guild.id}/analytics/engagement/text-channels */
static enum err list_channel_days(struct call *call)
{
    struct day_range range = day_range_of_request(call);
    struct list channels, threads, out = { 0 };
    enum err e = guild_channels_list(call->tx, call->target.guild->id, &channels, &threads);
    int64_t complete_from = range.first;

    if (e)
        return e;
    select_active_channels(call, &channels);
    const struct channel *c = channels.items;
    for (size_t i = 0; !e && range.first <= range.last && i < channels.count; i++)
        if (c[i].last_message_id.value)
            e = count_messages_of_channel(call, &c[i], &range, &complete_from, &out);
    remove_incomplete_days(&out, complete_from);
    return e ? e : call_reply_with_object(call, &out);
}

static const struct rate_limit limit_insights = { .name = "insights", .count = 20, .window_s = 60 };

#define INSIGHTS_ROUTE(path_, name_, doc_, reply_, handle_)                                     \
    {                                                                                           \
        .method = GET, .path = "/guilds/{guild.id}/analytics/" path_, .name = (name_),          \
        .doc = (doc_), .auth = AUTH_USER | AUTH_BOT, .query = &query_schema,                    \
        .needs = PERMISSION(VIEW_GUILD_INSIGHTS), .reply = &(reply_), .limit = &limit_insights, \
        .background = true, .handle = (handle_),                                                \
    }

static const struct route routes[] = {
    INSIGHTS_ROUTE("growth-activation/membership", "list_insights_membership",
                   "Number of members per day, newest first.", membership_list, list_guild_days),
    INSIGHTS_ROUTE("growth-activation/joins", "list_insights_joins",
                   "Number of joins per day, newest first.", joins_list, list_guild_days),
    INSIGHTS_ROUTE("growth-activation/leavers", "list_insights_leavers",
                   "Number of leaves per day, newest first.", leavers_list, list_guild_days),
    INSIGHTS_ROUTE("engagement/text-channels", "list_insights_channels",
                   "Messages per channel and day, of at most 50 channels that the caller can view, "
                   "without threads. Days with more messages than can be counted are left out.",
                   channel_day_list, list_channel_days),
    { 0 },
};

const struct domain insights_domain = {
    .name = "Insights",
    .doc = "Statistics of a guild per day.",
    .routes = routes,
};
