/* rows.c - SQL of SKUs and entitlements. */
#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "platform/entitlements/internal.h"

/* --- SKUs ----------------------------------------------------------------------------- */

#define SKU_COLUMNS "select id, application_id, type, name, slug, flags from skus where "

static void sku_from_row(const struct rows *r, void *ret)
{
    *(struct sku *)ret = (struct sku){ .id = row_id(r, 0),
                                       .application_id = row_id(r, 1),
                                       .type = row_int(r, 2),
                                       .name = row_text(r, 3),
                                       .slug = row_text(r, 4),
                                       .flags = row_int(r, 5) };
}

enum err application_skus_list(struct tx *tx, snowflake application_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, SKU_COLUMNS "application_id = $1 order by id",
                        BIND(v_id(application_id)), sizeof(struct sku), sku_from_row, ret);
}

enum err sku_find(struct tx *tx, snowflake id, struct sku *ret)
{
    return tx_read_first(tx, SKU_COLUMNS "id = $1", BIND(v_id(id)), sku_from_row, ret,
                         ERR_UNKNOWN_SKU);
}

/* --- entitlements --------------------------------------------------------------------- */

#define ENTITLEMENT_COLUMNS                                                             \
    "select id, application_id, sku_id, sku_type, user_id, guild_id, test, starts_at, " \
    "ends_at, deleted_at, consumed from entitlements "
#define IS_ACTIVE                                                                   \
    "deleted_at is null and coalesce(starts_at, $3) <= $3 and (ends_at is null or " \
    "ends_at > $3) "

static void entitlement_from_row(const struct rows *r, void *ret)
{
    struct entitlement *e = ret;

    *e = (struct entitlement){
        .id = row_id(r, 0),
        .application_id = row_id(r, 1),
        .sku_id = row_id(r, 2),
        .sku_type = row_int(r, 3),
        .user_id = row_id(r, 4),
        .type = ENTITLEMENT_OF_APPLICATION,
        .test = row_bool(r, 6),
        .starts_at = row_optional_int(r, 7),
        .ends_at = row_optional_int(r, 8),
        .deleted = !row_column_is_null(r, 9),
        .deleted_at = row_optional_int(r, 9),
        .consumed = row_bool(r, 10),
    };
    if (!row_column_is_null(r, 5))
        e->guild_id = opt_id_or_null(row_id(r, 5));
}

enum err entitlement_find(struct tx *tx, snowflake application_id, snowflake id,
                          struct entitlement *ret)
{
    return tx_read_first(
        tx, ENTITLEMENT_COLUMNS "where id = $1 and application_id = $2 and deleted_at is null",
        BIND(v_id(id), v_id(application_id)), entitlement_from_row, ret, ERR_UNKNOWN_ENTITLEMENT);
}

/* --- pages of entitlements ------------------------------------------------------------ */

/* SQL of a page of entitlements with ids between $1 and $2, at most $4. */
#define PAGE(where)      ENTITLEMENT_COLUMNS "where " where " order by id limit $4"
#define PAGE_BACK(where) ENTITLEMENT_COLUMNS "where " where " order by id desc limit $4"

struct entitlement_page {
    snowflake after, before;
    bool back;
};

static struct entitlement_page entitlement_page_of_query(struct opt_id before, struct opt_id after)
{
    return (struct entitlement_page){
        .after = after.given == GIVEN ? after.value : 0,
        .before = before.given == GIVEN ? before.value : INT64_MAX,
        .back = before.given == GIVEN && after.given != GIVEN,
    };
}

/* Formats SKU ids as ",1,2," for a SQL LIKE. If the list is empty, returns "", for which every SKU
 * matches. */
static struct str format_sku_filter(struct arena *arena, const struct list *ids)
{
    struct buf text = { .max = 4096 };
    const snowflake *id = ids->items;

    for (size_t i = 0; i < ids->count; i++)
        buf_printf(&text, "%s%llu,", i ? "" : ",", (unsigned long long)id[i]);
    return ids->count ? buf_move_to_arena(&text, arena) : STR("");
}

#define MATCHES_QUERY                                                                       \
    " and id > $1 and id < $2 and (cast($5 as text) = '' or cast($5 as text) like '%,' || " \
    "cast(sku_id as text) || ',%') and (cast($6 as bigint) = 0 or ends_at is null or "      \
    "ends_at > $3) and (cast($7 as bigint) = 0 or deleted_at is null) and "                 \
    "(cast($8 as bigint) = 0 or (" IS_ACTIVE ")) and (cast($9 as bigint) = 0 or consumed = 0)"
#define OF_ANYBODY \
    "application_id = $10 and cast($11 as bigint) + cast($12 as bigint) = 0" MATCHES_QUERY
#define OF_USER \
    "application_id = $10 and user_id = $11 and (cast($12 as bigint) = 0 or guild_id = $12)" MATCHES_QUERY
#define OF_GUILD "application_id = $10 and cast($11 as bigint) = 0 and guild_id = $12" MATCHES_QUERY

static const struct sql LISTS[3][2] = {
    { SQL_TEXT(PAGE(OF_ANYBODY)), SQL_TEXT(PAGE_BACK(OF_ANYBODY)) },
    { SQL_TEXT(PAGE(OF_USER)), SQL_TEXT(PAGE_BACK(OF_USER)) },
    { SQL_TEXT(PAGE(OF_GUILD)), SQL_TEXT(PAGE_BACK(OF_GUILD)) },
};

