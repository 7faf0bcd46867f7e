/* hooks.c - tests the order in which hooks are called, and how their errors are returned. */
#include "unit/unit.h"

#include <string.h>

#include "api/hooks.h"
#include "api/internal.h"

static char called_hooks[8];
static enum err answer;

static enum err record_hook_call(char who)
{
    called_hooks[strlen(called_hooks)] = who;
    return OK;
}

static enum err first_hook(struct call *call, snowflake id)
{
    (void)call;
    record_hook_call('1');
    assert_int_equal(id, 7);
    return answer;
}

static enum err second_hook(struct call *call, snowflake id)
{
    (void)call;
    (void)id;
    return record_hook_call('2');
}

static const struct domain first = { .hooks = &(const struct hook_listeners){ .guild_deleting =
                                                                                  first_hook } };
static const struct domain deaf = { .name = "Deaf" };
static const struct domain elsewhere = { .hooks = &(const struct hook_listeners){
                                             .channel_deleted = first_hook } };
static const struct domain second = { .hooks = &(const struct hook_listeners){ .guild_deleting =
                                                                                   second_hook } };
static const struct domain *const domains[] = { &first, &deaf, &elsewhere, &second, NULL };

static enum err call_hooks(void)
{
    struct api api = { .domains = domains };
    struct call call = { .api = &api };

    memset(called_hooks, 0, sizeof called_hooks);
    return hook_guild_deleting(&call, 7);
}

static void hooks_are_called_in_the_order_of_the_domains(void **state)
{
    (void)state;
    answer = OK;
    assert_int_equal(call_hooks(), OK);
    assert_string_equal(called_hooks, "12");
}

static void hook_error_stops_later_hooks_and_is_returned(void **state)
{
    (void)state;
    answer = ERR_MAX_GUILDS;
    assert_int_equal(call_hooks(), ERR_MAX_GUILDS);
    assert_string_equal(called_hooks, "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_are_called_in_the_order_of_the_domains),
        cmocka_unit_test(hook_error_stops_later_hooks_and_is_returned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
