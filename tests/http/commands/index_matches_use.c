/* index_matches_use.c - compares command indexes with invocations: a command is listed if and
 * only if it can be used. */
#include <string.h>

#include "channels.h"
#include "test_commands.h"
#include "test_app.h"

#define NOT_HERE    "INTERACTION_APPLICATION_COMMAND_INVALID"
#define NOT_ALLOWED "INTERACTION_APPLICATION_COMMAND_INVALID_PERMISSIONS"

static bool is_command_listed(struct answer a, struct str id)
{
    const struct dom *all = dom_at(a.json, "application_commands");

    expect_status(a, 200);
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(dom_at(&all->items[i], "id")->text, id))
            return true;
    return false;
}

/* Invokes a command by POST /interactions, with the command as it was returned to its app.
 * guild: NULL for private channels. */
static struct answer invoke_command(struct client *by, const struct dom *k, const char *guild,
                                    const char *channel)
{
    struct world *w = by->world;

    return client_post(by,
                       TEXT(w,
                            "{'type': 2, 'application_id': '%.*s', 'channel_id': '%s', %s'data': "
                            "{'id': '%.*s', 'version': '%.*s', 'name': '%.*s', 'type': 1}}",
                            STR_ARGS(dom_at(k, "application_id")->text), channel,
                            guild ? TEXT(w, "'guild_id': '%s', ", guild) : "",
                            STR_ARGS(dom_at(k, "id")->text), STR_ARGS(dom_at(k, "version")->text),
                            STR_ARGS(dom_at(k, "name")->text)),
                       "/interactions");
}

static bool can_use_command(struct client *by, const struct dom *k, const char *guild,
                            const char *channel)
{
    int status = invoke_command(by, k, guild, channel).status;

    expect(status == 204 || status == 400);
    return status == 204;
}

static const char *make_group(struct client *c, struct client *one, struct client *two)
{
    make_friends(c, one);
    make_friends(c, two);

    struct answer a = client_post(
        c, TEXT(c->world, "{'recipients': ['%s', '%s']}", one->id, two->id), "/users/@me/channels");

    expect_status(a, 200);
    return answer_text(a, "id");
}

static void add_app_to_group(struct client *c, const char *app, const char *group)
{
    expect_status(client_post(c, TEXT(c->world, "{'authorize': true, 'channel_id': '%s'}", group),
                              "/oauth2/authorize?client_id=%s&scope=applications.commands", app),
                  200);
}

/* --- every install type and context --------------------------------------------------- */

enum { TYPES = 3, CONTEXTS = 7, LATCHES = 2, KINDS = TYPES * CONTEXTS * LATCHES };

/* Creates a command of each combination: types and contexts are bit sets; latched commands
 * are denied to everyone in guilds. */
static const struct dom *make_all_combinations(struct test_app *s)
{
    struct world *w = s->world;
    const char *body = "[";

    for (unsigned i = 0; i < KINDS; i++) {
        unsigned types = i % TYPES + 1, contexts = i / TYPES % CONTEXTS + 1;

        body = TEXT(w,
                    "%s%s{'name': 'c%u', 'description': 'd', 'integration_types': [%s], "
                    "'contexts': [%s%s%s%s%s], 'default_member_permissions': %s}",
                    body, i ? ", " : "", i,
                    types == 3   ? "0, 1"
                    : types == 1 ? "0"
                                 : "1",
                    contexts & 1 ? "0" : "", contexts & 1 && contexts & 6 ? ", " : "",
                    contexts & 2 ? "1" : "", contexts & 2 && contexts & 4 ? ", " : "",
                    contexts & 4 ? "2" : "", i < KINDS / LATCHES ? "null" : "'0'");
    }
    struct answer a = client_put(s->bot, TEXT(w, "%s]", body), "%s", s->global);

    expect_status(a, 200);
    expect(a.json->count == KINDS);
    return a.json;
}

/* Where the app is installed. */
struct install_set {
    bool guild, account, group;
};

static void compare_listed_commands_with_usable_ones(struct test_app *s, struct client *bob,
                                                     const char *group, const struct dom *kinds,
                                                     struct install_set has)
{
    const char *direct = talk_to(bob, s->app);
    const char *text_channel = make_channel(s->ada, s->guild, "{'name': 'hall'}");
    struct answer of_guild = client_get(bob, "/guilds/%s/application-command-index", s->guild);
    struct answer of_user = client_get(bob, "/users/@me/application-command-index");
    struct answer of_direct = client_get(bob, "/channels/%s/application-command-index", direct);
    struct answer of_group = client_get(bob, "/channels/%s/application-command-index", group);

