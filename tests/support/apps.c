/* apps.c - applications for tests. */
#include "apps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"
#include "test_sql.h"

const char *make_application(struct client *owner, const char *name)
{
    struct answer a =
        client_post(owner, TEXT(owner->world, "{'name': '%s'}", name), "/applications");

    expect_status(a, 201);
    return answer_text(a, "id");
}

struct client *application_bot(struct client *owner, const char *application)
{
    struct answer a = client_post(owner, NULL, "/applications/%s/bot/reset", application);

    expect_status(a, 200);
    struct client *bot =
        world_client_with(owner->world, TEXT(owner->world, "Bot %s", answer_text(a, "token")));
    snprintf(bot->id, sizeof bot->id, "%s", application);
    return bot;
}

const char *application_secret(struct client *owner, const char *application)
{
    struct answer a = client_post(owner, NULL, "/applications/%s/reset", application);

    expect_status(a, 200);
    return answer_text(a, "secret");
}

/* --- accounts ------------------------------------------------------------------------- */

static const char ADD_FRIEND[] =
    "insert into relationships (user_id, target_id, type) values ($1, $2, 1)";

static enum err add_friends(struct tx *tx, void *arg)
{
    struct client **both = arg;
    snowflake a = strtoull(both[0]->id, NULL, 10), b = strtoull(both[1]->id, NULL, 10);
    enum err e = tx_exec(tx, ADD_FRIEND, BIND(v_id(a), v_id(b)), NULL);

    return e ? e : tx_exec(tx, ADD_FRIEND, BIND(v_id(b), v_id(a)), NULL);
}

void befriend(struct client *a, struct client *b)
{
    struct client *both[] = { a, b };
    struct world *w = a->world;

    expect(store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE, w->arena,
                                          add_friends, both) == OK);
}

const char *make_team(struct client *owner, const char *name)
{
    struct answer a = client_post(owner, TEXT(owner->world, "{'name': '%s'}", name), "/teams");

    expect_status(a, 200);
    return answer_text(a, "id");
}

void join_team(struct client *owner, const char *team, struct client *c, const char *role)
{
    struct world *w = owner->world;

    befriend(owner, c);
    struct answer a = client_post(owner, TEXT(w, "{'username': '%s', 'role': '%s'}", c->name, role),
                                  "/teams/%s/members", team);
    expect_status(a, 200);
    a = client_post(c, TEXT(w, "{'token': '%s'}", answer_text(a, "invite_token")),
                    "/teams/invite/accept");
    expect_status(a, 200);
}

/* --- calls ---------------------------------------------------------------------------- */

struct answer client_form(struct client *c, const char *path, const char *form, ...)
{
    char body[4096];
    va_list args;

    va_start(args, form);
    vsnprintf(body, sizeof body, form, args);
    va_end(args);
    return client_request(c, "POST", TEXT(c->world, "/api/v10%s", path),
                          "Content-Type: application/x-www-form-urlencoded\r\n", str_of(body));
}

struct question {
    const char *sql;
    int64_t answer;
};

static enum err read_number(struct tx *tx, void *arg)
{
    struct question *q = arg;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, test_sql(q->sql), NO_BIND, &row, &found);

    if (!e)
        q->answer = found ? row_int(&row, 0) : 0;
    return e;
}

int64_t store_count(struct world *w, const char *sql)
{
    struct question q = { .sql = sql };

    expect(store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_READ, w->arena,
                                          read_number, &q) == OK);
    return q.answer;
}
