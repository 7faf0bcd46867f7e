/* checks.c - the checks of a call before the first transaction.
 *
 * In this order for every route: rate limit, banned address, kind of caller, scope, path syntax,
 * body. All but the last need no body and are done before a long body is received. */
#include "api/internal.h"

#include "base/hash.h"
#include "base/utf8.h"

static uint64_t caller_address(const struct call_run *run)
{
    return run->call.exchange->address;
}

/* Returns a hash of the path's major parameters (guild, channel, webhook and its token), each of
 * which has its own rate-limit bucket. */
static uint64_t major_parameter(const struct call_run *run)
{
    uint64_t major = 0;

    for (size_t i = 0; i < run->match.count; i++)
        if (run->match.resolvers[i]->major) {
            snowflake id;
            struct str text = run->match.params[i];

            /* Parse the id, so that leading zeros do not give another bucket. */
            major = hash_u64(major) ^ (snowflake_parse(text, &id) ? id : hash_str(text));
        }
    return major;
}

/* Returns the rate-limit key of a caller. OAuth2 apps are counted separately from the account
 * itself. */
static uint64_t caller_key(const struct caller *c)
{
    return c->kind == CALLER_BEARER ? hash_u64(c->id ^ hash_u64(c->application_id)) : c->id;
}

/* Counts a call of a service route. These routes send rate-limit headers only when the limit is
 * exceeded, because probes and browsers do not read them. */
static enum err check_service_limit(struct call_run *run)
{
    run->verdict =
        limits_count(run->call.api->limits, caller_address(run), true, run->match.limit, 0);
    return run->verdict.allowed ? OK : ERR_RATE_LIMITED;
}

void add_limit_lines(struct call_run *run)
{
    if (!limits_off(run->call.api->limits) && !run->call.route->service)
        limits_headers(&run->verdict, run->match.limit, &run->answer.headers);
}

static enum err check_limits(struct call_run *run)
{
    struct call *call = &run->call;
    struct limits *limits = call->api->limits;

    if (limits_off(limits))
        return OK;
    if (call->route->service)
        return check_service_limit(run);

    bool anonymous = !call->caller;
    uint64_t who = anonymous ? caller_address(run) : caller_key(call->caller);
    if (!call->route->no_global_limit) {
        run->verdict = limits_count_global(limits, who, anonymous);
        if (!run->verdict.allowed)
            return ERR_RATE_LIMITED;
    }
    if (run->match.limit->by_address) {
        anonymous = true;
        who = caller_address(run);
    }
    run->verdict = limits_count(limits, who, anonymous, run->match.limit, major_parameter(run));
    if (!run->verdict.allowed)
        return ERR_RATE_LIMITED;
    add_limit_lines(run);
    return OK;
}

/* Refuses banned addresses, except on service routes: probes and /metrics serve the operator. */
static enum err check_address(const struct call *call)
{
    bool banned =
        !call->route->service && auth_bans_address(call->api->options.auth, call->exchange->remote);

    return banned ? ERR_ADDRESS_BANNED : OK;
}

static enum err check_kind(const struct call *call)
{
    const struct caller *c = call->caller;
    unsigned auth = call->route->auth;

    if (!c || auth & AUTH_OPEN)
        return OK;
    if (c->kind == CALLER_BEARER) {
        if (!(auth & AUTH_BEARER))
            return ERR_UNAUTHORIZED;
        if (!call->route->scope || c->scopes & auth_scope(str_of(call->route->scope)))
            return OK;
        return ERR_MISSING_SCOPE;
    }
    if (!(auth & (AUTH_USER | AUTH_BOT)))
        return ERR_UNAUTHORIZED;
    if (c->kind == CALLER_USER && !(auth & AUTH_USER))
        return ERR_BOTS_ONLY;
    if (c->kind == CALLER_BOT && !(auth & AUTH_BOT))
        return ERR_USERS_ONLY;
    return OK;
}

/* Parses ids such as {user.id}; an error is reported on the field "user_id". */
static enum err parse_params(struct call_run *run)
{
    struct call *call = &run->call;