    for (unsigned i = 0; i < KINDS; i++) {
        const struct dom *k = &kinds->items[i];
        struct str id = dom_at(k, "id")->text;
        unsigned types = i % TYPES + 1, contexts = i / TYPES % CONTEXTS + 1;
        bool for_guilds = types & 1, for_accounts = types & 2, open = i < KINDS / LATCHES;
        bool own = for_accounts && has.account, brought = for_guilds && has.guild;

        expect(is_command_listed(of_user, id) == own);
        /* In a guild: commands of the guild's installs, and usable ones of the user's installs. */
        expect(is_command_listed(of_guild, id) == (contexts & 1 && brought && open));
        expect(can_use_command(bob, k, s->guild, text_channel) ==
               (is_command_listed(of_guild, id) ||
                (is_command_listed(of_user, id) && contexts & 1 && open)));
        /* In the direct channel with the bot all usable commands are listed. */
        expect(is_command_listed(of_direct, id) == (contexts & 2 && (brought || own)));
        expect(can_use_command(bob, k, NULL, direct) == is_command_listed(of_direct, id));
        expect(is_command_listed(of_group, id) == (contexts & 4 && for_accounts && has.group));
        expect(
            can_use_command(bob, k, NULL, group) ==
            (is_command_listed(of_group, id) || (is_command_listed(of_user, id) && contexts & 4)));
    }
}

/* Creates another app of ada and a guild that has it. */
static struct test_app create_another_app(struct client *ada)
{
    struct world *w = ada->world;
    struct test_app s = { .world = w, .ada = ada, .app = make_application(ada, "Helper") };

    s.bot = application_bot(ada, s.app);
    s.guild = found_guild(ada, "Hall");
    install(ada, s.app, s.guild, "bot");
    s.global = TEXT(w, "/applications/%s/commands", s.app);
    return s;
}

static void command_is_listed_exactly_where_it_can_be_used(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");

    for (unsigned i = 0; i < 8; i++) {
        struct install_set has = { i & 1, i & 2, i & 4 };
        struct test_app s = create_another_app(ada);
        struct client *bob = world_client(w, TEXT(w, "bob%u", i));
        const char *group = make_group(bob, ada, eve);

        const struct dom *kinds = make_all_combinations(&s);
        put_member(s.guild, bob);
        if (!has.guild)
            world_sql(w, "delete from integrations where guild_id = %s", s.guild);
        if (has.account)
            install_on_account(bob, s.app);
        if (has.group)
            add_app_to_group(s.ada, s.app, group);
        compare_listed_commands_with_usable_ones(&s, bob, group, kinds, has);
    }
}

/* --- every permission ----------------------------------------------------------------- */

/* Permission rows of a target. */
enum said {
    NOTHING,
    ME_YES,
    ME_NO,
    ROLE_YES,
    ROLE_NO,
    ALL_YES,
    ALL_NO,
    HERE_NO,
    CHANNELS_NO,
    SAID
};

struct stage_instance {
    struct test_app *s;
    struct client *who;
    const char *role, *here, *there;
};

static void insert_command_permission_rows(const struct stage_instance *g, struct str target,
                                           enum said what)
{
    const char *entity[SAID] = {
        [ME_YES] = g->who->id,   [ME_NO] = g->who->id,   [ROLE_YES] = g->role, [ROLE_NO] = g->role,
        [ALL_YES] = g->s->guild, [ALL_NO] = g->s->guild, [HERE_NO] = g->here
    };
    static const int type[SAID] = { 0, 2, 2, 1, 1, 1, 1, 3, 3 };
    const char *all = TEXT(g->s->world, "%llu", BITS(id_of(g->s->guild) - 1));

    if (what == NOTHING)
        return;
    world_sql(g->s->world,
              "insert into command_permissions (guild_id, target_id, entity_id, type, "
              "application_id, permission, position) values (%s, %.*s, %s, %d, %s, %d, 0)",
              g->s->guild, STR_ARGS(target), what == CHANNELS_NO ? all : entity[what], type[what],
              g->s->app, what == ME_YES || what == ROLE_YES || what == ALL_YES);
}

