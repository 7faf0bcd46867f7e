/* rows.c - SQL of reaction users. */
#include "platform/reactions/internal.h"

#include "model/fields/ids.h"
#include "platform/accounts/accounts.h"

static const char ADD_USER[] =
    "insert into reaction_users (reaction_id, burst, user_id, message_id, channel_id) "
    "values ($1, $2, $3, $4, $5) on conflict do nothing";
static const char REMOVE_USER[] =
    "delete from reaction_users where reaction_id = $1 and burst = $2 and user_id = $3";

enum err reaction_add_user(struct tx *tx, const struct message *m, snowflake id, bool burst,
                           snowflake user_id, bool *ret_new)
{
    int64_t added = 0;
    enum err e = tx_exec(
        tx, ADD_USER, BIND(v_id(id), v_int(burst), v_id(user_id), v_id(m->id), v_id(m->channel_id)),
        &added);

    *ret_new = added > 0;
    return e;
}

enum err reaction_remove_user(struct tx *tx, snowflake id, bool burst, snowflake user_id,
                              bool *ret_gone)
{
    int64_t gone = 0;
    enum err e = tx_exec(tx, REMOVE_USER, BIND(v_id(id), v_int(burst), v_id(user_id)), &gone);

    *ret_gone = gone > 0;
    return e;
}

static const char USERS_OF[] = "select user_id from reaction_users where reaction_id = $1 and "
                               "burst = $2 and user_id > $3 order by user_id limit $4";

enum err reaction_read_users(struct tx *tx, snowflake id, bool burst, snowflake after,
                             int64_t limit, struct list *ret)
{
    struct list ids;
    enum err e =
        tx_read_ids(tx, USERS_OF, BIND(v_id(id), v_int(burst), v_id(after), v_int(limit)), &ids);

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < ids.count; i++) {
        struct user user;

        e = user_find(tx, ((const snowflake *)ids.items)[i], &user);
        if (!e)
            *(struct user *)list_append(tx_arena(tx), ret, sizeof user) = user;
        else if (e == ERR_UNKNOWN_USER)
            e = OK;
    }
    return e;
}
