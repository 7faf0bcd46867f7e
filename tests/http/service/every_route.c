/* every_route.c - checks of every route by its row. */
#include "http/walk.h"

#include <stdio.h>
#include <string.h>

/* --- callers -------------------------------------------------------------------------- */

static void expect_route_refuses(const struct route *r, struct client *c, int status, int code)
{
    expect_error(route_call(c, r, route_url(c->world, r, "1"), NULL), status, code);
}

static void check_route_refuses_unauthenticated_caller(struct world *w, const struct route *r)
{
    if (route_is_open(r) && !(r->auth & AUTH_GOOD))
        return;
    if (!route_is_open(r))
        expect_route_refuses(r, world_anonymous(w), 401, 0);
    expect_route_refuses(r, world_client_with(w, "nonsense"), 401, 0);
    expect_route_refuses(r, world_client_with(w, "Bot a.b.c"), 401, 0);
}

static void every_route_refuses_unauthenticated_callers(struct world *w)
{
    each_route(w, check_route_refuses_unauthenticated_caller);
}

/* Callers with revoked or expired tokens. */
static struct client *former[6];

static void check_route_refuses_revoked_tokens(struct world *w, const struct route *r)
{
    (void)w;
    for (size_t i = 0; i < sizeof former / sizeof *former; i++) {
        if (!route_is_open(r) || r->auth & AUTH_GOOD)
            expect_route_refuses(r, former[i], 401, 0);
        else if (r->method == HTTP_GET && !(r->service && r->admit))
            expect(route_call(former[i], r, route_url(w, r, "1"), NULL).status != 401);
    }
}

static enum err revoke_client_token(struct tx *tx, void *arg)
{
    struct parsed_credential c;
    const struct client *client = arg;
    struct str token;
    enum caller_kind kind = parse_credential_kind(str_of(client->authorization), &token);

    expect(parse_credential_token(kind, token, &c));
    return auth_delete_token(tx, c.session);
}

static void every_route_refuses_revoked_and_expired_tokens(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "helper");
    struct store *store = guildhall_get_store(world_server(w));

    for (int kind = 0; kind < 3; kind++) {
        const struct client *owner = kind == 1 ? bot : ada;

        former[kind] = world_token(w, owner, (enum caller_kind)(CALLER_USER + kind), "voice", 0);
        former[kind + 3] =
            world_token(w, owner, (enum caller_kind)(CALLER_USER + kind), "voice", 5);
        expect(store_run_transaction_and_wait(store, STORE_WRITE, world_arena(w),
                                              revoke_client_token, former[kind]) == OK);
    }
    expect_status(client_get(former[3], "/users/@me"), 200);
    expect_status(client_get(former[4], "/users/@me"), 200);
    world_wait(w, 6);
    each_route(w, check_route_refuses_revoked_tokens);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect_status(client_get(bot, "/users/@me"), 200);
}

static struct client *person, *machine, *app;

static void check_route_refuses_wrong_account_types(struct world *w, const struct route *r)
{
    (void)w;
    if (route_is_open(r))
        return;
    if (!(r->auth & AUTH_USER) && r->auth & AUTH_BOT)
        expect_route_refuses(r, person, 403, 20002);
    if (!(r->auth & AUTH_BOT) && r->auth & AUTH_USER)
        expect_route_refuses(r, machine, 403, 20001);
    if (r->auth & AUTH_BEARER && r->scope)
        expect_route_refuses(r, app, 403, 50026);
    else if (!(r->auth & AUTH_BEARER))
        expect_route_refuses(r, app, 401, 0);
}

static void every_route_refuses_callers_of_the_wrong_type(struct world *w)
{
    person = world_client(w, "ada");
    machine = world_bot(w, "helper");
    app = world_token(w, person, CALLER_BEARER, "email", 0);
    each_route(w, check_route_refuses_wrong_account_types);
}

/* --- bodies --------------------------------------------------------------------------- */

/* Path parameters are checked first; if the object is unknown, the body is not checked. */
static bool path_was_refused(const struct route *r, struct answer a)
{
    bool no_key = a.json && dom_at(a.json, "errors.stream_key");

    if (r->service && r->admit && a.status == 401)
        return true;
    return !route_is_plain(r) && (a.status == 403 || a.status == 404 || no_key);
}

static struct answer call_with_body(const struct route *r, struct client *c, const char *type,
                                    struct str body)
{
    char header[100];

    snprintf(header, sizeof header, "Content-Type: %s\r\n", type);
    return client_request(c, http_method_name(r->method), route_url(c->world, r, c->id), header,
                          body);
}

