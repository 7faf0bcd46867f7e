/* bulk_overwrite.c - bulk overwrite of commands, and limits on the number of commands. */
#include <stdlib.h>

#include "apps.h"
#include "base/buf.h"
#include "store/store.h"
#include "waits.h"
#include "test_app.h"

#define PING "{'name': 'ping', 'description': 'd'}"
#define PONG "{'name': 'pong', 'description': 'd'}"

/* Writes commands of one type with numbered names. */
static const char *write_commands(struct world *w, int type, int from, int to)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_char(&b, '[');
    for (int i = from; i < to; i++)
        buf_printf(&b, "%s{'type': %d, 'name': 'c%d'%s}", i > from ? "," : "", type, i,
                   type == 1 ? ", 'description': 'd'" : "");
    buf_add_str(&b, str_slice("]", 2));
    const char *text = str_dup(world_arena(w), buf_as_str(&b)).p;
    buf_clear(&b);
    return text;
}

/* --- matching ------------------------------------------------------------------------- */

static void bulk_overwrite_replaces_all_commands_of_the_scope(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *ping = make_command(s.bot, s.global, PING);

    make_command(s.bot, s.global, "{'name': 'pung', 'description': 'd'}");
    struct answer a = client_put(
        s.bot, "[" PONG ", {'name': 'ping', 'description': 'e', 'nsfw': true}]", "%s", s.global);
    expect_status(a, 200);
    expect_json(a,
                "[{'name': 'pong'}, {'id': '%s', 'name': 'ping', 'description': 'e', "
                "'name_localizations': null}]",
                ping);
    /* The response has the order of the request; GET lists by age. */
    expect_json(client_get(s.bot, "%s", s.global), "[{'name': 'ping'}, {'name': 'pong'}]");
    expect_status(client_put(s.bot, "[]", "%s", s.global), 200);
    expect_json(client_get(s.bot, "%s", s.global), "[]");
    make_command(s.bot, s.global, PING);
    expect_status(client_put(s.bot, "null", "%s", s.global), 200);
    expect_json(client_get(s.bot, "%s", s.global), "[]");
    expect_invalid(client_put(s.bot, "{}", "%s", s.global), "", "LIST_TYPE_CONVERT");
}

static void bulk_overwrite_with_the_same_list_changes_nothing(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *list =
        "[{'name': 'ping', 'description': 'd', 'name_localizations': {'de': 'klopf', "
        "'fr': 'toc'}, 'options': [{'type': 3, 'name': 'a', 'description': 'd', "
        "'required': true, 'choices': [{'name': 'A', 'value': 'a'}]}]}, " PONG "]";
    struct answer a = client_put(s.bot, list, "%s", s.local);

    expect_status(a, 200);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
                    "{}");
    expect_nothing_received(w);
    struct answer b = client_put(s.bot, list, "%s", s.local);
    expect(str_eq(a.body, b.body));
    expect_nothing_received(w);
    expect_status(client_put(s.bot, "[" PING ", " PONG "]", "%s", s.local), 200);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
                    "{}");
    expect_nothing_received(w);
}

static struct store_stats read_store_stats(struct world *w)
{
    struct store_stats stats;

    store_read_stats(guildhall_get_store(world_server(w)), &stats);
    return stats;
}

