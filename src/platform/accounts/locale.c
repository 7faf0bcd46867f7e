/* locale.c - determines the locale of a request from its headers and the account. */
#include "platform/accounts/internal.h"

#include "base/mem.h"
#include "net/http/server.h"

static const struct str fallback = STR_INIT("en-US");

/* Languages that are supported only with a region; a client that sends "en" gets "en-US". */
static const struct {
    const char *language, *locale;
} regional[] = {
    { "en", "en-US" }, { "es", "es-ES" }, { "pt", "pt-BR" }, { "sv", "sv-SE" }, { "zh", "zh-CN" },
};

/* Returns the tag itself if it is supported, else its language with a supported region. */
static struct str nearest_supported_locale(struct str tag)
{
    struct str found = locale_find_supported(tag), language = str_cut(&tag, '-');

    if (!found.p)
        found = locale_find_supported(language);
    for (size_t i = 0; !found.p && i < COUNT_OF(regional); i++)
        if (str_eq_nocase(language, str_of(regional[i].language)))
            found = str_of(regional[i].locale);
    return found;
}

/* Returns the quality value times 1000 ("q=0.8" is 800); 1000 if missing, 0 if malformed. */
static int parse_quality_value(struct str parameters)
{
    struct str q = str_trim(parameters);
    int weight = 0, digit = 100;

    if (!q.n)
        return 1000;
    if (!str_starts_with(q, STR("q=")) || q.n < 3 || (q.p[2] != '0' && q.p[2] != '1'))
        return 0;
    if (q.p[2] == '1')
        return 1000;
    for (size_t i = 4; i < q.n && q.p[i] >= '0' && q.p[i] <= '9'; i++, digit /= 10)
        weight += (q.p[i] - '0') * digit;
    return weight;
}

struct str determine_locale_from_header_values(struct str named, struct str accepted)
{
    struct str best = locale_find_supported(str_trim(named));
    int most = 0;

    if (best.p)
        return best;
    while (accepted.n) {
        struct str range = str_cut(&accepted, ','), tag = str_cut(&range, ';');
        struct str found = nearest_supported_locale(str_trim(tag));
        int weight = parse_quality_value(range);

        if (found.p && weight > most) {
            best = found;
            most = weight;
        }
    }
    return best;
}

struct str determine_locale_from_request_headers(const struct call *call)
{
    const struct http_request *r = call->exchange ? call->exchange->request : NULL;

    if (!r)
        return (struct str){ 0 };
    return determine_locale_from_header_values(http_find_header(r, STR("X-Discord-Locale")),
                                               http_find_header(r, STR("Accept-Language")));
}

struct str determine_request_locale_of_user(const struct call *call, const struct user *caller)
{
    struct str wanted = determine_locale_from_request_headers(call);

    return wanted.p ? wanted : caller->locale.n ? caller->locale : fallback;
}

static const char LOCALE_OF[] = "select locale from users where id = $1";

enum err determine_request_locale(struct call *call, struct str *ret)
{
    struct rows row;

    *ret = determine_locale_from_request_headers(call);
    if (ret->p)
        return OK;
    *ret = fallback;
    if (!call->caller)
        return OK;
    enum err e =
        tx_one_or(call->tx, LOCALE_OF, BIND(v_id(call->caller->id)), ERR_UNKNOWN_USER, &row);
    if (!e && row_text(&row, 0).n)
        *ret = row_text(&row, 0);
    return e;
}
