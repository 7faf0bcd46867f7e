/* people.c - the people of a server for tests, and coming in as one of them by a click. */
#include "api/auth.h"
#include "base/clock.h"
#include "workbench/internal.h"

enum { MOST_PEOPLE = 12, TOKEN_S = 30 * 24 * 3600 };

static const struct limit limit_people = {
    .name = "console people", .count = 60, .window_s = 10, .by_address = true
};
static const struct type type_any = { .kind = KIND_RAW };

static const char LIST[] = "select username, global_name from users where bot = 0 and "
                           "disabled = 0 order by id limit $1";

/* GET /console/people: those who were here first. */
static enum err list_console_people(struct call *call)
{
    struct rows rows;
    enum err e = tx_query(call->tx, LIST, BIND(v_int(MOST_PEOPLE)), &rows);

    if (e)
        return e;
    struct json j = call_reply_json(call);
    json_array(&j);
    while (rows_next(&rows)) {
        json_object(&j);
        json_name(&j, "username");
        json_text(&j, row_text(&rows, 0));
        json_name(&j, "global_name");
        if (row_null(&rows, 1))
            json_null(&j);
        else
            json_text(&j, row_text(&rows, 1));
        json_object_end(&j);
    }
    json_array_end(&j);
    return rows_end(&rows);
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

static const char FIND[] = "select id from users where username = $1 and bot = 0 and disabled = 0";

/* POST /console/people: a token of somebody. */
static enum err enter_as_person(struct call *call)
{
    const struct person_wanted *in = call->body;
    struct rows row;
    struct str token;
    bool found;
    enum err e = tx_one(call->tx, FIND, BIND(v_text(in->username)), &row, &found);

    if (e || !found)
        return e ? e : ERR_UNKNOWN_USER;
    struct token_grant grant = {
        .user_id = row_id(&row, 0),
        .kind = CALLER_USER,
        .scopes = STR(""),
        .expires_at = clock_us() + (int64_t)TOKEN_S * 1000 * 1000,
        .client = STR("console"),
    };
    e = auth_issue(api_options(call->api)->auth, call->tx, &grant, &token);
    if (e)
        return e;
    struct json j = call_reply_json(call);
    json_object(&j);
    json_name(&j, "token");
    json_text(&j, token);
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
        .doc = "A token of one of them, good for a month. Of servers with a workbench.",
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
