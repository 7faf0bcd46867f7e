/* threads.c - recipients of thread events, also of threads archived long ago. */
#include <stdio.h>

#include "base/mem.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";
enum { VERY_MANY = 100000 };

static const char *start_thread(struct client *c, const char *channel, int type)
{
    struct answer a = client_post(c, TEXT(c->world, "{'name': 'talk', 'type': %d}", type),
                                  "/channels/%s/threads", channel);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static void send_message(struct client *c, const char *channel)
{
    expect_status(client_post(c, "{'content': 'hi'}", "/channels/%s/messages", channel), 200);
}

/* Inserts threads without names into the store. */
static void insert_threads(struct test_guild *v, int count, bool archived)
{
    world_sql(v->world,
              "with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) "
              "insert into channels (id, type, guild_id, parent_id, owner_id, thread_archived) "
              "select i + 1000, 11, %s, %s, null, %d from n",
              count, v->id, v->channel, archived);
}

struct listeners {
    struct client *ada, *bob, *eve,
        *bot; /* the owner, a member, a member who cannot view the channel, a bot */
    struct gateway_conn *a, *b, *e, *r;
    struct test_guild test_guild;
};

/* Opens sessions now: they know no threads archived before. */
static void open_sessions(struct listeners *l)
{
    l->a = conn_session(l->ada, PLAIN, "");
    l->b = conn_session(l->bob, PLAIN, "");
    l->e = conn_session(l->eve, PLAIN, "");
    l->r = conn_session(l->bot, PLAIN, "'intents': 513");
    expect_dispatch(l->r, "GUILD_CREATE", "{'id': '%s'}", l->test_guild.id);
}

static struct listeners create_listeners(struct world *w)
{
    struct listeners l = { .ada = world_client(w, "ada"),
                           .bob = world_client(w, "bob"),
                           .eve = world_client(w, "eve"),
                           .bot = world_bot(w, "robot") };

    l.test_guild = world_test_guild(w, l.ada);
    test_guild_add(&l.test_guild, l.bob);
    test_guild_add(&l.test_guild, l.eve);
    test_guild_add(&l.test_guild, l.bot);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, allow, deny) "
              "values (%s, %s, 1, 0, 1024)",
              l.test_guild.channel, l.eve->id);
    return l;
}

/* Unarchiving, messages and deletion are sent to viewers of the channel. */
static void archived_thread_events_go_to_viewers_of_its_channel(struct world *w)
{
    struct listeners l = create_listeners(w);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 11);

    world_sql(w, "update channels set thread_archived = 1 where id = %s", thread);
    open_sessions(&l);
    send_message(l.ada, thread);
    struct gateway_conn *all[] = { l.a, l.b, l.r };
    for (int i = 0; i < 3; i++) {
        expect_dispatch(all[i], "THREAD_UPDATE",
                        "{'id': '%s', 'thread_metadata': {'archived': "
                        "false}}",
                        thread);
        if (i == 0) /* the thread's creator */
            expect_dispatch(all[i], "THREAD_MEMBER_UPDATE", "{'id': '%s'}", thread);
        expect_dispatch(all[i], "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
    }
    world_sql(w, "update channels set thread_archived = 1 where id = %s", thread);
    expect_status(client_patch(l.ada, "{'archived': false}", "/channels/%s", thread), 200);
    expect_dispatch(l.a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 111}");
    for (int i = 0; i < 3; i++)
        expect_dispatch(all[i], "THREAD_UPDATE", "{'id': '%s'}", thread);
    expect_dispatch(l.a, "THREAD_MEMBER_UPDATE", "{'id': '%s'}", thread);
    world_sql(w, "update channels set thread_archived = 1 where id = %s", thread);
    expect_status(client_delete(l.ada, "/channels/%s", thread), 200);
    for (int i = 0; i < 3; i++)
        expect_dispatch(all[i], "THREAD_DELETE", "{'id': '%s', 'parent_id': '%s'}", thread,
                        l.test_guild.channel);
    expect_quiet(l.e);
}

