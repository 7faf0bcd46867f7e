/* channel_overwrites.c - permission overwrites of new channels, of single targets and of
 * categories. */
#include "channels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "platforms.h"
#include "test_guild.h"

#define CHANNELS "/guilds/%s/channels"

/* --- overwrites of new channels ------------------------------------------------------- */

static void new_channel_copies_the_overwrites_of_its_category(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    const char *cat = make_channel(ada, g,
                                   str_printf(arena,
                                              "{'name': 'cat', 'type': 4, 'permission_overwrites': "
                                              "[{'id': '%s', 'type': 0, 'deny': '2048'}]}",
                                              g)
                                       .p);

    expect_json(
        try_channel(ada, g, str_printf(arena, "'parent_id': '%s'", cat).p),
        "{'permission_overwrites': [{'id': '%s', 'type': 0, 'allow': '0', 'deny': '2048'}]}", g);
    struct answer a = try_channel(
        ada, g, str_printf(arena, "'parent_id': '%s', 'permission_overwrites': []", cat).p);
    expect(dom_at(a.json, "permission_overwrites")->count == 0);
}

static void unknown_permission_bits_of_overwrites_are_dropped(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");

    expect_json(try_channel(ada, g,
                            str_printf(world_arena(w),
                                       "'permission_overwrites': [{'id': '%s', 'type': 0, "
                                       "'allow': '4611686018427388928'}]",
                                       g)
                                .p),
                "{'permission_overwrites': [{'allow': '1024', 'deny': '0'}]}");
}

static void new_channel_overwrites_cannot_exceed_the_callers_permissions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    struct client *bob =
        member_with(ada, g, "bob", PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES));
    struct client *cleo = member_with(ada, g, "cleo", PERMISSION(ADMINISTRATOR));
#define OVERWRITE(kind, bits)                                                                      \
    str_printf(arena, "'permission_overwrites': [{'id': '%s', 'type': 0, '%s': '%llu'}]", g, kind, \
               (unsigned long long)(bits))                                                         \
        .p

    expect_status(try_channel(bob, g, OVERWRITE("deny", PERMISSION(VIEW_CHANNEL))), 201);
    expect_error(try_channel(bob, g, OVERWRITE("allow", PERMISSION(KICK_MEMBERS))), 403, 50013);
    expect_error(try_channel(bob, g, OVERWRITE("deny", PERMISSION(KICK_MEMBERS))), 403, 50013);
    expect_error(try_channel(bob, g, OVERWRITE("allow", PERMISSION(MANAGE_ROLES))), 403, 50013);
    expect_status(try_channel(cleo, g, OVERWRITE("allow", PERMISSION(MANAGE_ROLES))), 201);
    expect_error(
        try_channel(
            ada, g,
            str_printf(arena, "'permission_overwrites': [{'id': '%s', 'type': 0}]", bob->id).p),
        404, 10011);
    expect_status(
        try_channel(
            ada, g,
            str_printf(arena, "'permission_overwrites': [{'id': '%s', 'type': 1}]", bob->id).p),
        201);
}

static void overwrite_target_must_be_a_role_or_member_of_the_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *far = world_client(w, "far");
    const char *g = found_guild(ada, "Hall"), *c = make_channel(ada, g, "{'name': 'a'}");
    struct arena *arena = world_arena(w);
    const char *with = "'permission_overwrites': [{'id': '%s', 'type': 1}]";
    const char *of_far = str_printf(arena, with, far->id).p;

    expect_error(try_channel(ada, g, of_far), 404, 10007);
    expect_error(try_channel(ada, g, str_printf(arena, with, "12345").p), 404, 10007);
    expect_error(client_patch(ada, str_printf(arena, "{%s}", of_far).p, "/channels/%s", c), 404,
                 10007);
    expect_error(client_put(ada, "{'type': 1}", "/channels/%s/permissions/%s", c, far->id), 404,
                 10007);
    /* An existing overwrite may stay when its member has left. */
    world_sql(w, "insert into overwrites (channel_id, target_id, type) values (%s, %s, 1)", c,
              far->id);
    expect_status(client_patch(ada,
                               str_printf(arena,
                                          "{'permission_overwrites': [{'id': '%s', 'type': "
                                          "1}, {'id': '%s', 'type': 1}]}",
                                          far->id, ada->id)
                                   .p,
                               "/channels/%s", c),
                  200);
}

