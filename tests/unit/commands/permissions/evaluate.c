/* evaluate.c - tests the command permission check, also against a slow reference implementation
 * of the documented rules. */
#include "unit/unit.h"

#include <string.h>

#include "commands/commands.h"
#include "model/application.h"

enum {
    GUILD = 100,
    ALL = GUILD - 1,
    ME = 7,
    OTHER = 8,
    HERE = 50,
    THERE = 51,
    RED = 21,
    BLUE = 22
};

#define ROLE(id, may)                        \
    {                                        \
        (id), COMMAND_PERMISSION_ROLE, (may) \
    }
#define USER(id, may)                        \
    {                                        \
        (id), COMMAND_PERMISSION_USER, (may) \
    }
#define CHANNEL(id, may)                        \
    {                                           \
        (id), COMMAND_PERMISSION_CHANNEL, (may) \
    }
#define ROWS(...)                                                          \
    ((struct list){ (struct command_permission[]){ __VA_ARGS__ },          \
                    sizeof((struct command_permission[]){ __VA_ARGS__ }) / \
                        sizeof(struct command_permission) })

static const snowflake roles[] = { RED, BLUE };
static const uint64_t ENTER =
    PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_APPLICATION_COMMANDS) | PERMISSION(SEND_MESSAGES);

enum {
    ON_GUILD = 1 << INSTALL_GUILD,
    ON_ACCOUNT = 1 << INSTALL_USER,
    IN_GUILD = 1 << CONTEXT_GUILD,
    IN_BOT_DM = 1 << CONTEXT_BOT_DM,
    IN_PRIVATE = 1 << CONTEXT_PRIVATE_CHANNEL,
};

/* A member in a text channel, without permission rows for the command. */
static struct command_permission_input member_without_permission_rows(void)
{
    return (struct command_permission_input){
        .contexts = IN_GUILD,
        .integration_types = ON_GUILD,
        .contexts_to_check = IN_GUILD,
        .installed = ON_GUILD,
        .guild_id = GUILD,
        .user_id = ME,
        .roles = roles,
        .role_count = 2,
        .user_permissions = ENTER,
        .channel_id = HERE,
    };
}

static void command_requires_view_and_send_permissions_in_the_channel(void **state)
{
    static const uint64_t needed[] = { PERMISSION(VIEW_CHANNEL),
                                       PERMISSION(USE_APPLICATION_COMMANDS),
                                       PERMISSION(SEND_MESSAGES) };
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    for (size_t i = 0; i < 3; i++) {
        q.user_permissions = ENTER & ~needed[i];
        assert_int_equal(evaluate_command_permission(&q), COMMAND_NO_ACCESS);
    }
    q.user_permissions = ENTER;
    q.thread = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NO_ACCESS);
    q.user_permissions =
        (ENTER & ~PERMISSION(SEND_MESSAGES)) | PERMISSION(SEND_MESSAGES_IN_THREADS);
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.archived = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NO_ACCESS);
    q.administrator = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NO_ACCESS);
    q = member_without_permission_rows();
    q.timed_out = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NO_ACCESS);
    q.administrator = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
}

static void age_restriction_is_checked_first(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.nsfw = q.administrator = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NOT_OF_AGE);
    q.nsfw_allowed = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.guild_id = 0;
    q.nsfw_allowed = false;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NOT_OF_AGE);
}

static void command_permissions_do_not_apply_outside_guilds(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.guild_id = 0;
    q.default_member_permissions = (struct opt_id){ GIVEN, 0 };
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
}

static void command_requires_a_matching_context_and_installation(void **state)
{
    (void)state;
    for (unsigned contexts = 0; contexts < 8; contexts++) {
        for (unsigned types = 0; types < 4; types++) {
            for (unsigned installed = 0; installed < 4; installed++) {
                for (unsigned location = 0; location < 3; location++) {
                    struct command_permission_input q = {
                        .contexts = contexts,
                        .integration_types = types,
                        .contexts_to_check = 1u << location,
                        .installed = installed,
                    };
                    bool here = contexts >> location & 1 && types & installed;

                    assert_int_equal(evaluate_command_permission(&q),
                                     here ? COMMAND_ALLOWED : COMMAND_NOT_HERE);
                    assert_int_equal(command_get_usable_install_types(&q),
                                     here ? types & installed : 0);
                }
            }
        }
    }
}

