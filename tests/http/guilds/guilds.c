/* guilds.c - creating, reading, changing and deleting guilds. */
#include "guilds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- creating ------------------------------------------------------------------------- */

static void new_guild_has_everyone_role_and_default_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': '  Home  ', 'region': 'moon'}", "/guilds");

    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(
        a,
        "{'name': 'Home', 'owner_id': '%s', 'icon': null, 'features': [], 'emojis': [], "
        "'stickers': [], 'afk_timeout': 300, 'verification_level': 0, 'premium_tier': 0, 'nsfw': false, "
        "'preferred_locale': 'en-US', 'max_members': 500000, 'max_presences': null, "
        "'afk_channel_id': null, 'widget_enabled': false, 'incidents_data': null, 'hub_type': null, "
        "'roles': [{'id': '%s', 'name': '@everyone', 'position': 0, 'permissions': '%llu', "
        "'color': 0, 'colors': {'primary_color': 0, 'secondary_color': null, "
        "'tertiary_color': null}, 'managed': false, 'hoist': false, 'flags': 0}]}",
        ada->id, id, (unsigned long long)PERMISSIONS_DEFAULT);
    expect_absent(a, "member_count");
    expect_absent(a, "approximate_member_count");

    expect_event(ada, "GUILD_CREATE",
                 "{'id': '%s', 'member_count': 1, 'large': false, "
                 "'members': [{'user': {'id': '%s'}, 'roles': []}], 'threads': [], "
                 "'presences': [], 'voice_states': [], "
                 "'channels': [{'type': 4, 'name': 'Text Channels', 'position': 0}, "
                 "{'type': 4, 'name': 'Voice Channels', 'position': 1}, "
                 "{'type': 0, 'name': 'general', 'permission_overwrites': []}, "
                 "{'type': 2, 'name': 'General', 'bitrate': 64000, 'user_limit': 0}]}",
                 id, ada->id);
    expect_silence(ada);
    expect_nothing_received(w);
    expect_json(client_get(ada, "/guilds/%s", id), "{'id': '%s', 'name': 'Home'}", id);
}

static void created_guild_has_no_unavailable_field(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': 'Home'}", "/guilds");

    expect_status(a, 201);
    expect_absent(a, "unavailable");
}

static void guild_name_must_have_2_to_100_characters(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_invalid(client_post(ada, "{}", "/guilds"), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'name': null}", "/guilds"), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'name': ' a '}", "/guilds"), "name", "BASE_TYPE_BAD_LENGTH");
    expect_status(client_post(ada, "{'name': 'ab'}", "/guilds"), 201);
    expect_status(client_post(ada, TEXT(w, "{'name': '%0100d'}", 1), "/guilds"), 201);
    expect_invalid(client_post(ada, TEXT(w, "{'name': '%0101d'}", 1), "/guilds"), "name",
                   "BASE_TYPE_BAD_LENGTH");
}

static void bots_and_anonymous_callers_cannot_create_guilds(struct world *w)
{
    expect_error(client_post(world_bot(w, "helper"), "{'name': 'Home'}", "/guilds"), 403, 20001);
    expect_error(client_post(world_anonymous(w), "{'name': 'Home'}", "/guilds"), 401, 0);
}

static void user_is_limited_to_100_guilds(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 100; i++)
        expect_status(client_post(ada, "{'name': 'Home'}", "/guilds"), 201);
    discard_received(w);
    expect_error(client_post(ada, "{'name': 'Home'}", "/guilds"), 400, 30001);
    expect_silence(ada);
    struct answer all = client_get(ada, "/users/@me/guilds");
    expect(all.json->count == 100);
    expect_status(client_delete(ada, "/guilds/%s", answer_text(all, "0.id")), 204);
    expect_status(client_post(ada, "{'name': 'Home'}", "/guilds"), 201);
}

