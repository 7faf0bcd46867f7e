/* users.c - `guildhall user add` when no server runs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/guildhall.h"
#include "admin/operator_commands/operator_commands.h"
#include "platform/accounts/accounts.h"
#include "tools/tools.h"

struct new_account {
    struct auth *auth;
    struct account_to_create draft;
    struct user user;
    char token[256];
};

static enum err insert_account_without_server(struct tx *tx, void *arg)
{
    struct new_account *n = arg;
    char command[64];
    struct str token;
    enum err e = account_create(tx, n->auth, &n->draft, &n->user, &token);

    if (e)
        return e;
    snprintf(n->token, sizeof n->token, "%.*s", STR_ARGS(token));
    snprintf(command, sizeof command, "user add %.*s%s", STR_ARGS(n->draft.username),
             n->draft.bot ? " bot" : "");
    return operator_log_insert_entry(tx, getuid(), str_of(command));
}

static void print_new_account(const struct command_settings *s, const struct new_account *n)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    buf_printf(&out, "$id\t$token\n%llu\t%s%s\n", (unsigned long long)n->user.id,
               n->draft.bot ? "Bot " : "", n->token);
    print_operator_reply_rows(s, buf_as_str(&out));
    buf_clear(&out);
}

int add_user_without_server(const struct command_settings *s, char **words)
{
    const char *name = words[0];
    bool bot = words[1] != NULL;
    const struct config *config = &s->config;
    struct new_account n = { .draft = { .username = str_of(name), .bot = bot } };
    struct store *store = NULL;
    int status = 1;

    if (bot && strcmp(words[1], "bot") != 0)
        return print_usage_forms("user add NAME [bot]");
    if (!username_is_allowed(n.draft.username))
        return print_usage_error("a name must have 2-32 characters of a-z, 0-9, _ and single dots");
    if (!open_store_as_data_folder_owner(config, &store) &&
        !auth_new(config->data, store, &n.auth)) {
        enum err e = store_run_transaction_and_wait(store, STORE_WRITE, NULL,
                                                    insert_account_without_server, &n);

        if (e == ERR_STORE_CONFLICT)
            fprintf(stderr, "guildhall: the name '%s' is already taken\n", name);
        else if (!e)
            print_new_account(s, &n);
        status = e ? 1 : 0;
    }
    auth_free(n.auth);
    store_close(store);
    return status;
}
