/* emojis.c - creating, changing, deleting and serving guild emojis. */
#include <string.h>

#include "channels.h"
#include "files.h"
#include "guilds.h"
#include "platform/guilds/guilds.h"
#include "test_guild.h"

#define EMOJIS    "/guilds/%s/emojis"
#define EMOJI     EMOJIS "/%s"
#define STILL_GIF "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAIAAAAD///8CAkwBADs="
#define MOVING_GIF                                                                       \
    "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAIAAAAD///8CAkwBACwAAAAAAQABAIAA" \
    "AAD///8CAkwBADs="
#define MOVING_AVIF "data:image/avif;base64,AAAAGGZ0eXBhdmlzAAAAAGF2aWZtaWYx"

static const char *create_emoji(struct client *c, const char *guild, const char *name,
                                const char *image)
{
    struct answer a =
        client_post(c, TEXT(c->world, "{'name': '%s', 'image': '%s'}", name, image), EMOJIS, guild);

    expect_status(a, 201);
    return answer_text(a, "id");
}

/* --- creating and reading ------------------------------------------------------------- */

static void creating_an_emoji_sends_guild_emojis_update_and_audit_entry(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(CREATE_EXPRESSIONS));
    struct answer a = client_post(
        h.bob,
        TEXT(w, "{'name': 'Par_1', 'image': '" PNG "', 'roles': ['%s', '%s']}", h.role, h.guild),
        EMOJIS, h.guild);
    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'id': '%s', 'name': 'Par_1', 'roles': ['%s'], 'user': {'id': '%s'}, "
                "'require_colons': true, 'managed': false, 'animated': false, 'available': true}",
                id, h.role, h.bob->id);
    expect_received(
        w, audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 60, 'target_id': '%s', "
        "'changes': [{'key': 'name', 'new_value': 'Par_1'}]}",
        id);
    expect_received(
        w, audience_of_guild(id_of(h.guild)), "GUILD_EMOJIS_UPDATE",
        "{'guild_id': '%s', 'emojis': [{'id': '%s', 'name': 'Par_1', 'roles': ['%s']}]}", h.guild,
        id, h.role);
    expect_nothing_received(w);
    expect(!dom_at(world_last_event(w, "GUILD_EMOJIS_UPDATE"), "emojis.0.user"));
    expect_json(client_get(h.ada, EMOJI, h.guild, id), "{'id': '%s', 'user': {'id': '%s'}}", id,
                h.bob->id);
    expect_json(client_get(h.ada, "/guilds/%s", h.guild), "{'emojis': [{'id': '%s'}]}", id);
    expect_absent(client_get(h.ada, "/guilds/%s", h.guild), "emojis.0.user");
}

static void emoji_creator_is_shown_only_with_expression_permissions(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *id = create_emoji(h.ada, h.guild, "one", PNG);
    const char *second = create_emoji(h.ada, h.guild, "one", PNG);

    expect_json(client_get(h.bob, EMOJIS, h.guild), "[{'id': '%s'}, {'id': '%s'}]", id, second);
    expect_absent(client_get(h.bob, EMOJIS, h.guild), "0.user");
    expect_absent(client_get(h.bob, EMOJI, h.guild, id), "user");
    expect_json(client_get(h.ada, EMOJIS, h.guild), "[{'user': {'id': '%s'}}, {}]", h.ada->id);
    expect_error(client_get(h.bob, EMOJI, h.guild, "1"), 404, 10014);
    expect_error(client_get(world_client(w, "eve"), EMOJIS, h.guild), 403, 50001);
    const char *other = found_guild(h.ada, "Other");
    expect_error(client_get(h.ada, EMOJI, other, id), 404, 10014);
    expect_error(client_delete(h.ada, EMOJI, other, id), 404, 10014);
}

static void invalid_emojis_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(MANAGE_EXPRESSIONS));

    expect_error(client_post(h.bob, "{}", EMOJIS, h.guild), 403, 50013);
    expect_invalid(client_post(h.ada, "{'image': '" PNG "'}", EMOJIS, h.guild), "name",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(h.ada, "{'name': 'ab'}", EMOJIS, h.guild), "image",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(h.ada, "{'name': 'a', 'image': '" PNG "'}", EMOJIS, h.guild), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(h.ada, "{'name': 'a-b', 'image': '" PNG "'}", EMOJIS, h.guild),
                   "name", "STRING_TYPE_REGEX");
    expect_invalid(client_post(h.ada, "{'name': 'ab', 'image': 'data:image/png;base64,AAAA'}",
                               EMOJIS, h.guild),
                   "image", "IMAGE_INVALID");
    expect_invalid(
        client_post(h.ada, "{'name': 'ab', 'image': '" PNG "', 'roles': ['1']}", EMOJIS, h.guild),
        "roles.0", "EMOJI_UNKNOWN_ROLE");
    expect_json(client_get(h.ada, EMOJIS, h.guild), "[]");
    expect_files(w, "emojis", 0);
}