static void guild_creation_accepts_roles_and_channels_with_draft_ids(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(
        ada,
        TEXT(w,
             "{'name': 'Home', 'verification_level': 2, 'system_channel_id': 2, 'afk_channel_id': "
             "'3', 'afk_timeout': 60, "
             "'roles': [{'id': 7, 'name': 'ignored', 'permissions': '1024', 'hoist': true}, "
             "{'id': '8', 'name': 'Smiths', 'color': 255}], "
             "'channels': [{'id': 1, 'type': 4, 'name': 'Rooms'}, "
             "{'id': 2, 'name': 'talk', 'parent_id': 1, 'topic': 'Anything', "
             "'permission_overwrites': [{'id': 7, 'type': 0, 'deny': '1024'}, "
             "{'id': 8, 'type': 0, 'allow': 1024}, {'id': '%s', 'type': 1, 'allow': '2048'}]}, "
             "{'id': 3, 'type': 2, 'name': 'Voice', 'bitrate': 96000, 'user_limit': 99}]}",
             ada->id),
        "/guilds");

    expect_status(a, 201);
    const char *id = answer_text(a, "id"), *smiths = answer_text(a, "roles.1.id");
    expect_json(
        a,
        "{'verification_level': 2, 'afk_timeout': 60, "
        "'roles': [{'id': '%s', 'name': '@everyone', 'permissions': '1024', 'hoist': false}, "
        "{'name': 'Smiths', 'position': 1, 'color': 255, 'permissions': '1024', "
        "'colors': {'primary_color': 255}}]}",
        id);
    expect_event(ada, "GUILD_CREATE",
                 "{'system_channel_id': '%s', 'afk_channel_id': '%s', "
                 "'channels': [{'name': 'Rooms', 'type': 4, 'parent_id': null}, "
                 "{'id': '%s', 'name': 'talk', 'topic': 'Anything', 'permission_overwrites': ["
                 "{'id': '%s', 'type': 1, 'allow': '2048', 'deny': '0'}, "
                 "{'id': '%s', 'type': 0, 'allow': '0', 'deny': '1024'}, "
                 "{'id': '%s', 'type': 0, 'allow': '1024', 'deny': '0'}]}, "
                 "{'id': '%s', 'type': 2, 'bitrate': 96000, 'user_limit': 99}]}",
                 answer_text(a, "system_channel_id"), answer_text(a, "afk_channel_id"),
                 answer_text(a, "system_channel_id"), ada->id, id, smiths,
                 answer_text(a, "afk_channel_id"));
}

