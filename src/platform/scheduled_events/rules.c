/* rules.c - validates times and recurrence rules of scheduled events, and computes their
 * occurrences. */
#include "platform/scheduled_events/internal.h"

#include "base/clock.h"
#include "base/mem.h"

#define DAY_US      (INT64_C(24) * 3600 * 1000000)
#define FARTHEST_US (5 * 366 * DAY_US)
enum { DAYS_AHEAD = 367 };

bool scheduled_event_is_scheduled_or_active(const struct scheduled_event *e)
{
    return e->status == EVENT_SCHEDULED || e->status == EVENT_ACTIVE;
}

/* --- days ----------------------------------------------------------------------------- */

struct civil_date {
    int64_t year, month, day;
};

/* Converts days since 1970 to a date, with the standard algorithm whose years begin in March. */
static struct civil_date date_from_day_number(int64_t days)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    int64_t month = m + (m < 10 ? 3 : -9);

    return (struct civil_date){ y + era * 400 + (month <= 2), month,
                                of_year - (153 * m + 2) / 5 + 1 };
}

/* Returns the weekday: 0 is Monday. Day 0 (1970-01-01) was a Thursday. */
static int64_t weekday_from_day_number(int64_t days)
{
    return ((days + 3) % 7 + 7) % 7;
}

/* --- recurrence rules ----------------------------------------------------------------- */

static void refuse_recurrence_field(struct form *form, const struct json_path *rule,
                                    const char *key, const char *message)
{
    struct json_path at = json_path_key(rule, str_of(key));

    form_add_error(form, &at, FORM_CHOICES, "%s", message);
}

static unsigned weekdays_to_bits(const struct opt_list *days)
{
    unsigned bits = 0;

    for (size_t i = 0; i < days->value.count; i++)
        bits |= 1u << ((const int64_t *)days->value.items)[i];
    return bits;
}

/* Weekday sets that Discord allows: Monday to Friday, Tuesday to Saturday, Sunday to Thursday,
 * Friday and Saturday, Saturday and Sunday, Sunday and Monday. */
static bool is_allowed_weekday_set(unsigned bits)
{
    static const unsigned sets[] = { 0x1f, 0x3e, 0x4f, 0x30, 0x60, 0x41 };

    for (size_t i = 0; i < COUNT_OF(sets); i++)
        if (sets[i] == bits)
            return true;
    return false;
}

static void check_recurrence_days(struct form *form, const struct json_path *at,
                                  const struct scheduled_event_recurrence *r)
{
    size_t days = r->by_weekday.value.count, nth = r->by_n_weekday.value.count;
    size_t months = r->by_month.value.count, dates = r->by_month_day.value.count;

    switch (r->frequency) {
    case EVENT_DAILY:
        if (days && !is_allowed_weekday_set(weekdays_to_bits(&r->by_weekday)))
            refuse_recurrence_field(form, at, "by_weekday", "Not an allowed set of weekdays.");
        break;
    case EVENT_WEEKLY:
        if (days != 1)
            refuse_recurrence_field(form, at, "by_weekday", "A weekly event has one day.");
        break;
    case EVENT_MONTHLY:
        if (nth != 1)
            refuse_recurrence_field(form, at, "by_n_weekday", "A monthly event has one day.");
        break;
    default:
        if (months != 1 || dates != 1)
            refuse_recurrence_field(form, at, "by_month",
                                    "A yearly event has one month and one day.");
    }
    if (r->frequency != EVENT_DAILY && r->frequency != EVENT_WEEKLY && days)
        refuse_recurrence_field(form, at, "by_weekday", "Events of this frequency do not have it.");
    if (r->frequency != EVENT_MONTHLY && nth)
        refuse_recurrence_field(form, at, "by_n_weekday",
                                "Events of this frequency do not have it.");
    if (r->frequency != EVENT_YEARLY && (months || dates))
        refuse_recurrence_field(form, at, "by_month", "Events of this frequency do not have it.");
}

void validate_recurrence_rule(struct form *form, const struct json_path *at,
                              const struct scheduled_event_recurrence *r)
{
    if (r->end.given == GIVEN)
        refuse_recurrence_field(form, at, "end", "It cannot be set.");
    if (r->count.given == GIVEN)
        refuse_recurrence_field(form, at, "count", "It cannot be set.");
    if (r->by_year_day.given == GIVEN)
        refuse_recurrence_field(form, at, "by_year_day", "It cannot be set.");
    if (r->interval != 1 && r->frequency != EVENT_WEEKLY)
        refuse_recurrence_field(form, at, "interval",
                                "Only weekly events can have an interval of 2.");
    check_recurrence_days(form, at, r);
}

/* Returns whether the rule has an occurrence on day number `days`. `first` is the day number of the
 * first occurrence. */
