/* worlds.c - world files in and out, and large random worlds. */
#include "world.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "platform/seeds/seed.h"
#include "platform/worlds/internal.h"
#include "postgres.h"
#include "venues.h"
#include "waits.h"

/* --- files ---------------------------------------------------------------------------- */

/* JSON with single quotes, as in all tests. */
static struct str quoted(struct world *w, const char *text)
{
    struct str s = str_dup(world_arena(w), str_of(text));

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            ((char *)s.p)[i] = '"';
    return s;
}

static enum err import_into(struct world *w, struct store *store, struct str text, bool tokens,
                            struct world_report *ret)
{
    struct world_options options = { .auth = guildhall_auth(world_server(w)),
                                     .password_ops = 1,
                                     .password_memory = 1024 * 1024,
                                     .tokens = tokens,
                                     .parts = &guildhall_world_parts };

    return world_import(store, &options, text, world_arena(w), ret);
}

static struct world_report imported(struct world *w, const char *json)
{
    struct world_report report;
    enum err e = import_into(w, guildhall_store(world_server(w)), quoted(w, json), true, &report);

    if (e)
        fail_test(__FILE__, __LINE__, "the import says %s: %.*s", error_info(e)->name,
                  STR_FMT(report.problems));
    return report;
}

/* The file is refused with these lines, and nothing of it is there. */
#define expect_refused(w, json, lines) expect_refused_at(__FILE__, __LINE__, w, json, lines)

static void expect_refused_at(const char *file, int line, struct world *w, const char *json,
                              const char *lines)
{
    struct store *store = guildhall_store(world_server(w));
    struct world_report report;
    bool empty;

    if (!import_into(w, store, quoted(w, json), false, &report))
        fail_test(file, line, "the file was not refused");
    if (!str_is(report.problems, lines))
        fail_test(file, line, "the problems are:\n%.*s", STR_FMT(report.problems));
    if (world_is_empty(store, &empty) || !empty)
        fail_test(file, line, "something of it was written");
}

static struct str exported(struct world *w, struct store *store)
{
    struct buf out;
    bool importable;

    buf_init(&out, SIZE_MAX);
    expect(world_export(store, &guildhall_world_parts, &out, &importable) == OK);
    expect(importable);
    struct str text = str_dup(world_arena(w), buf_str(&out));
    buf_clear(&out);
    return text;
}

static struct str exported_here(struct world *w)
{
    return exported(w, guildhall_store(world_server(w)));
}

#define expect_same(a, b) expect_same_at(__FILE__, __LINE__, a, b)

static void expect_same_at(const char *file, int line, struct str a, struct str b)
{
    size_t at = 0;

    while (at < a.n && at < b.n && a.p[at] == b.p[at])
        at++;
    if (!str_eq(a, b))
        fail_test(file, line, "they differ:\n%.*s\n%.*s", (int)(a.n - at < 200 ? a.n - at : 200),
                  a.p + at, (int)(b.n - at < 200 ? b.n - at : 200), b.p + at);
}

static const struct world_count *counted(const struct world_report *r, const char *what)
{
    for (const struct world_count *c = r->counts; c->what; c++)
        if (strcmp(c->what, what) == 0)
            return c;
    return NULL;
}

static int64_t number_for(struct world *w, const char *sql);

/* --- another, empty store of the same engine ------------------------------------------ */

struct elsewhere {
    char folder[64];
    char *postgres;
    struct store *store;
};

static struct elsewhere elsewhere_open(struct world *w)
{
    struct elsewhere e = { .folder = "/tmp/guildhall-test-XXXXXX" };

