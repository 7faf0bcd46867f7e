/* sessions.c - who is connected, and what is done to them. */
#include "base/map.h"
#include "base/mem.h"
#include "admin/console/internal.h"

static const struct type type_any = { .kind = KIND_RAW };
struct session_census {
    struct str lines;
};

/* On the pool: every loop is asked. */
static enum err gather_sessions(struct call *call)
{
    struct session_census *l = call_passed(call, "session_census");
    struct buf lines;

    buf_init(&lines, CALL_MAX_REPLY / 2);
    gateway_census(api_options(call->api)->gateway, &lines);
    l->lines = buf_take(&lines, call->arena);
    return OK;
}

static enum err prepare_sessions(struct call *call)
{
    enum err e = console_admit(call);

    if (e)
        return e;
    call_pass(call, "session_census", sizeof(struct session_census));
    call->compute = gather_sessions;
    return OK;
}

/* {"user_id":"123",…: the account of a line of the census. */
static bool account_of_line(struct str line, snowflake *ret)
{
    struct str rest = str_from(line, sizeof "{\"user_id\":\"" - 1);

    return snowflake_parse(str_cut(&rest, '"'), ret);
}

static enum err write_account(struct call *call, struct buf *names, snowflake id)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(call->tx, "select username from users where id = $1", BIND(v_id(id)), &row, &found);

    if (e || !found)
        return e;
    struct json j = json_to(names);
    j.comma = names->n > 0;
    json_key(&j, str_printf(call->arena, "%llu", (unsigned long long)id));
    json_text(&j, row_text(&row, 0));
    return OK;
}

static enum err write_accounts(struct call *call, struct str lines, struct buf *names)
{
    struct map seen;
    enum err e = OK;

    map_init(&seen);
    while (lines.n && !e) {
        snowflake id;
        struct str line = str_cut(&lines, '\n');

        if (account_of_line(line, &id) && !map_put(&seen, id, names))
            e = write_account(call, names, id);
    }
    map_clear(&seen);
    return e;
}

static const char VOICE_NOW[] =
    "select user_id, guild_id, channel_id, session_id, live from voice_states order by user_id "
    "limit 1000";

static enum err write_voices(struct call *call, struct json *j)
{
    struct rows r;
    enum err e = tx_query(call->tx, VOICE_NOW, NO_BIND, &r);

    json_array(j);
    while (!e && rows_next(&r)) {
        json_object(j);
        json_name(j, "user_id");
        json_id(j, row_id(&r, 0));
        json_name(j, "guild_id");
        json_id(j, row_id(&r, 1));
        json_name(j, "channel_id");
        json_id(j, row_id(&r, 2));
        json_name(j, "session_id");
        json_text(j, row_text(&r, 3));
        json_name(j, "connected");
        json_bool(j, row_bool(&r, 4));
        json_object_end(j);
    }
    json_array_end(j);
    return e ? e : rows_end(&r);
}

/* GET /console/sessions: who is connected, and who is in voice. */
static enum err list_console_sessions(struct call *call)
{
    const struct session_census *l = call_passed(call, "session_census");
    struct buf names;
    struct json j = call_reply_json(call);

    buf_init(&names, CALL_MAX_REPLY / 2);
    enum err e = write_accounts(call, l->lines, &names);
    json_object(&j);
    json_name(&j, "users");
    json_raw(&j, STR_CONCAT(call->arena, STR("{"), buf_str(&names), STR("}")));
    json_name(&j, "sessions");
    json_array(&j);
    for (struct str rest = l->lines; rest.n;)
        json_raw(&j, str_cut(&rest, '\n'));
    json_array_end(&j);
    json_name(&j, "voice");
    if (!e)
        e = write_voices(call, &j);
    json_object_end(&j);
    if (!e && buf_full(&names))
        e = ERR_ANSWER_TOO_LARGE;
    buf_clear(&names);
    return e;
}

struct session_push {
    struct str action;
    struct opt_int code;
};

static const struct type type_action = { .kind = KIND_STRING, .max = 20 };
static const struct type type_close_code = { .kind = KIND_INT, .min = 1000, .max = 4999 };
static const struct field push_fields[] = {
    { FIELD(struct session_push, action), .type = &type_action,
      .doc = "reconnect (op 7), invalidate (op 9), resumable (op 9, true), close" },
    { FIELD(struct session_push, code), .type = &type_close_code, .flags = OPTIONAL,
      .doc = "Of a close; 4000 without it, after which clients resume" },
    { 0 },
};
static const struct schema push_schema = { .name = "SessionPush",
                                           .size = sizeof(struct session_push),
                                           .fields = push_fields };
static const struct type type_push = { .kind = KIND_OBJECT, .schema = &push_schema };

/* 1005, 1006 and the like cannot be sent. */
static bool can_be_sent(int64_t code)
{
    return code >= 3000 || (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
}

static enum err push_named(struct call *call, enum gateway_push what, int code)
{
    struct gateway *g = api_options(call->api)->gateway;
    struct str who = call_text(call, "console.session");
    struct rows row;
    bool found;

    if (gateway_push(g, who, what, code))
        return OK;
    enum err e = tx_one(call->tx, "select id from users where username = $1", BIND(v_text(who)),
                        &row, &found);
    if (!e && (!found || !gateway_push_account(g, row_id(&row, 0), what, code)))
        e = ERR_NOT_FOUND;
    return e;
}

/* POST /console/sessions/{console.session}: something happens to it. */
static enum err push_session(struct call *call)
{
    static const char *const actions[] = {
        [GATEWAY_PUSH_RECONNECT] = "reconnect",
        [GATEWAY_PUSH_INVALIDATE] = "invalidate",
        [GATEWAY_PUSH_RESUMABLE] = "resumable",
        [GATEWAY_PUSH_CLOSE] = "close",
    };
    const struct session_push *in = call->body;
    int64_t code = in->code.given ? in->code.value : 4000;
    int what = 0;

    while (what < (int)COUNT_OF(actions) && !str_is(in->action, actions[what]))
        what++;
    if (what == (int)COUNT_OF(actions))
        return call_invalid(call, "action", FORM_CHOICES,
                            "Must be one of reconnect, invalidate, resumable, close.");
    if (!can_be_sent(code))
        return call_invalid(call, "code", FORM_CHOICES, "No endpoint may send this code.");
    return push_named(call, (enum gateway_push)what, (int)code);
}

static const struct resolver resolvers[] = {
    { .name = "console.session",
      .field = "session_id",
      .is_text = true,
      .doc = "A session's id, as READY gave it, or an account's name: all of its sessions." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/sessions",
        .name = "list_console_sessions",
        .doc = "Sessions of the gateway, names of their accounts, and who is in voice.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_READ,
        .limit = &limit_console,
        .prepare = prepare_sessions,
        .admit = console_admit,
        .handle = list_console_sessions,
    },
    {
        .method = POST,
        .path = "/console/sessions/{console.session}",
        .name = "push_session",
        .doc = "Asks a client to come back, ends its session, or closes its socket.",
        .service = true,
        .body = &type_push,
        .status = 204,
        .store = ROUTE_STORE_READ,
        .limit = &limit_console,
        .admit = console_admit,
        .handle = push_session,
    },
    { 0 },
};

const struct domain console_sessions_domain = {
    .name = "Workbench: sessions",
    .doc = "For the operator: who is connected. At the root, below /console.",
    .routes = routes,
    .resolvers = resolvers,
};
