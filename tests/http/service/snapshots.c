/* snapshots.c - snapshots and world files through the workbench. */
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "admin/control/control.h"
#include "store/store.h"
#include "world.h"

static void configure_workbench_with_controls(struct config *c)
{
    c->workbench = "on";
}

static struct answer call_console(struct world *w, const char *method, const char *path,
                                  const char *body)
{
    return client_request(world_anonymous(w), method, path,
                          *body ? "Content-Type: application/json\r\n" : NULL, str_of(body));
}

static bool store_is_sqlite(struct world *w)
{
    return access(TEXT(w, "%s/guildhall.db", world_folder(w)), F_OK) == 0;
}

static void snapshots_can_be_created_listed_and_deleted(struct world *w)
{
    world_client(w, "ada");
    expect_json(call_console(w, "GET", "/console/snapshots", ""), "{'snapshots': []}");
    struct answer a = call_console(w, "POST", "/console/snapshots", "{\"name\":\"monday\"}");
    if (!store_is_sqlite(w)) {
        expect_invalid(a, "name", "BASE_TYPE_CHOICES");
        expect_json(call_console(w, "GET", "/console/snapshots", ""), "{'snapshots': []}");
        return;
    }
    expect_status(a, 204);
    a = call_console(w, "GET", "/console/snapshots", "");
    expect_json(a, "{'snapshots': [{'name': 'monday'}]}");
    expect_status(call_console(w, "POST", "/console/snapshots", "{\"name\":\"monday\"}"), 204);
    expect_absent(call_console(w, "GET", "/console/snapshots", ""), "snapshots.1");
    expect_status(call_console(w, "DELETE", "/console/snapshots/monday", ""), 204);
    expect_invalid(call_console(w, "DELETE", "/console/snapshots/monday", ""), "name",
                   "BASE_TYPE_CHOICES");
    expect_json(call_console(w, "GET", "/console/snapshots", ""), "{'snapshots': []}");
}

static void snapshot_names_with_path_characters_are_refused(struct world *w)
{
    static const char *const names[] = { "../x", ".hidden", "a/b", "with space" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_invalid(
            call_console(w, "POST", "/console/snapshots", TEXT(w, "{\"name\":\"%s\"}", names[i])),
            "name", "BASE_TYPE_CHOICES");
    expect_invalid(call_console(w, "POST", "/console/snapshots", "{\"name\":\"\"}"), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(call_console(w, "POST", "/console/snapshots/none/restore", ""), "name",
                   "BASE_TYPE_CHOICES");
}

static void world_can_be_exported_as_a_file(struct world *w)
{
    world_client(w, "ada");
    struct answer a = call_console(w, "GET", "/console/world", "");
    expect_status(a, 200);
    expect_json(a, "{'users': [{'username': 'ada'}]}");
    expect(str_starts_with(answer_header(a, "Content-Disposition"), STR("attachment")));
    expect_json(call_console(w, "GET", "/console/world/import", ""), "{'number': 0}");
}

/* Importing a valid file restarts the server, which tests/tools covers. */
static void invalid_world_files_are_refused_at_once(struct world *w)
{
    struct answer a = call_console(w, "POST", "/console/world", "{\"users\":[{\"username\":7}]}");
    expect_invalid(a, "world", "BASE_TYPE_CHOICES");
    expect(strstr(answer_text(a, "errors.world._errors.0.message"), "users.0.username") != NULL);
    expect_status(call_console(w, "POST", "/console/world", "{\"users\":"), 400);
    expect_json(call_console(w, "GET", "/console/world/import", ""), "{'number': 0}");
}

static void snapshots_and_world_files_require_the_workbench_operator(struct world *w)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), "console-key", &out) == OK);
    const char *key = TEXT(w, "Authorization: Bearer %.*s\r\n", STR_ARGS(buf_as_str(&out)));
    buf_clear(&out);
    static const struct {
        const char *method, *path, *body;
        int with_key;
    } calls[] = {
        { "GET", "/console/snapshots", "", 200 },
        { "POST", "/console/snapshots", "{\"name\":\"x\"}", 403 },
        { "POST", "/console/snapshots/x/restore", "", 403 },
        { "DELETE", "/console/snapshots/x", "", 403 },
        { "GET", "/console/world", "", 403 },
        { "POST", "/console/world", "{}", 403 },
        { "GET", "/console/world/import", "", 200 },
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        expect_error(call_console(w, calls[i].method, calls[i].path, calls[i].body), 401, 0);
        struct answer a = client_request(world_anonymous(w), calls[i].method, calls[i].path,
                                         TEXT(w, "%sContent-Type: application/json\r\n", key),
                                         str_of(calls[i].body));
        expect_status(a, calls[i].with_key);
    }
    expect(access(TEXT(w, "%s/snapshots", world_folder(w)), F_OK) != 0);
}

const struct test snapshots_tests[] = {
    TEST_WITH(snapshots_can_be_created_listed_and_deleted, configure_workbench_with_controls),
    TEST_WITH(snapshot_names_with_path_characters_are_refused, configure_workbench_with_controls),
    TEST_WITH(world_can_be_exported_as_a_file, configure_workbench_with_controls),
    TEST_WITH(invalid_world_files_are_refused_at_once, configure_workbench_with_controls),
    TEST(snapshots_and_world_files_require_the_workbench_operator),
    { 0 },
};