    expect(mkdtemp(e.folder));
    if (world_config(w)->store)
        e.postgres = test_postgres_new();
    struct store_options options = { .folder = e.folder, .postgres = e.postgres, .readers = 1 };
    expect(store_open(&options, &e.store) == OK);
    return e;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

static void elsewhere_close(struct elsewhere *e)
{
    store_close(e->store);
    test_postgres_free(e->postgres);
    nftw(e->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- single numbers ------------------------------------------------------------------- */

struct number {
    const char *sql;
    int64_t value;
};

static enum err read_number(struct tx *tx, void *arg)
{
    struct number *n = arg;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, n->sql, NO_BIND, &row, &found);

    n->value = !e && found ? row_int(&row, 0) : -1;
    return e;
}

static int64_t number_for(struct world *w, const char *sql)
{
    struct number n = { .sql = sql };

    expect(store_run(guildhall_store(world_server(w)), STORE_READ, world_arena(w), read_number,
                     &n) == OK);
    return n.value;
}

/* --- import --------------------------------------------------------------------------- */

static void rows_and_structs_of_world_files_agree(struct world *w)
{
    const char *fault = schema_fault(&world_schema, world_arena(w));

    if (fault)
        fail_test(__FILE__, __LINE__, "%s", fault);
}

static void a_world_file_makes_what_it_says(struct world *w)
{
    struct world_report r = imported(
        w, "{'users': [{'username': 'Ada', 'global_name': 'Ada L', 'password': 'correct horse'}, "
           "{'username': 'bob'}], 'guilds': [{'name': 'Here', 'owner': 'ada', "
           "'system_channel': 'talk', 'roles': [{'name': 'high', 'permissions': 'ALL'}, "
           "{'name': 'low', 'permissions': ['VIEW_CHANNEL', 'SPEAK'], 'color': 255}, "
           "{'name': 'third', 'permissions': 2048}], 'members': [{'user': 'bob', 'nick': 'Bo', "
           "'roles': ['low', 'high']}], 'channels': [{'name': 'talk', 'parent': 'all'}, "
           "{'name': 'all', 'type': 'category'}, {'name': 'up', 'type': 'stage', 'overwrites': "
           "[{'role': 'low', 'deny': ['SPEAK']}, {'member': 'bob', 'allow': ['SPEAK']}]}]}], "
           "'later': {'unknown': ['keys', 'are', 'ignored']}}");

    expect(counted(&r, "users")->made == 2 && counted(&r, "guilds")->made == 1);
    expect(counted(&r, "roles")->made == 3 && counted(&r, "channels")->made == 3);
    expect(number_for(w, "select count(*) from users where username = 'ada'") == 1);
    /* The owner is a member without being listed. */
    expect(number_for(w, "select member_count from guilds") == 2);
    expect(number_for(
               w, "select count(*) from members m join guilds g on g.owner_id = m.user_id") == 1);
    /* The first role listed is the highest; rights by name, by number, all. */
    expect(number_for(w, "select position from roles where name = 'high'") == 3);
    expect(number_for(w, "select position from roles where name = 'third'") == 1);
    expect(number_for(w, "select position from roles where name = '@everyone'") == 0);
    expect(number_for(w, "select count(*) from roles r join guilds g on g.id = r.id") == 1);
    expect(number_for(w, "select permissions from roles where name = 'low'") ==
           (1 << 10 | 1 << 21));
    expect(number_for(w, "select permissions from roles where name = 'third'") == 2048);
    expect(number_for(w, "select count(*) from member_roles") == 2);
    expect(number_for(w, "select count(*) from members where nick = 'Bo'") == 1);
    /* Parents may come later in the file. */
    expect(number_for(w, "select count(*) from channels c join channels p on p.id = c.parent_id "
                         "where c.name = 'talk' and p.name = 'all' and p.type = 4") == 1);
    expect(number_for(w, "select count(*) from guilds g join channels c "
                         "on c.id = g.system_channel_id where c.name = 'talk'") == 1);
    expect(number_for(w, "select type from channels where name = 'up'") == 13);
    expect(number_for(w, "select count(*) from overwrites o join roles r on r.id = o.target_id "
                         "where o.type = 0 and o.deny = 2097152 and o.allow = 0") == 1);
    expect(number_for(w, "select count(*) from overwrites o join users u on u.id = o.target_id "
                         "where o.type = 1 and o.allow = 2097152 and o.deny = 0") == 1);
}

static void passwords_of_a_world_file_open_the_door(struct world *w)
{
    imported(w, "{'users': [{'username': 'ada', 'password': 'correct horse'}]}");

    expect_status(client_post(world_stranger(w), "{'login': 'ada', 'password': 'correct horse'}",
                              "/auth/login"),
                  200);
    struct answer a = client_post(world_stranger(w), "{'login': 'ada', 'password': 'wrong horse'}",
                                  "/auth/login");
    expect(a.status == 400);
}

static void tokens_are_given_to_people_and_bots(struct world *w)
{
    static const char FILE_[] = "{'users': [{'username': 'ada'}], 'applications': "
                                "[{'name': 'Helper', 'owner': 'ada', 'bot': 'helper'}]}";
    struct world_report r = imported(w, FILE_);
    const struct world_token *t = r.tokens.items;
    char bot[300], again[300];

    expect(r.tokens.count == 2 && !t[0].bot && t[1].bot);
    struct client *ada = world_client_with(w, str_dupz(world_arena(w), t[0].token));
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");
    snprintf(bot, sizeof bot, "Bot %.*s", STR_FMT(t[1].token));
    expect_json(client_get(world_client_with(w, bot), "/users/@me"),
                "{'username': 'helper', 'bot': true}");

    /* Once more: a bot has one token. */
    world_restart(w);
    r = imported(w, FILE_);
    t = r.tokens.items;
    snprintf(again, sizeof again, "Bot %.*s", STR_FMT(t[1].token));
    expect_status(client_get(world_client_with(w, again), "/users/@me"), 200);
    expect_status(client_get(world_client_with(w, bot), "/users/@me"), 401);
    expect(number_for(w, "select count(*) from tokens") == 2);
}

static void an_app_has_the_id_of_its_bot_and_a_key(struct world *w)
{
    imported(w, "{'users': [{'username': 'ada'}], 'applications': "
                "[{'name': 'Helper', 'owner': 'ada', 'bot': 'helper'}], 'guilds': "
                "[{'name': 'Here', 'owner': 'ada', 'roles': [{'name': 'Helper', 'bot': 'helper'}], "
                "'members': [{'user': 'helper', 'roles': ['Helper']}], "
                "'applications': [{'application': 'Helper', 'by': 'ada'}]}]}");

    expect(number_for(w, "select count(*) from applications a join users u on u.id = a.bot_id "
                         "where u.id = a.id and u.bot = 1 and length(a.verify_key) = 64") == 1);
    expect(number_for(w, "select count(*) from roles r join users u on u.id = r.bot_id "
                         "join integrations i on i.id = r.integration_id "
                         "where r.managed = 1") == 1);
    expect(number_for(w, "select count(*) from integrations i join applications a "
                         "on a.id = i.application_id where i.type = 'service'") == 1);
}

static void friendships_have_two_sides(struct world *w)
{
    imported(w, "{'users': [{'username': 'ada'}, {'username': 'bob'}, {'username': 'cleo'}], "
                "'relationships': [{'user': 'ada', 'target': 'bob', 'nickname': 'Bo'}, "
                "{'user': 'ada', 'target': 'cleo', 'type': 'request'}, "
                "{'user': 'bob', 'target': 'cleo', 'type': 'blocked'}]}");

    expect(number_for(w, "select count(*) from relationships") == 5);
    expect(number_for(w, "select count(*) from relationships where type = 1") == 2);
    expect(number_for(w, "select count(*) from relationships where type = 1 and nickname = 'Bo'") ==
           1);
    expect(number_for(w, "select count(*) from relationships r join users u on u.id = r.user_id "
                         "where r.type = 3 and u.username = 'cleo'") == 1);
    expect(number_for(w, "select count(*) from relationships r join users u on u.id = r.user_id "
                         "where r.type = 2 and u.username = 'bob'") == 1);
}

/* No file can make half of one: the blocked have nothing left, unless they ignore. */
static void a_block_ends_what_there_was(struct world *w)
{
    static const char *const before[] = {
        "{'user': 'ada', 'target': 'bob'}",
        "{'user': 'ada', 'target': 'bob', 'type': 'request'}",
        "{'user': 'bob', 'target': 'ada', 'type': 'request'}",
    };
    static const char people[] = "{'users': [{'username': 'ada'}, {'username': 'bob'}], "
                                 "'relationships': [";

    for (int i = 0; i < 3; i++) {
        imported(w, str_printf(world_arena(w),
                               "%s%s, {'user': 'ada', 'target': 'bob', 'type': 'blocked'}]}",
                               people, before[i])
                        .p);
        expect(number_for(w, "select count(*) from relationships") == 1);
        expect(number_for(w, "select count(*) from relationships where type = 2") == 1);
    }
    imported(w, "{'relationships': [{'user': 'bob', 'target': 'ada', 'type': 'blocked'}]}");
    expect(number_for(w, "select count(*) from relationships where type = 2") == 2);
    imported(w, "{'relationships': [{'user': 'bob', 'target': 'ada'}]}");
    expect(number_for(w, "select count(*) from relationships where type = 1") == 2);
}

static void people_may_have_phones(struct world *w)
{
    imported(w, "{'users': [{'username': 'ada', 'phone': '+15550100'}, {'username': 'bob'}]}");
    imported(w, "{'users': [{'username': 'ada'}]}");
    expect(number_for(w, "select count(*) from users where phone = '+15550100'") == 1);
    struct str out = exported(w, guildhall_store(world_server(w)));
    expect(memmem(out.p, out.n, "+15550100", 9) != NULL);
}

static void a_phone_is_one_persons(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'ada', 'phone': '+15550100'}, {'username': 'bob', "
                   "'phone': '+15550100'}, {'username': 'cleo', 'phone': '12'}]}",
                   "users.2.phone: Must be a phone number such as +15550100.\n");
    expect_refused(w,
                   "{'users': [{'username': 'ada', 'phone': '+15550100'}, {'username': 'bob', "
                   "'phone': '+15550100'}]}",
                   "users.1.phone: '+15550100' is somebody else's\n");
}

static void messages_are_said_in_order_and_once(struct world *w)
{
    static const char FILE_[] =
        "{'users': [{'username': 'ada'}, {'username': 'bob'}], 'directs': [{'people': "
        "['ada', 'bob'], 'messages': [{'author': 'ada', 'minutes_ago': 5, 'content': 'one'}, "
        "{'author': 'bob', 'minutes_ago': 5, 'content': 'two'}, "
        "{'author': 'bob', 'at': '2024-05-01T10:00:00Z', 'content': 'zero'}]}], "
        "'groups': [{'name': 'us', 'owner': 'bob', 'people': ['ada']}]}";
    imported(w, FILE_);

    expect(number_for(w, "select count(*) from messages where content = 'zero' "
                         "and id = (select min(id) from messages)") == 1);
    expect(number_for(w, "select count(*) from channels c join messages m "
                         "on m.id = c.last_message_id where m.content = 'two'") == 1);
    expect(number_for(w, "select count(*) from recipients") == 4);
    expect(number_for(w, "select count(*) from direct_channels where low_id < high_id") == 1);

    struct world_report r = imported(w, FILE_);
    expect(counted(&r, "messages")->made == 0 && counted(&r, "messages")->known == 3);
    expect(counted(&r, "channels")->made == 0 && counted(&r, "channels")->known == 2);
    expect(number_for(w, "select count(*) from messages") == 3);
}

static void importing_again_brings_up_to_date(struct world *w)
{
    imported(w, "{'users': [{'username': 'ada', 'global_name': 'Ada', 'bio': 'kept'}], 'guilds': "
                "[{'name': 'Here', 'owner': 'ada', 'roles': [{'name': 'one', 'color': 1}], "
                "'members': [{'user': 'ada', 'roles': ['one']}]}]}");
    struct world_report r =
        imported(w, "{'users': [{'username': 'ada', 'global_name': 'Countess'}], 'guilds': "
                    "[{'name': 'Here', 'owner': 'ada', 'roles': [{'name': 'one', 'color': 2}, "
                    "{'name': 'two'}], 'members': [{'user': 'ada', 'roles': ['two']}]}]}");

    expect(counted(&r, "users")->made == 0 && counted(&r, "users")->known == 1);
    expect(counted(&r, "roles")->made == 1 && counted(&r, "roles")->known == 1);
    expect(number_for(w, "select count(*) from users where global_name = 'Countess' "
                         "and bio = 'kept'") == 1);
    expect(number_for(w, "select color from roles where name = 'one'") == 2);
    expect(number_for(w, "select count(*) from member_roles mr join roles r on r.id = mr.role_id "
                         "where r.name = 'two'") == 1);
    expect(number_for(w, "select count(*) from member_roles") == 1);
    expect(number_for(w, "select member_count from guilds") == 1);
}

/* --- what is refused ------------------------------------------------------------------ */

static void problems_come_with_their_place(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'a'}, {}], 'guilds': [{'name': 'Here', 'owner': 7, "
                   "'roles': [{'name': 'one', 'permissions': ['FLY']}], 'channels': "
                   "[{'name': 'talk', 'type': 'cinema'}]}]}",
                   "users.0.username: Must be between 2 and 32 in length.\n"
                   "users.1.username: This field is required\n"
                   "guilds.0.roles.0.permissions: 'FLY' is not a right.\n"
                   "guilds.0.channels.0.type: Value must be one of ('text', 'voice', 'category', "
                   "'news', 'news_thread', 'thread', 'private_thread', 'stage', 'forum').\n");
    expect_refused(w, "{'users': [{'username': 'ada'}",
                   "the file: line 1, column 31, at users.0: the text ends before it is "
                   "complete\n");
    expect_refused(w, "[]", "the file: Only dictionaries may be used in a ModelType\n");
}

