/* provider_local.c - local platforms: their accounts are in our database. */
#include "integrations/internal.h"

#include <sodium.h>
#include <string.h>

#include "api/jobs/errand.h"
#include "base/clock.h"
#include "base/mem.h"

enum { CODE_BYTES = 10, CODE_DAYS = 1 };

/* --- writes by tools ------------------------------------------------------------------ */

static const char SAVE_ACCOUNT[] =
    "insert into platform_account (type, id, name, has_programme, is_partner) "
    "values ($1, $2, $3, coalesce(cast($4 as bigint), 0), coalesce(cast($5 as bigint), 0)) "
    "on conflict (type, id) do update set "
    "name = excluded.name, has_programme = coalesce(cast($4 as bigint), platform_account.has_programme), "
    "is_partner = coalesce(cast($5 as bigint), platform_account.is_partner)";
static const char FIND_ACCOUNT[] = "select name, has_programme, is_partner from platform_account "
                                   "where type = $1 and id = $2";

static struct value v_maybe(struct opt_bool b)
{
    return b.given == GIVEN ? v_int(b.value) : v_null();
}

enum err local_account_save(struct tx *tx, const struct local_account *a)
{
    return tx_exec(tx, SAVE_ACCOUNT,
                   BIND(v_text(platform_name(a->platform)), v_text(a->id), v_text(a->name),
                        v_maybe(a->has_programme), v_maybe(a->is_partner)),
                   NULL);
}

static enum err must_exist(struct tx *tx, enum platform p, struct str id)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_ACCOUNT, BIND(v_text(platform_name(p)), v_text(id)), &row, &found);

    return e || found ? e : ERR_NOT_FOUND;
}

static const char SAVE_SUBSCRIPTION[] =
    "insert into platform_subscription (type, account_id, subscriber_id, name, tier, since, until) "
    "values ($1, $2, $3, $4, $5, $6, $7) on conflict (type, account_id, subscriber_id) do update "
    "set name = excluded.name, tier = excluded.tier, since = excluded.since, "
    "until = excluded.until";
static const char END_SUBSCRIPTION[] =
    "delete from platform_subscription where type = $1 and account_id = $2 "
    "and subscriber_id = $3";

enum err local_subscription_save(struct tx *tx, const struct local_subscription *s)
{
    enum err e = must_exist(tx, s->platform, s->account_id);

    if (e)
        return e;
    return tx_exec(
        tx, SAVE_SUBSCRIPTION,
        BIND(v_text(platform_name(s->platform)), v_text(s->account_id), v_text(s->subscriber_id),
             v_text(s->name.p ? s->name : STR("")), v_text(s->tier.p ? s->tier : STR("")),
             v_int(s->since ? s->since : clock_us()), s->until ? v_int(s->until) : v_null()),
        NULL);
}

enum err local_subscription_end(struct tx *tx, enum platform p, struct str account_id,
                                struct str subscriber_id)
{
    return tx_exec(tx, END_SUBSCRIPTION,
                   BIND(v_text(platform_name(p)), v_text(account_id), v_text(subscriber_id)), NULL);
}

static const char SAVE_FRIEND[] =
    "insert into platform_friend (type, account_id, friend_id) values ($1, $2, $3) "
    "on conflict do nothing";

enum err local_friends_save(struct tx *tx, enum platform p, struct str one, struct str other)
{
    struct value type = v_text(platform_name(p));
    enum err e = must_exist(tx, p, one);

    if (!e)
        e = must_exist(tx, p, other);
    if (!e)
        e = tx_exec(tx, SAVE_FRIEND, BIND(type, v_text(one), v_text(other)), NULL);
    return e ? e : tx_exec(tx, SAVE_FRIEND, BIND(type, v_text(other), v_text(one)), NULL);
}

static const char SAVE_CODE[] = "update platform_account set link_code_digest = $3, "
                                "link_code_expires_at = $4 where type = $1 and id = $2";

enum err local_code_make(struct tx *tx, const struct auth *auth, enum platform p,
                         struct str account_id, struct str *ret)
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
    char *code = arena_alloc(tx_arena(tx), CODE_BYTES + 1);
    enum err e = must_exist(tx, p, account_id);

    for (int i = 0; i < CODE_BYTES; i++)
        code[i] = letters[randombytes_uniform(sizeof letters - 1)];
    *ret = str_slice(code, CODE_BYTES);
    if (e)
        return e;
    return tx_exec(tx, SAVE_CODE,
                   BIND(v_text(platform_name(p)), v_text(account_id),
                        v_bytes(secret_digest(tx_arena(tx), auth, "platform-link-code", *ret)),
                        v_int(clock_us() + CODE_DAYS * DAY)),
                   NULL);
}

/* --- questions ------------------------------------------------------------------------ */

/* A pending request in an internal call; its texts are in an arena. */
struct local_question {
    struct provider_question question;
    struct provider_answer answer;
};

static const char BY_CODE[] = "select id from platform_account where type = $1 "
                              "and link_code_digest = $2 and link_code_expires_at > $3";
static const char USE_CODE[] = "update platform_account set link_code_digest = null "
                               "where type = $1 and id = $2";