/* Checks that the index lists a command exactly when it can be used in some channel. */
static void compare_command_index_with_channels(const struct stage_instance *g, const struct dom *k,
                                                const struct dom *own)
{
    struct answer a = client_get(g->who, "/guilds/%s/application-command-index", g->s->guild);
    bool here = can_use_command(g->who, k, g->s->guild, g->here);
    bool there = can_use_command(g->who, k, g->s->guild, g->there);

    expect(is_command_listed(a, dom_at(k, "id")->text) == (here || there));
    /* The result does not depend on the install type. */
    expect(can_use_command(g->who, own, g->s->guild, g->here) == here);
    expect(can_use_command(g->who, own, g->s->guild, g->there) == there);
}

static void check_index_with_all_permission_rows(const struct stage_instance *g,
                                                 const struct dom *k, const struct dom *own)
{
    struct world *w = g->s->world;
    struct str app = dom_at(k, "application_id")->text;

    for (enum said of_command = NOTHING; of_command < SAID; of_command++) {
        for (enum said of_app = NOTHING; of_app < SAID; of_app++) {
            world_sql(w, "delete from command_permissions");
            insert_command_permission_rows(g, dom_at(k, "id")->text, of_command);
            insert_command_permission_rows(g, dom_at(own, "id")->text, of_command);
            insert_command_permission_rows(g, app, of_app);
            compare_command_index_with_channels(g, k, own);
        }
    }
}

static const struct dom *create_or_update_command(struct test_app *s, int type, const char *needs)
{
    struct answer a = client_post(s->bot,
                                  TEXT(s->world,
                                       "{'name': 'c%d', 'description': 'd', 'contexts': [0], "
                                       "'integration_types': [%d], "
                                       "'default_member_permissions': %s}",
                                       type, type, needs),
                                  "%s", s->global);

    expect(a.status == 200 || a.status == 201);
    return a.json;
}

static void check_index_with_all_default_permissions(struct stage_instance *g)
{
    /* 8192 is MANAGE_MESSAGES, which the second channel grants. */
    static const char *const needs[] = { "null", "'0'", "'8192'" };

    for (size_t i = 0; i < 3; i++)
        check_index_with_all_permission_rows(g, create_or_update_command(g->s, 0, needs[i]),
                                             create_or_update_command(g->s, 1, needs[i]));
}

static void guild_index_lists_commands_usable_in_some_channel(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    struct stage_instance g = { &s, bob, make_role(s.ada, s.guild, "{'name': 'r'}"),
                                make_channel(s.ada, s.guild, "{'name': 'here'}"),
                                make_channel(s.ada, s.guild, "{'name': 'there'}") };

    /* The guild has only these two channels. */
    world_sql(w, "delete from channels where guild_id = %s and id not in (%s, %s)", s.guild, g.here,
              g.there);
    put_role_on(s.guild, bob, g.role);
    install_on_account(bob, s.app);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) values "
              "(%s, %s, 1, %llu, 0)",
              g.there, bob->id, BITS(PERMISSION(MANAGE_MESSAGES)));
    check_index_with_all_default_permissions(&g);
    /* None of the rows restrict an administrator. */
    world_sql(w, "update roles set permissions = 8 where id = %s", g.role);
    check_index_with_all_default_permissions(&g);
}

/* --- unusable channels ---------------------------------------------------------------- */

static size_t count_listed_commands(struct test_app *s, struct client *c)
{
    struct answer a = client_get(c, "/guilds/%s/application-command-index", s->guild);

    expect_status(a, 200);
    return dom_at(a.json, "application_commands")->count;
}

static void set_channel_overwrite_of_role(struct client *owner, struct client *about,
                                          const char *channel, uint64_t allow, uint64_t deny)
{
    const char *body =
        TEXT(owner->world, "{'type': 1, 'allow': '%llu', 'deny': '%llu'}", BITS(allow), BITS(deny));

    expect_status(client_put(owner, body, "/channels/%s/permissions/%s", channel, about->id), 204);
}

