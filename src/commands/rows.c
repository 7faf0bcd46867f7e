/* rows.c - commands in the store. */
#include "commands/internal.h"

#include "platform/rows.h"

static const char FIND_COMMAND[] =
    "select definition from commands where id = $1 and application_id = $2";

enum err command_find(struct tx *tx, snowflake application_id, snowflake command_id,
                      struct command *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, FIND_COMMAND, BIND(v_id(command_id), v_id(application_id)), &row, &found);

    if (e)
        return e;
    const struct command *k =
        found ? column_decode(tx_arena(tx), &type_command_kept, row_text(&row, 0)) : NULL;
    if (!k)
        return ERR_UNKNOWN_COMMAND;
    *ret = *k;
    return OK;
}
