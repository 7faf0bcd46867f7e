/* users.c - `guildhall user`: by the server that runs, and `user add` also without one. */
#include <stdio.h>
#include <string.h>

#include "guildhall.h"
#include "platform/accounts/accounts.h"
#include "tools/tools.h"

struct new_account {
    struct auth *auth;
    struct account_draft draft;
    struct user user;
    char token[256];
};

static enum err add_account(struct tx *tx, void *arg)
{
    struct new_account *n = arg;
    struct str token;
    enum err e = account_create(tx, n->auth, &n->draft, &n->user, &token);

    if (!e)
        snprintf(n->token, sizeof n->token, "%.*s", STR_FMT(token));
    return e;
}

static int add_user(const struct config *config, const char *name, bool bot)
{
    struct new_account n = { .draft = { .username = str_of(name), .bot = bot } };
    struct store *store = NULL;
    int status = 1;

    if (!username_allowed(n.draft.username))
        return usage("a name is 2-32 of a-z, 0-9, _ and single dots");
    if (!guildhall_open_store(config, false, &store) && !auth_open(config->data, store, &n.auth)) {
        enum err e = store_run(store, STORE_WRITE, NULL, add_account, &n);

        if (e == ERR_STORE_CONFLICT)
            fprintf(stderr, "guildhall: the name '%s' is taken\n", name);
        else if (!e)
            printf("id     %llu\ntoken  %s%s\n", (unsigned long long)n.user.id, bot ? "Bot " : "",
                   n.token);
        status = e ? 1 : 0;
    }
    auth_close(n.auth);
    store_close(store);
    return status;
}

int tool_user(const struct settings *s, char **arguments)
{
    int status = order_from_words(s, "user", arguments);

    if (status >= 0)
        return status;
    /* The first account is made before anything runs. */
    if (strcmp(arguments[0], "add") == 0)
        return add_user(&s->config, arguments[1], arguments[2] != NULL);
    fprintf(stderr, "guildhall: no server runs on '%s'\n", s->config.data);
    return 1;
}
