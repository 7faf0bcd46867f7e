/* roles.c - creating, changing and deleting roles, and the required permissions. */
#include "guilds.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "platform/guilds/guilds.h"

static void expect_audit_entry(struct ranks *r, int action, const char *target)
{
    expect_received(
        r->ada->world,
        audience_of_members_with_permission(id_of(r->guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': %d, 'target_id': '%s'}", action, target);
}

/* --- reading -------------------------------------------------------------------------- */

static void role_list_is_ordered_by_position_for_members(struct world *w)
{
    struct ranks r = world_ranks(w, 0);

    expect_json(client_get(r.bob, "/guilds/%s/roles", r.guild),
                "[{'id': '%s', 'name': '@everyone', 'position': 0}, "
                "{'id': '%s', 'name': 'low', 'position': 1}, "
                "{'id': '%s', 'name': 'bobs', 'position': 2}, "
                "{'id': '%s', 'name': 'high', 'position': 3}]",
                r.guild, r.low, r.bobs, r.high);
    expect_json(client_get(r.bob, "/guilds/%s/roles/%s", r.guild, r.high),
                "{'id': '%s', 'name': 'high', 'icon': null, 'unicode_emoji': null}", r.high);
    expect_absent(client_get(r.bob, "/guilds/%s/roles/%s", r.guild, r.high), "tags");
    expect_error(client_get(r.bob, "/guilds/%s/roles/1", r.guild), 404, 10011);
    expect_error(client_get(world_client(w, "cleo"), "/guilds/%s/roles", r.guild), 403, 50001);
}

static void role_of_another_guild_is_404_10011(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    const char *other = found_guild(r.ada, "Other");

    expect_error(client_get(r.ada, "/guilds/%s/roles/%s", other, r.low), 404, 10011);
    expect_error(client_patch(r.ada, "{}", "/guilds/%s/roles/%s", other, r.low), 404, 10011);
    expect_error(client_delete(r.ada, "/guilds/%s/roles/%s", other, r.low), 404, 10011);
}

/* --- creating ------------------------------------------------------------------------- */

static void new_role_gets_position_1_above_everyone(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    struct answer a = client_post(r.bob, "{}", "/guilds/%s/roles", r.guild);

    expect_status(a, 200);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'name': 'new role', 'position': 1, 'permissions': '%llu', 'color': 0, "
                "'hoist': false, 'mentionable': false, 'managed': false, 'flags': 0, "
                "'colors': {'primary_color': 0, 'secondary_color': null, 'tertiary_color': null}}",
                BITS(PERMISSIONS_DEFAULT));
    expect_audit_entry(&r, AUDIT_ROLE_CREATE, id);
    expect_received(w, audience_of_guild(id_of(r.guild)), "GUILD_ROLE_CREATE",
                    "{'guild_id': '%s', 'role': {'id': '%s', 'position': 1}}", r.guild, id);
    expect_nothing_received(w);
    expect_json(client_get(r.bob, "/guilds/%s/roles", r.guild),
                "[{'id': '%s', 'position': 0}, {'id': '%s', 'position': 1}, "
                "{'id': '%s', 'position': 2}, {'id': '%s', 'position': 3}, "
                "{'id': '%s', 'position': 4}]",
                r.guild, id, r.low, r.bobs, r.high);
}

static void role_can_be_created_with_all_its_fields(struct world *w)
{
    struct ranks r = world_ranks(w, 0);

    expect_json(client_post(r.ada,
                            "{'name': ' Smiths ', 'permissions': 1024, 'color': 5, 'hoist': true, "
                            "'mentionable': true, 'unicode_emoji': '\xf0\x9f\x94\xa8', 'colors': "
                            "{'primary_color': 16777215, 'secondary_color': 1}}",
                            "/guilds/%s/roles", r.guild),
                "{'name': 'Smiths', 'permissions': '1024', 'color': 16777215, 'hoist': true, "
                "'mentionable': true, 'unicode_emoji': '\xf0\x9f\x94\xa8', 'colors': "
                "{'primary_color': 16777215, 'secondary_color': 1, 'tertiary_color': null}}");
    expect_json(client_post(r.ada,
                            "{'name': null, 'permissions': null, 'color': null, 'colors': null, "
                            "'hoist': null, 'mentionable': null, 'icon': null}",
                            "/guilds/%s/roles", r.guild),
                "{'name': 'new role', 'permissions': '%llu', 'color': 0, 'icon': null}",
                BITS(PERMISSIONS_DEFAULT));
    expect_json(client_post(r.ada, "{'color': 255}", "/guilds/%s/roles", r.guild),
                "{'color': 255, 'colors': {'primary_color': 255}}");
}

static void role_fields_outside_their_limits_are_refused(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    static const struct {
        const char *body, *field, *code;
    } bad[] = {
        { "{'name': ' '}", "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'color': 16777216}", "color", "NUMBER_TYPE_MAX" },
        { "{'color': -1}", "color", "NUMBER_TYPE_MIN" },
        { "{'colors': {}}", "colors.primary_color", "BASE_TYPE_REQUIRED" },
        { "{'colors': {'primary_color': 0, 'tertiary_color': 16777216}}", "colors.tertiary_color",
          "NUMBER_TYPE_MAX" },
        { "{'hoist': 'x'}", "hoist", "BOOLEAN_TYPE_CONVERT" },
        { "{'permissions': 'x'}", "permissions", "NUMBER_TYPE_COERCE" },
        { "{'icon': 'x'}", "icon", "IMAGE_INVALID" },
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        expect_invalid(client_post(r.ada, bad[i].body, "/guilds/%s/roles", r.guild), bad[i].field,
                       bad[i].code);
        expect_invalid(client_patch(r.ada, bad[i].body, "/guilds/%s/roles/%s", r.guild, r.low),
                       bad[i].field, bad[i].code);
    }
    expect_invalid(
        client_post(r.ada, TEXT(w, "{'name': '%0101d'}", 1), "/guilds/%s/roles", r.guild), "name",
        "BASE_TYPE_BAD_LENGTH");
    expect_nothing_received(w);
    expect_status(client_post(r.ada, TEXT(w, "{'name': '%0100d'}", 1), "/guilds/%s/roles", r.guild),
                  200);
}

static void changing_roles_requires_manage_roles(struct world *w)
{
    struct ranks r =
        world_ranks(w, PERMISSIONS_ALL & ~PERMISSION(MANAGE_ROLES) & ~PERMISSION(ADMINISTRATOR));

    expect_error(client_post(r.bob, "{}", "/guilds/%s/roles", r.guild), 403, 50013);
    expect_error(client_post(r.bob, "{'icon': '" PNG "'}", "/guilds/%s/roles", r.guild), 403,
                 50013);
    expect_error(client_patch(r.bob, "[]", "/guilds/%s/roles", r.guild), 403, 50013);
    expect_error(client_patch(r.bob, "{}", "/guilds/%s/roles/%s", r.guild, r.low), 403, 50013);
    expect_error(client_delete(r.bob, "/guilds/%s/roles/%s", r.guild, r.low), 403, 50013);
    expect_nothing_received(w);
}

static void role_cannot_grant_permissions_the_caller_lacks(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES) | PERMISSION(KICK_MEMBERS));

    expect_error(client_post(r.bob,
                             TEXT(w, "{'permissions': '%llu'}", BITS(PERMISSION(BAN_MEMBERS))),
                             "/guilds/%s/roles", r.guild),
                 403, 50013);
    expect_error(client_patch(r.bob,
                              TEXT(w, "{'permissions': '%llu'}", BITS(PERMISSION(ADMINISTRATOR))),
                              "/guilds/%s/roles/%s", r.guild, r.low),
                 403, 50013);
    expect_nothing_received(w);
    /* Permissions of @everyone count as the caller's. */
    uint64_t own = PERMISSIONS_DEFAULT | PERMISSION(MANAGE_ROLES) | PERMISSION(KICK_MEMBERS);
    expect_json(client_post(r.bob, TEXT(w, "{'permissions': '%llu'}", BITS(own)),
                            "/guilds/%s/roles", r.guild),
                "{'permissions': '%llu'}", BITS(own));
}