static void draft_ids_must_refer_to_objects_of_the_body(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    static const struct {
        const char *body, *path, *code;
    } cases[] = {
        { "'channels': [{'name': 'a', 'parent_id': 9}]", "channels.0.parent_id",
          "BASE_TYPE_CHOICES" },
        { "'channels': [{'id': 1, 'name': 'a'}, {'name': 'b', 'parent_id': 1}]",
          "channels.1.parent_id", "BASE_TYPE_CHOICES" },
        { "'channels': [{'name': 'b', 'parent_id': 1}, {'id': 1, 'name': 'a', 'type': 4}]",
          "channels.0.parent_id", "BASE_TYPE_CHOICES" },
        { "'channels': [{'name': 'b', 'permission_overwrites': [{'id': 5, 'type': 0}]}]",
          "channels.0.permission_overwrites.0.id", "BASE_TYPE_CHOICES" },
        { "'channels': [{'name': 'b', 'permission_overwrites': [{'id': 5, 'type': 1}]}]",
          "channels.0.permission_overwrites.0.id", "BASE_TYPE_CHOICES" },
        { "'channels': [{'name': 'b', 'type': 1}]", "channels.0.type", "BASE_TYPE_CHOICES" },
        { "'channels': [{'type': 0}]", "channels.0.name", "BASE_TYPE_REQUIRED" },
        { "'channels': [{'id': 1, 'name': 'a'}], 'afk_channel_id': 1", "afk_channel_id",
          "BASE_TYPE_CHOICES" },
        { "'channels': [{'id': 1, 'name': 'a', 'type': 2}], 'system_channel_id': 1",
          "system_channel_id", "BASE_TYPE_CHOICES" },
        { "'system_channel_id': 1", "system_channel_id", "BASE_TYPE_CHOICES" },
        { "'verification_level': 5", "verification_level", "BASE_TYPE_CHOICES" },
        { "'afk_timeout': 61", "afk_timeout", "BASE_TYPE_CHOICES" },
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_invalid(client_post(ada, TEXT(w, "{'name': 'Home', %s}", cases[i].body), "/guilds"),
                       cases[i].path, cases[i].code);
    expect_json(client_get(ada, "/users/@me/guilds"), "[]");
    expect_silence(ada);
}

/* All rows are written in one transaction; the limit counts the overwrites of all channels. */
static void guild_creation_is_limited_to_1000_overwrites(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *one = TEXT(w, "{'id': '%s', 'type': 1, 'allow': '1024'}", ada->id);
    struct buf body;

    buf_init(&body, 1 << 20);
    buf_add_lit(&body, "{'name': 'Home', 'channels': [{'name': 'a', 'permission_overwrites': [");
    buf_add_str(&body, str_of(one));
    buf_add_lit(&body, "]}, {'name': 'b', 'permission_overwrites': [");
    for (int i = 0; i < 998; i++)
        buf_printf(&body, "%s, ", one);
    struct str most = STR_CONCAT(world_arena(w), buf_as_str(&body), str_of(one), STR("]}]}"));
    struct str more = STR_CONCAT(world_arena(w), buf_as_str(&body), str_of(one), STR(", "),
                                 str_of(one), STR("]}]}"));
    buf_clear(&body);
    expect_invalid(client_post(ada, str_dup_cstring(world_arena(w), more), "/guilds"),
                   "channels.1.permission_overwrites", "BASE_TYPE_MAX_LENGTH");
    expect_status(client_post(ada, str_dup_cstring(world_arena(w), most), "/guilds"), 201);
}

static void guild_can_be_created_with_an_icon(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'name': 'Home', 'icon': '" PNG "'}", "/guilds");

    expect_status(a, 201);
    const char *path = TEXT(w, "/icons/%s/%s.png", answer_text(a, "id"), answer_text(a, "icon"));
    struct answer p = client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 });
    expect_status(p, 200);
    expect(str_is(answer_header(p, "Content-Type"), "image/png"));
    expect_invalid(client_post(ada, "{'name': 'Home', 'icon': 'nothing'}", "/guilds"), "icon",
                   "IMAGE_INVALID");
}

/* --- reading -------------------------------------------------------------------------- */

static void reading_a_guild_requires_membership(struct world *w)
{
    struct server_loop p = world_home(w, 0);
    struct client *cleo = world_client(w, "cleo");

    expect_status(client_get(p.bob, "/guilds/%s", p.guild), 200);
    expect_error(client_get(cleo, "/guilds/%s", p.guild), 403, 50001);
    expect_error(client_get(world_bot(w, "helper"), "/guilds/%s", p.guild), 403, 50001);
    expect_error(client_get(cleo, "/guilds/1"), 404, 10004);
    expect_invalid(client_get(cleo, "/guilds/none"), "guild_id", "NUMBER_TYPE_COERCE");
}

static void guild_counts_are_returned_with_with_counts(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect_json(client_get(p.bob, "/guilds/%s?with_counts=true", p.guild),
                "{'approximate_member_count': 2, 'approximate_presence_count': 0}");
    expect_absent(client_get(p.bob, "/guilds/%s?with_counts=0", p.guild),
                  "approximate_member_count");
    expect_invalid(client_get(p.bob, "/guilds/%s?with_counts=maybe", p.guild), "with_counts",
                   "BOOLEAN_TYPE_CONVERT");
}

/* --- changing ------------------------------------------------------------------------- */

