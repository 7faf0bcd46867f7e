/* hints.c - hints on the probable mistake in a rejected call. */
#include "net/http/http_parser.h"
#include "admin/console/traffic_records.h"

static bool path_contains_twice(struct str target, const char *word)
{
    const char *first = memmem(target.p, target.n, word, strlen(word));

    if (!first)
        return false;
    /* The slash at the end of the first match may be the start of the second. */
    struct str rest = str_skip_bytes(target, (size_t)(first - target.p) + strlen(word) - 1);
    return memmem(rest.p, rest.n, word, strlen(word)) != NULL;
}

static bool path_has_version(struct str target)
{
    struct str rest = str_skip_bytes(target, 5), version = str_cut(&rest, '/');

    return version.n >= 2 && version.p[0] == 'v' && version.p[1] >= '0' && version.p[1] <= '9';
}

static const char *hint_for_unknown_path(struct str target)
{
    if (!str_starts_with(target, STR("/api/")) && !str_is(target, "/api"))
        return "no such route: paths begin with /api/v10; is /api missing in the base URL?";
    if (path_contains_twice(target, "/api/"))
        return "no such route: the path contains /api twice; does your library add it itself?";
    if (path_contains_twice(target, "/v10/") || path_contains_twice(target, "/v9/"))
        return "no such route: the path has the API version twice; does your library add it?";
    if (memmem(target.p, target.n, "//", 2))
        return "no such route: the path contains //; does the base URL end with a slash?";
    if (memmem(target.p, target.n, "undefined", 9) || memmem(target.p, target.n, "None", 4) ||
        memmem(target.p, target.n, "null", 4))
        return "no such route: the path contains undefined, null or None instead of an id";
    return path_has_version(target) ? "no such route"
                                    : "no such route below /api; is /v10 missing?";
}

static const char *hint_for_credential(const struct traffic_record *r)
{
    switch (r->credential) {
    case TRAFFIC_NO_CREDENTIAL:
        return "no Authorization header was sent";
    case TRAFFIC_UNPREFIXED_TOKEN:
        return "no user has this token; for a bot's token, send \"Bot \" and the token";
    case TRAFFIC_BOT:
        return "no bot has this token; is it a user's token, or was it replaced by a new one?";
    case TRAFFIC_BOT_TWICE:
        return "the token begins with \"Bot \" twice; libraries add it themselves";
    default:
        return "no access token has this value; it may have expired or been revoked";
    }
}

const char *hint_for_rejected_call(const struct traffic_record *r, struct str target)
{
    if (r->kind != TRAFFIC_CALL || r->status < 400)
        return NULL;
    if (r->not_served)
        return "Discord has this operation, but this server does not; see docs/reference.md";
    if (r->status == 404 && !r->path_pattern)
        return hint_for_unknown_path(target);
    if (r->status == 405)
        return "this path exists, but not with this HTTP method";
    if (r->status == 401 && r->path_pattern)
        return hint_for_credential(r);
    return NULL;
}
