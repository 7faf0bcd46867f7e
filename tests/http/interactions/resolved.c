/* resolved.c - resolved users, roles, channels, messages and files of an interaction. */
#include "test_commands.h"

#include <stdlib.h>

#include "channels.h"
#include "waits.h"

#define OPTION "INTERACTION_APPLICATION_COMMAND_OPTION_INVALID"

static const char *create_command_with_option(struct test_commands *s, const char *members)
{
    return make_global_command(s, "'options': [{'name': 'o', 'description': 'O', %s}]", members);
}

static struct answer invoke_with_value(struct test_commands *s, const char *id, int type,
                                       const char *value)
{
    return roll(s, s->bob, id, "'options': [{'name': 'o', 'type': %d, 'value': '%s'}]", type,
                value);
}

/* --- users ---------------------------------------------------------------------------- */

static void resolved_users_contain_their_member_object(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = create_command_with_option(&s, "'type': 6");
    struct client *cat = world_client(w, "cat");

    expect_status(invoke_with_value(&s, id, 6, s.ada->id), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(
        &s, d,
        "{'data': {'options': [{'type': 6, 'value': '%s'}], 'resolved': {'users': {'%s': {'id': "
        "'%s', 'username': 'ada', 'discriminator': '0', 'global_name': null, 'avatar': null, "
        "'public_flags': 0}}, 'members': {'%s': {'nick': null, 'avatar': null, 'roles': [], "
        "'premium_since': null, 'pending': false, 'communication_disabled_until': null, "
        "'flags': 0}}}}}",
        s.ada->id, s.ada->id, s.ada->id, s.ada->id);
    const char *member = TEXT(w, "data.resolved.members.%s", s.ada->id);
    expect(!dom_at(d, TEXT(w, "%s.user", member)) && !dom_at(d, TEXT(w, "%s.deaf", member)) &&
           !dom_at(d, TEXT(w, "%s.mute", member)));
    expect(dom_at(d, TEXT(w, "%s.joined_at", member)));
    /* The owner has all permissions. */
    expect(strtoull(dom_text(&s, d, TEXT(w, "%s.permissions", member)), NULL, 10) &
           PERMISSION(ADMINISTRATOR));

    expect_status(invoke_with_value(&s, id, 6, cat->id), 204);
    d = last_interaction(&s);
    expect_dom(&s, d, "{'data': {'resolved': {'users': {'%s': {'username': 'cat'}}}}}", cat->id);
    expect(!dom_at(d, "data.resolved.members"));
    expect(!dom_at(d, "data.resolved.roles"));
    expect_invalid(invoke_with_value(&s, id, 6, "404"), "data.options", OPTION);
    expect_invalid(invoke_with_value(&s, id, 6, "me"), "data.options",
                   "INTERACTION_APPLICATION_COMMAND_OPTIONS_VALUE_INVALID");
    /* The id may be a number, too. */
    expect_status(
        roll(&s, s.bob, id, "'options': [{'name': 'o', 'type': 6, 'value': %s}]", s.ada->id), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'options': [{'value': '%s'}]}}", s.ada->id);
}

static void user_given_in_two_options_is_resolved_once(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id =
        make_global_command(&s, "'options': [{'name': 'a', 'description': 'A', 'type': 6}, "
                                "{'name': 'b', 'description': 'B', 'type': 9}]");

    expect_status(
        roll(&s, s.bob, id,
             "'options': [{'name': 'a', 'type': 6, 'value': '%s'}, {'name': 'b', 'type': 9, "
             "'value': '%s'}]",
             s.ada->id, s.ada->id),
        204);
    expect(dom_at(last_interaction(&s), "data.resolved.users")->count == 1);
    expect(dom_at(last_interaction(&s), "data.resolved.members")->count == 1);
}