static void changing_a_guild_requires_manage_guild(struct world *w)
{
    struct server_loop p =
        world_home(w, PERMISSIONS_ALL & ~PERMISSION(MANAGE_GUILD) & ~PERMISSION(ADMINISTRATOR));

    expect_error(client_patch(p.bob, "{'name': 'x'}", "/guilds/%s", p.guild), 403, 50013);
    expect_error(client_patch(p.bob, "{'icon': '" PNG "'}", "/guilds/%s", p.guild), 403, 50013);
    expect_error(
        client_patch(world_client(w, "cleo"), "{'icon': '" PNG "'}", "/guilds/%s", p.guild), 403,
        50001);
    expect_error(client_patch(p.bob, "{'icon': '" PNG "'}", "/guilds/1"), 404, 10004);
    expect_nothing_received(w);
    expect_json(client_get(p.ada, "/guilds/%s", p.guild), "{'name': 'The Guild', 'icon': null}");
}

static void changing_a_guild_sends_guild_update_and_audit_entry(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(MANAGE_GUILD));
    struct answer a = client_patch(
        p.bob,
        "{'name': ' New ', 'description': 'About', 'verification_level': 4, "
        "'default_message_notifications': 1, 'explicit_content_filter': 2, 'afk_timeout': 3600, "
        "'preferred_locale': 'es-419', 'system_channel_flags': 5, "
        "'premium_progress_bar_enabled': true, 'region': 'x', 'unknown': 1}",
        "/guilds/%s", p.guild);

    expect_status(a, 200);
    const char *changed =
        "{'name': 'New', 'description': 'About', 'verification_level': 4, "
        "'default_message_notifications': 1, 'explicit_content_filter': 2, 'afk_timeout': 3600, "
        "'preferred_locale': 'es-419', 'system_channel_flags': 5, "
        "'premium_progress_bar_enabled': true, 'roles': [{'name': '@everyone'}, {'name': "
        "'helpers'}]}";
    expect_json(a, "%s", changed);
    expect_received(
        w, audience_of_members_with_permission(id_of(p.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 1, 'user_id': '%s', 'target_id': '%s'}",
        p.bob->id, p.guild);
    expect_received(w, audience_of_guild(id_of(p.guild)), "GUILD_UPDATE", "%s", changed);
    expect_nothing_received(w);
    expect_json(client_get(p.ada, "/guilds/%s", p.guild), "%s", changed);

    a = client_patch(p.bob,
                     "{'description': null, 'verification_level': null, 'afk_timeout': null, "
                     "'default_message_notifications': null, 'explicit_content_filter': null, "
                     "'preferred_locale': null, 'system_channel_flags': null, "
                     "'premium_progress_bar_enabled': null, 'features': null}",
                     "/guilds/%s", p.guild);
    expect_json(a, "{'name': 'New', 'description': null, 'verification_level': 0, "
                   "'afk_timeout': 300, 'default_message_notifications': 0, "
                   "'explicit_content_filter': 0, 'preferred_locale': 'en-US', "
                   "'system_channel_flags': 0, 'premium_progress_bar_enabled': false}");
    expect_json(client_patch(p.bob, "{}", "/guilds/%s", p.guild), "{'name': 'New'}");
}

