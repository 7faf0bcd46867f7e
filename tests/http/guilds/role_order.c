/* role_order.c - role positions and who may change them. */
#include "guilds.h"

#include "base/mem.h"

/* --- positions ------------------------------------------------------------------------ */

static void role_positions_can_be_changed_with_role_update_events(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    struct answer a = client_patch(
        r.ada, TEXT(w, "[{'id': '%s', 'position': 3}, {'id': '%s', 'position': 1}]", r.low, r.high),
        "/guilds/%s/roles", r.guild);

    expect_status(a, 200);
    expect_json(a,
                "[{'id': '%s', 'position': 0}, {'id': '%s', 'position': 1}, "
                "{'id': '%s', 'position': 2}, {'id': '%s', 'position': 3}]",
                r.guild, r.high, r.bobs, r.low);
    expect_received(w, audience_of_guild(id_of(r.guild)), "GUILD_ROLE_UPDATE",
                    "{'guild_id': '%s', 'role': {'id': '%s', 'position': 1}}", r.guild, r.high);
    expect_received(w, audience_of_guild(id_of(r.guild)), "GUILD_ROLE_UPDATE",
                    "{'role': {'id': '%s', 'position': 3}}", r.low);
    expect_nothing_received(w);
    expect_json(client_get(r.bob, "/guilds/%s/roles", r.guild),
                "[{}, {'id': '%s'}, {'id': '%s'}, {'id': '%s'}]", r.high, r.bobs, r.low);
}

static void moving_one_role_shifts_the_others(struct world *w)
{
    struct ranks r = world_ranks(w, 0);

    expect_json(client_patch(r.ada, TEXT(w, "[{'id': '%s', 'position': 1}]", r.high),
                             "/guilds/%s/roles", r.guild),
                "[{}, {'id': '%s', 'position': 1}, {'id': '%s', 'position': 2}, "
                "{'id': '%s', 'position': 3}]",
                r.high, r.low, r.bobs);
    expect_json(client_patch(r.ada, TEXT(w, "[{'id': '%s', 'position': 99}]", r.high),
                             "/guilds/%s/roles", r.guild),
                "[{}, {'id': '%s', 'position': 1}, {'id': '%s', 'position': 2}, "
                "{'id': '%s', 'position': 3}]",
                r.low, r.bobs, r.high);
    expect_json(client_patch(r.ada, TEXT(w, "[{'id': '%s', 'position': 0}]", r.high),
                             "/guilds/%s/roles", r.guild),
                "[{'id': '%s', 'position': 0}, {'id': '%s', 'position': 1}, {'id': '%s'}, {}]",
                r.guild, r.high, r.low);
}

static void unchanged_role_positions_send_no_events(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));

    expect_status(client_patch(r.bob,
                               TEXT(w,
                                    "[{'id': '%s', 'position': 0}, {'id': '%s', 'position': 1}, "
                                    "{'id': '%s', 'position': 2}, {'id': '%s', 'position': 3}]",
                                    r.guild, r.low, r.bobs, r.high),
                               "/guilds/%s/roles", r.guild),
                  200);
    expect_status(client_patch(r.bob, "[]", "/guilds/%s/roles", r.guild), 200);
    expect_status(client_patch(r.bob, TEXT(w, "[{'id': '%s', 'position': null}]", r.high),
                               "/guilds/%s/roles", r.guild),
                  200);
    expect_nothing_received(w);
}

static void roles_can_be_moved_only_below_the_callers_highest_role(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(ADMINISTRATOR));
    const char *lowest =
        make_role(r.ada, r.guild, "{}"); /* from lowest to highest: lowest, low, bobs, high */
    const struct {
        const char *id;
        int position, status;
    } cases[] = {
        { r.high, 1, 403 }, { r.high, 3, 403 }, { r.bobs, 1, 403 }, { r.bobs, 4, 403 },
        { r.low, 4, 403 },  { r.low, 3, 403 },  { lowest, 3, 403 }, { lowest, 2, 200 },
        { r.low, 2, 200 },  { r.low, 1, 200 },  { r.high, 4, 200 },
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct answer a = client_patch(
            r.bob, TEXT(w, "[{'id': '%s', 'position': %d}]", cases[i].id, cases[i].position),
            "/guilds/%s/roles", r.guild);
        expect_status(a, cases[i].status);
        if (cases[i].status == 403)
            expect_error(a, 403, 50013);
    }
}

static void everyone_role_and_unknown_roles_cannot_be_moved(struct world *w)
{
    struct ranks r = world_ranks(w, 0);

    expect_error(client_patch(r.ada, TEXT(w, "[{'id': '%s', 'position': 1}]", r.guild),
                              "/guilds/%s/roles", r.guild),
                 400, 50028);
    expect_error(client_patch(r.ada, "[{'id': '5', 'position': 1}]", "/guilds/%s/roles", r.guild),
                 404, 10011);
    expect_invalid(client_patch(r.ada, "[{'position': 1}]", "/guilds/%s/roles", r.guild), "0.id",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(r.ada, TEXT(w, "[{'id': '%s', 'position': -1}]", r.low),
                                "/guilds/%s/roles", r.guild),
                   "0.position", "NUMBER_TYPE_MIN");
    expect_nothing_received(w);
}

static enum err set_position(struct tx *tx, void *arg)
{
    const snowflake *ids = arg;

    return tx_exec(tx, "update roles set position = 7 where id in ($1, $2)",
                   BIND(v_id(ids[0]), v_id(ids[1])), NULL);
}

static void older_of_two_roles_at_the_same_position_is_higher(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    snowflake ids[] = { id_of(r.high), id_of(r.bobs) };

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                           world_arena(w), set_position, ids));
    /* Role high is older than bobs. */
    expect_json(client_get(r.bob, "/guilds/%s/roles", r.guild),
                "[{}, {'id': '%s'}, {'id': '%s', 'position': 7}, {'id': '%s', 'position': 7}]",
                r.low, r.bobs, r.high);
    expect_error(client_patch(r.bob, "{}", "/guilds/%s/roles/%s", r.guild, r.high), 403, 50013);
}

const struct test role_order_tests[] = {
    TEST(role_positions_can_be_changed_with_role_update_events),
    TEST(moving_one_role_shifts_the_others),
    TEST(unchanged_role_positions_send_no_events),
    TEST(roles_can_be_moved_only_below_the_callers_highest_role),
    TEST(everyone_role_and_unknown_roles_cannot_be_moved),
    TEST(older_of_two_roles_at_the_same_position_is_higher),
    { 0 },
};