/* An unchanged request body skips parsing, but commands changed in the meantime are overwritten. */
static void repeated_bulk_overwrite_reverts_changes_made_in_between(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *list = "[" PONG ", {'name': 'aah', 'description': 'd', 'options': [{'type': 11, "
                       "'name': 'f', 'description': 'd', 'file_types': ['image']}]}, " PING "]";

    make_command(s.bot, s.global, PING); /* older than the other commands, and last in the list */
    struct answer a = client_put(s.bot, list, "%s", s.global);
    expect_status(a, 200);
    world_settle(w);
    uint64_t writes = read_store_stats(w).writes;
    expect(str_eq(client_put(s.bot, list, "%s", s.global).body, a.body));
    expect(read_store_stats(w).writes == writes);
    /* A body with other whitespace is parsed again. */
    struct answer b = client_put(s.bot, TEXT(w, "%s ", list), "%s", s.global);
    expect(str_eq(b.body, a.body));
    expect(read_store_stats(w).writes > writes);
    expect(str_eq(client_put(s.bot, list, "%s", s.global).body, a.body));
    /* A changed, a deleted and an added command are all reverted. */
    expect_status(
        client_patch(s.bot, "{'description': 'other'}", "%s/%s", s.global, answer_text(a, "0.id")),
        200);
    b = client_put(s.bot, list, "%s", s.global);
    expect_json(b, "[{'id': '%s', 'description': 'd'}, {}, {}]", answer_text(a, "0.id"));
    expect(strcmp(answer_text(a, "0.version"), answer_text(b, "0.version")) != 0);
    expect_status(client_delete(s.bot, "%s/%s", s.global, answer_text(a, "1.id")), 204);
    b = client_put(s.bot, list, "%s", s.global);
    expect(strcmp(answer_text(a, "1.id"), answer_text(b, "1.id")) != 0);
    make_command(s.bot, s.global, "{'name': 'more', 'description': 'd'}");
    expect(str_eq(client_put(s.bot, list, "%s", s.global).body, b.body));
    expect_json(client_get(s.bot, "%s", s.global), "[{}, {}, {}]");
    expect(read_store_stats(w).failures == 0);
    /* Each scope has a cached body of its own. */
    expect_status(client_put(s.bot, list, "%s", s.local), 200);
    expect_status(client_put(s.bot, "[]", "%s", s.local), 200);
    expect_status(client_put(s.bot, list, "%s", s.local), 200);
    expect(str_eq(client_put(s.bot, list, "%s", s.global).body, b.body));
}

/* A body of the same length may still differ. */
static void bulk_overwrite_with_an_equally_long_body_is_applied(struct world *w)
{
    struct test_app s = world_test_app(w);

    expect_status(client_put(s.bot, "[{'name': 'ping', 'description': 'one'}]", "%s", s.global),
                  200);
    expect_json(client_put(s.bot, "[{'name': 'ping', 'description': 'two'}]", "%s", s.global),
                "[{'description': 'two'}]");
    expect_json(client_put(s.bot, "[{'name': 'ping', 'description': 'one'}]", "%s", s.global),
                "[{'description': 'one'}]");
}

static void repeated_bulk_overwrite_still_checks_permissions(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *list = "[" PING ", " PONG "]";
    char path[80];

    expect_status(client_put(s.bot, list, "%s", s.local), 200);
    expect_status(client_put(s.bot, list, "%s", s.global), 200);
    struct client *other = application_bot(s.ada, make_application(s.ada, "Other"));
    expect_error(client_put(other, list, "%s", s.global), 403, 20012);
    expect_error(client_put(other, list, "%s", s.local), 403, 20012);
    snprintf(path, sizeof path, "/api/v10%s", s.global);
    struct str sent = str_of("[{\"name\":\"ping\",\"description\":\"d\"}]");
    expect_status(client_request(s.bot, "PUT", path, "Content-Type: application/json\r\n", sent),
                  200);
    expect_status(client_request(s.bot, "PUT", path, "Content-Type: text/plain\r\n", sent), 400);
    expect_status(client_request(s.bot, "PUT", path, "Content-Type: application/json\r\n", sent),
                  200);
    /* The app is no longer in the guild. */
    expect_status(client_put(s.bot, list, "%s", s.local), 200);
    expect_status(
        client_delete(s.ada, "/guilds/%s/integrations/%s", s.guild,
                      answer_text(client_get(s.ada, "/guilds/%s/integrations", s.guild), "0.id")),
        204);
    expect_error(client_put(s.bot, list, "%s", s.local), 403, 50001);
}

/* Commands without integration_types take those of their application. */
static void repeated_bulk_overwrite_follows_the_apps_install_types(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *list = "[" PING "]";

    expect_json(client_put(s.bot, list, "%s", s.global), "[{'integration_types': [0, 1]}]");
    expect_status(
        client_patch(s.ada, "{'integration_types_config': {'0': {}}}", "/applications/%s", s.app),
        200);
    expect_json(client_put(s.bot, list, "%s", s.global), "[{'integration_types': [0]}]");
}