static void guild_fields_outside_their_limits_are_refused(struct world *w)
{
    struct server_loop p = world_home(w, 0);
    static const struct {
        const char *body, *field, *code;
    } bad[] = {
        { "{'name': 'a'}", "name", "BASE_TYPE_BAD_LENGTH" },
        { "{'verification_level': 5}", "verification_level", "BASE_TYPE_CHOICES" },
        { "{'verification_level': -1}", "verification_level", "BASE_TYPE_CHOICES" },
        { "{'default_message_notifications': 2}", "default_message_notifications",
          "BASE_TYPE_CHOICES" },
        { "{'explicit_content_filter': 3}", "explicit_content_filter", "BASE_TYPE_CHOICES" },
        { "{'explicit_content_filter': -1}", "explicit_content_filter", "BASE_TYPE_CHOICES" },
        { "{'afk_timeout': 120}", "afk_timeout", "BASE_TYPE_CHOICES" },
        { "{'region': 3}", "region", "STRING_TYPE_CONVERT" },
        { "{'preferred_locale': 'xx'}", "preferred_locale", "BASE_TYPE_CHOICES" },
        { "{'features': 'COMMUNITY'}", "features", "LIST_TYPE_CONVERT" },
        { "{'icon': 'data:text/plain;base64,aGVsbG8='}", "icon", "IMAGE_INVALID" },
        { "{'afk_channel_id': 1}", "afk_channel_id", "BASE_TYPE_CHOICES" },
        { "{'system_channel_id': 1}", "system_channel_id", "BASE_TYPE_CHOICES" },
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        expect_invalid(client_patch(p.ada, bad[i].body, "/guilds/%s", p.guild), bad[i].field,
                       bad[i].code);
    expect_invalid(
        client_patch(p.ada, TEXT(w, "{'description': '%0301d'}", 1), "/guilds/%s", p.guild),
        "description", "BASE_TYPE_MAX_LENGTH");
    expect_nothing_received(w);
    expect_status(
        client_patch(p.ada, TEXT(w, "{'description': '%0300d'}", 1), "/guilds/%s", p.guild), 200);
    static const int timeouts[] = { 60, 300, 900, 1800, 3600 };
    for (size_t i = 0; i < COUNT_OF(timeouts); i++)
        expect_status(
            client_patch(p.ada, TEXT(w, "{'afk_timeout': %d}", timeouts[i]), "/guilds/%s", p.guild),
            200);
}

static void guild_channel_fields_must_name_channels_of_the_right_type(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *body = "{'name': 'Home', 'system_channel_id': 1, 'afk_channel_id': 2, 'channels': "
                       "[{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b', 'type': 2}]}";
    struct answer here = client_post(ada, body, "/guilds"),
                  there = client_post(ada, body, "/guilds");
    const char *id = answer_text(here, "id"), *written = answer_text(here, "system_channel_id"),
               *spoken = answer_text(here, "afk_channel_id");

    static const char *const fields[] = { "system_channel_id", "rules_channel_id",
                                          "public_updates_channel_id", "safety_alerts_channel_id" };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        expect_json(
            client_patch(ada, TEXT(w, "{'%s': '%s'}", fields[i], written), "/guilds/%s", id),
            "{'%s': '%s'}", fields[i], written);
        expect_invalid(
            client_patch(ada, TEXT(w, "{'%s': '%s'}", fields[i], spoken), "/guilds/%s", id),
            fields[i], "BASE_TYPE_CHOICES");
        expect_invalid(client_patch(ada,
                                    TEXT(w, "{'%s': '%s'}", fields[i],
                                         answer_text(there, "system_channel_id")),
                                    "/guilds/%s", id),
                       fields[i], "BASE_TYPE_CHOICES");
        expect_json(client_patch(ada, TEXT(w, "{'%s': null}", fields[i]), "/guilds/%s", id),
                    "{'%s': null}", fields[i]);
    }
    expect_invalid(
        client_patch(ada, TEXT(w, "{'afk_channel_id': '%s'}", written), "/guilds/%s", id),
        "afk_channel_id", "BASE_TYPE_CHOICES");
    expect_json(client_patch(ada, "{'afk_channel_id': null}", "/guilds/%s", id),
                "{'afk_channel_id': null}");
    expect_json(client_patch(ada, TEXT(w, "{'afk_channel_id': '%s'}", spoken), "/guilds/%s", id),
                "{'afk_channel_id': '%s'}", spoken);
    struct answer both =
        client_patch(ada, "{'afk_channel_id': 5, 'rules_channel_id': 5}", "/guilds/%s", id);
    expect_invalid(both, "afk_channel_id", "BASE_TYPE_CHOICES");
    expect_invalid(both, "rules_channel_id", "BASE_TYPE_CHOICES");
}

static enum err insert_feature(struct tx *tx, void *arg)
{
    return tx_exec(tx, "update guilds set features = '[\"VIP_REGIONS\"]' where id = $1",
                   BIND(v_id(id_of(arg))), NULL);
}

