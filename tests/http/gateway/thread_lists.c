/* thread_lists.c - THREAD_LIST_SYNC, thread member lists, and last messages of channels. */
#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

/* Guild of ada with a hidden channel that a role can view. It has two active threads, bob is in
 * one of them, and an archived thread. */
struct thread_guild {
    struct client *ada, *bob, *bot;
    const char *guild, *role, *hidden, *joined, *other;
};

static const char *start_thread(struct client *c, const char *channel, const char *name)
{
    struct answer a = client_post(c, TEXT(c->world, "{'name': '%s', 'type': 11}", name),
                                  "/channels/%s/threads", channel);

    expect_status(a, 201);
    return answer_text(a, "id");
}

static struct thread_guild create_thread_guild(struct world *w)
{
    struct hidden_position p = world_hidden_position(w);
    struct thread_guild l = { p.ada, p.bob, p.bot, p.guild, p.role, p.hidden, NULL, NULL };

    l.joined = start_thread(l.ada, l.hidden, "joined");
    l.other = start_thread(l.ada, l.hidden, "other");
    const char *archived = start_thread(l.ada, l.hidden, "archived");
    expect_status(client_patch(l.ada, "{'archived': true}", "/channels/%s", archived), 200);
    world_sql(w,
              "insert into thread_members (thread_id, user_id, guild_id, joined_at, flags) select "
              "thread_id, %s, guild_id, joined_at, 0 from thread_members where thread_id = %s",
              l.bob->id, l.joined);
    return l;
}

static void give_role(struct thread_guild *l, struct client *to)
{
    expect_status(
        client_put(l->ada, "", "/guilds/%s/members/%s/roles/%s", l->guild, to->id, l->role), 204);
}

static void remove_role(struct thread_guild *l, struct client *from)
{
    expect_status(
        client_delete(l->ada, "/guilds/%s/members/%s/roles/%s", l->guild, from->id, l->role), 204);
}

static void expect_thread_list_sync_with_threads(const struct thread_guild *l,
                                                 struct gateway_conn *g, bool bobs)
{
    const struct dom *d = expect_dispatch(
        g, "THREAD_LIST_SYNC", "{'guild_id': '%s', 'channel_ids': ['%s'], 'threads': [{}, {}]}",
        l->guild, l->hidden);
    const struct dom *threads = dom_at(d, "threads"), *members = dom_at(d, "members");

    for (size_t i = 0; i < threads->count; i++) {
        expect(str_is(dom_at(&threads->items[i], "parent_id")->text, l->hidden));
        expect(!dom_at(&threads->items[i], "member"));
    }
    expect(members->count == (bobs ? 1 : 0));
    if (bobs) {
        expect(str_is(dom_at(members, "0.id")->text, l->joined));
        expect(str_is(dom_at(members, "0.user_id")->text, l->bob->id));
    }
}