static void role_option_accepts_only_roles_of_the_guild(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *role = make_role(s.ada, s.test_guild.id, "{'name': 'Crew', 'color': 255}");
    const char *roles = create_command_with_option(&s, "'type': 8"),
               *both = create_command_with_option(&s, "'type': 9");

    expect_status(invoke_with_value(&s, roles, 8, role), 204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'resolved': {'roles': {'%s': {'id': '%s', 'name': 'Crew', 'color': 255, "
               "'colors': {'primary_color': 255}, 'hoist': false, 'managed': false, 'mentionable': "
               "false, 'flags': 0, 'icon': null, 'unicode_emoji': null}}}}}",
               role, role);
    expect_status(invoke_with_value(&s, both, 9, role), 204);
    expect_dom(&s, last_interaction(&s), "{'data': {'resolved': {'roles': {'%s': {}}}}}", role);
    expect_status(invoke_with_value(&s, both, 9, s.ada->id), 204);
    expect(!dom_at(last_interaction(&s), "data.resolved.roles"));
    expect_invalid(invoke_with_value(&s, roles, 8, s.ada->id), "data.options", OPTION);
    expect_invalid(invoke_with_value(&s, both, 9, "404"), "data.options", OPTION);
}

static void channel_option_accepts_only_channels_visible_to_the_user(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *any = create_command_with_option(&s, "'type': 7"),
               *voice = create_command_with_option(&s, "'type': 7, 'channel_types': [2, 13]");
    const char *hidden = make_channel(
        s.ada, s.test_guild.id,
        TEXT(
            w,
            "{'name': 'hidden', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '%llu'}]}",
            s.test_guild.id, BITS(PERMISSION(VIEW_CHANNEL))));

    expect_status(invoke_with_value(&s, any, 7, s.test_guild.channel), 204);
    const struct dom *d = last_interaction(&s);
    expect_dom(
        &s, d,
        "{'data': {'resolved': {'channels': {'%s': {'id': '%s', 'type': 0, 'guild_id': '%s', "
        "'parent_id': null, 'topic': null, 'position': 0, 'nsfw': false, 'flags': 0, "
        "'rate_limit_per_user': 0, 'last_message_id': null, 'last_pin_timestamp': null}}}}}",
        s.test_guild.channel, s.test_guild.channel, s.test_guild.id);
    const char *path = TEXT(w, "data.resolved.channels.%s", s.test_guild.channel);
    expect(dom_at(d, TEXT(w, "%s.permissions", path)) &&
           dom_at(d, TEXT(w, "%s.app_permissions", path)));
    expect(!dom_at(d, TEXT(w, "%s.permission_overwrites", path)));
    expect_invalid(invoke_with_value(&s, voice, 7, s.test_guild.channel), "data.options", OPTION);
    expect_invalid(invoke_with_value(&s, any, 7, hidden), "data.options", OPTION);
    expect_invalid(invoke_with_value(&s, any, 7, "404"), "data.options", OPTION);
    const char *dm = answer_text(
        client_post(s.bob, TEXT(w, "{'recipient_id': '%s'}", s.application), "/users/@me/channels"),
        "id");
    expect_invalid(invoke_with_value(&s, any, 7, dm), "data.options", OPTION);
    /* Without the bot in the guild there are no app_permissions. */
    world_sql(w, "delete from members where user_id = %s", s.application);
    expect_status(invoke_with_value(&s, any, 7, s.test_guild.channel), 204);
    expect(!dom_at(last_interaction(&s), TEXT(w, "%s.app_permissions", path)));
}

static void resolved_threads_contain_thread_fields(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *any = create_command_with_option(&s, "'type': 7");
    struct answer a = client_post(s.bob, "{'name': 'side', 'type': 11}", "/channels/%s/threads",
                                  s.test_guild.channel);

    expect_status(a, 201);
    const char *thread = answer_text(a, "id");
    expect_status(invoke_with_value(&s, any, 7, thread), 204);
    expect_dom(
        &s, last_interaction(&s),
        "{'data': {'resolved': {'channels': {'%s': {'type': 11, 'parent_id': '%s', 'owner_id': "
        "'%s', 'thread_metadata': {'archived': false, 'locked': false}}}}}}",
        thread, s.test_guild.channel, s.bob->id);
    expect(dom_at(last_interaction(&s), TEXT(w, "data.resolved.channels.%s.member_count", thread)));
    expect(
        dom_at(last_interaction(&s), TEXT(w, "data.resolved.channels.%s.message_count", thread)));
}

/* --- context menus -------------------------------------------------------------------- */

static void context_menu_interaction_contains_the_resolved_target(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *user = make_global_command(&s, "'type': 2, 'description': '', 'name': 'Wave'"),
               *message = make_global_command(&s, "'type': 3, 'description': '', 'name': 'Quote'");
    const char *said = answer_text(
        client_post(s.ada, "{'content': 'Look'}", "/channels/%s/messages", s.test_guild.channel),
        "id");

    expect_status(
        invoke(&s, s.bob, "",
               "'id': '%s', 'version': '%s', 'name': 'Wave', 'type': 2, 'target_id': '%s'", user,
               user, s.ada->id),
        204);
    expect_dom(
        &s, last_interaction(&s),
        "{'type': 2, 'data': {'id': '%s', 'name': 'Wave', 'type': 2, 'target_id': '%s', "
        "'resolved': {'users': {'%s': {'username': 'ada'}}, 'members': {'%s': {'roles': []}}}}}",
        user, s.ada->id, s.ada->id, s.ada->id);
    expect_status(
        invoke(&s, s.bob, "",
               "'id': '%s', 'version': '%s', 'name': 'Quote', 'type': 3, 'target_id': '%s'",
               message, message, said),
        204);
    expect_dom(&s, last_interaction(&s),
               "{'data': {'id': '%s', 'name': 'Quote', 'type': 3, 'target_id': '%s', 'resolved': "
               "{'messages': {'%s': {'id': '%s', 'content': 'Look', 'author': {'id': '%s'}, "
               "'attachments': [], 'embeds': [], 'mentions': [], 'type': 0, 'flags': 0, 'pinned': "
               "false, 'tts': false}}}}}",
               message, said, said, said, s.ada->id);
}

/* --- files ---------------------------------------------------------------------------- */

static struct answer invoke_with_file(struct test_commands *s, const char *id, const char *value,
                                      const char *filename, const char *name)
{
    struct upload files[] = { { name, filename, STR("hello") }, { 0 } };
    const char *json = TEXT(
        s->world,
        "{'type': 2, 'application_id': '%s', 'channel_id': '%s', 'guild_id': '%s', 'data': {'id': "
        "'%s', 'version': '%s', 'name': 'roll', 'options': [{'name': 'o', 'type': 11, 'value': %s}], "
        "'attachments': [{'id': '0', 'filename': '%s', 'description': 'A file'}]}}",
        s->application, s->test_guild.channel, s->test_guild.id, id, id, value, filename);

    return client_upload(s->bob, "POST", json, files, "/interactions");
}

static void interaction_attachments_are_served_and_later_deleted(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = create_command_with_option(&s, "'type': 11");

    expect_status(invoke_with_file(&s, id, "'0'", "a.txt", "files[0]"), 204);
    const struct dom *d = last_interaction(&s);
    const char *file = dom_text(&s, d, "data.options.0.value");
    const char *path = TEXT(w, "data.resolved.attachments.%s", file);
    expect_dom(&s, dom_at(d, path),
               "{'id': '%s', 'filename': 'a.txt', 'size': 5, 'ephemeral': true, 'description': 'A "
               "file', 'content_type': 'text/plain; charset=utf-8'}",
               file);
    expect(!dom_at(d, "data.attachments"));
    const char *url = dom_text(&s, d, TEXT(w, "%s.url", path));
    expect(strcmp(url, dom_text(&s, d, TEXT(w, "%s.proxy_url", path))) == 0);
    const char *at = strstr(url, "/attachments/");
    struct answer a = client_request(world_anonymous(w), "GET", at, "", STR(""));
    expect_status(a, 200);
    expect(str_is(a.body, "hello"));

    /* The index may be a number. */
    expect_status(invoke_with_file(&s, id, "0", "a.txt", "files[0]"), 204);
    world_wait(w, 14 * 60);
    expect_status(client_request(world_anonymous(w), "GET", at, "", STR("")), 200);
    world_wait(w, 3 * 60);
    world_settle(w);
    expect(store_count(w, "select count(*) from interaction_files") == 0);
    expect_status(client_request(world_anonymous(w), "GET", at, "", STR("")), 404);
}

static void attachment_option_requires_an_uploaded_file_of_its_type(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *any = create_command_with_option(&s, "'type': 11"),
               *pictures =
                   create_command_with_option(&s, "'type': 11, 'file_types': ['image', '.txt']");

    expect_invalid(invoke_with_file(&s, any, "'1'", "a.txt", "files[0]"), "data.options", OPTION);
    expect_invalid(invoke_with_file(&s, any, "'0'", "a.txt", "files[1]"), "data.options", OPTION);
    expect_invalid(invoke_with_value(&s, any, 11, "0"), "data.options", OPTION);
    expect_status(invoke_with_file(&s, pictures, "'0'", "a.PNG", "files[0]"), 204);
    expect_status(invoke_with_file(&s, pictures, "'0'", "a.b.txt", "files[0]"), 204);
    expect_invalid(invoke_with_file(&s, pictures, "'0'", "a.pdf", "files[0]"), "data.options",
                   OPTION);
    expect_invalid(invoke_with_file(&s, pictures, "'0'", "png", "files[0]"), "data.options",
                   OPTION);
    /* Refused files are deleted. */
    expect(store_count(w, "select count(*) from interaction_files") == 2);
}

static void interaction_attachment_is_limited_to_10_mib(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *id = create_command_with_option(&s, "'type': 11");
    size_t most = 10 * 1024 * 1024;
    char *bytes = arena_alloc(world_arena(w), most + 1);
    const char *json = TEXT(
        w,
        "{'type': 2, 'application_id': '%s', 'channel_id': '%s', 'guild_id': '%s', 'data': {'id': "
        "'%s', 'version': '%s', 'name': 'roll', 'options': [{'name': 'o', 'type': 11, 'value': "
        "'0'}], 'attachments': [{'id': '0', 'filename': 'big'}]}}",
        s.application, s.test_guild.channel, s.test_guild.id, id, id);

    for (size_t more = 0; more < 2; more++) {
        struct upload files[] = { { "files[0]", "big", str_slice(bytes, most + more) }, { 0 } };
        struct answer a = client_upload(s.bob, "POST", json, files, "/interactions");

        if (more)
            expect_error(a, 413, 40005);
        else
            expect_status(a, 204);
    }
}

const struct test interactions_resolved_tests[] = {
    TEST(resolved_users_contain_their_member_object),
    TEST(user_given_in_two_options_is_resolved_once),
    TEST(role_option_accepts_only_roles_of_the_guild),
    TEST(channel_option_accepts_only_channels_visible_to_the_user),
    TEST(resolved_threads_contain_thread_fields),
    TEST(context_menu_interaction_contains_the_resolved_target),
    TEST(interaction_attachments_are_served_and_later_deleted),
    TEST(attachment_option_requires_an_uploaded_file_of_its_type),
    TEST(interaction_attachment_is_limited_to_10_mib),
    { 0 },
};
