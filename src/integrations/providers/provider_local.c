/* provider_local.c - provider of local platforms, whose accounts are in the server's database. */
#include "integrations/internal.h"

#include <sodium.h>
#include <string.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"

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

enum err upsert_local_platform_account(struct tx *tx, const struct local_platform_account *a)
{
    return tx_exec(tx, SAVE_ACCOUNT,
                   BIND(v_text(platform_get_database_name(a->platform)), v_text(a->id),
                        v_text(a->name), sql_value_of_optional_bool(a->has_programme),
                        sql_value_of_optional_bool(a->is_partner)),
                   NULL);
}

static enum err require_local_account(struct tx *tx, enum platform p, struct str id)
{
    bool found;
    enum err e = tx_exists(tx, FIND_ACCOUNT,
                           BIND(v_text(platform_get_database_name(p)), v_text(id)), &found);

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

enum err upsert_local_platform_subscription(struct tx *tx,
                                            const struct local_platform_subscription *s)
{
    enum err e = require_local_account(tx, s->platform, s->account_id);

    if (e)
        return e;
    return tx_exec(tx, SAVE_SUBSCRIPTION,
                   BIND(v_text(platform_get_database_name(s->platform)), v_text(s->account_id),
                        v_text(s->subscriber_id), v_text(s->name.p ? s->name : STR("")),
                        v_text(s->tier.p ? s->tier : STR("")),
                        v_int(s->since ? s->since : clock_us()),
                        s->until ? v_int(s->until) : v_null()),
                   NULL);
}

enum err delete_local_platform_subscription(struct tx *tx, enum platform p, struct str account_id,
                                            struct str subscriber_id)
{
    return tx_exec(
        tx, END_SUBSCRIPTION,
        BIND(v_text(platform_get_database_name(p)), v_text(account_id), v_text(subscriber_id)),
        NULL);
}

static const char SAVE_FRIEND[] =
    "insert into platform_friend (type, account_id, friend_id) values ($1, $2, $3) "
    "on conflict do nothing";

enum err insert_local_friend_list_entry(struct tx *tx, enum platform p, struct str of,
                                        struct str friend)
{
    return tx_exec(tx, SAVE_FRIEND,
                   BIND(v_text(platform_get_database_name(p)), v_text(of), v_text(friend)), NULL);
}

enum err insert_local_platform_friendship(struct tx *tx, enum platform p, struct str one,
                                          struct str other)
{
    enum err e = require_local_account(tx, p, one);

    if (!e)
        e = require_local_account(tx, p, other);
    if (!e)
        e = insert_local_friend_list_entry(tx, p, one, other);
    return e ? e : insert_local_friend_list_entry(tx, p, other, one);
}

static const char SAVE_CODE[] = "update platform_account set link_code_digest = $3, "
                                "link_code_expires_at = $4 where type = $1 and id = $2";

enum err create_local_platform_link_code(struct tx *tx, const struct auth *auth, enum platform p,
                                         struct str account_id, struct str *ret)
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
    char *code = arena_alloc(tx_arena(tx), CODE_BYTES + 1);
    enum err e = require_local_account(tx, p, account_id);

    for (int i = 0; i < CODE_BYTES; i++)
        code[i] = letters[randombytes_uniform(sizeof letters - 1)];
    *ret = str_slice(code, CODE_BYTES);
    if (e)
        return e;
    return tx_exec(tx, SAVE_CODE,
                   BIND(v_text(platform_get_database_name(p)), v_text(account_id),
                        v_bytes(compute_digest_of_account_link_secret(tx_arena(tx), auth,
                                                                      "platform-link-code", *ret)),
                        v_int(clock_us() + CODE_DAYS * DAY)),
                   NULL);
}

/* --- questions ------------------------------------------------------------------------ */

/* A pending request to the local provider. The strings of the request are in an arena. */
struct local_provider_request {
    struct platform_provider_request question;
    struct platform_provider_response answer;
};

static const char BY_CODE[] = "select id from platform_account where type = $1 "
                              "and link_code_digest = $2 and link_code_expires_at > $3";
static const char CLEAR_CODE[] = "update platform_account set link_code_digest = null "
                                 "where type = $1 and id = $2";

static enum err read_local_account(struct tx *tx, const struct platform_provider_request *q,
                                   struct str id, struct platform_provider_response *a)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, FIND_ACCOUNT, BIND(v_text(platform_get_database_name(q->platform)), v_text(id)),
               &row, &found);

    if (e)
        return e;
    a->result = found ? PROVIDER_OK : PROVIDER_NOT_FOUND;
    if (!found)
        return OK;
    a->account = (struct platform_provider_account){ .id = id,
                                                     .name = row_text(&row, 0),
                                                     .has_programme = row_bool(&row, 1),
                                                     .is_partner = row_bool(&row, 2) };
    return OK;
}