static void unknown_names_are_told_all_at_once(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'ada'}], 'applications': [{'name': 'A', 'owner': "
                   "'zoe'}], 'guilds': [{'name': 'Here', 'owner': 'ada', "
                   "'afk_channel': 'nowhere', 'members': [{'user': 'bob'}, {'user': 'ada', "
                   "'roles': ['none']}], 'channels': [{'name': 'talk', 'parent': 'gone', "
                   "'overwrites': [{'role': 'none'}], 'messages': [{'author': 'bob', "
                   "'content': 'x'}]}]}], 'relationships': [{'user': 'ada', 'target': 'bob'}, "
                   "{'user': 'ada', 'target': 'ada'}]}",
                   "applications.0.owner: there is no user 'zoe'\n"
                   "guilds.0.members.0.user: there is no user 'bob'\n"
                   "guilds.0.members.1.roles.0: there is no role 'none'\n"
                   "guilds.0.channels.0.parent: there is no channel 'gone'\n"
                   "guilds.0.channels.0.overwrites.0.role: there is no role 'none'\n"
                   "guilds.0.channels.0.messages.0.author: there is no user 'bob'\n"
                   "guilds.0.afk_channel: there is no channel 'nowhere'\n"
                   "relationships.0.target: there is no user 'bob'\n"
                   "relationships.1.target: nobody has a relationship with themselves\n");
}