/* Writes a data URL that starts as a PNG and has this size when decoded. */
static const char *write_image_of_size(struct world *w, size_t size)
{
    static const char head[] = "data:image/png;base64,iVBORw0KGgo";
    size_t head_size = sizeof head - 1,
           n = (size + 2) / 3 * 4 + sizeof "data:image/png;base64," - 1;
    char *text = arena_alloc(world_arena(w), n + 1);

    memset(text, 'A', n);
    memcpy(text, head, head_size);
    for (size_t i = size; i % 3; i++)
        text[n - 1 - (i - size)] = '=';
    return text;
}

static void emoji_image_is_limited_to_256_kib(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    create_emoji(h.ada, h.guild, "fits", write_image_of_size(w, 262144));
    expect_invalid(
        client_post(h.ada, TEXT(w, "{'name': 'ab', 'image': '%s'}", write_image_of_size(w, 262145)),
                    EMOJIS, h.guild),
        "image", "BINARY_TYPE_MAX_SIZE");
}

static void animated_emojis_have_a_separate_limit(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *still = create_emoji(h.ada, h.guild, "still", STILL_GIF);
    const char *moving = create_emoji(h.ada, h.guild, "moving", MOVING_GIF);

    expect_json(client_get(h.ada, EMOJI, h.guild, still), "{'animated': false}");
    expect_json(client_get(h.ada, EMOJI, h.guild, moving), "{'animated': true}");
    create_emoji(h.ada, h.guild, "avif", MOVING_AVIF);
    for (int i = 0; i < 48; i++)
        world_sql(w, "insert into emojis (id, guild_id, name, animated) values (%d, %s, 'x', 0)",
                  100 + i, h.guild);
    create_emoji(h.ada, h.guild, "last", PNG);
    expect_error(client_post(h.ada, "{'name': 'ab', 'image': '" PNG "'}", EMOJIS, h.guild), 400,
                 30008);
    create_emoji(h.ada, h.guild, "moves", MOVING_GIF);
    world_sql(w, "update emojis set animated = 1 - animated");
    expect_error(client_post(h.ada, "{'name': 'ab', 'image': '" MOVING_GIF "'}", EMOJIS, h.guild),
                 400, 30018);
    world_sql(w, "update guilds set features = '[\"MORE_EMOJI\"]' where id = %s", h.guild);
    create_emoji(h.ada, h.guild, "more", MOVING_GIF);
}

/* --- changing and deleting ------------------------------------------------------------ */

static void emoji_patch_without_changes_sends_no_event(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *id = create_emoji(h.ada, h.guild, "one", PNG);

    discard_received(w);
    expect_json(client_patch(h.ada, "{'name': 'one', 'roles': null}", EMOJI, h.guild, id),
                "{'name': 'one'}");
    expect_nothing_received(w);
    expect_json(client_patch(h.ada, TEXT(w, "{'name': 'two', 'roles': ['%s']}", h.role), EMOJI,
                             h.guild, id),
                "{'id': '%s', 'name': 'two', 'roles': ['%s']}", id, h.role);
    expect_received(
        w, audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 61, 'changes': [{'key': 'name', 'old_value': 'one', "
        "'new_value': 'two'}, {'key': 'roles', 'old_value': [], 'new_value': ['%s']}]}",
        h.role);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_EMOJIS_UPDATE",
                    "{'emojis': [{'name': 'two', 'roles': ['%s']}]}", h.role);
    expect_nothing_received(w);
    expect_json(client_patch(h.ada, "{'roles': null}", EMOJI, h.guild, id), "{'roles': []}");
}

static void changing_emojis_of_others_requires_manage_expressions(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(CREATE_EXPRESSIONS));
    struct client *cleo = member_with(h.ada, h.guild, "cleo", PERMISSION(MANAGE_EXPRESSIONS));
    const char *adas = create_emoji(h.ada, h.guild, "ada", PNG),
               *bobs = create_emoji(h.bob, h.guild, "bob", PNG);

    expect_status(client_patch(h.bob, "{'name': 'own'}", EMOJI, h.guild, bobs), 200);
    expect_error(client_patch(h.bob, "{'name': 'x'}", EMOJI, h.guild, adas), 403, 50013);
    expect_error(client_delete(h.bob, EMOJI, h.guild, adas), 403, 50013);
    expect_status(client_patch(cleo, "{'name': 'any'}", EMOJI, h.guild, adas), 200);
    discard_received(w);
    expect_status(client_delete(cleo, EMOJI, h.guild, adas), 204);
    expect_received(
        w, audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 62, 'target_id': '%s', "
        "'changes': [{'key': 'name', 'old_value': 'any'}]}",
        adas);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_EMOJIS_UPDATE",
                    "{'emojis': [{'id': '%s'}]}", bobs);
    expect_error(client_get(h.ada, EMOJI, h.guild, adas), 404, 10014);
    expect_files(w, "emojis", 1);
}

