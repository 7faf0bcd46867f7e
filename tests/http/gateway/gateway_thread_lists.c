/* gateway_thread_lists.c - open threads that come into view, who is in one, and the newest
 * messages of channels. */
#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

/* A guild of ada's with a hidden channel that a role shows. It has two open threads, of which
 * bob is in one, and an archived one. */
struct loft {
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

static struct loft open_loft(struct world *w)
{
    struct hidden_place p = world_hidden_place(w);
    struct loft l = { p.ada, p.bob, p.bot, p.guild, p.role, p.hidden, NULL, NULL };

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

static void give(struct loft *l, struct client *to)
{
    expect_status(
        client_put(l->ada, "", "/guilds/%s/members/%s/roles/%s", l->guild, to->id, l->role), 204);
}

static void take_back(struct loft *l, struct client *from)
{
    expect_status(
        client_delete(l->ada, "/guilds/%s/members/%s/roles/%s", l->guild, from->id, l->role), 204);
}

static void expect_loft_threads(const struct loft *l, struct gateway_conn *g, bool bobs)
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

static void who_gains_a_channel_learns_of_its_threads(struct world *w)
{
    struct loft l = open_loft(w);
    struct gateway_conn *a = conn_session(l.ada, PLAIN, ""), *b = conn_session(l.bob, PLAIN, ""),
                        *r = conn_session(l.bot, PLAIN, "'intents': 1"),
                        *deaf = conn_session(l.bot, PLAIN, "'intents': 512");

    expect_dispatch(r, "GUILD_CREATE", "{}");
    give(&l, l.bob);
    expect_dispatch(b, "GUILD_MEMBER_UPDATE", "{}");
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", l.hidden);
    expect_loft_threads(&l, b, true);
    /* A bot knows the channel already. */
    give(&l, l.bot);
    expect_dispatch(r, "GUILD_MEMBER_UPDATE", "{}");
    expect_loft_threads(&l, r, false);
    expect_dispatch(deaf, "GUILD_MEMBER_UPDATE", "{}");
    expect_quiet(deaf);
    expect_dispatch(b, "GUILD_MEMBER_UPDATE", "{}");
    expect_quiet(b);
    /* Who saw it all the time, or loses it, is told nothing of threads. */
    take_back(&l, l.bob);
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

static void overwrites_that_open_a_channel_show_its_threads(struct world *w)
{
    struct loft l = open_loft(w);
    struct gateway_conn *b = conn_session(l.bob, PLAIN, ""),
                        *r = conn_session(l.bot, PLAIN, "'intents': 1");

    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_status(client_delete(l.ada, "/channels/%s/permissions/%s", l.hidden, l.guild), 204);
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", l.hidden);
    expect_loft_threads(&l, b, true);
    expect_dispatch(r, "CHANNEL_UPDATE", "{'id': '%s'}", l.hidden);
    expect_loft_threads(&l, r, false);
    expect_quiet(b);
    expect_quiet(r);
}

static void threads_of_a_guild_are_told_to_who_asks(struct world *w)
{
    struct loft l = open_loft(w);
    struct gateway_conn *a = conn_session(l.ada, PLAIN, ""), *b = conn_session(l.bob, PLAIN, "");

    conn_send(a, "{'op':14,'d':{'guild_id':'%s','threads':true}}", l.guild);
    const struct dom *d =
        expect_dispatch(a, "THREAD_LIST_SYNC", "{'guild_id': '%s', 'threads': [{}, {}]}", l.guild);
    expect(!dom_at(d, "channel_ids"));
    expect(dom_at(d, "members")->count == 2); /* she started both */
    /* Bob sees none of them, though he is in one. */
    conn_send(b, "{'op':37,'d':{'subscriptions':{'%s':{'threads':true}}}}", l.guild);
    expect_dispatch(b, "THREAD_LIST_SYNC", "{'threads': [], 'members': []}");
    conn_send(b, "{'op':14,'d':{'guild_id':'%s','threads':false}}", l.guild);
    conn_send(b, "{'op':14,'d':{'guild_id':'12345','threads':true}}");
    expect_quiet(b);
    expect_quiet(a);
}

static void who_is_in_a_thread_is_told_to_who_shows_it(struct world *w)
{
    struct loft l = open_loft(w);
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
    expect_quiet(a); /* the other one is no thread */
    conn_send(b, "{'op':14,'d':{'guild_id':'%s','thread_member_lists':['%s']}}", l.guild, l.joined);
    expect_quiet(b);
}

/* --- op 34 ---------------------------------------------------------------------------- */

static void say(struct client *c, const char *channel, const char *content)
{
    expect_status(client_post(c, TEXT(c->world, "{'content': '%s'}", content),
                              "/channels/%s/messages", channel),
                  200);
}

static void the_newest_messages_of_channels_are_told(struct world *w)
{
    struct loft l = open_loft(w);
    const char *open = make_channel(l.ada, l.guild, "{'name': 'open'}");
    const char *empty = make_channel(l.ada, l.guild, "{'name': 'empty'}");

    say(l.ada, open, "old");
    say(l.ada, open, "new");
    say(l.ada, l.hidden, "psst");
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
    /* A guild that he is not in, or that is none, is no answer. */
    conn_send(b, "{'op':34,'d':{'guild_id':'12345','channel_ids':['%s']}}", open);
    expect_quiet(b);
    conn_send(b, "{'op':34,'d':{'guild_id':'%s'}}", l.guild);
    expect_close(b, 4002);
    conn_send(a, "{'op':34,'d':7}");
    expect_close(a, 4001);
}

const struct test gateway_thread_lists_tests[] = {
    TEST(who_gains_a_channel_learns_of_its_threads),
    TEST(overwrites_that_open_a_channel_show_its_threads),
    TEST(threads_of_a_guild_are_told_to_who_asks),
    TEST(who_is_in_a_thread_is_told_to_who_shows_it),
    TEST(the_newest_messages_of_channels_are_told),
    { 0 },
};
