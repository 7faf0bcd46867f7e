/* link_page.c - HTML page on which a user proves ownership of an account of another platform. The
 * page displays the account on this server to which the platform account will be linked. So a user
 * notices if somebody else has started the link. */
#include "integrations/internal.h"

#include "model/fields/types.h"

struct link_query {
    struct opt_str state, code;
};
static const struct type type_code = { .kind = KIND_STRING, .max = 512 };
static const struct field link_fields[] = {
    { FIELD(struct link_query, state), .type = &type_code, .flags = OPTIONAL },
    { FIELD(struct link_query, code), .type = &type_code, .flags = OPTIONAL },
    { 0 },
};
static const struct schema link_query_schema = {
    .name = "ConnectionLink",
    .size = sizeof(struct link_query),
    .fields = link_fields,
    .doc = "The state of the link, and the platform's code.",
};
static const struct type link_body = { .kind = KIND_OBJECT, .schema = &link_query_schema };

static enum err reply_html_page(struct call *call, int status, struct buf *content)
{
    struct str page = STR_CONCAT(
        call->arena,
        STR("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\"><title>Connect an account"
            "</title><style>body{font:1.1em/1.5 system-ui,sans-serif;max-width:28em;margin:4em "
            "auto;padding:0 1em}input,button{font:inherit;padding:.4em;width:100%;margin:.4em "
            "0;box-sizing:border-box}</style></head><body><main>\n"),
        buf_move_to_arena(content, call->arena), STR("</main></body></html>\n"));

    call_set_status(call, status);
    call_add_header(call, "Cache-Control", STR("no-store"));
    call_add_header(call, "Referrer-Policy", STR("no-referrer"));
    call_add_header(call, "Content-Security-Policy",
                    STR("default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
                        "frame-ancestors 'none'"));
    return call_reply_with_text(call, STR("text/html; charset=utf-8"), page);
}

static enum err reply_html_message_page(struct call *call, int status, const char *title,
                                        const char *text)
{
    struct buf out;

    buf_init(&out, 4096);
    buf_printf(&out, "<h1>%s</h1><p>%s</p>\n", title, text);
    return reply_html_page(call, status, &out);
}

static enum err reply_link_form(struct call *call, const struct link_query *q,
                                const struct user *user)
{
    bool with_code = q->code.given == GIVEN && q->code.value.n;
    struct buf out;

    buf_init(&out, 64 * 1024);
    buf_add_lit(&out, "<h1>Connect an account</h1><p>Your account of this platform will belong to "
                      "<strong>");
    buf_add_html_escaped(&out, user->username);
    buf_add_lit(&out, "</strong>. If that is not you, close this page.</p><form method=\"post\">"
                      "<input type=\"hidden\" name=\"state\" value=\"");
    buf_add_html_escaped(&out, q->state.value);
    buf_add_lit(&out, "\"><label>");
    buf_add_str(&out, with_code ? STR("<input type=\"hidden\" name=\"code\" value=\"")
                                : STR("Link code <input name=\"code\" autocomplete=\"off\" "
                                      "required autofocus value=\""));
    if (with_code)
        buf_add_html_escaped(&out, q->code.value);
    buf_add_lit(&out, "\"></label><button>Connect</button></form>\n");
    return reply_html_page(call, 200, &out);
}

static enum err reply_link_expired(struct call *call)
{
    return reply_html_message_page(
        call, 400, "This link has expired",
        "A link is valid once, for ten minutes. Start again in your app.");
}

static enum err show_link_page(struct call *call)
{
    const struct link_query *q = call->query;
    struct account_link_request l = { .platform = get_platform_from_path(call),
                                      .state = q->state.value };
    snowflake user_id;
    struct user user;

    enum err e = read_user_of_oauth2_state(call, &l, &user_id);
    if (e == ERR_INVALID_OAUTH2_STATE)
        return reply_link_expired(call);
    if (!e)
        e = user_find(call->tx, user_id, &user);
    return e ? e : reply_link_form(call, q, &user);
}

/* Rate limit that makes it impracticable to guess link codes. */
static const struct rate_limit link_code_limit = {
    .name = "connection-code", .count = 10, .window_s = 60, .strict = true
};

/* Finds the user to whom the OAuth2 state was issued. If the state is invalid, the handler returns
 * the error, and no request is sent to the provider. */
static enum err read_user_of_link_request(struct call *call)
{
    struct account_link_request *l = call_get_stage_data(call, "account_link_request");
    enum err e = read_user_of_oauth2_state(call, l, &l->user_id);

    if (e == ERR_INVALID_OAUTH2_STATE) {
        call->await = NULL;
        return OK;
    }
    if (e)
        return e;
    return call_count_against_rate_limit(call, &link_code_limit,
                                         str_slice((const char *)&l->user_id, sizeof l->user_id));
}

static enum err prepare_link_connection(struct call *call)
{
    const struct link_query *in = call->body;
    struct account_link_request *l = call_store_stage_data(call, "account_link_request", sizeof *l);

    l->result = PROVIDER_NOT_FOUND;
    if (!in)
        return OK;
    l->platform = get_platform_from_path(call);
    l->code = in->code.value;
    l->state = in->state.value;
    if (l->platform == PLATFORM_NONE || !platform_is_enabled(l->platform) || !l->code.n)
        return OK;
    call->read = read_user_of_link_request;
    call->await = request_account_from_provider;
    return OK;
}

static enum err link_connection(struct call *call)
{
    struct account_link_request *l = call_get_stage_data(call, "account_link_request");
    struct linked_platform_account c;
    enum err e = complete_account_link(call, l, &c);

    switch (e) {
    case OK:
        return reply_html_message_page(call, 200, "Connected", "You can close this page.");
    case ERR_INVALID_OAUTH2_STATE:
        return reply_link_expired(call);
    case ERR_INVALID_CONNECTION:
        return reply_html_message_page(call, 400, "Unknown code",
                                       "It may have been used already. Go back and try again.");
    case ERR_MAX_CONNECTIONS:
        return reply_html_message_page(call, 400, "Too many connections",
                                       "An account has at most 50 connections.");
    case ERR_UNAVAILABLE:
        return reply_html_message_page(call, 503, "Try again later",
                                       "The platform does not respond.");
    default:
        return e;
    }
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/connections/{connection.type}/link",
        .name = "show_link_page",
        .doc = "The page on which a user connects an account of another platform.",
        .service = true,
        .query = &link_query_schema,
        .status = 200,
        .handle = show_link_page,
    },
    {
        .method = POST,
        .path = "/connections/{connection.type}/link",
        .name = "link_connection",
        .doc = "The form of the page that connects an account.",
        .service = true,
        .body = &link_body,
        .body_kinds = BODY_FORM,
        .status = 200,
        .fires = (const enum event[]){ LINK_EVENTS, EVENT_NONE },
        .prepare = prepare_link_connection,
        .handle = link_connection,
    },
    { 0 },
};

const struct domain connection_pages_domain = {
    .name = "Connection pages",
    .doc = "Pages on which users prove ownership of an account of another platform.",
    .routes = routes,
};