/* Finds the platform account for which a link code was created, and deletes the code. */
static enum err consume_link_code(struct call *call, const struct platform_provider_request *q,
                                  struct platform_provider_response *a)
{
    struct str type = platform_get_database_name(q->platform);
    struct str code = str_lower(call->arena, str_trim(q->code));
    struct str digest = compute_digest_of_account_link_secret(
        call->arena, api_get_options(call->api)->auth, "platform-link-code", code);
    struct rows row;
    bool found;

    enum err e = tx_one(call->tx, BY_CODE, BIND(v_text(type), v_bytes(digest), v_int(clock_us())),
                        &row, &found);
    a->result = PROVIDER_NOT_FOUND;
    if (e || !found)
        return e;
    struct str id = row_text(&row, 0);
    e = tx_exec(call->tx, CLEAR_CODE, BIND(v_text(type), v_text(id)), NULL);
    return e ? e : read_local_account(call->tx, q, id, a);
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

/* Reads a page of subscribers or friends. The cursor is the last id of the previous page. */
static enum err read_local_account_ids_page(struct tx *tx,
                                            const struct platform_provider_request *q,
                                            struct platform_provider_response *a)
{
    struct str last = { 0 };
    struct rows rows;
    enum err e = read_local_account(tx, q, q->account_id, a);

    if (e || a->result)
        return e;
    e = tx_query(tx, q->kind == ASK_FRIENDS ? SQL(FRIENDS) : SQL(SUBSCRIBERS),
                 BIND(v_text(platform_get_database_name(q->platform)), v_text(q->account_id),
                      v_text(q->cursor.p ? q->cursor : STR("")), v_int(clock_us()),
                      v_int(PROVIDER_PAGE)),
                 &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        last = row_text(&rows, 0);
        *(struct str *)list_append(tx_arena(tx), &a->ids, sizeof last) = last;
    }
    if (a->ids.count == PROVIDER_PAGE)
        a->next = last;
    return rows_end(&rows);
}

static enum err read_whether_account_subscribes(struct tx *tx,
                                                const struct platform_provider_request *q,
                                                struct platform_provider_response *a)
{
    bool found;
    enum err e = tx_exists(tx, IS_SUBSCRIBER,
                           BIND(v_text(platform_get_database_name(q->platform)),
                                v_text(q->account_id), v_text(q->subscriber_id), v_int(clock_us())),
                           &found);

    a->result = !e && found ? PROVIDER_OK : PROVIDER_NOT_FOUND;
    return e;
}

static enum err run_local_request(struct call *call)
{
    struct local_provider_request *request = call_get_stage_data(call, "local_provider_request");
    const struct platform_provider_request *q = &request->question;
    struct platform_provider_response *a = &request->answer;

    *a = (struct platform_provider_response){ 0 };
    switch (q->kind) {
    case ASK_EXCHANGE:
        return consume_link_code(call, q, a);
    case ASK_ACCOUNT:
        return read_local_account(call->tx, q, q->account_id, a);
    case ASK_IS_SUBSCRIBER:
        return read_whether_account_subscribes(call->tx, q, a);
    default:
        return read_local_account_ids_page(call->tx, q, a);
    }
}

static void on_local_request_done(struct call *call, enum err e, void *arg)
{
    struct local_provider_request *request = call_get_stage_data(call, "local_provider_request");

    if (e)
        request->answer = (struct platform_provider_response){ .result = PROVIDER_TEMPORARY };
    request->question.done(request->question.arg, &request->answer);
    arena_free(arg);
}

void platform_provider_send_local_request(struct api *api, struct loop *loop,
                                          const struct platform_provider_request *q)
{
    struct arena *arena = arena_new();
    struct local_provider_request request = { .question = *q };
    struct platform_provider_request *copy = &request.question;

    copy->account_id = str_dup(arena, q->account_id);
    copy->subscriber_id = str_dup(arena, q->subscriber_id);
    copy->code = str_dup(arena, q->code);
    copy->cursor = str_dup(arena, q->cursor);
    copy->secret = (struct str){ 0 };
    internal_call_start(api, loop,
                        &(struct internal_call){
                            .name = "provider",
                            .store = q->kind == ASK_EXCHANGE ? ROUTE_STORE_WRITE : ROUTE_STORE_READ,
                            .run = run_local_request,
                            .done = on_local_request_done,
                            .type = "local_provider_request",
                            .data = &request,
                            .size = sizeof request,
                            .arg = arena });
}