static void what_is_kept_as_json_has_its_kind(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'ada'}], 'applications': [{'name': 'A', 'owner': "
                   "'ada', 'tags': [1], 'install_params': []}], 'guilds': [{'name': 'Here', "
                   "'owner': 'ada', 'features': 'all', 'channels': [{'name': 'c', 'overwrites': "
                   "[{'allow': []}], 'messages': [{'author': 'ada', 'content': '', "
                   "'embeds': ['x']}]}]}], 'groups': [{'people': ['ada']}]}",
                   "applications.0.tags: Must be a list of texts.\n"
                   "applications.0.install_params: Must be an object.\n"
                   "guilds.0.channels.0.overwrites.0: An overwrite is for a role or for a member.\n"
                   "guilds.0.channels.0.messages.0.embeds: Must be a list of objects.\n"
                   "guilds.0.features: Must be a list of texts.\n");
}

static void bots_are_their_apps_own(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'ada'}, {'username': 'helper', 'bot': true}], "
                   "'applications': [{'name': 'A', 'owner': 'ada', 'bot': 'ada'}, "
                   "{'name': 'B', 'owner': 'ada', 'bot': 'helper'}, "
                   "{'name': 'C', 'owner': 'ada', 'bot': 'helper', 'id': "
                   "'1000000000000000001'}]}",
                   "applications.0.bot: 'ada' is a person, not a bot\n"
                   "applications.2.bot: 'helper' is the bot of another app\n");
}

static void private_channels_have_their_people(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'ada'}], 'directs': [{'people': ['ada']}, "
                   "{'people': ['ada', 'ada']}], 'groups': [{'people': ['ada'], "
                   "'owner': 'ada'}, {'name': 'us', 'people': ['ada']}]}",
                   "directs.0.people: a direct channel is of two people\n"
                   "directs.1.people: a direct channel is of two people\n"
                   "groups.0: a group has an owner, and a name or an id\n"
                   "groups.1: a group has an owner, and a name or an id\n");
}

