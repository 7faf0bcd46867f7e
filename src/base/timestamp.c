/* timestamp.c - timestamps in the format of the API. */
#include "base/timestamp.h"

#include <stdio.h>
#include <time.h>

static const int64_t MICROSECONDS_PER_SECOND = 1000000;

/* First and last second of the years 0000 to 9999, in seconds since 1970. */
static const int64_t FIRST_SECOND = -62167219200, LAST_SECOND = 253402300799;

/* Returns days since 1970-01-01 in the proleptic Gregorian calendar. In the calculation a year
 * starts in March, so that the leap day is the last day of a year. */
static int64_t days_from_date(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_leap_year(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static bool is_valid_date(int64_t y, int64_t m, int64_t d)
{
    static const int64_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return m >= 1 && m <= 12 && d >= 1 && d <= days[m - 1] + (m == 2 && is_leap_year(y));
}

static bool parse_digits(struct str *s, size_t n, int64_t *ret)
{
    uint64_t v;

    if (s->n < n || !str_to_u64(str_slice(s->p, n), &v))
        return false;
    *s = str_skip_bytes(*s, n);
    *ret = (int64_t)v;
    return true;
}

static bool skip_expected_character(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_skip_bytes(*s, 1);
    return true;
}

static bool parse_date(struct str *s, int64_t *ret_days)
{
    int64_t y, m, d;

    if (!parse_digits(s, 4, &y) || !skip_expected_character(s, '-') || !parse_digits(s, 2, &m) ||
        !skip_expected_character(s, '-') || !parse_digits(s, 2, &d) || !is_valid_date(y, m, d))
        return false;
    *ret_days = days_from_date(y, m, d);
    return true;
}

/* Parses the fraction of a second, with any number of digits; truncates it to microseconds. */
static bool parse_fraction(struct str *s, int64_t *ret_us)
{
    int64_t us = 0, weight = 100000;
    size_t n = 0;

    for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++) {
        us += (s->p[n] - '0') * weight;
        weight /= 10;
    }
    *s = str_skip_bytes(*s, n);
    *ret_us = us;
    return n > 0;
}

static bool parse_utc_offset(struct str *s, int64_t *ret_minutes)
{
    int64_t h, m;

    *ret_minutes = 0;
    if (!s->n || skip_expected_character(s, 'Z') || skip_expected_character(s, 'z'))
        return true;
    bool minus = s->n && s->p[0] == '-';
    if (!(skip_expected_character(s, '+') || skip_expected_character(s, '-')) ||
        !parse_digits(s, 2, &h) || !(skip_expected_character(s, ':') || s->n == 2) ||
        !parse_digits(s, 2, &m) || h > 23 || m > 59)
        return false;
    *ret_minutes = (h * 60 + m) * (minus ? -1 : 1);
    return true;
}

bool timestamp_parse(struct str s, int64_t *ret_us)
{
    int64_t days, h, m, sec, us = 0, offset;

    if (!parse_date(&s, &days) ||
        !(skip_expected_character(&s, 'T') || skip_expected_character(&s, 't') ||
          skip_expected_character(&s, ' ')) ||
        !parse_digits(&s, 2, &h) || !skip_expected_character(&s, ':') || !parse_digits(&s, 2, &m) ||
        !skip_expected_character(&s, ':') || !parse_digits(&s, 2, &sec) || h > 23 || m > 59 ||
        sec > 60)
        return false;
    if (skip_expected_character(&s, '.') && !parse_fraction(&s, &us))
        return false;
    if (!parse_utc_offset(&s, &offset) || s.n)
        return false;
    int64_t second = ((days * 24 + h) * 60 + m - offset) * 60 + sec;
    if (second < FIRST_SECOND || second > LAST_SECOND)
        return false;
    *ret_us = second * MICROSECONDS_PER_SECOND + us;
    return true;
}

bool date_parse(struct str s, int64_t *ret_days)
{
    return parse_date(&s, ret_days) && s.n == 0;
}

static struct tm utc_from_seconds(int64_t s)
{
    time_t t = (time_t)s;
    struct tm tm;

    gmtime_r(&t, &tm);
    return tm;
}

/* Writes exactly n digits of v. */
static char *format_digits(char *at, int64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        at[i] = (char)('0' + v % 10);
        v /= 10;
    }
    return at + n;
}

/* Writes the date as YYYY-MM-DD. This is the inverse of days_from_date. */
static char *format_date(char *at, int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;

    at = format_digits(at, year + era * 400 + (month <= 2), 4);
    *at++ = '-';
    at = format_digits(at, month, 2);
    *at++ = '-';
    return format_digits(at, of_year - (153 * from_march + 2) / 5 + 1, 2);
}

/* Does not use strftime, for speed: every JSON object contains several timestamps. */
size_t timestamp_format(int64_t us, char out[TIMESTAMP_TEXT_SIZE])
{
    int64_t fraction = us % MICROSECONDS_PER_SECOND, s = us / MICROSECONDS_PER_SECOND;

    if (fraction < 0) {
        fraction += MICROSECONDS_PER_SECOND;
        s--;
    }
    s = s < FIRST_SECOND ? FIRST_SECOND : s > LAST_SECOND ? LAST_SECOND : s;
    int64_t days = s / 86400 - (s % 86400 < 0), of_day = s - days * 86400;
    char *at = format_date(out, days);

    *at++ = 'T';
    at = format_digits(at, of_day / 3600, 2);
    *at++ = ':';
    at = format_digits(at, of_day / 60 % 60, 2);
    *at++ = ':';
    at = format_digits(at, of_day % 60, 2);
    if (fraction) {
        *at++ = '.';
        at = format_digits(at, fraction, 6);
    }
    memcpy(at, "+00:00", sizeof "+00:00");
    return (size_t)(at - out) + sizeof "+00:00" - 1;
}

void format_http_date(int64_t s, char out[30])
{
    static const char day[] = "SunMonTueWedThuFriSat";
    static const char month[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = utc_from_seconds(s);

    snprintf(out, 30, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", day + 3 * tm.tm_wday,
             (unsigned)tm.tm_mday % 100, month + 3 * tm.tm_mon,
             (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_hour % 100,
             (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}