static void categories_and_unusable_channels_do_not_list_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const uint64_t needed = PERMISSION(MANAGE_MESSAGES);
    const char *category = make_channel(s.ada, s.guild, "{'name': 'k', 'type': 4}");
    const char *channel = make_channel(s.ada, s.guild, "{'name': 'c'}");

    make_command(s.bot, s.local,
                 "{'name': 'x', 'description': 'd', 'default_member_permissions': '8192'}");
    set_channel_overwrite_of_role(s.ada, bob, category, needed, 0);
    expect(count_listed_commands(&s, bob) == 0);
    set_channel_overwrite_of_role(s.ada, bob, channel, needed,
                                  PERMISSION(USE_APPLICATION_COMMANDS));
    expect(count_listed_commands(&s, bob) == 0);
    set_channel_overwrite_of_role(s.ada, bob, channel, needed, PERMISSION(VIEW_CHANNEL));
    expect(count_listed_commands(&s, bob) == 0);
    set_channel_overwrite_of_role(s.ada, bob, channel, needed, PERMISSION(SEND_MESSAGES));
    expect(count_listed_commands(&s, bob) == 0);
    set_channel_overwrite_of_role(s.ada, bob, channel, needed, 0);
    expect(count_listed_commands(&s, bob) == 1);
}

static void commands_usable_only_in_a_thread_are_listed(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *channel = make_channel(s.ada, s.guild, "{'name': 'c'}");
    struct answer k = client_post(s.bot, "{'name': 'x', 'description': 'd'}", "%s", s.local);

    world_sql(w, "delete from channels where guild_id = %s and id <> %s", s.guild, channel);
    set_channel_overwrite_of_role(s.ada, bob, channel, 0, PERMISSION(SEND_MESSAGES));
    expect(count_listed_commands(&s, bob) == 0);
    struct answer a =
        client_post(s.ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", channel);
    expect_status(a, 201);
    const char *thread = answer_text(a, "id");
    expect(can_use_command(bob, k.json, s.guild, thread));
    expect(count_listed_commands(&s, bob) == 1);
    expect_status(client_patch(s.ada, "{'archived': true}", "/channels/%s", thread), 200);
    expect(!can_use_command(bob, k.json, s.guild, thread));
    expect(count_listed_commands(&s, bob) == 0);
    /* A private thread counts for its creator only. */
    a = client_post(s.ada, "{'name': 'p', 'type': 12}", "/channels/%s/threads", channel);
    expect_status(a, 201);
    expect(count_listed_commands(&s, bob) == 0);
    expect(count_listed_commands(&s, s.ada) == 1);
}

static void guild_without_channels_lists_no_commands(struct world *w)
{
    struct test_app s = world_test_app(w);

    make_command(s.bot, s.local, "{'name': 'x', 'description': 'd'}");
    expect(count_listed_commands(&s, s.ada) == 1);
    world_sql(w, "delete from channels where guild_id = %s and type <> 4", s.guild);
    expect(count_listed_commands(&s, s.ada) == 0);
}

/* --- commands without usable subcommands ---------------------------------------------- */

static const char *const EMPTY =
    "{'name': 'e', 'description': 'd', 'contexts': [0, 1, 2], 'options': ["
    "{'type': 2, 'name': 'g', 'description': 'd', 'options': []}, "
    "{'type': 2, 'name': 'h', 'description': 'd'}]}";

static struct answer invoke_subcommand_group(struct test_app *s, struct client *by,
                                             const struct dom *k, const char *channel)
{
    struct world *w = s->world;

    return client_post(by,
                       TEXT(w,
                            "{'type': 2, 'application_id': '%s', 'channel_id': '%s', 'guild_id': "
                            "'%s', 'data': {'id': '%.*s', 'version': '%.*s', 'name': 'e', 'type': "
                            "1, 'options': [{'type': 2, 'name': 'g', 'options': []}]}}",
                            s->app, channel, s->guild, STR_ARGS(dom_at(k, "id")->text),
                            STR_ARGS(dom_at(k, "version")->text)),
                       "/interactions");
}

static void commands_with_only_empty_groups_are_not_listed(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0), *eve = test_app_member(&s, "eve", 0);
    const char *text_channel = make_channel(s.ada, s.guild, "{'name': 'hall'}");
    const char *group = make_group(s.ada, bob, eve), *direct = talk_to(bob, s.app);

    install_on_account(bob, s.app);
    add_app_to_group(s.ada, s.app, group);
    struct answer k = client_post(s.bot, EMPTY, "%s", s.global);
    expect_status(k, 201);
    struct str id = dom_at(k.json, "id")->text;
    expect(
        !is_command_listed(client_get(bob, "/guilds/%s/application-command-index", s.guild), id));
    expect(!is_command_listed(client_get(bob, "/users/@me/application-command-index"), id));
    expect(!is_command_listed(client_get(bob, "/applications/%s/application-command-index", s.app),
                              id));
    expect(
        !is_command_listed(client_get(bob, "/channels/%s/application-command-index", direct), id));
    expect(
        !is_command_listed(client_get(bob, "/channels/%s/application-command-index", group), id));
    expect_invalid(invoke_command(bob, k.json, s.guild, text_channel), "data", NOT_HERE);
    expect_invalid(invoke_subcommand_group(&s, bob, k.json, text_channel), "data", NOT_HERE);
    /* Old rows are found with the condition of 0018-empty-groups.sql. */
    const char *before = "select count(*) from command_definitions where definition like "
                         "'%%\"options\":[{\"type\":2,%%' and definition %s like "
                         "'%%{\"type\":1,%%'";
    expect(world_number(w, before, "not") == 1);
    /* The app's owner still sees the command. */
    expect_json(client_get(s.bot, "%s", s.global), "[{'name': 'e'}]");

    /* With one subcommand it is listed; the other, empty group cannot be invoked. */
    k = client_patch(s.bot,
                     "{'options': [{'type': 2, 'name': 'g', 'description': 'd'}, {'type': 2, "
                     "'name': 'h', 'description': 'd', 'options': [{'type': 1, 'name': 's', "
                     "'description': 'd'}]}]}",
                     "%s/%s", s.global, answer_text(k, "id"));
    expect_status(k, 200);
    expect(world_number(w, before, "") == 1);
    expect(is_command_listed(client_get(bob, "/guilds/%s/application-command-index", s.guild), id));
    expect_invalid(invoke_subcommand_group(&s, bob, k.json, text_channel), "data.options",
                   "INTERACTION_APPLICATION_COMMAND_OPTION_INVALID");
}

