/* people.c - users and their relationships for tests. */
#include "people.h"

#include <stdlib.h>

#include "apps.h"
#include "base/clock.h"
#include "gateway_conn.h"
#include "internal.h"
#include "test_sql.h"

enum { TWO_DAYS = 2 * 24 * 3600 };

struct people world_people(struct world *w)
{
    struct people p = { world_client(w, "ada"), world_client(w, "bob"), world_client(w, "eve") };

    world_wait(w, TWO_DAYS);
    return p;
}

/* --- the store ------------------------------------------------------------------------ */

struct write {
    const char *sql;
    const struct value *values;
    size_t count;
};

static enum err run_write(struct tx *tx, void *arg)
{
    const struct write *write = arg;

    return tx_exec(tx, test_sql(write->sql), write->values, write->count, NULL);
}

void store_write(struct world *w, const char *sql, const struct value *values, size_t count)
{
    struct write write = { sql, values, count };

    expect(store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE, w->arena,
                                          run_write, &write) == OK);
}

struct value v_client(const struct client *c)
{
    return v_id(id_of(c->id));
}

/* --- through the API ------------------------------------------------------------------ */

static void put(struct client *a, const struct client *b, const char *json)
{
    expect_status(client_put(a, json, RELATIONSHIPS "/%s", b->id), 204);
    discard_received(a->world);
}

void ask_friend(struct client *a, struct client *b)
{
    put(a, b, "{}");
}

void ask_and_accept(struct client *a, struct client *b)
{
    put(a, b, "{}");
    put(b, a, "{'confirm_stranger_request': true}");
}

void block_user(struct client *a, struct client *b)
{
    put(a, b, "{'type': 2}");
}

void ignore_them(struct client *a, struct client *b)
{
    expect_status(client_put(a, NULL, RELATIONSHIPS "/%s/ignore", b->id), 204);
    discard_received(a->world);
}

struct client *introduce(struct client *a, struct client *b)
{
    struct client *c = world_client(a->world, TEXT(a->world, "friend_%s_%s", a->name, b->name));

    befriend(a, c);
    befriend(b, c);
    discard_received(a->world);
    return c;
}

int64_t type_of(struct client *a, const struct client *b)
{
    struct answer list = client_get(a, RELATIONSHIPS);

    expect_status(list, 200);
    for (size_t i = 0; i < list.json->count; i++)
        if (str_is(dom_at(&list.json->items[i], "id")->text, b->id))
            return strtoll(dom_at(&list.json->items[i], "type")->text.p, NULL, 10);
    return -1;
}

void expect_unnoticed(struct client *c, const struct client *from, const char *more)
{
    const struct dom *d =
        expect_dispatch(c->gate, "RELATIONSHIP_ADD", "{'id': '%s', 'type': 3, %s}", from->id, more);

    expect(!dom_at(d, "should_notify"));
}

void buckets_only(struct config *config)
{
    config->rate_limits = true;
    config->rate_limit_global = config->rate_limit_anonymous = 1000000;
}

/* --- applications --------------------------------------------------------------------- */

void grant_application(const struct client *c, const char *application)
{
    store_write(
        c->world,
        "insert into authorizations (id, user_id, application_id, scopes, created_at) "
        "values ($1, $2, $3, 'identify', $4)",
        BIND(v_id(snowflake_new()), v_client(c), v_id(id_of(application)), v_int(clock_us())));
}

void revoke_application(const struct client *c, const char *application)
{
    store_write(c->world, "delete from authorizations where user_id = $1 and application_id = $2",
                BIND(v_client(c), v_id(id_of(application))));
}

struct client *application_for(struct client *c, const char *application, const char *scopes)
{
    struct client *app = world_token(c->world, c, CALLER_BEARER, scopes, 0);

    store_write(c->world,
                "update tokens set application_id = $2 where user_id = $1 and kind = 3 and "
                "application_id is null",
                BIND(v_client(c), v_id(id_of(application))));
    return app;
}
