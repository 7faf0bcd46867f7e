/* gif_request.c - parses the query of a GIF request (locale, format, limit), and computes heat
 * (popularity). */
#include "gifs/internal.h"

#include <math.h>

#include "base/clock.h"
#include "model/fields/types.h"
#include "platform/accounts/accounts.h"

/* --- heat ----------------------------------------------------------------------------- Popularity
 * is a sum: each choice counts 2^-(its age in days). The stored heat is the logarithm of the sum of
 * 2^(day of the choice). So the heat changes only at a new choice, and sorting by heat is the same
 * as sorting by popularity on any day. */

double days_since_epoch(int64_t us)
{
    return (double)us / (double)DAY;
}

static double days_since_epoch_now(void)
{
    return days_since_epoch(clock_us());
}

double gif_popularity_from_heat(double heat, double today)
{
    return heat > 0 ? exp2(heat - today) : 0;
}

double gif_heat_add_selection(double heat, double today)
{
    if (heat <= 0)
        return today;
    double high = heat > today ? heat : today, low = heat > today ? today : heat;
    return high + log2(1 + exp2(low - high));
}

struct str get_language_of_locale(struct str locale)
{
    return str_cut(&locale, '-');
}

static enum err read_request_locale(struct call *call, const struct opt_str *named, struct str *ret)
{
    if (named->given != GIVEN || !named->value.n)
        return determine_request_locale(call, ret);
    *ret = locale_find_supported(named->value);
    if (!ret->p)
        *ret = STR("en-US");
    return OK;
}

enum err read_gif_request(struct call *call, struct gif_request *ret)
{
    const struct gif_query *in = call->query;
    enum err e = read_request_locale(call, &in->locale, &ret->locale);

    if (e)
        return e;
    ret->call = call;
    ret->q = normalize_search_text(call->arena, in->q);
    ret->language = get_language_of_locale(ret->locale);
    ret->format = parse_requested_gif_format(in->media_format);
    ret->limit = (size_t)in->limit;
    ret->cap = gif_get_config()->cap;
    ret->today = days_since_epoch_now();
    return OK;
}
