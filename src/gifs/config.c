/* config.c - operator settings of GIFs. */
#include "gifs/internal.h"

#include "base/mem.h"

static struct gif_config config = { .cap = 2 };

const struct gif_config *gif_get_config(void)
{
    return &config;
}

int64_t parse_gif_rating(struct str name)
{
    static const char *const ratings[] = { "g", "pg", "pg13", "r" };

    for (size_t i = 0; i < COUNT_OF(ratings); i++)
        if (str_is(name, ratings[i]))
            return (int64_t)i;
    return -1;
}

static enum gif_source parse_gif_source(const char *word)
{
    static const char *const sources[] = { "local", "upstream", "merged", "off" };

    for (size_t i = 0; word && i < COUNT_OF(sources); i++)
        if (str_is(str_of(word), sources[i]))
            return (enum gif_source)i;
    return GIFS_LOCAL;
}

static bool is_http_url(struct str url)
{
    return str_starts_with(url, STR("http://")) || str_starts_with(url, STR("https://"));
}

bool gifs_set_options(const struct gifs_options *o, const char **ret_problem)
{
    struct gif_config c = {
        .source = parse_gif_source(o->source),
        .cap = parse_gif_rating(str_of(o->rating)),
        .categories = str_of(o->categories),
        .blocked_words = str_of(o->blocked_words),
        .provider = str_of(o->provider),
        .provider_key = str_of(o->provider_key),
        .media_hosts = str_of(o->media_hosts),
    };
    bool asks = c.source == GIFS_UPSTREAM || c.source == GIFS_MERGED;

    if (asks && !is_http_url(c.provider)) {
        *ret_problem = "gif-provider must begin with http:// or https://";
        return false;
    }
    if (asks && !c.media_hosts.n) {
        *ret_problem = "gif-media-hosts must list the hosts of the provider's files";
        return false;
    }
    while (c.provider.n && c.provider.p[c.provider.n - 1] == '/')
        c.provider.n--;
    if (c.cap < 0)
        c.cap = 2;
    config = c;
    reset_schedule_of_gif_selection_count();
    return true;
}
