/* people.c - test users of the workbench: list them, and get a token for one of them. */
#include "api/auth/auth.h"
#include "base/clock.h"
#include "admin/console/internal.h"

enum { MOST_PEOPLE = 12, TOKEN_S = 30 * 24 * 3600, BOT_TOKEN_S = 3600 };

static const struct limit limit_people = {
    .name = "console people", .count = 60, .window_s = 10, .by_address = true
};
static const struct type type_any = { .kind = KIND_RAW };

struct people_query {
    struct opt_bool bots;
};

static const struct type type_flag = { .kind = KIND_BOOL };
static const struct field people_query_fields[] = {
    { FIELD(struct people_query, bots), .type = &type_flag, .flags = OPTIONAL,
      .doc = "With as many bots behind them" },
    { 0 },
};
static const struct schema people_query_schema = { .name = "PeopleQuery",
                                                   .size = sizeof(struct people_query),
                                                   .fields = people_query_fields };

static const char LIST[] = "select username, global_name from users where bot = $1 and "
                           "disabled = 0 order by id limit $2";

static enum err write_people(struct call *call, struct json *j, bool bots)
{
    struct rows rows;
    enum err e = tx_query(call->tx, LIST, BIND(v_int(bots), v_int(MOST_PEOPLE)), &rows);

    while (!e && rows_next(&rows)) {
        json_object(j);
        json_name(j, "username");
        json_text(j, row_text(&rows, 0));
        json_name(j, "global_name");
        if (row_null(&rows, 1))
            json_null(j);
        else
            json_text(j, row_text(&rows, 1));
        json_name(j, "bot");
        json_bool(j, bots);
        json_object_end(j);
    }
    return e ? e : rows_end(&rows);
}

/* GET /console/people: lists the oldest accounts. */
static enum err list_console_people(struct call *call)
{
    const struct people_query *q = call->query;
    struct json j = call_reply_json(call);

    json_array(&j);
    enum err e = write_people(call, &j, false);
    if (!e && q->bots.given == GIVEN && q->bots.value)
        e = write_people(call, &j, true);
    json_array_end(&j);
    return e;
}

struct person_wanted {
    struct str username;
};

static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 32 };
static const struct field wanted_fields[] = {
    { FIELD(struct person_wanted, username), .type = &type_name },
    { 0 },
};
static const struct schema wanted_schema = { .name = "PersonWanted",
                                             .size = sizeof(struct person_wanted),
                                             .fields = wanted_fields };
static const struct type type_wanted = { .kind = KIND_OBJECT, .schema = &wanted_schema };

static const char FIND[] =
    "select u.id, u.bot, (select min(a.id) from applications a where a.bot_id = u.id) "
    "from users u where u.username = $1 and u.disabled = 0";

/* POST /console/people: issues a token for an account. */
static enum err enter_as_person(struct call *call)
{
    const struct person_wanted *in = call->body;
    struct rows row;
    struct str token;
    bool found;
    enum err e = tx_one(call->tx, FIND, BIND(v_text(in->username)), &row, &found);

    if (e || !found)
        return e ? e : ERR_UNKNOWN_USER;
    bool bot = row_bool(&row, 1);
    struct token_grant grant = {
        .user_id = row_id(&row, 0),
        .kind = bot ? CALLER_BOT : CALLER_USER,
        .application_id = bot ? row_id(&row, 2) : 0,
        .scopes = STR(""),
        .expires_at = clock_us() + (int64_t)(bot ? BOT_TOKEN_S : TOKEN_S) * 1000 * 1000,
        .client = STR("console"),
    };
    e = auth_issue(api_options(call->api)->auth, call->tx, &grant, &token);
    if (e)
        return e;
    struct json j = call_reply_json(call);
    json_object(&j);
    json_name(&j, "token");
    json_text(&j, token);
    json_name(&j, "bot");
    json_bool(&j, bot);
    json_object_end(&j);
    return OK;
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/people",
        .name = "list_console_people",
        .doc = "The first dozen people, for a page to choose from. Of servers with a workbench.",
        .service = true,
        .query = &people_query_schema,
        .reply = &type_any,
        .store = ROUTE_STORE_READ,
        .limit = &limit_people,
        .admit = console_admit_controls,
        .handle = list_console_people,
    },
    {
        .method = POST,
        .path = "/console/people",
        .name = "enter_as_person",
        .doc = "A token of one of them, good for a month, or for an hour where it is a bot's. Of "
               "servers with a workbench.",
        .service = true,
        .body = &type_wanted,
        .reply = &type_any,
        .store = ROUTE_STORE_WRITE,
        .limit = &limit_people,
        .admit = console_admit_controls,
        .handle = enter_as_person,
    },
    { 0 },
};

const struct domain console_people_domain = {
    .name = "Workbench: people",
    .doc = "For tests: coming in as one of the server's people. At the root, below /console.",
    .routes = routes,
};