static void bulk_overwrite_matches_commands_by_id_then_by_name(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *ping = make_command(s.bot, s.global, PING);
    const char *pong = make_command(s.bot, s.global, PONG);

    /* The two commands exchange their names. */
    struct answer a = client_put(
        s.bot,
        TEXT(w,
             "[{'id': '%s', 'name': 'pong', 'description': 'd'}, {'id': '%s', 'name': 'ping', "
             "'description': 'd'}]",
             ping, pong),
        "%s", s.global);
    expect_status(a, 200);
    expect_json(a, "[{'id': '%s', 'name': 'pong'}, {'id': '%s', 'name': 'ping'}]", ping, pong);
    /* An unknown id, or one of another type, is ignored. */
    a = client_put(s.bot,
                   TEXT(w,
                        "[{'id': '1', 'name': 'pong', 'description': 'd'}, {'id': '%s', "
                        "'type': 2, 'name': 'ping'}]",
                        pong),
                   "%s", s.global);
    expect_status(a, 200);
    expect_json(a, "[{'id': '%s', 'name': 'pong'}, {'type': 2}]", ping);
    expect(strcmp(answer_text(a, "1.id"), pong) != 0);
    /* A command given by id is renamed; its old name creates a new command. */
    a = client_put(s.bot,
                   TEXT(w,
                        "[{'name': 'pong', 'description': 'd'}, {'id': '%s', 'name': 'peng', "
                        "'description': 'd'}]",
                        ping),
                   "%s", s.global);
    expect_status(a, 200);
    expect_json(a, "[{'name': 'pong'}, {'id': '%s', 'name': 'peng'}]", ping);
}

static void bulk_overwrite_refuses_duplicate_names_and_ids(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, PING);
    static const char TWICE[] = "APPLICATION_COMMANDS_DUPLICATE_NAME";

    struct answer a = client_put(s.bot, "[" PONG ", " PING ", " PONG ", " PONG "]", "%s", s.global);
    expect_invalid(a, "2", TWICE);
    expect_invalid(a, "3", TWICE);
    expect_absent(a, "errors.0");
    a = client_put(s.bot,
                   TEXT(w,
                        "[{'id': '%s', 'name': 'a', 'description': 'd'}, {'id': '%s', "
                        "'name': 'b', 'description': 'd'}]",
                        id, id),
                   "%s", s.global);
    expect_invalid(a, "1", TWICE);
    a = client_put(s.bot, "[{'type': 2, 'name': 'A b'}, {'type': 2, 'name': ' A b '}]", "%s",
                   s.global);
    expect_invalid(a, "1", TWICE);
    expect_status(client_put(s.bot, "[{'type': 2, 'name': 'ping'}, " PING "]", "%s", s.global),
                  200);
}

static void bulk_overwrite_with_one_invalid_command_changes_nothing(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *id = make_command(s.bot, s.global, PING);

    struct answer a = client_put(s.bot,
                                 "[" PONG ", {'name': 'Bad'}, {'name': 'x', 'description': "
                                 "'d', 'options': [{}]}]",
                                 "%s", s.global);
    expect_invalid(a, "1.name", "APPLICATION_COMMAND_INVALID_NAME");
    expect_invalid(a, "1.description", "BASE_TYPE_REQUIRED");
    expect_invalid(a, "2.options.0.type", "BASE_TYPE_REQUIRED");
    expect_invalid(client_put(s.bot, "[null]", "%s", s.global), "0", "LIST_ITEM_VALUE_REQUIRED");
    expect_json(client_get(s.bot, "%s", s.global), "[{'id': '%s'}]", id);
}

/* --- size limits ---------------------------------------------------------------------- */