/* Bots receive events of all threads except private ones they cannot view. */
static void private_thread_events_go_to_creator_and_managers_only(struct world *w)
{
    struct listeners l = create_listeners(w);

    world_sql(w, "update roles set permissions = permissions | %lld where id = %s",
              (long long)PERMISSION(CREATE_PRIVATE_THREADS), l.test_guild.id);
    const char *thread = start_thread(l.bob, l.test_guild.channel, 12);
    for (int archived = 0; archived < 2; archived++) {
        world_sql(w, "update channels set thread_archived = %d where id = %s", archived, thread);
        open_sessions(&l);
        send_message(l.bob, thread);
        struct gateway_conn *all[] = { l.a, l.b };
        for (int i = 0; i < 2; i++) {
            if (archived)
                expect_dispatch(all[i], "THREAD_UPDATE", "{'id': '%s'}", thread);
            if (archived && i == 1)
                expect_dispatch(all[i], "THREAD_MEMBER_UPDATE", "{'id': '%s'}", thread);
            expect_dispatch(all[i], "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
        }
        expect_quiet(l.r);
        expect_quiet(l.e);
        conn_close(l.a, 1000);
        conn_close(l.b, 1000);
        conn_close(l.e, 1000);
        conn_close(l.r, 1000);
    }
}

/* Rules screening, quarantine or a time-out suspend a role's permissions; the session reads that
 * at its start, because no event reports it. */
static void restricted_moderators_get_no_private_thread_events(struct world *w)
{
    static const char *const restrictions[] = { "flags = 128", "flags = 0, pending = 1",
                                                "pending = 0, timed_out_until = 9000000000000000" };
    struct listeners l = create_listeners(w);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 12);
    struct gateway_conn *g;

    world_sql(w,
              "insert into roles (id, guild_id, name, position, permissions) values (77, %s, "
              "'m', 1, %lld)",
              l.test_guild.id, (long long)PERMISSION(MANAGE_THREADS));
    world_sql(w, "insert into member_roles (guild_id, user_id, role_id) values (%s, %s, 77)",
              l.test_guild.id, l.bob->id);
    for (size_t i = 0; i < COUNT_OF(restrictions); i++) {
        world_sql(w, "update members set %s where user_id = %s", restrictions[i], l.bob->id);
        g = conn_session(l.bob, PLAIN, "");
        expect_status(client_get(l.bob, "/channels/%s/messages", thread), 403);
        send_message(l.ada, thread);
        world_received(w);
        expect_quiet(g);
        conn_close(g, 1000);
    }
    world_sql(w, "update members set timed_out_until = null where user_id = %s", l.bob->id);
    g = conn_session(l.bob, PLAIN, "");
    expect_status(client_get(l.bob, "/channels/%s/messages", thread), 200);
    send_message(l.ada, thread);
    expect_dispatch(g, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
}

/* A member who loses access to a channel gets no events of its threads. */
static void hiding_a_channel_hides_its_thread_events(struct world *w)
{
    struct listeners l = create_listeners(w);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 11);

    open_sessions(&l);
    expect_status(client_put(l.ada, "{'type': 1, 'allow': '0', 'deny': '1024'}",
                             "/channels/%s/permissions/%s", l.test_guild.channel, l.bob->id),
                  204);
    expect_dispatch(l.b, "CHANNEL_DELETE", "{'id': '%s'}", l.test_guild.channel);
    send_message(l.ada, thread);
    expect_quiet(l.b);
    expect_dispatch(l.r, "CHANNEL_UPDATE", "{}");
    expect_dispatch(l.r, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
}

/* The test world fails if a loop is blocked. */
static void very_many_archived_threads_do_not_block_the_event_loop(struct world *w)
{
    struct listeners l = create_listeners(w);

    insert_threads(&l.test_guild, VERY_MANY, true);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 11);
    open_sessions(&l);
    struct answer active = client_get(l.ada, "/guilds/%s/threads/active", l.test_guild.id);
    expect_status(active, 200);
    expect(dom_at(active.json, "threads")->count == 1);
    send_message(l.ada, thread);
    expect_dispatch(l.b, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
    expect_status(client_post(l.ada, "{'name': 'new'}", "/guilds/%s/channels", l.test_guild.id),
                  201);
    expect_dispatch(l.b, "CHANNEL_CREATE", "{'name': 'new'}");
}

static void guild_is_limited_to_1000_active_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    insert_threads(&v, 998, false);
    const char *first = start_thread(ada, v.channel, 11), *last = start_thread(ada, v.channel, 11);
    expect_error(
        client_post(ada, "{'name': 'more', 'type': 11}", "/channels/%s/threads", v.channel), 400,
        160006);
    send_message(ada, first); /* open threads stay usable */
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", last), 200);
    start_thread(ada, v.channel, 11);
    expect_error(client_patch(ada, "{'archived': false}", "/channels/%s", last), 400, 160006);
    expect_error(client_post(ada, "{'content': 'hi'}", "/channels/%s/messages", last), 400, 160006);
    expect(world_number(w, "select thread_archived from channels where id = %s", last) == 1);
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", first), 200);
    send_message(ada, last);
    expect(world_number(w, "select thread_archived from channels where id = %s", last) == 0);
}

const struct test gateway_threads_tests[] = {
    TEST(archived_thread_events_go_to_viewers_of_its_channel),
    TEST(private_thread_events_go_to_creator_and_managers_only),
    TEST(restricted_moderators_get_no_private_thread_events),
    TEST(hiding_a_channel_hides_its_thread_events),
    TEST(very_many_archived_threads_do_not_block_the_event_loop),
    TEST(guild_is_limited_to_1000_active_threads),
    { 0 },
};
