/* router.c - tests how the router finds a route by method and path. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/internal.h"

static enum err handle(struct call *call)
{
    (void)call;
    return OK;
}

#define ROW(method_, path_, name_)                                                             \
    {                                                                                          \
        .method = method_, .path = path_, .name = name_, .doc = "A route.", .auth = AUTH_USER, \
        .handle = handle                                                                       \
    }

static const struct rate_limit own_limit = { .name = "own", .count = 1, .window_s = 60 };

static const struct route rows[] = {
    ROW(GET, "/users/@me", "get_me"),
    ROW(PATCH, "/users/@me", "modify_me"),
    ROW(GET, "/users/{user.id}", "get_user"),
    ROW(DELETE, "/users/{user.id}", "delete_user"),
    ROW(GET, "/users/@me/friends", "get_friends"),
    ROW(GET, "/users/{user.id}/profile", "get_profile"),
    ROW(GET, "/a/b/c", "abc"),
    ROW(GET, "/a/{user.id}/d", "axd"),
    ROW(PUT, "/x/{user.id}/y/{word}", "two"),
    ROW(POST, "/x/{guest.id}/y/{ticket}", "ticket"),
    ROW(PUT, "/x/{guest.id}/y/{ticket}", "change_ticket"),
    { .method = POST,
      .path = "/limited",
      .name = "limited",
      .doc = "A route.",
      .auth = AUTH_USER,
      .limit = &own_limit,
      .handle = handle },
    { .method = GET,
      .path = "/health",
      .name = "health",
      .doc = "A route.",
      .service = true,
      .handle = handle },
    { 0 },
};
static const struct path_resolver resolvers[] = {
    { .name = "user.id", .field = "user_id" },
    { .name = "word", .field = "word", .is_text = true },
    { .name = "guest.id", .field = "guest_id" },
    { .name = "ticket", .field = "ticket", .is_text = true, .prefix = "T-" },
    { 0 },
};
static const struct domain domain = { "Test", "Test.", rows, resolvers, NULL };
static const struct domain *const domains[] = { &domain, NULL };

static struct router *router;
static struct arena *arena;
static struct route_match m;

static int set_up(void **state)
{
    (void)state;
    router = router_new(domains);
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    router_free(router);
    arena_free(arena);
    return 0;
}

static void find_route(enum http_method method, const char *path)
{
    m = (struct route_match){ 0 };
    router_match_request(router, arena, method, str_of(path), &m);
}

#define assert_route(method, path, expected)            \
    do {                                                \
        find_route(method, path);                       \
        assert_int_equal(m.error, OK);                  \
        assert_non_null(m.route);                       \
        assert_string_equal(m.route->name, (expected)); \
    } while (0)
#define assert_no_route(method, path, expected) \
    do {                                        \
        find_route(method, path);               \
        assert_int_equal(m.error, (expected));  \
    } while (0)

static void literal_path_segments_win_over_parameters(void **state)
{
    (void)state;
    assert_route(HTTP_GET, "/api/users/@me", "get_me");
    assert_int_equal(m.count, 0);
    assert_route(HTTP_GET, "/api/users/1", "get_user");
    assert_int_equal(m.count, 1);
    assert_str(m.params[0], "1");
    assert_string_equal(m.resolvers[0]->name, "user.id");
    assert_route(HTTP_PATCH, "/api/users/@me", "modify_me");
}

/* If a literal segment leads to no route, the router tries the parameter of the same segment. */
static void router_backtracks_from_a_literal_segment_without_a_route(void **state)
{
    (void)state;
    assert_route(HTTP_GET, "/api/users/@me/profile", "get_profile");
    assert_str(m.params[0], "@me");
    assert_route(HTTP_GET, "/api/users/@me/friends", "get_friends");
    assert_route(HTTP_GET, "/api/a/b/c", "abc");
    assert_route(HTTP_GET, "/api/a/b/d", "axd");
    assert_int_equal(m.count, 1);
    assert_str(m.params[0], "b");
    assert_no_route(HTTP_GET, "/api/a/b/e", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/api/a/b", ERR_NOT_FOUND);
}

static void router_backtracks_from_a_literal_segment_without_the_method(void **state)
{
    (void)state;
    assert_route(HTTP_DELETE, "/api/users/@me", "delete_user");
    assert_str(m.params[0], "@me");
    assert_no_route(HTTP_PUT, "/api/users/@me", ERR_METHOD_NOT_ALLOWED);
    assert_true(m.allowed & 1u << HTTP_PATCH);
    assert_true(m.allowed & 1u << HTTP_DELETE);
}

static void parameter_prefix_selects_between_routes_of_the_same_shape(void **state)
{
    (void)state;
    assert_route(HTTP_PUT, "/api/x/1/y/T-5", "change_ticket");
    assert_string_equal(m.resolvers[0]->name, "guest.id");
    assert_str(m.params[1], "T-5");
    assert_route(HTTP_PUT, "/api/x/1/y/t-5", "two");
    assert_string_equal(m.resolvers[0]->name, "user.id");
    assert_route(HTTP_PUT, "/api/x/1/y/T", "two");
    assert_route(HTTP_POST, "/api/x/1/y/%54-5", "ticket");
    assert_no_route(HTTP_POST, "/api/x/1/y/T", ERR_METHOD_NOT_ALLOWED);
    assert_no_route(HTTP_GET, "/api/x/1/y/T-5", ERR_METHOD_NOT_ALLOWED);
    assert_no_route(HTTP_GET, "/api/x/1", ERR_NOT_FOUND);
}

static void path_parameters_are_percent_decoded_once(void **state)
{
    (void)state;
    assert_route(HTTP_PUT, "/api/x/%31/y/a%2Fb%2520+%C3%A4", "two");
    assert_int_equal(m.count, 2);
    assert_str(m.params[0], "1");
    assert_str(m.params[1], "a/b%20+\xc3\xa4");
    assert_no_route(HTTP_PUT, "/api/x/1/y/%", ERR_NOT_FOUND);
    assert_no_route(HTTP_PUT, "/api/x/1/y/%4", ERR_NOT_FOUND);
    assert_no_route(HTTP_PUT, "/api/x/1/y/%zz", ERR_NOT_FOUND);
}

static void one_trailing_slash_is_ignored_and_empty_segments_are_refused(void **state)
{
    (void)state;
    assert_route(HTTP_GET, "/api/users/1/", "get_user");
    assert_no_route(HTTP_GET, "/api/users/1//", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/api//users/1", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "//api/users/1", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "*", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18", ERR_NOT_FOUND);
}

static void router_accepts_api_versions_9_and_10_and_no_version(void **state)
{
    (void)state;
    assert_route(HTTP_GET, "/api/v9/users/1", "get_user");
    assert_route(HTTP_GET, "/api/v10/users/1", "get_user");
    assert_no_route(HTTP_GET, "/api/v5/users/1", ERR_INVALID_API_VERSION);
    assert_no_route(HTTP_GET, "/api/v11/users/1", ERR_INVALID_API_VERSION);
    assert_no_route(HTTP_GET, "/api/v5/nowhere", ERR_NOT_FOUND);
    assert_no_route(HTTP_POST, "/api/v5/users/1", ERR_METHOD_NOT_ALLOWED);
    assert_no_route(HTTP_GET, "/api/v/users/1", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/api/v9x/users/1", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/users/1", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/apis/users/1", ERR_NOT_FOUND);
}

static void service_routes_exist_only_outside_the_api_prefix(void **state)
{
    (void)state;
    assert_route(HTTP_GET, "/health", "health");
    assert_no_route(HTTP_GET, "/api/health", ERR_NOT_FOUND);
    assert_no_route(HTTP_GET, "/api/v10/health", ERR_NOT_FOUND);
}

static void wrong_method_is_refused_with_the_list_of_allowed_methods(void **state)
{
    (void)state;
    assert_no_route(HTTP_PUT, "/api/users/@me", ERR_METHOD_NOT_ALLOWED);
    assert_int_equal(m.allowed, 1 << HTTP_GET | 1 << HTTP_HEAD | 1 << HTTP_PATCH |
                                    1 << HTTP_DELETE | 1 << HTTP_OPTIONS);
    assert_no_route(HTTP_GET, "/api/limited", ERR_METHOD_NOT_ALLOWED);
    assert_int_equal(m.allowed, 1 << HTTP_POST | 1 << HTTP_OPTIONS);
    assert_no_route(HTTP_HEAD, "/api/limited", ERR_METHOD_NOT_ALLOWED);
    assert_no_route(HTTP_OTHER_METHOD, "/api/users/1", ERR_METHOD_NOT_ALLOWED);
    assert_route(HTTP_HEAD, "/api/users/1", "get_user");
    find_route(HTTP_OPTIONS, "/api/users/1");
    assert_int_equal(m.error, OK);
    assert_null(m.route);
    assert_int_equal(m.allowed,
                     1 << HTTP_GET | 1 << HTTP_HEAD | 1 << HTTP_DELETE | 1 << HTTP_OPTIONS);
}

static void routes_use_their_own_rate_limit_or_the_default_of_their_method(void **state)
{
    (void)state;
    assert_route(HTTP_POST, "/api/limited", "limited");
    assert_ptr_equal(m.limit, &own_limit);
    assert_route(HTTP_GET, "/api/users/1", "get_user");
    assert_int_equal(m.limit->count, 50);
    assert_int_equal(m.limit->window_s, 10);
    const struct rate_limit *first = m.limit;
    assert_route(HTTP_GET, "/api/users/2", "get_user");
    assert_ptr_equal(m.limit, first);
    assert_route(HTTP_HEAD, "/api/users/2", "get_user");
    assert_ptr_equal(m.limit, first);
    assert_route(HTTP_PATCH, "/api/users/@me", "modify_me");
    assert_int_equal(m.limit->count, 20);
}

static void router_find_route_returns_the_route_of_a_path(void **state)
{
    (void)state;
    assert_string_equal(router_find_route(router, HTTP_PATCH, STR("/api/v9/users/@me"))->name,
                        "modify_me");
    assert_string_equal(router_find_route(router, HTTP_PATCH, STR("/api/users/%40me/"))->name,
                        "modify_me");
    assert_null(router_find_route(router, HTTP_PATCH, STR("/api/users/%4")));
    assert_null(router_find_route(router, HTTP_PATCH, STR("/api/users/1")));
    assert_null(router_find_route(router, HTTP_OTHER_METHOD, STR("/api/users/1")));
    assert_null(router_find_route(router, HTTP_GET, STR("")));
}

/* --- conflicting route rows ----------------------------------------------------------- */

/* Returns whether creating a router of these routes ends the process. */
static bool router_creation_ends_the_process(const struct route *list)
{
    struct domain d = { "Test", "Test.", list, resolvers, NULL };
    const struct domain *both[] = { &d, NULL };
    int status;
    pid_t child = fork();

    if (child == 0) {
        fclose(stderr);
        router_free(router_new(both));
        _exit(0);
    }
    waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define ENDS(...) router_creation_ends_the_process((const struct route[]){ __VA_ARGS__, { 0 } })

static void router_refuses_conflicting_or_incomplete_route_rows(void **state)
{
    (void)state;
    assert_false(ENDS(ROW(GET, "/a", "a"), ROW(PUT, "/a", "b"), ROW(GET, "/a/{word}", "c")));
    assert_true(ENDS(ROW(GET, "/a", "a"), ROW(GET, "/a", "b")));
    assert_true(ENDS(ROW(GET, "/a/{word}", "a"), ROW(GET, "/a/{user.id}", "b")));
    assert_false(ENDS(ROW(GET, "/a/{ticket}", "a"), ROW(GET, "/a/{user.id}", "b")));
    assert_true(ENDS(ROW(GET, "/a/{nobody}", "a")));
    assert_true(ENDS(ROW(GET, "a", "a")));
    assert_true(ENDS(ROW(GET, "/a//b", "a")));
    assert_true(ENDS(ROW(GET, "/a", NULL)));
    assert_true(ENDS({ .method = GET, .path = "/a", .name = "a", .doc = "A.", .auth = AUTH_USER }));
    assert_true(ENDS({ .method = GET, .path = "/a", .name = "a", .doc = "A.", .handle = handle }));
    assert_true(
        ENDS({ .method = GET, .path = "/a", .name = "a", .auth = AUTH_USER, .handle = handle }));
}

static void route_defaults_for_status_and_store_access(void **state)
{
    (void)state;
    static const struct type reply = { .kind = KIND_BOOL };

    assert_int_equal(route_get_success_status(&(struct route){ .reply = &reply }), 200);
    assert_int_equal(route_get_success_status(&(struct route){ .method = POST }), 204);
    assert_int_equal(route_get_success_status(&(struct route){ .reply = &reply, .status = 201 }),
                     201);
    assert_int_equal(route_get_transaction_kind_of_handler(&(struct route){ .method = GET }),
                     ROUTE_STORE_READ);
    assert_int_equal(route_get_transaction_kind_of_handler(&(struct route){ .method = PUT }),
                     ROUTE_STORE_WRITE);
    assert_int_equal(route_get_transaction_kind_of_handler(
                         &(struct route){ .method = PUT, .store = ROUTE_STORE_NONE }),
                     ROUTE_STORE_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(literal_path_segments_win_over_parameters),
        TEST(router_backtracks_from_a_literal_segment_without_a_route),
        TEST(router_backtracks_from_a_literal_segment_without_the_method),
        TEST(parameter_prefix_selects_between_routes_of_the_same_shape),
        TEST(path_parameters_are_percent_decoded_once),
        TEST(one_trailing_slash_is_ignored_and_empty_segments_are_refused),
        TEST(router_accepts_api_versions_9_and_10_and_no_version),
        TEST(service_routes_exist_only_outside_the_api_prefix),
        TEST(wrong_method_is_refused_with_the_list_of_allowed_methods),
        TEST(routes_use_their_own_rate_limit_or_the_default_of_their_method),
        TEST(router_find_route_returns_the_route_of_a_path),
        TEST(router_refuses_conflicting_or_incomplete_route_rows),
        TEST(route_defaults_for_status_and_store_access),
    };
    return cmocka_run_group_tests_name("api/router", tests, NULL, NULL);
}