static void only_mutable_guild_features_can_be_changed(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                           world_arena(w), insert_feature, (void *)p.guild));
    expect_json(client_patch(p.ada,
                             "{'features': ['INVITES_DISABLED', 'PARTNERED', 'COMMUNITY', "
                             "'COMMUNITY', 'a\\\"b']}",
                             "/guilds/%s", p.guild),
                "{'features': ['VIP_REGIONS', 'COMMUNITY', 'INVITES_DISABLED']}");
    expect_json(client_patch(p.ada, "{'features': ['COMMUNITY']}", "/guilds/%s", p.guild),
                "{'features': ['VIP_REGIONS', 'COMMUNITY']}");
    expect_json(client_get(p.ada, "/guilds/%s", p.guild),
                "{'features': ['VIP_REGIONS', 'COMMUNITY']}");
    expect_json(client_patch(p.ada, "{'features': []}", "/guilds/%s", p.guild),
                "{'features': ['VIP_REGIONS']}");
}

static void guild_images_are_stored_and_served(struct world *w)
{
    struct server_loop p = world_home(w, 0);
    static const struct {
        const char *field, *area;
    } rows[] = {
        { "icon", "icons" },
        { "banner", "banners" },
        { "splash", "splashes" },
        { "discovery_splash", "discovery-splashes" },
        { "home_header", "home-headers" },
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct answer a =
            client_patch(p.ada, TEXT(w, "{'%s': '%s'}", rows[i].field, PNG), "/guilds/%s", p.guild);
        expect_status(a, 200);
        const char *path =
            TEXT(w, "/%s/%s/%s.webp", rows[i].area, p.guild, answer_text(a, rows[i].field));
        expect_status(client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 }),
                      200);
        expect_json(
            client_patch(p.ada, TEXT(w, "{'%s': null}", rows[i].field), "/guilds/%s", p.guild),
            "{'%s': null}", rows[i].field);
    }
}

static void refused_icon_upload_stores_no_file(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect_error(client_patch(p.bob, "{'icon': '" PNG "'}", "/guilds/%s", p.guild), 403, 50013);
    struct answer a = client_patch(world_client(w, "cleo"), "{'avatar': '" PNG "'}", "/users/@me");
    const char *path = TEXT(w, "/icons/%s/%s", p.guild, answer_text(a, "avatar"));
    expect_status(client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 }), 404);
}