static void ids_are_never_taken_from_others(struct world *w)
{
    struct world_report report;
    struct store *store = guildhall_store(world_server(w));

    imported(w, "{'users': [{'username': 'ada', 'id': '1000000000000000001', 'email': 'a@b.c'}, "
                "{'username': 'bob'}], 'guilds': [{'name': 'Here', 'owner': 'ada', 'roles': "
                "[{'name': 'one', 'id': '1000000000000000002'}]}, {'name': 'Twin', 'id': "
                "'1000000000000000012', 'owner': 'bob'}, {'name': 'Twin', 'id': "
                "'1000000000000000014', 'owner': 'bob'}]}");
    enum err e =
        import_into(w, store,
                    quoted(w, "{'users': [{'username': 'ada', 'id': '1000000000000000003'}, "
                              "{'username': 'bob', 'email': 'a@b.c'}, "
                              "{'username': 'bob', 'id': '1000000000000000001'}], 'guilds': "
                              "[{'name': 'There', 'owner': 'bob', 'roles': [{'name': 'one', "
                              "'id': '1000000000000000002'}]}, {'name': 'Twin', 'owner': 'bob'}]}"),
                    false, &report);
    expect(e == ERR_INVALID_FORM_BODY);
    expect_same(report.problems,
                STR("users.0.id: there is a user 'ada' with another id\n"
                    "users.1.email: 'a@b.c' is somebody else's\n"
                    "users.2.username: 'bob' is somebody else's\n"
                    "guilds.0.roles.0.id: this id belongs to another guild's role\n"
                    "guilds.1.name: there are 2 guilds called 'Twin': give the id\n"));
    expect(number_for(w, "select count(*) from guilds") == 3);
}

/* --- export --------------------------------------------------------------------------- */

static void an_export_imports_to_the_same_world(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    imported(w, world_demo);
    struct str first = exported_here(w);
    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
    /* It is all there, and the messages of the demo with it. */
    struct dom *d = dom_parse(world_arena(w), first);
    expect(dom_at(d, "users")->count == 7 && dom_at(d, "relationships")->count == 6);
    expect(dom_at(d, "guilds.0.channels")->count == 12 && dom_at(d, "guilds.0.roles")->count == 5);
    /* Its bot may have every intent, and its app has commands, which there is a flag for. */
    expect(world_number(w, "select flags from applications") == 565248 + (1 << 23));
    expect(dom_at(d, "applications.0.commands")->count == 6);
    expect(dom_at(d, "directs.0.messages")->count == 2 && dom_at(d, "groups.0.people")->count == 3);
}

static void apps_of_a_file_may_use_every_intent(struct world *w)
{
    imported(w, "{'users': [{'username': 'ada'}], 'applications': ["
                "{'name': 'Some', 'owner': 'ada', 'bot': 'some'}, "
                "{'name': 'None', 'owner': 'ada', 'bot': 'none', 'flags': 0}]}");
    expect(number_for(w, "select flags from applications where name = 'Some'") == 565248);
    expect(number_for(w, "select flags from applications where name = 'None'") == 0);

    /* What a file leaves out it leaves alone. */
    imported(w, "{'applications': [{'name': 'None', 'owner': 'ada'}]}");
    expect(number_for(w, "select flags from applications where name = 'None'") == 0);
}

static void importing_the_demo_twice_changes_nothing(struct world *w)
{
    imported(w, world_demo);
    struct str first = exported_here(w);
    struct world_report r = imported(w, world_demo);
    expect_same(first, exported_here(w));
    for (const struct world_count *c = r.counts; c->what; c++)
        expect(c->made == 0);
}