static void role_may_keep_permissions_the_caller_lacks(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    uint64_t had = PERMISSION(BAN_MEMBERS);

    expect_status(client_patch(r.ada, TEXT(w, "{'permissions': '%llu'}", BITS(had)),
                               "/guilds/%s/roles/%s", r.guild, r.low),
                  200);
    expect_status(client_patch(r.bob, "{'name': 'renamed'}", "/guilds/%s/roles/%s", r.guild, r.low),
                  200);
    expect_json(client_patch(r.bob,
                             TEXT(w, "{'permissions': '%llu'}", BITS(had | PERMISSION(SPEAK))),
                             "/guilds/%s/roles/%s", r.guild, r.low),
                "{'permissions': '%llu'}", BITS(had | PERMISSION(SPEAK)));
}

static void administrators_and_owners_can_grant_all_permissions(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(ADMINISTRATOR));
    const char *all = TEXT(w, "{'permissions': '%llu'}", BITS(PERMISSIONS_ALL));

    expect_status(client_post(r.bob, all, "/guilds/%s/roles", r.guild), 200);
    expect_status(client_post(r.ada, all, "/guilds/%s/roles", r.guild), 200);
}

static void unknown_permission_bits_of_a_role_are_dropped(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));

    expect_json(
        client_post(r.bob, "{'permissions': '9223372036854775808'}", "/guilds/%s/roles", r.guild),
        "{'permissions': '0'}");
    expect_json(client_patch(r.ada, "{'permissions': '18446744073709551615'}",
                             "/guilds/%s/roles/%s", r.guild, r.low),
                "{'permissions': '%llu'}", BITS(PERMISSIONS_ALL));
}

