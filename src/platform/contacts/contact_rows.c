/* contact_rows.c - SQL of address books. */
#include "platform/contacts/internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

enum { DIGEST_BYTES = 32 };

static const char FIND_LIST[] =
    "select name, friend_sync, allowed_in_suggestions from contact_lists where user_id = $1";
static const char SAVE_LIST[] =
    "insert into contact_lists (user_id, name, friend_sync, allowed_in_suggestions, synced_at) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id) do update set name = excluded.name, "
    "friend_sync = excluded.friend_sync, synced_at = excluded.synced_at, "
    "allowed_in_suggestions = excluded.allowed_in_suggestions";

enum err address_book_find(struct tx *tx, snowflake user_id, struct address_book *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_LIST, BIND(v_id(user_id)), &row, &found);

    if (e)
        return e;
    *ret = (struct address_book){
        .name = { .given = GIVEN_NULL },
        .friend_sync = true,
        .allowed_in_suggestions = SUGGEST_TO_EVERYBODY,
    };
    if (found)
        *ret = (struct address_book){ row_optional_text(&row, 0), row_bool(&row, 1),
                                      row_int(&row, 2) };
    return OK;
}

enum err address_book_write(struct tx *tx, snowflake user_id, const struct address_book *l)
{
    return tx_exec(tx, SAVE_LIST,
                   BIND(v_id(user_id), v_text(l->name.value), v_int(l->friend_sync),
                        v_int(l->allowed_in_suggestions), v_int(clock_us())),
                   NULL);
}

/* --- storing digests of phone numbers ------------------------------------------------ */

struct str compute_phone_number_digest(const struct auth *auth, struct arena *arena,
                                       struct str number)
{
    unsigned char *digest = arena_alloc(arena, DIGEST_BYTES);

    auth_derive_key(auth, "contact", 0, number, digest, DIGEST_BYTES);
    return str_slice((const char *)digest, DIGEST_BYTES);
}

static const char ENTRIES[] = "select digest, name from contacts where user_id = $1";
static const char DELETE_CONTACT[] = "delete from contacts where user_id = $1 and digest = $2";
#define INTO    "insert into contacts (user_id, digest, name) values "
#define CHANGES " on conflict (user_id, digest) do update set name = excluded.name"
static const char ADD[] = INTO "($1, $2, $3)" CHANGES;
static const char ADD_MANY[] =
    INTO "($1, $2, $3), ($1, $4, $5), ($1, $6, $7), ($1, $8, $9), ($1, $10, $11), ($1, $12, $13), "
         "($1, $14, $15), ($1, $16, $17), ($1, $18, $19), ($1, $20, $21), ($1, $22, $23), "
         "($1, $24, $25), ($1, $26, $27), ($1, $28, $29), ($1, $30, $31), ($1, $32, $33)" CHANGES;
static const char EXISTS[] = "select 1 from contacts where user_id = $1 and digest = $2";

/* Number of rows per statement that ADD_MANY inserts, and of phone numbers that BY_PHONES
 * searches. */
enum { ROWS_PER_STATEMENT = 16 };

static int compare_contacts_by_digest(const void *a, const void *b)
{
    return str_cmp(((const struct address_book_contact *)a)->digest,
                   ((const struct address_book_contact *)b)->digest);
}

static bool optional_names_are_equal(struct opt_str a, struct opt_str b)
{
    return (a.given == GIVEN) == (b.given == GIVEN) && str_eq(a.value, b.value);
}

static void sort_and_deduplicate_contacts(struct list *contacts)
{
    struct address_book_contact *all = contacts->items;
    size_t retained = 0;

    if (contacts->count)
        qsort(all, contacts->count, sizeof *all, compare_contacts_by_digest);
    for (size_t i = 0; i < contacts->count; i++)
        if (!retained || compare_contacts_by_digest(&all[i], &all[retained - 1]) != 0)
            all[retained++] = all[i];
    contacts->count = retained;
}

static void contact_from_row(const struct rows *r, void *ret)
{
    *(struct address_book_contact *)ret =
        (struct address_book_contact){ row_bytes(r, 0), row_optional_text(r, 1) };
}

static enum err read_contacts(struct tx *tx, snowflake user_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, ENTRIES, BIND(v_id(user_id)), sizeof(struct address_book_contact),
                        contact_from_row, ret);
}

