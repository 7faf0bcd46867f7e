/* checks.c - the checks of a call before the first transaction.
 *
 * The order is the same for every route: rate limit, banned address, kind of caller, scope, path
 * syntax, body. All checks but the last need no body and run before a long body is received. */
#include "api/internal.h"

#include "base/hash.h"
#include "base/utf8.h"

static uint64_t caller_address_hash(const struct call_context *run)
{
    return run->call.exchange->address;
}

/* Returns a hash of the path's major parameters (guild, channel, webhook and its token). Each
 * combination of their values has its own rate-limit bucket. */
static uint64_t hash_major_parameters(const struct call_context *run)
{
    uint64_t major = 0;

    for (size_t i = 0; i < run->match.count; i++)
        if (run->match.resolvers[i]->major) {
            snowflake id;
            struct str text = run->match.params[i];

            /* Parse the id: an id with leading zeros has the same bucket as without them. */
            major = hash_u64(major) ^ (snowflake_parse(text, &id) ? id : hash_str(text));
        }
    return major;
}

/* Returns the rate-limit key of a caller. Calls with an OAuth2 token do not count against the
 * account that authorised the app. */
static uint64_t rate_limit_key_of_caller(const struct caller *c)
{
    return c->kind == CALLER_BEARER ? hash_u64(c->id ^ hash_u64(c->application_id)) : c->id;
}

/* Counts a call of a service route. Service routes send rate-limit headers only when the limit is
 * exceeded, because probes and browsers do not read these headers. */
static enum err check_service_route_limit(struct call_context *run)
{
    run->limit_result = rate_limits_count_call(run->call.api->limits, caller_address_hash(run),
                                               true, run->match.limit, 0);
    return run->limit_result.allowed ? OK : ERR_RATE_LIMITED;
}

void add_rate_limit_headers(struct call_context *run)
{
    if (!rate_limits_are_disabled(run->call.api->limits) && !run->call.route->service)
        write_rate_limit_headers(&run->limit_result, run->match.limit, &run->response.headers);
}

static enum err check_rate_limits(struct call_context *run)
{
    struct call *call = &run->call;
    struct rate_limit_counters *limits = call->api->limits;

    if (rate_limits_are_disabled(limits))
        return OK;
    if (call->route->service)
        return check_service_route_limit(run);

    bool anonymous = !call->caller;
    uint64_t key = anonymous ? caller_address_hash(run) : rate_limit_key_of_caller(call->caller);
    if (!call->route->no_global_limit) {
        run->limit_result = rate_limits_count_global_call(limits, key, anonymous);
        if (!run->limit_result.allowed)
            return ERR_RATE_LIMITED;
    }
    if (run->match.limit->by_address) {
        anonymous = true;
        key = caller_address_hash(run);
    }
    run->limit_result = rate_limits_count_call(limits, key, anonymous, run->match.limit,
                                               hash_major_parameters(run));
    if (!run->limit_result.allowed)
        return ERR_RATE_LIMITED;
    add_rate_limit_headers(run);
    return OK;
}

/* Refuses calls from banned addresses, except on service routes, which the operator needs. */
static enum err check_address_ban(const struct call *call)
{
    bool banned = !call->route->service &&
                  auth_is_address_banned(call->api->options.auth, call->exchange->remote);

    return banned ? ERR_ADDRESS_BANNED : OK;
}

static enum err refuse_missing_scope(const struct call *call)
{
    call_set_refusal_cause(
        call, "the access token lacks the scope %s; authorise the app again with this scope",
        call->route->scope);
    return ERR_MISSING_SCOPE;
}

static enum err refuse_caller_kind(const struct call *call, enum err e)
{
    static const char *const kinds[] = { [CALLER_USER] = "the token of a user",
                                         [CALLER_BOT] = "the token of a bot",
                                         [CALLER_BEARER] = "an OAuth2 access token" };
    unsigned auth = call->route->auth;

