/* operator.c - the operator's own tools come in as anybody, and nobody else does. */
#include "platform/accounts/operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps.h"
#include "base/clock.h"
#include "gate.h"
#include "venues.h"

/* A claim of ada's, now, that was not made before. */
static struct operator_claim claim_of(struct world *w, const char *name, int64_t at)
{
    static int made;

    return (struct operator_claim){
        .username = str_of(name),
        .nonce = str_of(TEXT(w, "%032d", ++made)),
        .at = at,
    };
}

static struct answer try_with(struct client *by, const struct operator_claim *c, const char *proof)
{
    return client_post(by,
                       TEXT(by->world,
                            "{'username': '%.*s', 'nonce': '%.*s', 'at': %lld, 'proof': '%s'}",
                            STR_FMT(c->username), STR_FMT(c->nonce), (long long)c->at, proof),
                       "/auth/operator");
}

static struct answer claim(struct client *by, const struct operator_claim *c)
{
    char proof[OPERATOR_PROOF + 1];

    operator_proof(guildhall_auth(world_server(by->world)), c, proof);
    return try_with(by, c, proof);
}

static struct answer log_in(struct world *w, const char *name, int64_t at)
{
    struct operator_claim c = claim_of(w, name, at);

    return claim(world_stranger(w), &c);
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
    struct client *somebody = world_stranger(w);
    struct operator_claim good = claim_of(w, "ada", clock_s()), other;
    char proof[OPERATOR_PROOF + 1];

    world_client(w, "ada");
    world_client(w, "bob");
    operator_proof(guildhall_auth(world_server(w)), &good, proof);
    other = good;
    other.username = STR("bob");
    expect_error(try_with(somebody, &other, proof), 401, 0);
    other = good;
    other.at++;
    expect_error(try_with(somebody, &other, proof), 401, 0);
    other = claim_of(w, "ada", good.at);
    expect_error(try_with(somebody, &other, proof), 401, 0);
    expect_error(try_with(somebody, &good, ""), 401, 0);
    expect_error(try_with(somebody, &good, TEXT(w, "%s0", proof)), 401, 0);
    proof[0] ^= 1;
    expect_error(try_with(somebody, &good, proof), 401, 0);
    proof[0] ^= 1;
    proof[OPERATOR_PROOF - 1] ^= 1;
    expect_error(try_with(somebody, &good, proof), 401, 0);
    proof[OPERATOR_PROOF - 1] ^= 1;
    /* What was refused has not used it up. */
    expect_status(try_with(somebody, &good, proof), 200);
    expect_invalid(client_post(somebody, "{}", "/auth/operator"), "proof", "BASE_TYPE_REQUIRED");
    good.nonce = STR("short");
    expect_invalid(try_with(somebody, &good, proof), "nonce", "BASE_TYPE_BAD_LENGTH");
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

static void a_proof_is_good_once(struct world *w)
{
    struct operator_claim c = claim_of(w, "ada", clock_s() + 50);
    struct client *tool;

    world_client(w, "ada");
    tool = world_client_with(w, answer_text(claim(world_stranger(w), &c), "token"));
    expect_error(claim(world_stranger(w), &c), 401, 0);
    /* Not after its token is gone, nor when the server was started again. */
    expect_status(client_post(tool, "{}", "/auth/logout"), 204);
    expect_error(claim(world_stranger(w), &c), 401, 0);
    world_restart(w);
    expect_error(claim(world_stranger(w), &c), 401, 0);
    /* Nor as long as it would be good. */
    world_wait(w, 100);
    expect_error(claim(world_stranger(w), &c), 401, 0);
    expect(world_number(w, "select count(*) from tokens where client = 'guildhall'") == 0);
}

/* Waits for what happens by itself. */
static void wait_until(struct world *w, const char *count, int64_t number)
{
    for (int i = 0; i < 100 && world_number(w, count) != number; i++)
        usleep(50 * 1000);
    expect(world_number(w, count) == number);
}

static void a_token_is_good_for_fifteen_minutes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *tool = world_client_with(w, answer_text(log_in(w, "ada", clock_s()), "token"));

    world_wait(w, 15 * 60 - 2);
    expect_status(client_get(tool, "/users/@me"), 200);
    struct gate *session = gate_session(tool, "v=9&encoding=json", "");
    world_wait(w, 3);
    expect_error(client_get(tool, "/users/@me"), 401, 0);
    /* Its connections end, and nothing is left of it. */
    expect_close(session, 4004);
    wait_until(w, "select count(*) from tokens where client = 'guildhall'", 0);
    wait_until(w, "select count(*) from jobs where kind = 'operator_proofs'", 0);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void it_is_for_people(struct world *w)
{
    world_bot(w, "helper");
    expect_error(log_in(w, "helper", clock_s()), 404, 10013);
    expect_error(log_in(w, "nobody", clock_s()), 404, 10013);
}

static void only_this_routes_limit(struct config *config)
{
    config->rate_limits = true;
    config->rate_limit_global = config->rate_limit_anonymous = 1000000;
}

static void an_address_has_a_hundred_tries_in_ten_seconds(struct world *w)
{
    struct operator_claim c = claim_of(w, "ada", clock_s());
    struct client *here = world_stranger(w), *elsewhere = world_client_with(w, "");

    snprintf(elsewhere->address, sizeof elsewhere->address, "127.0.0.2");
    for (int i = 0; i < 100; i++)
        expect_error(try_with(here, &c, "wrong"), 401, 0);
    expect_status(try_with(here, &c, "wrong"), 429);
    expect_error(try_with(elsewhere, &c, "wrong"), 401, 0);
    world_wait(w, 10);
    expect_error(try_with(here, &c, "wrong"), 401, 0);
}

const struct test operator_tests[] = {
    TEST(who_has_the_key_file_comes_in_as_anybody),
    TEST(without_the_key_file_nobody_comes_in),
    TEST(a_proof_is_good_for_a_minute),
    TEST(a_proof_is_good_once),
    TEST(a_token_is_good_for_fifteen_minutes),
    TEST(it_is_for_people),
    TEST_WITH(an_address_has_a_hundred_tries_in_ten_seconds, only_this_routes_limit),
    { 0 },
};
