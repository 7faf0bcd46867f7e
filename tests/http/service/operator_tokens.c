/* operator_tokens.c - the operator's tools get tokens for any account through the data folder. */
#include "platform/accounts/operator.h"

#include <stdio.h>
#include <sys/stat.h>

#include "apps.h"
#include "admin/control/control.h"

/* Returns the control socket's reply; "" for none. */
static const char *ask_control_socket(struct world *w, const char *question)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), question, &out) == OK);
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&out));
    buf_clear(&out);
    return text;
}

static void control_socket_issues_tokens_for_any_user_account(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *tool = world_client_with(w, ask_control_socket(w, "token ada"));
    struct client *other = world_client_with(w, ask_control_socket(w, "token ada"));

    expect_json(client_get(tool, "/users/@me"), "{'id': '%s'}", ada->id);
    /* Each token is separate and can be revoked alone. */
    expect_status(client_post(tool, "{}", "/auth/logout"), 204);
    expect_error(client_get(tool, "/users/@me"), 401, 0);
    expect_status(client_get(other, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void operator_token_expires(struct world *w)
{
    world_client(w, "ada");
    struct client *tool = world_client_with(w, ask_control_socket(w, "token ada"));

    world_wait(w, OPERATOR_TOKEN_S - 5);
    expect_status(client_get(tool, "/users/@me"), 200);
    world_wait(w, 6);
    expect_error(client_get(tool, "/users/@me"), 401, 0);
}

static void control_socket_issues_no_tokens_for_bots_or_unknown_names(struct world *w)
{
    world_bot(w, "helper");
    expect(!*ask_control_socket(w, "token helper"));
    expect(!*ask_control_socket(w, "token nobody"));
    expect(!*ask_control_socket(w, "token "));
    expect(!*ask_control_socket(w, "token"));
    expect(!*ask_control_socket(w, "tokens ada"));
    expect(!*ask_control_socket(w, ""));
}

static void control_socket_is_accessible_to_its_owner_only(struct world *w)
{
    struct stat st;

    expect(stat(TEXT(w, "%s/control", world_folder(w)), &st) == 0);
    expect(S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600);
}

const struct test operator_tokens_tests[] = {
    TEST(control_socket_issues_tokens_for_any_user_account),
    TEST(operator_token_expires),
    TEST(control_socket_issues_no_tokens_for_bots_or_unknown_names),
    TEST(control_socket_is_accessible_to_its_owner_only),
    { 0 },
};