enum err entitlements_list(struct tx *tx, snowflake application_id,
                           const struct entitlements_query *q, struct list *ret)
{
    struct entitlement_page page = entitlement_page_of_query(q->before, q->after);
    bool of_user = q->user_id.given == GIVEN, of_guild = q->guild_id.given == GIVEN;
    struct value values[] = {
        v_id(page.after),
        v_id(page.before),
        v_int(clock_us()),
        v_int(q->limit),
        v_text(format_sku_filter(tx_arena(tx), &q->sku_ids)),
        v_int(q->exclude_ended),
        v_int(q->exclude_deleted),
        v_int(q->only_active),
        v_int(q->exclude_consumed),
        v_id(application_id),
        v_id(of_user ? q->user_id.value : 0),
        v_id(of_guild ? q->guild_id.value : 0),
    };

    *ret = (struct list){ 0 };
    enum err e = tx_read_list(tx,
                              LISTS[of_user    ? 1
                                    : of_guild ? 2
                                               : 0][page.back],
                              values, COUNT_OF(values), sizeof(struct entitlement),
                              entitlement_from_row, ret);
    if (page.back)
        list_reverse(ret, sizeof(struct entitlement));
    return e;
}

static const char ACTIVE_ENTITLEMENTS[] = ENTITLEMENT_COLUMNS
    "where id in (select id from entitlements where user_id = $1 and "
    "application_id = $2 and guild_id is null union all select id from "
    "entitlements where guild_id = $4 and application_id = $2) and consumed = 0 "
    "and " IS_ACTIVE "order by id desc limit 100";

/* Cheap query that runs before the list is read, because most users have no entitlement to an
 * application. */
static const char HAS_ANY_ENTITLEMENT[] =
    "select 1 from entitlements where user_id = $1 and application_id = $2 "
    "and guild_id is null union all select 1 from entitlements where "
    "guild_id = $3 and application_id = $2 limit 1";

enum err entitlements_list_active(struct tx *tx, snowflake application_id, snowflake user_id,
                                  snowflake guild_id, struct list *ret)
{
    bool some = true;
    enum err e = OK;

    *ret = (struct list){ 0 };
    if (!tx_queries_need_round_trips(tx))
        e = tx_exists(tx, HAS_ANY_ENTITLEMENT,
                      BIND(v_id(user_id), v_id(application_id), v_id(guild_id)), &some);
    if (e || !some)
        return e;
    return tx_read_list(
        tx, ACTIVE_ENTITLEMENTS,
        BIND(v_id(user_id), v_id(application_id), v_int(clock_us()), v_id(guild_id)),
        sizeof(struct entitlement), entitlement_from_row, ret);
}

#define SUBSCRIBED "sku_id = $5 and user_id = $3 and sku_type = 5 and id > $1 and id < $2"

enum err subscription_entitlements_list(struct tx *tx, snowflake sku_id, snowflake user_id,
                                        const struct subscriptions_query *q, struct list *ret)
{
    struct entitlement_page page = entitlement_page_of_query(q->before, q->after);

    *ret = (struct list){ 0 };
    enum err e = tx_read_list(
        tx, page.back ? SQL(PAGE_BACK(SUBSCRIBED)) : SQL(PAGE(SUBSCRIBED)),
        BIND(v_id(page.after), v_id(page.before), v_id(user_id), v_int(q->limit), v_id(sku_id)),
        sizeof(struct entitlement), entitlement_from_row, ret);
    if (page.back)
        list_reverse(ret, sizeof(struct entitlement));
    return e;
}

enum err subscription_entitlement_find(struct tx *tx, snowflake sku_id, snowflake id,
                                       bool *ret_found, struct entitlement *ret)
{
    return tx_find_first(tx, ENTITLEMENT_COLUMNS "where id = $1 and sku_id = $2 and sku_type = 5",
                         BIND(v_id(id), v_id(sku_id)), entitlement_from_row, ret, ret_found);
}

static const char USER_HAS[] = "select id from entitlements where sku_id = $1 and user_id = $2 and "
                               "guild_id is null and deleted_at is null and consumed = 0";
static const char GUILD_HAS[] = "select id from entitlements where sku_id = $1 and guild_id = $2 "
                                "and deleted_at is null and consumed = 0";

enum err owner_has_unconsumed_entitlement(struct tx *tx, const struct entitlement *e, bool *ret)
{
    bool of_guild = e->guild_id.given == GIVEN;

    return tx_exists(tx, of_guild ? SQL(GUILD_HAS) : SQL(USER_HAS),
                     BIND(v_id(e->sku_id), v_id(of_guild ? e->guild_id.value : e->user_id)), ret);
}

static const char ADD_ENTITLEMENT[] =
    "insert into entitlements (id, application_id, sku_id, sku_type, user_id, guild_id, test, "
    "starts_at, ends_at, consumed) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)";

enum err entitlement_insert(struct tx *tx, const struct entitlement *e)
{
    return tx_exec(tx, ADD_ENTITLEMENT,
                   BIND(v_id(e->id), v_id(e->application_id), v_id(e->sku_id), v_int(e->sku_type),
                        v_id(e->user_id), sql_value_of_optional_id(e->guild_id), v_int(e->test),
                        sql_value_of_optional_int(e->starts_at),
                        sql_value_of_optional_int(e->ends_at)),
                   NULL);
}

enum err entitlement_update(struct tx *tx, const struct entitlement *e)
{
    return tx_exec(tx, "update entitlements set deleted_at = $2, consumed = $3 where id = $1",
                   BIND(v_id(e->id), sql_value_of_optional_int(e->deleted_at), v_int(e->consumed)),
                   NULL);
}
