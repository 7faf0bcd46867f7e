/* account_deletion.c - deletes the relationships of a deleted account, in steps. */
#include "api/deletion.h"
#include "model/fields/ids.h"
#include "platform/relationships/internal.h"

static const char NEXT_RELATIONSHIPS[] =
    "select user_id, target_id from relationships where user_id = $1 or target_id = $1 "
    "order by user_id, target_id limit $2";
/* Deletes relationship rows of every type, including type 0, with which a user only ignores another
 * user. */
static const char DELETE_RELATIONSHIP[] =
    "delete from relationships where user_id = $1 and target_id = $2";

enum err relationships_delete_of_account(struct call *call, snowflake user_id,
                                         struct deletion_step_limits *step)
{
    struct list mine = { 0 }, theirs = { 0 };
    struct rows rows;
    enum err e =
        tx_query(call->tx, NEXT_RELATIONSHIPS, BIND(v_id(user_id), v_int(step->rows_left)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        id_list_add(call->arena, &mine, row_id(&rows, 0));
        id_list_add(call->arena, &theirs, row_id(&rows, 1));
    }
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < mine.count; i++) {
        snowflake a = ((snowflake *)mine.items)[i], b = ((snowflake *)theirs.items)[i];

        e = relationship_apply_operation(call, OPERATION_END, a, b);
        if (!e)
            e = tx_exec(call->tx, DELETE_RELATIONSHIP, BIND(v_id(a), v_id(b)), NULL);
    }
    deletion_step_subtract_deleted_rows(step, (int64_t)mine.count);
    return e;
}