static void owner_can_transfer_the_guild_to_a_member(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(ADMINISTRATOR));
    struct client *cleo = world_client(w, "cleo"), *bot = world_bot(w, "helper");

    put_member(p.guild, bot);
    expect_error(
        client_patch(p.bob, TEXT(w, "{'owner_id': '%s'}", p.bob->id), "/guilds/%s", p.guild), 403,
        50013);
    expect_error(
        client_patch(p.ada, TEXT(w, "{'owner_id': '%s'}", p.ada->id), "/guilds/%s", p.guild), 400,
        50133);
    expect_error(client_patch(p.ada, TEXT(w, "{'owner_id': '%s'}", bot->id), "/guilds/%s", p.guild),
                 400, 50132);
    expect_error(
        client_patch(p.ada, TEXT(w, "{'owner_id': '%s'}", cleo->id), "/guilds/%s", p.guild), 404,
        10007);
    expect_nothing_received(w);

    struct answer a =
        client_patch(p.ada, TEXT(w, "{'owner_id': '%s'}", p.bob->id), "/guilds/%s", p.guild);
    expect_json(a, "{'owner_id': '%s'}", p.bob->id);
    expect_received(
        w, audience_of_members_with_permission(id_of(p.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 1}");
    expect_received(w, audience_of_guild(id_of(p.guild)), "GUILD_UPDATE", "{'owner_id': '%s'}",
                    p.bob->id);
    expect_error(client_patch(p.ada, "{'name': 'Mine'}", "/guilds/%s", p.guild), 403, 50013);
    expect_error(client_delete(p.ada, "/guilds/%s", p.guild), 403, 50013);
    expect_status(client_delete(p.bob, "/guilds/%s", p.guild), 204);
}

/* --- deleting ------------------------------------------------------------------------- */

static void only_the_owner_can_delete_a_guild(struct world *w)
{
    struct server_loop p = world_home(w, PERMISSION(ADMINISTRATOR));

    expect_error(client_delete(p.bob, "/guilds/%s", p.guild), 403, 50013);
    expect_error(client_post(p.bob, "{}", "/guilds/%s/delete", p.guild), 403, 50013);
    expect_error(client_delete(world_client(w, "cleo"), "/guilds/%s", p.guild), 403, 50001);
    expect_nothing_received(w);

    expect_status(client_delete(p.ada, "/guilds/%s", p.guild), 204);
    expect_received(w, audience_of_guild(id_of(p.guild)), "GUILD_DELETE", "{'id': '%s'}", p.guild);
    expect_nothing_received(w);
    expect_error(client_get(p.ada, "/guilds/%s", p.guild), 404, 10004);
    expect_error(client_delete(p.ada, "/guilds/%s", p.guild), 404, 10004);
    expect_json(client_get(p.bob, "/users/@me/guilds"), "[]");
}

static void guild_can_be_deleted_by_post(struct world *w)
{
    struct server_loop p = world_home(w, 0);

    expect_status(client_post(p.ada, "", "/guilds/%s/delete", p.guild), 204);
    expect_received(w, audience_of_guild(id_of(p.guild)), "GUILD_DELETE", "{'id': '%s'}", p.guild);
    expect_error(client_get(p.ada, "/guilds/%s", p.guild), 404, 10004);
}

static void community_guild_keeps_its_rules_and_updates_channels(struct world *w)
{
    static const char *const fields[] = { "rules_channel_id", "public_updates_channel_id" };
    struct client *ada = world_client(w, "ada");
    const char *guild = answer_text(client_post(ada, "{'name': 'Hall'}", "/guilds"), "id");

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct answer made =
            client_post(ada, TEXT(w, "{'name': 'c%zu'}", i), "/guilds/%s/channels", guild);
        const char *channel = answer_text(made, "id");

        expect_status(
            client_patch(ada,
                         TEXT(w, "{'features': ['COMMUNITY'], '%s': '%s'}", fields[i], channel),
                         "/guilds/%s", guild),
            200);
        expect_error(client_delete(ada, "/channels/%s", channel), 400, 50074);
        expect_status(client_get(ada, "/channels/%s", channel), 200);
        if (i == 0)
            expect_status(
                client_patch(ada, TEXT(w, "{'%s': null}", fields[i]), "/guilds/%s", guild), 200);
        else
            expect_status(client_patch(ada, "{'features': []}", "/guilds/%s", guild), 200);
        expect_status(client_delete(ada, "/channels/%s", channel), 200);
        expect_json(client_get(ada, "/guilds/%s", guild), "{'%s': null}", fields[i]);
    }
}

const struct test guilds_tests[] = {
    TEST(community_guild_keeps_its_rules_and_updates_channels),
    TEST(new_guild_has_everyone_role_and_default_channels),
    TEST(created_guild_has_no_unavailable_field),
    TEST(guild_name_must_have_2_to_100_characters),
    TEST(bots_and_anonymous_callers_cannot_create_guilds),
    TEST(user_is_limited_to_100_guilds),
    TEST(guild_creation_accepts_roles_and_channels_with_draft_ids),
    TEST(draft_ids_must_refer_to_objects_of_the_body),
    TEST(guild_creation_is_limited_to_1000_overwrites),
    TEST(guild_can_be_created_with_an_icon),
    TEST(reading_a_guild_requires_membership),
    TEST(guild_counts_are_returned_with_with_counts),
    TEST(changing_a_guild_requires_manage_guild),
    TEST(changing_a_guild_sends_guild_update_and_audit_entry),
    TEST(guild_fields_outside_their_limits_are_refused),
    TEST(guild_channel_fields_must_name_channels_of_the_right_type),
    TEST(only_mutable_guild_features_can_be_changed),
    TEST(guild_images_are_stored_and_served),
    TEST(refused_icon_upload_stores_no_file),
    TEST(owner_can_transfer_the_guild_to_a_member),
    TEST(only_the_owner_can_delete_a_guild),
    TEST(guild_can_be_deleted_by_post),
    { 0 },
};