static void gaining_access_to_a_channel_sends_its_active_threads(struct world *w)
{
    struct thread_guild l = create_thread_guild(w);
    struct gateway_conn *a = conn_session(l.ada, PLAIN, ""), *b = conn_session(l.bob, PLAIN, ""),
                        *r = conn_session(l.bot, PLAIN, "'intents': 1"),
                        *deaf = conn_session(l.bot, PLAIN, "'intents': 512");

    expect_dispatch(r, "GUILD_CREATE", "{}");
    give_role(&l, l.bob);
    expect_dispatch(b, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", l.hidden);
    expect_thread_list_sync_with_threads(&l, b, true);
    /* A bot already has the channel. */
    give_role(&l, l.bot);
    expect_dispatch(r, "GUILD_MEMBER_UPDATE", "{}");
    expect_thread_list_sync_with_threads(&l, r, false);
    expect_dispatch(deaf, "GUILD_MEMBER_UPDATE", "{}");
    expect_quiet(deaf);
    expect_dispatch(b, "GUILD_MEMBER_UPDATE", "{}");
    expect_quiet(b);
    /* Users whose access did not change, or who lose it, get no thread list. */
    remove_role(&l, l.bob);
    expect_dispatch(b, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(b, "CHANNEL_DELETE", "{}");
    expect_quiet(b);
    for (int i = 0; i < 3; i++) {
        expect_dispatch(a, "GUILD_MEMBER_UPDATE", "{}");
        expect_dispatch(a, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    }
    expect_quiet(a);
    expect_quiet(r);
}

static void overwrite_that_shows_a_channel_sends_its_threads(struct world *w)
{
    struct thread_guild l = create_thread_guild(w);
    struct gateway_conn *b = conn_session(l.bob, PLAIN, ""),
                        *r = conn_session(l.bot, PLAIN, "'intents': 1");

    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_status(client_delete(l.ada, "/channels/%s/permissions/%s", l.hidden, l.guild), 204);
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", l.hidden);
    expect_thread_list_sync_with_threads(&l, b, true);
    expect_dispatch(r, "CHANNEL_UPDATE", "{'id': '%s'}", l.hidden);
    expect_thread_list_sync_with_threads(&l, r, false);
    expect_quiet(b);
    expect_quiet(r);
}

static void subscribing_to_threads_sends_the_guilds_active_threads(struct world *w)
{
    struct thread_guild l = create_thread_guild(w);
    struct gateway_conn *a = conn_session(l.ada, PLAIN, ""), *b = conn_session(l.bob, PLAIN, "");

    conn_send(a, "{'op':14,'d':{'guild_id':'%s','threads':true}}", l.guild);
    const struct dom *d =
        expect_dispatch(a, "THREAD_LIST_SYNC", "{'guild_id': '%s', 'threads': [{}, {}]}", l.guild);
    expect(!dom_at(d, "channel_ids"));
    expect(dom_at(d, "members")->count == 2); /* ada started both */
    /* Bob cannot view them, though he is a member of one. */
    conn_send(b, "{'op':37,'d':{'subscriptions':{'%s':{'threads':true}}}}", l.guild);
    expect_dispatch(b, "THREAD_LIST_SYNC", "{'threads': [], 'members': []}");
    conn_send(b, "{'op':14,'d':{'guild_id':'%s','threads':false}}", l.guild);
    conn_send(b, "{'op':14,'d':{'guild_id':'12345','threads':true}}");
    expect_quiet(b);
    expect_quiet(a);
}

static void subscribing_to_a_threads_members_sends_the_member_list(struct world *w)
{
    struct thread_guild l = create_thread_guild(w);
    struct gateway_conn *a = conn_session(l.ada, PLAIN, ""), *b = conn_session(l.bob, PLAIN, "");

    conn_send(a, "{'op':14,'d':{'guild_id':'%s','thread_member_lists':['%s','%s']}}", l.guild,
              l.joined, l.hidden);
    const struct dom *d = expect_dispatch(
        a, "THREAD_MEMBER_LIST_UPDATE",
        "{'guild_id': '%s', 'thread_id': '%s', 'members': [{'id': '%s'}, {'id': '%s'}]}", l.guild,
        l.joined, l.joined, l.joined);
    for (int i = 0; i < 2; i++) {
        const struct dom *m = &dom_at(d, "members")->items[i];

        expect(dom_at(m, "member.user.username") != NULL);
        expect(str_is(dom_at(m, "presence.status")->text, "online"));
    }
    expect_quiet(a); /* the other id is not a thread */
    conn_send(b, "{'op':14,'d':{'guild_id':'%s','thread_member_lists':['%s']}}", l.guild, l.joined);
    expect_quiet(b);
}

/* --- op 34 ---------------------------------------------------------------------------- */

static void send_message(struct client *c, const char *channel, const char *content)
{
    expect_status(client_post(c, TEXT(c->world, "{'content': '%s'}", content),
                              "/channels/%s/messages", channel),
                  200);
}

static void last_messages_request_returns_the_newest_messages(struct world *w)
{
    struct thread_guild l = create_thread_guild(w);
    const char *open = make_channel(l.ada, l.guild, "{'name': 'open'}");
    const char *empty = make_channel(l.ada, l.guild, "{'name': 'empty'}");

    send_message(l.ada, open, "old");
    send_message(l.ada, open, "new");
    send_message(l.ada, l.hidden, "psst");
    struct gateway_conn *a = conn_session(l.ada, PLAIN, ""), *b = conn_session(l.bob, PLAIN, "");
    struct gateway_conn *sessions[] = { a, b };
    for (int i = 0; i < 2; i++)
        conn_send(sessions[i],
                  "{'op':34,'d':{'guild_id':'%s','channel_ids':['%s','%s','%s','12345']}}", l.guild,
                  open, l.hidden, empty);
    expect_dispatch(a, "LAST_MESSAGES",
                    "{'guild_id': '%s', 'messages': [{'channel_id': '%s', 'content': 'new', "
                    "'author': {'username': 'ada'}}, {'channel_id': '%s', 'content': 'psst'}]}",
                    l.guild, open, l.hidden);
    expect_dispatch(b, "LAST_MESSAGES", "{'messages': [{'content': 'new'}]}");
    expect_quiet(a);
    /* Unknown guilds get no reply. */
    conn_send(b, "{'op':34,'d':{'guild_id':'12345','channel_ids':['%s']}}", open);
    expect_quiet(b);
    conn_send(b, "{'op':34,'d':{'guild_id':'%s'}}", l.guild);
    expect_close(b, 4002);
    conn_send(a, "{'op':34,'d':7}");
    expect_close(a, 4001);
}

const struct test gateway_thread_lists_tests[] = {
    TEST(gaining_access_to_a_channel_sends_its_active_threads),
    TEST(overwrite_that_shows_a_channel_sends_its_threads),
    TEST(subscribing_to_threads_sends_the_guilds_active_threads),
    TEST(subscribing_to_a_threads_members_sends_the_member_list),
    TEST(last_messages_request_returns_the_newest_messages),
    { 0 },
};