static void commands_are_limited_to_100_chat_input_and_15_per_menu_type(struct world *w)
{
    struct test_app s = world_test_app(w);

    expect_status(client_put(s.bot, write_commands(w, 1, 0, 100), "%s", s.local), 200);
    struct answer a = client_post(s.bot, PING, "%s", s.local);
    expect_error(a, 400, 30032);
    expect_json(a, "{'message': 'Maximum number of application commands reached (100)'}");
    expect_status(client_post(s.bot, "{'name': 'c7', 'description': 'e'}", "%s", s.local), 200);
    expect_error(client_put(s.bot, write_commands(w, 1, 0, 101), "%s", s.local), 400, 30032);
    expect_status(client_put(s.bot, write_commands(w, 1, 0, 100), "%s", s.global), 200);

    for (int type = 2; type <= 3; type++) {
        expect_status(client_put(s.bot, write_commands(w, type, 0, 15), "%s", s.local), 200);
        a = client_post(s.bot, TEXT(w, "{'type': %d, 'name': 'more'}", type), "%s", s.local);
        expect_error(a, 400, 30032);
        expect_json(a, "{'message': 'Maximum number of application commands reached (15)'}");
        expect_error(client_put(s.bot, write_commands(w, type, 0, 16), "%s", s.local), 400, 30032);
    }
    const char *entry = "{'type': 4, 'name': '%s', 'description': 'd'}";
    expect_status(client_put(s.bot, "[]", "%s", s.global), 200);
    expect_status(client_post(s.bot, TEXT(w, entry, "go"), "%s", s.global), 201);
    a = client_post(s.bot, TEXT(w, entry, "come"), "%s", s.global);
    expect_error(a, 400, 30032);
    expect_json(a, "{'message': 'Maximum number of application commands reached (1)'}");
    expect_status(client_post(s.bot, TEXT(w, entry, "go"), "%s", s.global), 200);
}

static void creating_commands_is_limited_to_200_per_day(struct world *w)
{
    struct test_app s = world_test_app(w);

    expect_status(client_put(s.bot, write_commands(w, 1, 0, 100), "%s", s.global), 200);
    expect_status(client_put(s.bot, write_commands(w, 1, 1, 101), "%s", s.global),
                  200); /* one command is new */
    world_wait(w, 12 * 60 * 60);
    expect_status(client_put(s.bot, write_commands(w, 1, 1, 2), "%s", s.global), 200);
    expect_status(client_put(s.bot, write_commands(w, 1, 200, 299), "%s", s.global), 200);
    struct answer a = client_post(s.bot, PING, "%s", s.global);
    expect_error(a, 400, 30034);
    expect_error(client_put(s.bot, "[" PING "]", "%s", s.global), 400, 30034);
    expect_json(client_get(s.bot, "%s", s.global), "%s", write_commands(w, 1, 200, 299));
    /* Existing commands can be overwritten, and guild scopes count separately. */
    expect_status(client_post(s.bot, "{'name': 'c200', 'description': 'e'}", "%s", s.global), 200);
    expect_status(client_post(s.bot, PING, "%s", s.local), 201);
    world_wait(w, 12 * 60 * 60 + 1);
    expect_status(client_put(s.bot, "[]", "%s", s.global), 200);
    expect_status(client_put(s.bot, write_commands(w, 1, 0, 100), "%s", s.global), 200);
    expect_error(client_put(s.bot, "[" PING ", " PONG "]", "%s", s.global), 400, 30034);
    expect_status(client_put(s.bot, "[" PING "]", "%s", s.global), 200);
}

/* --- entry points --------------------------------------------------------------------- */

