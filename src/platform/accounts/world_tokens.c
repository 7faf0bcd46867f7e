/* world_tokens.c - issues tokens for the accounts of an imported world file. */
#include <stdio.h>

#include "platform/accounts/accounts.h"
#include "platform/worlds/import_export.h"

struct wanted_token {
    struct str username, purpose;
    struct str chosen; /* token in the world file; p is NULL if the file has none */
    bool lasts;        /* whether each request returns the same token */
};

static const char FIND_ACCOUNT[] =
    "select u.id, u.bot, (select min(a.id) from applications a where a.bot_id = u.id) "
    "from users u where u.username = $1";
/* Deletes the user's earlier token (kind 1) with this purpose, or the only token of a bot (kind
 * 2). */
static const char END_TOKENS[] = "delete from tokens where user_id = $1 and "
                                 "((kind = 1 and client = $2) or kind = 2)";

static enum err replace_token_of_account(struct tx *tx, struct auth *auth,
                                         const struct wanted_token *wanted, bool *ret_found,
                                         bool *ret_bot, struct str *ret_token)
{
    struct rows row;
    enum err e = tx_one(tx, FIND_ACCOUNT, BIND(v_text(wanted->username)), &row, ret_found);

    if (e || !*ret_found)
        return e;
    struct token_to_issue grant = {
        .user_id = row_id(&row, 0),
        .kind = row_bool(&row, 1) ? CALLER_BOT : CALLER_USER,
        .application_id = row_id(&row, 2),
        .scopes = STR(""),
        .client = wanted->purpose,
        .lasting = wanted->lasts ? wanted->purpose : (struct str){ 0 },
        .chosen = wanted->chosen,
    };
    *ret_bot = row_bool(&row, 1);
    e = tx_exec(tx, END_TOKENS, BIND(v_id(grant.user_id), v_text(wanted->purpose)), NULL);
    return e ? e : auth_issue_token(auth, tx, &grant, ret_token);
}

static enum err replace_token_in_transaction(struct tx *tx, void *arg)
{
    struct account_token_request *w = arg;
    struct wanted_token wanted = { w->username, w->purpose, .lasts = w->lasts };
    struct str token = { 0 };
    enum err e = replace_token_of_account(tx, w->auth, &wanted, &w->found, &w->bot, &token);

    snprintf(w->token, sizeof w->token, "%.*s", STR_ARGS(token));
    return e;
}

enum err issue_account_token(struct store *store, struct account_token_request *request)
{
    return store_run_transaction_and_wait(store, STORE_WRITE, NULL, replace_token_in_transaction,
                                          request);
}

enum err world_file_import_token(struct world_file_importer *im, struct str username,
                                 const struct opt_str *chosen, const struct json_path *up)
{
    struct wanted_token wanted = { username, STR("guildhall import"), chosen->value, false };
    struct json_path at = json_path_key(up, STR("token"));
    struct imported_account_token t = { .username = username };
    bool found;

    if (form_has_errors(im->form) || (chosen->given != GIVEN && !im->options->tokens))
        return OK;
    if (chosen->given == GIVEN && !is_valid_world_file_token(chosen->value)) {
        form_add_error(im->form, &at, FORM_REGEX);
        return ERR_INVALID_FORM_BODY;
    }
    enum err e =
        replace_token_of_account(im->tx, im->options->auth, &wanted, &found, &t.bot, &t.token);
    if (!e && im->options->tokens)
        *(struct imported_account_token *)list_append(im->arena, &im->report->tokens, sizeof t) = t;
    return e;
}
