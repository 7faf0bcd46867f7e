/* operator.c - the operator's own tools come in as anybody, through the data folder alone. */
#include "platform/accounts/operator.h"

#include <stdio.h>
#include <sys/stat.h>

#include "apps.h"
#include "admin/control/control.h"

/* What the control socket says; "" for nothing. */
static const char *ask(struct world *w, const char *question)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    expect(control_ask(world_folder(w), question, &out) == OK);
    const char *text = str_dupz(world_arena(w), buf_str(&out));
    buf_clear(&out);
    return text;
}

static void who_may_open_the_data_folder_comes_in_as_anybody(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *tool = world_client_with(w, ask(w, "token ada"));
    struct client *other = world_client_with(w, ask(w, "token ada"));

    expect_json(client_get(tool, "/users/@me"), "{'id': '%s'}", ada->id);
    /* Each has a token of its own, which ends without harm to others. */
    expect_status(client_post(tool, "{}", "/auth/logout"), 204);
    expect_error(client_get(tool, "/users/@me"), 401, 0);
    expect_status(client_get(other, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void such_a_token_ends_by_itself(struct world *w)
{
    world_client(w, "ada");
    struct client *tool = world_client_with(w, ask(w, "token ada"));

    world_wait(w, OPERATOR_TOKEN_S - 5);
    expect_status(client_get(tool, "/users/@me"), 200);
    world_wait(w, 6);
    expect_error(client_get(tool, "/users/@me"), 401, 0);
}

static void only_people_are_come_in_as(struct world *w)
{
    world_bot(w, "helper");
    expect(!*ask(w, "token helper"));
    expect(!*ask(w, "token nobody"));
    expect(!*ask(w, "token "));
    expect(!*ask(w, "token"));
    expect(!*ask(w, "tokens ada"));
    expect(!*ask(w, ""));
}

static void the_socket_is_its_owners(struct world *w)
{
    struct stat st;

    expect(stat(TEXT(w, "%s/control", world_folder(w)), &st) == 0);
    expect(S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600);
}

const struct test operator_tests[] = {
    TEST(who_may_open_the_data_folder_comes_in_as_anybody),
    TEST(such_a_token_ends_by_itself),
    TEST(only_people_are_come_in_as),
    TEST(the_socket_is_its_owners),
    { 0 },
};