static enum err insert_contacts(struct tx *tx, snowflake user_id, const struct list *contacts)
{
    const struct address_book_contact *all = contacts->items;
    enum err e = OK;

    for (size_t i = 0, n; !e && i < contacts->count; i += n) {
        struct value values[1 + 2 * ROWS_PER_STATEMENT] = { v_id(user_id) };

        n = contacts->count - i < ROWS_PER_STATEMENT ? 1 : ROWS_PER_STATEMENT;
        for (size_t k = 0; k < n; k++) {
            values[1 + 2 * k] = v_bytes(all[i + k].digest);
            values[2 + 2 * k] = sql_value_of_optional_text(all[i + k].name);
        }
        e = tx_exec(tx, n == 1 ? SQL(ADD) : SQL(ADD_MANY), values, 1 + 2 * n, NULL);
    }
    return e;
}

/* Writes only the differences between the stored and the new address book, because clients upload
 * the same address book repeatedly. */
enum err address_book_replace_contacts(struct tx *tx, snowflake user_id, struct list *contacts)
{
    struct address_book_contact *all = contacts->items;
    struct list known, fresh = { 0 };
    enum err e = read_contacts(tx, user_id, &known);

    sort_and_deduplicate_contacts(contacts);
    bool *retained = arena_array(tx_arena(tx), bool, contacts->count + 1);
    for (size_t i = 0; !e && i < known.count; i++) {
        const struct address_book_contact *old =
            (const struct address_book_contact *)known.items + i;
        const struct address_book_contact *c =
            contacts->count
                ? bsearch(old, all, contacts->count, sizeof *all, compare_contacts_by_digest)
                : NULL;

        if (c)
            retained[c - all] = optional_names_are_equal(c->name, old->name);
        else
            e = tx_exec(tx, DELETE_CONTACT, BIND(v_id(user_id), v_bytes(old->digest)), NULL);
    }
    for (size_t i = 0; !e && i < contacts->count; i++)
        if (!retained[i])
            *(struct address_book_contact *)list_append(tx_arena(tx), &fresh, sizeof *all) = all[i];
    return e ? e : insert_contacts(tx, user_id, &fresh);
}

enum err address_book_contains_phone_number(struct tx *tx, snowflake user_id, struct str digest,
                                            bool *ret)
{
    return tx_exists(tx, EXISTS, BIND(v_id(user_id), v_bytes(digest)), ret);
}

/* --- accounts by phone number --------------------------------------------------------- */

static const char BY_PHONES[] =
    "select id, phone from users where phone in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, "
    "$12, $13, $14, $15, $16)";

static void account_of_phone_number_from_row(const struct rows *r, void *ret)
{
    *(struct account_of_phone_number *)ret =
        (struct account_of_phone_number){ row_id(r, 0), row_text(r, 1) };
}

static enum err append_owners_of_phone_numbers(struct tx *tx, const struct value *numbers,
                                               struct list *ret)
{
    return tx_read_list(tx, BY_PHONES, numbers, ROWS_PER_STATEMENT,
                        sizeof(struct account_of_phone_number), account_of_phone_number_from_row,
                        ret);
}

enum err users_find_by_phone(struct tx *tx, const struct list *entries, struct list *ret)
{
    const struct contact_entry *all = entries->items;
    enum err e = OK;

    *ret = (struct list){ 0 };
    for (size_t i = 0; !e && i < entries->count; i += ROWS_PER_STATEMENT) {
        struct value numbers[ROWS_PER_STATEMENT];

        for (size_t k = 0; k < ROWS_PER_STATEMENT; k++)
            numbers[k] = i + k < entries->count ? v_text(all[i + k].friend_id) : v_null();
        e = append_owners_of_phone_numbers(tx, numbers, ret);
    }
    return e;
}

static const char OWNERS[] =
    "select c.user_id from contacts c join contact_lists l on l.user_id = c.user_id "
    "where c.digest = $1 and l.friend_sync = 1 and l.allowed_in_suggestions = 2 "
    "order by c.user_id limit 1000";

enum err list_address_book_owners_with_phone(struct tx *tx, struct str digest, struct list *ret)
{
    return tx_read_ids(tx, OWNERS, BIND(v_bytes(digest)), ret);
}
