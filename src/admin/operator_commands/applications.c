/* applications.c - operator commands that change applications and their bots. */
#include "platform/applications/applications.h"

#include "admin/operator_commands/internal.h"

enum err operator_app_renew_token(struct call *call, struct running_operator_command *o)
{
    struct application a;
    struct str token;
    snowflake id;
    enum err e = snowflake_parse(o->words[0], &id) ? application_find(call->tx, id, &a)
                                                   : ERR_UNKNOWN_APPLICATION;

    if (e)
        return e == ERR_UNKNOWN_APPLICATION
                   ? operator_command_set_error_sentence(o, e, o->row->unknown)
                   : e;
    if (!a.bot_id)
        return operator_command_set_error_sentence(o, ERR_BAD_REQUEST,
                                                   "this application has no bot");
    e = application_reset_bot_token(call->tx, api_get_options(call->api)->auth, &a, &token);
    if (e)
        return e;
    call_revoke_account_tokens(call, a.bot_id);
    OPERATOR_ROW(o, v_id(a.id), v_text(STR_CONCAT(call->arena, STR("Bot "), token)));
    return OK;
}
