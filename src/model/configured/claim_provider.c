/* claim_provider.c - the OAuth2 provider with which people claim placeholder accounts. */
#include "model/configured/claim_provider.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/address.h"

enum { MAX_URL = 512, MAX_SECRET = 512 };

static struct {
    bool on;
    char api[MAX_URL + 1], client_id[24], secret[MAX_SECRET + 2], redirect_uri[MAX_URL + 16];
    char problem[MAX_URL + 100];
} settings;

/* Returns the part of a URL before its path. */
static struct str url_origin(struct str url)
{
    const char *host = memmem(url.p, url.n, "://", 3);
    size_t n = host ? (size_t)(host + 3 - url.p) : 0;

    while (n < url.n && url.p[n] != '/')
        n++;
    return str_slice(url.p, n);
}

static const char *set_api(struct str url)
{
    bool tls = str_starts_with(url, STR("https://"));

    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    if (!tls && !str_starts_with(url, STR("http://")))
        return "claim-api must be an http(s) URL, such as https://discord.com/api/v10";
    if (url.n > MAX_URL || memchr(url.p, '?', url.n) || memchr(url.p, '#', url.n) ||
        memchr(url.p, '@', url.n))
        return "claim-api must be a URL of at most 512 characters without user, query and fragment";
    if (!tls && url_is_public(url))
        return "claim-api must begin with https://, because the client secret is sent there";
    memcpy(settings.api, url.p, url.n);
    return NULL;
}

static const char *set_client_id(struct str id)
{
    uint64_t number;

    if (id.n >= sizeof settings.client_id || !str_to_u64(id, &number) || !number)
        return "claim-client-id must be the id of an application, a number";
    memcpy(settings.client_id, id.p, id.n);
    return NULL;
}

/* The secret is the first line of the file. */
static const char *read_client_secret(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, settings.secret, MAX_SECRET + 1);

    if (n < 0) {
        snprintf(settings.problem, sizeof settings.problem,
                 "claim-client-secret-file: cannot read '%.*s': %s", MAX_URL, path,
                 strerror(errno));
        if (fd >= 0)
            close(fd);
        return settings.problem;
    }
    close(fd);
    settings.secret[n] = '\0';
    settings.secret[strcspn(settings.secret, "\r\n")] = '\0';
    if (!settings.secret[0] || strlen(settings.secret) > MAX_SECRET)
        return "claim-client-secret-file must have the client secret in its first line, of at most "
               "512 characters";
    return NULL;
}

static const char *set_redirect_uri(struct str url)
{
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    if (url.n > MAX_URL)
        return "public-url may have at most 512 characters with claim-api";
    snprintf(settings.redirect_uri, sizeof settings.redirect_uri, "%.*s/claim", STR_ARGS(url));
    return NULL;
}

static const char *set_claim_provider(const struct claim_provider_options *o)
{
    const char *problem;

    if (!o->api && !o->client_id && !o->secret_file)
        return NULL;
    if (!o->api || !o->client_id || !o->secret_file)
        return "claim-api, claim-client-id and claim-client-secret-file must be set together";
    if (!o->public_url)
        return "claim-api requires public-url, because the other server redirects browsers to it";
    problem = set_api(str_of(o->api));
    if (!problem)
        problem = set_client_id(str_of(o->client_id));
    if (!problem)
        problem = set_redirect_uri(str_of(o->public_url));
    if (!problem)
        problem = read_client_secret(o->secret_file);
    settings.on = !problem;
    return problem;
}

bool claim_provider_configure(const struct claim_provider_options *o, const char **ret_problem)
{
    memset(&settings, 0, sizeof settings);
    const char *problem = set_claim_provider(o);

    if (problem)
        *ret_problem = problem;
    return !problem;
}

bool claim_provider_is_configured(void)
{
    return settings.on;
}

struct str claim_provider_get_api_url(void)
{
    return str_of(settings.api);
}

struct str claim_provider_get_api_origin(void)
{
    return url_origin(claim_provider_get_api_url());
}

struct str claim_provider_get_api_host(void)
{
    struct str origin = claim_provider_get_api_origin();

    return str_skip_bytes(origin, str_starts_with(origin, STR("https://")) ? 8 : 7);
}

struct str claim_provider_get_client_id(void)
{
    return str_of(settings.client_id);
}

struct str claim_provider_get_client_secret(void)
{
    return str_of(settings.secret);
}

struct str claim_provider_get_redirect_uri(void)
{
    return str_of(settings.redirect_uri);
}