static void guild_is_limited_to_250_roles(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "The Guild");

    for (int i = 1; i < 250; i++)
        expect_status(client_post(ada, "{}", "/guilds/%s/roles", guild), 200);
    discard_received(w);
    expect_error(client_post(ada, "{}", "/guilds/%s/roles", guild), 400, 30005);
    expect_nothing_received(w);
    struct answer a = client_get(ada, "/guilds/%s/roles", guild);
    expect(a.json->count == 250);
    expect_status(client_delete(ada, "/guilds/%s/roles/%s", guild, answer_text(a, "9.id")), 204);
    expect_status(client_post(ada, "{}", "/guilds/%s/roles", guild), 200);
}

/* --- changing ------------------------------------------------------------------------- */

static void changing_a_role_sends_guild_role_update(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    struct answer a = client_patch(
        r.bob, "{'name': 'Lower', 'hoist': true, 'mentionable': true, 'permissions': '0'}",
        "/guilds/%s/roles/%s", r.guild, r.low);
    const char *changed =
        "{'name': 'Lower', 'hoist': true, 'mentionable': true, 'permissions': '0', "
        "'position': 1}";

    expect_status(a, 200);
    expect_json(a, "%s", changed);
    expect_audit_entry(&r, AUDIT_ROLE_UPDATE, r.low);
    expect_received(w, audience_of_guild(id_of(r.guild)), "GUILD_ROLE_UPDATE",
                    "{'guild_id': '%s', 'role': %s}", r.guild, changed);
    expect_nothing_received(w);
    expect_json(client_get(r.bob, "/guilds/%s/roles/%s", r.guild, r.low), "%s", changed);
    expect_json(client_patch(r.bob, "{}", "/guilds/%s/roles/%s", r.guild, r.low), "%s", changed);
    expect_json(client_patch(r.bob,
                             "{'name': null, 'hoist': null, 'mentionable': null, 'permissions': "
                             "null, 'unicode_emoji': null}",
                             "/guilds/%s/roles/%s", r.guild, r.low),
                "{'name': 'new role', 'hoist': false, 'mentionable': false, 'permissions': '%llu'}",
                BITS(PERMISSIONS_DEFAULT));
}

static void role_colors_field_overrides_color(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    const char *path = TEXT(w, "/guilds/%s/roles/%s", r.guild, r.low);

    expect_json(client_patch(r.ada,
                             "{'color': 7, 'colors': {'primary_color': 1, 'secondary_color': 2, "
                             "'tertiary_color': 3}}",
                             "%s", path),
                "{'color': 1, 'colors': {'primary_color': 1, 'secondary_color': 2, "
                "'tertiary_color': 3}}");
    expect_json(client_patch(r.ada, "{'name': 'x'}", "%s", path),
                "{'color': 1, 'colors': {'secondary_color': 2, 'tertiary_color': 3}}");
    expect_json(client_patch(r.ada, "{'color': 9}", "%s", path),
                "{'color': 9, 'colors': {'primary_color': 9, 'secondary_color': null, "
                "'tertiary_color': null}}");
    expect_json(client_patch(r.ada, "{'colors': null}", "%s", path),
                "{'color': 0, 'colors': {'primary_color': 0, 'secondary_color': null}}");
}