/* Channels with 100 overwrites or fewer do not count towards the guild's limit. */
static void guild_is_limited_to_50000_overwrites(struct world *w)
{
    static const char put_many[] =
        "insert into overwrites (channel_id, target_id, type) with recursive n (i) as (select 1 "
        "union all select i + 1 from n where i < %d) select %s, i, 1 from n";
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *full = make_channel(ada, g, "{'name': 'a'}");
    const char *next = make_channel(ada, g, "{'name': 'b'}");
    const char *put = "/channels/%s/permissions/%s";
    struct client *bob = member_with(ada, g, "bob", 0), *cleo = member_with(ada, g, "cleo", 0);

    world_sql(w, put_many, 49899, full);
    world_sql(w, put_many, 99, next);
    expect_status(client_put(ada, "{'type': 1}", put, next, ada->id), 204);
    expect_status(client_put(ada, "{'type': 1}", put, next, bob->id), 204);
    expect_error(client_put(ada, "{'type': 1}", put, next, cleo->id), 400, 30060);
    expect(world_number(w, "select count(*) from overwrites") == 50000);
}

static void unchanged_overwrites_may_exceed_the_callers_permissions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    struct client *bob =
        member_with(ada, g, "bob", PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES));
    const char *with =
        "{'name': 'a', 'permission_overwrites': [{'id': '%s', 'type': 1, 'allow': '%d'}]}";
    const char *c = make_channel(ada, g, str_printf(arena, with, ada->id, 2).p);

    expect_status(client_patch(bob, str_printf(arena, with, ada->id, 2).p, "/channels/%s", c), 200);
    expect_error(client_patch(bob, str_printf(arena, with, ada->id, 6).p, "/channels/%s", c), 403,
                 50013);
    expect_json(client_patch(ada, "{'permission_overwrites': null}", "/channels/%s", c),
                "{'name': 'a'}");
    expect(dom_at(client_get(ada, "/channels/%s", c).json, "permission_overwrites")->count == 0);
}

/* --- overwrites, one at a time -------------------------------------------------------- */

#define PERMISSIONS "/channels/%s/permissions/%s"

static void overwrite_can_be_put_and_deleted_with_audit_and_event(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    expect_status(client_put(ada, "{'type': 1, 'deny': '1024'}", PERMISSIONS, c, bob->id), 204);
    expect_audit(w, g, 13, c);
    expect_received(
        w, viewers(g, c), "CHANNEL_UPDATE",
        "{'permission_overwrites': [{'id': '%s', 'type': 1, 'allow': '0', 'deny': '1024'}]}",
        bob->id);
    expect_error(client_get(bob, "/channels/%s", c), 403, 50001);
    expect_status(client_put(ada, "{'type': 1, 'allow': 1024}", PERMISSIONS, c, bob->id), 204);
    expect_audit(w, g, 14, c);
    expect_received(w, viewers(g, c), "CHANNEL_UPDATE",
                    "{'permission_overwrites': [{'id': '%s', 'allow': '1024', 'deny': '0'}]}",
                    bob->id);
    expect_status(client_get(bob, "/channels/%s", c), 200);

    expect_status(client_delete(ada, PERMISSIONS, c, bob->id), 204);
    expect_audit(w, g, 15, c);
    expect_received(w, viewers(g, c), "CHANNEL_UPDATE", "{'permission_overwrites': []}");
    expect_nothing_received(w);
    expect_error(client_delete(ada, PERMISSIONS, c, bob->id), 404, 10009);
}

static void putting_overwrites_requires_manage_roles(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct client *cleo = member_with(ada, g, "cleo", PERMISSION(MANAGE_ROLES));

    put_member(g, bob);
    expect_error(client_put(bob, "{'type': 9}", PERMISSIONS, c, g), 403, 50013);
    expect_error(client_delete(bob, PERMISSIONS, c, g), 403, 50013);
    expect_invalid(client_put(cleo, "{'type': 9}", PERMISSIONS, c, g), "type", "BASE_TYPE_CHOICES");
    expect_invalid(client_put(cleo, "{}", PERMISSIONS, c, g), "type", "BASE_TYPE_REQUIRED");
    expect_status(client_put(cleo, "{'type': 0, 'deny': '2048'}", PERMISSIONS, c, g), 204);
    expect_error(client_put(cleo, "{'type': 0, 'allow': '2'}", PERMISSIONS, c, g), 403, 50013);
    expect_error(client_put(cleo, "{'type': 0, 'deny': '2'}", PERMISSIONS, c, g), 403, 50013);
    expect_error(client_put(ada, "{'type': 0}", PERMISSIONS, c, bob->id), 404, 10011);
}