static void group_dm_members_may_use_user_installed_apps_of_others(void **state)
{
    struct command_permission_input q = { .contexts = IN_PRIVATE,
                                          .integration_types = ON_ACCOUNT,
                                          .contexts_to_check = IN_PRIVATE };

    (void)state;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NOT_HERE);
    q.in_group = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    assert_int_equal(command_get_usable_install_types(&q), ON_GUILD);
    q.installed = ON_ACCOUNT;
    assert_int_equal(command_get_usable_install_types(&q), ON_GUILD | ON_ACCOUNT);
    q.integration_types = ON_GUILD; /* guild-installed commands never apply to private channels */
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NOT_HERE);
}

static void entry_point_command_requires_a_launchable_activity(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.entry_point = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NOT_HERE);
    q.launchable = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
}

static void user_installed_command_needs_no_send_permission_but_obeys_command_rules(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.integration_types = q.installed = ON_ACCOUNT;
    q.user_permissions = PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_APPLICATION_COMMANDS);
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.default_member_permissions = (struct opt_id){ GIVEN, 0 };
    assert_int_equal(evaluate_command_permission(&q), COMMAND_DEFAULT_DENIED);
    q.of_command = ROWS(USER(ME, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = ROWS(CHANNEL(HERE, false), USER(ME, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_CHANNEL_DENIED);
    q.of_command = (struct list){ 0 };
    q.of_application = ROWS(ROLE(GUILD, false));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_USER_DENIED);
    q.user_permissions = PERMISSION(VIEW_CHANNEL);
    assert_int_equal(evaluate_command_permission(&q), COMMAND_NO_ACCESS);
}

static void channel_permission_is_checked_before_users_and_roles(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.of_command = ROWS(CHANNEL(HERE, false), USER(ME, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_CHANNEL_DENIED);
    q.of_command = ROWS(CHANNEL(ALL, false), CHANNEL(HERE, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = ROWS(CHANNEL(ALL, false), CHANNEL(THERE, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_CHANNEL_DENIED);
    q.of_command = ROWS(CHANNEL(ALL, true));
    q.of_application = ROWS(CHANNEL(HERE, false));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = (struct list){ 0 };
    assert_int_equal(evaluate_command_permission(&q), COMMAND_CHANNEL_DENIED);
    q.administrator = true;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
}

static void user_permission_overrides_roles_which_override_everyone(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.of_command = ROWS(ROLE(GUILD, false), ROLE(RED, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = ROWS(ROLE(RED, false), ROLE(BLUE, true)); /* one allowing role is enough */
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = ROWS(ROLE(RED, false), ROLE(GUILD, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_USER_DENIED);
    q.of_command = ROWS(ROLE(RED, true), USER(ME, false));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_USER_DENIED);
    q.of_command = ROWS(USER(OTHER, false), ROLE(23, false));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = ROWS(ROLE(GUILD, false));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_USER_DENIED);
    /* A permission row applies only to objects of its own type, even if the ids are equal. */
    q.of_command = ROWS(ROLE(ME, false), USER(RED, false), CHANNEL(ME, false), USER(HERE, false));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
}

static void only_permissions_of_the_command_override_its_default(void **state)
{
    struct command_permission_input q = member_without_permission_rows();

    (void)state;
    q.default_member_permissions = (struct opt_id){ GIVEN, PERMISSION(BAN_MEMBERS) };
    assert_int_equal(evaluate_command_permission(&q), COMMAND_DEFAULT_DENIED);
    q.of_application = ROWS(USER(ME, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_DEFAULT_DENIED);
    q.of_command = ROWS(ROLE(GUILD, true));
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_application = ROWS(USER(ME, false)); /* the command's row overrides the application's */
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.of_command = (struct list){ 0 };
    assert_int_equal(evaluate_command_permission(&q), COMMAND_USER_DENIED);
    q.of_application = (struct list){ 0 };
    q.user_permissions |= PERMISSION(BAN_MEMBERS);
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
    q.default_member_permissions.value |=
        PERMISSION(KICK_MEMBERS); /* all permissions are required */
    assert_int_equal(evaluate_command_permission(&q), COMMAND_DEFAULT_DENIED);
    q.default_member_permissions.value = 0; /* 0 means nobody, unlike null */
    assert_int_equal(evaluate_command_permission(&q), COMMAND_DEFAULT_DENIED);
    q.default_member_permissions.given = GIVEN_NULL;
    assert_int_equal(evaluate_command_permission(&q), COMMAND_ALLOWED);
}

/* --- reference implementation of the documented rules --------------------------------- */

enum { SILENT = -1 };

/* Returns what the rows of a layer say about one object, or SILENT. */
static int find_permission_row(const struct list *layer, int64_t type, snowflake id)
{
    int answer = SILENT;

    for (size_t i = layer->count; i > 0; i--) {
        const struct command_permission *p = (struct command_permission *)layer->items + i - 1;

        if (p->type == type && p->id == id)
            answer = p->permission;
    }
    return answer;
}

static int combine_role_rows(const struct command_permission_input *q, const struct list *layer)
{
    int yes = 0, no = 0;

    for (size_t i = 0; i < q->role_count; i++) {
        int answer = find_permission_row(layer, COMMAND_PERMISSION_ROLE, q->roles[i]);

        yes += answer == 1;
        no += answer == 0;
    }
    return yes ? 1 : no ? 0 : SILENT;
}

static enum command_permission_result evaluate_by_reference(
    const struct command_permission_input *q)
{
    const struct list *k = &q->of_command, *a = &q->of_application;
    int c[4], u[6];

    if (!(q->contexts & q->contexts_to_check) || !(q->integration_types & q->installed))
        return COMMAND_NOT_HERE;
    if (q->nsfw && !q->nsfw_allowed)
        return COMMAND_NOT_OF_AGE;
    if (q->guild_id == 0)
        return COMMAND_ALLOWED;
    if (q->archived)
        return COMMAND_NO_ACCESS;
    if (q->administrator)
        return COMMAND_ALLOWED;
    if (q->timed_out || !(q->user_permissions & PERMISSION(VIEW_CHANNEL)) ||
        !(q->user_permissions & PERMISSION(USE_APPLICATION_COMMANDS)))
        return COMMAND_NO_ACCESS;
    if (q->integration_types & q->installed & ON_GUILD &&
        !(q->user_permissions &
          (q->thread ? PERMISSION(SEND_MESSAGES_IN_THREADS) : PERMISSION(SEND_MESSAGES))))
        return COMMAND_NO_ACCESS;

    c[0] = find_permission_row(k, 3, q->channel_id);
    c[1] = find_permission_row(k, 3, q->guild_id - 1);
    c[2] = find_permission_row(a, 3, q->channel_id);
    c[3] = find_permission_row(a, 3, q->guild_id - 1);
    for (int i = 0; i < 4; i++) {
        if (c[i] == 0)
            return COMMAND_CHANNEL_DENIED;
        if (c[i] == 1)
            break;
    }
    u[0] = find_permission_row(k, 2, q->user_id);
    u[1] = combine_role_rows(q, k);
    u[2] = find_permission_row(k, 1, q->guild_id);
    u[3] = find_permission_row(a, 2, q->user_id);
    u[4] = combine_role_rows(q, a);
    u[5] = find_permission_row(a, 1, q->guild_id);
    for (int i = 0; i < 6; i++) {
        if (u[i] == 0)
            return COMMAND_USER_DENIED;
        if (u[i] == 1 && i < 3)
            return COMMAND_ALLOWED;
        if (u[i] == 1)
            break;
    }
    if (q->default_member_permissions.given != GIVEN)
        return COMMAND_ALLOWED;
    if (q->default_member_permissions.value == 0)
        return COMMAND_DEFAULT_DENIED;
    for (int bit = 0; bit < 64; bit++)
        if (q->default_member_permissions.value >> bit & ~(q->user_permissions >> bit) & 1)
            return COMMAND_DEFAULT_DENIED;
    return COMMAND_ALLOWED;
}

static uint64_t state_of_chance = 20261115;

static unsigned chance(unsigned below)
{
    state_of_chance = state_of_chance * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state_of_chance >> 33) % below;
}

/* Random permission rows for relevant and irrelevant ids; each (id, type) occurs once. */
static struct list random_rows(struct command_permission *rows)
{
    static const snowflake ids[] = { GUILD, ALL, ME, OTHER, HERE, THERE, RED, BLUE, 23 };
    size_t count = 0;

    for (unsigned n = chance(6); n > 0; n--) {
        struct command_permission p = { ids[chance(9)], 1 + (int64_t)chance(3), chance(2) };
        size_t i = 0;

        while (i < count && !(rows[i].id == p.id && rows[i].type == p.type))
            i++;
        if (i == count)
            rows[count++] = p;
    }
    return (struct list){ rows, count };
}

static void command_permission_check_matches_the_reference_implementation(void **state)
{
    struct command_permission of_command[6], of_application[6];
    unsigned seen[COMMAND_DEFAULT_DENIED + 1] = { 0 };

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct command_permission_input q = member_without_permission_rows();

        q.of_command = random_rows(of_command);
        q.of_application = random_rows(of_application);
        q.role_count = chance(3);
        q.guild_id = chance(20) ? GUILD : 0;
        q.administrator = chance(12) == 0;
        q.timed_out = chance(12) == 0;
        q.thread = chance(4) == 0;
        q.archived = q.thread && chance(4) == 0;
        q.integration_types = chance(3) ? ON_GUILD | ON_ACCOUNT : 1 + chance(3);
        q.installed = chance(3) ? ON_GUILD : chance(4);
        q.contexts = chance(12) ? IN_GUILD : chance(8);
        q.nsfw = chance(6) == 0;
        q.nsfw_allowed = chance(2);
        q.user_permissions = ENTER | PERMISSION(SEND_MESSAGES_IN_THREADS);
        for (unsigned n = chance(3); n > 0; n--)
            q.user_permissions ^= UINT64_C(1) << chance(54);
        q.default_member_permissions =
            (struct opt_id){ (enum field_presence)chance(3),
                             chance(3) ? (UINT64_C(1) << chance(40)) | chance(8) : 0 };
        assert_int_equal(evaluate_command_permission(&q), evaluate_by_reference(&q));
        seen[evaluate_command_permission(&q)]++;
    }
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_true(seen[i] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_requires_view_and_send_permissions_in_the_channel),
        cmocka_unit_test(age_restriction_is_checked_first),
        cmocka_unit_test(command_permissions_do_not_apply_outside_guilds),
        cmocka_unit_test(command_requires_a_matching_context_and_installation),
        cmocka_unit_test(group_dm_members_may_use_user_installed_apps_of_others),
        cmocka_unit_test(entry_point_command_requires_a_launchable_activity),
        cmocka_unit_test(user_installed_command_needs_no_send_permission_but_obeys_command_rules),
        cmocka_unit_test(channel_permission_is_checked_before_users_and_roles),
        cmocka_unit_test(user_permission_overrides_roles_which_override_everyone),
        cmocka_unit_test(only_permissions_of_the_command_override_its_default),
        cmocka_unit_test(command_permission_check_matches_the_reference_implementation),
    };
    return cmocka_run_group_tests_name("commands/verdict", tests, NULL, NULL);
}
