/* request.c - parses a GIF query (locale, format, limit), and computes heat. */
#include "gifs/internal.h"

#include <math.h>

#include "base/clock.h"
#include "model/fields/types.h"
#include "platform/accounts/accounts.h"

/* --- heat -----------------------------------------------------------------------------
 * Each choice counts 2^-(its age in days). The stored heat is the logarithm of the sum of 2^(day
 * of the choice): it changes only with a new choice, and its order is the order of popularity on
 * any day. */

double gif_day(int64_t us)
{
    return (double)us / (double)DAY;
}

double gif_today(void)
{
    return gif_day(clock_us());
}

double gif_popularity(double heat, double today)
{
    return heat > 0 ? exp2(heat - today) : 0;
}

double gif_heat_after(double heat, double today)
{
    if (heat <= 0)
        return today;
    double high = heat > today ? heat : today, low = heat > today ? today : heat;
    return high + log2(1 + exp2(low - high));
}

struct str gif_language(struct str locale)
{
    return str_cut(&locale, '-');
}

static enum err find_locale(struct call *call, const struct opt_str *named, struct str *ret)
{
    if (named->given != GIVEN || !named->value.n)
        return request_locale(call, ret);
    *ret = locale_known(named->value);
    if (!ret->p)
        *ret = STR("en-US");
    return OK;
}

enum err gif_request_read(struct call *call, struct gif_request *ret)
{
    const struct gif_query *in = call->query;
    enum err e = find_locale(call, &in->locale, &ret->locale);

    if (e)
        return e;
    ret->call = call;
    ret->q = words_normal(call->arena, in->q);
    ret->language = gif_language(ret->locale);
    ret->format = gif_format_wanted(in->media_format);
    ret->limit = (size_t)in->limit;
    ret->cap = gif_config()->cap;
    ret->today = gif_today();
    return OK;
}
