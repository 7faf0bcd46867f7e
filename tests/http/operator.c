/* operator.c - the operator's own tools come in as anybody, and nobody else does. */
#include "platform/accounts/operator.h"

#include <stdio.h>
#include <stdlib.h>

#include "apps.h"
#include "base/clock.h"

static struct answer try_as(struct world *w, const char *name, int64_t at, const char *proof)
{
    return client_post(
        world_stranger(w),
        TEXT(w, "{'username': '%s', 'at': %lld, 'proof': '%s'}", name, (long long)at, proof),
        "/auth/operator");
}

static struct answer log_in(struct world *w, const char *name, int64_t at)
{
    char proof[OPERATOR_PROOF + 1];

    operator_proof(guildhall_auth(world_server(w)), str_of(name), at, proof);
    return try_as(w, name, at, proof);
}

static void who_has_the_key_file_comes_in_as_anybody(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = log_in(w, "ada", clock_s());

    expect_status(a, 200);
    expect_json(a, "{'user_id': '%s'}", ada->id);
    struct client *tool = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(tool, "/users/@me"), "{'username': 'ada'}");
    /* Each has a token of its own, which ends without harm to others. */
    struct client *other = world_client_with(w, answer_text(log_in(w, "ada", clock_s()), "token"));
    expect_status(client_post(tool, "{}", "/auth/logout"), 204);
    expect_error(client_get(tool, "/users/@me"), 401, 0);
    expect_status(client_get(other, "/users/@me"), 200);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void without_the_key_file_nobody_comes_in(struct world *w)
{
    char proof[OPERATOR_PROOF + 1];
    int64_t now = clock_s();

    world_client(w, "ada");
    world_client(w, "bob");
    operator_proof(guildhall_auth(world_server(w)), STR("ada"), now, proof);
    expect_status(try_as(w, "ada", now, proof), 200);
    expect_error(try_as(w, "bob", now, proof), 401, 0);
    expect_error(try_as(w, "ada", now + 1, proof), 401, 0);
    expect_error(try_as(w, "ada", now, ""), 401, 0);
    expect_error(try_as(w, "ada", now, TEXT(w, "%s0", proof)), 401, 0);
    proof[0] = proof[0] == '0' ? '1' : '0';
    expect_error(try_as(w, "ada", now, proof), 401, 0);
    expect_invalid(client_post(world_stranger(w), "{}", "/auth/operator"), "proof",
                   "BASE_TYPE_REQUIRED");
}

static void a_proof_is_good_for_a_minute(struct world *w)
{
    int64_t now = clock_s();

    world_client(w, "ada");
    expect_status(log_in(w, "ada", now - 50), 200);
    expect_status(log_in(w, "ada", now + 50), 200);
    expect_error(log_in(w, "ada", now - 61), 401, 0);
    expect_error(log_in(w, "ada", now + 70), 401, 0);
}

static void it_is_for_people(struct world *w)
{
    world_bot(w, "helper");
    expect_error(log_in(w, "helper", clock_s()), 404, 10013);
    expect_error(log_in(w, "nobody", clock_s()), 404, 10013);
}

const struct test operator_tests[] = {
    TEST(who_has_the_key_file_comes_in_as_anybody),
    TEST(without_the_key_file_nobody_comes_in),
    TEST(a_proof_is_good_for_a_minute),
    TEST(it_is_for_people),
    { 0 },
};
