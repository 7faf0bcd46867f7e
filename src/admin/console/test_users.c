/* test_users.c - test users of the workbench: list them, and get a token for one of them. */
#include "api/auth/auth.h"
#include "base/clock.h"
#include "admin/console/internal.h"

enum { TEST_USERS_MAX = 12, USER_TOKEN_S = 30 * 24 * 3600, BOT_TOKEN_S = 3600 };

static const struct rate_limit limit_test_users = {
    .name = "console people", .count = 60, .window_s = 10, .by_address = true
};
static const struct type type_any = { .kind = KIND_RAW };

struct test_users_query {
    struct opt_bool bots;
};

static const struct type type_flag = { .kind = KIND_BOOL };
static const struct field test_users_query_fields[] = {
    { FIELD(struct test_users_query, bots), .type = &type_flag, .flags = OPTIONAL,
      .doc = "Whether to append up to twelve bots" },
    { 0 },
};
static const struct schema test_users_query_schema = { .name = "PeopleQuery",
                                                       .size = sizeof(struct test_users_query),
                                                       .fields = test_users_query_fields };

static const char SELECT_TEST_USERS[] =
    "select username, global_name from users where bot = $1 and "
    "disabled = 0 order by id limit $2";

static enum err write_test_users_json(struct call *call, struct json_writer *j, bool bots)
{
    struct rows rows;
    enum err e =
        tx_query(call->tx, SELECT_TEST_USERS, BIND(v_int(bots), v_int(TEST_USERS_MAX)), &rows);

    while (!e && rows_next(&rows)) {
        json_begin_object(j);
        json_write_name(j, "username");
        json_write_text(j, row_text(&rows, 0));
        json_write_name(j, "global_name");
        if (row_column_is_null(&rows, 1))
            json_write_null(j);
        else
            json_write_text(j, row_text(&rows, 1));
        json_write_name(j, "bot");
        json_write_bool(j, bots);
        json_end_object(j);
    }
    return e ? e : rows_end(&rows);
}

/* GET /console/people: lists the oldest accounts. */
static enum err list_test_users(struct call *call)
{
    const struct test_users_query *q = call->query;
    struct json_writer j = call_get_reply_json_writer(call);

    json_begin_array(&j);
    enum err e = write_test_users_json(call, &j, false);
    if (!e && q->bots.given == GIVEN && q->bots.value)
        e = write_test_users_json(call, &j, true);
    json_end_array(&j);
    return e;
}

struct test_user_request {
    struct str username;
};

static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 32 };
static const struct field test_user_request_fields[] = {
    { FIELD(struct test_user_request, username), .type = &type_name },
    { 0 },
};
static const struct schema test_user_request_schema = { .name = "PersonWanted",
                                                        .size = sizeof(struct test_user_request),
                                                        .fields = test_user_request_fields };
static const struct type type_test_user_request = { .kind = KIND_OBJECT,
                                                    .schema = &test_user_request_schema };

static const char SELECT_USER_BY_NAME[] =
    "select u.id, u.bot, (select min(a.id) from applications a where a.bot_id = u.id) "
    "from users u where u.username = $1 and u.disabled = 0";

/* POST /console/people: issues a token for an account. */
static enum err issue_test_user_token(struct call *call)
{
    const struct test_user_request *in = call->body;
    struct rows row;
    struct str token;
    enum err e = tx_one_or(call->tx, SELECT_USER_BY_NAME, BIND(v_text(in->username)),
                           ERR_UNKNOWN_USER, &row);

    if (e)
        return e;
    bool bot = row_bool(&row, 1);
    struct token_to_issue grant = {
        .user_id = row_id(&row, 0),
        .kind = bot ? CALLER_BOT : CALLER_USER,
        .application_id = bot ? row_id(&row, 2) : 0,
        .scopes = STR(""),
        .expires_at = clock_us() + (int64_t)(bot ? BOT_TOKEN_S : USER_TOKEN_S) * 1000 * 1000,
        .client = STR("console"),
    };
    e = auth_issue_token(api_get_options(call->api)->auth, call->tx, &grant, &token);
    if (e)
        return e;
    struct json_writer j = call_get_reply_json_writer(call);
    json_begin_object(&j);
    json_write_name(&j, "token");
    json_write_text(&j, token);
    json_write_name(&j, "bot");
    json_write_bool(&j, bot);
    json_end_object(&j);
    return OK;
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/people",
        .name = "list_console_people",
        .doc = "Lists the first twelve users, for a login page. Only on servers with a workbench.",
        .service = true,
        .query = &test_users_query_schema,
        .reply = &type_any,
        .store = ROUTE_STORE_READ,
        .limit = &limit_test_users,
        .admit = check_console_controls_permission,
        .handle = list_test_users,
    },
    {
        .method = POST,
        .path = "/console/people",
        .name = "enter_as_person",
        .doc = "Returns a token of a user (valid for a month) or of a bot (valid for an hour). "
               "Only on servers with a workbench.",
        .service = true,
        .body = &type_test_user_request,
        .reply = &type_any,
        .store = ROUTE_STORE_WRITE,
        .limit = &limit_test_users,
        .admit = check_console_controls_permission,
        .handle = issue_test_user_token,
    },
    { 0 },
};

const struct domain console_test_users_domain = {
    .name = "Workbench: people",
    .doc = "For tests: log in as any user. Paths begin with /console, not with /api.",
    .routes = routes,
};
