/* rules.c - validates times and recurrence rules of events, and computes occurrences. */
#include "platform/scheduled_events/internal.h"

#include "base/clock.h"
#include "base/mem.h"

#define DAY_US      (INT64_C(24) * 3600 * 1000000)
#define FARTHEST_US (5 * 366 * DAY_US)
enum { DAYS_AHEAD = 367 };

bool event_is_open(const struct scheduled_event *e)
{
    return e->status == EVENT_SCHEDULED || e->status == EVENT_ACTIVE;
}

/* --- days ----------------------------------------------------------------------------- */

struct civil_date {
    int64_t year, month, day;
};

/* Converts days since 1970 to a date; standard algorithm with years that begin in March. */
static struct civil_date date_of(int64_t days)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    int64_t month = m + (m < 10 ? 3 : -9);

    return (struct civil_date){ y + era * 400 + (month <= 2), month,
                                of_year - (153 * m + 2) / 5 + 1 };
}

/* Returns the weekday; 0 is Monday, and 1970-01-01 was a Thursday. */
static int64_t weekday_of(int64_t days)
{
    return ((days + 3) % 7 + 7) % 7;
}

/* --- recurrence rules ----------------------------------------------------------------- */

static void recurrence_refuse(struct form *form, const struct place *rule, const char *key,
                              const char *message)
{
    struct place at = place_key(rule, str_of(key));

    form_fail(form, &at, FORM_CHOICES, "%s", message);
}

static unsigned day_bits(const struct opt_list *days)
{
    unsigned bits = 0;

    for (size_t i = 0; i < days->value.count; i++)
        bits |= 1u << ((const int64_t *)days->value.items)[i];
    return bits;
}

/* Allowed: Monday to Friday, Tuesday to Saturday, Sunday to Thursday, three two-day weekends. */
static bool is_daily_set(unsigned bits)
{
    static const unsigned sets[] = { 0x1f, 0x3e, 0x4f, 0x30, 0x60, 0x41 };

    for (size_t i = 0; i < COUNT_OF(sets); i++)
        if (sets[i] == bits)
            return true;
    return false;
}

static void recurrence_check_days(struct form *form, const struct place *at,
                                  const struct event_recurrence *r)
{
    size_t days = r->by_weekday.value.count, nth = r->by_n_weekday.value.count;
    size_t months = r->by_month.value.count, dates = r->by_month_day.value.count;

    switch (r->frequency) {
    case EVENT_DAILY:
        if (days && !is_daily_set(day_bits(&r->by_weekday)))
            recurrence_refuse(form, at, "by_weekday", "Not an allowed set of weekdays.");
        break;
    case EVENT_WEEKLY:
        if (days != 1)
            recurrence_refuse(form, at, "by_weekday", "A weekly event has one day.");
        break;
    case EVENT_MONTHLY:
        if (nth != 1)
            recurrence_refuse(form, at, "by_n_weekday", "A monthly event has one day.");
        break;
    default:
        if (months != 1 || dates != 1)
            recurrence_refuse(form, at, "by_month", "A yearly event has one month and one day.");
    }
    if (r->frequency != EVENT_DAILY && r->frequency != EVENT_WEEKLY && days)
        recurrence_refuse(form, at, "by_weekday", "Events of this frequency do not have it.");
    if (r->frequency != EVENT_MONTHLY && nth)
        recurrence_refuse(form, at, "by_n_weekday", "Events of this frequency do not have it.");
    if (r->frequency != EVENT_YEARLY && (months || dates))
        recurrence_refuse(form, at, "by_month", "Events of this frequency do not have it.");
}

void recurrence_check(struct form *form, const struct place *at, const struct event_recurrence *r)
{
    if (r->end.given == GIVEN)
        recurrence_refuse(form, at, "end", "It cannot be set.");
    if (r->count.given == GIVEN)
        recurrence_refuse(form, at, "count", "It cannot be set.");
    if (r->by_year_day.given == GIVEN)
        recurrence_refuse(form, at, "by_year_day", "It cannot be set.");
    if (r->interval != 1 && r->frequency != EVENT_WEEKLY)
        recurrence_refuse(form, at, "interval", "Only weekly events can have an interval of 2.");
    recurrence_check_days(form, at, r);
}