/* The caller's permissions in the channel count, not those in the guild. */
static void overwrites_are_limited_by_the_callers_channel_permissions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct client *cleo = member_with(ada, g, "cleo", PERMISSION(MANAGE_ROLES));

    expect_status(client_put(ada, "{'type': 1, 'deny': '2048'}", PERMISSIONS, c, cleo->id), 204);
    expect_error(client_put(cleo, "{'type': 0, 'allow': '2048'}", PERMISSIONS, c, g), 403, 50013);
}

static void channel_is_limited_to_1000_overwrites(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    static const char add[] =
        "insert into overwrites (channel_id, target_id, type) values ($1, $2, 1)";

    for (int i = 1; i < 1000; i++) {
        char id[24];

        snprintf(id, sizeof id, "%d", i);
        run_sql(w, add, c, id);
    }
    expect_status(client_put(ada, "{'type': 0}", PERMISSIONS, c, g), 204);
    expect_error(client_put(ada, "{'type': 1}", PERMISSIONS, c, ada->id), 400, 30060);
    expect_status(client_put(ada, "{'type': 0, 'allow': '1'}", PERMISSIONS, c, g), 204);
}

static void synced_channels_copy_overwrite_changes_of_their_category(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");
    const char *synced =
        make_channel(ada, g, str_printf(arena, "{'name': 's', 'parent_id': '%s'}", cat).p);
    const char *own = make_channel(
        ada, g,
        str_printf(arena,
                   "{'name': 'o', 'parent_id': '%s', 'permission_overwrites': [{'id': '%s', "
                   "'type': 1}]}",
                   cat, ada->id)
            .p);

    expect_status(client_put(ada, "{'type': 0, 'deny': '2048'}", PERMISSIONS, cat, g), 204);
    expect_audit(w, g, 13, cat);
    expect_received(w, viewers(g, cat), "CHANNEL_UPDATE", "{'id': '%s'}", cat);
    expect_received(w, viewers(g, synced), "CHANNEL_UPDATE",
                    "{'id': '%s', 'permission_overwrites': [{'id': '%s', 'deny': '2048'}]}", synced,
                    g);
    expect_nothing_received(w);
    expect_json(client_get(ada, "/channels/%s", own), "{'permission_overwrites': [{'id': '%s'}]}",
                ada->id);

    expect_status(client_put(ada, "{'type': 0, 'allow': '64'}", PERMISSIONS, cat, g), 204);
    expect_audit(w, g, 14, cat);
    expect_received(w, viewers(g, cat), "CHANNEL_UPDATE", "{'id': '%s'}", cat);
    expect_received(w, viewers(g, synced), "CHANNEL_UPDATE",
                    "{'permission_overwrites': [{'id': '%s', 'allow': '64', 'deny': '0'}]}", g);
    expect_nothing_received(w);

    expect_status(client_patch(ada, "{'permission_overwrites': []}", "/channels/%s", cat), 200);
    expect_audit(w, g, 11, cat);
    expect_audit(w, g, 15, cat);
    expect_received(w, viewers(g, cat), "CHANNEL_UPDATE", "{'id': '%s'}", cat);
    expect_received(w, viewers(g, synced), "CHANNEL_UPDATE", "{'permission_overwrites': []}");
    expect_nothing_received(w);
}

/* Creates a category of 50 channels with nearly the maximum number of overwrites of a guild. */
static const char *make_large_category(struct world *w, struct client *c, const char *g)
{
    const char *cat = make_channel(c, g, "{'name': 'cat', 'type': 4}");

    world_sql(
        w,
        "insert into channels (id, guild_id, type, parent_id) with recursive n (i) as (select "
        "1 union all select i + 1 from n where i < 50) select i, %s, 0, %s from n",
        g, cat);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow) with recursive n (i) as "
              "(select 1 union all select i + 1 from n where i < 900) select c.id, 100 + i, 1, 64 "
              "from channels c join n on c.id <= 50 or c.id = %s",
              cat);
    return cat;
}

/* Expects CHANNEL_UPDATE of all channels but one, in order. */
static void expect_channel_updates_of_category_sync(struct world *w, const char *g, const char *cat,
                                                    int action)
{
    expect_audit(w, g, action, cat);
    expect_received(w, viewers(g, cat), "CHANNEL_UPDATE", "{'id': '%s'}", cat);
    expect_number(w, 0, "select count(*) from jobs where kind = 'category-follow'");
    for (int i = 1; i <= 50; i++)
        if (i != 20)
            expect_received(w, viewers(g, TEXT(w, "%d", i)), "CHANNEL_UPDATE", "{'id': '%d'}", i);
    expect_nothing_received(w);
}

