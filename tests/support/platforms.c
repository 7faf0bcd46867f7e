/* platforms.c - external platforms for tests: accounts, connections, integrations. */
#include "platforms.h"

#include <string.h>

#include "apps.h"
#include "integrations/integrations.h"
#include "internal.h"
#include "waits.h"

/* --- accounts ------------------------------------------------------------------------- */

static void run(struct world *w, enum err (*what)(struct tx *tx, void *arg), void *arg)
{
    enum err e = store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE,
                                                w->arena, what, arg);

    if (e)
        fail_test(__FILE__, __LINE__, "the store refuses: %s", error_info(e)->message);
}

static enum err save_account(struct tx *tx, void *arg)
{
    return upsert_local_platform_account(tx, arg);
}

void make_account(struct world *w, enum platform p, const char *id, const char *name)
{
    struct local_platform_account a = {
        .platform = p, .id = str_of(id), .name = str_of(name), .has_programme = { GIVEN, true }
    };

    run(w, save_account, &a);
}

void make_partner(struct world *w, const char *id, const char *name)
{
    struct local_platform_account a = { .platform = PLATFORM_A,
                                        .id = str_of(id),
                                        .name = str_of(name),
                                        .is_partner = { GIVEN, true } };

    run(w, save_account, &a);
}

static enum err save_subscription(struct tx *tx, void *arg)
{
    return upsert_local_platform_subscription(tx, arg);
}

static enum err end_subscription(struct tx *tx, void *arg)
{
    const struct local_platform_subscription *s = arg;

    return delete_local_platform_subscription(tx, s->platform, s->account_id, s->subscriber_id);
}

void subscribe(struct world *w, enum platform p, const char *account, const char *subscriber)
{
    run(w, save_subscription,
        &(struct local_platform_subscription){
            .platform = p, .account_id = str_of(account), .subscriber_id = str_of(subscriber) });
}

void unsubscribe(struct world *w, enum platform p, const char *account, const char *subscriber)
{
    run(w, end_subscription,
        &(struct local_platform_subscription){
            .platform = p, .account_id = str_of(account), .subscriber_id = str_of(subscriber) });
}

static enum err save_friends(struct tx *tx, void *arg)
{
    const struct local_platform_subscription *s = arg;

    return insert_local_platform_friendship(tx, s->platform, s->account_id, s->subscriber_id);
}

void acquaint(struct world *w, enum platform p, const char *one, const char *other)
{
    run(w, save_friends,
        &(struct local_platform_subscription){
            .platform = p, .account_id = str_of(one), .subscriber_id = str_of(other) });
}

struct code_wish {
    struct world *w;
    enum platform p;
    const char *account, *code;
};

static enum err make_code(struct tx *tx, void *arg)
{
    struct code_wish *wish = arg;
    struct str code;
    enum err e = create_local_platform_link_code(tx, guildhall_get_auth(wish->w->server), wish->p,
                                                 str_of(wish->account), &code);

    if (!e)
        wish->code = str_dup_cstring(wish->w->arena, code);
    return e;
}

const char *link_code(struct world *w, enum platform p, const char *account)
{
    struct code_wish wish = { w, p, account, NULL };

    run(w, make_code, &wish);
    return wish.code;
}

/* --- connections ---------------------------------------------------------------------- */

const char *link_state(struct client *c, const char *platform)
{
    struct answer a = client_get(c, "/connections/%s/authorize", platform);

    expect_status(a, 200);
    return strstr(answer_text(a, "url"), "state=") + 6;
}

void link_account(struct client *c, enum platform p, const char *account)
{
    const char *type = platform_get_database_name(p).p;
    const char *state = link_state(c, type), *code = link_code(c->world, p, account);

    expect_status(client_post(c, TEXT(c->world, "{'code': '%s', 'state': '%.32s'}", code, state),
                              "/connections/%s/callback", type),
                  200);
}

void link_new(struct client *c, enum platform p, const char *account)
{
    make_account(c->world, p, account, c->name);
    link_account(c, p, account);
}

/* --- integrations --------------------------------------------------------------------- */

void expect_number(struct world *w, int64_t number, const char *sql)
{
    expect_soon(store_count(w, sql) == number);
    world_settle(w); /* events follow shortly after the rows are visible */
}

const char *follow(struct client *c, const char *guild, enum platform p, const char *account)
{
    struct world *w = c->world;

    expect_status(
        client_post(c,
                    TEXT(w, "{'type': '%s', 'id': '%s'}", platform_get_database_name(p).p, account),
                    INTEGRATIONS, guild),
        204);
    const char *id =
        TEXT(w, "%lld",
             (long long)world_number(
                 w, "select id from integrations where guild_id = %s and account_id = '%s'", guild,
                 account));
    expect_number(w, 1,
                  TEXT(w,
                       "select count(*) from integrations where id = %s and syncing = 0 "
                       "and synced_at is not null",
                       id));
    discard_received(w);
    return id;
}

void sync_now(struct client *c, const char *guild, const char *integration)
{
    struct world *w = c->world;
    long long round =
        (long long)world_number(w, "select round from integrations where id = %s", integration);

    world_sql(w, "update integrations set asked_at = null where id = %s", integration);
    expect_status(client_post(c, NULL, INTEGRATIONS "/%s/sync", guild, integration), 204);
    expect_number(w, 1,
                  TEXT(w,
                       "select count(*) from integrations where id = %s and syncing = 0 "
                       "and round = %lld",
                       integration, round + 1));
}

bool has_role(const char *guild, struct client *c, const char *role)
{
    return world_number(c->world,
                        "select count(*) from member_roles where guild_id = %s and user_id = %s "
                        "and role_id = %s",
                        guild, c->id, role) == 1;
}

const char *role_of(struct world *w, const char *integration)
{
    return TEXT(
        w, "%lld",
        (long long)world_number(w, "select role_id from integrations where id = %s", integration));
}

bool is_member(const char *guild, struct client *c)
{
    return world_number(c->world,
                        "select count(*) from members where guild_id = %s and user_id = %s", guild,
                        c->id) == 1;
}
