/* contact_rows.c - address books in the store. */
#include "relationships/internal.h"

#include "base/clock.h"
#include "platform/rows.h"

enum { DIGEST_BYTES = 32 };

/* --- the book itself --------------------------------------------------------------------- */

static const char FIND_LIST[] =
    "select name, friend_sync, allowed_in_suggestions from contact_lists where user_id = $1";
static const char SAVE_LIST[] =
    "insert into contact_lists (user_id, name, friend_sync, allowed_in_suggestions, synced_at) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id) do update set name = excluded.name, "
    "friend_sync = excluded.friend_sync, synced_at = excluded.synced_at, "
    "allowed_in_suggestions = excluded.allowed_in_suggestions";

enum err contact_list_find(struct tx *tx, snowflake user_id, struct contact_list *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_LIST, BIND(v_id(user_id)), &row, &found);

    if (e)
        return e;
    *ret = (struct contact_list){
        .name = { .given = GIVEN_NULL },
        .friend_sync = true,
        .allowed_in_suggestions = ALLOWED_ALL,
    };
    if (found)
        *ret = (struct contact_list){ row_opt_text(&row, 0), row_bool(&row, 1), row_int(&row, 2) };
    return OK;
}

enum err contact_list_save(struct tx *tx, snowflake user_id, const struct contact_list *l)
{
    return tx_exec(tx, SAVE_LIST,
                   BIND(v_id(user_id), v_text(l->name.value), v_int(l->friend_sync),
                        v_int(l->allowed_in_suggestions), v_int(clock_us())),
                   NULL);
}

/* --- numbers ----------------------------------------------------------------------------- */

struct str contact_digest(const struct auth *auth, struct arena *arena, struct str number)
{
    unsigned char *digest = arena_alloc(arena, DIGEST_BYTES);

    auth_derive(auth, "contact", 0, number, digest, DIGEST_BYTES);
    return str_slice((const char *)digest, DIGEST_BYTES);
}

static const char FORGET[] = "delete from contacts where user_id = $1";
static const char ADD[] = "insert into contacts (user_id, digest, name) values ($1, $2, $3) "
                          "on conflict (user_id, digest) do nothing";
static const char EXISTS[] = "select 1 from contacts where user_id = $1 and digest = $2";

enum err contacts_replace(struct tx *tx, snowflake user_id, const struct list *contacts)
{
    enum err e = tx_exec(tx, FORGET, BIND(v_id(user_id)), NULL);

    for (size_t i = 0; !e && i < contacts->count; i++) {
        const struct contact *c = (const struct contact *)contacts->items + i;

        e = tx_exec(tx, ADD, BIND(v_id(user_id), v_bytes(c->digest), v_opt_text(c->name)), NULL);
    }
    return e;
}

enum err contact_exists(struct tx *tx, snowflake user_id, struct str digest, bool *ret)
{
    struct rows row;

    return tx_one(tx, EXISTS, BIND(v_id(user_id), v_bytes(digest)), &row, ret);
}

/* --- whose they are ---------------------------------------------------------------------- */

static const char BY_PHONE[] = "select id from users where phone = $1";

enum err user_by_phone(struct tx *tx, struct str number, snowflake *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, BY_PHONE, BIND(v_text(number)), &row, &found);

    if (!e)
        *ret = found ? row_id(&row, 0) : 0;
    return e;
}

static const char OWNERS[] =
    "select c.user_id from contacts c join contact_lists l on l.user_id = c.user_id "
    "where c.digest = $1 and l.friend_sync = 1 and l.allowed_in_suggestions = 2 "
    "order by c.user_id limit 1000";

enum err owners_of_contact(struct tx *tx, struct str digest, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, OWNERS, BIND(v_bytes(digest)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(snowflake *)list_add(tx_arena(tx), ret, sizeof(snowflake)) = row_id(&rows, 0);
    return rows_end(&rows);
}