static bool recurs_on_day(const struct scheduled_event_recurrence *r, int64_t days, int64_t first)
{
    const struct scheduled_event_n_weekday *nth = r->by_n_weekday.value.items;
    struct civil_date d = date_from_day_number(days);

    switch (r->frequency) {
    case EVENT_DAILY:
        return !r->by_weekday.value.count ||
               weekdays_to_bits(&r->by_weekday) >> weekday_from_day_number(days) & 1;
    case EVENT_WEEKLY:
        return weekdays_to_bits(&r->by_weekday) >> weekday_from_day_number(days) & 1 &&
               ((days - weekday_from_day_number(days)) - (first - weekday_from_day_number(first))) /
                       7 % r->interval ==
                   0;
    case EVENT_MONTHLY:
        return nth && weekday_from_day_number(days) == nth->day && (d.day - 1) / 7 + 1 == nth->n;
    default:
        return r->by_month.value.count && d.month == *(const int64_t *)r->by_month.value.items &&
               d.day == *(const int64_t *)r->by_month_day.value.items;
    }
}

int64_t recurrence_next_occurrence(const struct scheduled_event_recurrence *r, int64_t after)
{
    int64_t first = r->start / DAY_US, time = r->start % DAY_US;
    int64_t from = after > r->start ? after / DAY_US : first;

    /* Search 9 years: between two occurrences on 29 February there may be eight years. */
    for (int64_t day = from; day < from + 9 * 366; day++)
        if (day * DAY_US + time > after && recurs_on_day(r, day, first))
            return day * DAY_US + time;
    return after + DAY_US;
}

bool scheduled_event_has_occurrence(const struct scheduled_event *e, snowflake exception_id)
{
    const struct scheduled_event_recurrence *r = e->recurrence_rule;
    int64_t ms = snowflake_to_ms(exception_id), day = ms / (DAY_US / 1000);
    int64_t from = e->scheduled_start_time / DAY_US - 1;

    return r && exception_id == snowflake_from_ms(ms) && ms >= r->start / 1000 &&
           ms == (day * DAY_US + r->start % DAY_US) / 1000 &&
           recurs_on_day(r, day, r->start / DAY_US) && day >= from && day <= from + DAYS_AHEAD;
}

/* --- fields that depend on each other ------------------------------------------------- */

static void refuse_field_of_scheduled_event(struct form *form, const char *key, const char *code,
                                            const char *message)
{
    struct json_path at = json_path_key(NULL, str_of(key));

    form_add_error(form, &at, code, "%s", message);
}

static void check_location_of_scheduled_event(struct form *form, const struct scheduled_event *e)
{
    struct json_path metadata = json_path_key(NULL, STR("entity_metadata"));
    struct json_path location = json_path_key(&metadata, STR("location"));
    bool elsewhere = e->entity_type == EVENT_EXTERNAL;

    if (elsewhere && e->channel_id.given == GIVEN)
        refuse_field_of_scheduled_event(form, "channel_id", FORM_CHOICES,
                                        "An external event cannot have a channel.");
    if (!elsewhere && e->channel_id.given != GIVEN)
        refuse_field_of_scheduled_event(form, "channel_id", FORM_REQUIRED);
    if (elsewhere && !(e->entity_metadata && e->entity_metadata->location.given == GIVEN))
        form_add_error(form, &location, FORM_REQUIRED);
    if (!elsewhere && e->entity_metadata && e->entity_metadata->location.given == GIVEN)
        form_add_error(form, &location, FORM_CHOICES,
                       "Only an external event can have a location.");
    if (elsewhere && e->scheduled_end_time.given != GIVEN)
        refuse_field_of_scheduled_event(form, "scheduled_end_time", FORM_REQUIRED);
}

void scheduled_event_validate(struct form *form, const struct scheduled_event *e)
{
    struct json_path rule_at = json_path_key(NULL, STR("recurrence_rule"));
    int64_t now = clock_us();

    check_location_of_scheduled_event(form, e);
    if (e->status == EVENT_SCHEDULED && e->scheduled_start_time < now)
        refuse_field_of_scheduled_event(form, "scheduled_start_time",
                                        "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST",
                                        "Cannot schedule event in the past.");
    if (e->scheduled_start_time > now + FARTHEST_US)
        refuse_field_of_scheduled_event(form, "scheduled_start_time",
                                        "GUILD_SCHEDULED_EVENT_SCHEDULE_TOO_FAR",
                                        "Cannot schedule event more than five years ahead.");
    if (e->scheduled_end_time.given == GIVEN &&
        e->scheduled_end_time.value <= e->scheduled_start_time)
        refuse_field_of_scheduled_event(form, "scheduled_end_time",
                                        "GUILD_SCHEDULED_EVENT_END_BEFORE_START",
                                        "Cannot end event before it starts.");
    if (e->recurrence_rule)
        validate_recurrence_rule(form, &rule_at, e->recurrence_rule);
}
