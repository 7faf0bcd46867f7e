/* gateway_threads.c - who hears of threads, also of those that were archived long ago. */
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

static void say(struct client *c, const char *channel)
{
    expect_status(client_post(c, "{'content': 'hi'}", "/channels/%s/messages", channel), 200);
}

/* Threads without names, straight into the store. */
static void have_threads(struct test_guild *v, int count, bool archived)
{
    world_sql(v->world,
              "with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) "
              "insert into channels (id, type, guild_id, parent_id, owner_id, thread_archived) "
              "select i + 1000, 11, %s, %s, null, %d from n",
              count, v->id, v->channel, archived);
}

struct listeners {
    struct client *ada, *bob, *eve, *bot; /* the owner, a member, one who sees nothing, a bot */
    struct gateway_conn *a, *b, *e, *r;
    struct test_guild test_guild;
};

/* Sessions begin now: what was archived before they have never heard of. */
static void begin_listening(struct listeners *l)
{
    l->a = conn_session(l->ada, PLAIN, "");
    l->b = conn_session(l->bob, PLAIN, "");
    l->e = conn_session(l->eve, PLAIN, "");
    l->r = conn_session(l->bot, PLAIN, "'intents': 513");
    expect_dispatch(l->r, "GUILD_CREATE", "{'id': '%s'}", l->test_guild.id);
}

static struct listeners invite(struct world *w)
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

/* What wakes it, what is said in it and its end reach those who see its channel. */
static void an_archived_thread_is_heard_of_by_who_sees_its_channel(struct world *w)
{
    struct listeners l = invite(w);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 11);

    world_sql(w, "update channels set thread_archived = 1 where id = %s", thread);
    begin_listening(&l);
    say(l.ada, thread);
    struct gateway_conn *all[] = { l.a, l.b, l.r };
    for (int i = 0; i < 3; i++) {
        expect_dispatch(all[i], "THREAD_UPDATE",
                        "{'id': '%s', 'thread_metadata': {'archived': "
                        "false}}",
                        thread);
        if (i == 0) /* who started it */
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

/* Bots know of all other threads, but not of those that they may not see. */
static void a_private_thread_is_heard_of_by_its_starter_and_managers(struct world *w)
{
    struct listeners l = invite(w);

    world_sql(w, "update roles set permissions = permissions | %lld where id = %s",
              (long long)PERMISSION(CREATE_PRIVATE_THREADS), l.test_guild.id);
    const char *thread = start_thread(l.bob, l.test_guild.channel, 12);
    for (int archived = 0; archived < 2; archived++) {
        world_sql(w, "update channels set thread_archived = %d where id = %s", archived, thread);
        begin_listening(&l);
        say(l.bob, thread);
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

/* What a role lets somebody do is held back while rules, a door or a time-out do; the session has
 * to know that from its beginning, as no event tells of it. */
static void managers_who_are_held_back_hear_of_no_private_threads(struct world *w)
{
    static const char *const held_back[] = { "flags = 128", "flags = 0, pending = 1",
                                             "pending = 0, timed_out_until = 9000000000000000" };
    struct listeners l = invite(w);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 12);
    struct gateway_conn *g;

    world_sql(w,
              "insert into roles (id, guild_id, name, position, permissions) values (77, %s, "
              "'m', 1, %lld)",
              l.test_guild.id, (long long)PERMISSION(MANAGE_THREADS));
    world_sql(w, "insert into member_roles (guild_id, user_id, role_id) values (%s, %s, 77)",
              l.test_guild.id, l.bob->id);
    for (size_t i = 0; i < COUNT_OF(held_back); i++) {
        world_sql(w, "update members set %s where user_id = %s", held_back[i], l.bob->id);
        g = conn_session(l.bob, PLAIN, "");
        expect_status(client_get(l.bob, "/channels/%s/messages", thread), 403);
        say(l.ada, thread);
        world_told(w);
        expect_quiet(g);
        conn_close(g, 1000);
    }
    world_sql(w, "update members set timed_out_until = null where user_id = %s", l.bob->id);
    g = conn_session(l.bob, PLAIN, "");
    expect_status(client_get(l.bob, "/channels/%s/messages", thread), 200);
    say(l.ada, thread);
    expect_dispatch(g, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
}

/* Somebody who may no longer see a channel hears nothing of its threads either. */
static void threads_are_hidden_with_their_channel(struct world *w)
{
    struct listeners l = invite(w);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 11);

    begin_listening(&l);
    expect_status(client_put(l.ada, "{'type': 1, 'allow': '0', 'deny': '1024'}",
                             "/channels/%s/permissions/%s", l.test_guild.channel, l.bob->id),
                  204);
    expect_dispatch(l.b, "CHANNEL_DELETE", "{'id': '%s'}", l.test_guild.channel);
    say(l.ada, thread);
    expect_quiet(l.b);
    expect_dispatch(l.r, "CHANNEL_UPDATE", "{}");
    expect_dispatch(l.r, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
}

/* The world fails a test in which somebody is held up. */
static void very_many_archived_threads_hold_nobody_up(struct world *w)
{
    struct listeners l = invite(w);

    have_threads(&l.test_guild, VERY_MANY, true);
    const char *thread = start_thread(l.ada, l.test_guild.channel, 11);
    begin_listening(&l);
    struct answer active = client_get(l.ada, "/guilds/%s/threads/active", l.test_guild.id);
    expect_status(active, 200);
    expect(dom_at(active.json, "threads")->count == 1);
    say(l.ada, thread);
    expect_dispatch(l.b, "MESSAGE_CREATE", "{'channel_id': '%s'}", thread);
    expect_status(client_post(l.ada, "{'name': 'new'}", "/guilds/%s/channels", l.test_guild.id),
                  201);
    expect_dispatch(l.b, "CHANNEL_CREATE", "{'name': 'new'}");
}

static void a_guild_has_a_thousand_active_threads(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    have_threads(&v, 998, false);
    const char *first = start_thread(ada, v.channel, 11), *last = start_thread(ada, v.channel, 11);
    expect_error(
        client_post(ada, "{'name': 'more', 'type': 11}", "/channels/%s/threads", v.channel), 400,
        160006);
    say(ada, first); /* those that are open go on */
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", last), 200);
    start_thread(ada, v.channel, 11);
    expect_error(client_patch(ada, "{'archived': false}", "/channels/%s", last), 400, 160006);
    expect_error(client_post(ada, "{'content': 'hi'}", "/channels/%s/messages", last), 400, 160006);
    expect(world_number(w, "select thread_archived from channels where id = %s", last) == 1);
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", first), 200);
    say(ada, last);
    expect(world_number(w, "select thread_archived from channels where id = %s", last) == 0);
}

const struct test gateway_threads_tests[] = {
    TEST(an_archived_thread_is_heard_of_by_who_sees_its_channel),
    TEST(a_private_thread_is_heard_of_by_its_starter_and_managers),
    TEST(managers_who_are_held_back_hear_of_no_private_threads),
    TEST(threads_are_hidden_with_their_channel),
    TEST(very_many_archived_threads_hold_nobody_up),
    TEST(a_guild_has_a_thousand_active_threads),
    { 0 },
};
