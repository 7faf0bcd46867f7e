/* bulk_requests.c - declines many friend requests, or sends requests to many suggested users. */
#include "platform/relationships/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

enum { TOKEN_BYTES = 32, DIGEST_BYTES = 32 };
static const int64_t TOKEN_LIFE_US = INT64_C(15) * 60 * 1000000;

/* --- declining ------------------------------------------------------------------------ */

static unsigned friend_request_filters_to_bits(const struct list *filters)
{
    unsigned set = 0;

    for (size_t i = 0; i < filters->count; i++)
        set |= 1u << ((const int64_t *)filters->items)[i];
    return set;
}

/* DELETE /users/@me/relationships: declines the incoming friend requests that match all filters. */
enum err bulk_remove_relationships(struct call *call)
{
    const struct friend_request_removal_query *query = call->query;
    const struct friend_request_removal_body *body = call->body;
    unsigned set = friend_request_filters_to_bits(&query->filters) |
                   friend_request_filters_to_bits(&body->filters);
    bool spam = query->only_spam || set & 1u << REMOVE_SPAM, ignored = set & 1u << REMOVE_IGNORED;
    struct list senders;

    enum err e = list_incoming_friend_requests(call->tx, call->caller->id, spam, ignored, &senders);
    for (size_t i = 0; !e && i < senders.count; i++)
        e = relationship_apply_operation(call, OPERATION_END, call->caller->id,
                                         ((const snowflake *)senders.items)[i]);
    return e;
}

/* --- tokens --------------------------------------------------------------------------- */

/* Returns the keyed digest of a bulk token. The store has only the digest. */
static struct str bulk_token_digest(const struct call *call, struct str token)
{
    unsigned char *digest = arena_alloc(call->arena, DIGEST_BYTES);

    auth_derive_key(api_get_options(call->api)->auth, "bulk-add", call->caller->id, token, digest,
                    DIGEST_BYTES);
    return str_slice((const char *)digest, DIGEST_BYTES);
}

static const char ADD_TOKEN[] =
    "insert into bulk_add_tokens (digest, user_id, user_ids, expires_at) values ($1, $2, $3, $4)";
static const char DELETE_EXPIRED_TOKENS[] = "delete from bulk_add_tokens where expires_at <= $1";

enum err bulk_friend_request_token_issue(struct call *call, const struct list *user_ids,
                                         struct str *ret)
{
    unsigned char secret[TOKEN_BYTES];
    int64_t now = clock_us();

    randombytes_buf(secret, sizeof secret);
    *ret = str_base64url_encode(call->arena, secret, sizeof secret);
    enum err e = tx_exec(call->tx, DELETE_EXPIRED_TOKENS, BIND(v_int(now)), NULL);
    if (e)
        return e;
    return tx_exec(call->tx, ADD_TOKEN,
                   BIND(v_bytes(bulk_token_digest(call, *ret)), v_id(call->caller->id),
                        v_text(json_column_encode(call->arena, &type_ids, user_ids)),
                        v_int(now + TOKEN_LIFE_US)),
                   NULL);
}

static const char FIND_TOKEN[] = "select user_ids from bulk_add_tokens where digest = $1 and "
                                 "user_id = $2 and expires_at > $3";

static enum err read_token_user_ids(struct call *call, struct str token, struct list *ret_ids)
{
    struct rows row;
    enum err e = tx_one_or(
        call->tx, FIND_TOKEN,
        BIND(v_bytes(bulk_token_digest(call, token)), v_id(call->caller->id), v_int(clock_us())),
        ERR_UNKNOWN_TOKEN, &row);

    if (e)
        return e;
    *ret_ids = json_column_decode_list(call->arena, &type_ids, row_text(&row, 0));
    return OK;
}

/* --- requests ------------------------------------------------------------------------- */

static bool list_contains_id(const struct list *ids, size_t count, snowflake id)
{
    for (size_t i = 0; i < count; i++)
        if (((const snowflake *)ids->items)[i] == id)
            return true;
    return false;
}

/* Returns true if the error concerns only this user of the list. The call then continues with the
 * next user. Errors of the store fail the whole call. */
static bool is_friend_request_refusal(enum err e)
{
    return error_info(e)->status < 500 && e != ERR_STORE_CONFLICT;
}

static enum err send_one_friend_request(struct call *call, snowflake id, bool offered,
                                        struct bulk_friend_request_reply *reply)
{
    struct user user;
    struct friend_request_attempt asking = { .op = OPERATION_ASK,
                                             .user = &user,
                                             .server_verified = true };
    enum err e = offered ? user_find(call->tx, id, &user) : ERR_UNKNOWN_USER;

    if (!e)
        e = friend_request_send_or_accept(call, &asking);
    if (e && !is_friend_request_refusal(e))
        return e;
    struct list *result = e ? &reply->failed_requests : &reply->successful_requests;
    id_list_add(call->arena, result, id);
    return OK;
}

/* POST /users/@me/relationships/bulk */
enum err bulk_add_relationships(struct call *call)
{
    const struct bulk_friend_request_body *in = call->body;
    const snowflake *ids = in->user_ids.items;
    struct bulk_friend_request_reply reply = { 0 };
    struct list offered;

    enum err e = read_token_user_ids(call, in->token, &offered);
    for (size_t i = 0; !e && i < in->user_ids.count; i++)
        if (!list_contains_id(&in->user_ids, i, ids[i]))
            e = send_one_friend_request(call, ids[i],
                                        list_contains_id(&offered, offered.count, ids[i]), &reply);
    return e ? e : call_reply_with_object(call, &reply);
}