    if (run->match.as_me && (!call->caller || call->caller->id != run->match.as_me))
        return ERR_NOT_FOUND;
    for (size_t i = 0; i < run->match.count; i++) {
        const struct resolver *r = run->match.resolvers[i];
        struct str text = run->match.params[i];

        if (!utf8_valid(text) || memchr(text.p, '\0', text.n)) {
            struct place at = place_key(NULL, str_of(r->field));
            form_fail(&call->form, &at, FORM_NOT_STRING, 0, "");
        } else if (r->is_text) {
            continue;
        } else if (r->me && call->caller && str_is(text, "@me")) {
            run->ids[i] = call->caller->id;
        } else if (!snowflake_parse(text, &run->ids[i])) {
            struct place at = place_key(NULL, str_of(r->field));
            form_fail(&call->form, &at, FORM_NOT_SNOWFLAKE, STR_FMT(text));
        }
    }
    return form_failed(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

/* Returns the JSON or form text of the body, without uploaded files. */
static struct str body_text(const struct call *call)
{
    const struct exchange *x = call->exchange;
    const struct part *payload = x->parts ? multipart_find(x->parts, STR("payload_json")) : NULL;

    return payload ? buf_str(&payload->data) : x->parts ? STR("") : x->body;
}

enum { LONGEST_PARTS = 1024 * 1024 };

/* Returns the parts without a filename as one JSON object of strings; of parts with the same name
 * the first counts. */
static struct str parts_text(const struct call *call)
{
    const struct multipart *parts = call->exchange->parts;
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, LONGEST_PARTS);
    json_object(&j);
    for (size_t i = 0; i < multipart_count(parts); i++) {
        const struct part *p = multipart_at(parts, i);

        if (p->filename || multipart_find(parts, str_of(p->name)) != p ||
            !utf8_valid(buf_str(&p->data)))
            continue;
        json_key_text(&j, str_of(p->name));
        json_text(&j, buf_str(&p->data));
    }
    json_object_end(&j);
    return buf_take(&out, call->arena);
}

/* Finds the value of payload_json in a urlencoded form. */
static bool form_payload(const struct call *call, struct str form, struct str *ret)
{
    while (form.n) {
        struct str value = str_cut(&form, '&'), name = str_cut(&value, '=');

        if (str_is(name, "payload_json"))
            return str_unescape(call->arena, value, true, ret) && utf8_valid(*ret);
    }
    return false;
}

static enum err decode_form(struct call *call, struct str form)
{
    const struct route *r = call->route;
    struct str json;

    if (r->body_kinds & BODY_MULTIPART && form_payload(call, form, &json))
        return schema_decode(r->body, json, &call->form, (void **)&call->body);
    return schema_decode_query(r->body->schema, form, &call->form, (void **)&call->body);
}

/* Returns the parts without a filename as a urlencoded form. */
static struct str parts_form(const struct call *call)
{
    const struct multipart *parts = call->exchange->parts;
    struct buf out;

    buf_init(&out, LONGEST_PARTS);
    for (size_t i = 0; i < multipart_count(parts); i++) {
        const struct part *p = multipart_at(parts, i);

        if (p->filename)
            continue;
        buf_add_str(&out, str_escape(call->arena, str_of(p->name)));
        buf_add_char(&out, '=');
        buf_add_str(&out, str_escape(call->arena, buf_str(&p->data)));
        buf_add_char(&out, '&');
    }
    return buf_take(&out, call->arena);
}

static enum err refuse_content_type(struct call *call)
{
    static const char *const lists[] = {
        "'application/json'",
        "'application/json', 'multipart/form-data'",
        "'application/json', 'application/x-www-form-urlencoded'",
        "'application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'",
    };
    unsigned kinds = call->route->body_kinds;

    form_fail(&call->form, NULL, FORM_CONTENT_TYPE,
              lists[(kinds & BODY_FORM ? 2 : 0) + (kinds & (BODY_MULTIPART | BODY_PARTS) ? 1 : 0)]);
    return ERR_INVALID_FORM_BODY;
}

static enum err decode_body(struct call *call)
{
    const struct route *r = call->route;
    const struct exchange *x = call->exchange;
    struct str type = x->request->content_type, text = body_text(call);

    if (x->parts && r->body_kinds & BODY_PARTS)
        return schema_decode(r->body, parts_text(call), &call->form, (void **)&call->body);
    if (x->parts && r->body_kinds & BODY_MULTIPART && !text.n && r->body->schema)
        return decode_form(call, parts_form(call));
    if (x->parts && r->body_kinds & BODY_MULTIPART)
        return schema_decode(r->body, text, &call->form, (void **)&call->body);
    if (text.n && r->body_kinds & BODY_FORM &&
        http_media_type_is(type, STR("application/x-www-form-urlencoded")))
        return decode_form(call, text);
    if (x->parts || (text.n && !http_media_type_is(type, STR("application/json"))))
        return refuse_content_type(call);
    return schema_decode(r->body, text, &call->form, (void **)&call->body);
}

/* Decodes query and body. The error is stored in call->decoded, because an unknown or invisible
 * object of the path is reported before it. */
void decode_input(struct call *call)
{
    const struct route *r = call->route;

    if (r->query)
        call->decoded = schema_decode_query(r->query, call->exchange->request->query, &call->form,
                                            (void **)&call->query);
    if (r->body) {
        enum err e = decode_body(call);

        /* An error in the JSON syntax takes precedence over validation errors. */
        if (e && call->decoded != ERR_INVALID_JSON)
            call->decoded = e;
    }
}

bool input_is_long(const struct call *call)
{
    return call->route->body && body_text(call).n > LONG_INPUT;
}

enum err check_head(struct call_run *run)
{
    enum err e = check_limits(run);

    if (!e)
        e = check_address(&run->call);
    if (!e)
        e = check_kind(&run->call);
    return e ? e : parse_params(run);
}

enum err check_body(struct call_run *run)
{
    struct call *call = &run->call;
    enum err e = OK;

    /* If the path has no object that could be unknown or forbidden, report the error now. */
    if (call->decoded && run->match.count == 0 && !call->route->needs)
        return call->decoded;
    if (call->route->prepare && !call->decoded)
        e = call->route->prepare(call);
    return e;
}