static void overwrite_changes_of_a_large_category_sync_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *cat = make_large_category(w, ada, g);

    world_sql(w, "delete from overwrites where channel_id = 20 and target_id > 105");
    discard_received(w);
    expect_status(client_put(ada, "{'type': 1, 'deny': '2048'}", PERMISSIONS, cat, ada->id), 204);
    expect_channel_updates_of_category_sync(w, g, cat, 13);
    expect(world_number(w, "select count(*) from overwrites where target_id = %s", ada->id) == 50);
    expect(world_number(w, "select count(*) from overwrites") == 50 * 901 + 5);

    discard_received(w);
    expect_status(client_patch(ada, "{'permission_overwrites': []}", "/channels/%s", cat), 200);
    expect_channel_updates_of_category_sync(w, g, cat, 11);
    expect(world_number(w, "select count(*) from overwrites") == 5);
}

static const char *write_900_overwrites(struct world *w)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    for (int i = 1; i <= 900; i++)
        buf_printf(&b, "%s{'id': '%d', 'type': 1, 'deny': '2048'}", i > 1 ? "," : "", 100 + i);
    const char *text =
        TEXT(w, "{'permission_overwrites': [%s]}", str_dup_cstring(world_arena(w), buf_as_str(&b)));
    buf_clear(&b);
    return text;
}

static void replacing_900_category_overwrites_syncs_all_its_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *cat = make_large_category(w, ada, g);

    world_sql(w, "insert into users (id, username) select target_id, 'u' || target_id from "
                 "overwrites where channel_id = 1");
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at) select %s, target_id, 0 from "
              "overwrites where channel_id = 1",
              g);
    expect_status(client_patch(ada, write_900_overwrites(w), "/channels/%s", cat), 200);
    expect_number(w, 51 * 900, "select count(*) from overwrites where deny = 2048 and allow = 0");
    expect_number(w, 0, "select count(*) from jobs where kind = 'category-follow'");
    expect_json(client_get(ada, "/channels/50"), "{'parent_id': '%s'}", cat);
}

/* Overwrites that the sync job will still write count towards the guild's limit. */
static void category_overwrites_are_refused_beyond_the_guild_limit(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *cat = make_large_category(w, ada, g);

    world_sql(
        w,
        "insert into overwrites (channel_id, target_id, type) with recursive n (i) as (select "
        "1 union all select i + 1 from n where i < 79) select c.id, 2000 + i, 1 "
        "from channels c join n on c.id <= 50 or c.id = %s",
        cat);
    expect_status(client_put(ada, "{'type': 1}", PERMISSIONS, cat, ada->id), 204);
    expect_number(w, 51 * 980, "select count(*) from overwrites");
    expect_number(w, 0, "select count(*) from jobs where kind = 'category-follow'");
    expect_error(client_put(ada, "{'type': 0}", PERMISSIONS, cat, g), 400, 30060);
    expect(world_number(w, "select count(*) from overwrites") == 51 * 980);
}

static void category_sync_continues_after_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *cat = make_large_category(w, ada, g);

    expect_status(client_put(ada, "{'type': 1}", PERMISSIONS, cat, ada->id), 204);
    expect_status(client_put(ada, "{'type': 0}", PERMISSIONS, cat, g), 204);
    world_restart(w);
    expect_number(w, 51 * 902, "select count(*) from overwrites");
    expect_number(w, 0, "select count(*) from jobs where kind = 'category-follow'");
}

const struct test channel_overwrites_tests[] = {
    TEST(overwrite_target_must_be_a_role_or_member_of_the_guild),
    TEST(guild_is_limited_to_50000_overwrites),
    TEST(new_channel_copies_the_overwrites_of_its_category),
    TEST(unknown_permission_bits_of_overwrites_are_dropped),
    TEST(new_channel_overwrites_cannot_exceed_the_callers_permissions),
    TEST(unchanged_overwrites_may_exceed_the_callers_permissions),
    TEST(overwrite_can_be_put_and_deleted_with_audit_and_event),
    TEST(putting_overwrites_requires_manage_roles),
    TEST(overwrites_are_limited_by_the_callers_channel_permissions),
    TEST(channel_is_limited_to_1000_overwrites),
    TEST(synced_channels_copy_overwrite_changes_of_their_category),
    TEST(overwrite_changes_of_a_large_category_sync_in_batches),
    TEST(replacing_900_category_overwrites_syncs_all_its_channels),
    TEST(category_overwrites_are_refused_beyond_the_guild_limit),
    TEST(category_sync_continues_after_a_restart),
    { 0 },
};