/* --- scopes --------------------------------------------------------------------------- */

static void app_with_bot_scope_only_has_no_usable_commands(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = test_app_member(&s, "bob", 0);
    const char *text_channel = make_channel(s.ada, s.guild, "{'name': 'hall'}");
    const char *direct = talk_to(bob, s.app);
    const char *at_guild = TEXT(w, "/guilds/%s/application-command-index", s.guild);
    const char *at_direct = TEXT(w, "/channels/%s/application-command-index", direct);

    struct answer k = client_post(s.bot, "{'name': 'x', 'description': 'd'}", "%s", s.global);
    struct str id = dom_at(k.json, "id")->text;
    world_sql(w, "update integrations set scopes = '[\"bot\"]'");
    expect_error(client_post(s.bot, "{'name': 'y', 'description': 'd'}", "%s", s.local), 403,
                 50001);
    expect_error(client_get(s.bot, "%s", s.local), 403, 50001);
    expect_json(client_get(bob, "%s", at_guild), "{'applications': []}");
    expect(!is_command_listed(client_get(bob, "%s", at_direct), id));
    expect_invalid(invoke_command(bob, k.json, s.guild, text_channel), "data", NOT_HERE);
    expect_invalid(invoke_command(bob, k.json, NULL, direct), "data", NOT_HERE);

    snowflake before = id_of(answer_text(client_get(bob, "%s", at_direct), "version"));
    expect_status(client_post(s.ada, NULL, "/guilds/%s/migrate-command-scope", s.guild), 200);
    expect(is_command_listed(client_get(bob, "%s", at_guild), id));
    expect(is_command_listed(client_get(bob, "%s", at_direct), id));
    expect(id_of(answer_text(client_get(bob, "%s", at_direct), "version")) > before);
    expect_status(invoke_command(bob, k.json, s.guild, text_channel), 204);
    expect_status(invoke_command(bob, k.json, NULL, direct), 204);
    expect_status(client_post(s.bot, "{'name': 'y', 'description': 'd'}", "%s", s.local), 201);
}

/* --- blocked users -------------------------------------------------------------------- */

static void blocks_prevent_commands_in_direct_channels(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob"), *eve = world_client(w, "eve");
    struct answer k =
        client_post(s.bot, "{'name': 'p', 'description': 'd', 'contexts': [2]}", "%s", s.global);

    const char *direct = talk_to(bob, eve->id);
    install_on_account(bob, s.app);
    install_on_account(eve, s.app);
    expect_error(invoke_command(bob, k.json, NULL, direct), 403, 50007); /* not friends yet */
    make_friends(bob, eve);
    expect_status(invoke_command(bob, k.json, NULL, direct), 204);
    world_sql(w, "update relationships set type = 2 where user_id = %s and target_id = %s", eve->id,
              bob->id);
    expect_error(invoke_command(bob, k.json, NULL, direct), 403, 50007);
    expect_error(invoke_command(eve, k.json, NULL, direct), 403, 50007); /* like messages */
}