    call_set_refusal_cause(
        call, "%s was sent, but this route accepts only %s%s%s; use another route or token",
        kinds[call->caller->kind],
        auth & AUTH_USER  ? "tokens of users"
        : auth & AUTH_BOT ? "tokens of bots (\"Bot TOKEN\")"
                          : "",
        auth & AUTH_BEARER && auth & (AUTH_USER | AUTH_BOT) ? " and " : "",
        auth & AUTH_BEARER ? "OAuth2 access tokens (\"Bearer TOKEN\")" : "");
    return e;
}

static enum err check_caller_kind(const struct call *call)
{
    const struct caller *c = call->caller;
    unsigned auth = call->route->auth;

    if (!c || auth & AUTH_OPEN)
        return OK;
    if (c->kind == CALLER_BEARER) {
        if (!(auth & AUTH_BEARER))
            return refuse_caller_kind(call, ERR_UNAUTHORIZED);
        if (!call->route->scope || c->scopes & auth_oauth2_scope_bit(str_of(call->route->scope)))
            return OK;
        return refuse_missing_scope(call);
    }
    if (!(auth & (AUTH_USER | AUTH_BOT)))
        return refuse_caller_kind(call, ERR_UNAUTHORIZED);
    if (c->kind == CALLER_USER && !(auth & AUTH_USER))
        return refuse_caller_kind(call, ERR_BOTS_ONLY);
    if (c->kind == CALLER_BOT && !(auth & AUTH_BOT))
        return refuse_caller_kind(call, ERR_USERS_ONLY);
    return OK;
}

/* Parses ids such as {user.id}; an error is reported on the field "user_id". */
static enum err parse_path_parameters(struct call_context *run)
{
    struct call *call = &run->call;

    if (run->match.as_me && (!call->caller || call->caller->id != run->match.as_me))
        return ERR_NOT_FOUND;
    for (size_t i = 0; i < run->match.count; i++) {
        const struct path_resolver *r = run->match.resolvers[i];
        struct str text = run->match.params[i];

        if (!utf8_is_valid(text) || memchr(text.p, '\0', text.n)) {
            struct json_path at = json_path_key(NULL, str_of(r->field));
            form_add_error(&call->form, &at, FORM_NOT_STRING, 0, "");
        } else if (r->is_text) {
            continue;
        } else if (r->me && call->caller && str_is(text, "@me")) {
            run->ids[i] = call->caller->id;
        } else if (!snowflake_parse(text, &run->ids[i])) {
            struct json_path at = json_path_key(NULL, str_of(r->field));
            form_add_error(&call->form, &at, FORM_NOT_SNOWFLAKE, STR_ARGS(text));
        }
    }
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

/* Returns the JSON or form text of the body, without uploaded files. */
static struct str find_json_or_form_text(const struct call *call)
{
    const struct http_exchange *x = call->exchange;
    const struct multipart_part *payload =
        x->parts ? multipart_find_part(x->parts, STR("payload_json")) : NULL;

    return payload ? buf_as_str(&payload->data) : x->parts ? STR("") : x->body;
}

enum { LONGEST_PARTS = 1024 * 1024 };

/* Returns the multipart parts without a filename as one JSON object of strings. If several parts
 * have the same name, the first counts. */
static struct str convert_multipart_fields_to_json(const struct call *call)
{
    const struct multipart *parts = call->exchange->parts;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, LONGEST_PARTS);
    json_begin_object(&j);
    for (size_t i = 0; i < multipart_get_part_count(parts); i++) {
        const struct multipart_part *p = multipart_get_part_at(parts, i);

        if (p->filename || multipart_find_part(parts, str_of(p->name)) != p ||
            !utf8_is_valid(buf_as_str(&p->data)))
            continue;
        json_write_escaped_key(&j, str_of(p->name));
        json_write_text(&j, buf_as_str(&p->data));
    }
    json_end_object(&j);
    return buf_move_to_arena(&out, call->arena);
}

/* Finds the value of payload_json in a urlencoded form. */
static bool find_payload_json(const struct call *call, struct str form, struct str *ret)
{
    while (form.n) {
        struct str value = str_cut(&form, '&'), name = str_cut(&value, '=');

        if (str_is(name, "payload_json"))
            return str_percent_decode(call->arena, value, true, ret) && utf8_is_valid(*ret);
    }
    return false;
}

static enum err decode_urlencoded_form(struct call *call, struct str form)
{
    const struct route *r = call->route;
    struct str json;

