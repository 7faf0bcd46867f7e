/* address_routes.c - tests which worker owns an address. */
#include "relay/media/address_routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { KEY = 7 };

static void newest_address_route_of_a_client_is_found(void **state)
{
    struct address_routes *routes = address_routes_new();

    (void)state;
    assert_int_equal(address_route_find(routes, ADDRESS_CLIENT, KEY), -1);
    address_route_set(routes, ADDRESS_CLIENT, KEY, 1, 0);
    address_route_set(routes, ADDRESS_CLIENT, KEY, 2, 0);
    assert_int_equal(address_route_find(routes, ADDRESS_CLIENT, KEY), 2);
    assert_int_equal(address_route_find(routes, ADDRESS_BROWSER, KEY), -1);
    address_route_clear(routes, ADDRESS_CLIENT, KEY, 1); /* another worker has it */
    assert_int_equal(address_route_find(routes, ADDRESS_CLIENT, KEY), 2);
    address_route_clear(routes, ADDRESS_CLIENT, KEY, 2);
    assert_int_equal(address_route_find(routes, ADDRESS_CLIENT, KEY), -1);
    address_routes_free(routes);
}

static void address_of_a_browser_is_reserved_for_its_worker(void **state)
{
    struct address_routes *routes = address_routes_new();

    (void)state;
    assert_true(address_route_is_usable_by_worker(routes, KEY, 1, 0));
    address_route_set(routes, ADDRESS_BROWSER, KEY, 0, 1000);
    assert_true(address_route_is_usable_by_worker(routes, KEY, 0, 1000));
    assert_false(address_route_is_usable_by_worker(routes, KEY, 1, 1000 + ADDRESS_RESERVED_MS - 1));
    assert_true(address_route_is_usable_by_worker(routes, KEY, 1, 1000 + ADDRESS_RESERVED_MS));
    address_routes_free(routes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_address_route_of_a_client_is_found),
        cmocka_unit_test(address_of_a_browser_is_reserved_for_its_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