static void deleting_a_role_removes_it_from_emojis(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *id = create_emoji(h.ada, h.guild, "one", PNG);

    client_patch(h.ada, TEXT(w, "{'roles': ['%s']}", h.role), EMOJI, h.guild, id);
    discard_received(w);
    expect_status(client_delete(h.ada, "/guilds/%s/roles/%s", h.guild, h.role), 204);
    expect_audit(w, h.guild, AUDIT_ROLE_DELETE, h.role);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_ROLE_DELETE", "{'role_id': '%s'}",
                    h.role);
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_EMOJIS_UPDATE",
                    "{'emojis': [{'id': '%s', 'roles': []}]}", id);
    expect_nothing_received(w);
}

/* --- pictures ------------------------------------------------------------------------- */

static void emoji_image_is_served_in_its_original_format(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    const char *id = create_emoji(h.ada, h.guild, "one", STILL_GIF);
    struct client *nobody = world_anonymous(w);
    static const char *const names[] = { "%s", "%s.png", "%s.webp", "%s.gif", "%s.avif", "%s.jpg" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path =
            str_printf(world_arena(w), "/emojis/%s%s?size=64&quality=lossless", id, names[i] + 2).p;
        struct answer a = client_request(nobody, "GET", path, "", STR(""));

        expect_status(a, 200);
        expect(str_is(answer_header(a, "Content-Type"), "image/gif"));
        expect(str_starts_with(a.body, STR("GIF89a")));
        expect(str_is(answer_header(a, "Cache-Control"), "public, max-age=31536000, immutable"));
    }
    world_sql(w, "insert into emojis (id, guild_id, name) values (77, %s, 'bare')", h.guild);
    struct answer a = client_request(nobody, "GET", "/emojis/77.webp", "", STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/png"));
    expect_status(client_request(nobody, "GET", "/emojis/78.png", "", STR("")), 404);
    expect_status(client_request(nobody, "GET", "/emojis/x.png", "", STR("")), 404);
}

static void deleting_a_guild_deletes_its_emoji_files(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    create_emoji(h.ada, h.guild, "one", PNG);
    expect_files(w, "emojis", 1);
    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    expect_files(w, "emojis", 0);
    expect(world_number(w, "select count(*) from emojis") == 0);
}

static void emoji_changes_are_rate_limited_per_guild(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(CREATE_EXPRESSIONS));
    const char *id = create_emoji(h.ada, h.guild, "one", PNG);

    for (int i = 0; i < 9; i++)
        expect_status(client_patch(h.ada, "{}", EMOJI, h.guild, id), 200);
    struct answer a = client_post(h.bob, "{'name': 'ab', 'image': '" PNG "'}", EMOJIS, h.guild);
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "shared"));
    world_wait(w, 10);
    create_emoji(h.bob, h.guild, "two", PNG);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

const struct test emojis_tests[] = {
    TEST(creating_an_emoji_sends_guild_emojis_update_and_audit_entry),
    TEST(emoji_creator_is_shown_only_with_expression_permissions),
    TEST(invalid_emojis_are_refused),
    TEST(emoji_image_is_limited_to_256_kib),
    TEST(animated_emojis_have_a_separate_limit),
    TEST(emoji_patch_without_changes_sends_no_event),
    TEST(changing_emojis_of_others_requires_manage_expressions),
    TEST(deleting_a_role_removes_it_from_emojis),
    TEST(emoji_image_is_served_in_its_original_format),
    TEST(deleting_a_guild_deletes_its_emoji_files),
    TEST_WITH(emoji_changes_are_rate_limited_per_guild, configure_enabled_rate_limits),
    { 0 },
};