/* Index and invocation agree, and the index version changes. */
static void blocked_bot_has_no_commands_in_its_direct_channel(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob");
    struct answer k =
        client_post(s.bot, "{'name': 'p', 'description': 'd', 'contexts': [1]}", "%s", s.global);
    struct str id = dom_at(k.json, "id")->text;
    const char *direct = talk_to(bob, s.app);
    const char *index = TEXT(w, "/channels/%s/application-command-index", direct);
    snowflake versions[3];

    install_on_account(bob, s.app);
    expect(is_command_listed(client_get(bob, "%s", index), id));
    versions[0] = id_of(answer_text(client_get(bob, "%s", index), "version"));
    expect_status(client_put(bob, "{'type': 2}", "/users/@me/relationships/%s", s.app), 204);
    expect_json(client_get(bob, "%s", index), "{'application_commands': []}");
    versions[1] = id_of(answer_text(client_get(bob, "%s", index), "version"));
    expect_error(invoke_command(bob, k.json, NULL, direct), 403, 50007);
    expect_status(client_delete(bob, "/users/@me/relationships/%s", s.app), 204);
    expect(is_command_listed(client_get(bob, "%s", index), id));
    versions[2] = id_of(answer_text(client_get(bob, "%s", index), "version"));
    expect_status(invoke_command(bob, k.json, NULL, direct), 204);
    expect(versions[0] < versions[1] && versions[1] < versions[2]);
}

/* --- groups --------------------------------------------------------------------------- */

static void app_added_to_a_group_can_be_used_by_all_recipients(struct world *w)
{
    struct test_app s = world_test_app(w);
    struct client *bob = world_client(w, "bob"), *eve = world_client(w, "eve");
    const char *group = make_group(s.ada, bob, eve);
    struct answer k = client_post(s.bot,
                                  "{'name': 'p', 'description': 'd', 'contexts': [2], "
                                  "'integration_types': [0, 1]}",
                                  "%s", s.global);

    expect_invalid(invoke_command(eve, k.json, NULL, group), "data", NOT_HERE);
    add_app_to_group(s.ada, s.app, group);
    struct client *each[] = { s.ada, bob, eve };
    struct test_commands sent = { .world = w, .application = s.app };
    for (size_t i = 0; i < 3; i++) {
        expect_status(invoke_command(each[i], k.json, NULL, group), 204);
        const struct dom *d = last_interaction(&sent);
        expect_dom(&sent, d,
                   "{'context': 2, 'user': {'id': '%s'}, 'authorizing_integration_owners': {'0': "
                   "'0'}}",
                   each[i]->id);
        expect(!dom_at(d, "authorizing_integration_owners.1"));
    }
    /* The interaction also names the user's own install. */
    install_on_account(bob, s.app);
    expect_status(invoke_command(bob, k.json, NULL, group), 204);
    expect_dom(&sent, last_interaction(&sent),
               "{'authorizing_integration_owners': {'0': '0', '1': '%s'}}", bob->id);
    /* Age-restricted commands require the direct channel with the app. */
    expect_status(client_patch(s.bot, "{'nsfw': true}", "%s/%s", s.global, answer_text(k, "id")),
                  200);
    world_sql(w, "update users set date_of_birth = '1990-01-01'");
    expect_json(client_get(eve, "/channels/%s/application-command-index", group),
                "{'application_commands': []}");
}

const struct test commands_index_matches_use_tests[] = {
    TEST(command_is_listed_exactly_where_it_can_be_used),
    TEST(guild_index_lists_commands_usable_in_some_channel),
    TEST(categories_and_unusable_channels_do_not_list_commands),
    TEST(commands_usable_only_in_a_thread_are_listed),
    TEST(guild_without_channels_lists_no_commands),
    TEST(commands_with_only_empty_groups_are_not_listed),
    TEST(app_with_bot_scope_only_has_no_usable_commands),
    TEST(blocks_prevent_commands_in_direct_channels),
    TEST(blocked_bot_has_no_commands_in_its_direct_channel),
    TEST(app_added_to_a_group_can_be_used_by_all_recipients),
    { 0 },
};