static const char FOLLOWED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'platform_accounts': [{'platform': 'platform_a', 'id': 'streamer', 'name': 'Streamer',"
    "   'programme': true, 'owner': 'ada', 'subscribers': ['b1', 'other']},"
    "  {'platform': 'platform_a', 'id': 'b1', 'name': 'Bob', 'owner': 'bob',"
    "   'friends': ['streamer']}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'members': [{'user': 'bob'}],"
    "   'roles': [{'name': 'Subscribers'}],"
    "   'integrations': [{'platform': 'platform_a', 'account': 'streamer', 'by': 'ada',"
    "     'role': 'Subscribers', 'expire_grace_period': 14}]}]}";

static void integrations_of_a_file_are_synced_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    imported(w, FOLLOWED_WORLD);
    struct str first = exported_here(w);
    world_restart(w); /* a server that runs is not told */
    expect_soon(world_number(w, "select subscriber_count from integrations") == 2);
    expect(world_number(w, "select count(*) from member_roles") == 1);
    imported(w, FOLLOWED_WORLD);
    expect(world_number(w, "select count(*) from integrations") == 1);

    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char RINGING_WORLD[] =
    "{'users': [{'username': 'ada'}], 'applications': [{'name': 'Helper', 'owner': 'ada',"
    "   'bot': 'helper', 'emojis': [{'id': '61', 'name': 'own', 'by': 'ada', 'image': '" PNG
    "'}]}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'roles': [{'name': 'some'}],"
    "   'emojis': [{'id': '71', 'name': 'wave', 'animated': true, 'roles': ['some'], 'by': 'ada'},"
    "     {'name': 'bell', 'image': '" PNG "'}],"
    "   'sounds': [{'id': '81', 'name': 'ring', 'volume': 0.5, 'emoji': 'bell'},"
    "     {'name': 'knock', 'unicode_emoji': '!'}]}]}";

static void emoji_and_sounds_of_a_file_are_there_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    imported(w, RINGING_WORLD);
    imported(w, RINGING_WORLD);
    struct str first = exported_here(w);
    expect(world_number(w, "select count(*) from emojis") == 2);
    expect(world_number(w, "select count(*) from emojis where id = 71 and animated = 1") == 1);
    expect(world_number(w,
                        "select count(*) from emojis e join roles r on e.roles like '%%' || r.id "
                        "|| '%%' where e.id = 71 and e.user_id is not null") == 1);
    expect(world_number(w, "select count(*) from application_emojis where id = 61") == 1);
    expect_files(w, "emojis", 2);
    expect_status(client_request(world_stranger(w), "GET", "/emojis/61.png", "", STR("")), 200);
    expect(world_number(w, "select count(*) from sounds") == 2);
    expect(world_number(w, "select count(*) from sounds s join emojis e on e.id = s.emoji_id "
                           "where s.id = 81 and s.volume = 0.5 and e.name = 'bell'") == 1);

    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char RULED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'roles': [{'name': 'some'}],"
    "   'members': [{'user': 'bob'}], 'channels': [{'id': '90', 'name': 'general'}],"
    "   'automod': [{'name': 'Cats', 'by': 'ada', 'trigger_type': 1,"
    "     'trigger_metadata': {'keyword_filter': ['cat']}, 'actions': [{'type': 1}],"
    "     'exempt_roles': ['some'], 'exempt_channels': ['general']},"
    "     {'name': 'Off', 'by': 'ada', 'trigger_type': 3, 'actions': [{'type': 1}],"
    "     'enabled': false}]}]}";

static void rules_of_a_file_are_in_force_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    expect_refused(
        w,
        "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Home', 'owner': 'ada', 'automod': [{'name': 'x', 'by': "
        "'ada', 'trigger_type': 1, 'actions': [{'type': 4}], 'trigger_metadata': {}}]}]}",
        "guilds.0.automod.0.actions.0.type: Rules of this trigger do not do this.\n");
    imported(w, RULED_WORLD);
    imported(w, RULED_WORLD);
    struct str first = exported_here(w);
    expect(world_number(w, "select count(*) from automod_rules") == 2);
    expect(world_number(w, "select count(*) from guilds where automod_version > 0") == 1);

    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char REACTED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'emojis': [{'id': '71', 'name': 'wave'}],"
    "   'channels': [{'name': 'general', 'messages': [{'id': '900', 'author': 'ada',"
    "     'content': 'hi', 'reactions': [{'emoji': 'wave', 'users': ['ada', 'bob']},"
    "       {'emoji': '!', 'users': ['bob']}]}]}]}]}";

static void reactions_of_a_file_are_there_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;
    char good[sizeof REACTED_WORLD + 8];
    const char *wrong = strstr(REACTED_WORLD, "'!'");

    snprintf(good, sizeof good, "%.*s'\xf0\x9f\x94\xa5'%s", (int)(wrong - REACTED_WORLD),
             REACTED_WORLD, wrong + 3);
    expect_refused(w, REACTED_WORLD,
                   "guilds.0.channels.0.messages.0.reactions.1.emoji: there is no emoji '!'\n");
    imported(w, good);
    imported(w, good);
    struct str first = exported_here(w);
    expect(world_number(w, "select count(*) from reaction_users") == 3);
    expect(world_number(w, "select count(*) from reactions r join reaction_counts c on "
                           "c.reaction_id = r.id where emoji_key = ':71' and c.normal = 2") == 1);
    expect(world_number(w, "select count(*) from messages where reacted = 1") == 1);

    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char STUCK_WORLD[] =
    "{'users': [{'username': 'ada'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'stickers': [{'id': '81', 'name': 'wave',"
    "   'tags': 'hand', 'format': 'gif', 'by': 'ada', 'image': '" PNG "'}],"
    "   'channels': [{'name': 'general', 'messages': [{'id': '900', 'author': 'ada',"
    "     'content': '', 'stickers': ['wave']}]}]}]}";

static void stickers_of_a_file_are_there_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    imported(w, STUCK_WORLD);
    imported(w, STUCK_WORLD);
    struct str first = exported_here(w);
    expect(world_number(w, "select count(*) from stickers where id = 81 and format = 4") == 1);
    expect(world_number(w, "select count(*) from messages where sticker_items like '%%81%%'") == 1);
    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char ENTITLED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'applications': [{'name': 'Helper', 'owner': 'ada', 'bot': 'helper',"
    "   'skus': [{'id': '51', 'name': 'Gold & Silver!'}, {'name': 'Coin', 'type': 'consumable',"
    "     'flags': 0}],"
    "   'entitlements': [{'sku': 'Coin', 'user': 'bob', 'test': true},"
    "     {'sku': '51', 'guild': 'Home', 'ends_at': '2099-01-01T00:00:00+00:00'}]}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada'}]}";

static void entitlements_of_a_file_are_there_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    expect_refused(w,
                   "{'users': [{'username': 'ada'}], 'applications': [{'name': 'Helper', 'owner': "
                   "'ada', 'skus': [{'name': 'Gold'}], 'entitlements': [{'sku': 'Gold'}]}]}",
                   "applications.0.entitlements.0: a user or a guild has it\n");
    imported(w, ENTITLED_WORLD);
    imported(w, ENTITLED_WORLD);
    struct str first = exported_here(w);
    expect(world_number(w, "select count(*) from skus where slug = 'gold-silver' and flags = 4 and "
                           "type = 5") == 1);
    expect(world_number(w, "select count(*) from entitlements where sku_type = 3 and test = 1") ==
           1);
    expect(world_number(w, "select count(*) from entitlements e join guilds g on g.id = e.guild_id "
                           "and g.owner_id = e.user_id where e.sku_id = 51") == 1);
    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static const char POLLED_WORLD[] =
    "{'users': [{'username': 'ada'}, {'username': 'bob'}],"
    " 'guilds': [{'name': 'Home', 'owner': 'ada', 'emojis': [{'id': '71', 'name': 'wave'}],"
    "   'channels': [{'name': 'general', 'messages': [{'id': '900', 'author': 'ada',"
    "     'content': '', 'poll': {'question': 'Which?', 'hours': 2, 'allow_multiselect': true,"
    "       'answers': [{'text': 'one', 'emoji': 'wave', 'users': ['ada', 'bob']},"
    "         {'text': 'two', 'users': ['bob']}]}}]}]}]}";

static void polls_of_a_file_are_there_and_exported(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    imported(w, POLLED_WORLD);
    imported(w, POLLED_WORLD);
    struct str first = exported_here(w);
    expect(world_number(w, "select count(*) from poll_votes") == 3);
    expect(world_number(w, "select sum(answers) from poll_voters") == 1 + 3);
    expect(world_number(w, "select count(*) from jobs where kind = 'poll-end'") == 1);

    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

static void sounds_of_a_file_show_one_emoji_that_is_there(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'zoe'}], 'guilds': [{'name': 'Home', 'owner': 'zoe', "
                   "'sounds': [{'name': 'b'}, "
                   "{'name': 'both', 'emoji': 'bell', 'unicode_emoji': '!'}]}]}",
                   "guilds.0.sounds.0.name: Must be between 2 and 32 in length.\n"
                   "guilds.0.sounds.1: A sound shows the guild's emoji or a common one.\n");
    expect_refused(w,
                   "{'users': [{'username': 'zoe'}], 'guilds': [{'name': 'Home', 'owner': 'zoe', "
                   "'sounds': [{'name': 'hum', 'emoji': 'no'}]}]}",
                   "guilds.0.sounds.0.emoji: there is no emoji 'no'\n");
}

static void integrations_of_a_file_need_their_account(struct world *w)
{
    expect_refused(w,
                   "{'users': [{'username': 'zoe'}], 'guilds': [{'name': 'Home', 'owner': 'zoe', "
                   "'integrations': [{'platform': 'platform_b', 'account': 'no', 'by': 'zoe'}]}]}",
                   "guilds.0.integrations.0.account: there is no account 'no'\n");
}

static void twins_are_exported_by_id(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_report report;

    imported(w, "{'users': [{'username': 'ada'}], 'guilds': [{'name': 'Here', 'owner': 'ada', "
                "'roles': [{'name': 'twin', 'id': '1000000000000000001'}, {'name': 'twin', 'id': "
                "'1000000000000000002'}], 'members': [{'user': 'ada', 'roles': "
                "['1000000000000000002']}], 'channels': [{'name': 'c', 'type': 'category', 'id': "
                "'1000000000000000003'}, {'name': 'c', 'id': '1000000000000000004', 'parent': "
                "'1000000000000000003', 'overwrites': [{'role': '1000000000000000001', 'deny': "
                "'1024'}]}]}]}");
    struct str first = exported_here(w);
    struct dom *d = dom_parse(world_arena(w), first);
    expect(str_is(dom_at(d, "guilds.0.members.0.roles.0")->text, "1000000000000000002"));
    expect(str_is(dom_at(d, "guilds.0.channels.1.parent")->text, "1000000000000000003"));

    enum err e = import_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : exported(w, other.store);
    elsewhere_close(&other);
    expect_same(first, second);
}

/* --- large worlds --------------------------------------------------------------------- */

static void no_progress(void *arg, int64_t done, int64_t total)
{
    (void)arg, (void)done, (void)total;
}

static const struct seed_options small = { .users = 300,
                                           .guilds = 7,
                                           .members = 400,
                                           .channels_per_guild = 6,
                                           .roles_per_guild = 3,
                                           .friends = 500,
                                           .messages = 90,
                                           .random = 4 };

static void a_seeded_world_has_what_was_asked_for(struct world *w)
{
    expect(seed_problem(&small) == NULL);
    expect(world_seed(guildhall_store(world_server(w)), &small, no_progress, NULL) == OK);

    expect(number_for(w, "select count(*) from users") == 300);
    expect(number_for(w, "select count(*) from guilds") == 7);
    expect(number_for(w, "select count(*) from members") == 400);
    expect(number_for(w, "select count(*) from roles") == 7 * 4);
    expect(number_for(w, "select count(*) from channels") == 7 * 6);
    expect(number_for(w, "select count(*) from channels where type = 2") == 7);
    expect(number_for(w, "select count(*) from relationships") == 1000);
    expect(number_for(w, "select count(*) from messages") == 90);
}

static void a_seeded_world_fits_together(struct world *w)
{
    expect(world_seed(guildhall_store(world_server(w)), &small, no_progress, NULL) == OK);

    /* Counts and last messages are true, owners are members, friends are mutual. */
    expect(number_for(w, "select count(*) from guilds g where member_count <> "
                         "(select count(*) from members m where m.guild_id = g.id)") == 0);
    expect(number_for(w, "select count(*) from guilds g where not exists (select 1 from members m "
                         "where m.guild_id = g.id and m.user_id = g.owner_id)") == 0);
    expect(number_for(w, "select count(*) from relationships r where not exists (select 1 from "
                         "relationships o where o.user_id = r.target_id "
                         "and o.target_id = r.user_id)") == 0);
    expect(number_for(w, "select count(*) from channels c where coalesce(last_message_id, 0) <> "
                         "coalesce((select max(id) from messages m where m.channel_id = c.id), "
                         "0)") == 0);
    expect(number_for(w, "select count(*) from member_roles mr join roles r on r.id = mr.role_id "
                         "where r.guild_id <> mr.guild_id") == 0);
    /* The id before a guild's is nobody's. */
    expect(number_for(w, "select count(*) from guilds g where exists (select 1 from roles "
                         "where id = g.id - 1) or exists (select 1 from channels "
                         "where id = g.id - 1) or exists (select 1 from users "
                         "where id = g.id - 1)") == 0);
}

static void the_same_number_gives_the_same_world(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct seed_options another = small;

    another.random = 5;
    expect(world_seed(guildhall_store(world_server(w)), &small, no_progress, NULL) == OK);
    expect(world_seed(other.store, &small, no_progress, NULL) == OK);
    struct str here = exported_here(w), there = exported(w, other.store);
    /* Twice the same cannot be, another may come beside it. */
    enum err again = world_seed(other.store, &small, no_progress, NULL);
    enum err beside = world_seed(other.store, &another, no_progress, NULL);
    elsewhere_close(&other);
    expect_same(here, there);
    expect(again == ERR_STORE_CONFLICT && beside == OK);
}

static void impossible_worlds_are_refused(struct world *w)
{
    static const struct {
        struct seed_options o;
        bool fine;
    } cases[] = {
        { { .users = 10, .guilds = 5, .members = 5 }, true },
        { { .users = 10, .guilds = 5, .members = 4 }, false },
        { { .users = 10, .guilds = 5, .members = 50 }, true },
        { { .users = 10, .guilds = 5, .members = 51 }, false },
        { { .users = 10, .members = 1 }, false },
        { { .users = 10, .friends = 25 }, true }, /* reach 5 of the first 5 */
        { { .users = 10, .friends = 26 }, false },
        { { .users = 10, .messages = 1 }, false },
        { { .users = 10, .guilds = 1, .members = 1, .messages = 1 }, false },
        { { .users = 10, .guilds = 1, .members = 1, .messages = 1, .channels_per_guild = 1 },
          true },
    };

    (void)w;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect((seed_problem(&cases[i].o) == NULL) == cases[i].fine);
}

static void full_and_tiny_worlds_are_made_too(struct world *w)
{
    static const struct seed_options worlds[] = {
        { .users = 10, .guilds = 5, .members = 50, .random = 1 },
        { .users = 10, .guilds = 10, .members = 10, .friends = 25, .random = 2 },
        { .users = 1, .random = 3 },
        { .users = 2,
          .guilds = 1,
          .members = 1,
          .channels_per_guild = 5,
          .messages = 2,
          .random = 4 },
    };

    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        expect(seed_problem(&worlds[i]) == NULL);
        expect(world_seed(guildhall_store(world_server(w)), &worlds[i], no_progress, NULL) == OK);
    }
    expect(number_for(w, "select count(*) from members") == 61);
    expect(number_for(w, "select count(*) from relationships") == 50);
    expect(number_for(w, "select count(*) from messages") == 2);
}

const struct test worlds_tests[] = {
    TEST(rows_and_structs_of_world_files_agree),
    TEST(a_world_file_makes_what_it_says),
    TEST(passwords_of_a_world_file_open_the_door),
    TEST(tokens_are_given_to_people_and_bots),
    TEST(an_app_has_the_id_of_its_bot_and_a_key),
    TEST(friendships_have_two_sides),
    TEST(a_block_ends_what_there_was),
    TEST(people_may_have_phones),
    TEST(a_phone_is_one_persons),
    TEST(messages_are_said_in_order_and_once),
    TEST(importing_again_brings_up_to_date),
    TEST(problems_come_with_their_place),
    TEST(unknown_names_are_told_all_at_once),
    TEST(what_is_kept_as_json_has_its_kind),
    TEST(bots_are_their_apps_own),
    TEST(private_channels_have_their_people),
    TEST(ids_are_never_taken_from_others),
    TEST(an_export_imports_to_the_same_world),
    TEST(apps_of_a_file_may_use_every_intent),
    TEST(importing_the_demo_twice_changes_nothing),
    TEST(twins_are_exported_by_id),
    TEST(integrations_of_a_file_are_synced_and_exported),
    TEST(integrations_of_a_file_need_their_account),
    TEST(emoji_and_sounds_of_a_file_are_there_and_exported),
    TEST(rules_of_a_file_are_in_force_and_exported),
    TEST(reactions_of_a_file_are_there_and_exported),
    TEST(polls_of_a_file_are_there_and_exported),
    TEST(stickers_of_a_file_are_there_and_exported),
    TEST(entitlements_of_a_file_are_there_and_exported),
    TEST(sounds_of_a_file_show_one_emoji_that_is_there),
    TEST(a_seeded_world_has_what_was_asked_for),
    TEST(a_seeded_world_fits_together),
    TEST(the_same_number_gives_the_same_world),
    TEST(impossible_worlds_are_refused),
    TEST(full_and_tiny_worlds_are_made_too),
    { 0 },
};