static enum err find_account(struct tx *tx, const struct provider_question *q, struct str id,
                             struct provider_answer *a)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_ACCOUNT, BIND(v_text(platform_name(q->platform)), v_text(id)),
                        &row, &found);

    if (e)
        return e;
    a->result = found ? PROVIDER_OK : PROVIDER_NOT_FOUND;
    if (!found)
        return OK;
    a->account = (struct provider_account){ .id = id,
                                            .name = row_text(&row, 0),
                                            .has_programme = row_bool(&row, 1),
                                            .is_partner = row_bool(&row, 2) };
    return OK;
}

/* Finds the account of a link code, and deletes the code. */
static enum err provider_local_exchange(struct call *call, const struct provider_question *q,
                                        struct provider_answer *a)
{
    struct str type = platform_name(q->platform);
    struct str code = str_lower(call->arena, str_trim(q->code));
    struct str digest =
        secret_digest(call->arena, api_options(call->api)->auth, "platform-link-code", code);
    struct rows row;
    bool found;

    enum err e = tx_one(call->tx, BY_CODE, BIND(v_text(type), v_bytes(digest), v_int(clock_us())),
                        &row, &found);
    a->result = PROVIDER_NOT_FOUND;
    if (e || !found)
        return e;
    struct str id = row_text(&row, 0);
    e = tx_exec(call->tx, USE_CODE, BIND(v_text(type), v_text(id)), NULL);
    return e ? e : find_account(call->tx, q, id, a);
}

static const char SUBSCRIBERS[] =
    "select subscriber_id from platform_subscription where type = $1 and account_id = $2 "
    "and subscriber_id > $3 and (until is null or until > $4) order by subscriber_id limit $5";
static const char FRIENDS[] = "select friend_id from platform_friend where type = $1 "
                              "and account_id = $2 and friend_id > $3 and cast($4 as bigint) > 0 "
                              "order by friend_id limit $5";
static const char IS_SUBSCRIBER[] =
    "select 1 from platform_subscription where type = $1 and account_id = $2 "
    "and subscriber_id = $3 and (until is null or until > $4)";

/* Reads a page of subscribers or friends; the cursor is the last id of the previous page. */
static enum err read_page(struct tx *tx, const struct provider_question *q,
                          struct provider_answer *a)
{
    struct str last = { 0 };
    struct rows rows;
    enum err e = find_account(tx, q, q->account_id, a);

    if (e || a->result)
        return e;
    e = tx_query(tx, q->kind == ASK_FRIENDS ? SQL(FRIENDS) : SQL(SUBSCRIBERS),
                 BIND(v_text(platform_name(q->platform)), v_text(q->account_id),
                      v_text(q->cursor.p ? q->cursor : STR("")), v_int(clock_us()),
                      v_int(PROVIDER_PAGE)),
                 &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        last = row_text(&rows, 0);
        *(struct str *)list_add(tx_arena(tx), &a->ids, sizeof last) = last;
    }
    if (a->ids.count == PROVIDER_PAGE)
        a->next = last;
    return rows_end(&rows);
}

static enum err is_subscriber(struct tx *tx, const struct provider_question *q,
                              struct provider_answer *a)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, IS_SUBSCRIBER,
                        BIND(v_text(platform_name(q->platform)), v_text(q->account_id),
                             v_text(q->subscriber_id), v_int(clock_us())),
                        &row, &found);

    a->result = !e && found ? PROVIDER_OK : PROVIDER_NOT_FOUND;
    return e;
}

static enum err provider_local_run(struct call *call)
{
    struct local_question *asked = call_passed(call, "local_question");
    const struct provider_question *q = &asked->question;
    struct provider_answer *a = &asked->answer;

    *a = (struct provider_answer){ 0 };
    switch (q->kind) {
    case ASK_EXCHANGE:
        return provider_local_exchange(call, q, a);
    case ASK_ACCOUNT:
        return find_account(call->tx, q, q->account_id, a);
    case ASK_IS_SUBSCRIBER:
        return is_subscriber(call->tx, q, a);
    default:
        return read_page(call->tx, q, a);
    }
}

static void provider_local_done(struct call *call, enum err e, void *arg)
{
    struct local_question *asked = call_passed(call, "local_question");

    if (e)
        asked->answer = (struct provider_answer){ .result = PROVIDER_TEMPORARY };
    asked->question.done(asked->question.arg, &asked->answer);
    arena_free(arg);
}

void provider_ask_local(struct api *api, struct loop *loop, const struct provider_question *q)
{
    struct arena *arena = arena_new();
    struct local_question asked = { .question = *q };
    struct provider_question *copy = &asked.question;

    copy->account_id = str_dup(arena, q->account_id);
    copy->subscriber_id = str_dup(arena, q->subscriber_id);
    copy->code = str_dup(arena, q->code);
    copy->cursor = str_dup(arena, q->cursor);
    copy->secret = (struct str){ 0 };
    errand_start(
        api, loop,
        &(struct errand){ .name = "provider",
                          .store = q->kind == ASK_EXCHANGE ? ROUTE_STORE_WRITE : ROUTE_STORE_READ,
                          .run = provider_local_run,
                          .done = provider_local_done,
                          .type = "local_question",
                          .data = &asked,
                          .size = sizeof asked,
                          .arg = arena });
}