    if (r->body_kinds & BODY_MULTIPART && find_payload_json(call, form, &json))
        return schema_decode(r->body, json, &call->form, (void **)&call->body);
    return schema_decode_query(r->body->schema, form, &call->form, (void **)&call->body);
}

/* Returns the multipart parts without a filename as a urlencoded form. */
static struct str convert_multipart_fields_to_form(const struct call *call)
{
    const struct multipart *parts = call->exchange->parts;
    struct buf out;

    buf_init(&out, LONGEST_PARTS);
    for (size_t i = 0; i < multipart_get_part_count(parts); i++) {
        const struct multipart_part *p = multipart_get_part_at(parts, i);

        if (p->filename)
            continue;
        buf_add_str(&out, str_percent_encode(call->arena, str_of(p->name)));
        buf_add_char(&out, '=');
        buf_add_str(&out, str_percent_encode(call->arena, buf_as_str(&p->data)));
        buf_add_char(&out, '&');
    }
    return buf_move_to_arena(&out, call->arena);
}

static enum err refuse_body_with_content_type(struct call *call)
{
    static const char *const lists[] = {
        "'application/json'",
        "'application/json', 'multipart/form-data'",
        "'application/json', 'application/x-www-form-urlencoded'",
        "'application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'",
    };
    unsigned kinds = call->route->body_kinds;

    form_add_error(
        &call->form, NULL, FORM_CONTENT_TYPE,
        lists[(kinds & BODY_FORM ? 2 : 0) + (kinds & (BODY_MULTIPART | BODY_PARTS) ? 1 : 0)]);
    return ERR_INVALID_FORM_BODY;
}

static enum err decode_request_body(struct call *call)
{
    const struct route *r = call->route;
    const struct http_exchange *x = call->exchange;
    struct str type = x->request->content_type, text = find_json_or_form_text(call);

    if (x->parts && r->body_kinds & BODY_PARTS)
        return schema_decode(r->body, convert_multipart_fields_to_json(call), &call->form,
                             (void **)&call->body);
    if (x->parts && r->body_kinds & BODY_MULTIPART && !text.n && r->body->schema)
        return decode_urlencoded_form(call, convert_multipart_fields_to_form(call));
    if (x->parts && r->body_kinds & BODY_MULTIPART)
        return schema_decode(r->body, text, &call->form, (void **)&call->body);
    if (text.n && r->body_kinds & BODY_FORM &&
        http_media_type_is(type, STR("application/x-www-form-urlencoded")))
        return decode_urlencoded_form(call, text);
    if (x->parts || (text.n && !http_media_type_is(type, STR("application/json"))))
        return refuse_body_with_content_type(call);
    return schema_decode(r->body, text, &call->form, (void **)&call->body);
}

/* Decodes query and body. An error is stored in call->decoded and reported later, because an error
 * about an unknown or invisible object of the path has precedence. */
void call_decode_query_and_body(struct call *call)
{
    const struct route *r = call->route;

    if (r->query)
        call->decoded = schema_decode_query(r->query, call->exchange->request->query, &call->form,
                                            (void **)&call->query);
    if (r->body) {
        enum err e = decode_request_body(call);

        /* An error in the JSON syntax takes precedence over validation errors of the query. */
        if (e && call->decoded != ERR_INVALID_JSON)
            call->decoded = e;
    }
}

bool call_input_is_long(const struct call *call)
{
    return call->route->body && find_json_or_form_text(call).n > LONG_INPUT;
}

enum err check_request_head_against_route(struct call_context *run)
{
    enum err e = check_rate_limits(run);

    if (!e)
        e = check_address_ban(&run->call);
    if (!e)
        e = check_caller_kind(&run->call);
    return e ? e : parse_path_parameters(run);
}

enum err check_request_body_against_route(struct call_context *run)
{
    struct call *call = &run->call;
    enum err e = OK;

    /* If the path has no object that could be unknown or forbidden to the caller, report the body's
     * error now. */
    if (call->decoded && run->match.count == 0 && !call->route->needs)
        return call->decoded;
    if (call->route->prepare && !call->decoded)
        e = call->route->prepare(call);
    return e;
}