/* Returns whether an occurrence falls on this day; `first` is the day of the first occurrence. */
static bool falls_on(const struct event_recurrence *r, int64_t days, int64_t first)
{
    const struct event_n_weekday *nth = r->by_n_weekday.value.items;
    struct civil_date d = date_of(days);

    switch (r->frequency) {
    case EVENT_DAILY:
        return !r->by_weekday.value.count || day_bits(&r->by_weekday) >> weekday_of(days) & 1;
    case EVENT_WEEKLY:
        return day_bits(&r->by_weekday) >> weekday_of(days) & 1 &&
               ((days - weekday_of(days)) - (first - weekday_of(first))) / 7 % r->interval == 0;
    case EVENT_MONTHLY:
        return nth && weekday_of(days) == nth->day && (d.day - 1) / 7 + 1 == nth->n;
    default:
        return r->by_month.value.count && d.month == *(const int64_t *)r->by_month.value.items &&
               d.day == *(const int64_t *)r->by_month_day.value.items;
    }
}

int64_t recurrence_next(const struct event_recurrence *r, int64_t after)
{
    int64_t first = r->start / DAY_US, time = r->start % DAY_US;
    int64_t from = after > r->start ? after / DAY_US : first;

    /* The loop covers 9 years, because 29 February occurs again after at most eight years. */
    for (int64_t day = from; day < from + 9 * 366; day++)
        if (day * DAY_US + time > after && falls_on(r, day, first))
            return day * DAY_US + time;
    return after + DAY_US;
}

bool event_has_time(const struct scheduled_event *e, snowflake exception_id)
{
    const struct event_recurrence *r = e->recurrence_rule;
    int64_t ms = snowflake_ms(exception_id), day = ms / (DAY_US / 1000);
    int64_t from = e->scheduled_start_time / DAY_US - 1;

    return r && exception_id == snowflake_at(ms) && ms >= r->start / 1000 &&
           ms == (day * DAY_US + r->start % DAY_US) / 1000 && falls_on(r, day, r->start / DAY_US) &&
           day >= from && day <= from + DAYS_AHEAD;
}

/* --- fields that depend on each other ------------------------------------------------- */

static void event_refuse(struct form *form, const char *key, const char *code, const char *message)
{
    struct place at = place_key(NULL, str_of(key));

    form_fail(form, &at, code, "%s", message);
}

static void check_place(struct form *form, const struct scheduled_event *e)
{
    struct place metadata = place_key(NULL, STR("entity_metadata"));
    struct place location = place_key(&metadata, STR("location"));
    bool elsewhere = e->entity_type == EVENT_ELSEWHERE;

    if (elsewhere && e->channel_id.given == GIVEN)
        event_refuse(form, "channel_id", FORM_CHOICES, "An external event cannot have a channel.");
    if (!elsewhere && e->channel_id.given != GIVEN)
        event_refuse(form, "channel_id", FORM_REQUIRED);
    if (elsewhere && !(e->entity_metadata && e->entity_metadata->location.given == GIVEN))
        form_fail(form, &location, FORM_REQUIRED);
    if (!elsewhere && e->entity_metadata && e->entity_metadata->location.given == GIVEN)
        form_fail(form, &location, FORM_CHOICES, "Only an external event can have a location.");
    if (elsewhere && e->scheduled_end_time.given != GIVEN)
        event_refuse(form, "scheduled_end_time", FORM_REQUIRED);
}

void event_check(struct form *form, const struct scheduled_event *e)
{
    struct place rule_at = place_key(NULL, STR("recurrence_rule"));
    int64_t now = clock_us();

    check_place(form, e);
    if (e->status == EVENT_SCHEDULED && e->scheduled_start_time < now)
        event_refuse(form, "scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST",
                     "Cannot schedule event in the past.");
    if (e->scheduled_start_time > now + FARTHEST_US)
        event_refuse(form, "scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_TOO_FAR",
                     "Cannot schedule event more than five years ahead.");
    if (e->scheduled_end_time.given == GIVEN &&
        e->scheduled_end_time.value <= e->scheduled_start_time)
        event_refuse(form, "scheduled_end_time", "GUILD_SCHEDULED_EVENT_END_BEFORE_START",
                     "Cannot end event before it starts.");
    if (e->recurrence_rule)
        recurrence_check(form, &rule_at, e->recurrence_rule);
}