static void check_route_reports_malformed_bodies(struct world *w, const struct route *r)
{
    static const char *const broken[] = { "{",    "{\"a\":}", "nonsense",
                                          "{}{}", "{'a': 1}", "{\"a\":\"\xff\"}" };
    static const char *const others[] = { "[]", "1", "null", "\"text\"", "true" };

    if (!r->body || r->body->kind != KIND_OBJECT)
        return;
    struct client *c = route_caller(w, r);
    struct answer a = call_with_body(r, c, "application/json", str_of(broken[0]));
    if (path_was_refused(r, a))
        return;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        expect_error(call_with_body(r, c, "application/json", str_of(broken[i])), 400, 50109);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_invalid(call_with_body(r, c, "application/json", str_of(others[i])), "",
                       "MODEL_TYPE_CONVERT");
    expect_invalid(call_with_body(r, c, "text/plain", STR("{}")), "", "CONTENT_TYPE_INVALID");
    expect_invalid(call_with_body(r, c, "application/jsonp", STR("{}")), "",
                   "CONTENT_TYPE_INVALID");
    if (!(r->body_kinds & BODY_FORM))
        expect_invalid(call_with_body(r, c, "application/x-www-form-urlencoded", STR("a=b")), "",
                       "CONTENT_TYPE_INVALID");
    a = call_with_body(r, c, "Application/JSON; charset=utf-8", STR("{"));
    expect_error(a, 400, 50109);
}

static void every_route_reports_malformed_json_from_invalid_fields(struct world *w)
{
    each_route(w, check_route_reports_malformed_bodies);
}

static void check_route_names_missing_required_fields(struct world *w, const struct route *r)
{
    if (!r->body || r->body->kind != KIND_OBJECT)
        return;
    struct client *c = route_caller(w, r);
    for (const struct field *f = r->body->schema->fields; f->name.p; f++) {
        if (f->flags & OPTIONAL)
            continue;
        struct answer a = call_with_body(r, c, "application/json", STR("{}"));

        if (path_was_refused(r, a))
            return;
        const char *name = str_dup_cstring(world_arena(w), f->name);
        expect_invalid(a, name, "BASE_TYPE_REQUIRED");
        /* An empty body is treated as {}. */
        expect_invalid(call_with_body(r, c, "application/json", STR("")), name,
                       "BASE_TYPE_REQUIRED");
        if (f->flags & NULLABLE)
            continue;
        struct str null = str_printf(world_arena(w), "{\"%s\": null}", name);
        expect_invalid(call_with_body(r, c, "application/json", null), name, "BASE_TYPE_REQUIRED");
    }
}

static void every_route_names_missing_required_fields(struct world *w)
{
    each_route(w, check_route_names_missing_required_fields);
}

/* --- paths ---------------------------------------------------------------------------- */

static void check_route_names_invalid_path_ids(struct world *w, const struct route *r)
{
    const char *field, *url;
    struct client *c = route_caller(w, r);

    for (size_t i = 0; (url = route_url_with_bad(w, r, "1", i, &field)); i++)
        expect_invalid(route_call(c, r, url, NULL), field, "NUMBER_TYPE_COERCE");
}

static void every_route_names_invalid_ids_in_its_path(struct world *w)
{
    each_route(w, check_route_names_invalid_path_ids);
}

/* --- effects -------------------------------------------------------------------------- */

static bool is_event_listed(const struct route *r, enum event event)
{
    for (const enum event *e = r->fires; e && *e; e++)
        if (*e == event)
            return true;
    return false;
}

/* A response can be decoded with the row's reply type. */
static void check_response_has_declared_status_and_events(const struct route *r, struct answer a)
{
    struct form form = { .arena = world_arena(a.client->world) };
    void *value;

    if (a.status >= 300)
        return;
    if (r->reply && schema_decode(r->reply, a.body, &form, &value)) {
        struct buf problems;
        struct json_writer j = json_writer_to_buf(&problems);

        buf_init(&problems, 65536);
        write_form_errors_json(&form, &j);
        fail_test(__FILE__, __LINE__, "%s answered %.*s: %.*s", a.call, STR_ARGS(a.body),
                  STR_ARGS(buf_as_str(&problems)));
    }
    if (!r->reply && !r->service)
        expect_status(a, route_get_success_status(r));
}

static size_t event_cursor;

static void check_route_accepts_smallest_valid_body(struct world *w, const struct route *r)
{
    struct client *c = route_caller(w, r);
    const char *id = *c->id ? c->id : "1";
    const char *body = r->body ? least_body(world_arena(w), r->body).p : NULL;
    struct answer a = route_call(c, r, route_url(w, r, id), body);
    enum event event;

    if (a.status >= 500 || (a.status == 401 && !route_is_open(r)) || a.status == 405 ||
        a.status == 429)
        fail_test(__FILE__, __LINE__, "%s answered %d", a.call, a.status);
    check_response_has_declared_status_and_events(r, a);
    for (; (event = world_event(w, event_cursor)); event_cursor++)
        if (!is_event_listed(r, event))
            fail_test(__FILE__, __LINE__, "%s fires %s, which its row does not list", a.call,
                      get_name_of_event_type(event));
}

static void every_route_sends_the_status_and_events_its_row_declares(struct world *w)
{
    event_cursor = 0;
    each_route(w, check_route_accepts_smallest_valid_body);
}

const struct test every_route_tests[] = {
    TEST(every_route_refuses_unauthenticated_callers),
    TEST(every_route_refuses_revoked_and_expired_tokens),
    TEST(every_route_refuses_callers_of_the_wrong_type),
    TEST(every_route_reports_malformed_json_from_invalid_fields),
    TEST(every_route_names_missing_required_fields),
    TEST(every_route_names_invalid_ids_in_its_path),
    TEST(every_route_sends_the_status_and_events_its_row_declares),
    { 0 },
};