static void set_embedded_creates_an_entry_point_command(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *path = TEXT(w, "/applications/%s/set-embedded", s.app);
    struct client *eve = world_client(w, "eve");

    expect_error(client_post(eve, "{'embedded': true}", "%s", path), 403, 20012);
    expect_invalid(client_post(s.ada, "{}", "%s", path), "embedded", "BASE_TYPE_REQUIRED");
    expect_status(client_post(s.ada, "{'embedded': true}", "%s", path), 204);
    struct answer a = client_get(s.bot, "%s?with_localizations=1", s.global);
    expect_json(a, "[{'type': 4, 'name': 'launch', 'handler': 2, 'integration_types': [0, 1]}]");
    const char *id = answer_text(a, "0.id");
    expect(atol(answer_text(client_get(s.bot, "/applications/@me"), "flags")) & 1 << 17);

    expect_error(client_put(s.bot, "[" PING "]", "%s", s.global), 400, 50240);
    a = client_put(s.bot,
                   "[" PING ", {'type': 4, 'name': 'start', 'description': 'd', "
                   "'handler': 3}]",
                   "%s", s.global);
    expect_status(a, 200);
    expect_json(a, "[{'type': 1}, {'id': '%s', 'name': 'start', 'handler': 3}]", id);
    expect_json(client_patch(s.bot, "{'handler': null}", "%s/%s", s.global, id),
                "{'handler': 1, 'name': 'start'}");
    expect_status(client_delete(s.bot, "%s/%s", s.global, id), 204);
    expect_status(client_put(s.bot, "[" PING "]", "%s", s.global), 200);

    /* An existing entry point command stays; a non-embedded app may delete it. */
    expect_status(client_post(s.ada, "{'embedded': true}", "%s", path), 204);
    expect(store_count(w, "select count(*) from commands where type = 4") == 0);
    expect_status(client_post(s.ada, "{'embedded': false}", "%s", path), 204);
    expect_status(client_post(s.ada, "{'embedded': true}", "%s", path), 204);
    expect(store_count(w, "select count(*) from commands where type = 4") == 1);
    expect_status(client_post(s.ada, "{'embedded': false}", "%s", path), 204);
    expect_status(client_put(s.bot, "[]", "%s", s.global), 200);
    expect(store_count(w, "select count(*) from commands") == 0);
}

static void application_flag_shows_that_it_has_global_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    enum { BADGE = 1 << 23 };

    make_command(s.bot, s.local, PING);
    expect(!(atol(answer_text(client_get(s.bot, "/applications/@me"), "flags")) & BADGE));
    const char *id = make_command(s.bot, s.global, PING);
    expect(atol(answer_text(client_get(s.bot, "/applications/@me"), "flags")) & BADGE);
    /* Changing the application's flags does not clear the badge. */
    expect_status(client_patch(s.ada, "{'flags': 0}", "/applications/%s", s.app), 200);
    expect(atol(answer_text(client_get(s.bot, "/applications/@me"), "flags")) == BADGE);
    expect_status(client_delete(s.bot, "%s/%s", s.global, id), 204);
    expect(atol(answer_text(client_get(s.bot, "/applications/@me"), "flags")) == 0);
}

/* --- events --------------------------------------------------------------------------- */

static void global_command_changes_send_at_most_one_event_per_second(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *other = found_guild(s.ada, "Elsewhere");

    found_guild(s.ada, "Without");
    install(s.ada, s.app, other, "applications.commands");
    expect_status(client_post(s.bot, PING, "%s", s.global), 201);
    for (int i = 0; i < 2; i++)
        expect_received(w, audience_of_guild(id_of(i ? other : s.guild)),
                        "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{}");
    expect_status(client_post(s.bot, PONG, "%s", s.global), 201);
    expect_status(client_put(s.bot, "[]", "%s", s.global), 200);
    expect_nothing_received(w);
    world_wait(w, 1.1);
    world_settle(w);
    for (int i = 0; i < 2; i++)
        expect_received(w, audience_of_guild(id_of(i ? other : s.guild)),
                        "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{}");
    expect_nothing_received(w);
}

const struct test commands_bulk_overwrite_tests[] = {
    TEST(bulk_overwrite_replaces_all_commands_of_the_scope),
    TEST(bulk_overwrite_with_the_same_list_changes_nothing),
    TEST(repeated_bulk_overwrite_reverts_changes_made_in_between),
    TEST(bulk_overwrite_with_an_equally_long_body_is_applied),
    TEST(repeated_bulk_overwrite_still_checks_permissions),
    TEST(repeated_bulk_overwrite_follows_the_apps_install_types),
    TEST(bulk_overwrite_matches_commands_by_id_then_by_name),
    TEST(bulk_overwrite_refuses_duplicate_names_and_ids),
    TEST(bulk_overwrite_with_one_invalid_command_changes_nothing),
    TEST(commands_are_limited_to_100_chat_input_and_15_per_menu_type),
    TEST(creating_commands_is_limited_to_200_per_day),
    TEST(set_embedded_creates_an_entry_point_command),
    TEST(application_flag_shows_that_it_has_global_commands),
    TEST(global_command_changes_send_at_most_one_event_per_second),
    { 0 },
};