static void only_roles_below_the_callers_highest_can_be_changed(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(ADMINISTRATOR));
    const char *const too_high[] = { r.bobs, r.high };

    for (size_t i = 0; i < COUNT_OF(too_high); i++) {
        expect_error(client_patch(r.bob, "{}", "/guilds/%s/roles/%s", r.guild, too_high[i]), 403,
                     50013);
        expect_error(
            client_patch(r.bob, "{'icon': '" PNG "'}", "/guilds/%s/roles/%s", r.guild, too_high[i]),
            403, 50013);
        expect_error(
            client_patch(r.bob, "{'name': 5}", "/guilds/%s/roles/%s", r.guild, too_high[i]), 403,
            50013);
        expect_error(client_delete(r.bob, "/guilds/%s/roles/%s", r.guild, too_high[i]), 403, 50013);
    }
    expect_nothing_received(w);
    expect_status(client_patch(r.bob, "{}", "/guilds/%s/roles/%s", r.guild, r.low), 200);
    expect_status(client_delete(r.bob, "/guilds/%s/roles/%s", r.guild, r.low), 204);
    expect_status(client_patch(r.ada, "{}", "/guilds/%s/roles/%s", r.guild, r.high), 200);
}

static void only_permissions_of_the_everyone_role_can_be_changed(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    static const char *const bodies[] = { "{'name': 'all'}",
                                          "{'color': 1}",
                                          "{'hoist': true}",
                                          "{'mentionable': true}",
                                          "{'icon': null}",
                                          "{'unicode_emoji': 'x'}",
                                          "{'colors': {'primary_color': 1}}" };

    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        expect_error(client_patch(r.ada, bodies[i], "/guilds/%s/roles/%s", r.guild, r.guild), 400,
                     50028);
    expect_error(client_delete(r.ada, "/guilds/%s/roles/%s", r.guild, r.guild), 400, 50028);
    expect_error(client_delete(r.bob, "/guilds/%s/roles/%s", r.guild, r.guild), 400, 50028);
    expect_nothing_received(w);
    expect_json(
        client_patch(r.bob, "{'permissions': '1024'}", "/guilds/%s/roles/%s", r.guild, r.guild),
        "{'id': '%s', 'name': '@everyone', 'permissions': '1024'}", r.guild);
}

static void role_icon_can_be_set_and_is_served(struct world *w)
{
    struct ranks r = world_ranks(w, PERMISSION(MANAGE_ROLES));
    struct answer a =
        client_patch(r.bob, "{'icon': '" PNG "'}", "/guilds/%s/roles/%s", r.guild, r.low);

    expect_status(a, 200);
    const char *path = TEXT(w, "/roles/%s/icons/%s.png", r.low, answer_text(a, "icon"));
    const char *new_path = TEXT(w, "/role-icons/%s/%s.png", r.low, answer_text(a, "icon"));
    expect_status(client_request(world_anonymous(w), "GET", new_path, NULL, STR("")), 200);
    expect_status(client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 }), 200);
    expect_json(client_patch(r.bob, "{'name': 'x'}", "/guilds/%s/roles/%s", r.guild, r.low),
                "{'icon': '%s'}", answer_text(a, "icon"));
    expect_json(client_patch(r.bob, "{'icon': null}", "/guilds/%s/roles/%s", r.guild, r.low),
                "{'icon': null}");

    a = client_post(r.bob, "{'icon': '" PNG "'}", "/guilds/%s/roles", r.guild);
    path = TEXT(w, "/roles/%s/icons/%s", answer_text(a, "id"), answer_text(a, "icon"));
    expect_status(client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 }), 200);
}

static void role_icon_is_limited_to_256_kib(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    size_t n = 360 * 1024;
    char *body = mem_resize(NULL, n + 100);
    char *p = body + sprintf(body, "{\"icon\": \"data:image/png;base64,iVBORw0KGgoA");

    memset(p, 'A', n);
    strcpy(p + n, "\"}");
    struct answer a = client_post(r.ada, body, "/guilds/%s/roles", r.guild);
    mem_free(body);
    expect_invalid(a, "icon", "BINARY_TYPE_MAX_SIZE");
}

