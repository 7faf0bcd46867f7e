/* rows.c - SQL of membership forms and join requests. */
#include "base/mem.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "platform/join_requests/internal.h"

/* --- membership forms ---------------------------------------------------------------- */

static const char FIND_FORM[] =
    "select enabled, version, description, form_fields from member_forms where guild_id = $1";
static const char SAVE_FORM[] =
    "insert into member_forms (guild_id, enabled, version, description, form_fields) values ($1, "
    "$2, $3, $4, $5) on conflict (guild_id) do update set enabled = $2, version = $3, "
    "description = $4, form_fields = $5";

enum err member_form_find(struct tx *tx, snowflake guild_id, struct member_form *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FIND_FORM, BIND(v_id(guild_id)), ERR_UNKNOWN_MEMBER_FORM, &row);

    if (e)
        return e;
    *ret = (struct member_form){
        .guild_id = guild_id,
        .enabled = row_bool(&row, 0),
        .version = row_int(&row, 1),
        .description = row_optional_text(&row, 2),
        .form_fields = json_column_decode_list(tx_arena(tx), &type_form_fields, row_text(&row, 3)),
    };
    return OK;
}

enum err member_form_write(struct tx *tx, const struct member_form *f)
{
    return tx_exec(
        tx, SAVE_FORM,
        BIND(v_id(f->guild_id), v_int(f->enabled), v_int(f->version),
             sql_value_of_optional_text(f->description),
             v_text(json_column_encode(tx_arena(tx), &type_form_fields, &f->form_fields))),
        NULL);
}

/* --- join requests ------------------------------------------------------------------- */

#define REQUEST_COLUMNS                                                            \
    "select id, guild_id, user_id, status, created_at, reviewed_at, reviewed_by, " \
    "rejection_reason, responses from join_requests where "

static void join_request_from_row(const struct rows *r, void *ret)
{
    *(struct join_request *)ret = (struct join_request){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .user_id = row_id(r, 2),
        .status = row_int(r, 3),
        .application_status = opt_str_or_null(join_request_status_name(row_int(r, 3))),
        .created_at = row_int(r, 4),
        .reviewed_at = row_optional_int(r, 5),
        .reviewed_by = row_id(r, 6),
        .rejection_reason = row_optional_text(r, 7),
        .form_responses =
            json_column_decode_list(tx_arena(r->tx), &type_form_fields, row_text(r, 8)),
    };
}

static enum err find_join_request_with_sql(struct tx *tx, struct sql sql, snowflake guild_id,
                                           snowflake id, bool *ret_found, struct join_request *ret)
{
    return tx_find_first(tx, sql, BIND(v_id(guild_id), v_id(id)), join_request_from_row, ret,
                         ret_found);
}

enum err join_request_find(struct tx *tx, snowflake guild_id, snowflake id, bool *ret_found,
                           struct join_request *ret)
{
    return find_join_request_with_sql(tx, SQL(REQUEST_COLUMNS "guild_id = $1 and id = $2"),
                                      guild_id, id, ret_found, ret);
}

enum err join_request_find_of_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                   bool *ret_found, struct join_request *ret)
{
    return find_join_request_with_sql(tx, SQL(REQUEST_COLUMNS "guild_id = $1 and user_id = $2"),
                                      guild_id, user_id, ret_found, ret);
}

static const char SAVE_REQUEST[] =
    "insert into join_requests (id, guild_id, user_id, status, created_at, reviewed_at, "
    "reviewed_by, rejection_reason, responses) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
    "on conflict (id) do update set status = $4, created_at = $5, reviewed_at = $6, "
    "reviewed_by = $7, rejection_reason = $8, responses = $9";

enum err join_request_write(struct tx *tx, const struct join_request *r)
{
    struct str responses = json_column_encode(tx_arena(tx), &type_form_fields, &r->form_responses);

    return tx_exec(tx, SAVE_REQUEST,
                   BIND(v_id(r->id), v_id(r->guild_id), v_id(r->user_id), v_int(r->status),
                        v_int(r->created_at), sql_value_of_optional_int(r->reviewed_at),
                        r->reviewed_by ? v_id(r->reviewed_by) : v_null(),
                        sql_value_of_optional_text(r->rejection_reason), v_text(responses)),
                   NULL);
}

enum err join_request_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, "delete from join_requests where id = $1", BIND(v_id(id)), NULL);
}

enum err join_request_read_users(struct tx *tx, struct join_request *r)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);
    struct user *by = arena_alloc(tx_arena(tx), sizeof *by);
    enum err e = user_find(tx, r->user_id, user);

    if (!e)
        r->user = user;
    if ((!e || e == ERR_UNKNOWN_USER) && r->reviewed_by) {
        e = user_find(tx, r->reviewed_by, by);
        if (!e)
            r->actioned_by_user = by;
    }
    return e == ERR_UNKNOWN_USER ? OK : e;
}

#define PAGE_OF_STATUS "guild_id = $1 and status = $2 and id > $3 and id < $4 order by id "
#define PAGE_OF_ALL    "guild_id = $1 and cast($2 as bigint) = 0 and id > $3 and id < $4 order by id "

static const struct sql PAGES[2][2] = {
    { SQL_TEXT(REQUEST_COLUMNS PAGE_OF_ALL "desc limit $5"),
      SQL_TEXT(REQUEST_COLUMNS PAGE_OF_ALL "limit $5") },
    { SQL_TEXT(REQUEST_COLUMNS PAGE_OF_STATUS "desc limit $5"),
      SQL_TEXT(REQUEST_COLUMNS PAGE_OF_STATUS "limit $5") },
};
static const char COUNT_STATUS[] =
    "select count(*) from join_requests where guild_id = $1 and status = $2";
static const char COUNT_ALL[] = "select count(*) from join_requests where guild_id = $1 and "
                                "cast($2 as bigint) = 0";

/* Lists join requests, newest first. If the query has only `after`, lists the oldest after that id
 * first. */
enum err join_requests_list(struct tx *tx, snowflake guild_id, int64_t status,
                            const struct join_requests_query *q, struct join_requests *ret)
{
    bool forward = q->after.given == GIVEN && q->before.given != GIVEN;
    snowflake before = q->before.given == GIVEN ? q->before.value : INT64_MAX;
    struct value values[] = { v_id(guild_id), v_int(status), v_id(q->after.value), v_id(before),
                              v_int(q->limit) };
    int64_t n = 0;

    *ret = (struct join_requests){ 0 };
    enum err e =
        tx_read_list(tx, PAGES[status != 0][forward], values, COUNT_OF(values),
                     sizeof(struct join_request), join_request_from_row, &ret->guild_join_requests);
    if (!e)
        e = tx_read_int(tx, status ? SQL(COUNT_STATUS) : SQL(COUNT_ALL), values, 2, &n);
    if (!e)
        ret->total = n;
    return e;
}
