/* hints.c - finds cause and fix of a refused request, if the code that refused it did not record a
 * cause. */
#include "admin/console/traffic_records.h"
#include "base/error_causes.h"
#include "base/errors.h"
#include "net/http/http_parser.h"

enum { INVALID_FORM_CODE = 50035, WEBHOOK_TOKEN_CODE = 50027, OP_INVALID_SESSION = 9 };
enum { AUTHENTICATION_FAILED = 4004 };

static bool path_contains_word_twice(struct str target, const char *word)
{
    const char *first = memmem(target.p, target.n, word, strlen(word));

    if (!first)
        return false;
    /* Continue the search at the slash that ends the first match, because the second match may
     * begin with this slash. */
    struct str rest = str_skip_bytes(target, (size_t)(first - target.p) + strlen(word) - 1);
    return memmem(rest.p, rest.n, word, strlen(word)) != NULL;
}

static bool path_has_version(struct str target)
{
    struct str rest = str_skip_bytes(target, 5), version = str_cut(&rest, '/');

    return version.n >= 2 && version.p[0] == 'v' && version.p[1] >= '0' && version.p[1] <= '9';
}

static const char *find_hint_for_unknown_path(struct str target)
{
    if (!str_starts_with(target, STR("/api/")) && !str_is(target, "/api"))
        return "no such route: paths begin with /api/v10; is /api missing in the base URL?";
    if (path_contains_word_twice(target, "/api/"))
        return "no such route: the path contains /api twice; does your library add it itself?";
    if (path_contains_word_twice(target, "/v10/") || path_contains_word_twice(target, "/v9/"))
        return "no such route: the path has the API version twice; does your library add it?";
    if (memmem(target.p, target.n, "//", 2))
        return "no such route: the path contains //; does the base URL end with a slash?";
    if (memmem(target.p, target.n, "undefined", 9) || memmem(target.p, target.n, "None", 4) ||
        memmem(target.p, target.n, "null", 4))
        return "no such route: the path contains undefined, null or None instead of an id";
    return path_has_version(target) ? "no such route"
                                    : "no such route below /api; is /v10 missing?";
}

static const char *find_hint_for_invalid_credential(const struct traffic_record *r)
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
    case TRAFFIC_UNSET_TOKEN:
        return "the token is empty, undefined, null or None: the variable with the token is not "
               "set; is the file with the environment loaded?";
    case TRAFFIC_QUOTED_TOKEN:
        return "the token contains quotes or spaces; remove them where it is configured";
    default:
        return "no access token has this value; it may have expired or been revoked; a bot's token "
               "is sent as \"Bot TOKEN\"";
    }
}

/* Names the methods that the path allows, from the header Allow of the reply. */
static struct str find_hint_for_wrong_method(struct str reply_headers, struct arena *arena)
{
    static const char name[] = "Allow: ";
    const char *at = memmem(reply_headers.p, reply_headers.n, name, sizeof name - 1);
    struct str rest = STR("");

    if (at)
        rest = str_skip_bytes(reply_headers, (size_t)(at - reply_headers.p) + sizeof name - 1);
    struct str line = str_cut(&rest, '\n'), methods = str_cut(&line, '\r');
    return str_printf(arena, "this path exists, but not with this HTTP method%s%.*s",
                      methods.n ? "; use one of " : "", STR_ARGS(methods));
}

/* Returns a hint if the path or the credential is wrong. Returns NULL if the request was refused
 * for another reason. */
static const char *find_hint_for_refused_request_head(const struct traffic_record *r,
                                                      struct str target)
{
    if (r->not_served)
        return "Discord has this operation, but this server does not; see docs/reference.md";
    if (r->status == 404 && !r->path_pattern)
        return find_hint_for_unknown_path(target);
    if (r->status == 401 && r->path_pattern && strstr(r->path_pattern, "/oauth2/token"))
        return "client_id and client_secret are not those of an application; send them in the body "
               "or as basic authentication";
    if (r->status == 401 && r->path_pattern && r->code != WEBHOOK_TOKEN_CODE)
        return find_hint_for_invalid_credential(r);
    return NULL;
}

/* --- records ---------------------------------------------------------------------------- */

static struct str find_hint_for_refused_call(const struct displayed_traffic_record *s,
                                             struct str target, struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    const char *head = find_hint_for_refused_request_head(r, target);
    struct error_cause cause;

    if (head)
        return str_of(head);
    if (r->status == 405)
        return find_hint_for_wrong_method(s->reply_headers, arena);
    if (r->code == INVALID_FORM_CODE && s->problem.n)
        return find_hint_for_invalid_form_field(s->request, s->problem, arena);
    if (!find_causes_of_api_error(r->status, r->code, &cause))
        return STR("");
    return STR_CONCAT(arena, str_of(cause.causes), STR(" "), str_of(cause.fix));
}

static struct str find_hint_for_gateway_close(const struct displayed_traffic_record *s,
                                              struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    struct error_cause cause;

    if (str_is(s->problem, "invalid encoding"))
        return STR("the encoding in the URL of the gateway must be json or etf");

    if (r->status == AUTHENTICATION_FAILED && r->session)
        return STR("the token of this session was revoked or replaced (log-out, new password, new "
                   "token of the bot); log in with the current token");
    if (!find_causes_of_gateway_close_code(r->status, &cause))
        return STR("");
    return STR_CONCAT(arena, str_of(cause.causes), STR(" "), str_of(cause.fix));
}

static const char *find_hint_for_endpoint_delivery(const struct traffic_record *r)
{
    if (!r->status)
        return "the app's endpoint did not answer; is its process running, and does it answer "
               "within 3 seconds?";
    if (r->status == 401)
        return "the app's endpoint rejected the signature; is the public key in its configuration "
               "that of this application?";
    return "the app's endpoint must answer with status 200 and the response, or 202";
}

void traffic_record_find_hint(struct displayed_traffic_record *s, struct str target,
                              struct str cause, struct arena *arena)
{
    const struct traffic_record *r = &s->r;
    bool refused = r->kind == TRAFFIC_CALL && r->status >= 400;
    bool closed = r->kind == TRAFFIC_CLOSED && r->status >= 4000 &&
                  !str_is(s->problem, "closed by the client");

    s->hint = str_dup(arena, cause);
    if (!cause.n && refused)
        s->hint = find_hint_for_refused_call(s, target, arena);
    else if (!cause.n && closed)
        s->hint = find_hint_for_gateway_close(s, arena);
    else if (r->kind == TRAFFIC_DELIVERED && r->status != 200 && r->status != 202)
        s->hint = str_of(find_hint_for_endpoint_delivery(r));
    else if (r->kind == TRAFFIC_SENT && r->status == OP_INVALID_SESSION && !r->name)
        s->hint = STR("the session cannot be resumed: it has ended or expired, or the bot has "
                      "started too many sessions today; identify again");
    if (refused || closed)
        s->docs = r->code ? r->code : r->status;
}