/* --- deleting ------------------------------------------------------------------------- */

static enum err count_role_references(struct tx *tx, void *arg)
{
    snowflake *role = arg;
    struct rows row;
    bool found;
    enum err e = tx_one(tx,
                        "select (select count(*) from member_roles where role_id = $1) + "
                        "(select count(*) from overwrites where target_id = $1)",
                        BIND(v_id(*role)), &row, &found);

    *role = (snowflake)row_int(&row, 0);
    return e;
}

static snowflake read_role_references(struct world *w, const char *role)
{
    snowflake id = id_of(role);

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_READ,
                                           world_arena(w), count_role_references, &id));
    return id;
}

static enum err insert_many_channel_overwrites(struct tx *tx, void *arg)
{
    const snowflake *ids = arg;

    return tx_exec(tx,
                   "insert into overwrites (channel_id, target_id, type) "
                   "select id, cast($2 as bigint), 0 from channels where guild_id = $1",
                   BIND(v_id(ids[0]), v_id(ids[1])), NULL);
}

static void deleting_a_role_removes_it_from_members_and_overwrites(struct world *w)
{
    struct ranks r = world_ranks(w, 0);
    snowflake ids[] = { id_of(r.guild), id_of(r.low) };

    put_role_on(r.guild, r.bob, r.low);
    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                           world_arena(w), insert_many_channel_overwrites, ids));
    expect(read_role_references(w, r.low) == 5);
    expect_status(client_delete(r.ada, "/guilds/%s/roles/%s", r.guild, r.low), 204);
    expect_audit_entry(&r, AUDIT_ROLE_DELETE, r.low);
    expect_received(w, audience_of_guild(id_of(r.guild)), "GUILD_ROLE_DELETE",
                    "{'guild_id': '%s', 'role_id': '%s'}", r.guild, r.low);
    expect_nothing_received(w);
    expect(read_role_references(w, r.low) == 0);
    expect(read_role_references(w, r.bobs) == 1);
    expect_error(client_delete(r.ada, "/guilds/%s/roles/%s", r.guild, r.low), 404, 10011);
    expect_json(client_get(r.bob, "/guilds/%s/roles", r.guild),
                "[{}, {'id': '%s', 'position': 1}, {'id': '%s', 'position': 2}]", r.bobs, r.high);
}

static enum err set_role_managed(struct tx *tx, void *arg)
{
    return tx_exec(tx, "update roles set managed = 1, bot_id = 5 where id = $1",
                   BIND(v_id(id_of(arg))), NULL);
}

static void managed_role_cannot_be_deleted(struct world *w)
{
    struct ranks r = world_ranks(w, 0);

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                           world_arena(w), set_role_managed, (void *)r.low));
    expect_error(client_delete(r.ada, "/guilds/%s/roles/%s", r.guild, r.low), 400, 50028);
    expect_nothing_received(w);
    expect_json(client_patch(r.ada, "{'color': 3}", "/guilds/%s/roles/%s", r.guild, r.low),
                "{'color': 3, 'managed': true, 'tags': {'bot_id': '5'}}");
}

const struct test roles_tests[] = {
    TEST(role_list_is_ordered_by_position_for_members),
    TEST(role_of_another_guild_is_404_10011),
    TEST(new_role_gets_position_1_above_everyone),
    TEST(role_can_be_created_with_all_its_fields),
    TEST(role_fields_outside_their_limits_are_refused),
    TEST(changing_roles_requires_manage_roles),
    TEST(role_cannot_grant_permissions_the_caller_lacks),
    TEST(role_may_keep_permissions_the_caller_lacks),
    TEST(administrators_and_owners_can_grant_all_permissions),
    TEST(unknown_permission_bits_of_a_role_are_dropped),
    TEST(guild_is_limited_to_250_roles),
    TEST(changing_a_role_sends_guild_role_update),
    TEST(role_colors_field_overrides_color),
    TEST(only_roles_below_the_callers_highest_can_be_changed),
    TEST(only_permissions_of_the_everyone_role_can_be_changed),
    TEST(role_icon_can_be_set_and_is_served),
    TEST(role_icon_is_limited_to_256_kib),
    TEST(deleting_a_role_removes_it_from_members_and_overwrites),
    TEST(managed_role_cannot_be_deleted),
    { 0 },
};
